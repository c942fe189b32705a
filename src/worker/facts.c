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

/* Was this noted before, in this module or an earlier one? */
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

static void put_fact(struct cs_json_writer *w, const struct cs_module *m, const struct cs_fact *f)
{
    static const char *const words[] = {
#define X(id, word) word,
        CS_FACTS(X)
#undef X
    };
    cs_json_open(w, '{');
    cs_json_key(w, "kind");
    cs_json_put_z(w, words[f->kind]);
    cs_json_key(w, "name");
    cs_json_put_str(w, cut(f->name));
    put_place(w, m, f->line, f->column);
    cs_json_close(w, '}');
}

static void put_facts(struct cs_json_writer *w, bool *truncated)
{
    struct list l = {w, 0, truncated};
    cs_json_key(w, "facts");
    cs_json_open(w, '[');
    for (uint32_t m = 0; m < cs_modules.count; m++) {
        const struct cs_compiled *c = &cs_modules.modules[m].compiled;
        for (uint32_t i = 0; i < c->fact_count && l.len <= LIST_MAX; i++)
            if (!repeated(m, i) && more(&l))
                put_fact(w, &cs_modules.modules[m], &c->facts[i]);
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
    for (uint32_t m = 0; m < cs_modules.count; m++)
        files += !cs_modules.modules[m].builtin;
    put_facts(w, &truncated);
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
