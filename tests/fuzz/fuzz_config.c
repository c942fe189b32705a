/*
 * A configuration with comments. What is read as one can be changed: a server added is there and
 * everything else is as it was; taken away again, the file has the bytes that it had before (an
 * object that was empty but for white space is `{}` then); any other server taken away leaves the
 * rest. The whole entry reader runs over it too, without asking the world anything.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json.h"
#include "base/jsonc.h"
#include "tools/config.h"
#include "tools/config_doc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert, there in every build. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

static uint32_t members(const struct cs_jsonc *doc, size_t place, struct cs_places *places)
{
    struct cs_err err = {0};
    must(cs_places_find(cs_json_root(&doc->doc), places, &err) == 0);
    must(place < places->count);
    return cs_json_count(places->at[place]);
}

/* Every member of `a` is in `b`, in the same order and with the same text, but the one at `but`. */
static void same_members(struct cs_json_val a, struct cs_json_val b, struct cs_json_val but)
{
    struct cs_json_iter at_a = {0}, at_b = {0};
    struct cs_json_val ka, kb, va, vb;
    while (cs_json_next(a, &at_a, &ka, &va)) {
        if (ka.at == but.at)
            continue;
        must(cs_json_next(b, &at_b, &kb, &vb));
        must(cs_str_eq(cs_json_raw(ka), cs_json_raw(kb)));
        must(cs_str_eq(cs_json_raw(va), cs_json_raw(vb)));
    }
}

static bool only_space(struct cs_str raw)
{
    for (size_t i = 1; i + 1 < raw.len; i++)
        if (!strchr(" \t\r\n", raw.at[i]))
            return false;
    return true;
}

static void add_and_remove(const struct cs_jsonc *doc, size_t place, struct cs_json_val object)
{
    static const char entry[] = "{\"command\":\"node\",\"args\":[\"a\",\"b c\"],\"env\":{\"K\":"
                                "\"v\"}}";
    CS_AUTO_JSON struct cs_json value = {0};
    CS_AUTO_BUF struct cs_buf added = {0}, removed = {0};
    CS_AUTO_JSONC struct cs_jsonc with = {0};
    struct cs_places places;
    struct cs_err err = {0};
    struct cs_json_val key, item;
    must(cs_json_parse(cs_str(entry), NULL, &value, &err) == 0);
    cs_jsonc_add(doc, object, CS_STR("zz-new"), cs_json_root(&value), &added);
    must(cs_jsonc_parse(cs_buf_str(&added), &with, &err) == 0);
    must(members(&with, place, &places) == cs_json_count(object) + 1);
    same_members(object, places.at[place], (struct cs_json_val){0});
    size_t at;
    must(cs_places_get(&places, CS_STR("zz-new"), &at, &key, &item));
    if (at != place)
        return;
    must(cs_json_is(cs_json_get(item, "command"), "node"));
    cs_jsonc_remove(&with, places.at[place], key, &removed);
    struct cs_str raw =
        cs_strn(doc->text.at + (cs_json_raw(object).at - doc->plain.at), cs_json_raw(object).len);
    if (raw.len > 2 && only_space(raw))
        must(removed.len == doc->text.len - raw.len + 2);
    else
        must(cs_str_eq(cs_buf_str(&removed), doc->text));
}

static void remove_each(const struct cs_jsonc *doc, size_t place, struct cs_json_val object)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    for (int tries = 20; tries > 0 && cs_json_next(object, &it, &key, &item); tries--) {
        CS_AUTO_BUF struct cs_buf out = {0};
        CS_AUTO_JSONC struct cs_jsonc without = {0};
        struct cs_places places;
        struct cs_err err = {0};
        cs_jsonc_remove(doc, object, key, &out);
        must(cs_jsonc_parse(cs_buf_str(&out), &without, &err) == 0);
        must(members(&without, place, &places) == cs_json_count(object) - 1);
        same_members(object, places.at[place], key);
    }
}

static void set_each(const struct cs_jsonc *doc, struct cs_json_val object)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    for (int tries = 20; tries > 0 && cs_json_next(object, &it, &key, &item); tries--) {
        CS_AUTO_BUF struct cs_buf out = {0};
        CS_AUTO_JSONC struct cs_jsonc changed = {0};
        struct cs_err err = {0};
        cs_jsonc_set(doc, object, key, item, object, &out);
        /* The object in itself may be too deep, or too large. */
        if (cs_jsonc_parse(cs_buf_str(&out), &changed, &err) < 0)
            must(err.code == CS_LIMIT);
    }
}

static void read_all(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    struct cs_config config;
    struct cs_err err = {0};
    if (fd < 0) {
        fd = memfd_create("caisson.json", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    must(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    if (cs_config_peek(path, &config, &err) < 0) {
        must(err.code == CS_INVALID || err.code == CS_LIMIT);
        must(err.msg[0]);
        return;
    }
    for (size_t i = 0; i < config.count; i++) {
        const struct cs_server_config *s = &config.servers[i];
        must(s->name && s->args && s->env && s->headers && s->allow && s->deny && s->scopes);
        must(s->problem.code ? strstr(s->problem.msg, "server '") != NULL : (s->command || s->url));
    }
    cs_config_done(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CS_AUTO_JSONC struct cs_jsonc doc = {0};
    struct cs_err err = {0};
    struct cs_places places;
    if (size > 1 << 16)
        return 0;
    read_all(data, size);
    if (cs_jsonc_parse(cs_strn((const char *)data, size), &doc, &err) < 0) {
        must(err.msg[0] && !doc.plain.at);
        return 0;
    }
    must(doc.plain.len == size);
    if (cs_places_find(cs_json_root(&doc.doc), &places, &err) < 0)
        return 0;
    for (size_t i = 0; i < places.count; i++) {
        add_and_remove(&doc, i, places.at[i]);
        remove_each(&doc, i, places.at[i]);
        set_each(&doc, places.at[i]);
    }
    return 0;
}
