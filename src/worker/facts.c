/*
 * FACTS: what the program and all it imports can reach, as the compiler noted it.
 */
#include "base/json.h"
#include "worker/modules.h"

/* Enough to judge by; a program with more is told from "truncated". Keeps FACTS below its limit. */
#define LIST_MAX 400
#define TEXT_MAX 300

static struct cs_str cut(struct cs_str s)
{
    return cs_strn(s.at, s.len > TEXT_MAX ? TEXT_MAX : s.len);
}

struct list {
    struct cs_json_writer *w;
    uint32_t len;
    bool *truncated;
};

static bool more(struct list *l)
{
    if (l->len++ < LIST_MAX)
        return true;
    *l->truncated = true;
    return false;
}

static void put_place(struct cs_json_writer *w, const struct cs_module *m, uint32_t line,
                      uint32_t column)
{
    cs_json_key(w, "line");
    cs_json_put_u64(w, line);
    cs_json_key(w, "column");
    cs_json_put_u64(w, column);
    if (m != &cs_modules.modules[0]) {
        cs_json_key(w, "module");
        cs_json_put_str(w, cut(m->name));
    }
}

static void put_import(struct cs_json_writer *w, const struct cs_module *m, uint32_t i)
{
    const struct cs_import *import = &m->compiled.imports[i];
    const struct cs_request *r = &cs_modules.requests[m->requests[i]];
    cs_json_open(w, '{');
    cs_json_key(w, "specifier");
    cs_json_put_str(w, cut(import->specifier));
    cs_json_key(w, "path");
    if (r->kind == CS_RESOLVED_REFUSED)
        cs_json_put_null(w);
    else
        cs_json_put_str(w, cut(r->module >= 0 ? cs_modules.modules[r->module].path : r->path));
    if (import->dynamic) {
        cs_json_key(w, "dynamic");
        cs_json_put_bool(w, true);
    }
    put_place(w, m, import->line, import->column);
    cs_json_close(w, '}');
}

/* Was this name listed before, in this module or an earlier one? */
static bool repeated(uint32_t module, uint32_t fact)
{
    const struct cs_fact *f = &cs_modules.modules[module].compiled.facts[fact];
    for (uint32_t m = 0; m <= module; m++) {
        const struct cs_compiled *c = &cs_modules.modules[m].compiled;
        uint32_t end = m == module ? fact : c->fact_count;
        for (uint32_t i = 0; i < end; i++) {
            if (c->facts[i].kind == f->kind && cs_str_eq(c->facts[i].name, f->name))
                return true;
        }
    }
    return false;
}

static void put_names(struct cs_json_writer *w, const char *key, enum cs_fact_kind kind,
                      bool *truncated)
{
    struct list l = {w, 0, truncated};
    cs_json_key(w, key);
    cs_json_open(w, '[');
    for (uint32_t m = 0; m < cs_modules.count; m++) {
        const struct cs_compiled *c = &cs_modules.modules[m].compiled;
        for (uint32_t i = 0; i < c->fact_count && l.len <= LIST_MAX; i++) {
            if (c->facts[i].kind == kind && !repeated(m, i) && more(&l))
                cs_json_put_str(w, cut(c->facts[i].name));
        }
    }
    cs_json_close(w, ']');
}

static void put_dynamic(struct cs_json_writer *w, bool *truncated)
{
    struct list l = {w, 0, truncated};
    cs_json_key(w, "dynamic_code");
    cs_json_open(w, '[');
    for (uint32_t m = 0; m < cs_modules.count; m++) {
        const struct cs_compiled *c = &cs_modules.modules[m].compiled;
        for (uint32_t i = 0; i < c->fact_count; i++) {
            if (c->facts[i].kind != CS_FACT_DYNAMIC || !more(&l))
                continue;
            cs_json_open(w, '{');
            cs_json_key(w, "what");
            cs_json_put_str(w, cut(c->facts[i].name));
            put_place(w, &cs_modules.modules[m], c->facts[i].line, c->facts[i].column);
            cs_json_close(w, '}');
        }
    }
    cs_json_close(w, ']');
}

void cs_modules_facts(struct cs_buf *json)
{
    bool truncated = false;
    uint32_t files = 0;
    struct cs_json_writer writer = CS_JSON_WRITER(json), *w = &writer;
    cs_json_open(w, '{');
    cs_json_key(w, "language");
    cs_json_put_z(w, "typescript");
    cs_json_key(w, "imports");
    cs_json_open(w, '[');
    struct list l = {w, 0, &truncated};
    for (uint32_t m = 0; m < cs_modules.count; m++) {
        files += !cs_modules.modules[m].builtin;
        for (uint32_t i = 0; i < cs_modules.modules[m].compiled.import_count; i++) {
            if (more(&l))
                put_import(w, &cs_modules.modules[m], i);
        }
    }
    cs_json_close(w, ']');
    put_names(w, "tools", CS_FACT_TOOL, &truncated);
    put_dynamic(w, &truncated);
    put_names(w, "globals", CS_FACT_GLOBAL, &truncated);
    cs_json_key(w, "modules");
    cs_json_put_u64(w, files);
    cs_json_key(w, "source_bytes");
    cs_json_put_u64(w, cs_modules.text_bytes);
    if (truncated) {
        cs_json_key(w, "truncated");
        cs_json_put_bool(w, true);
    }
    cs_json_close(w, '}');
}
