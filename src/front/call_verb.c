/* `caisson tools call`: an execution that makes one call, on the path that all take. */
#include <stdio.h>
#include <string.h>

#include "front/approving.h"
#include "front/asking.h"
#include "front/call_args.h"
#include "front/errand.h"
#include "front/print.h"
#include "front/text.h"

#define WAIT_MS 30000u /* the first start of a server may download it */

struct calling {
    struct cs_errand session;
    struct cs_words operands;
    struct cs_print print;
    uint32_t timeout_ms;
    struct cs_sandbox_options sandbox;
    char scratch[CS_DATA_PATH];
    struct cs_run *run;
    struct cs_asking *asking; /* NULL: nobody is there to be asked */
    struct cs_approving *approving;
    bool known; /* there is such a tool */
    bool reveal;
    struct cs_settings settings;
};

/* Unlike a program, a single call fails in ways that its caller can tell apart. */
static int exit_of(const struct calling *c, const struct cs_result *r)
{
    if (!r->failed || !r->tool_calls || !r->calls)
        return cs_exit_of(r);
    switch (r->calls[0].status) {
    case CS_CALL_DENIED:
        return c->known ? CS_EXIT_DENIED : CS_EXIT_USAGE;
    case CS_CALL_INVALID:
        return CS_EXIT_USAGE;
    case CS_CALL_LIMIT:
        return CS_EXIT_LIMIT;
    case CS_CALL_OK:
    case CS_CALL_ERROR:
    case CS_CALL_CANCELLED:
        break;
    }
    return cs_exit_of(r);
}

static void on_done(void *ctx, const struct cs_result *r)
{
    struct calling *c = ctx;
    c->run = NULL;
    cs_asking_close(c->asking);
    cs_approving_close(c->approving);
    cs_print_result(&c->print, r);
    cs_errand_end(&c->session, exit_of(c, r));
}

static void on_interrupt(struct cs_errand *s)
{
    struct calling *c = s->ctx;
    if (c->run)
        cs_run_cancel(c->run);
}

static bool on_ask(void *ctx, const struct cs_tool_ask *ask)
{
    struct calling *c = ctx;
    return c->asking && cs_asking_take(c->asking, ask);
}

static void on_withdrawn(void *ctx, uint64_t ask)
{
    struct calling *c = ctx;
    cs_asking_withdraw(c->asking, ask);
}

static void on_answer(void *ctx, uint64_t ask, struct cs_str result)
{
    struct calling *c = ctx;
    if (c->run)
        cs_run_answer(c->run, ask, result);
}

static void on_approval(void *ctx, const struct cs_approval_row *row)
{
    struct calling *c = ctx;
    cs_approving_asked(c->approving, row);
}

static void on_approval_over(void *ctx, const struct cs_approval_row *row)
{
    struct calling *c = ctx;
    cs_approving_over(c->approving, row);
}

static void on_decided(void *ctx, struct cs_str id, const struct cs_choice *choice)
{
    struct calling *c = ctx;
    cs_approving_decide(c->approving, id, choice);
}

/* "server" and "tool" of "server.tool" or "server/tool"; either may have dots of its own. */
static const struct cs_tool *find(const struct cs_catalogue *catalogue, const char *name,
                                  struct cs_str *server, struct cs_str *tool)
{
    const struct cs_tool *found = NULL;
    for (const char *cut = name; !found && (cut = strpbrk(cut, "./")); cut++) {
        *server = cs_strn(name, (size_t)(cut - name));
        *tool = cs_str(cut + 1);
        found = cs_catalogue_find(catalogue, *server, *tool);
    }
    return found;
}

struct asked {
    const char *server;
    struct cs_err *err;
};

static void tell(void *ctx, const struct cs_server_state *state)
{
    struct asked *a = ctx;
    if (!cs_str_is(state->name, a->server))
        return;
    struct cs_str why = cs_errand_error(state);
    if (strcmp(state->state, "disabled") == 0)
        cs_fail(a->err, CS_DENIED,
                "the server '%s' is disabled; 'caisson enable %s' switches it on", a->server,
                a->server);
    else if (why.len)
        cs_fail(a->err, CS_UPSTREAM, "server '%s': %.*s", a->server, CS_STR_ARG(why));
    else
        cs_fail(a->err, CS_UPSTREAM,
                "the server '%s' has not answered yet; 'caisson list %s' tells "
                "how it is doing",
                a->server, a->server);
}

static int start(struct calling *c, struct cs_err *err)
{
    struct cs_errand *s = &c->session;
    struct cs_str server = {0}, tool = {0};
    CS_AUTO_BUF struct cs_buf arguments = {0}, inputs = {0};
    if (!s->tools)
        return cs_fail(err, CS_MISSING,
                       "there are no servers yet (%s); 'caisson help add' says how to add one",
                       s->path);
    const char *name = c->operands.at[0];
    if (!strpbrk(name, "./"))
        return cs_fail(err, CS_INVALID, "'%s' is not SERVER.TOOL", name);
    if (s->server && !cs_catalogue_listed(s->catalogue, cs_str(s->server))) {
        struct asked asked = {s->server, err};
        cs_tools_servers(s->tools, tell, &asked);
        return -1;
    }
    const struct cs_tool *found = find(s->catalogue, name, &server, &tool);
    c->known = found != NULL;
    /* One that is not known is asked for nevertheless: the gate knows what to say about it. */
    if (cs_call_args(c->operands.at + 1, c->operands.count - 1,
                     found ? found->input : (struct cs_str){0}, &arguments, err) < 0)
        return -1;
    struct cs_request request = cs_request_call(server, tool, cs_buf_str(&arguments), &inputs);
    request.reveal = c->reveal;
    /* The call has its own time; the execution around it starts the server, if need be. */
    uint64_t most = cs_policy_ceiling(NULL, CS_RISK_LOW).wall_clock;
    if (c->timeout_ms)
        request.limits.wall_clock = c->timeout_ms;
    else if (found)
        request.limits.wall_clock += found->timeout_ms;
    /* A person who is asked takes longer than a tool may. */
    if (request.limits.wall_clock > most || (s->asks && !c->timeout_ms))
        request.limits.wall_clock = most;
    static const struct cs_run_watch watch = {.ask = on_ask,
                                              .withdrawn = on_withdrawn,
                                              .approval = on_approval,
                                              .approval_over = on_approval_over};
    if (s->asks)
        c->asking = cs_asking_new(s->loop, on_answer, c);
    if (c->asking)
        cs_asking_on_decision(c->asking, on_decided);
    c->approving = cs_approving_new(s->world.store, s->world.policy, c->asking, "tools call");
    c->run = cs_run_start(s->world.runner, &request, &watch, on_done, c);
    return 0;
}

static void then_call(struct cs_errand *s)
{
    struct cs_err err = {0};
    if (start(s->ctx, &err) < 0)
        cs_errand_end(s, cs_verb_failed(s->verb, &err));
}

static int take(const struct cs_verb *verb, int argc, char **argv, struct calling *c,
                struct cs_err *err)
{
    const struct cs_bind binds[] = {
        {"timeout", CS_BIND_TIME, &c->timeout_ms},
        {"output", CS_BIND_JSON, &c->print.json},
        {"verbose", CS_BIND_FLAG, &c->print.verbose},
        {"policy", CS_BIND_TEXT, &c->session.policy},
        {"config", CS_BIND_TEXT, &c->session.config},
        {"no-record", CS_BIND_FLAG, &c->session.no_record},
        {"no-pii-protection", CS_BIND_FLAG, &c->session.no_privacy},
        {"reveal", CS_BIND_FLAG, &c->reveal},
        {NULL, 0, NULL},
    };
    if (cs_args_bind(verb, argc, argv, binds, &c->operands, err) < 0)
        return -1;
    return c->operands.count ? 0 : cs_fail(err, CS_INVALID, "which tool? SERVER.TOOL");
}

static int take_settings(struct calling *c, struct cs_err *err)
{
    char path[CS_DATA_PATH];
    if (cs_data_config(c->session.config, path, err) < 0 ||
        cs_settings_load(path, NULL, &c->settings, err) < 0)
        return -1;
    c->session.settings = &c->settings;
    c->session.no_record = c->session.no_record || !c->settings.record_enabled;
    return 0;
}

int cs_verb_tools_call(const struct cs_verb *verb, int argc, char **argv)
{
    struct calling c = {
        .session = {.wait = CS_WAIT_KNOWN, .then = then_call, .interrupted = on_interrupt}};
    struct cs_err err = {0};
    int status;
    if (take(verb, argc, argv, &c, &err) < 0) {
        status = cs_usage_error(verb, &err);
    } else if (take_settings(&c, &err) < 0 || cs_data_scratch(c.scratch, &err) < 0) {
        status = cs_verb_failed(verb, &err);
    } else {
        c.sandbox.scratch_dir = c.scratch;
        c.print.no_place = true;
        c.print.colour = cs_text_colour(stderr);
        c.session.ctx = &c;
        c.session.timeout_ms = c.timeout_ms ? c.timeout_ms : WAIT_MS;
        c.session.sandbox = &c.sandbox;
        c.session.asks = cs_asking_kinds();
        c.session.tool = c.operands.at[0];
        status = cs_errand_run(verb, &c.session);
    }
    cs_words_done(&c.operands);
    cs_settings_done(&c.settings);
    return status;
}
