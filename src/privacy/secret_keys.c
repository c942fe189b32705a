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
static bool ends(const struct folded *f, const char *with, bool word)
{
    size_t n = strlen(with);
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
        if (ends(f, tails[i], false))
            return true;
    return strstr(f->text, "public") || strstr(f->text, "publishable");
}

/* Ends of keys. `word`: only as a word of its own. */
static const struct {
    const char *tail;
    uint8_t role;
    bool word;
} tails[] = {
    {"password", PASS, false},
    {"passwd", PASS, false},
    {"passwort", PASS, false},
    {"passphrase", PASS, false},
    {"passcode", PASS, false},
    {"pswd", PASS, false},
    {"kennwort", PASS, false},
    {"contrasena", PASS, false},
    {"senha", PASS, false},
    {"userpass", PASS, false},
    {"dbpass", PASS, false},
    {"requirepass", PASS, false},
    {"pass", PASS, true},
    {"pwd", PASS, true},
    {"pw", PASS, true},
    {"psw", PASS, true},
    {"token", KEY, false},
    {"tokens", KEY, true},
    {"secret", SECRET, false},
    {"secrets", SECRET, true},
    {"apikey", KEY, false},
    {"secretkey", KEY, false},
    {"accesskey", KEY, false},
    {"privatekey", KEY, false},
    {"authkey", KEY, false},
    {"encryptionkey", KEY, false},
    {"signingkey", KEY, false},
    {"masterkey", KEY, false},
    {"accountkey", KEY, false},
    {"sharedkey", KEY, false},
    {"presharedkey", KEY, false},
    {"psk", PASS, true},
    {"licensekey", KEY, false},
    {"deploykey", KEY, false},
    {"servicekey", KEY, false},
    {"secretkeybase", KEY, false},
    {"streamkey", KEY, false},
    {"appkey", KEY, false},
    {"applicationkey", KEY, false},
    {"adminkey", KEY, false},
    {"writekey", KEY, false},
    {"serverkey", KEY, false},
    {"mapskey", KEY, false},
    {"sessionkey", KEY, false},
    {"hmackey", KEY, false},
    {"aeskey", KEY, false},
    {"reporterid", KEY, false},
    {"crumb", KEY, true},
    {"credential", KEY, true},
    {"credentials", KEY, true},
    {"sonarlogin", KEY, false},
    {"sharedaccesskey", KEY, false},
    {"insertkey", KEY, false},
    {"querykey", KEY, false},
    {"developerkey", KEY, false},
    {"devicekey", KEY, false},
    {"subscriptionkey", KEY, false},
    {"functionkey", KEY, false},
    {"clientkey", KEY, false},
    {"cryptokey", KEY, false},
    {"jwtkey", KEY, false},
    {"restkey", KEY, false},
    {"consumerkey", KEY, false},
    {"authorization", CS_UNDER_AUTH, false},
    {"authorisation", CS_UNDER_AUTH, false},
    {"cookie", CS_UNDER_COOKIE, false},
    {"key", WEAK, true},
    {"pat", WEAK, true},
    {"sas", WEAK, true},
    {"jwt", WEAK, true},
    {"auth", WEAK, true},
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
        if (ends(&f, tails[i].tail, tails[i].word))
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
