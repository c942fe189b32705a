/* Mail addresses: from the '@' to both sides. */
#include <string.h>

#include "privacy/personal.h"

#define LOCAL_LONGEST 64
#define HOST_LONGEST  255
#define LABEL_LONGEST 63

/* What may stand before the '@', of ASCII; beyond that everything may. */
static bool is_local(char c)
{
    return cs_is_alnum(c) || (unsigned char)c >= 0x80 || cs_one_of(c, "._-+%'&~!$*{}^=/#");
}

/* Those that are more often a sign of the text around it than a part of it. */
static bool is_rare(char c)
{
    return c != '.' && c != '_' && c != '-' && c != '+' && c != '%' && !cs_is_alnum(c) &&
           (unsigned char)c < 0x80;
}

/* "logo@2x.png", "a@b.tar.gz": the end of a file's name is no domain. */
static bool is_file_end(const char *at, size_t len)
{
    static const char *const ends[] = {
        "png",  "jpg",   "jpeg",    "gif",   "svg",    "webp",   "js",    "mjs",  "cjs",
        "ts",   "tsx",   "jsx",     "css",   "scss",   "html",   "htm",   "xml",  "json",
        "yaml", "yml",   "toml",    "lock",  "gz",     "tgz",    "zip",   "tar",  "txt",
        "log",  "pdf",   "ico",     "bmp",   "avif",   "map",    "node",  "wasm", "conf",
        "ini",  "local", "service", "timer", "socket", "target", "mount", "git"};
    char folded[8];
    size_t n = cs_cue_fold(at, len, folded, sizeof folded);
    for (size_t i = 0; n > 0 && i < CS_COUNT(ends); i++)
        if (strlen(ends[i]) == n && memcmp(folded, ends[i], n) == 0)
            return true;
    return false;
}

static bool is_host_byte(char c)
{
    return cs_is_alnum(c) || c == '-' || (unsigned char)c >= 0x80;
}

/* Letters, or xn--: a top level. */
static bool is_top(const char *at, size_t len)
{
    if (len < 2 || len > 24)
        return false;
    if (len > 4 && (at[0] | 0x20) == 'x' && (at[1] | 0x20) == 'n' && at[2] == '-' && at[3] == '-')
        return true;
    for (size_t i = 0; i < len; i++)
        if (!cs_is_letter(at[i]) && (unsigned char)at[i] < 0x80)
            return false;
    return true;
}

/* The end of the domain that begins at `at`, or 0. */
static size_t host_end(const struct cs_view *view, size_t at)
{
    size_t i = at, end = 0, label = at;
    unsigned labels = 0;
    while (i <= view->len && i - at <= HOST_LONGEST) {
        char c = cs_view_at(view, i);
        /* Signs beyond ASCII that close a text: quotation marks, the ideographic full stop. */
        bool quote =
            (unsigned char)c == 0xE2 || (unsigned char)c == 0xE3 || (unsigned char)c == 0xC2;
        if (i < view->len && is_host_byte(c) && !quote) {
            i++;
            continue;
        }
        size_t len = i - label;
        if (len == 0 || len > LABEL_LONGEST || view->at[label] == '-')
            break;
        while (len > 1 && view->at[label + len - 1] == '-')
            len--; /* "a@b.com--" */
        labels++;
        if (labels > 1 && is_top(view->at + label, len))
            end = label + len;
        if (c != '.' || label + len != i)
            break;
        label = ++i;
    }
    if (end == 0)
        return 0;
    size_t dot = end;
    while (view->at[dot - 1] != '.')
        dot--;
    return is_file_end(view->at + dot, end - dot) ? 0 : end;
}

/* "a b"@example.com: where it opens, or `at`. */
static size_t quoted_start(const struct cs_view *view, size_t at)
{
    size_t open = at - 1;
    while (open > 0 && at - open < LOCAL_LONGEST && view->at[open - 1] != '"' &&
           view->at[open - 1] != '\n')
        open--;
    return open > 0 && open < at - 1 && view->at[open - 1] == '"' ? open - 1 : at;
}

/* Blanks and quotation marks beyond ASCII end it; how long the one at `i` is, or 0. */
static size_t sign_len(char c)
{
    return (unsigned char)c == 0xC2                               ? 2
           : (unsigned char)c == 0xE2 || (unsigned char)c == 0xE3 ? 3
                                                                  : 0;
}

/* The start of what stands before the '@', or `at`. */
static size_t local_start(const struct cs_view *view, size_t at)
{
    size_t i = at;
    if (i > 1 && view->at[i - 1] == '"')
        return quoted_start(view, at);
    /* Of what is rare, only what stands within: 'name=ann@example.com' begins behind the sign. */
    while (i > 0 && at - i < LOCAL_LONGEST && is_local(view->at[i - 1]) &&
           !cs_one_of(view->at[i - 1], "=/{}$*!#^") && sign_len(view->at[i - 1]) == 0)
        i--;
    if (i > 0)
        i += sign_len(view->at[i - 1]) > 0 ? sign_len(view->at[i - 1]) - 1 : 0;
    while (i < at && (is_rare(view->at[i]) || cs_one_of(view->at[i], ".-")))
        i++;
    if (at > i + 3 && view->at[i] == '%') /* "%3Aann", "%20ann": what a URL hid */
        i += 3;
    while (i < at && ((unsigned char)view->at[i] & 0xC0) == 0x80)
        i++;
    return i < at ? i : at;
}

/* scheme://user:secret@host is no mail address; git@host:path is none either. */
static bool is_url(const struct cs_view *view, size_t start, size_t at, size_t end)
{
    size_t low = start > 80 ? start - 80 : 0;
    for (size_t i = start; i > low; i--) {
        char c = view->at[i - 1];
        if (c == '/' && i > 2 && view->at[i - 2] == '/' && view->at[i - 3] == ':')
            return !(i > 9 && memcmp(view->at + i - 10, "mailto:", 7) == 0);
        if (cs_one_of(c, " \n\t\"'<?&"))
            break;
    }
    if (at - start == 3 && memcmp(view->at + start, "git", 3) == 0)
        return cs_view_at(view, end) == ':' || cs_view_at(view, end) == '/';
    return false;
}

/* "Message-ID: <...>", "In-Reply-To:", "References:": names of messages. */
static bool is_message(const struct cs_view *view, size_t start)
{
    static const char *const heads[] = {"message-id:", "in-reply-to:", "references:"};
    size_t i = start;
    if (i == 0 || view->at[i - 1] != '<')
        return false;
    for (i--; i > 0 && start - i < 4 && (view->at[i - 1] == ' ' || view->at[i - 1] == '\n');)
        i--;
    for (size_t k = 0; k < CS_COUNT(heads); k++) {
        size_t n = strlen(heads[k]);
        char folded[16];
        if (i >= n && cs_cue_fold(view->at + i - n, n, folded, sizeof folded) == n &&
            memcmp(folded, heads[k], n) == 0)
            return true;
    }
    return false;
}

size_t cs_find_mail(struct cs_view *view, size_t at)
{
    size_t after = view->at[at] == '%' ? at + 3 : at + 1; /* "%40" */
    if (view->level < CS_PRIVACY_MEDIUM || !is_host_byte(cs_view_at(view, after)))
        return at + 1;
    size_t start = local_start(view, at);
    if (start == at)
        return after;
    size_t end = host_end(view, after);
    if (end == 0)
        return after;
    if (view->at[at - 1] == '.' || is_url(view, start, at, end) || is_message(view, start))
        return end;
    cs_hit(view, CS_PII_EMAIL, start, end);
    return end;
}
