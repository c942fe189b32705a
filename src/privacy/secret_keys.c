/* What the name of a key says about a secret under it. */
#include "privacy/secret.h"

#include "base/own.h"

#define KEY_MAX 64

#define PASS   CS_UNDER_PASS
#define KEY    CS_UNDER_KEY
#define SECRET CS_UNDER_SECRET
#define WEAK   CS_UNDER_WEAK

/* A key in small letters, with nothing else between them, and where its words begin. */
struct folded {
    char text[KEY_MAX + 1];
    bool starts[KEY_MAX + 1];
    size_t len;
};

static struct folded fold(struct cs_str key)
{
    struct folded f = {.len = 0};
    if (key.len > KEY_MAX) {
        key.at += key.len - KEY_MAX;
        key.len = KEY_MAX;
    }
    bool start = true;
    char before = 0;
    for (size_t i = 0; i < key.len; i++) {
        char c = key.at[i];
        if (!cs_is_alnum(c)) {
            start = true;
            before = 0;
            continue;
        }
        bool capital = c >= 'A' && c <= 'Z';
        if (capital && before >= 'a' && before <= 'z')
            start = true;
        f.starts[f.len] = start;
        f.text[f.len++] = capital ? (char)(c + 32) : c;
        start = false;
        before = c;
    }
    while (f.len && cs_is_digit(f.text[f.len - 1]))
        f.len--;
    f.text[f.len] = '\0';
    return f;
}

/* Does it end with this? `word`: as a word of its own. */
static bool ends(const struct folded *f, const char *with, size_t n, bool word)
{
    return f->len >= n && f->text[f->len - n] == with[0] &&
           memcmp(f->text + f->len - n, with, n) == 0 &&
           (!word || f->starts[f->len - n] || f->len == n);
}

/* Tokens and keys that are none: of pages, of language models, of tables, for everybody. */
static bool is_harmless(const struct folded *f)
{
    static const char *const tails[] = {
        "nexttoken",   "pagetoken",      "continuationtoken",
        "cursortoken", "synctoken",      "resumetoken",
        "maxtoken",    "stoptoken",      "eostoken",
        "bostoken",    "padtoken",       "unktoken",
        "septoken",    "clstoken",       "masktoken",
        "publickey",   "pubkey",         "primarykey",
        "foreignkey",  "partitionkey",   "sortkey",
        "cachekey",    "idempotencykey", "objectkey",
        "rowkey",      "groupkey",       "routingkey",
        "dedupkey",    "hashkey",        "publishablekey",
        "sitekey",     "mapkey",         "monkey",
        "hotkey",      "issuekey",       "shortcutkey",
        "messagekey",  "translationkey", "indexkey",
        "anonkey",     "projectkey",     "configkey",
        "s3key",       "uniquekey",      "bypass",
        "compass",     "lasttoken",      "firsttoken",
        "documentkey", "surrogatekey",   "itemkey",
        "datakey",     "boardingpass",   "cancellationtoken",
    };
    for (size_t i = 0; i < CS_COUNT(tails); i++)
        if (ends(f, tails[i], strlen(tails[i]), false))
            return true;
    return strstr(f->text, "public") || strstr(f->text, "publishable");
}

#define TAIL(tail, role, word)            \
    {                                     \
        tail, sizeof tail - 1, role, word \
    }

/* Ends of keys. `word`: only as a word of its own. */
static const struct {
    const char *tail;
    uint8_t len, role;
    bool word;
} tails[] = {
    TAIL("password", PASS, false),
    TAIL("passwd", PASS, false),
    TAIL("passwort", PASS, false),
    TAIL("passphrase", PASS, false),
    TAIL("passcode", PASS, false),
    TAIL("pswd", PASS, false),
    TAIL("kennwort", PASS, false),
    TAIL("contrasena", PASS, false),
    TAIL("senha", PASS, false),
    TAIL("userpass", PASS, false),
    TAIL("dbpass", PASS, false),
    TAIL("requirepass", PASS, false),
    TAIL("pass", PASS, true),
    TAIL("pwd", PASS, true),
    TAIL("pw", PASS, true),
    TAIL("psw", PASS, true),
    TAIL("token", KEY, false),
    TAIL("tokens", KEY, true),
    TAIL("secret", SECRET, false),
    TAIL("secrets", SECRET, true),
    TAIL("apikey", KEY, false),
    TAIL("secretkey", KEY, false),
    TAIL("accesskey", KEY, false),
    TAIL("privatekey", KEY, false),
    TAIL("authkey", KEY, false),
    TAIL("encryptionkey", KEY, false),
    TAIL("signingkey", KEY, false),
    TAIL("masterkey", KEY, false),
    TAIL("accountkey", KEY, false),
    TAIL("sharedkey", KEY, false),
    TAIL("presharedkey", KEY, false),
    TAIL("psk", PASS, true),
    TAIL("licensekey", KEY, false),
    TAIL("deploykey", KEY, false),
    TAIL("servicekey", KEY, false),
    TAIL("secretkeybase", KEY, false),
    TAIL("streamkey", KEY, false),
    TAIL("appkey", KEY, false),
    TAIL("applicationkey", KEY, false),
    TAIL("adminkey", KEY, false),
    TAIL("writekey", KEY, false),
    TAIL("serverkey", KEY, false),
    TAIL("mapskey", KEY, false),
    TAIL("sessionkey", KEY, false),
    TAIL("hmackey", KEY, false),
    TAIL("aeskey", KEY, false),
    TAIL("reporterid", KEY, false),
    TAIL("crumb", KEY, true),
    TAIL("credential", KEY, true),
    TAIL("credentials", KEY, true),
    TAIL("sonarlogin", KEY, false),
    TAIL("sharedaccesskey", KEY, false),
    TAIL("insertkey", KEY, false),
    TAIL("querykey", KEY, false),
    TAIL("developerkey", KEY, false),
    TAIL("devicekey", KEY, false),
    TAIL("subscriptionkey", KEY, false),
    TAIL("functionkey", KEY, false),
    TAIL("clientkey", KEY, false),
    TAIL("cryptokey", KEY, false),
    TAIL("jwtkey", KEY, false),
    TAIL("restkey", KEY, false),
    TAIL("consumerkey", KEY, false),
    TAIL("authorization", CS_UNDER_AUTH, false),
    TAIL("authorisation", CS_UNDER_AUTH, false),
    TAIL("cookie", CS_UNDER_COOKIE, false),
    TAIL("key", WEAK, true),
    TAIL("pat", WEAK, true),
    TAIL("sas", WEAK, true),
    TAIL("jwt", WEAK, true),
    TAIL("auth", WEAK, true),
};

/* The last two letters of all of these: of most keys nothing more is looked at. */
static bool may_be_secret(struct cs_str key)
{
    size_t i = key.len;
    while (i > 0 && !cs_is_letter(key.at[i - 1]))
        i--;
    if (i < 2)
        return false;
    static const char *const before[26] = {
        ['a' - 'a'] = "nh",  ['b' - 'a'] = "m",     ['d' - 'a'] = "rwi",  ['e' - 'a'] = "sdir",
        ['g' - 'a'] = "i",   ['h' - 'a'] = "t",     ['k' - 'a'] = "s",    ['l' - 'a'] = "a",
        ['n' - 'a'] = "eio", ['s' - 'a'] = "stnla", ['t' - 'a'] = "reaw", ['w' - 'a'] = "ps",
        ['y' - 'a'] = "e",
    };
    const char *pairs = before[(key.at[i - 1] | 32) - 'a'];
    return pairs && strchr(pairs, key.at[i - 2] | 32);
}

enum cs_under cs_under_of(struct cs_str key)
{
    if (!may_be_secret(key))
        return CS_UNDER_NOTHING;
    struct folded f = fold(key);
    enum cs_under role = CS_UNDER_NOTHING;
    for (size_t i = 0; i < CS_COUNT(tails) && role == CS_UNDER_NOTHING; i++)
        if (ends(&f, tails[i].tail, tails[i].len, tails[i].word))
            role = (enum cs_under)tails[i].role;
    return role != CS_UNDER_NOTHING && is_harmless(&f) ? CS_UNDER_NOTHING : role;
}

struct cs_sense cs_key_secret(struct cs_str key)
{
    switch (cs_under_of(key)) {
    case CS_UNDER_PASS:
    case CS_UNDER_PIN:
        return (struct cs_sense){CS_PII_PASSWORD, false};
    case CS_UNDER_KEY:
    case CS_UNDER_AUTH:
    case CS_UNDER_SECRET:
    case CS_UNDER_COOKIE:
        return (struct cs_sense){CS_PII_SECRET, false};
    case CS_UNDER_WEAK:
        return (struct cs_sense){CS_PII_SECRET, true};
    case CS_UNDER_NOTHING:
    default:
        return CS_NO_SENSE;
    }
}
