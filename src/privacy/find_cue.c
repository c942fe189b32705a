/*
 * Secrets that follow a word or stand in a command: "the password is x", `--password x`,
 * `IDENTIFIED BY 'x'`, `curl -u user:x`, "Bearer x". Assignments and headers of a line of their own
 * are found by structure.c; what stands in the middle of a line is found here.
 */
#include "privacy/secret.h"

#include <openssl/evp.h>
#include <strings.h>

#include "base/own.h"

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

/* The operator of a comparison or so; 0: there is none. Assignments are found by structure.c. */
static size_t operator_end(const struct cs_view *view, size_t at)
{
    static const char *const operators[] = {"===", "!==", "==", "!=", "->"};
    for (size_t i = 0; i < CS_COUNT(operators); i++) {
        size_t n = strlen(operators[i]);
        if (view->len - at >= n && memcmp(view->at + at, operators[i], n) == 0)
            return at + n;
    }
    return 0;
}

/* "password rules:" and the like are about something else. */
static bool is_topic(struct cs_str w)
{
    static const char *const topics[] = {
        "rules",    "requirements", "policy",     "length",  "reset",       "hint",     "manager",
        "history",  "expiry",       "encryption", "hashing", "salt",        "format",   "strength",
        "name",     "type",         "file",       "field",   "fields",      "options",  "storage",
        "value",    "values",       "size",       "id",      "ids",         "features", "support",
        "sha256",   "sha1",         "md5",        "hash",    "fingerprint", "bindings", "points",
        "findings", "changes",      "note",       "notes",   "example",
    };
    for (size_t i = 0; i < CS_COUNT(topics); i++) {
        size_t n = strlen(topics[i]);
        if (w.len > n && cs_str_same(cs_strn(w.at + w.len - 1 - n, n), topics[i]))
            return true;
    }
    return false;
}

/* "is", "was", "=" after a few words: where the value begins. 0: no such thing. */
static size_t sentence(const struct cs_view *view, size_t at, size_t end)
{
    static const char *const verbs[] = {"is", "is:", "was", "was:", "are", "are:", "=", ":"};
    for (unsigned words = 0; words < 6 && at < end && is_blank(view->at[at]); words++) {
        at = blanks(view, at);
        size_t word = at;
        while (at < end && !is_blank(view->at[at]))
            at++;
        struct cs_str w = {view->at + word, at - word};
        for (size_t i = 0; i < CS_COUNT(verbs); i++)
            if (cs_str_is(w, verbs[i]))
                return blanks(view, at);
        /* "password for the shop: x" */
        if (w.len > 1 && w.at[w.len - 1] == ':' && !is_topic(w))
            return blanks(view, at) < end ? blanks(view, at) : 0;
        if (w.len == 0 || memchr(".;!?:", w.at[w.len - 1], 5))
            return 0;
    }
    return 0;
}

/* "is now x", "is set to x" */
static size_t after_adverb(const struct cs_view *view, size_t at, size_t end)
{
    static const char *const words[] = {"now ", "still ", "set ", "to ", "just "};
    for (size_t i = 0; i < CS_COUNT(words); i++) {
        size_t n = strlen(words[i]);
        if (at < end && end - at > n && memcmp(view->at + at, words[i], n) == 0)
            at += n;
    }
    return at;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
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

/* A key, and where it stands. */
struct cue {
    size_t start, at, stop; /* of the key; of the word that is known; of the key's end */
    bool closed;            /* a quote ends it */
    size_t next;            /* what comes after blanks */
    size_t end;             /* of the line, or so */
};

static bool read_cue(const struct cs_view *view, size_t at, size_t stop, struct cue *cue)
{
    *cue = (struct cue){.start = key_start(view, at), .at = at, .stop = stop};
    cue->closed = is_quote(cs_view_at(view, stop));
    cue->next = blanks(view, stop + cue->closed);
    cue->end = line_end(view, stop < view->len ? stop : view->len);
    return cue->next < view->len;
}

/* Where the value is, by signs: key = x, key "x", f("key", "x"), --key x. */
static size_t by_sign(const struct cs_view *view, const struct cue *cue, enum cs_found *found)
{
    size_t value = operator_end(view, cue->next);
    char next = view->at[cue->next];
    *found = CS_FOUND_ASSIGNED;
    if (value)
        return value;
    if (cue->closed) {
        /* Both ends of the key have to be quoted. */
        *found = CS_FOUND_LISTED;
        return next == ',' && cue->start > 0 && view->at[cue->start - 1] == view->at[cue->stop]
                   ? cue->next + 1
                   : 0;
    }
    if (cue->next == cue->stop)
        return 0;
    if (next == '"' || next == '\'')
        return cue->stop - cue->at > 4 ? cue->next : 0; /* but: pass "x" on */
    if (next == '(') {
        /* password (staging): x */
        size_t most = cue->next + 40 < cue->end ? cue->next + 40 : cue->end;
        const char *close = memchr(view->at + cue->next, ')', most - cue->next);
        size_t sign = close ? (size_t)(close - view->at) + 1 : view->len;
        return cs_view_at(view, sign) == ':' ? sign + 1 : 0;
    }
    bool option = (cue->start < cue->at && view->at[cue->start] == '-') || view->at[cue->at] == 'r';
    return option && next != '-' ? cue->next : 0;
}

/* machine x login y password z */
static bool is_netrc(const struct cs_view *view, size_t at)
{
    size_t from = at > 120 ? at - 120 : 0;
    const char *found = memmem(view->at + from, at - from, "login ", 6);
    return found && (found == view->at || !cs_is_alnum(found[-1]));
}

/* "... the following password:", and then a line with nothing else. */
static size_t own_line(const struct cs_view *view, const struct cue *cue)
{
    size_t at = cue->end;
    if (at == 0 || at >= view->len || view->at[at - 1] != ':' || view->at[at] != '\n')
        return 0;
    while (at < view->len && at < cue->end + 8 && (view->at[at] == '\n' || is_blank(view->at[at])))
        at++;
    return at;
}

/* "use the password x": nothing but the word itself can prove it. */
static void plain_word(struct cs_view *view, struct cs_str key, size_t start, size_t end)
{
    struct cs_str s = argument(view, start, end);
    while (s.len && memchr(".,;:!?)", s.at[s.len - 1], 7))
        s.len--;
    struct cs_mix mix = cs_mix_of(cs_strn(s.at, s.len < 64 ? s.len : 64));
    bool mixed = mix.digit > 1 && mix.lower + mix.upper > 2;
    if (s.len >= 8 && s.len < 64 && mixed && cs_is_alnum(s.at[0]))
        cs_secret_value(view, key, start, (size_t)(s.at - view->at) + s.len, CS_FOUND_LISTED);
}

size_t cs_cue_password(struct cs_view *view, size_t at, size_t after)
{
    struct cue cue;
    if (cs_is_class(cs_view_at(view, after), CS_C_ALNUM | CS_C_UNDER) ||
        !read_cue(view, at, after, &cue))
        return 0;
    struct cs_str key = {view->at + cue.start, after - cue.start};
    enum cs_found found;
    size_t value = by_sign(view, &cue, &found);
    if (value == 0 && !cue.closed && cue.next > cue.stop) {
        if (is_netrc(view, at)) {
            value = cue.next;
        } else {
            found = CS_FOUND_TOLD;
            value = after_adverb(view, sentence(view, after, cue.end), cue.end);
            if (value == 0 && after - at > 4) /* but: pass x on */
                plain_word(view, key, cue.next, cue.end);
        }
        size_t line = value ? 0 : own_line(view, &cue);
        if (line) {
            size_t end = line_end(view, line);
            struct cs_str s = {view->at + line, end - line};
            if (s.len > 6 && cs_is_random(s))
                cs_secret_value(view, key, line, end, CS_FOUND_ASSIGNED);
            return 0;
        }
    }
    if (value)
        cs_secret_value(view, key, value, cue.end, found);
    return 0;
}

/* "API key", "Secret access key", "access_token": up to three words. */
static size_t words_end(const struct cs_view *view, size_t after)
{
    static const char *const words[] = {"key", "token", "secret", "access", "api", "auth"};
    const unsigned classes = CS_C_ALNUM | CS_C_UNDER | CS_C_DASH;
    size_t end = cs_class_end(view, after, after + KEY_BACK, classes), stop = end;
    for (unsigned n = 1; n < 3 && cs_view_at(view, stop) == ' '; n++) {
        size_t word = stop + 1;
        stop = cs_class_end(view, word, word + 16, classes);
        bool known = false;
        for (size_t i = 0; i < CS_COUNT(words); i++)
            known |= cs_str_same(cs_strn(view->at + word, stop - word), words[i]);
        if (!known)
            break;
        end = stop;
    }
    return end;
}

size_t cs_cue_secret(struct cs_view *view, size_t at, size_t after)
{
    struct cue cue;
    if (!read_cue(view, at, words_end(view, after), &cue))
        return 0;
    struct cs_str key = {view->at + cue.start, cue.stop - cue.start};
    enum cs_found found;
    size_t value = by_sign(view, &cue, &found);
    if (value == 0 && !cue.closed && cue.next > cue.stop) {
        found = CS_FOUND_TOLD;
        /* A column of keys, and a column of values. */
        value = cue.next > cue.stop + 1 ? cue.next : sentence(view, cue.stop, cue.end);
    }
    if (value)
        cs_secret_value(view, key, value, cue.end, found);
    return 0;
}

static size_t back_over(const struct cs_view *view, size_t at, size_t from, const char *signs)
{
    while (at > from && strchr(signs, view->at[at - 1]) && view->at[at - 1])
        at--;
    return at;
}

/* "rotate this key: x", "the key is x" */
size_t cs_cue_key(struct cs_view *view, size_t at, size_t after)
{
    size_t end = line_end(view, after);
    size_t value = sentence(view, at + 3, end), start = key_start(view, at ? at - 1 : 0);
    struct cs_str before = {view->at + start, at > start ? at - 1 - start : 0};
    if (value && !cs_str_same(before, "public") && !cs_str_same(before, "primary") &&
        !cs_str_same(before, "host") && !cs_str_same(before, "foreign"))
        cs_secret_value(view, CS_STR("api key"), value, end, CS_FOUND_TOLD);
    return 0;
}

/* key="Password" value="x"; name: DB_PASSWORD, and on the next line value: x */
size_t cs_cue_attribute(struct cs_view *view, size_t at, size_t after)
{
    size_t next = blanks(view, after + is_quote(cs_view_at(view, after)));
    char sign = cs_view_at(view, next);
    if ((sign != '=' && sign != ':') || at < 8)
        return 0;
    size_t from = at > 96 ? at - 96 : 0;
    size_t stop = back_over(view, at, from, " \t\n\r,\"'"), start = stop;
    while (start > from && cs_is_class(view->at[start - 1], CS_C_URL64 | CS_C_DOT))
        start--;
    /* The name of the name. */
    size_t name = back_over(view, start, from, " =:\"'");
    if (stop == start || name == start || name < from + 4 ||
        (strncasecmp(view->at + name - 3, "key", 3) != 0 &&
         strncasecmp(view->at + name - 4, "name", 4) != 0))
        return 0;
    cs_secret_value(view, cs_strn(view->at + start, stop - start), next + 1,
                    line_end(view, next + 1), CS_FOUND_ASSIGNED);
    return 0;
}

/* variable "db_password" { default = "x" } */
size_t cs_cue_default(struct cs_view *view, size_t at, size_t after)
{
    static const char before[] = "variable \"";
    size_t next = blanks(view, after), from = at > 200 ? at - 200 : 0;
    if (cs_view_at(view, next) != '=')
        return 0;
    const char *found = NULL, *more = view->at + from;
    while ((more = memmem(more, (size_t)(view->at + at - more), before, sizeof before - 1)))
        found = more += sizeof before - 1;
    const char *close = found ? memchr(found, '"', (size_t)(view->at + at - found)) : NULL;
    if (close)
        cs_secret_value(view, cs_strn(found, (size_t)(close - found)), next + 1,
                        line_end(view, next + 1), CS_FOUND_ASSIGNED);
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
    if (s.len < 12 || cs_is_sample(s) || cs_is_code(s, false))
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
    if (cs_view_at(view, next) == '\'' || cs_view_at(view, next) == '"')
        cs_secret_value(view, CS_STR("password"), next, end, CS_FOUND_ASSIGNED);
    return 0;
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

/* Commands, and after what they take a password. */
static const struct {
    const char *name, *option;
    bool glued; /* right behind it, or else after a blank */
} commands[] = {
    {"sshpass", " -p", false},    {"psexec", " -p", false},    {"mysql", " -p", true},
    {"mysqldump", " -p", true},   {"mysqladmin", " -p", true}, {"docker", " -p", false},
    {"podman", " -p", false},     {"mongo", " -p", false},     {"mongosh", " -p", false},
    {"mongodump", " -p", false},  {"redis-cli", " -a", false}, {"ldapsearch", " -w", false},
    {"ldapmodify", " -w", false}, {"ldapadd", " -w", false},   {"az", " -p", false},
};

/* sshpass -p x, mysql -px, docker login -p x */
size_t cs_cue_option(struct cs_view *view, size_t at, size_t after)
{
    size_t stop = cs_class_end(view, after, after + 16, CS_C_ALNUM | CS_C_UNDER | CS_C_DASH);
    struct cs_str name = {view->at + at, stop - at};
    size_t i = 0;
    while (i < CS_COUNT(commands) && !cs_str_same(name, commands[i].name))
        i++;
    size_t end = line_end(view, stop);
    if (i == CS_COUNT(commands) ||
        (strchr("dpa", commands[i].name[0]) && commands[i].name[1] != 's' &&
         !memmem(view->at + stop, end - stop, " login", 6)))
        return 0;
    const char *more = view->at + stop;
    while ((more = memmem(more, (size_t)(view->at + end - more), commands[i].option, 3))) {
        size_t from = (size_t)(more - view->at) + 3;
        more += 3;
        if (is_blank(cs_view_at(view, from)) == commands[i].glued ||
            cs_view_at(view, from) == '-' ||
            (!commands[i].glued && !is_blank(cs_view_at(view, from))))
            continue;
        struct cs_str s = argument(view, from, end);
        if (is_given(s) && !cs_str_starts(s, "rotocol") && !cs_str_starts(s, "ort"))
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
    for (size_t i = 0; i < CS_COUNT(options); i++) {
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

/* NetworkCredential("user", "x"), auth=('user', 'x') */
size_t cs_cue_second(struct cs_view *view, size_t at, size_t after)
{
    size_t end = line_end(view, after);
    size_t open = view->at[after - 1] == '(' ? after - 1 : after;
    const char *comma =
        cs_view_at(view, open) == '(' ? memchr(view->at + open, ',', end - open) : NULL;
    (void)at;
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

/* ConvertTo-SecureString "x" */
size_t cs_cue_first(struct cs_view *view, size_t at, size_t after)
{
    (void)at;
    size_t next = blanks(view, after), end = line_end(view, after);
    if (next >= end || !is_quote(view->at[next]))
        return 0;
    struct cs_str s = argument(view, next, end);
    if (is_given(s) && s.at[0] != '$')
        hit(view, s);
    return 0;
}

/* The credentials are user:x */
size_t cs_cue_login(struct cs_view *view, size_t at, size_t after)
{
    struct cue cue;
    if (cs_is_class(cs_view_at(view, after), CS_C_ALNUM | CS_C_UNDER) ||
        !read_cue(view, at, after, &cue) || cue.closed)
        return 0;
    bool sign_next = view->at[cue.next] == ':' || view->at[cue.next] == '=';
    size_t value = sign_next ? cue.next + 1 : sentence(view, after, cue.end);
    if (value == 0)
        return 0;
    struct cs_str s = argument(view, value, cue.end);
    const char *sign = s.len ? memchr(s.at, ':', s.len) : NULL;
    size_t end = (size_t)(s.at - view->at) + s.len;
    if (!sign && s.len)
        sign = memchr(s.at, '/', s.len);
    size_t start = sign ? (size_t)(sign - view->at) + 1 : end + 3;
    /* user / x */
    if (!sign && s.len && end + 3 < cue.end && memcmp(view->at + end, " / ", 3) == 0)
        end = cue.end;
    if (sign != s.at && start < end)
        cs_secret_value(view, CS_STR("password"), start, end, CS_FOUND_LISTED);
    return 0;
}
