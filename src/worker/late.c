/*
 * Modules that are imported while the program runs, import() of a file that the program has written
 * a moment ago or whose path it has put together: nobody has judged them, so they are judged before
 * anything of them runs.
 *
 * Once all that such an import needs is there and compiled, the daemon is asked by
 *
 *     CALL "caisson", CS_LATE_TOOL, {"imports": path, ... as FACTS, base/facts.h}
 *
 * which lists what is new first, marked "late", and then what was judged before. It answers OK, or
 * why not, as it does for any call: at once or when a person has answered, and from the journal if
 * it is run again. A module is judged once; what was refused stays so. What the runtime and the
 * daemon made (node:fs, /mcp-servers) is not asked about.
 */
#include "base/json.h"
#include "base/mem.h"
#include "worker/modules.h"

static struct cs_modules *const g = &cs_modules;

void cs_late_start(void)
{
    for (uint32_t i = 0; i < g->count; i++)
        g->modules[i].seen = CS_MODULE_JUDGED;
}

struct survey {
    bool *visited;
    uint32_t fresh;
    bool waits;                      /* for what was asked before */
    const struct cs_module *refused; /* the first */
};

/* Everything that the module needs. */
static void survey(uint32_t index, struct survey *s)
{
    struct cs_module *m = &g->modules[index];
    if (s->visited[index] || m->builtin)
        return;
    s->visited[index] = true;
    if (m->seen == CS_MODULE_UNSEEN && !cs_module_is_generated(m)) {
        m->seen = CS_MODULE_FRESH;
        s->fresh++;
    }
    s->waits |= m->seen == CS_MODULE_ASKED;
    if (m->seen == CS_MODULE_REFUSED && !s->refused)
        s->refused = m;
    for (uint32_t i = 0; i < m->compiled.static_count; i++)
        survey((uint32_t)g->requests[m->requests[i]].module, s);
}

/* Those that are asked about now are waited for, or not asked about after all. */
static void mark_fresh(double question, bool makes_code)
{
    for (uint32_t i = 0; i < g->count; i++) {
        struct cs_module *m = &g->modules[i];
        if (m->seen != CS_MODULE_FRESH)
            continue;
        m->seen = question > 0 ? CS_MODULE_ASKED : CS_MODULE_UNSEEN;
        m->question = question;
        m->makes_code = makes_code;
    }
}

enum cs_late cs_late_import(uint32_t root, struct cs_late_refusal *refusal)
{
    CS_AUTO_FREE bool *visited = cs_calloc(CS_MODULES_MAX, sizeof *visited);
    struct survey s = {.visited = visited};
    survey(root, &s);
    if (s.refused) {
        mark_fresh(0, false);
        *refusal = (struct cs_late_refusal){s.refused->name, s.refused->why, s.refused->advice};
        return CS_LATE_REFUSED;
    }
    if (!s.fresh)
        return s.waits ? CS_LATE_WAITS : CS_LATE_MAY;
    CS_AUTO_BUF struct cs_buf json = {0};
    bool makes_code = cs_modules_facts(g->modules[root].name, &json);
    double question = cs_bridge_judge(cs_buf_str(&json));
    mark_fresh(question, makes_code);
    if (question > 0)
        return CS_LATE_WAITS;
    *refusal =
        (struct cs_late_refusal){g->modules[root].name, CS_STR("too many calls are under way"),
                                 CS_STR("Await some of them before importing more.")};
    return CS_LATE_REFUSED;
}

void cs_late_answer(double question, bool may, struct cs_str payload)
{
    struct cs_arena *arena = &cs_worker.arena;
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_str why = payload, advice = {0};
    if (!may && cs_json_parse(payload, NULL, &doc, NULL) == 0) {
        struct cs_json_val root = cs_json_root(&doc);
        why = cs_json_str(cs_json_get(root, "message"), arena);
        advice = cs_json_str(cs_json_get(root, "suggestion"), arena);
    }
    why = cs_arena_dup(arena, why);
    advice = cs_arena_dup(arena, advice);
    for (uint32_t i = 0; i < g->count; i++) {
        struct cs_module *m = &g->modules[i];
        if (m->seen != CS_MODULE_ASKED || m->question != question)
            continue;
        m->seen = may ? CS_MODULE_JUDGED : CS_MODULE_REFUSED;
        if (may && m->makes_code) /* as of the program: the verdict was about that, too */
            cs_host_let_make_code(true);
        m->why = why;
        m->advice = advice;
    }
    cs_modules_judged();
}
