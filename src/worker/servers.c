/*
 * Tool servers as global names. There may be hundreds, and a program uses a few: only those whose
 * name occurs in its text are made, so the others cost nothing but their place in a table.
 */
#include <ctype.h>

#include "base/json.h"
#include "worker/host.h"

static struct {
    struct cs_str *names; /* by hash, open addressing; empty: free */
    uint32_t mask;        /* 0: there are no servers */
} table;

static uint32_t hash(struct cs_str s)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.at[i]) * 16777619u;
    return h;
}

static struct cs_str *find(struct cs_str name)
{
    uint32_t i = hash(name) & table.mask;
    while (table.names[i].len && !cs_str_eq(table.names[i], name))
        i = (i + 1) & table.mask;
    return &table.names[i];
}

void cs_servers_start(struct cs_str json)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (json.len == 0 || cs_json_parse(json, NULL, &doc, NULL) < 0)
        return;
    struct cs_json_val list = cs_json_root(&doc), item;
    uint32_t count = cs_json_count(list), size = 8;
    if (count == 0 || cs_json_type(list) != CS_JSON_ARRAY)
        return;
    while (size < count * 2)
        size *= 2;
    table.names = cs_arena_alloc(&cs_worker.arena, size * sizeof *table.names);
    table.mask = size - 1;
    struct cs_json_iter it = {0};
    while (cs_json_next(list, &it, NULL, &item)) {
        struct cs_str name = cs_json_str(item, &cs_worker.arena);
        if (name.len)
            *find(name) = cs_arena_dup(&cs_worker.arena, name);
    }
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

void cs_servers_offer(struct cs_str text)
{
    if (table.mask == 0)
        return;
    const char *p = text.at, *end = text.at + text.len;
    while (p < end) {
        if (!in_name(*p)) {
            p++;
            continue;
        }
        const char *start = p;
        while (p < end && in_name(*p))
            p++;
        struct cs_str *name = find(cs_strn(start, (size_t)(p - start)));
        if (name->len == 0)
            continue;
        JSValueRef argv[] = {cs_host_string(*name)};
        cs_host_call(CS_ENTRY_offer, CS_COUNT(argv), argv, NULL);
    }
}
