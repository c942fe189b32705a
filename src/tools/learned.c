/* Output types learned from results, per server. */
#include <string.h>

#include "base/mem.h"
#include "tools/inside.h"
#include "tools/learn.h"

#define LESSONS_MAX CS_SERVER_TOOLS
#define ENOUGH      5 /* results, before a large one is left unread */

/* The files name 1, 2, 5, 10, 20 ... results: they need not be written anew for every one. */
static bool round_number(uint64_t n)
{
    while (n >= 10 && n % 10 == 0)
        n /= 10;
    return n == 1 || n == 2 || n == 5;
}

static struct cs_lesson *find(struct cs_server *s, struct cs_str tool)
{
    for (size_t i = 0; i < s->lesson_count; i++)
        if (cs_str_is(tool, s->lessons[i].tool))
            return &s->lessons[i];
    return NULL;
}

static struct cs_lesson *add(struct cs_server *s, struct cs_str tool)
{
    if (s->lesson_count >= LESSONS_MAX)
        return NULL;
    s->lessons = cs_realloc(s->lessons, s->lesson_count + 1, sizeof *s->lessons);
    struct cs_lesson *l = &s->lessons[s->lesson_count++];
    *l = (struct cs_lesson){.tool = cs_strndup(tool.at, tool.len)};
    return l;
}

void cs_lessons_done(struct cs_server *s)
{
    for (size_t i = 0; i < s->lesson_count; i++) {
        free(s->lessons[i].tool);
        cs_buf_done(&s->lessons[i].schema);
    }
    free(s->lessons);
    s->lessons = NULL;
    s->lesson_count = 0;
}

void cs_lessons_read(struct cs_server *s, const struct cs_cached *cached)
{
    for (size_t i = 0; i < cached->learned_count; i++) {
        struct cs_lesson *l = add(s, cached->learned[i].tool);
        if (!l)
            return;
        cs_buf_putstr(&l->schema, cached->learned[i].schema);
        l->count = l->shown = cached->learned[i].count;
    }
}

struct cs_learned *cs_lessons_write(const struct cs_server *s, struct cs_arena *arena)
{
    struct cs_learned *list = cs_arena_alloc(arena, sizeof *list * (s->lesson_count + 1));
    for (size_t i = 0; i < s->lesson_count; i++)
        list[i] = (struct cs_learned){cs_str(s->lessons[i].tool), cs_buf_str(&s->lessons[i].schema),
                                      s->lessons[i].shown};
    return list;
}

static void say_drift(struct cs_buf *drift, const char *than, const struct cs_schema_fault *faults,
                      int count)
{
    cs_buf_printf(drift, "the result differs from the %s output type: ", than);
    cs_schema_explain(faults, count, drift);
}

/* A declared type is the server's word: it is checked, not changed. */
static void check_declared(const struct cs_tool *tool, struct cs_json_val value,
                           struct cs_schema_hidden *hidden, struct cs_buf *drift)
{
    const struct cs_schema *schema = cs_tool_output(tool);
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_schema_fault faults[3];
    struct cs_err err = {0};
    int n = schema ? cs_schema_check_hidden(schema, value, hidden, &arena, faults, CS_COUNT(faults),
                                            &err)
                   : 0;
    if (n > 0)
        say_drift(drift, "declared", faults, n);
}

/* How the value differs from what was learned before it. */
static void check_learned(struct cs_lesson *l, struct cs_json_val value,
                          struct cs_schema_hidden *hidden, struct cs_buf *drift)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_schema_fault faults[3];
    struct cs_schema *schema = NULL;
    struct cs_err err = {0};
    if (!l->schema.len || cs_schema_new(cs_buf_str(&l->schema), NULL, &schema, &err) < 0)
        return;
    int n = cs_schema_check_hidden(schema, value, hidden, &arena, faults, CS_COUNT(faults), &err);
    if (n > 0)
        say_drift(drift, "learned", faults, n);
    cs_schema_free(schema);
}

bool cs_tools_curious(struct cs_tools *tools, const struct cs_tool *tool)
{
    struct cs_server *s = cs_tools_server(tools, tool->server);
    struct cs_lesson *l = s ? find(s, tool->name) : NULL;
    return tool->output.len || !l || l->count < ENOUGH;
}

void cs_tools_seen(struct cs_tools *tools, const struct cs_tool *tool, struct cs_json_val value,
                   struct cs_schema_hidden *hidden, struct cs_buf *drift)
{
    if (tool->output.len) {
        check_declared(tool, value, hidden, drift);
        return;
    }
    struct cs_server *s = cs_tools_server(tools, tool->server);
    struct cs_lesson *l = s ? find(s, tool->name) : NULL;
    if (s && !l)
        l = add(s, tool->name);
    CS_AUTO_BUF struct cs_buf merged = {0};
    struct cs_err err = {0};
    if (!l || cs_learn(cs_buf_str(&l->schema), value, &merged, &err) < 0)
        return;
    bool known = cs_str_eq(cs_buf_str(&merged), cs_buf_str(&l->schema));
    if (!known) {
        check_learned(l, value, hidden, drift);
        cs_buf_clear(&l->schema);
        cs_buf_putstr(&l->schema, cs_buf_str(&merged));
    }
    l->count++;
    if (known && !round_number(l->count))
        return;
    l->shown = l->count;
    s->stale = s->unsaved = true;
    cs_tools_publish_soon(tools, true);
}
