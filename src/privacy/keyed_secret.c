/*
 * Secrets, by the keys that they stand under.
 *
 * The key says what kind of value is meant; the value has to look like one. A password may be any
 * word, so that all that is not one has to be named: stand-ins, code, types, sentences. A token or
 * a key is random, or has at least digits in it.
 */
#include "privacy/secret.h"

#include <openssl/evp.h>
#include <strings.h>

#include "base/own.h"

#define KEY_MAX   64
#define VALUE_MAX 4096

enum role { NOTHING, PASS, PIN, KEY, SECRET, WEAK, COOKIE, AUTH };

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
    return f->len >= n && memcmp(f->text + f->len - n, with, n) == 0 &&
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
    {"psk", KEY, true},
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
    {"authorization", AUTH, false},
    {"authorisation", AUTH, false},
    {"cookie", COOKIE, false},
    {"key", WEAK, true},
    {"pat", WEAK, true},
    {"sas", WEAK, true},
    {"sig", WEAK, true},
    {"jwt", WEAK, true},
    {"signature", WEAK, true},
    {"auth", WEAK, true},
};

/* Their last two letters: of most keys nothing more is looked at. */
static bool may_be_secret(const struct folded *f)
{
    static const char pairs[] = "rd wd rt et at se de ie re ss ts ns ls as pw sw en in on ey th mb "
                                "al sk ig na ha id wt";
    if (f->len < 2)
        return false;
    const char *end = f->text + f->len - 2;
    for (const char *p = pairs; p < pairs + sizeof pairs - 1; p += 3)
        if (p[0] == end[0] && p[1] == end[1])
            return true;
    return false;
}

static enum role role_of(struct cs_str key)
{
    struct folded f = fold(key);
    if (!may_be_secret(&f))
        return NOTHING;
    enum role role = NOTHING;
    for (size_t i = 0; i < CS_COUNT(tails) && role == NOTHING; i++)
        if (ends(&f, tails[i].tail, tails[i].word))
            role = (enum role)tails[i].role;
    return role != NOTHING && is_harmless(&f) ? NOTHING : role;
}

struct cs_sense cs_key_secret(struct cs_str key)
{
    switch (role_of(key)) {
    case PASS:
    case PIN:
        return (struct cs_sense){CS_PII_PASSWORD, false};
    case KEY:
    case AUTH:
    case SECRET:
    case COOKIE:
        return (struct cs_sense){CS_PII_SECRET, false};
    case WEAK:
        return (struct cs_sense){CS_PII_SECRET, true};
    case NOTHING:
    default:
        return CS_NO_SENSE;
    }
}

/* --- the value --- */

struct value {
    size_t start, end;
    bool quoted;
    char next; /* what stands after it */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

/* Takes quotes and what belongs to the text around off a value. */
static struct value bare(const struct cs_view *view, size_t start, size_t end)
{
    struct value v = {.start = start, .end = end < view->len ? end : view->len};
    bool whole = view->is_value && start == 0 && v.end == view->len;
    /* Quotes may have been taken off before. */
    v.quoted = start > 0 && is_quote(view->at[start - 1]) && v.end < view->len &&
               view->at[v.end] == view->at[start - 1];
    for (unsigned round = 0; round < 3; round++) {
        while (v.start < v.end && is_blank(view->at[v.start]))
            v.start++;
        while (v.end > v.start && is_blank(view->at[v.end - 1]))
            v.end--;
        if (v.start == v.end)
            return v;
        char quote = view->at[v.start];
        if (quote == '\\' && v.end - v.start > 2 && is_quote(view->at[v.start + 1])) {
            v.start++;
            quote = view->at[v.start];
        }
        if (!is_quote(quote))
            break;
        const char *close = memchr(view->at + v.start + 1, quote, v.end - v.start - 1);
        v.start++;
        if (close)
            v.end = (size_t)(close - view->at);
        if (v.end > v.start && view->at[v.end - 1] == '\\')
            v.end--;
        v.quoted = true;
    }
    if (!v.quoted && !whole) {
        size_t i = v.start;
        while (i < v.end && !is_blank(view->at[i]))
            i++;
        v.end = i;
    }
    v.quoted |= whole;
    v.next = cs_view_at(view, v.end);
    while (!v.quoted && v.end > v.start) {
        char c = view->at[v.end - 1];
        if (c != ',' && c != ';' && !is_quote(c) &&
            !(c == ')' && !memchr(view->at + v.start, '(', v.end - v.start)))
            break;
        v.next = c;
        v.end--;
    }
    return v;
}

/* The text under base64, if it is one; else what is there. At most 8 kB are looked at. */
static struct cs_str undone(struct cs_str s, char plain[64])
{
    size_t n = s.len;
    if (n < 8 || n > 8192 || n % 4 != 0)
        return s;
    for (size_t i = 0; i < n; i++)
        if (!cs_is_class(s.at[i], CS_C_BASE64))
            return s;
    unsigned char out[80];
    size_t take = n < 80 ? n : 80;
    int got = EVP_DecodeBlock(out, (const unsigned char *)s.at, (int)take);
    size_t size = got > 0 ? (size_t)got : 0;
    size -= size && s.at[take - 1] == '=' ? 1 : 0;
    size -= size && s.at[take - 2] == '=' ? 1 : 0;
    if (size > 63)
        size = 63;
    for (size_t i = 0; i < size; i++)
        if (out[i] < 0x20 || out[i] > 0x7e)
            return s;
    if (size < 4)
        return s;
    memcpy(plain, out, size);
    return cs_strn(plain, size);
}

static bool has_blank(struct cs_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (is_blank(s.at[i]))
            return true;
    return false;
}

/* Something that no word of a language has. */
static bool is_odd(const struct cs_mix *mix, struct cs_str s)
{
    if (mix->digit && mix->lower + mix->upper)
        return true;
    for (size_t i = 0; i + 1 < s.len; i++)
        if (strchr("!@#$%^&*+=?~", s.at[i]))
            return true;
    return mix->cases > 2;
}

/* A word that speaks of passwords, and is none: "#add-password", "userPassword", "Password:". */
static bool names_itself(struct cs_str s, const struct cs_mix *mix)
{
    return mix->digit == 0 &&
           (cs_str_has(s, "password") || cs_str_has(s, "passwd") || cs_str_has(s, "token") ||
            cs_str_has(s, "credential") || (cs_str_has(s, "secret") && mix->other == 0) ||
            cs_str_has(s, "passphrase"));
}

static bool is_place(struct cs_str s)
{
    return memmem(s.at, s.len, "://", 3) || s.at[0] == '/' ||
           (s.len > 1 && s.at[0] == '.' && (s.at[1] == '/' || s.at[1] == '.')) ||
           (s.at[0] == '~' && s.len > 1 && s.at[1] == '/') ||
           (s.len > 2 && s.at[1] == ':' && s.at[2] == '\\');
}

/* Words that follow "password:" in sentences and forms. */
static bool is_talk(struct cs_str s)
{
    static const char *const words[] = {
        "must",      "should",  "is",      "are",       "was",      "will",    "can",
        "cannot",    "may",     "and",     "or",        "the",      "a",       "an",
        "for",       "of",      "to",      "in",        "on",       "with",    "from",
        "by",        "at",      "not",     "reset",     "change",   "changed", "field",
        "prompt",    "manager", "policy",  "protected", "input",    "forgot",  "please",
        "enter",     "your",    "my",      "this",      "that",     "invalid", "incorrect",
        "wrong",     "correct", "expired", "missing",   "mismatch", "needed",  "if",
        "when",      "at",      "minimum", "length",    "char",     "varchar", "int",
        "bytes",     "const",   "let",     "var",       "new",      "any",     "null,",
        "same",      "see",     "set",     "ok",        "failed",   "success", "login",
        "email",     "basic",   "strong",  "weak",      "hash",     "hashed",  "plain",
        "plaintext", "text",    "file",    "bcrypt",    "md5",      "sha256",  "scram-sha-256",
        "self",      "auto",    "manual",  "generated",
    };
    for (size_t i = 0; i < CS_COUNT(words); i++)
        if (cs_str_same(s, words[i]))
            return true;
    return false;
}

static bool is_password(const struct cs_view *view, struct cs_str s, const struct value *v,
                        bool bare_pass, bool loose)
{
    if (s.len < 4 || s.len > 256 || cs_is_sample(s) || cs_is_code(s) || is_place(s) || is_talk(s))
        return false;
    struct cs_mix mix = cs_mix_of(s);
    if (mix.lower + mix.upper + mix.digit == 0 || names_itself(s, &mix))
        return false;
    bool odd = is_odd(&mix, s);
    if (has_blank(s))
        return v->quoted && odd && s.len < 64 && mix.digit && s.at[s.len - 1] != '.';
    if (s.at[s.len - 1] == ':' || s.at[s.len - 1] == '(' || s.at[s.len - 1] == '{')
        return false;
    if (loose)
        return (odd || v->quoted) && s.at[s.len - 1] != '?';
    /* "pass: 12" counts tests; "pass" and "pw" alone are too short to say much. */
    if (bare_pass)
        return odd && s.len >= 6;
    if (odd || v->quoted)
        return true;
    if (mix.digit == s.len)
        return s.len >= 4 && s.len <= 16;
    /* A name in a program ends with a sign; a word in a sentence has more of them after it. */
    if (v->next == ';' || v->next == ',' || v->next == ')' || v->next == '(' || v->next == ' ')
        return v->next == ' ' && (cs_view_at(view, v->end + 1) == '#' || s.len > 14);
    return true;
}

static bool is_key(struct cs_str s, const struct value *v, enum role role, struct cs_str key)
{
    if (s.len < 8 || s.len > VALUE_MAX || has_blank(s) || cs_is_sample(s) || is_place(s))
        return false;
    if (cs_is_uuid(s))
        return role == KEY || role == SECRET;
    if (cs_is_random(s))
        return !(role == WEAK && cs_mix_of(s).bits < 3.0F && s.len < 32) && !cs_is_code(s);
    if (cs_is_code(s) || role == WEAK)
        return false;
    struct cs_mix mix = cs_mix_of(s);
    (void)key;
    return s.len >= 10 && mix.digit && mix.lower + mix.upper && mix.bits > 2.8F &&
           (v->quoted || mix.cases > 2) && mix.digit * 12 > s.len && mix.other * 4 < s.len;
}

static void cookies(struct cs_view *view, size_t start, size_t end)
{
    while (start < end) {
        size_t equals = start, stop;
        while (equals < end && view->at[equals] != '=' && view->at[equals] != ';')
            equals++;
        for (stop = equals; stop < end && view->at[stop] != ';';)
            stop++;
        if (equals < stop) {
            struct value v = bare(view, equals + 1, stop);
            struct cs_str s = {view->at + v.start, v.end - v.start};
            if (s.len >= 16 && s.len <= VALUE_MAX && cs_is_random(s) && !cs_is_sample(s))
                cs_hit(view, CS_PII_SECRET, v.start, v.end);
        }
        start = stop + 1;
    }
}

/* "Bearer x", "Basic x", "Token x": the word before the value says what it is. */
static size_t scheme_end(const struct cs_view *view, size_t start, size_t end, bool *basic)
{
    static const char *const schemes[] = {"bearer ", "basic ",  "token ",
                                          "ssws ",   "apikey ", "key "};
    for (size_t i = 0; i < CS_COUNT(schemes); i++) {
        size_t n = strlen(schemes[i]);
        if (end - start > n && strncasecmp(view->at + start, schemes[i], n) == 0) {
            *basic = i == 1;
            return start + n;
        }
    }
    return start;
}

static void find(struct cs_view *view, enum role role, struct cs_str key, size_t start, size_t end,
                 bool loose)
{
    if (role == NOTHING || start >= end)
        return;
    if (end - start > 2 * VALUE_MAX)
        end = start + 2 * VALUE_MAX;
    if (role == COOKIE) {
        cookies(view, start, end);
        return;
    }
    struct value v = bare(view, start, end);
    bool basic = false;
    size_t after = scheme_end(view, v.start, end < view->len ? end : view->len, &basic);
    if (after != v.start) {
        bool quoted = v.quoted;
        v = bare(view, after, quoted && v.end > after ? v.end : end);
        v.quoted |= quoted;
        role = basic ? PASS : KEY;
    }
    if (v.start >= v.end || v.end - v.start > VALUE_MAX)
        return;
    struct cs_str s = {view->at + v.start, v.end - v.start};
    char plain[64];
    struct cs_str inside = undone(s, plain);
    if (inside.at != s.at && cs_is_sample(inside))
        return;
    if (role == PIN && s.len >= 3 && s.len <= 8 && cs_mix_of(s).digit == s.len) {
        cs_hit(view, CS_PII_PASSWORD, v.start, v.end);
        return;
    }
    if (role == PASS || role == PIN) {
        bool short_name = cs_str_same(key, "pass") || cs_str_same(key, "pw");
        if (is_password(view, s, &v, short_name, loose) && v.end - v.start <= 1024)
            cs_hit(view, CS_PII_PASSWORD, v.start, v.end);
        return;
    }
    if (is_key(s, &v, role == AUTH ? KEY : role, key)) {
        if (!loose || cs_is_random(s))
            cs_hit(view, CS_PII_API_KEY, v.start, v.end);
        return;
    }
    /* A secret that is but a word is somebody's password. */
    if (role == SECRET && v.quoted && s.len >= 6 && is_password(view, s, &v, false, loose)) {
        struct cs_mix mix = cs_mix_of(s);
        if (is_odd(&mix, s) || mix.other)
            cs_hit(view, CS_PII_PASSWORD, v.start, v.end);
    }
}

void cs_secret_value(struct cs_view *view, struct cs_str key, size_t start, size_t end, bool loose)
{
    find(view, role_of(key), key, start, end, loose);
}

void cs_keyed_secret(struct cs_view *view, struct cs_sense sense, struct cs_str key, size_t start,
                     size_t end)
{
    enum role role = role_of(key);
    if (role == NOTHING)
        role = sense.kind == CS_PII_PASSWORD ? PIN : WEAK;
    find(view, role, key, start, end, false);
}
