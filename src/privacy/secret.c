/* How a secret looks, and what only stands where one could. */
#include "privacy/secret.h"

#include <math.h>
#include <strings.h>

#include "base/own.h"

#define D CS_C_DIGIT
#define L CS_C_LOWER
#define U CS_C_UPPER
#define l CS_C_HEX_LOWER
#define u CS_C_HEX_UPPER

/* clang-format off */
const uint16_t cs_byte_class[256] = {
    ['0'] = D, D, D, D, D, D, D, D, D, D,
    ['A'] = u, u, u, u, u, u, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U,
    ['a'] = l, l, l, l, l, l, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    ['_'] = CS_C_UNDER,  ['-'] = CS_C_DASH,    ['.'] = CS_C_DOT,
    ['+'] = CS_C_PLUS,   ['/'] = CS_C_PLUS,    ['='] = CS_C_EQUALS,
    ['%'] = CS_C_PERCENT, [':'] = CS_C_COLON,  ['~'] = CS_C_TILDE,
};
/* clang-format on */

#undef D
#undef L
#undef U
#undef l
#undef u

size_t cs_class_end(const struct cs_view *view, size_t at, size_t end, unsigned classes)
{
    if (end > view->len)
        end = view->len;
    while (at < end && cs_is_class(view->at[at], classes))
        at++;
    return at;
}

bool cs_str_same(struct cs_str a, const char *small)
{
    if (a.len && (a.at[0] | 32) != (small[0] | 32)) /* nearly always */
        return false;
    return strlen(small) == a.len && strncasecmp(a.at, small, a.len) == 0;
}

bool cs_str_has(struct cs_str a, const char *small)
{
    size_t n = strlen(small);
    for (size_t i = 0; i + n <= a.len; i++)
        if ((a.at[i] | 32) == (small[0] | 32) && strncasecmp(a.at + i, small, n) == 0)
            return true;
    return false;
}

struct cs_mix cs_mix_of(struct cs_str value)
{
    struct cs_mix mix = {.len = value.len};
    uint16_t seen[256] = {0};
    unsigned before = 0;
    bool hex_lower = true, hex_upper = true;
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.at[i];
        unsigned class = cs_byte_class[c];
        unsigned now = 0;
        if (class & CS_C_DIGIT)
            mix.digit++, now = 1;
        else if (class & (CS_C_LOWER | CS_C_HEX_LOWER))
            mix.lower++, now = 2;
        else if (class & (CS_C_UPPER | CS_C_HEX_UPPER))
            mix.upper++, now = 3;
        else
            mix.other++;
        hex_lower &= (class & (CS_C_DIGIT | CS_C_HEX_LOWER)) != 0;
        hex_upper &= (class & (CS_C_DIGIT | CS_C_HEX_UPPER)) != 0;
        /* One capital at the start of a word is no change. */
        mix.cases += now && before && now != before && !(before == 3 && now == 2);
        before = now;
        mix.distinct += seen[c]++ == 0;
    }
    mix.hex = value.len > 0 && (hex_lower || hex_upper);
    float sum = 0;
    for (size_t i = 0; i < value.len; i++) {
        uint16_t *n = &seen[(unsigned char)value.at[i]];
        if (*n > 1)
            sum += *n * log2f(*n);
        *n = 0;
    }
    if (value.len)
        mix.bits = log2f((float)value.len) - sum / (float)value.len;
    return mix;
}

/* How often the same byte stands there one after the other, at most. */
static size_t longest_run(struct cs_str s, char *of)
{
    size_t best = 0;
    for (size_t i = 0; i < s.len;) {
        size_t j = i + 1;
        while (j < s.len && s.at[j] == s.at[i])
            j++;
        if (j - i > best) {
            best = j - i;
            *of = s.at[i];
        }
        i = j;
    }
    return best;
}

static bool one_of(struct cs_str s, const char *const list[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((s.at[0] | 32) == (list[i][0] | 32) && cs_str_same(s, list[i]))
            return true;
    return false;
}

static bool has_one_of(struct cs_str s, const char *const list[], size_t count)
{
    uint32_t begins = 0;
    for (size_t i = 0; i < count; i++)
        begins |= 1u << (list[i][0] & 31);
    for (size_t at = 0; at < s.len; at++) {
        if (!(begins >> (s.at[at] & 31) & 1))
            continue;
        for (size_t i = 0; i < count; i++)
            if ((s.at[at] | 32) == (list[i][0] | 32) && strlen(list[i]) <= s.len - at &&
                strncasecmp(s.at + at, list[i], strlen(list[i])) == 0)
                return true;
    }
    return false;
}

/* Between brackets, or with a place to be filled in. */
static bool is_template(struct cs_str s)
{
    static const char pairs[] = "<>{}[]()%%##";
    for (const char *p = pairs; *p; p += 2)
        if (s.len > 2 && s.at[0] == p[0] && s.at[s.len - 1] == p[1])
            return true;
    size_t i = 0;
    while (i < s.len && !memchr("${#<&.%\xe2", s.at[i], 8))
        i++;
    if (i == s.len)
        return false;
    static const char *const inside[] = {"${", "{{", "$(", "#{", "<%", "&lt;", "..."};
    for (i = 0; i < CS_COUNT(inside); i++)
        if (memmem(s.at, s.len, inside[i], strlen(inside[i])))
            return true;
    /* "%s", "%(name)s", an ellipsis, bullets */
    const char *p = memchr(s.at, '%', s.len);
    if (p && s.len < 24 && p + 1 < s.at + s.len && strchr("sdv", p[1]))
        return true;
    return memmem(s.at, s.len, "%(", 2)
               ? cs_str_has(s, ")s")
               : memmem(s.at, s.len, "\xe2\x80\xa6", 3) || memmem(s.at, s.len, "\xe2\x80\xa2", 3);
}

/* Half of it is x. */
static bool is_x(struct cs_str s)
{
    size_t x = 0;
    for (size_t i = 0; i < s.len; i++)
        x += (s.at[i] | 32) == 'x';
    return x * 2 >= s.len || cs_str_has(s, "xxxxx");
}

bool cs_is_stub(struct cs_str s)
{
    static const char *const part[] = {"example",  "placeholder", "your_", "your-",  "yourkey",
                                       "redacted", "...",         "***",   "insert", "replace"};
    return s.len < 200 && (is_x(s) || has_one_of(s, part, CS_COUNT(part)));
}

bool cs_is_sample(struct cs_str s)
{
    static const char *const whole[] = {
        "changeme",
        "change_me",
        "change-me",
        "changeit",
        "redacted",
        "hidden",
        "masked",
        "none",
        "null",
        "nil",
        "true",
        "false",
        "undefined",
        "empty",
        "password",
        "passwd",
        "pwd",
        "secret",
        "token",
        "string",
        "str",
        "text",
        "todo",
        "tbd",
        "n/a",
        "required",
        "optional",
        "value",
        "unset",
        "not-set",
        "notset",
        "omitted",
        "encrypted",
        "disabled",
        "enabled",
        "apikey",
        "api_key",
        "api-key",
        "username",
        "yes",
        "no",
        "unknown",
        "filtered",
        "default",
        "sensitive",
        "prompt",
        "bearer",
        "basic",
        "object",
        "mypassword",
        "passphrase",
        "number",
        "boolean",
        "integer",
        "hash",
        "kennwort",
        "passwort",
        "senha",
        "contrase\xc3\xb1"
        "a",
        "mot de passe",
        "wachtwoord",
        "parola",
        "heslo",
        "string!",
        "string?",
        "bytes",
        "varchar",
        "char",
        "securestring",
    };
    static const char *const part[] = {
        "example",    "placeholder", "your_",     "your-",      "yourpass",
        "yoursecret", "yourtoken",   "yourkey",   "your key",   "your api",
        "_here",      "-here",       "insert",    "replace",    "dummy",
        "redacted",   "changeme",    "change_me", "0123456789", "abcdefghij",
        "<your",      "my_secret",   "enter_",    "fakekey",    "mysecretkey",
    };
    if (s.len == 0 || is_template(s) || one_of(s, whole, CS_COUNT(whole)))
        return true;
    if (s.len < 100 && (is_x(s) || has_one_of(s, part, CS_COUNT(part))))
        return true;
    char of = 0;
    size_t run = longest_run(s, &of);
    return run == s.len || (run >= 3 && (of == '*' || of == '.')) || (run >= 8 && run * 2 > s.len);
}

bool cs_is_place(struct cs_str s)
{
    if (s.len == 0 || memmem(s.at, s.len, "://", 3) || s.at[0] == '/')
        return true;
    if (s.len > 1 && ((s.at[0] == '.' && (s.at[1] == '/' || s.at[1] == '.')) ||
                      (s.at[0] == '~' && s.at[1] == '/')))
        return true;
    return s.len > 2 && s.at[1] == ':' && s.at[2] == '\\';
}

/* a.b.c, a::b, a->b: names of a program, and nothing else. */
static bool is_name_path(struct cs_str s)
{
    bool joined = false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (cs_is_letter(c) || c == '_' || (i && cs_is_digit(c)))
            continue;
        size_t n = c == '.' ? 1
                   : i + 1 < s.len &&
                           ((c == ':' && s.at[i + 1] == ':') || (c == '-' && s.at[i + 1] == '>'))
                       ? 2
                       : 0;
        if (n == 0 || i == 0 || i + n >= s.len || !cs_is_letter(s.at[i + n]))
            return false;
        joined = true;
        i += n - 1;
    }
    return joined;
}

/* $NAME and $name; but `$ecret!` and `$2b$10$...` are values. */
static bool is_variable(struct cs_str s)
{
    if (s.len < 2 || s.at[0] != '$' || !(cs_is_letter(s.at[1]) || s.at[1] == '_'))
        return false;
    size_t i = 1;
    while (i < s.len && (cs_is_alnum(s.at[i]) || s.at[i] == '_'))
        i++;
    return i == s.len || memchr("-[/.:", s.at[i], 5);
}

/* name(...), name[...] */
static bool is_call(struct cs_str s, bool quoted)
{
    size_t i = 0;
    while (i < s.len && (cs_is_alnum(s.at[i]) || memchr("_.:->$", s.at[i], 6)))
        i++;
    if (i == 0 || i == s.len || (s.at[i] != '(' && s.at[i] != '['))
        return false;
    char last = s.at[s.len - 1];
    return !quoted || last == ')' || last == ']' || last == ';';
}

bool cs_is_code(struct cs_str s, bool quoted)
{
    static const char *const starts[] = {
        "process.env", "os.environ", "os.getenv",   "env.",       "env[",         "env(",
        "getenv",      "config.",    "config[",     "secrets.",   "this.",        "self.",
        "var.",        "local.",     "data.",       "args.",      "options.",     "params.",
        "request.",    "req.",       "import.meta", "new ",       "await ",       "function",
        "lambda",      "async ",     "vault:",      "file:",      "arn:",         "ref:",
        "!ref",        "!sub",       "!vault",      "vault ",     "secretkeyref", "valuefrom",
        "op://",       "ssm:",       "projects/",   "encrypted:", "enc[",         "sha256:",
        "sha512-",     "sha256-",    "sha1-",       "md5:",       "data:image",   "urn:",
        "sha512:",
    };
    for (size_t i = 0; i < CS_COUNT(starts); i++) {
        size_t n = strlen(starts[i]);
        if ((s.at[0] | 32) == (starts[i][0] | 32) && s.len >= n &&
            strncasecmp(s.at, starts[i], n) == 0)
            return true;
    }
    /* name=value: the next argument */
    size_t i = 0;
    while (!quoted && i < s.len && (cs_is_letter(s.at[i]) || s.at[i] == '_'))
        i++;
    if (i > 2 && i + 1 < s.len && s.at[i] == '=' && s.at[i + 1] != '=')
        return true;
    return is_variable(s) || is_call(s, quoted) || is_name_path(s);
}

/* camelCase: every capital begins a word, of three letters or so. */
static bool is_camel(struct cs_str s)
{
    size_t words = 1;
    for (size_t i = 0; i < s.len; i++) {
        if (!cs_is_letter(s.at[i]))
            return false;
        if (s.at[i] < 'a' && (i + 1 >= s.len || s.at[i + 1] < 'a'))
            return false;
        words += i && s.at[i] < 'a';
    }
    return s.len >= 3 * words;
}

bool cs_is_odd(struct cs_str s, const struct cs_mix *mix)
{
    if ((mix->digit && mix->lower + mix->upper) || (mix->cases > 2 && !is_camel(s)))
        return true;
    for (size_t i = 0; i + 1 < s.len; i++)
        if (strchr("!@#$%^&*+=?~", s.at[i]))
            return true;
    return false;
}

bool cs_is_uuid(struct cs_str s)
{
    if (s.len != 36)
        return false;
    for (size_t i = 0; i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? s.at[i] != '-'
                 : !cs_is_class(s.at[i], CS_C_DIGIT | CS_C_HEX_LOWER | CS_C_HEX_UPPER))
            return false;
    }
    return true;
}

/* Words with signs between them; a number may be one of them. */
static bool is_words(struct cs_str s)
{
    size_t letters = 0, digits = 0, parts = 1, odd = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (cs_is_letter(c)) {
            letters++;
            odd += i && cs_is_digit(s.at[i - 1]);
        } else if (cs_is_digit(c)) {
            digits++;
        } else if (memchr("-_./ :", c, 6)) {
            parts++;
        } else {
            return false;
        }
    }
    return parts > 1 && odd == 0 && letters > 2 * digits && letters / parts < 12;
}

bool cs_is_random(struct cs_str s)
{
    if (s.len < 16 || cs_is_place(s) || s.at[0] == '.')
        return false;
    struct cs_mix mix = cs_mix_of(s);
    if (mix.digit == s.len || mix.other > s.len / 2)
        return false;
    if (mix.hex)
        return mix.bits > 2.4F;
    if (mix.bits < 3.0F || (mix.digit == 0 && (mix.cases < 4 || is_camel(s))))
        return false;
    return !(is_words(s) && mix.cases < 4);
}
