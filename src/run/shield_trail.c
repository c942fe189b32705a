/* What is known of protection afterwards: kinds and counts, never a value. */
#include "base/mem.h"
#include "base/utf8.h"
#include "run/shield.h"

#define NAME_BYTES 80
#define TOOLS_MOST 100

static struct cs_str name_of(struct cs_gate_call *c)
{
    return cs_str(cs_arena_printf(&c->run->arena, "%.*s/%.*s",
                                  CS_STR_ARG(cs_utf8_cut(c->tool->server, NAME_BYTES)),
                                  CS_STR_ARG(cs_utf8_cut(c->tool->name, NAME_BYTES))));
}

static bool is_of(struct cs_str name, const struct cs_tool *t)
{
    struct cs_str server = cs_utf8_cut(t->server, NAME_BYTES);
    struct cs_str tool = cs_utf8_cut(t->name, NAME_BYTES);
    return name.len == server.len + 1 + tool.len && memcmp(name.at, server.at, server.len) == 0 &&
           name.at[server.len] == '/' && memcmp(name.at + server.len + 1, tool.at, tool.len) == 0;
}

void cs_shield_count(struct cs_gate_call *c, uint32_t found)
{
    struct cs_shield *sh = c->run->shield;
    if (!found)
        return;
    for (uint32_t i = 0; i < sh->tool_count; i++)
        if (is_of(sh->tools[i].name, c->tool)) {
            sh->tools[i].found += found;
            return;
        }
    if (sh->tool_count == TOOLS_MOST)
        return;
    if (sh->tool_count == sh->tool_cap) {
        sh->tool_cap = sh->tool_cap ? 2 * sh->tool_cap : 4;
        sh->tools = cs_realloc(sh->tools, sh->tool_cap, sizeof *sh->tools);
    }
    sh->tools[sh->tool_count++] = (struct cs_tool_count){name_of(c), found};
}

void cs_shield_unprotected(struct cs_gate_call *c)
{
    struct cs_shield *sh = c->run->shield;
    struct cs_protection *p = &c->run->result.protection;
    for (uint32_t i = 0; i < p->unprotected_count; i++)
        if (is_of(p->unprotected[i], c->tool))
            return;
    if (p->unprotected_count == TOOLS_MOST)
        return;
    if (p->unprotected_count == sh->unprotected_cap) {
        sh->unprotected_cap = sh->unprotected_cap ? 2 * sh->unprotected_cap : 4;
        sh->unprotected = cs_realloc(sh->unprotected, sh->unprotected_cap, sizeof(struct cs_str));
    }
    sh->unprotected[p->unprotected_count++] = name_of(c);
    p->unprotected = sh->unprotected;
}

/* --- entries of the ledger; members stand in the order of their names --- */

static void put_number(struct cs_json_writer *w, const char *key, uint64_t value)
{
    cs_json_key(w, key);
    cs_json_put_u64(w, value);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(cs_pii_name(*(const enum cs_pii *)a), cs_pii_name(*(const enum cs_pii *)b));
}

/* {"EMAIL": 3} */
static void put_kinds(struct cs_json_writer *w, const char *key, const uint32_t found[CS_PII_COUNT])
{
    enum cs_pii kinds[CS_PII_COUNT];
    size_t count = 0;
    for (int i = 0; i < CS_PII_COUNT; i++)
        if (found[i])
            kinds[count++] = (enum cs_pii)i;
    qsort(kinds, count, sizeof *kinds, by_name);
    cs_json_key(w, key);
    cs_json_open(w, '{');
    for (size_t i = 0; i < count; i++)
        put_number(w, cs_pii_name(kinds[i]), found[kinds[i]]);
    cs_json_close(w, '}');
}

static void note(struct cs_run *run, const char *event, struct cs_json_writer *w)
{
    cs_json_close(w, '}');
    cs_trail_note(run, event, cs_buf_str(w->out));
}

void cs_shield_note_restored(struct cs_gate_call *c, const struct cs_unmasked *unmasked,
                             const struct cs_str *rules, size_t rule_count)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    cs_json_open(&w, '{');
    put_number(&w, "call", c->record + 1);
    put_kinds(&w, "restored", unmasked->put);
    cs_json_key(&w, "rules");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < rule_count; i++)
        cs_json_put_str(&w, rules[i]);
    cs_json_close(&w, ']');
    cs_json_key(&w, "server");
    cs_json_put_str(&w, cs_utf8_cut(c->tool->server, NAME_BYTES));
    cs_json_key(&w, "tool");
    cs_json_put_str(&w, cs_utf8_cut(c->tool->name, NAME_BYTES));
    note(c->run, "privacy.restored", &w);
    cs_trail_flush(c->run);
}

void cs_shield_note_revealed(struct cs_run *run, const uint32_t put[CS_PII_COUNT])
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    cs_json_open(&w, '{');
    put_kinds(&w, "revealed", put);
    note(run, "privacy.revealed", &w);
}

static int by_tool(const void *a, const void *b)
{
    const struct cs_tool_count *x = a, *y = b;
    size_t n = x->name.len < y->name.len ? x->name.len : y->name.len;
    int order = memcmp(x->name.at, y->name.at, n);
    return order ? order : (x->name.len > y->name.len) - (x->name.len < y->name.len);
}

void cs_shield_settled(struct cs_run *run)
{
    struct cs_shield *sh = run->shield;
    const struct cs_protection *p = &run->result.protection;
    struct cs_masked all = p->inputs;
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    cs_masked_add(&all, &p->results);
    cs_masked_add(&all, &p->outputs);
    if (!sh || !all.total || !cs_run_store(run))
        return;
    if (sh->tool_count)
        qsort(sh->tools, sh->tool_count, sizeof *sh->tools, by_tool);
    cs_json_open(&w, '{');
    put_number(&w, "bytes", all.bytes);
    cs_json_key(&w, "detector");
    cs_json_put_z(&w, cs_detector_version());
    put_kinds(&w, "found", all.found);
    put_number(&w, "inputs", p->inputs.total);
    cs_json_key(&w, "level");
    cs_json_put_z(&w, cs_privacy_level_name(p->level));
    put_number(&w, "outputs", p->outputs.total);
    cs_json_key(&w, "results");
    cs_json_open(&w, '{');
    for (uint32_t i = 0; i < sh->tool_count; i++) {
        cs_json_key_str(&w, sh->tools[i].name);
        cs_json_put_u64(&w, sh->tools[i].found);
    }
    cs_json_close(&w, '}');
    put_number(&w, "tokens", all.fresh);
    put_number(&w, "us", all.us);
    note(run, "privacy.masked", &w);
}
