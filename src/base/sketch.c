/*
 * Bucket i counts the numbers above g^(i-1) and up to g^i, where g = 1.01 / 0.99: the middle of a
 * bucket is within 1 % of all that is in it (DDSketch). A 64-bit number falls into one of some
 * 2,200 buckets, so nothing ever has to be thrown away.
 */
#include "base/sketch.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define ERROR       0.01
#define GROWTH      ((1 + ERROR) / (1 - ERROR))
#define BUCKETS     2220u /* 64 * ln 2 / ln GROWTH = 2217.9 */
#define TEXT_MAX    (64u << 10)
#define NUMBERS_MAX (UINT64_C(1) << 62) /* in a text: two of them can be added */

void cs_sketch_done(struct cs_sketch *s)
{
    free(s->counts);
    *s = (struct cs_sketch){0};
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint32_t bucket_of(uint64_t value)
{
    double i = ceil(log((double)value) / log(GROWTH));
    return i < 0 ? 0 : i >= BUCKETS ? BUCKETS - 1 : (uint32_t)i;
}

static double middle_of(int64_t bucket)
{
    return 2 * pow(GROWTH, (double)bucket) / (GROWTH + 1);
}

/* Makes room for the buckets `from` to `to`. */
static void cover(struct cs_sketch *s, int32_t from, int32_t to)
{
    if (s->len && s->first <= from && to < s->first + (int32_t)s->len)
        return;
    if (s->len && s->first < from)
        from = s->first;
    if (s->len && s->first + (int32_t)s->len - 1 > to)
        to = s->first + (int32_t)s->len - 1;
    uint32_t len = (uint32_t)(to - from + 1);
    if (len > s->cap) {
        s->cap = len + len / 4 + 8;
        s->counts = cs_realloc(s->counts, s->cap, sizeof *s->counts);
    }
    uint32_t shift = s->len ? (uint32_t)(s->first - from) : 0;
    memmove(s->counts + shift, s->counts, s->len * sizeof *s->counts);
    memset(s->counts, 0, shift * sizeof *s->counts);
    memset(s->counts + shift + s->len, 0, (len - shift - s->len) * sizeof *s->counts);
    s->first = from;
    s->len = len;
}

void cs_sketch_add(struct cs_sketch *s, uint64_t value)
{
    s->count = plus(s->count, 1);
    s->sum = plus(s->sum, value);
    if (value > s->most)
        s->most = value;
    if (value == 0) {
        s->zeros = plus(s->zeros, 1);
        return;
    }
    int32_t bucket = (int32_t)bucket_of(value);
    cover(s, bucket, bucket);
    uint64_t *n = &s->counts[bucket - s->first];
    *n = plus(*n, 1);
}

void cs_sketch_merge(struct cs_sketch *to, const struct cs_sketch *from)
{
    to->count = plus(to->count, from->count);
    to->sum = plus(to->sum, from->sum);
    to->zeros = plus(to->zeros, from->zeros);
    if (from->most > to->most)
        to->most = from->most;
    if (!from->len)
        return;
    cover(to, from->first, from->first + (int32_t)from->len - 1);
    for (uint32_t i = 0; i < from->len; i++) {
        uint64_t *n = &to->counts[(uint32_t)(from->first - to->first) + i];
        *n = plus(*n, from->counts[i]);
    }
}

double cs_sketch_quantile(const struct cs_sketch *s, double q)
{
    if (s->count == 0)
        return 0;
    /* The nearest rank: of three numbers, the 99th percentile is the largest. */
    double rank = fmax(ceil(q * (double)s->count), 1), below = (double)s->zeros;
    if (rank <= below)
        return 0;
    for (uint32_t i = 0; i < s->len; i++) {
        below += (double)s->counts[i];
        if (rank <= below)
            return fmin(middle_of((int64_t)s->first + i), (double)s->most);
    }
    return (double)s->most;
}

/* --- as text: "1:count:sum:most:zeros:first:5,3,z12,1"; z12 are 12 empty buckets --- */

void cs_sketch_put(const struct cs_sketch *s, struct cs_buf *out)
{
    cs_buf_printf(out, "1:%llu:%llu:%llu:%llu:%d:", (unsigned long long)s->count,
                  (unsigned long long)s->sum, (unsigned long long)s->most,
                  (unsigned long long)s->zeros, s->len ? s->first : 0);
    const char *comma = "";
    for (uint32_t i = 0, empty; i < s->len; i += empty ? empty : 1) {
        for (empty = 0; i + empty < s->len && s->counts[i + empty] == 0;)
            empty++;
        if (empty)
            cs_buf_printf(out, "%sz%u", comma, empty);
        else
            cs_buf_printf(out, "%s%llu", comma, (unsigned long long)s->counts[i]);
        comma = ",";
    }
}

/* Takes a number and the one byte after it, if there is one; -1: there is no number that is at most
 * `max`. */
static int take(struct cs_str *text, uint64_t max, uint64_t *number)
{
    size_t i = 0;
    uint64_t n = 0;
    for (; i < text->len && text->at[i] >= '0' && text->at[i] <= '9'; i++) {
        unsigned digit = (unsigned)(text->at[i] - '0');
        if (n > max / 10 || n * 10 > max - digit)
            return -1;
        n = n * 10 + digit;
    }
    if (i == 0)
        return -1;
    *number = n;
    *text = cs_strn(text->at + i, text->len - i);
    return 0;
}

static bool skip(struct cs_str *text, char c)
{
    if (!text->len || text->at[0] != c)
        return false;
    *text = cs_strn(text->at + 1, text->len - 1);
    return true;
}

/* The counts; together with the zeros they must be `count`. */
static bool read_counts(struct cs_str text, struct cs_sketch *s, int32_t first)
{
    uint64_t sum = s->zeros;
    uint32_t at = (uint32_t)first;
    while (text.len) {
        uint64_t n;
        bool empty = skip(&text, 'z');
        if (take(&text, empty ? BUCKETS : s->count, &n) < 0 || n == 0)
            return false;
        uint32_t last = empty ? at + (uint32_t)n - 1 : at;
        if (last >= BUCKETS)
            return false;
        cover(s, (int32_t)at, (int32_t)last);
        if (!empty) {
            s->counts[at - (uint32_t)s->first] = n;
            sum = plus(sum, n);
        }
        at = last + 1;
        if (text.len && (!skip(&text, ',') || !text.len))
            return false;
    }
    return sum == s->count;
}

bool cs_sketch_read(struct cs_str text, struct cs_sketch *sketch)
{
    struct cs_sketch s = {0};
    uint64_t first;
    if (text.len > TEXT_MAX || !skip(&text, '1') || !skip(&text, ':') ||
        take(&text, NUMBERS_MAX, &s.count) < 0 || !skip(&text, ':') ||
        take(&text, UINT64_MAX, &s.sum) < 0 || !skip(&text, ':') ||
        take(&text, UINT64_MAX, &s.most) < 0 || !skip(&text, ':') ||
        take(&text, s.count, &s.zeros) < 0 || !skip(&text, ':') ||
        take(&text, BUCKETS - 1, &first) < 0 || !skip(&text, ':') ||
        !read_counts(text, &s, (int32_t)first)) {
        cs_sketch_done(&s);
        return false;
    }
    *sketch = s;
    return true;
}
