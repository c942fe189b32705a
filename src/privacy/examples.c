/* What each rule must find, and what it must not: the tables of all families, and how one is
 * tried. */
#include "privacy/examples.h"

#include <pthread.h>

#include "base/own.h"

/* One array of them all, written once. */
static struct {
    pthread_once_t once;
    struct cs_example at[1024];
    size_t count;
} all = {.once = PTHREAD_ONCE_INIT};

static void gather(void)
{
    static const struct cs_example *const tables[] = {cs_examples_personal, cs_examples_secret,
                                                      cs_examples_vendor, cs_examples_name};
    for (size_t i = 0; i < CS_COUNT(tables); i++)
        for (const struct cs_example *e = tables[i]; e->rule && all.count < CS_COUNT(all.at); e++)
            all.at[all.count++] = *e;
}

const struct cs_example *cs_examples(size_t *count)
{
    pthread_once(&all.once, gather);
    *count = all.count;
    return all.at;
}

/* A mark: "<<EMAIL|a@b.example>>". */
struct mark {
    struct cs_str kind;
    size_t start, end; /* in the text without marks */
};

#define MARKS 32

/* The text without its marks, and what they were. */
static size_t unmark(struct cs_str text, struct cs_buf *plain, struct mark marks[MARKS])
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        struct cs_str rest = cs_strn(text.at + i, text.len - i);
        const char *bar = cs_str_starts(rest, "<<") ? memchr(rest.at, '|', rest.len) : NULL;
        const char *close = bar ? memmem(bar, rest.len - (size_t)(bar - rest.at), ">>", 2) : NULL;
        if (!close || n == MARKS) {
            cs_buf_putc(plain, text.at[i]);
            continue;
        }
        marks[n].kind = cs_strn(rest.at + 2, (size_t)(bar - rest.at) - 2);
        marks[n].start = plain->len;
        cs_buf_put(plain, bar + 1, (size_t)(close - bar) - 1);
        marks[n++].end = plain->len;
        i += (size_t)(close - rest.at) + 1;
    }
    return n;
}

static bool same(const struct cs_detector *detector, const struct cs_span *span,
                 const struct mark *mark)
{
    return span->start == mark->start && span->end == mark->end &&
           cs_str_eq(cs_detector_name(detector, (enum cs_pii)span->kind, span->custom), mark->kind);
}

bool cs_example_holds(const struct cs_detector *detector, const struct cs_example *example,
                      struct cs_buf *why)
{
    CS_AUTO_BUF struct cs_buf plain = {0};
    struct mark marks[MARKS];
    size_t n = unmark(cs_str(example->text), &plain, marks);
    CS_AUTO(cs_spans_done) struct cs_spans spans = {0};
    cs_scan(detector, example->level, CS_FORM_GUESS, cs_buf_str(&plain), &spans);
    bool holds = spans.count == n;
    for (size_t i = 0; holds && i < n; i++)
        holds = same(detector, &spans.at[i], &marks[i]);
    if (!holds) {
        size_t at = 0;
        for (size_t i = 0; i < spans.count; i++) {
            const struct cs_span *s = &spans.at[i];
            cs_buf_put(why, plain.at + at, s->start - at);
            cs_buf_printf(why, "<<%.*s|",
                          CS_STR_ARG(cs_detector_name(detector, (enum cs_pii)s->kind, s->custom)));
            cs_buf_put(why, plain.at + s->start, s->end - s->start);
            cs_buf_puts(why, ">>");
            at = s->end;
        }
        cs_buf_put(why, plain.at + at, plain.len - at);
    }
    return holds;
}
