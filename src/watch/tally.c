#include "watch/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define MOST_TOOLS 1000 /* told apart in memory */
#define NAME_BYTES 170
#define TEXT_BYTES (1u << 20)

void cs_tally_done(struct cs_tally *t)
{
    for (uint32_t i = 0; i < t->tool_cap; i++)
        free(t->tools[i].name);
    free(t->tools);
    cs_sketch_done(&t->wall_us);
    *t = (struct cs_tally){0};
}

/* --- tools --- */

static uint32_t hash_of(struct cs_str s)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.at[i]) * 16777619u;
    return h;
}

/* Where it is, or where it would be. */
static struct cs_tally_tool *place_of(struct cs_tally_tool *tools, uint32_t cap, struct cs_str name)
{
    uint32_t i = hash_of(name) & (cap - 1);
    while (tools[i].name && !cs_str_is(name, tools[i].name))
        i = (i + 1) & (cap - 1);
    return &tools[i];
}

static void grow(struct cs_tally *t)
{
    uint32_t cap = t->tool_cap ? t->tool_cap * 2 : 16;
    struct cs_tally_tool *tools = cs_calloc(cap, sizeof *tools);
    for (uint32_t i = 0; i < t->tool_cap; i++)
        if (t->tools[i].name)
            *place_of(tools, cap, cs_str(t->tools[i].name)) = t->tools[i];
    free(t->tools);
    t->tools = tools;
    t->tool_cap = cap;
}

static void add_tool(struct cs_tally *t, struct cs_str name, uint64_t calls)
{
    if (!calls)
        return;
    name = cs_utf8_cut(name, NAME_BYTES);
    if (!name.len || memchr(name.at, 0, name.len)) {
        t->other_tools += calls;
        return;
    }
    if ((t->tool_count + 1) * 2 > t->tool_cap)
        grow(t);
    struct cs_tally_tool *tool = place_of(t->tools, t->tool_cap, name);
    if (!tool->name && t->tool_count >= MOST_TOOLS) {
        t->other_tools += calls;
        return;
    }
    if (!tool->name) {
        tool->name = cs_strndup(name.at, name.len);
        t->tool_count++;
    }
    tool->calls += calls;
}

static bool read_u64(struct cs_json_val v, uint64_t *n)
{
    int64_t i;
    if (!cs_json_i64(v, &i) || i < 0)
        return false;
    *n = (uint64_t)i;
    return true;
}

static void read_tools(struct cs_tally *t, struct cs_json_val object)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    uint64_t calls;
    while (cs_json_type(object) == CS_JSON_OBJECT && cs_json_next(object, &it, &key, &item))
        if (read_u64(item, &calls))
            add_tool(t, cs_json_str(key, &arena), calls);
}

/* --- adding --- */

static void add_status(struct cs_tally *t, struct cs_str name, uint64_t n)
{
    for (int i = 0; i < CS_STATUS_COUNT; i++)
        if (cs_str_is(name, cs_status_name((enum cs_status)i)))
            t->by_status[i] += n;
}

static void add_error(struct cs_tally *t, struct cs_str name, uint64_t n)
{
    for (int i = 0; i < CS_ERROR_COUNT; i++)
        if (cs_str_is(name, cs_error_type_name((enum cs_error_type)i)))
            t->by_error[i] += n;
}

static void add_masked(struct cs_tally *t, struct cs_str name, uint64_t n)
{
    for (int i = 0; i < CS_PII_COUNT; i++)
        if (cs_str_is(name, cs_pii_name((enum cs_pii)i)))
            t->masked[i] += n;
}

static void read_counts(struct cs_tally *t, struct cs_json_val object,
                        void (*add)(struct cs_tally *, struct cs_str, uint64_t))
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    uint64_t n;
    while (cs_json_type(object) == CS_JSON_OBJECT && cs_json_next(object, &it, &key, &item))
        if (read_u64(item, &n))
            add(t, cs_json_str(key, &arena), n);
}

void cs_tally_add(struct cs_tally *t, const struct cs_measure *m)
{
    CS_AUTO_JSON struct cs_json doc = {0}, masked = {0};
    add_status(t, m->status, 1);
    add_error(t, m->error_type, 1);
    cs_sketch_add(&t->wall_us, m->wall_us);
    t->cpu_us += m->cpu_us;
    t->memory_sum += m->memory_peak;
    if (m->memory_peak > t->memory_most)
        t->memory_most = m->memory_peak;
    t->calls += m->calls;
    t->failed += m->calls_failed;
    t->denied += m->calls_denied;
    t->cached += m->cached;
    t->tokens_saved += m->tokens_saved;
    if (m->tools.len && cs_json_parse(m->tools, NULL, &doc, NULL) == 0)
        read_tools(t, cs_json_root(&doc));
    if (m->masked.len && cs_json_parse(m->masked, NULL, &masked, NULL) == 0)
        read_counts(t, cs_json_root(&masked), add_masked);
}

void cs_tally_merge(struct cs_tally *to, const struct cs_tally *from)
{
    for (int i = 0; i < CS_STATUS_COUNT; i++)
        to->by_status[i] += from->by_status[i];
    for (int i = 0; i < CS_ERROR_COUNT; i++)
        to->by_error[i] += from->by_error[i];
    for (int i = 0; i < CS_PII_COUNT; i++)
        to->masked[i] += from->masked[i];
    cs_sketch_merge(&to->wall_us, &from->wall_us);
    to->cpu_us += from->cpu_us;
    to->memory_sum += from->memory_sum;
    if (from->memory_most > to->memory_most)
        to->memory_most = from->memory_most;
    to->calls += from->calls;
    to->failed += from->failed;
    to->denied += from->denied;
    to->cached += from->cached;
    to->tokens_saved += from->tokens_saved;
    to->other_tools += from->other_tools;
    for (uint32_t i = 0; i < from->tool_cap; i++)
        if (from->tools[i].name)
            add_tool(to, cs_str(from->tools[i].name), from->tools[i].calls);
}

/* --- as text --- */

static int by_calls(const void *a, const void *b)
{
    const struct cs_tally_tool *x = a, *y = b;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* The most frequent ones, sorted; their number. The names are lent. */
static uint32_t sort_tools(const struct cs_tally *t, struct cs_tally_tool **sorted, uint64_t *other)
{
    uint32_t n = 0;
    *sorted = cs_calloc(t->tool_count + 1, sizeof **sorted);
    *other = t->other_tools;
    for (uint32_t i = 0; i < t->tool_cap; i++)
        if (t->tools[i].name)
            (*sorted)[n++] = t->tools[i];
    qsort(*sorted, n, sizeof **sorted, by_calls);
    for (uint32_t i = CS_TALLY_TOOLS; i < n; i++)
        *other += (*sorted)[i].calls;
    return n < CS_TALLY_TOOLS ? n : CS_TALLY_TOOLS;
}

static void put(struct cs_json_writer *w, const char *key, uint64_t n)
{
    cs_json_key(w, key);
    cs_json_put_u64(w, n);
}

/* The numbers of a text. */
static const struct {
    const char *name;
    size_t at;
} numbers[] = {
    {"cpu_us", offsetof(struct cs_tally, cpu_us)},
    {"memory_sum", offsetof(struct cs_tally, memory_sum)},
    {"memory_most", offsetof(struct cs_tally, memory_most)},
    {"calls", offsetof(struct cs_tally, calls)},
    {"failed", offsetof(struct cs_tally, failed)},
    {"denied", offsetof(struct cs_tally, denied)},
    {"cached", offsetof(struct cs_tally, cached)},
    {"tokens_saved", offsetof(struct cs_tally, tokens_saved)},
};

/* Kinds of which there was something. */
static void put_masked(const struct cs_tally *t, struct cs_json_writer *w)
{
    cs_json_key(w, "masked");
    cs_json_open(w, '{');
    for (int i = 0; i < CS_PII_COUNT; i++)
        if (t->masked[i])
            put(w, cs_pii_name((enum cs_pii)i), t->masked[i]);
    cs_json_close(w, '}');
}

void cs_tally_put(const struct cs_tally *t, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf sketch = {0};
    CS_AUTO_FREE struct cs_tally_tool *sorted = NULL;
    uint64_t other;
    uint32_t n = sort_tools(t, &sorted, &other);
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "status");
    cs_json_open(&w, '{');
    for (int i = 0; i < CS_STATUS_COUNT; i++)
        if (t->by_status[i])
            put(&w, cs_status_name((enum cs_status)i), t->by_status[i]);
    cs_json_close(&w, '}');
    cs_json_key(&w, "error");
    cs_json_open(&w, '{');
    for (int i = 0; i < CS_ERROR_COUNT; i++)
        if (t->by_error[i])
            put(&w, cs_error_type_name((enum cs_error_type)i), t->by_error[i]);
    cs_json_close(&w, '}');
    cs_sketch_put(&t->wall_us, &sketch);
    cs_json_key(&w, "wall_us");
    cs_json_put_str(&w, cs_buf_str(&sketch));
    for (size_t i = 0; i < CS_COUNT(numbers); i++)
        put(&w, numbers[i].name, *(const uint64_t *)((const char *)t + numbers[i].at));
    cs_json_key(&w, "tools");
    cs_json_open(&w, '{');
    for (uint32_t i = 0; i < n; i++)
        put(&w, sorted[i].name, sorted[i].calls);
    cs_json_close(&w, '}');
    put(&w, "other_tools", other);
    put_masked(t, &w);
    cs_json_close(&w, '}');
}

bool cs_tally_read(struct cs_str text, struct cs_tally *tally)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO(cs_tally_done) struct cs_tally t = {0};
    struct cs_json_limits limits = {.bytes = TEXT_BYTES, .depth = 4};
    if (cs_json_parse(text, &limits, &doc, NULL) < 0)
        return false;
    struct cs_json_val root = cs_json_root(&doc);
    if (!cs_sketch_read(cs_json_str(cs_json_get(root, "wall_us"), &arena), &t.wall_us))
        return false;
    for (size_t i = 0; i < CS_COUNT(numbers); i++)
        if (!read_u64(cs_json_get(root, numbers[i].name), (uint64_t *)((char *)&t + numbers[i].at)))
            return false;
    read_counts(&t, cs_json_get(root, "status"), add_status);
    read_counts(&t, cs_json_get(root, "error"), add_error);
    read_counts(&t, cs_json_get(root, "masked"), add_masked);
    read_tools(&t, cs_json_get(root, "tools"));
    uint64_t other;
    if (read_u64(cs_json_get(root, "other_tools"), &other))
        t.other_tools += other;
    *tally = t;
    t = (struct cs_tally){0};
    return true;
}

/* --- for people --- */

static void put_share(struct cs_json_writer *w, const char *key, uint64_t part, uint64_t of)
{
    cs_json_key(w, key);
    if (of)
        cs_json_put_f64(w, (double)part / (double)of);
    else
        cs_json_put_null(w);
}

static void put_executions(const struct cs_tally *t, const uint32_t *running,
                           const uint32_t *waiting, struct cs_json_writer *w)
{
    cs_json_key(w, "executions");
    cs_json_open(w, '{');
    put(w, "total", t->wall_us.count);
    for (int i = 0; i < CS_STATUS_AWAITING; i++)
        put(w, cs_status_name((enum cs_status)i), t->by_status[i]);
    if (running)
        put(w, "running", *running);
    if (waiting)
        put(w, "waiting", *waiting);
    cs_json_close(w, '}');
    put_share(w, "success_rate", t->by_status[CS_STATUS_COMPLETED], t->wall_us.count);
}

/* The common ones first. */
static void put_errors(const struct cs_tally *t, struct cs_json_writer *w)
{
    bool told[CS_ERROR_COUNT] = {0};
    cs_json_key(w, "errors");
    cs_json_open(w, '{');
    for (int n = 0; n < CS_ERROR_COUNT; n++) {
        int most = -1;
        for (int i = 0; i < CS_ERROR_COUNT; i++)
            if (!told[i] && (most < 0 || t->by_error[i] > t->by_error[most]))
                most = i;
        told[most] = true;
        put(w, cs_error_type_name((enum cs_error_type)most), t->by_error[most]);
    }
    cs_json_close(w, '}');
}

static void put_ms(struct cs_json_writer *w, const char *key, const struct cs_sketch *s, double us)
{
    cs_json_key(w, key);
    if (s->count) /* three digits are more than a sketch knows */
        cs_json_put_f64(w, (double)(uint64_t)(us + 0.5) / 1000);
    else
        cs_json_put_null(w);
}

static void put_times(const struct cs_sketch *s, struct cs_json_writer *w)
{
    cs_json_key(w, "time_ms");
    cs_json_open(w, '{');
    put_ms(w, "average", s, s->count ? (double)s->sum / (double)s->count : 0);
    put_ms(w, "p50", s, cs_sketch_quantile(s, 0.5));
    put_ms(w, "p95", s, cs_sketch_quantile(s, 0.95));
    put_ms(w, "p99", s, cs_sketch_quantile(s, 0.99));
    put_ms(w, "most", s, (double)s->most);
    cs_json_close(w, '}');
}

static void put_tools(const struct cs_tally *t, struct cs_json_writer *w)
{
    CS_AUTO_FREE struct cs_tally_tool *sorted = NULL;
    uint64_t other;
    uint32_t n = sort_tools(t, &sorted, &other);
    cs_json_key(w, "tools");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < n; i++) {
        cs_json_open(w, '{');
        cs_json_key(w, "tool");
        cs_json_put_z(w, sorted[i].name);
        put(w, "calls", sorted[i].calls);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
    put(w, "other_tools", other);
}

void cs_tally_report(const struct cs_tally *t, const uint32_t *running, const uint32_t *waiting,
                     struct cs_json_writer *w)
{
    uint64_t count = t->wall_us.count, ran = count > t->cached ? count - t->cached : 0;
    put_executions(t, running, waiting, w);
    put_errors(t, w);
    put_times(&t->wall_us, w);
    cs_json_key(w, "memory_bytes");
    cs_json_open(w, '{');
    cs_json_key(w, "average"); /* a cached answer needed none */
    if (ran)
        cs_json_put_u64(w, t->memory_sum / ran);
    else
        cs_json_put_null(w);
    put(w, "peak", t->memory_most);
    cs_json_close(w, '}');
    cs_json_key(w, "cpu_seconds");
    cs_json_put_f64(w, (double)t->cpu_us / 1e6);
    cs_json_key(w, "tool_calls");
    cs_json_open(w, '{');
    put(w, "total", t->calls);
    put(w, "failed", t->failed);
    put(w, "denied", t->denied);
    cs_json_close(w, '}');
    put_tools(t, w);
    cs_json_key(w, "cache");
    cs_json_open(w, '{');
    put(w, "hits", t->cached);
    put_share(w, "hit_rate", t->cached, count);
    cs_json_close(w, '}');
    put(w, "tokens_saved", t->tokens_saved);
    put_masked(t, w);
}
