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

#define VALUE_MAX 4096

/* A value without what stands around it. */
struct value {
    struct cs_str s;
    struct cs_mix mix;
    bool quoted;
    bool odd;
    char next; /* what stands right after it */
    char rest; /* what comes next on its line; '\n': nothing */
    char sign; /* what stands right before it */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

static void trim(const struct cs_view *view, size_t *start, size_t *end)
{
    while (*start < *end && is_blank(view->at[*start]))
        ++*start;
    while (*end > *start && is_blank(view->at[*end - 1]))
        --*end;
}

/* Takes one pair of quotes off, be they escaped or not. */
static bool unquote(const struct cs_view *view, size_t *start, size_t *end)
{
    size_t at = *start;
    if (view->at[at] == '\\' && *end - at > 2)
        at++;
    char quote = view->at[at];
    if (!is_quote(quote))
        return false;
    const char *close = memchr(view->at + at + 1, quote, *end - at - 1);
    *start = at + 1;
    if (close)
        *end = (size_t)(close - view->at);
    if (*end > *start && view->at[*end - 1] == '\\')
        --*end;
    return true;
}

/* b'x', String::from("x"), SecretStr("x"): where the quote is. */
static size_t unwrapped(const struct cs_view *view, size_t start, size_t end)
{
    static const char *const heads[] = {"String::from(",
                                        "new String(",
                                        "SecretStr(",
                                        "SecretString::from(",
                                        "Secret::new(",
                                        "sensitive(",
                                        "b",
                                        "r",
                                        "u",
                                        "L",
                                        "@",
                                        "bytes("};
    for (size_t i = 0; i < CS_COUNT(heads); i++) {
        size_t n = strlen(heads[i]);
        if (end - start > n && memcmp(view->at + start, heads[i], n) == 0 &&
            is_quote(view->at[start + n]))
            return start + n;
    }
    return start;
}

/* Does the next key begin at `i`? */
static bool key_at(const struct cs_view *view, size_t i, size_t end)
{
    size_t stop = cs_class_end(view, i, i + 40 < end ? i + 40 : end,
                               CS_C_ALNUM | CS_C_UNDER | CS_C_DASH | CS_C_DOT);
    return stop > i && stop + 1 < end && view->at[stop] == '=' && view->at[stop + 1] != '=' &&
           !is_blank(view->at[stop + 1]);
}

static bool ends_bare(const struct cs_view *view, size_t i, size_t end)
{
    static const char *const signs[] = {"&quot", "&lt", "&gt", "&#", "&amp", ")]", "](", "</"};
    char c = view->at[i];
    if (c != '&' && c != ';' && c != ')' && c != ']' && c != '<')
        return false;
    if ((c == '&' || c == ';') && key_at(view, i + 1, end))
        return true;
    for (size_t j = 0; j < CS_COUNT(signs); j++)
        if (cs_str_starts(cs_strn(view->at + i, end - i), signs[j]))
            return true;
    return false;
}

/* Where a value without quotes ends: before a blank, the next key, and the signs of a program. */
static size_t bare_end(const struct cs_view *view, size_t start, size_t end)
{
    size_t i = start;
    while (i < end && !is_blank(view->at[i]) && !ends_bare(view, i, end))
        i++;
    for (; i > start; i--) {
        char c = view->at[i - 1];
        bool closing = c == ')' && !memchr(view->at + start, '(', i - start);
        if (c != ',' && c != ';' && !is_quote(c) && !closing)
            break;
    }
    return i;
}

static void look_at(const struct cs_view *view, size_t end, struct value *v)
{
    v->mix = cs_mix_of(v->s);
    v->odd = cs_is_odd(v->s, &v->mix);
    v->next = v->rest = cs_view_at(view, end);
    for (size_t i = end; i < end + 40 && (v->rest == ' ' || v->rest == '\t'); i++)
        v->rest = cs_view_at(view, i);
    if (v->rest == '\0' || v->rest == '\r')
        v->rest = '\n';
}

static struct value value_of(const struct cs_view *view, size_t start, size_t end)
{
    if (end > view->len)
        end = view->len;
    struct value v = {.s = {view->at + (start < end ? start : end), 0}};
    if (start >= end)
        return v;
    bool whole = view->is_value && start == 0 && end == view->len;
    /* Quotes may have been taken off before. */
    v.quoted = whole || (start > 0 && is_quote(view->at[start - 1]) && end < view->len &&
                         view->at[end] == view->at[start - 1]);
    v.sign = start ? view->at[start - 1] : '\0';
    for (unsigned round = 0; round < 3; round++) {
        trim(view, &start, &end);
        start = v.quoted ? start : unwrapped(view, start, end);
        if (start == end || !unquote(view, &start, &end))
            break;
        v.quoted = true;
    }
    /* password=password=: nobody's. */
    if (!v.quoted && key_at(view, start, end))
        return v;
    if (!v.quoted)
        end = bare_end(view, start, end);
    if (end > start && end <= start + VALUE_MAX) {
        v.s = cs_strn(view->at + start, end - start);
        look_at(view, end, &v);
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
    if (size < 4)
        return s;
    if (size > 63)
        size = 63;
    for (size_t i = 0; i < size; i++)
        if (out[i] < 0x20 || out[i] > 0x7e)
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

/* A word that speaks of passwords, and is none: "#add-password", "userPassword", "Password:". */
static bool names_itself(const struct value *v)
{
    return v->mix.digit == 0 &&
           (cs_str_has(v->s, "password") || cs_str_has(v->s, "passwd") ||
            cs_str_has(v->s, "token") || cs_str_has(v->s, "credential") ||
            cs_str_has(v->s, "passphrase") || (cs_str_has(v->s, "secret") && v->mix.other == 0));
}

/* Words that follow "password:" in sentences and forms. */
static bool is_talk(struct cs_str s)
{
    static const char *const words[] = {
        "must",       "should",    "is",      "are",       "was",
        "will",       "can",       "cannot",  "may",       "and",
        "or",         "the",       "an",      "for",       "of",
        "protection", "to",        "in",      "on",        "with",
        "from",       "by",        "at",      "not",       "reset",
        "change",     "changed",   "field",   "prompt",    "manager",
        "policy",     "protected", "input",   "forgot",    "please",
        "enter",      "your",      "my",      "this",      "that",
        "invalid",    "incorrect", "wrong",   "correct",   "expired",
        "missing",    "mismatch",  "needed",  "if",        "when",
        "minimum",    "length",    "int",     "const",     "let",
        "var",        "new",       "any",     "same",      "see",
        "set",        "failed",    "success", "login",     "email",
        "strong",     "weak",      "hashed",  "plain",     "plaintext",
        "file",       "bcrypt",    "md5",     "sha256",    "scram-sha-256",
        "self",       "auto",      "manual",  "generated", "stored",
        "files",      "compat",    "pass",    "safe",      "secure",
        "shared",     "available", "valid",   "ok",        "okay",
        "also",       "char[]",    "byte[]",  "strings",   "required.",
        "optional.",  "here",      "there",   "below",
    };
    for (size_t i = 0; i < CS_COUNT(words); i++)
        if ((s.at[0] | 32) == words[i][0] && cs_str_same(s, words[i]))
            return true;
    return false;
}

/* A plain word without quotes. Names in a program have a sign after them, words in a sentence have
 * more words after them. */
static bool stands_alone(const struct value *v)
{
    /* A cell of a table. */
    if (memchr(",|\t", v->sign, 3) && memchr(",|\t\n", v->rest, 4))
        return true;
    if (memchr(";,)(", v->next, 4))
        return false;
    return v->rest == '\n' || v->rest == '|' || v->rest == '#' || v->rest == '&' ||
           v->rest == '<' || (v->sign == '=' && v->next == ' ');
}

/* MAX_LENGTH: a name of a program. */
static bool is_constant(struct cs_str s)
{
    bool under = false;
    for (size_t i = 0; i < s.len; i++) {
        if (!(s.at[i] >= 'A' && s.at[i] <= 'Z') && !cs_is_digit(s.at[i]) && s.at[i] != '_')
            return false;
        under |= s.at[i] == '_';
    }
    return under;
}

/* Something that stands for a value, or tells where to get one. */
static bool is_none(const struct value *v)
{
    if (!v->quoted && (memchr("<{([|&*", v->s.at[0], 7) || is_constant(v->s)))
        return true;
    /* The numbers and truths of programs. */
    if (v->s.len > 1 && ((v->s.at[0] == '!' && !v->quoted && cs_is_digit(v->s.at[1])) ||
                         (v->s.at[0] == '0' && v->s.at[1] == 'x' && v->s.len <= 10)))
        return true;
    return cs_is_sample(v->s) || cs_is_code(v->s, v->quoted) || cs_is_place(v->s) ||
           names_itself(v) || v->mix.lower + v->mix.upper + v->mix.digit == 0;
}

static bool is_password(const struct value *v, bool short_name, enum cs_found found)
{
    struct cs_str s = v->s;
    if (s.len < 4 || s.len > 256 || memchr(":({", s.at[s.len - 1], 3) || is_talk(s) || is_none(v))
        return false;
    if (has_blank(s))
        return v->quoted && v->odd && v->mix.digit && s.len < 64 && s.at[s.len - 1] != '.';
    if (found == CS_FOUND_LISTED || short_name)
        return v->odd && s.len >= 6; /* "pass: 12" counts tests */
    if (found == CS_FOUND_TOLD)
        return v->odd || v->quoted || v->mix.cases > 0;
    return v->odd || v->quoted || v->mix.digit == s.len || stands_alone(v);
}

/* Files, tables and maps have keys, too. */
static bool is_weak_key(const struct value *v, struct cs_str key)
{
    struct cs_str s = v->s;
    if (memchr(s.at, '.', s.len) || memchr(s.at, ':', s.len))
        return false;
    if (memchr(s.at, '/', s.len) && v->mix.cases < s.len / 4)
        return false;
    if (v->mix.hex && (cs_str_same(key, "key") || s.len < 20))
        return false;
    return cs_is_random(s) && v->mix.bits >= 3.0F;
}

static bool is_key(const struct value *v, enum cs_under role, struct cs_str key)
{
    struct cs_str s = v->s;
    if (s.len < 8 || has_blank(s) || is_none(v))
        return false;
    if (role == CS_UNDER_WEAK)
        return !cs_is_uuid(s) && is_weak_key(v, key);
    if (cs_is_uuid(s) || cs_is_random(s))
        return true;
    return s.len >= 10 && v->mix.digit * 8 > s.len && v->mix.lower + v->mix.upper &&
           v->mix.cases > 3 && v->mix.bits > 2.8F && v->mix.other * 4 < s.len;
}

static void cookies(struct cs_view *view, size_t start, size_t end)
{
    while (start < end) {
        size_t equals = start, stop;
        while (equals < end && view->at[equals] != '=' && view->at[equals] != ';')
            equals++;
        for (stop = equals; stop < end && view->at[stop] != ';';)
            stop++;
        struct cs_str s = equals < stop ? value_of(view, equals + 1, stop).s : (struct cs_str){0};
        if (s.len >= 16 && cs_is_random(s) && !cs_is_sample(s)) {
            size_t at = (size_t)(s.at - view->at);
            cs_hit(view, CS_PII_SECRET, at, at + s.len);
        }
        start = stop + 1;
    }
}

/* "Bearer x", "Basic x", "Token x": the word before the value says what it is. */
static size_t scheme_end(const struct cs_view *view, size_t start, size_t end, enum cs_under *role)
{
    static const char *const schemes[] = {"basic ", "bearer ", "token ",
                                          "ssws ",  "apikey ", "key "};
    for (size_t i = 0; i < CS_COUNT(schemes); i++) {
        size_t n = strlen(schemes[i]);
        if (end - start > n && strncasecmp(view->at + start, schemes[i], n) == 0) {
            *role = i == 0 ? CS_UNDER_PASS : CS_UNDER_KEY;
            return start + n;
        }
    }
    return start;
}

static enum cs_pii kind_of(const struct value *v, enum cs_under role, struct cs_str key,
                           enum cs_found found)
{
    if (role == CS_UNDER_PASS || role == CS_UNDER_PIN) {
        bool short_name = cs_str_same(key, "pass") || cs_str_same(key, "pw");
        bool digits =
            role == CS_UNDER_PIN && v->s.len >= 3 && v->s.len <= 8 && v->mix.digit == v->s.len;
        return digits || is_password(v, short_name, found) ? CS_PII_PASSWORD : CS_PII_COUNT;
    }
    if (is_key(v, role, key) && (found == CS_FOUND_ASSIGNED || cs_is_random(v->s)))
        return CS_PII_API_KEY;
    /* A secret that is but a word is somebody's password. */
    if (role != CS_UNDER_SECRET || !(v->quoted || stands_alone(v)) || has_blank(v->s) ||
        !is_password(v, true, found))
        return CS_PII_COUNT;
    return v->s.len >= 16 ? CS_PII_API_KEY : CS_PII_PASSWORD;
}

/* What the text around has left at the end of a value. */
static void shorten(struct value *v, enum cs_under role, enum cs_found found)
{
    /* token:x@host */
    const char *sign = role != CS_UNDER_PASS && v->s.len ? memchr(v->s.at, '@', v->s.len) : NULL;
    if (sign && sign - v->s.at >= 16 && !v->quoted)
        v->s.len = (size_t)(sign - v->s.at);
    if (found == CS_FOUND_TOLD && v->s.len > 1 && v->s.at[v->s.len - 1] == '.')
        v->s.len--;
}

static void find(struct cs_view *view, enum cs_under role, struct cs_str key, size_t start,
                 size_t end, enum cs_found found)
{
    if (end > view->len)
        end = view->len;
    if (role == CS_UNDER_NOTHING || start >= end)
        return;
    if (end - start > 2 * VALUE_MAX)
        end = start + 2 * VALUE_MAX;
    if (role == CS_UNDER_COOKIE) {
        cookies(view, start, end);
        return;
    }
    struct value v = value_of(view, start, end);
    if (v.s.len == 0)
        return;
    size_t at = (size_t)(v.s.at - view->at), stop = v.quoted ? at + v.s.len : end;
    size_t after = scheme_end(view, at, stop, &role);
    if (after != at) {
        bool quoted = v.quoted;
        v = value_of(view, after, stop);
        v.quoted |= quoted;
        at = (size_t)(v.s.at - view->at);
    }
    shorten(&v, role, found);
    char plain[64];
    struct cs_str inside = undone(v.s, plain);
    if (v.s.len == 0 || (inside.at != v.s.at && cs_is_sample(inside)))
        return;
    enum cs_pii kind = kind_of(&v, role, key, found);
    if (kind != CS_PII_COUNT && v.s.len <= cs_pii_longest(kind))
        cs_hit(view, kind, at, at + v.s.len);
}

void cs_secret_value(struct cs_view *view, struct cs_str key, size_t start, size_t end,
                     enum cs_found found)
{
    find(view, cs_under_of(key), key, start, end, found);
}

void cs_keyed_secret(struct cs_view *view, struct cs_sense sense, struct cs_str key, size_t start,
                     size_t end)
{
    enum cs_under role = cs_under_of(key);
    if (role == CS_UNDER_NOTHING)
        role = sense.kind == CS_PII_PASSWORD ? CS_UNDER_PIN : CS_UNDER_WEAK;
    find(view, role, key, start, end, CS_FOUND_ASSIGNED);
}
