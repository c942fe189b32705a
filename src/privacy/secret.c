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
    return strlen(small) == a.len && strncasecmp(a.at, small, a.len) == 0;
}

bool cs_str_has(struct cs_str a, const char *small)
{
    size_t n = strlen(small);
    for (size_t i = 0; i + n <= a.len; i++)
        if (strncasecmp(a.at + i, small, n) == 0)
            return true;
    return false;
}

struct cs_mix cs_mix_of(struct cs_str value)
{
    struct cs_mix mix = {.len = value.len};
    unsigned seen[256] = {0};
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
    for (unsigned i = 0; i < 256; i++)
        if (seen[i]) {
            float p = (float)seen[i] / (float)value.len;
            mix.bits -= p * log2f(p);
        }
    return mix;
}

/* The same byte this often one after the other. */
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

/* Between brackets, or with a place to be filled in. */
static bool is_template(struct cs_str s)
{
    char first = s.at[0], last = s.at[s.len - 1];
    if ((first == '<' && last == '>') || (first == '{' && last == '}') ||
        (first == '[' && last == ']') || (first == '%' && last == '%' && s.len > 2) ||
        (first == '(' && last == ')') || (first == '#' && last == '#' && s.len > 2))
        return true;
    static const char *const inside[] = {"${",   "{{",  "$(",           "#{", "<%",
                                         "&lt;", "...", "\xe2\x80\xa6", "%s", "%(",
                                         "%d",   "{0}", "\xe2\x80\xa2"};
    for (size_t i = 0; i < CS_COUNT(inside); i++)
        if (memmem(s.at, s.len, inside[i], strlen(inside[i])))
            return true;
    return false;
}

bool cs_is_sample(struct cs_str s)
{
    static const char *const whole[] = {
        "changeme",   "change_me",  "change-me", "changeit",  "redacted",  "hidden",    "masked",
        "none",       "null",       "nil",       "true",      "false",     "undefined", "empty",
        "password",   "passwd",     "pwd",       "secret",    "token",     "string",    "str",
        "text",       "todo",       "tbd",       "n/a",       "required",  "optional",  "value",
        "unset",      "not-set",    "notset",    "omitted",   "encrypted", "disabled",  "enabled",
        "apikey",     "api_key",    "api-key",   "username",  "yes",       "no",        "unknown",
        "[filtered]", "filtered",   "default",   "sensitive", "prompt",    "bearer",    "basic",
        "mypassword", "passphrase", "object",    "number",    "boolean",   "integer",   "hash",
    };
    static const char *const part[] = {
        "example",   "placeholder", "your_",     "your-",       "yourpass", "yoursecret",
        "yourtoken", "yourkey",     "your key",  "your api",    "_here",    "-here",
        "insert",    "replace",     "dummy",     "redacted",    "changeme", "change_me",
        "xxxx",      "<your",       "my_secret", "mysecretkey", "enter_",   "fakekey",
    };
    if (s.len == 0)
        return true;
    if (is_template(s))
        return true;
    for (size_t i = 0; i < CS_COUNT(whole); i++)
        if (cs_str_same(s, whole[i]))
            return true;
    for (size_t i = 0; s.len < 100 && i < CS_COUNT(part); i++)
        if (cs_str_has(s, part[i]))
            return true;
    char of = 0;
    size_t run = longest_run(s, &of);
    return run == s.len || (run >= 3 && (of == '*' || of == '.')) || (run >= 8 && run * 2 > s.len);
}

/* a.b.c, a::b, a->b, $a: names of a program, and nothing else. */
static bool is_name_path(struct cs_str s)
{
    bool joined = false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (cs_is_letter(c) || c == '_' || (i && cs_is_digit(c)))
            continue;
        if (c == '.' && i && i + 1 < s.len && cs_is_letter(s.at[i + 1])) {
            joined = true;
            continue;
        }
        if ((c == '-' && i + 2 < s.len && s.at[i + 1] == '>') ||
            (c == '>' && i && s.at[i - 1] == '-') ||
            (c == ':' && i + 2 < s.len && (s.at[i + 1] == ':' || (i && s.at[i - 1] == ':')))) {
            joined = true;
            continue;
        }
        return false;
    }
    return joined;
}

bool cs_is_code(struct cs_str s)
{
    static const char *const starts[] = {
        "process.env", "os.environ", "os.getenv",   "env.",       "env[",         "env(",
        "getenv",      "config.",    "config[",     "secrets.",   "this.",        "self.",
        "var.",        "local.",     "data.",       "args.",      "options.",     "params.",
        "request.",    "req.",       "import.meta", "new ",       "await ",       "function",
        "lambda",      "async ",     "vault:",      "file:",      "arn:",         "ref:",
        "!ref",        "!sub",       "!vault",      "@",          "secretkeyref", "valuefrom",
        "op://",       "ssm:",       "projects/",   "encrypted:", "enc[",         "sha256:",
        "sha512-",     "sha256-",    "sha1-",       "md5:",       "data:image",   "urn:",
        "vault ",
    };
    for (size_t i = 0; i < CS_COUNT(starts); i++) {
        size_t n = strlen(starts[i]);
        if (s.len >= n && strncasecmp(s.at, starts[i], n) == 0)
            return true;
    }
    if (s.len > 1 && s.at[0] == '$' && (cs_is_letter(s.at[1]) || s.at[1] == '_')) {
        /* $NAME and $name; but `$ecret!` and `$2b$10$...` are values. */
        size_t i = 1;
        while (i < s.len && (cs_is_alnum(s.at[i]) || s.at[i] == '_'))
            i++;
        if (i == s.len || s.at[i] == '-' || s.at[i] == '[' || s.at[i] == '/' || s.at[i] == '.')
            return true;
    }
    for (size_t i = 1; i < s.len; i++)
        if ((s.at[i] == '(' || s.at[i] == '[') &&
            (cs_is_alnum(s.at[i - 1]) || s.at[i - 1] == '_')) {
            /* A call or an index, if names lead up to it and the bracket is closed. */
            size_t j = 0;
            while (j < i && (cs_is_alnum(s.at[j]) || s.at[j] == '_' || s.at[j] == '.' ||
                             s.at[j] == ':' || s.at[j] == '-' || s.at[j] == '>' || s.at[j] == '$'))
                j++;
            if (j == i && (memchr(s.at + i, ')', s.len - i) || memchr(s.at + i, ']', s.len - i) ||
                           s.at[s.len - 1] == '('))
                return true;
            break;
        }
    return is_name_path(s);
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

/* Words with dashes, dots, slashes or underscores between them; a number may be one of them. */
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
        } else if (c == '-' || c == '_' || c == '.' || c == '/' || c == ' ' || c == ':') {
            parts++;
        } else {
            return false;
        }
    }
    return parts > 1 && odd == 0 && letters > 2 * digits && letters / parts < 12;
}

bool cs_is_random(struct cs_str s)
{
    if (s.len < 16 || memmem(s.at, s.len, "://", 3) || s.at[0] == '/' || s.at[0] == '.')
        return false;
    struct cs_mix mix = cs_mix_of(s);
    if (mix.other > s.len / 3)
        return false;
    if (mix.hex)
        return mix.digit < s.len && mix.bits > 2.4F && s.len >= 16;
    if (mix.bits < 3.0F)
        return false;
    if (mix.digit == 0 && mix.cases < 4)
        return false;
    if (mix.digit == s.len)
        return false;
    return !(is_words(s) && mix.cases < 4);
}
