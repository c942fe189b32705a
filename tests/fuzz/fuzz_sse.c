/*
 * A stream gives the same events whole, byte by byte, and in pieces of any size; none is larger
 * than allowed, and nothing is left in the parser that could be.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX 300u

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* False once the stream was refused. */
static bool feed(struct cs_sse *s, struct cs_str bytes, struct cs_buf *out)
{
    struct cs_sse_event e;
    struct cs_err err = {0};
    int got;
    while ((got = cs_sse_next(s, &bytes, &e, &err)) == 1) {
        must(e.data.len <= MAX);
        cs_buf_printf(out, "%zu %zu ", e.type.len, e.data.len);
        cs_buf_putstr(out, e.type);
        cs_buf_putstr(out, e.data);
    }
    must(got == 0 ? bytes.len == 0 : err.code == CS_LIMIT);
    must(s->data.len <= MAX + 1 && s->id.len <= CS_SSE_ID && s->last_id.len <= CS_SSE_ID);
    return got == 0;
}

static void run(struct cs_str text, size_t step, struct cs_buf *out)
{
    struct cs_sse s = {.max = MAX};
    bool good = true;
    for (size_t at = 0; good && at < text.len; at += step)
        good = feed(&s, cs_strn(text.at + at, step < text.len - at ? step : text.len - at), out);
    cs_buf_printf(out, "end %d %lld ", good, s.has_retry ? (long long)s.retry_ms : -1);
    if (good)
        cs_buf_putstr(out, cs_buf_str(&s.last_id));
    cs_sse_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str text = {(const char *)data, size};
    CS_AUTO_BUF struct cs_buf whole = {0};
    if (size == 0)
        return 0;
    run(text, size, &whole);
    static const size_t steps[] = {1, 2, 3, 7, 64};
    for (size_t i = 0; i < CS_COUNT(steps); i++) {
        CS_AUTO_BUF struct cs_buf pieces = {0};
        run(text, steps[i], &pieces);
        must(cs_str_eq(cs_buf_str(&whole), cs_buf_str(&pieces)));
    }
    return 0;
}
