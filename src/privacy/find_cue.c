/*
 * Secrets that follow a word or stand in a command: "the password is x", `--password x`,
 * `IDENTIFIED BY 'x'`, `curl -u user:x`, "Bearer x". Assignments and headers of a line of their own
 * are found by structure.c; what stands in the middle of a line is found here.
 */
#include "privacy/secret.h"

#include <openssl/evp.h>
#include <strings.h>

#define SENTENCE_MAX 300
#define KEY_BACK     40

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t blanks(const struct cs_view *view, size_t at)
{
    size_t most = at + 40;
    while (at < view->len && at < most && is_blank(view->at[at]))
        at++;
    return at;
}

static size_t line_end(const struct cs_view *view, size_t at)
{
    size_t most = view->len - at < SENTENCE_MAX ? view->len : at + SENTENCE_MAX;
    const char *end = at < most ? memchr(view->at + at, '\n', most - at) : NULL;
    return end ? (size_t)(end - view->at) : most;
}

/* Where the key that the word at `at` ends begins: DB_PASSWORD, spring.datasource.password. */
static size_t key_start(const struct cs_view *view, size_t at)
{
    size_t start = at;
    while (start > 0 && at - start < KEY_BACK &&
           cs_is_class(view->at[start - 1], CS_C_URL64 | CS_C_DOT))
        start--;
    return start;
}

/* The operator of an assignment or a comparison; 0: there is none. */
static size_t operator_end(const struct cs_view *view, size_t at)
{
    static const char *const operators[] = {"===", "!==", "==", "!=", ":=", "=>", "->", "=", ":"};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        size_t n = strlen(operators[i]);
        if (view->len - at >= n && memcmp(view->at + at, operators[i], n) == 0)
            return at + n;
    }
    return 0;
}

/* " is ", " was ", " = " within a few words: where the value begins. 0: no such thing. */
static size_t sentence(const struct cs_view *view, size_t at, size_t end)
{
    static const char *const verbs[] = {"is", "was", "are", "=", ":"};
    for (unsigned words = 0; words < 6 && at < end && is_blank(view->at[at]); words++) {
        at = blanks(view, at);
        size_t word = at;
        while (at < end && !is_blank(view->at[at]))
            at++;
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
            if (cs_str_is(cs_strn(view->at + word, at - word), verbs[i])) {
                at = blanks(view, at);
                /* "is now x", "is still x" */
                if (end - at > 4 && (memcmp(view->at + at, "now ", 4) == 0 ||
                                     memcmp(view->at + at, "set ", 4) == 0))
                    at += 4;
                if (end - at > 3 && memcmp(view->at + at, "to ", 3) == 0)
                    at += 3;
                return at < end ? at : 0;
            }
        if (at > word && strchr(".;!?", view->at[at - 1]))
            return 0;
    }
    return 0;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

size_t cs_cue_password(struct cs_view *view, size_t at, size_t after)
{
    if (cs_is_class(cs_view_at(view, after), CS_C_ALNUM | CS_C_UNDER))
        return 0;
    size_t start = key_start(view, at);
    struct cs_str key = {view->at + start, after - start};
    size_t end = line_end(view, after);
    size_t next = after;
    bool closed = is_quote(cs_view_at(view, next));
    next = blanks(view, next + closed);
    if (next >= view->len)
        return 0;
    size_t value = operator_end(view, next);
    bool loose = false;
    if (value == 0 && !closed && next > after && is_quote(view->at[next]))
        value = next;
    else if (value == 0 && closed && view->at[next] == ',')
        value = next + 1;
    else if (value == 0 && !closed && next > after && start < at && view->at[at - 1] == '-' &&
             view->at[next] != '-')
        value = next; /* --password x */
    else if (value == 0 && !closed && next > after) {
        size_t line = at > 120 ? at - 120 : 0;
        if (memmem(view->at + line, at - line, "login ", 6)) {
            value = next; /* netrc */
        } else {
            value = sentence(view, after, end);
            loose = true;
        }
    }
    if (value)
        cs_secret_value(view, key, value, end, loose);
    return 0;
}

size_t cs_cue_secret(struct cs_view *view, size_t at, size_t after)
{
    size_t start = key_start(view, at);
    /* "API key", "Secret access key", "access_token": up to three words. */
    size_t stop = cs_class_end(view, after, after + KEY_BACK, CS_C_ALNUM | CS_C_UNDER | CS_C_DASH);
    size_t key_stop = stop;
    for (unsigned words = 1; words < 3 && cs_view_at(view, stop) == ' '; words++) {
        size_t word = stop + 1;
        stop = cs_class_end(view, word, word + 16, CS_C_ALNUM | CS_C_DASH | CS_C_UNDER);
        struct cs_str w = {view->at + word, stop - word};
        if (!cs_str_same(w, "key") && !cs_str_same(w, "token") && !cs_str_same(w, "secret") &&
            !cs_str_same(w, "access") && !cs_str_same(w, "api") && !cs_str_same(w, "auth"))
            break;
        key_stop = stop;
    }
    stop = key_stop;
    struct cs_str key = {view->at + start, stop - start};
    size_t next = stop;
    bool closed = is_quote(cs_view_at(view, next));
    next = blanks(view, next + closed);
    if (next >= view->len)
        return 0;
    size_t end = line_end(view, next);
    size_t value = operator_end(view, next);
    bool loose = false;
    if (value == 0 && closed && view->at[next] == ',') {
        value = next + 1;
    } else if (value == 0 && !closed && next > stop && start < at && view->at[at - 1] == '-') {
        value = next;
    } else if (value == 0 && !closed && next > stop + 1) {
        value = next; /* a column of keys, a column of values */
        loose = true;
    } else if (value == 0 && !closed && next > stop) {
        value = sentence(view, stop, end);
        loose = true;
        if (value == 0 && is_quote(view->at[next]))
            value = next;
    }
    if (value)
        cs_secret_value(view, key, value, end, loose);
    return 0;
}

size_t cs_cue_bearer(struct cs_view *view, size_t at, size_t after)
{
    (void)at;
    size_t start = after;
    if (cs_view_at(view, start) == ':')
        start++;
    if (!is_blank(cs_view_at(view, start)))
        return 0;
    start = blanks(view, start);
    size_t end = cs_class_end(view, start, start + 4096,
                              CS_C_URL64 | CS_C_BASE64 | CS_C_DOT | CS_C_TILDE | CS_C_COLON);
    while (end > start && cs_is_class(view->at[end - 1], CS_C_DOT | CS_C_COLON))
        end--;
    struct cs_str s = {view->at + start, end - start};
    if (s.len < 12 || cs_is_sample(s) || cs_is_code(s))
        return 0;
    struct cs_mix mix = cs_mix_of(s);
    if ((mix.digit == 0 || mix.lower + mix.upper == 0) && !(s.len >= 20 && mix.cases > 3))
        return 0;
    cs_hit(view, CS_PII_API_KEY, start, end);
    return 0;
}

size_t cs_cue_basic(struct cs_view *view, size_t at, size_t after)
{
    (void)at;
    if (!is_blank(cs_view_at(view, after)))
        return 0;
    size_t start = blanks(view, after);
    size_t end = cs_class_end(view, start, start + 1024, CS_C_BASE64);
    size_t n = end - start;
    if (n < 8 || n % 4 != 0)
        return 0;
    /* user:password, of which the beginning is enough. */
    unsigned char plain[64];
    int got =
        EVP_DecodeBlock(plain, (const unsigned char *)view->at + start, (int)(n < 80 ? n : 80));
    size_t size = got > 0 ? (size_t)got : 0;
    if (size > sizeof plain || !memchr(plain, ':', size))
        return 0;
    for (size_t i = 0; i + 2 < size; i++)
        if (plain[i] < 0x20 || plain[i] > 0x7e)
            return 0;
    cs_hit(view, CS_PII_PASSWORD, start, end);
    return end;
}

size_t cs_cue_identified(struct cs_view *view, size_t at, size_t after)
{
    (void)at;
    size_t end = line_end(view, after);
    size_t next = blanks(view, after);
    size_t limit = next + 60;
    while (next + 3 < end && next < limit && strncasecmp(view->at + next, "by ", 3) != 0)
        next++;
    if (next + 4 >= end || next >= limit)
        return 0;
    next = blanks(view, next + 3);
    cs_secret_value(view, CS_STR("password"), next, end, false);
    return 0;
}

/* The word from `at` on, or what stands between quotes. */
static struct cs_str argument(const struct cs_view *view, size_t at, size_t end)
{
    at = blanks(view, at);
    if (at >= end)
        return cs_strn(view->at, 0);
    char quote = view->at[at];
    size_t stop = at;
    if (is_quote(quote)) {
        stop = ++at;
        while (stop < end && view->at[stop] != quote)
            stop++;
    } else {
        while (stop < end && !is_blank(view->at[stop]) && !is_quote(view->at[stop]))
            stop++;
    }
    return cs_strn(view->at + at, stop - at);
}

static bool is_given(struct cs_str s)
{
    if (s.len < 3 || s.len > 256 || cs_is_sample(s) || s.at[0] == '-')
        return false;
    bool variable = s.at[0] == '$' && s.len > 1;
    for (size_t i = 1; variable && i < s.len; i++)
        variable = (s.at[i] >= 'A' && s.at[i] <= 'Z') || s.at[i] == '_' || cs_is_digit(s.at[i]) ||
                   s.at[i] == '{' || s.at[i] == '}';
    return !variable;
}

static void hit(struct cs_view *view, struct cs_str s)
{
    size_t start = (size_t)(s.at - view->at);
    cs_hit(view, CS_PII_PASSWORD, start, start + s.len);
}

/* sshpass -p x, psexec -u y -p x, docker login -p x, mysql -px */
size_t cs_cue_option(struct cs_view *view, size_t at, size_t after)
{
    if (cs_is_class(cs_view_at(view, after), CS_C_ALNUM | CS_C_UNDER | CS_C_DASH))
        return 0;
    size_t end = line_end(view, after);
    bool glued = view->at[at] == 'm';
    if (view->at[at] == 'd' && !memmem(view->at + after, end - after, " login", 6))
        return 0;
    for (size_t i = after; i + 4 < end; i++) {
        if (view->at[i] != ' ' || view->at[i + 1] != '-' || view->at[i + 2] != 'p')
            continue;
        if (is_blank(view->at[i + 3]) == glued || view->at[i + 3] == '-')
            continue;
        struct cs_str s = argument(view, i + 3, end);
        if (is_given(s) && !(glued && cs_str_starts(s, "rotocol")) && !cs_str_is(s, "ort"))
            hit(view, s);
        break;
    }
    return 0;
}

/* curl -u user:x */
size_t cs_cue_user(struct cs_view *view, size_t at, size_t after)
{
    (void)at;
    size_t end = view->len - after < SENTENCE_MAX ? view->len : after + SENTENCE_MAX;
    static const char *const options[] = {" -u", "\n-u", " --user", " --proxy-user"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t n = strlen(options[i]);
        const char *found = memmem(view->at + after, end - after, options[i], n);
        size_t from = found ? (size_t)(found - view->at) + n : 0;
        if (!found || (!is_blank(cs_view_at(view, from)) && cs_view_at(view, from) != '='))
            continue;
        struct cs_str s = argument(view, from + 1, end);
        const char *colon = s.len ? memchr(s.at, ':', s.len) : NULL;
        if (!colon)
            continue;
        struct cs_str word = {colon + 1, s.len - (size_t)(colon + 1 - s.at)};
        while (word.len && (word.at[word.len - 1] == '\n' || word.at[word.len - 1] == '\\'))
            word.len--;
        const char *line = word.len ? memchr(word.at, '\n', word.len) : NULL;
        if (line)
            word.len = (size_t)(line - word.at);
        if (is_given(word))
            hit(view, word);
        break;
    }
    return 0;
}

/* NetworkCredential("user", "x") */
size_t cs_cue_second(struct cs_view *view, size_t at, size_t after)
{
    (void)at;
    size_t end = line_end(view, after);
    const char *comma =
        cs_view_at(view, after) == '(' ? memchr(view->at + after, ',', end - after) : NULL;
    if (!comma)
        return 0;
    size_t next = blanks(view, (size_t)(comma - view->at) + 1);
    if (next >= end || !is_quote(view->at[next]))
        return 0;
    struct cs_str s = argument(view, next, end);
    if (is_given(s))
        hit(view, s);
    return 0;
}
