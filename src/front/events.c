#include "front/events.h"

#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"

#define FILE_MOST (16u << 20)
#define MINUTE_MS 60000
#define NAMES     64 /* remembered at once; all others share a place */

void cs_event_note(struct cs_store *store, const char *event, const struct cs_caller *caller,
                   struct cs_str data, cs_stored *done, void *ctx)
{
    struct cs_entry e = {.event = cs_str(event), .data = data};
    if (caller) {
        e.tenant = cs_str(caller->tenant);
        e.principal = cs_str(caller->principal);
    }
    cs_store_append(store, &e, 1, done, ctx);
}

void cs_event_file(struct cs_store *store, const char *event, const char *path)
{
    CS_AUTO_BUF struct cs_buf content = {0}, data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    unsigned char hash[32];
    char hex[65];
    if (!*path || cs_file_read(path, FILE_MOST, &content, NULL) < 0)
        return;
    cs_sha256(cs_buf_str(&content), hash);
    cs_hex(hash, 32, hex);
    const char *slash = strrchr(path, '/');
    cs_json_open(&w, '{');
    cs_json_key(&w, "bytes");
    cs_json_put_u64(&w, content.len);
    cs_json_key(&w, "file");
    cs_json_put_z(&w, slash ? slash + 1 : path);
    cs_json_key(&w, "hash");
    cs_json_put_z(&w, hex);
    cs_json_close(&w, '}');
    cs_event_note(store, event, NULL, cs_buf_str(&data), NULL, NULL);
}

void cs_event_policy(struct cs_store *store, const char *event, const struct cs_policy_place *place,
                     const struct cs_policy *policy, const unsigned char *before)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    char hex[65];
    const char *slash = strrchr(place->path, '/');
    cs_json_open(&w, '{');
    if (before) {
        cs_hex(before, 32, hex);
        cs_json_key(&w, "before");
        cs_json_put_z(&w, hex);
    }
    cs_json_key(&w, "bytes");
    cs_json_put_u64(&w, cs_policy_text(policy).len);
    cs_json_key(&w, "file");
    cs_json_put_z(&w, slash ? slash + 1 : place->path);
    cs_hex(cs_policy_hash(policy), 32, hex);
    cs_json_key(&w, "hash");
    cs_json_put_z(&w, hex);
    cs_json_close(&w, '}');
    cs_event_note(store, event, NULL, cs_buf_str(&data), NULL, NULL);
}

/* --- what is refused --- */

struct window {
    char name[96];
    int64_t since;
    uint64_t written, left_out;
};

struct cs_refusals {
    struct cs_store *store;
    struct window all, names[NAMES + 1]; /* the last one: all others */
    size_t count;
};

struct cs_refusals *cs_refusals_new(struct cs_store *store)
{
    struct cs_refusals *r = CS_NEW(struct cs_refusals);
    r->store = store;
    return r;
}

/* May another one be written? If not, it is counted. */
static bool may_write(struct window *w, uint64_t most, int64_t now)
{
    if (now - w->since >= MINUTE_MS || w->since == 0) {
        w->since = now;
        w->written = 0;
    }
    return w->written < most;
}

static struct window *window_of(struct cs_refusals *r, const char *name, int64_t now)
{
    struct window *free_one = NULL;
    for (size_t i = 0; i < r->count; i++) {
        struct window *w = &r->names[i];
        if (strcmp(w->name, name) == 0)
            return w;
        if (!free_one && now - w->since >= 2 * MINUTE_MS && w->left_out == 0)
            free_one = w;
    }
    if (!free_one)
        free_one = r->count < NAMES ? &r->names[r->count++] : &r->names[NAMES];
    if (free_one != &r->names[NAMES]) {
        *free_one = (struct window){0};
        snprintf(free_one->name, sizeof free_one->name, "%s", name);
    }
    return free_one;
}

static void write_one(struct cs_refusals *r, const char *event, const struct cs_caller *caller,
                      struct cs_str key_id, const char *reason, uint64_t left_out)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    cs_json_open(&w, '{');
    if (key_id.len) {
        cs_json_key(&w, "key_id");
        cs_json_put_str(&w, key_id);
    }
    if (left_out) {
        cs_json_key(&w, "left_out");
        cs_json_put_u64(&w, left_out);
    }
    cs_json_key(&w, "reason");
    cs_json_put_z(&w, reason);
    cs_json_close(&w, '}');
    cs_event_note(r->store, event, caller, cs_buf_str(&data), NULL, NULL);
}

void cs_refusals_free(struct cs_refusals *r)
{
    uint64_t left_out = 0;
    if (!r)
        return;
    for (size_t i = 0; i < CS_COUNT(r->names); i++)
        left_out += r->names[i].left_out;
    if (left_out)
        write_one(r, "request.denied", NULL, (struct cs_str){0}, "left_out", left_out);
    free(r);
}

void cs_refusals_note(struct cs_refusals *r, const char *event, const struct cs_caller *caller,
                      struct cs_str key_id, const char *reason, int64_t now_ms)
{
    char name[96];
    snprintf(name, sizeof name, "%s", caller ? caller->principal : "");
    struct window *w = window_of(r, name, now_ms);
    bool each = may_write(w, CS_REFUSALS_EACH, now_ms);
    if (!may_write(&r->all, CS_REFUSALS_ALL, now_ms) || !each) {
        w->left_out++;
        return;
    }
    w->written++;
    r->all.written++;
    uint64_t left_out = w->left_out;
    w->left_out = 0;
    write_one(r, event, caller, key_id, reason, left_out);
}
