/*
 * The gate: one way for every call of a tool, whoever the program belongs to.
 *
 *     allowed? -> arguments valid? -> small enough? -> known? -> its turn -> values for tokens
 *              -> sent, with a deadline -> result valid, unwrapped -> tokens for values -> bounded
 *              -> recorded -> back to the program
 *
 * Everything that is checked, hashed or recorded has tokens: what the program can learn from it
 * does not depend on the values.
 * The program's bytes are hostile, and so are the server's. Nothing else calls cs_tools_call.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "privacy/privacy.h"
#include "run/guard.h"
#include "run/journal.h"
#include "run/shield.h"

/* How long a call waits for a server that has never been listed. */
#define FIRST_LIST_MS 15000
#define LOOK_MS       2000
#define NAME_SHOWN    80
#define RECORD_BYTES  300 /* of an error or a drift in the record */
#define LARGE_TEXT    (64u << 10)
#define PARAMETERS    12
#define ECHO_BYTES    (1u << 20)

/* That a call is about to be sent is being put on record; it may be over before that is done. */
struct cs_sending {
    struct cs_gate_call *call;
};

/* --- calls under way --- */

struct cs_gate_call *cs_gate_call_new(struct cs_run *run, uint64_t id)
{
    struct cs_gate_call *c = CS_NEW(struct cs_gate_call);
    c->run = run;
    c->id = id;
    c->start_ns = uv_hrtime();
    c->record = UINT32_MAX;
    struct cs_gate_call **end = &run->calls;
    while (*end)
        end = &(*end)->next;
    *end = c;
    return c;
}

void cs_gate_call_free(struct cs_gate_call *c)
{
    for (struct cs_gate_call **at = &c->run->calls; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    if (c->await)
        cs_await_cancel(c->await);
    if (c->sending)
        c->sending->call = NULL;
    if (c->look)
        c->look->ctx = NULL;
    if (c->question)
        cs_question_drop(c->question, c->run->leaves);
    cs_asks_leave(c);
    cs_own_free(c->own);
    cs_revealed_free(c->revealed);
    cs_own_wait_leave(c->wait);
    cs_catalogue_unref(c->catalogue);
    cs_buf_done(&c->server);
    cs_buf_done(&c->name);
    cs_buf_done(&c->arguments);
    free(c);
}

static struct cs_call *record_of(struct cs_gate_call *c)
{
    return &c->run->records[c->record];
}

uint32_t cs_gate_note(struct cs_run *run, struct cs_str server, struct cs_str tool, size_t bytes)
{
    if (run->result.tool_calls == run->record_cap) {
        run->record_cap = run->record_cap ? run->record_cap * 2 : 16;
        run->records = cs_realloc(run->records, run->record_cap, sizeof *run->records);
    }
    struct cs_call *r = &run->records[run->result.tool_calls];
    *r = (struct cs_call){
        .server = cs_arena_dup(&run->arena, cs_utf8_cut(server, NAME_SHOWN)),
        .tool = cs_arena_dup(&run->arena, cs_utf8_cut(tool, NAME_SHOWN)),
        .status = CS_CALL_CANCELLED,
        .argument_bytes = bytes,
        .start_us = (uv_hrtime() - run->start_ns) / 1000,
    };
    memcpy(r->argument_hash, run->argument_hash, sizeof r->argument_hash);
    if (cs_trace_is(&run->result.trace))
        cs_run_span(r->span);
    run->result.calls = run->records;
    return run->result.tool_calls++;
}

static void next_turn(struct cs_run *run);

/* The answer leaves, and the call is over. */
void cs_gate_answer(struct cs_gate_call *c, enum cs_call_status status, enum cs_answer code,
                    struct cs_str payload)
{
    struct cs_run *run = c->run;
    if (c->record != UINT32_MAX) {
        struct cs_call *r = record_of(c);
        r->status = status;
        r->us = (uv_hrtime() - c->start_ns) / 1000;
        r->result_bytes = status == CS_CALL_OK ? payload.len : 0;
        if (status == CS_CALL_OK && cs_run_store(run))
            cs_sha256(payload, r->result_hash);
        cs_trail_call(run, r);
        run->answering = r;
    }
    cs_job_result(run->job, c->id, code, payload);
    run->answering = NULL;
    bool was_running = c->is_running;
    cs_gate_call_free(c);
    if (was_running) {
        run->calls_running--;
        next_turn(run);
    }
}

/* Whatever keeps it from being sent again: what the program has to know is that it may have taken
 * effect. */
static void say_unknown(struct cs_str why, struct cs_buf *out)
{
    cs_buf_printf(out,
                  "it is not known whether this call took effect: it was sent, caisson ended "
                  "before the answer came, and it was not sent again: %.*s",
                  CS_STR_ARG(why));
}

void cs_gate_refuse(struct cs_gate_call *c, struct cs_refusal r, struct cs_str message,
                    struct cs_str suggestion)
{
    static const struct cs_refusal unknown = {CS_CALL_ERROR, CS_ANSWER_FAILED, NULL, false};
    CS_AUTO_BUF struct cs_buf json = {0}, before = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    if (c->sent_us) {
        say_unknown(message, &before);
        message = cs_buf_str(&before);
        suggestion = CS_STR("Look whether it did before it is made again.");
        r = unknown;
    }
    cs_json_open(&w, '{');
    cs_json_key(&w, "message");
    cs_json_put_str(&w, message);
    cs_json_key(&w, "retryable");
    cs_json_put_bool(&w, r.retryable);
    if (r.type) {
        cs_json_key(&w, "type");
        cs_json_put_z(&w, r.type);
    }
    if (suggestion.len) {
        cs_json_key(&w, "suggestion");
        cs_json_put_str(&w, suggestion);
    }
    cs_json_close(&w, '}');
    if (c->record != UINT32_MAX) {
        CS_AUTO_BUF struct cs_buf masked = {0};
        struct cs_str shown = cs_shield_said(c->run, CS_FORM_TEXT, message, &masked);
        record_of(c)->error = cs_arena_dup(&c->run->arena, cs_utf8_cut(shown, RECORD_BYTES));
    }
    cs_gate_answer(c, r.status, r.code, cs_buf_str(&json));
}

static const struct cs_refusal denied = {CS_CALL_DENIED, CS_ANSWER_DENIED, NULL, false};
static const struct cs_refusal invalid = {CS_CALL_INVALID, CS_ANSWER_INVALID, NULL, false};
static const struct cs_refusal too_large = {CS_CALL_LIMIT, CS_ANSWER_LIMIT, NULL, false};
static const struct cs_refusal too_late = {CS_CALL_LIMIT, CS_ANSWER_FAILED, "timeout_error", true};

/* --- allowed? --- */

struct cs_target cs_gate_target(const struct cs_tool *t)
{
    return (struct cs_target){t->server, t->server_ident, t->name, t->ident};
}

bool cs_gate_allowed(void *ctx, const struct cs_tool *tool)
{
    struct cs_run *run = ctx;
    struct cs_target target = cs_gate_target(tool);
    return !run->policy ||
           cs_policy_grant(run->policy, run->principal, &target, NULL) != CS_GRANT_DENY;
}

/* A name that the program made up, for the record. */
static void hide_name(struct cs_run *run, struct cs_str *name)
{
    CS_AUTO_BUF struct cs_buf masked = {0};
    *name = cs_arena_dup(&run->arena, cs_shield_said(run, CS_FORM_TEXT, *name, &masked));
}

/* Unknown and denied look the same from inside, and both are told what there is instead. */
static void refuse_unknown(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    hide_name(run, &record_of(c)->server);
    hide_name(run, &record_of(c)->tool);
    struct cs_str server = cs_buf_str(&c->server), name = cs_buf_str(&c->name);
    struct cs_str known =
        run->catalogue ? cs_catalogue_server(run->catalogue, server) : (struct cs_str){0};
    CS_AUTO_BUF struct cs_buf message = {0}, near = {0}, suggestion = {0};
    server = cs_utf8_cut(server, NAME_SHOWN);
    name = cs_utf8_cut(name, NAME_SHOWN);
    if (run->catalogue)
        cs_gate_why(run, server, &message);
    if (message.len) {
        static const struct cs_refusal down = {CS_CALL_ERROR, CS_ANSWER_FAILED, NULL, true};
        cs_gate_refuse(c, down, cs_buf_str(&message), (struct cs_str){0});
        return;
    }
    if (run->catalogue)
        cs_tools_near(run->runner->tools, run->catalogue, server, name, cs_gate_allowed, run,
                      &near);
    if (known.len)
        cs_buf_printf(&message, "the server '%.*s' has no tool '%.*s' that may be called",
                      CS_STR_ARG(server), CS_STR_ARG(name));
    else
        cs_buf_printf(&message, "there is no server '%.*s'", CS_STR_ARG(server));
    if (near.len)
        cs_buf_printf(&suggestion, "Near to it: %s. `await searchTools('...')` finds tools.",
                      cs_buf_cstr(&near));
    else
        cs_buf_puts(&suggestion, "No tool servers are configured; `caisson add` connects one.");
    cs_gate_refuse(c, denied, cs_buf_str(&message), cs_buf_str(&suggestion));
}

/* -1: it was refused. Where a person is to be asked, the guard does so. */
static int check_grant(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    const struct cs_policy *policy = run->policy;
    struct cs_target target = cs_gate_target(c->tool);
    if (!policy || cs_policy_grant(policy, run->principal, &target, NULL) != CS_GRANT_DENY)
        return 0;
    record_of(c)->by_policy = true;
    refuse_unknown(c);
    return -1;
}

/* Tokens are not judged: neither a schema nor the policy tells what they stand for. */
static enum cs_hiding look_for_token(struct cs_str text)
{
    enum cs_token_form form = cs_token_form(text);
    return form == CS_TOKEN_WHOLE    ? CS_HIDES_ALL
           : form == CS_TOKEN_INSIDE ? CS_HIDES_PART
                                     : CS_HIDES_NOTHING;
}

/* --- arguments valid, and small enough? --- */

/* "owner (required), repo (required), sha" */
static void list_parameters(const struct cs_tool *tool, struct cs_buf *out)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_limits limits = {.allow_duplicate = true};
    if (cs_json_parse(tool->input, &limits, &doc, NULL) < 0)
        return;
    struct cs_json_val root = cs_json_root(&doc), required = cs_json_get(root, "required");
    struct cs_json_val properties = cs_json_get(root, "properties"), key, item;
    struct cs_json_iter it = {0};
    for (unsigned n = 0; cs_json_next(properties, &it, &key, &item); n++) {
        if (n == PARAMETERS) {
            cs_buf_puts(out, " ...");
            return;
        }
        struct cs_str name = cs_json_str(key, &arena);
        cs_buf_printf(out, "%s%.*s", n ? ", " : "", CS_STR_ARG(name));
        struct cs_json_iter at = {0};
        struct cs_json_val one;
        while (cs_json_next(required, &at, NULL, &one))
            if (cs_str_eq(cs_json_str(one, &arena), name))
                cs_buf_puts(out, " (required)");
    }
}

static void refuse_arguments(struct cs_gate_call *c, struct cs_str message)
{
    CS_AUTO_BUF struct cs_buf parameters = {0}, suggestion = {0};
    list_parameters(c->tool, &parameters);
    if (parameters.len)
        cs_buf_printf(&suggestion, "%.*s takes one object: %s.", CS_STR_ARG(c->tool->ident),
                      cs_buf_cstr(&parameters));
    else
        cs_buf_printf(&suggestion, "%.*s takes no parameters.", CS_STR_ARG(c->tool->ident));
    cs_gate_refuse(c, invalid, message, cs_buf_str(&suggestion));
}

static int check_arguments(struct cs_gate_call *c)
{
    const struct cs_policy *policy = c->run->policy;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_limits limits = {.bytes = CS_CALL_MAX,
                                    .depth = (uint32_t)c->run->result.limits.json_depth};
    struct cs_err err = {0};
    struct cs_schema_fault faults[5];
    if (cs_json_parse(cs_buf_str(&c->arguments), &limits, &doc, &err) < 0) {
        cs_wrap(&err, "the arguments");
        refuse_arguments(c, cs_str(err.msg));
        return -1;
    }
    struct cs_json_val root = cs_json_root(&doc);
    if (cs_json_type(root) != CS_JSON_OBJECT) {
        refuse_arguments(c, CS_STR("the argument must be one object with the tool's parameters"));
        return -1;
    }
    const struct cs_schema *schema = cs_tool_input(c->tool);
    struct cs_schema_hidden tokens = {.look = look_for_token};
    struct cs_schema_hidden *hidden = c->run->shield ? &tokens : NULL;
    int n = schema ? cs_schema_check_hidden(schema, root, hidden, &arena, faults, CS_COUNT(faults),
                                            &err)
                   : 0;
    if (n > 0) {
        CS_AUTO_BUF struct cs_buf text = {0};
        cs_schema_explain(faults, n, &text);
        refuse_arguments(c, cs_buf_str(&text));
        return -1;
    }
    struct cs_target target = cs_gate_target(c->tool);
    if (n < 0 || (policy && cs_policy_arguments(policy, &target, root, hidden, &err) < 0)) {
        record_of(c)->by_policy = err.code == CS_DENIED;
        cs_gate_refuse(c, err.code == CS_DENIED ? denied : too_large, cs_str(err.msg),
                       (struct cs_str){0});
        return -1;
    }
    return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return b && b < a ? b : a;
}

/* What holds for this call: the tightest of the execution's limits, the server's entry and the
 * policy. */
static int check_size(struct cs_gate_call *c)
{
    const struct cs_limits *run = &c->run->result.limits;
    struct cs_target target = cs_gate_target(c->tool);
    if (c->run->policy)
        c->limits = cs_policy_call_limits(c->run->policy, &target);
    c->limits.arguments = least(run->arguments, c->limits.arguments);
    c->limits.result = least(least(run->call_result, c->tool->max_result_bytes), c->limits.result);
    if (!c->limits.timeout_ms)
        c->limits.timeout_ms = c->tool->timeout_ms;
    if (c->arguments.len <= c->limits.arguments)
        return 0;
    CS_AUTO_BUF struct cs_buf message = {0};
    cs_buf_printf(&message, "the arguments have %zu bytes; the limit is %llu", c->arguments.len,
                  (unsigned long long)c->limits.arguments);
    cs_gate_refuse(c, too_large, cs_buf_str(&message), CS_STR("Send less, or in several calls."));
    return -1;
}

/* --- sent, answered --- */

static void note_drift(struct cs_gate_call *c, struct cs_json_val root)
{
    CS_AUTO_BUF struct cs_buf drift = {0};
    struct cs_schema_hidden hidden = {.look = look_for_token};
    cs_tools_seen(c->run->runner->tools, c->tool, root, &hidden, &drift);
    if (!drift.len)
        return;
    record_of(c)->drift =
        cs_arena_dup(&c->run->arena, cs_utf8_cut(cs_buf_str(&drift), RECORD_BYTES));
}

static void refuse_result(struct cs_gate_call *c, size_t bytes)
{
    CS_AUTO_BUF struct cs_buf message = {0};
    cs_buf_printf(&message, "the result has %zu bytes; the limit is %llu", bytes,
                  (unsigned long long)c->limits.result);
    cs_gate_refuse(c, too_large, cs_buf_str(&message),
                   CS_STR("Ask for less: filters, fewer fields, or page by page."));
}

/* Types are learned from what the program sees. */
static void note_masked_drift(struct cs_gate_call *c, struct cs_str value)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_json_limits limits = {.bytes = value.len + 1, .allow_duplicate = true};
    if (cs_json_parse(value, &limits, &doc, NULL) == 0)
        note_drift(c, cs_json_root(&doc));
}

/* An answer that is no error. `root` may be none, if nobody has looked into it; `look`: the shield
 * has, in the pool. */
static void deliver(struct cs_gate_call *c, const struct cs_kept_answer *kept,
                    struct cs_json_val root, const struct cs_look *look)
{
    static const struct cs_refusal failed = {CS_CALL_ERROR, CS_ANSWER_FAILED, NULL, false};
    CS_AUTO_BUF struct cs_buf masked = {0};
    struct cs_err err = {0};
    int n = cs_shield_result(c, kept->value, kept->answer == CS_ANSWER_OK, look, &masked, &err);
    struct cs_str value = n > 0 ? cs_buf_str(&masked) : kept->value;
    if (n < 0) {
        cs_gate_refuse(c, failed, cs_str(err.msg), (struct cs_str){0});
        return;
    }
    if (value.len > c->limits.result) {
        refuse_result(c, value.len);
        return;
    }
    if (n > 0 && kept->is_seen)
        note_masked_drift(c, value);
    else if (root.doc)
        note_drift(c, root);
    cs_cache_called(c, kept->answer, kept->value);
    cs_flows_came(c);
    cs_gate_answer(c, CS_CALL_OK, kept->answer, value);
}

static void on_looked(void *ctx, struct cs_look *look)
{
    struct cs_gate_call *c = ctx;
    const struct cs_kept_answer kept = {cs_buf_str(&look->text), c->answer, c->answer_seen};
    deliver(c, &kept, (struct cs_json_val){0}, look);
}

void cs_gate_deliver(struct cs_gate_call *c, enum cs_answer answer, struct cs_str value,
                     struct cs_json_val root)
{
    struct cs_run *run = c->run;
    enum cs_privacy_level level = cs_shield_level(c);
    if (value.len <= CS_SCAN_HERE || level == CS_PRIVACY_OFF) {
        const struct cs_kept_answer kept = {value, answer, root.doc != NULL};
        deliver(c, &kept, root, NULL);
        return;
    }
    c->inner = NULL;
    c->answer = answer;
    c->answer_seen = root.doc != NULL;
    c->look =
        cs_look_start(run->runner->loop, run->shield->detector, level,
                      answer == CS_ANSWER_OK ? CS_FORM_JSON : CS_FORM_GUESS, value, on_looked, c);
}

static void on_value(struct cs_gate_call *c, struct cs_unwrapped *u)
{
    static const struct cs_refusal failed = {CS_CALL_ERROR, CS_ANSWER_FAILED, NULL, false};
    static const struct cs_refusal failed_for_now = {CS_CALL_ERROR, CS_ANSWER_FAILED, NULL, true};
    if (u->is_error) {
        struct cs_str words = cs_shield_error(c, u->value, &u->arena);
        cs_flows_came(c); /* these are its server's, too */
        cs_gate_refuse(c, u->retryable ? failed_for_now : failed, words, (struct cs_str){0});
    } else {
        cs_gate_deliver(c, u->is_text ? CS_ANSWER_TEXT : CS_ANSWER_OK, u->value, u->root);
    }
}

/* A large text is parsed by the worker alone, once its type is known: 3 ms less for two megabytes.
 */
static size_t parse_max(const struct cs_gate_call *c)
{
    bool here = c->run->result.is_guest || cs_tools_curious(c->run->runner->tools, c->tool);
    return here ? SIZE_MAX : LARGE_TEXT;
}

/* How much it was, is known of what has tokens alone. */
static struct cs_str words_of(struct cs_gate_call *c, const struct cs_tool_result *result,
                              const struct cs_err *err, struct cs_arena *arena)
{
    if (!c->run->shield || err->code != CS_LIMIT || result->retryable)
        return cs_shield_error(c, cs_str(err->msg), arena);
    return cs_str(cs_arena_printf(arena,
                                  "the answer is too large: at most %llu bytes are allowed; ask "
                                  "for less, or raise max_result_bytes of the server",
                                  (unsigned long long)c->limits.result));
}

static void on_result(void *ctx, const struct cs_tool_result *result)
{
    struct cs_gate_call *c = ctx;
    struct cs_err err = result->err;
    struct cs_unwrapped u = {0};
    if (err.code == CS_OK && cs_unwrap(result->result, parse_max(c), &u, &err) == 0) {
        on_value(c, &u);
    } else {
        struct cs_refusal r = {CS_CALL_ERROR, CS_ANSWER_FAILED, NULL, result->retryable};
        if (err.code == CS_LIMIT)
            r = result->retryable ? too_late : too_large;
        else if (err.code == CS_DENIED)
            r = denied;
        cs_gate_refuse(c, r, words_of(c, result, &err, &u.arena), (struct cs_str){0});
    }
    cs_unwrapped_done(&u);
}

/* A token that nobody has issued, or that this tool may not have. */
static void refuse_token(struct cs_gate_call *c, const struct cs_err *err)
{
    c->is_running = false; /* it was not sent, and whoever sends goes on with the next one */
    c->run->calls_running--;
    if (err->code == CS_DENIED) {
        record_of(c)->by_policy = true;
        cs_gate_refuse(c, denied, cs_str(err->msg),
                       CS_STR("Leave it out, or ask for a rule in privacy.detokenize."));
    } else {
        cs_gate_refuse(c, err->code == CS_LIMIT ? too_large : invalid, cs_str(err->msg),
                       c->run->result.session_id.len
                           ? CS_STR("Pass tokens on as they came, from results or inputs of this "
                                    "session.")
                           : CS_STR("Without a session a token is good within its execution alone. "
                                    "Give the program that gets it and this one the same "
                                    "`session_id` (\"new\" starts a session), and pass it on as it "
                                    "came."));
    }
}

static void send_now(struct cs_gate_call *c)
{
    struct cs_trace trace = c->run->result.trace;
    CS_AUTO(cs_buf_wipe) struct cs_buf values = {0};
    struct cs_unmasked unmasked = {0};
    struct cs_err err = {0};
    memcpy(trace.span, record_of(c)->span, sizeof trace.span);
    int n = cs_shield_arguments(c, &values, &unmasked, &err);
    if (n < 0) {
        refuse_token(c, &err);
        return;
    }
    c->sent_us = 0;
    /* What is measured has tokens: an answer that repeats values may be longer than that. */
    uint64_t most = n > 0 ? 2 * c->limits.result + ECHO_BYTES : c->limits.result;
    c->inner =
        cs_tools_call(c->run->runner->tools, c->tool, cs_buf_str(n ? &values : &c->arguments),
                      c->limits.timeout_ms, most, &trace, on_result, c);
}

static void on_sent(void *ctx, const struct cs_err *err)
{
    struct cs_sending *s = ctx;
    struct cs_gate_call *c = s->call;
    if (c && err->code == CS_OK) {
        struct cs_run *run = c->run;
        c->sending = NULL;
        send_now(c);
        next_turn(run);
    } else if (c) {
        static const struct cs_refusal failed = {CS_CALL_ERROR, CS_ANSWER_FAILED, NULL, false};
        CS_AUTO_BUF struct cs_buf message = {0};
        cs_buf_printf(&message, "it was not sent, because that could not be put on record: %s",
                      err->msg);
        cs_gate_refuse(c, failed, cs_buf_str(&message), (struct cs_str){0});
    }
    free(s);
}

/* --- its turn --- */

/* Of a durable execution, a call that must not be made twice is on record before it is sent: if
 * this process dies before the answer came, the next one knows that it may have taken effect. */
static void send_call(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    cs_trail_flush(run);
    run->calls_running++;
    c->is_running = true;
    if (!run->request.durable || record_of(c)->repeatable) {
        send_now(c);
        return;
    }
    c->sending = CS_NEW(struct cs_sending);
    c->sending->call = c;
    cs_journal_sent(run, c->id, on_sent, c->sending);
}

static bool waits_for_turn(const struct cs_gate_call *c)
{
    return c->tool && c->granted && !c->is_running && !c->look;
}

static void next_turn(struct cs_run *run)
{
    struct cs_gate_call *c = run->calls;
    while (c && run->calls_running < run->result.limits.calls_at_once) {
        if (waits_for_turn(c)) {
            send_call(c); /* it may be over */
            c = run->calls;
        } else {
            c = c->next;
        }
    }
}

/* --- the way in --- */

static void enter(struct cs_gate_call *c);

static void on_listed(void *ctx)
{
    struct cs_gate_call *c = ctx;
    struct cs_run *run = c->run;
    c->await = NULL;
    if (c->sent_us)
        cs_job_pause(run->job, false);
    cs_catalogue_unref(run->catalogue);
    run->catalogue = cs_tools_current(run->runner->tools);
    enter(c);
}

/* A server that was not asked yet, or a tool that may be newer than what it said last time. */
static bool ask_server(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    struct cs_str server = cs_catalogue_server(run->catalogue, cs_buf_str(&c->server));
    if (!server.len || c->asked)
        return false;
    c->asked = true;
    if (c->sent_us) /* as while somebody is asked, which is next */
        cs_job_pause(run->job, true);
    c->await = cs_tools_await(run->runner->tools, server, true, FIRST_LIST_MS, on_listed, c);
    return true;
}

/* By the tool's word, if its server's counts, or by the policy's. */
static bool repeatable(const struct cs_gate_call *c)
{
    const struct cs_policy *policy = c->run->policy;
    struct cs_target target = cs_gate_target(c->tool);
    return c->tool->repeatable || (policy && cs_policy_repeatable(policy, &target));
}

static void enter(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    c->tool = run->catalogue
                  ? cs_catalogue_find(run->catalogue, cs_buf_str(&c->server), cs_buf_str(&c->name))
                  : NULL;
    if (!c->tool) {
        if (!run->catalogue || !ask_server(c))
            refuse_unknown(c);
        return;
    }
    c->catalogue = cs_catalogue_ref(run->catalogue);
    cs_guard_newest(c);
    struct cs_call *r = record_of(c);
    r->server = cs_arena_dup(&run->arena, c->tool->server);
    r->tool = cs_arena_dup(&run->arena, c->tool->name);
    r->repeatable = repeatable(c);
    cs_cache_used(run, c->tool);
    cs_gate_check(c);
}

static void on_looked_at(void *ctx)
{
    struct cs_gate_call *c = ctx;
    c->await = NULL;
    cs_guard_newest(c);
    cs_gate_check(c);
}

/* Before somebody is asked because of how its tool stands: perhaps it was looked at meanwhile. */
static bool look_again(struct cs_gate_call *c)
{
    struct cs_tools *tools = c->run->runner->tools;
    if (c->looked || cs_tool_standing(c->tool) == CS_TOOL_KNOWN)
        return false;
    c->looked = true;
    cs_tools_look_again(tools);
    c->await = cs_tools_await(tools, c->tool->server, false, LOOK_MS, on_looked_at, c);
    return true;
}

void cs_gate_check(struct cs_gate_call *c)
{
    if (check_grant(c) < 0 || check_size(c) < 0 || check_arguments(c) < 0 || look_again(c))
        return;
    if (cs_guard_call(c))
        cs_gate_granted(c);
}

void cs_gate_granted(struct cs_gate_call *c)
{
    struct cs_run *run = c->run;
    c->granted = true;
    if (c->approved || !cs_cache_call(c)) /* what somebody let through is for this one alone */
        next_turn(run);
}

void cs_gate_call(struct cs_run *run, uint64_t id, struct cs_str server, struct cs_str tool,
                  struct cs_str arguments)
{
    struct cs_gate_call *c = cs_gate_call_new(run, id);
    cs_buf_putstr(&c->server, server);
    cs_buf_putstr(&c->name, tool);
    cs_buf_putstr(&c->arguments, arguments);
    if (cs_str_is(server, "caisson")) {
        cs_gate_own(c);
        return;
    }
    c->record = cs_gate_note(run, server, tool, arguments.len);
    c->sent_us = run->sent_us;
    enter(c);
}

void cs_gate_close(struct cs_run *run)
{
    while (run->calls) {
        struct cs_gate_call *c = run->calls;
        if (c->record != UINT32_MAX)
            record_of(c)->us = (uv_hrtime() - c->start_ns) / 1000;
        if (c->inner)
            cs_tool_call_cancel(c->inner);
        cs_gate_call_free(c);
    }
}

uint32_t cs_run_calls(const struct cs_run *run)
{
    return run->result.tool_calls;
}
