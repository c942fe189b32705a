/*
 * Names of artifacts: they are shown to the model, listed and kept. Where one holds somebody's data
 * its kind stands instead ("[EMAIL].csv"): that is no token, so nothing has to be known of it
 * later, and a replay need not find it again.
 */
#include "base/mem.h"
#include "run/shield.h"

#define SUFFIX_MOST 8

/* Where its suffix begins; its end: it has none. */
static size_t suffix_of(struct cs_str name)
{
    for (size_t i = name.len; i > 1 && name.len - i <= SUFFIX_MOST; i--) {
        char c = name.at[i - 1];
        if (c == '.')
            return i < name.len ? i - 1 : name.len;
        if (!((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z')))
            break;
    }
    return name.len;
}

/* As a person reads it: "ada_lovelace.csv" is two words and a suffix. As long as the name. */
static void readable(struct cs_str name, struct cs_buf *text)
{
    bool words = !memchr(name.at, '@', name.len) && !cs_token_like(name);
    cs_buf_put(text, name.at, name.len);
    size_t suffix = suffix_of(name);
    for (size_t i = 0; i < name.len; i++)
        if (name.at[i] == '/')
            text->at[i] = '\n';
        else if (i >= suffix || (words && name.at[i] == '_'))
            text->at[i] = ' ';
}

static void put_kinds(const struct cs_detector *detector, struct cs_str name,
                      const struct cs_spans *spans, struct cs_buf *buf)
{
    size_t done = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const struct cs_span *s = &spans->at[i];
        struct cs_str kind = cs_detector_name(detector, (enum cs_pii)s->kind, s->custom);
        cs_buf_put(buf, name.at + done, s->start - done);
        cs_buf_printf(buf, "[%.*s]", CS_STR_ARG(kind));
        done = s->end;
    }
    cs_buf_put(buf, name.at + done, name.len - done);
}

struct cs_str cs_shield_name(const struct cs_run *run, struct cs_str name, struct cs_buf *buf)
{
    const struct cs_shield *sh = run->shield;
    if (!sh || sh->level == CS_PRIVACY_OFF || !name.len)
        return name;
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_spans spans = {0};
    readable(name, &text);
    cs_scan(sh->detector, sh->level, CS_FORM_TEXT, cs_buf_str(&text), &spans);
    if (!spans.count) /* the suffix may be a part of it: "ada@example.org" */
        cs_scan(sh->detector, sh->level, CS_FORM_TEXT, name, &spans);
    if (spans.count)
        put_kinds(sh->detector, name, &spans, buf);
    bool found = spans.count > 0;
    cs_spans_done(&spans);
    return found ? cs_buf_str(buf) : name;
}
