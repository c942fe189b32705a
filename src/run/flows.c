/*
 * What has come in, and where it may go: labels of one execution, or of the session it is in. What
 * came into a session stays there, in its state, its files and the mind of whoever uses it, so it
 * counts for all that follows. An artifact has the labels of all that had come in when it was made,
 * and whoever reads it has them, too.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "run/guard.h"
#include "run/session_in.h"
#include "run/shield.h"

/* Lives as long as its session, or somebody who uses it. */
struct cs_session_flows {
    struct cs_session_flows *next;
    uint32_t refs;
    char id[CS_SESSION_ID + 1], tenant[65];
    struct cs_inflow in;
    size_t known; /* of what the store has: it is in here */
};

/* For the store; the run may be over by then. */
struct cs_reading {
    struct cs_run *run;
};

/* --- of sessions --- */

static struct cs_session_flows **find(struct cs_sessions *s, struct cs_str tenant, struct cs_str id)
{
    struct cs_session_flows **at = &s->flows;
    while (*at && !(cs_str_is(id, (*at)->id) && cs_str_is(tenant, (*at)->tenant)))
        at = &(*at)->next;
    return at;
}

static void unref(struct cs_session_flows *f)
{
    if (!f || --f->refs)
        return;
    free(f->in.at);
    cs_arena_done(&f->in.arena);
    free(f);
}

static struct cs_session_flows *flows_of(struct cs_sessions *s, const struct cs_run *run)
{
    struct cs_session_flows *f = *find(s, run->tenant, run->request.session);
    if (!f) {
        f = CS_NEW(struct cs_session_flows);
        f->refs = 1;
        snprintf(f->id, sizeof f->id, "%.*s", CS_STR_ARG(run->request.session));
        snprintf(f->tenant, sizeof f->tenant, "%.*s", CS_STR_ARG(run->tenant));
        f->next = s->flows;
        s->flows = f;
    }
    f->refs++;
    return f;
}

static void leave(struct cs_session_flows **at)
{
    struct cs_session_flows *f = *at;
    if (!f)
        return;
    *at = f->next;
    unref(f);
}

void cs_flows_forget(struct cs_sessions *s, struct cs_str tenant, struct cs_str id)
{
    leave(find(s, tenant, id));
}

void cs_flows_close(struct cs_sessions *s)
{
    while (s->flows)
        leave(&s->flows);
}

/* --- of an execution --- */

static struct cs_inflow *inflow_of(struct cs_run *run)
{
    struct cs_guarded *g = cs_guarded_of(run);
    if (!run->request.session.len || !run->runner->sessions || run->again)
        return &g->came;
    if (!g->kept) {
        g->kept = flows_of(run->runner->sessions, run);
        for (size_t i = 0; i < g->kept->in.count; i++)
            g->kept->in.at[i].call = 0;
    }
    return &g->kept->in;
}

void cs_flows_done(struct cs_run *run)
{
    struct cs_guarded *g = CS_TAKE(run->guarded);
    if (!g)
        return;
    if (g->reading)
        g->reading->run = NULL;
    unref(g->kept);
    free(g->came.at);
    cs_arena_done(&g->came.arena);
    free(g);
}

/* --- something comes in --- */

static struct cs_came *others(struct cs_inflow *in)
{
    struct cs_came *last = &in->at[in->count - 1];
    last->server = last->server_ident = CS_STR("(others)");
    last->tool = last->ident = CS_STR("*");
    last->place = (struct cs_str){0};
    return last;
}

/* True: that is new. */
static bool note(struct cs_inflow *in, const struct cs_came *came)
{
    for (size_t i = 0; i < in->count; i++) {
        struct cs_came *c = &in->at[i];
        if (cs_str_eq(c->server, came->server) && cs_str_eq(c->tool, came->tool) &&
            cs_str_eq(c->place, came->place)) {
            unsigned before = c->labels;
            if (c->unknown && !came->unknown)
                c->labels = came->labels;
            else if (!came->unknown)
                c->labels |= came->labels;
            c->unknown = c->unknown && came->unknown;
            c->call = c->call ? c->call : came->call;
            return c->labels != before;
        }
    }
    if (in->count == CS_CAME_MOST) {
        struct cs_came *rest = others(in);
        bool more = (rest->labels | came->labels) != rest->labels;
        rest->labels |= came->labels;
        return more;
    }
    if (in->count == in->cap) {
        in->cap = in->cap ? 2 * in->cap : 4;
        in->at = cs_realloc(in->at, in->cap, sizeof *in->at);
    }
    struct cs_came *c = &in->at[in->count++];
    *c = *came;
    c->server = cs_arena_dup(&in->arena, came->server);
    c->server_ident = cs_arena_dup(&in->arena, came->server_ident);
    c->tool = cs_arena_dup(&in->arena, came->tool);
    c->ident = cs_arena_dup(&in->arena, came->ident);
    c->place = cs_arena_dup(&in->arena, came->place);
    return true;
}

/* --- what the store knows of a session: other processes may be in it, too --- */

static struct cs_str owner_of(const struct cs_run *run, struct cs_buf *owner)
{
    struct cs_str of =
        run->request.session.len ? run->request.session : cs_str(run->result.execution_id);
    cs_buf_printf(owner, "%s%.*s/%.*s", CS_FLOWS_OWNER, CS_STR_ARG(run->tenant), CS_STR_ARG(of));
    return cs_buf_str(owner);
}

static void put(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static void put_came(struct cs_json_writer *w, const struct cs_came *came)
{
    cs_json_open(w, '{');
    put(w, "server", came->server);
    put(w, "server_ident", came->server_ident);
    put(w, "tool", came->tool);
    put(w, "ident", came->ident);
    put(w, "place", came->place);
    cs_json_key(w, "labels");
    cs_json_put_u64(w, came->labels);
    cs_json_close(w, '}');
}

static struct cs_came get_came(struct cs_json_val v, struct cs_arena *arena)
{
    int64_t labels = 0;
    cs_json_i64(cs_json_get(v, "labels"), &labels);
    return (struct cs_came){
        .server = cs_json_str(cs_json_get(v, "server"), arena),
        .server_ident = cs_json_str(cs_json_get(v, "server_ident"), arena),
        .tool = cs_json_str(cs_json_get(v, "tool"), arena),
        .ident = cs_json_str(cs_json_get(v, "ident"), arena),
        .place = cs_json_str(cs_json_get(v, "place"), arena),
        .labels = (unsigned)labels & CS_LABELS_IN,
    };
}

/* At once: what the program does with it must not be known anywhere before. Of an execution without
 * a session it is wanted again if that outlives its process. */
static void keep(struct cs_run *run, const struct cs_came *came)
{
    struct cs_session_flows *kept = run->guarded->kept;
    struct cs_store *store = cs_run_store(run);
    CS_AUTO_BUF struct cs_buf json = {0}, owner = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    if (!store || (!kept && !run->request.durable))
        return;
    put_came(&w, came);
    if (kept)
        kept->known++;
    cs_store_vault_add(store, owner_of(run, &owner), cs_buf_str(&json), NULL, NULL);
}

static void read_part(struct cs_inflow *in, struct cs_str json)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (cs_json_parse(json, NULL, &doc, NULL) < 0)
        return;
    const struct cs_came one = get_came(cs_json_root(&doc), &arena);
    note(in, &one);
}

static void on_parts(void *ctx, const struct cs_err *err, const struct cs_str *parts, size_t count)
{
    struct cs_run *run = ((struct cs_reading *)ctx)->run;
    free(ctx);
    if (!run)
        return;
    struct cs_guarded *g = run->guarded;
    g->reading = NULL;
    if (run->settling)
        return;
    if (err->code) { /* what it has seen is not known: it is not let in */
        struct cs_err why = *err;
        cs_wrap(&why, "what has come into the session");
        if (run->resume)
            cs_run_end_early(run, CS_ENDED_FAILED, &why);
        else
            cs_run_refuse(run, &why);
        return;
    }
    struct cs_inflow *in = inflow_of(run);
    for (size_t i = g->kept ? g->kept->known : 0; i < count; i++)
        read_part(in, parts[i]);
    if (g->kept && count > g->kept->known)
        g->kept->known = count;
    cs_run_go(run);
}

int cs_step_flows(struct cs_run *run, struct cs_err *err)
{
    (void)err;
    CS_AUTO_BUF struct cs_buf owner = {0};
    if (!(run->hold || run->resume) || !cs_run_store(run) || run->again)
        return CS_ON;
    inflow_of(run);
    struct cs_reading *r = CS_NEW(struct cs_reading);
    r->run = run;
    run->guarded->reading = r;
    cs_store_vault_get(run->runner->store, owner_of(run, &owner), on_parts, r);
    return CS_LATER;
}

static void place_of(struct cs_str arguments, struct cs_buf *place)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {.bytes = arguments.len + 1, .allow_duplicate = true};
    if (cs_json_parse(arguments, &limits, &doc, NULL) == 0)
        cs_flow_place(cs_json_root(&doc), place);
}

static void came(struct cs_run *run, const struct cs_tool *t, struct cs_str arguments,
                 uint32_t call)
{
    struct cs_tool_view view = cs_guard_view(t);
    unsigned labels = cs_policy_labels(run->policy, &view, NULL) & CS_LABELS_IN;
    CS_AUTO_BUF struct cs_buf place = {0};
    if (!labels)
        return;
    place_of(arguments, &place);
    const struct cs_came one = {
        .server = t->server,
        .server_ident = t->server_ident,
        .tool = t->name,
        .ident = t->ident,
        .place = cs_buf_str(&place),
        .labels = labels,
        .call = call,
    };
    if (note(inflow_of(run), &one))
        keep(run, &one);
}

void cs_flows_came(struct cs_gate_call *c)
{
    came(c->run, c->tool, cs_buf_str(&c->arguments), c->record + 1);
}

void cs_flows_played(struct cs_run *run, struct cs_str server, struct cs_str tool,
                     struct cs_str arguments, uint32_t call)
{
    const struct cs_tool *t =
        run->catalogue ? cs_catalogue_find(run->catalogue, server, tool) : NULL;
    if (run->again)
        return;
    if (t) {
        came(run, t, arguments, call);
        return;
    }
    /* Its server has not said yet what it offers, or offers it no longer: it may be anything. */
    CS_AUTO_BUF struct cs_buf place = {0};
    place_of(arguments, &place);
    const struct cs_came one = {
        .server = server,
        .server_ident = server,
        .tool = tool,
        .ident = tool,
        .place = cs_buf_str(&place),
        .labels = CS_LABEL_PRIVATE | CS_LABEL_UNTRUSTED,
        .call = call,
        .unknown = true,
    };
    note(inflow_of(run), &one);
}

/* --- artifacts --- */

void cs_flows_put(struct cs_run *run, struct cs_buf *json)
{
    const struct cs_inflow *in = inflow_of(run);
    struct cs_json_writer w = CS_JSON_WRITER(json);
    if (!in->count)
        return;
    cs_json_open(&w, '[');
    for (size_t i = 0; i < in->count; i++)
        put_came(&w, &in->at[i]);
    cs_json_close(&w, ']');
}

/* What cannot be read may be anything. */
void cs_flows_read(struct cs_run *run, struct cs_str json)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    const struct cs_json_limits limits = {.bytes = json.len + 1, .allow_duplicate = true};
    if (!json.len || run->again)
        return;
    if (cs_json_parse(json, &limits, &doc, NULL) < 0) {
        const struct cs_came any = {.server = CS_STR("(unknown)"),
                                    .server_ident = CS_STR("(unknown)"),
                                    .tool = CS_STR("*"),
                                    .ident = CS_STR("*"),
                                    .labels = CS_LABEL_PRIVATE | CS_LABEL_UNTRUSTED};
        if (note(inflow_of(run), &any))
            keep(run, &any);
        return;
    }
    struct cs_json_iter it = {0};
    struct cs_json_val v;
    while (cs_json_next(cs_json_root(&doc), &it, NULL, &v)) {
        const struct cs_came one = get_came(v, &arena);
        if (note(inflow_of(run), &one))
            keep(run, &one);
    }
}

/* --- and what was not known then --- */

/* Servers that had not said what they offer when an earlier call was played may have by now. */
static void look_again(struct cs_run *run, struct cs_inflow *in)
{
    struct cs_catalogue *now = NULL;
    for (size_t i = 0; i < in->count && run->runner->tools; i++) {
        struct cs_came *c = &in->at[i];
        if (!c->unknown)
            continue;
        if (!now)
            now = cs_tools_current(run->runner->tools);
        const struct cs_tool *t = cs_catalogue_find(now, c->server, c->tool);
        if (!t)
            continue;
        struct cs_tool_view view = cs_guard_view(t);
        c->server = cs_arena_dup(&in->arena, t->server);
        c->server_ident = cs_arena_dup(&in->arena, t->server_ident);
        c->tool = cs_arena_dup(&in->arena, t->name);
        c->ident = cs_arena_dup(&in->arena, t->ident);
        c->labels = cs_policy_labels(run->policy, &view, NULL) & CS_LABELS_IN;
        c->unknown = false;
    }
    cs_catalogue_unref(now);
}

/* An answer that is known was made by calls, too. */
void cs_flows_known(struct cs_run *run)
{
    struct cs_tools *tools = run->runner->tools;
    if (!run->result.tool_calls || !run->request.session.len || !tools)
        return;
    struct cs_catalogue *now = cs_tools_current(tools);
    for (uint32_t i = 0; i < run->result.tool_calls; i++) {
        const struct cs_call *c = &run->result.calls[i];
        const struct cs_tool *t = cs_catalogue_find(now, c->server, c->tool);
        if (t)
            came(run, t, (struct cs_str){0}, i + 1);
    }
    cs_catalogue_unref(now);
}

/* --- and may go somewhere --- */

static struct cs_flow_source source_of(const struct cs_came *c)
{
    return (struct cs_flow_source){
        .target = {c->server, c->server_ident, c->tool, c->ident},
        .labels = c->labels,
        .place = c->place,
    };
}

static struct cs_flow_sink sink_of(struct cs_gate_call *c, struct cs_buf *place)
{
    struct cs_tool_view view = cs_guard_view(c->tool);
    place_of(cs_buf_str(&c->arguments), place);
    return (struct cs_flow_sink){
        .target = view.target,
        .labels = cs_policy_labels(c->run->policy, &view, NULL),
        .place = cs_buf_str(place),
    };
}

struct cs_flow_verdict cs_flows_check(struct cs_gate_call *c)
{
    struct cs_inflow *in = inflow_of(c->run);
    struct cs_flow_source sources[CS_CAME_MOST];
    CS_AUTO_BUF struct cs_buf place = {0};
    if (!in->count)
        return (struct cs_flow_verdict){.then = CS_GRANT_ALLOW};
    look_again(c->run, in);
    for (size_t i = 0; i < in->count; i++)
        sources[i] = source_of(&in->at[i]);
    struct cs_flow_sink sink = sink_of(c, &place);
    return cs_policy_flow(c->run->policy, c->run->principal, sources, in->count, &sink);
}

/* --- for people --- */

struct writing {
    struct cs_json_writer *w;
    struct cs_gate_call *call;
    struct cs_flow_sink sink;
    struct cs_token_row rows[CS_TOKEN_ROWS];
    size_t row_count;
    bool told[CS_TOKEN_ROWS];
};

static void put_name(struct cs_json_writer *w, const char *key, struct cs_str server,
                     struct cs_str tool)
{
    CS_AUTO_BUF struct cs_buf name = {0};
    cs_buf_putstr(&name, server);
    if (tool.len)
        cs_buf_printf(&name, "/%.*s", CS_STR_ARG(tool));
    cs_json_key(w, key);
    cs_json_put_str(w, cs_buf_str(&name));
}

/* Which values of that server are in the arguments. */
static void put_data(struct writing *wr, struct cs_str from)
{
    cs_json_key(wr->w, "data");
    cs_json_open(wr->w, '[');
    for (size_t i = 0; i < wr->row_count; i++) {
        const struct cs_token_row *row = &wr->rows[i];
        CS_AUTO_BUF struct cs_buf text = {0};
        if (!cs_str_eq(row->from, from))
            continue;
        wr->told[i] = true;
        cs_buf_printf(&text, "%.*s x %u", CS_STR_ARG(row->name), row->count);
        cs_json_put_str(wr->w, cs_buf_str(&text));
    }
    cs_json_close(wr->w, ']');
}

static void put_to(struct writing *wr)
{
    const struct cs_tool *t = wr->call->tool;
    put_name(wr->w, "to", t->server, t->name);
    cs_json_key(wr->w, "labels_to");
    cs_labels_json(wr->sink.labels, wr->w);
    cs_json_close(wr->w, '}');
}

static void put_source(struct writing *wr, const struct cs_came *c, unsigned part)
{
    cs_json_open(wr->w, '{');
    put_name(wr->w, "from", c->server, c->tool);
    cs_json_key(wr->w, "call");
    cs_json_put_u64(wr->w, c->call);
    cs_json_key(wr->w, "labels");
    cs_labels_json(part, wr->w);
    put_data(wr, c->server);
    put_to(wr);
}

void cs_flows_json(struct cs_gate_call *c, const struct cs_flow_verdict *v,
                   struct cs_json_writer *w)
{
    const struct cs_inflow *in = inflow_of(c->run);
    CS_AUTO_BUF struct cs_buf place = {0};
    struct writing wr = {.w = w, .call = c, .sink = sink_of(c, &place)};
    wr.row_count = cs_shield_tokens(c, wr.rows);
    for (size_t i = 0; i < in->count; i++) {
        struct cs_flow_source source = source_of(&in->at[i]);
        unsigned part = cs_flow_part(v, &source, &wr.sink);
        if (part)
            put_source(&wr, &in->at[i], part);
    }
    /* Values that come from elsewhere: no rule speaks of them, but they would go there, too. */
    for (size_t i = 0; i < wr.row_count; i++) {
        if (wr.told[i])
            continue;
        struct cs_str from = wr.rows[i].from;
        bool is_server = from.len && from.at[0] != '/';
        cs_json_open(w, '{');
        put_name(w, "from", is_server ? from : CS_STR("the inputs"), (struct cs_str){0});
        put_data(&wr, from);
        put_to(&wr);
    }
}
