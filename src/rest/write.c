/* Members that many answers have. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/time.h"
#include "rest/inside.h"

void cs_put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    if (!text.len)
        return;
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

void cs_put_number(struct cs_json_writer *w, const char *key, uint64_t value)
{
    cs_json_key(w, key);
    cs_json_put_u64(w, value);
}

void cs_put_time(struct cs_json_writer *w, const char *key, int64_t ms)
{
    char text[CS_TIME_TEXT];
    if (*cs_time_text_ms(ms, text))
        cs_put_text(w, key, cs_str(text));
}

void cs_put_execution(struct cs_json_writer *w, const struct cs_execution_row *row)
{
    cs_json_open(w, '{');
    cs_put_text(w, "execution_id", row->id);
    cs_put_text(w, "status", row->status);
    cs_put_text(w, "error_type", row->error_type);
    cs_put_text(w, "session_id", row->session);
    cs_put_text(w, "language", row->language);
    cs_put_text(w, "intent", row->intent);
    cs_put_text(w, "principal", row->principal);
    cs_put_time(w, "created_at", row->created);
    cs_put_time(w, "finished_at", row->finished);
    cs_json_close(w, '}');
}

void cs_put_logs(struct cs_json_writer *w, const struct cs_run *run)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    const struct cs_log *logs = NULL;
    size_t count = cs_run_logs(run, &logs);
    cs_json_key(w, "logs");
    cs_json_open(w, '[');
    for (size_t i = 0; i < count; i++) {
        cs_json_open(w, '{');
        cs_put_text(w, "level", cs_str(levels[logs[i].level]));
        cs_json_key(w, "text");
        cs_json_put_str(w, logs[i].text);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

void cs_put_percent(struct cs_buf *out, struct cs_str text)
{
    static const char plain[] = "-._~";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        bool alone = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                     (c && strchr(plain, c));
        if (alone)
            cs_buf_putc(out, (char)c);
        else
            cs_buf_printf(out, "%%%02X", c);
    }
}

/* --- canonical JSON --- */

struct pair {
    struct cs_str key;
    struct cs_json_val value;
};

static int by_key(const void *a, const void *b)
{
    struct cs_str x = ((const struct pair *)a)->key, y = ((const struct pair *)b)->key;
    size_t n = x.len < y.len ? x.len : y.len;
    int d = n ? memcmp(x.at, y.at, n) : 0;
    return d ? d : (x.len > y.len) - (x.len < y.len);
}

static void put_value(struct cs_json_writer *w, struct cs_arena *arena, struct cs_json_val v);

static void put_object(struct cs_json_writer *w, struct cs_arena *arena, struct cs_json_val v)
{
    uint32_t count = cs_json_count(v), i = 0;
    struct pair *pairs = cs_calloc((size_t)count + 1, sizeof *pairs);
    struct cs_json_iter it = {0};
    struct cs_json_val key, value;
    while (i < count && cs_json_next(v, &it, &key, &value))
        pairs[i++] = (struct pair){cs_json_str(key, arena), value};
    qsort(pairs, i, sizeof *pairs, by_key);
    cs_json_open(w, '{');
    for (uint32_t k = 0; k < i; k++) {
        cs_json_key_str(w, pairs[k].key);
        put_value(w, arena, pairs[k].value);
    }
    cs_json_close(w, '}');
    free(pairs);
}

/* As deep as the parser lets a document be. */
static void put_value(struct cs_json_writer *w, struct cs_arena *arena, struct cs_json_val v)
{
    enum cs_json_type type = cs_json_type(v);
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    if (type == CS_JSON_OBJECT) {
        put_object(w, arena, v);
    } else if (type == CS_JSON_ARRAY) {
        cs_json_open(w, '[');
        while (cs_json_next(v, &it, NULL, &item))
            put_value(w, arena, item);
        cs_json_close(w, ']');
    } else if (type == CS_JSON_STRING) {
        cs_json_put_str(w, cs_json_str(v, arena));
    } else {
        cs_json_put_raw(w, type == CS_JSON_NONE ? CS_STR("null") : cs_json_raw(v));
    }
}

void cs_put_canonical(struct cs_buf *out, struct cs_json_val value)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_writer w = CS_JSON_WRITER(out);
    put_value(&w, &arena, value);
}

/* --- bytes that programs made --- */

void cs_visit_attach(struct cs_visit *v, struct cs_str name)
{
    const char *slash = name.len ? memrchr(name.at, '/', name.len) : NULL;
    if (slash)
        name = cs_strn(slash + 1, (size_t)(name.at + name.len - slash) - 1);
    CS_AUTO_BUF struct cs_buf value = {0};
    cs_buf_puts(&value, "attachment");
    if (name.len) {
        cs_buf_puts(&value, "; filename*=UTF-8''");
        cs_put_percent(&value, name);
    }
    cs_visit_set(v, "Content-Disposition", cs_buf_str(&value));
    cs_visit_set(v, "Content-Security-Policy", CS_STR("default-src 'none'; sandbox"));
}
