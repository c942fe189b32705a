/* What a server offered last time, so that nothing has to be started in order to know it. */
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "tools/catalogue.h"

#define CACHE_BYTES  (64u << 20)
#define LEARNED_MAX  10000u
#define CACHE_FORMAT 1

static void cache_path(const char *data_dir, struct cs_str server, char path[4096])
{
    snprintf(path, 4096, "%s/catalogue/%.*s.json", data_dir, CS_STR_ARG(server));
}

void cs_cached_done(struct cs_cached *c)
{
    cs_arena_done(&c->arena);
    cs_buf_done(&c->text);
}

static void read_learned(struct cs_cached *c, struct cs_json_val list)
{
    uint32_t count = cs_json_count(list);
    if (count > LEARNED_MAX)
        return;
    c->learned = cs_arena_alloc(&c->arena, sizeof *c->learned * (count + 1));
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(list, &it, NULL, &item)) {
        int64_t n = 0;
        cs_json_i64(cs_json_get(item, "count"), &n);
        c->learned[c->learned_count++] = (struct cs_learned){
            .tool = cs_json_str(cs_json_get(item, "tool"), &c->arena),
            .schema = cs_json_raw(cs_json_get(item, "schema")),
            .count = n > 0 ? (uint64_t)n : 1,
        };
    }
}

int cs_cache_read(const char *data_dir, struct cs_str server, struct cs_cached *cached,
                  struct cs_err *err)
{
    char path[4096];
    cache_path(data_dir, server, path);
    *cached = (struct cs_cached){0};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {.bytes = CACHE_BYTES, .allow_duplicate = true};
    int64_t format = 0;
    if (cs_file_read(path, CACHE_BYTES, &cached->text, err) < 0)
        goto bad;
    if (cs_json_parse(cs_buf_str(&cached->text), &limits, &doc, err) < 0)
        goto bad;
    struct cs_json_val root = cs_json_root(&doc), tools = cs_json_get(root, "tools");
    if (!cs_json_i64(cs_json_get(root, "format"), &format) || format != CACHE_FORMAT ||
        cs_json_type(tools) != CS_JSON_ARRAY) {
        cs_fail(err, CS_INVALID, "%s: not in our format", path);
        goto bad;
    }
    cached->tools = cs_json_raw(tools);
    cached->config = cs_json_str(cs_json_get(root, "config"), &cached->arena);
    cached->instructions = cs_json_str(cs_json_get(root, "instructions"), &cached->arena);
    cached->server_name = cs_json_str(cs_json_get(root, "server_name"), &cached->arena);
    cached->server_version = cs_json_str(cs_json_get(root, "server_version"), &cached->arena);
    cached->protocol = cs_json_str(cs_json_get(root, "protocol"), &cached->arena);
    cs_json_i64(cs_json_get(root, "listed_at"), &cached->listed_at);
    read_learned(cached, cs_json_get(root, "learned"));
    return 0;
bad:
    cs_cached_done(cached);
    *cached = (struct cs_cached){0};
    return -1;
}

int cs_cache_write(const char *data_dir, struct cs_str server, const struct cs_cached *c,
                   struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&text);
    cs_json_open(&w, '{');
    cs_json_key(&w, "format");
    cs_json_put_i64(&w, CACHE_FORMAT);
    const struct {
        const char *name;
        struct cs_str value;
    } texts[] = {{"config", c->config},
                 {"instructions", c->instructions},
                 {"server_name", c->server_name},
                 {"server_version", c->server_version},
                 {"protocol", c->protocol}};
    for (size_t i = 0; i < CS_COUNT(texts); i++) {
        cs_json_key(&w, texts[i].name);
        cs_json_put_str(&w, texts[i].value);
    }
    cs_json_key(&w, "listed_at");
    cs_json_put_i64(&w, c->listed_at);
    cs_json_key(&w, "tools");
    cs_json_put_raw(&w, c->tools);
    cs_json_key(&w, "learned");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < c->learned_count; i++) {
        cs_json_open(&w, '{');
        cs_json_key(&w, "tool");
        cs_json_put_str(&w, c->learned[i].tool);
        cs_json_key(&w, "count");
        cs_json_put_u64(&w, c->learned[i].count);
        cs_json_key(&w, "schema");
        cs_json_put_raw(&w, c->learned[i].schema);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
    char path[4096];
    snprintf(path, sizeof path, "%s/catalogue", data_dir);
    if (cs_dir_make(path, 0700, err) < 0)
        return -1;
    cache_path(data_dir, server, path);
    return cs_file_replace(path, cs_buf_str(&text), 0600, err);
}
