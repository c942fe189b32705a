#include "tools/sse.h"

static const char bom[] = "\xEF\xBB\xBF";

#define NAME_BYTES 8u  /* longer than any field we know */
#define TYPE_MAX   64u /* a longer type is none that we know */
#define WINDOW                                                                        \
    4096u /* how far to look for the end of a line at once: with lines that end in CR \
             alone, looking for an LF to the very end would be quadratic */

static void start_line(struct cs_sse *s)
{
    cs_buf_clear(&s->name);
    s->where = CS_SSE_NAME;
    s->field = CS_SSE_OTHER;
}

static void start_event(struct cs_sse *s)
{
    cs_buf_clear(&s->data);
    cs_buf_clear(&s->type);
    s->has_data = false;
}

/* The name of the field is complete: what follows is its value. */
static void name_is_known(struct cs_sse *s)
{
    struct cs_str name = cs_buf_str(&s->name);
    if (cs_str_is(name, "data")) {
        s->field = CS_SSE_DATA;
        if (s->has_data)
            cs_buf_putc(&s->data, '\n');
        s->has_data = true;
    } else if (cs_str_is(name, "event")) {
        s->field = CS_SSE_EVENT;
        cs_buf_clear(&s->type);
    } else if (cs_str_is(name, "id")) {
        s->field = CS_SSE_IDENT;
        cs_buf_clear(&s->id);
        s->bad_id = false;
    } else if (cs_str_is(name, "retry")) {
        s->field = CS_SSE_RETRY;
    }
    cs_buf_clear(&s->name);
}

static int value(struct cs_sse *s, struct cs_str part, struct cs_err *err)
{
    switch (s->field) {
    case CS_SSE_DATA:
        if (part.len > s->max || s->data.len > s->max - part.len)
            return cs_fail(err, CS_LIMIT, "an event of more than %zu bytes", s->max);
        cs_buf_putstr(&s->data, part);
        break;
    case CS_SSE_EVENT:
        cs_buf_put(&s->type, part.at,
                   part.len < TYPE_MAX - s->type.len ? part.len : TYPE_MAX - s->type.len);
        break;
    case CS_SSE_IDENT:
        if (s->id.len + part.len > CS_SSE_ID || memchr(part.at, 0, part.len))
            s->bad_id = true;
        else
            cs_buf_putstr(&s->id, part);
        break;
    case CS_SSE_RETRY:
        if (s->name.len + part.len <= 10)
            cs_buf_putstr(&s->name, part);
        else
            s->field = CS_SSE_OTHER;
        break;
    case CS_SSE_OTHER:
        break;
    }
    return 0;
}

static void end_of_field(struct cs_sse *s)
{
    if (s->field == CS_SSE_IDENT && s->bad_id) {
        /* Such an id is as if it were not there: the one before stays. */
        cs_buf_clear(&s->id);
        cs_buf_putstr(&s->id, cs_buf_str(&s->last_id));
    }
    if (s->field != CS_SSE_RETRY || s->name.len == 0)
        return;
    int64_t n = 0;
    for (size_t i = 0; i < s->name.len; i++) {
        if (s->name.at[i] < '0' || s->name.at[i] > '9')
            return;
        n = n * 10 + (s->name.at[i] - '0');
    }
    s->retry_ms = n;
    s->has_retry = true;
}

/* True if the line that ends here completes an event. */
static bool end_of_line(struct cs_sse *s)
{
    bool complete = false;
    if (s->where == CS_SSE_NAME && s->name.len == 0) {
        cs_buf_clear(&s->last_id);
        cs_buf_putstr(&s->last_id, cs_buf_str(&s->id));
        complete = s->has_data;
        if (!complete)
            start_event(s);
    } else {
        if (s->where == CS_SSE_NAME)
            name_is_known(s);
        end_of_field(s);
    }
    start_line(s);
    return complete;
}

/* Part of a line, no end in it. */
static int within_line(struct cs_sse *s, struct cs_str part, struct cs_err *err)
{
    if (s->where == CS_SSE_NAME) {
        const char *colon = memchr(part.at, ':', part.len);
        size_t n = colon ? (size_t)(colon - part.at) : part.len;
        size_t keep = NAME_BYTES - s->name.len;
        cs_buf_put(&s->name, part.at, n < keep ? n : keep);
        if (!colon)
            return 0;
        if (s->name.len == 0)
            s->field = CS_SSE_OTHER; /* a comment */
        else
            name_is_known(s);
        s->where = CS_SSE_SPACE;
        part = cs_strn(colon + 1, part.len - n - 1);
    }
    if (part.len == 0)
        return 0;
    if (s->where == CS_SSE_SPACE) {
        s->where = CS_SSE_VALUE;
        if (part.at[0] == ' ')
            part = cs_strn(part.at + 1, part.len - 1);
        if (part.len == 0)
            return 0;
    }
    return value(s, part, err);
}

/* A byte order mark may stand before everything else, in pieces too. False: more bytes are needed.
 */
static bool skip_bom(struct cs_sse *s, struct cs_str *in)
{
    while (s->bom < 3 && in->len) {
        if (in->at[0] != bom[s->bom]) {
            /* It was none: its first bytes start the name of a field nobody knows. */
            cs_buf_put(&s->name, bom, s->bom);
            s->bom = 3;
            return true;
        }
        s->bom++;
        *in = cs_strn(in->at + 1, in->len - 1);
    }
    return s->bom == 3;
}

int cs_sse_next(struct cs_sse *s, struct cs_str *in, struct cs_sse_event *event, struct cs_err *err)
{
    if (s->delivered)
        start_event(s);
    s->delivered = false;
    if (!skip_bom(s, in))
        return 0;
    while (in->len) {
        if (s->after_cr) {
            s->after_cr = false;
            if (in->at[0] == '\n') {
                *in = cs_strn(in->at + 1, in->len - 1);
                continue;
            }
        }
        size_t span = in->len < WINDOW ? in->len : WINDOW;
        const char *lf = memchr(in->at, '\n', span);
        const char *cr = memchr(in->at, '\r', lf ? (size_t)(lf - in->at) : span);
        const char *end = cr ? cr : lf;
        size_t n = end ? (size_t)(end - in->at) : span;
        if (n && within_line(s, cs_strn(in->at, n), err) < 0)
            return -1;
        if (!end) {
            *in = cs_strn(in->at + n, in->len - n);
            continue;
        }
        s->after_cr = cr != NULL;
        *in = cs_strn(in->at + n + 1, in->len - n - 1);
        bool complete = end_of_line(s);
        if (s->data.len > s->max) /* many empty lines of data */
            return cs_fail(err, CS_LIMIT, "an event of more than %zu bytes", s->max);
        if (complete) {
            s->delivered = true;
            *event = (struct cs_sse_event){cs_buf_str(&s->type), cs_buf_str(&s->data)};
            return 1;
        }
    }
    return 0;
}

void cs_sse_restart(struct cs_sse *s)
{
    start_line(s);
    start_event(s);
    cs_buf_clear(&s->id);
    cs_buf_putstr(&s->id, cs_buf_str(&s->last_id));
    s->bom = 0;
    s->after_cr = s->bad_id = s->delivered = false;
}

void cs_sse_done(struct cs_sse *s)
{
    cs_buf_done(&s->last_id);
    cs_buf_done(&s->data);
    cs_buf_done(&s->id);
    cs_buf_done(&s->type);
    cs_buf_done(&s->name);
}
