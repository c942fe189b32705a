#include "front/policy_case.h"

#include <stdio.h>
#include <string.h>

#include "front/assess_verb.h"
#include "front/text.h"

const char *cs_grant_name(enum cs_grant grant)
{
    static const char *const names[] = {"allow", "ask", "deny"};
    return names[grant];
}

/* --- which tool is it? --- */

static bool find_told(struct cs_json_val tools, struct cs_str server, struct cs_str tool,
                      struct cs_arena *arena, struct cs_tool_view *view)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(tools, &it, NULL, &item)) {
        cs_assess_tool(item, arena, view);
        const struct cs_target *t = &view->target;
        if ((cs_str_eq(t->server, server) || cs_str_eq(t->server_ident, server)) &&
            (cs_str_eq(t->tool, tool) || cs_str_eq(t->ident, tool)))
            return true;
    }
    return false;
}

int cs_policy_call_find(struct cs_str name, struct cs_str arguments, struct cs_json_val tools,
                        const struct cs_catalogue *catalogue, struct cs_arena *arena,
                        struct cs_policy_call *call, struct cs_err *err)
{
    const char *cut = name.len ? memchr(name.at, '/', name.len) : NULL;
    if (!cut && name.len)
        cut = memchr(name.at, '.', name.len);
    size_t len = cut ? (size_t)(cut - name.at) : 0;
    if (!cut || len == 0 || len + 1 == name.len)
        return cs_fail(err, CS_INVALID, "'%.*s' is no tool: wanted is SERVER/TOOL",
                       name.len > 80 ? 80 : (int)name.len, name.at);
    struct cs_str server = cs_strn(name.at, len);
    struct cs_str tool = cs_strn(cut + 1, name.len - len - 1);
    *call = (struct cs_policy_call){.arguments = arguments, .known = true};
    if (find_told(tools, server, tool, arena, &call->tool))
        return 0;
    const struct cs_tool *known = catalogue ? cs_catalogue_find(catalogue, server, tool) : NULL;
    if (known) {
        call->tool = cs_guard_view(known);
        return 0;
    }
    call->known = false;
    call->tool = (struct cs_tool_view){.target = {server, server, tool, tool},
                                       .destructive = true,
                                       .open_world = true,
                                       .trusted = true};
    return 0;
}

/* --- what the policy says --- */

static int read_call(const struct cs_policy *policy, struct cs_policy_call *call,
                     struct cs_json *doc, struct cs_arena *arena, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf place = {0};
    struct cs_str text = call->arguments.len ? call->arguments : CS_STR("{}");
    if (cs_json_parse(text, NULL, doc, err) < 0)
        return cs_wrap(err, "the arguments of %.*s", CS_STR_ARG(call->tool.target.tool));
    if (cs_json_type(cs_json_root(doc)) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "the arguments of %.*s: must be an object",
                       CS_STR_ARG(call->tool.target.tool));
    cs_flow_place(cs_json_root(doc), &place);
    call->place = cs_arena_dup(arena, cs_buf_str(&place));
    call->labels = cs_policy_labels(policy, &call->tool, &call->why);
    return 0;
}

static void decide(struct cs_policy_said *said, bool young, struct cs_arena *arena)
{
    if (said->grant == CS_GRANT_DENY) {
        said->action = CS_GRANT_DENY;
        said->rule =
            said->pattern.len
                ? cs_str(cs_arena_printf(arena, "tools.deny: %.*s", CS_STR_ARG(said->pattern)))
                : CS_STR("tools.allow");
    } else if (said->broken.code) {
        said->action = CS_GRANT_DENY;
        said->rule = CS_STR("tools.rules");
    } else if (said->flow.then == CS_GRANT_DENY) {
        said->action = CS_GRANT_DENY;
        said->rule = said->flow.rule;
    } else if (said->command.then == CS_GRANT_DENY) {
        said->action = CS_GRANT_DENY;
        said->rule = said->command.rule;
    } else if (said->standing != CS_GRANT_ALLOW) {
        said->action = said->standing;
        said->rule = young ? CS_STR("tools.young") : CS_STR("tools.changed");
    } else if (said->grant == CS_GRANT_ASK) {
        said->action = CS_GRANT_ASK;
        said->rule = cs_str(cs_arena_printf(arena, "tools.ask: %.*s", CS_STR_ARG(said->pattern)));
    } else if (said->command.then == CS_GRANT_ASK) {
        said->action = CS_GRANT_ASK;
        said->rule = said->command.rule;
    } else {
        said->action = said->flow.then;
        said->rule = said->flow.rule;
    }
}

int cs_policy_explain(const struct cs_policy *policy, struct cs_policy_case *c,
                      struct cs_arena *arena, struct cs_policy_said *said, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json arguments = {0};
    struct cs_flow_source came[CS_POLICY_AFTER];
    *said = (struct cs_policy_said){.action = CS_GRANT_ALLOW};
    if (read_call(policy, &c->call, &arguments, arena, err) < 0)
        return -1;
    for (size_t i = 0; i < c->after_count; i++) {
        CS_AUTO_JSON struct cs_json before = {0};
        if (read_call(policy, &c->after[i], &before, arena, err) < 0)
            return -1;
        came[i] =
            (struct cs_flow_source){c->after[i].tool.target, c->after[i].labels, c->after[i].place};
    }
    const struct cs_target *target = &c->call.tool.target;
    struct cs_flow_sink sink = {*target, c->call.labels, c->call.place};
    said->grant = cs_policy_grant(policy, c->principal, target, &said->pattern);
    cs_policy_arguments(policy, target, cs_json_root(&arguments), NULL, &said->broken);
    said->flow = cs_policy_flow(policy, c->principal, came, c->after_count, &sink);
    cs_judge_command(policy, c->principal, target, cs_json_raw(cs_json_root(&arguments)), arena,
                     &said->command);
    enum cs_standing standing = c->call.tool.standing;
    if (standing != CS_STANDING_KNOWN)
        said->standing = cs_policy_standing(policy, c->principal, standing);
    decide(said, standing == CS_STANDING_YOUNG, arena);
    return 0;
}

/* --- as JSON --- */

static void put_name(struct cs_json_writer *w, const struct cs_policy_call *call)
{
    CS_AUTO_BUF struct cs_buf name = {0};
    cs_buf_printf(&name, "%.*s/%.*s", CS_STR_ARG(call->tool.target.server),
                  CS_STR_ARG(call->tool.target.tool));
    cs_json_key(w, "tool");
    cs_json_put_str(w, cs_buf_str(&name));
    cs_json_key(w, "known");
    cs_json_put_bool(w, call->known);
    cs_json_key(w, "labels");
    cs_labels_json(call->labels, w);
    cs_json_key(w, "labels_from");
    cs_json_put_str(w, call->why);
}

static unsigned part_of(const struct cs_policy_case *c, const struct cs_policy_said *said, size_t i)
{
    const struct cs_policy_call *a = &c->after[i];
    struct cs_flow_source came = {a->tool.target, a->labels, a->place};
    struct cs_flow_sink sink = {c->call.tool.target, c->call.labels, c->call.place};
    return cs_flow_part(&said->flow, &came, &sink);
}

static void put_z(struct cs_json_writer *w, const char *key, const char *text)
{
    cs_json_key(w, key);
    cs_json_put_z(w, text);
}

static void put_str(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

void cs_policy_explain_json(const struct cs_policy_case *c, const struct cs_policy_said *said,
                            struct cs_json_writer *w)
{
    cs_json_open(w, '{');
    put_name(w, &c->call);
    put_z(w, "action", cs_grant_name(said->action));
    put_str(w, "rule", said->rule);
    cs_json_key(w, "tools");
    cs_json_open(w, '{');
    put_z(w, "action", cs_grant_name(said->grant));
    put_str(w, "pattern", said->pattern);
    if (said->broken.code)
        put_z(w, "error", said->broken.msg);
    cs_json_close(w, '}');
    cs_json_key(w, "flow");
    cs_json_open(w, '{');
    put_z(w, "action", cs_grant_name(said->flow.then));
    put_str(w, "rule", said->flow.rule);
    cs_json_key(w, "from");
    cs_labels_json(said->flow.from, w);
    cs_json_key(w, "to");
    cs_labels_json(said->flow.to, w);
    cs_json_close(w, '}');
    cs_json_key(w, "after");
    cs_json_open(w, '[');
    for (size_t i = 0; i < c->after_count; i++) {
        cs_json_open(w, '{');
        put_name(w, &c->after[i]);
        cs_json_key(w, "counts");
        cs_labels_json(part_of(c, said, i), w);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
    cs_json_close(w, '}');
}

/* --- for people --- */

static void print_call(const char *head, const struct cs_policy_call *call)
{
    CS_AUTO_BUF struct cs_buf labels = {0};
    cs_labels_text(call->labels, &labels);
    printf("%-8s", head);
    cs_text_safe(stdout, call->tool.target.server);
    putchar('/');
    cs_text_safe(stdout, call->tool.target.tool);
    printf(": %s (", labels.len ? cs_buf_cstr(&labels) : "no labels");
    cs_text_safe(stdout, call->why);
    printf("%s)", call->known ? "" : "; it is not known what it offers");
}

void cs_policy_explain_print(const struct cs_policy_case *c, const struct cs_policy_said *said)
{
    static const char *const ends[] = {"it may be called", "a person is asked before it is called",
                                       "it is refused"};
    CS_AUTO_BUF struct cs_buf from = {0}, to = {0};
    print_call("call", &c->call);
    putchar('\n');
    for (size_t i = 0; i < c->after_count; i++) {
        CS_AUTO_BUF struct cs_buf counts = {0};
        print_call(i ? "" : "after", &c->after[i]);
        if (said->flow.from && part_of(c, said, i)) {
            cs_labels_text(part_of(c, said, i), &counts);
            printf(", counts as %s", cs_buf_cstr(&counts));
        }
        putchar('\n');
    }
    printf("tools   %s", cs_grant_name(said->grant));
    if (said->pattern.len) {
        fputs(", by ", stdout);
        cs_text_safe(stdout, said->pattern);
    }
    if (said->broken.code) {
        fputs("; ", stdout);
        cs_text_safe(stdout, cs_str(said->broken.msg));
    }
    printf("\nflows   %s", cs_grant_name(said->flow.then));
    if (said->flow.from) {
        cs_labels_text(said->flow.from, &from);
        cs_labels_text(said->flow.to, &to);
        printf(": %s -> %s", cs_buf_cstr(&from), cs_buf_cstr(&to));
    }
    printf("\n%s: %s", cs_grant_name(said->action), ends[said->action]);
    if (said->rule.len) {
        fputs(" (", stdout);
        cs_text_safe(stdout, said->rule);
        putchar(')');
    }
    putchar('\n');
}
