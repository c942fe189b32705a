/*
 * What a person sees before they decide, and what exactly their answer is about.
 *
 * Everything in a card is as the program and its caller have it: tokens, never values. What stands
 * in the program's own text is masked, too (card_mask.c), but for what it writes into the arguments
 * of the call that is asked about: that is what a person decides on. What is too long is cut, and a
 * member beside it says how long it is; hashes are of the whole.
 */
#include <stdio.h>
#include <string.h>

#include "base/canon.h"
#include "base/hash.h"
#include "base/time.h"
#include "base/utf8.h"
#include "run/card_in.h"
#include "run/journal.h"

#define ARGUMENTS_SHOWN   (16u << 10)
#define DESCRIPTION_SHOWN (4u << 10)
#define DEFINITION_SHOWN  (8u << 10)

static void text(struct cs_json_writer *w, const char *key, struct cs_str value)
{
    cs_json_key(w, key);
    cs_json_put_str(w, value);
}

static void word(struct cs_json_writer *w, const char *key, const char *value)
{
    text(w, key, cs_str(value));
}

static void number(struct cs_json_writer *w, const char *key, uint64_t value)
{
    cs_json_key(w, key);
    cs_json_put_u64(w, value);
}

static void flag(struct cs_json_writer *w, const char *key, bool value)
{
    cs_json_key(w, key);
    cs_json_put_bool(w, value);
}

static void put_hash(struct cs_json_writer *w, const char *key, const unsigned char hash[CS_SHA256])
{
    char hex[2 * CS_SHA256 + 1];
    cs_hex(hash, CS_SHA256, hex);
    word(w, key, hex);
}

static void put_time(struct cs_json_writer *w, const char *key, int64_t ms)
{
    char at[CS_TIME_TEXT];
    word(w, key, cs_time_text_ms(ms, at));
}

static void put_limits(struct cs_json_writer *w, const struct cs_limits *limits)
{
    cs_json_key(w, "limits");
    cs_json_open(w, '{');
    for (int i = 0; i < CS_LIMIT_COUNT; i++)
        number(w, cs_limit_name((enum cs_limit)i), cs_limit_get(limits, (enum cs_limit)i));
    cs_json_close(w, '}');
}

/* A text that may be cut, with its length if it was. */
static void put_cut(struct cs_json_writer *w, const char *key, struct cs_str value, uint64_t bytes)
{
    char more[40];
    text(w, key, value);
    if (value.len >= bytes)
        return;
    snprintf(more, sizeof more, "%s_cut_from_bytes", key);
    number(w, more, bytes);
}

/* --- bindings --- */

static void put_program_binding(struct cs_json_writer *w, const struct cs_run *run, bool whole)
{
    const struct cs_provenance *p = &run->result.provenance;
    put_hash(w, "code", p->code_hash);
    word(w, "modules", run->result.verdict.modules_hash);
    word(w, "language", cs_language_name(run->request.language));
    text(w, "tenant", run->tenant);
    text(w, "principal", run->principal);
    put_limits(w, &run->request.limits);
    if (!whole)
        return;
    put_hash(w, "inputs", p->inputs_hash);
    text(w, "session", run->request.session);
}

static void put_definition(struct cs_json_writer *w, const struct cs_tool *t)
{
    unsigned char hash[CS_SHA256];
    char hex[2 * CS_SHA256 + 1], name[400];
    cs_tool_definition_hash(t, hash);
    cs_hex(hash, sizeof hash, hex);
    snprintf(name, sizeof name, "%.*s/%.*s", CS_STR_ARG(t->server), CS_STR_ARG(t->name));
    cs_json_key(w, name);
    cs_json_put_z(w, hex);
}

/* Of all that it can reach, and is not refused anyway. */
static void put_definitions(struct cs_json_writer *w, const struct cs_run *run)
{
    const struct cs_verdict *v = &run->result.verdict;
    cs_json_key(w, "tools");
    cs_json_open(w, '{');
    for (uint32_t i = 0; i < v->tool_count && run->catalogue; i++) {
        const struct cs_target *target = &v->tools[i].tool.target;
        const struct cs_tool *t = cs_catalogue_find(run->catalogue, target->server, target->tool);
        if (t && v->tools[i].grant != CS_GRANT_DENY)
            put_definition(w, t);
    }
    cs_json_close(w, '}');
    flag(w, "any_tool", v->any_tool);
}

static void bind_program(struct cs_run *run, bool whole, unsigned char hash[32])
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    word(&w, "kind", "program");
    put_program_binding(&w, run, whole);
    put_definitions(&w, run);
    cs_json_close(&w, '}');
    cs_canon_hash(cs_buf_str(&json), hash);
}

static void bind_call(struct cs_gate_call *c, bool whole, unsigned char hash[32])
{
    const struct cs_run *run = c->run;
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    unsigned char part[CS_SHA256];
    cs_json_open(&w, '{');
    word(&w, "kind", "call");
    if (whole) {
        put_program_binding(&w, run, true);
        number(&w, "occurrence", cs_journal_occurrence(run, c->id));
        if (c->sent_us)
            number(&w, "sent", (uint64_t)c->sent_us);
    } else {
        text(&w, "tenant", run->tenant);
        text(&w, "principal", run->principal);
    }
    text(&w, "server", c->tool->server);
    text(&w, "tool", c->tool->name);
    cs_tool_definition_hash(c->tool, part);
    put_hash(&w, "definition", part);
    cs_canon_hash(cs_buf_str(&c->arguments), part);
    put_hash(&w, "arguments", part);
    cs_json_close(&w, '}');
    cs_canon_hash(cs_buf_str(&json), hash);
}

/* --- cards --- */

/* Foreign words: what is personal or secret in them is none of the card's business. */
static void put_masked(struct cs_json_writer *w, const struct cs_run *run,
                       struct cs_card_names *names, const char *key, struct cs_str value)
{
    CS_AUTO_BUF struct cs_buf masked = {0};
    cs_card_mask_text(run, names, value, &masked);
    text(w, key, cs_buf_str(&masked));
}

static void put_head(struct cs_json_writer *w, const struct cs_run *run, const char *kind,
                     const struct cs_question_want *want, struct cs_card_names *names)
{
    CS_AUTO_BUF struct cs_buf verdict = {0}, masked = {0};
    cs_json_open(w, '{');
    word(w, "kind", kind);
    word(w, "execution_id", run->result.execution_id);
    text(w, "session_id", run->request.session);
    text(w, "principal", run->principal);
    text(w, "actor_type", run->result.provenance.actor_type);
    put_masked(w, run, names, "intent", run->request.intent);
    word(w, "language", cs_language_name(run->request.language));
    flag(w, "durable", run->request.durable);
    cs_verdict_json(&run->result.verdict, &verdict);
    cs_json_key(w, "risk");
    cs_card_mask(run, names, CS_FORM_JSON, cs_buf_str(&verdict), 0, verdict.len, &masked);
    cs_json_put_raw(w, cs_buf_str(&masked));
    put_masked(w, run, names, "why", want->why);
    text(w, "rule", want->rule);
}

static void put_program(struct cs_json_writer *w, const struct cs_run *run,
                        struct cs_card_names *names)
{
    struct cs_str inputs = run->inputs_bytes ? run->inputs_shown : run->request.inputs;
    uint64_t bytes = run->inputs_bytes ? run->inputs_bytes : inputs.len;
    cs_json_key(w, "program");
    cs_json_open(w, '{');
    cs_card_code(run, names, w);
    put_hash(w, "code_hash", run->result.provenance.code_hash);
    put_cut(w, "inputs_preview", cs_utf8_cut(inputs, CS_INPUTS_SHOWN), bytes);
    word(w, "modules_hash", run->result.verdict.modules_hash);
    cs_card_files(run, names, w);
    cs_json_close(w, '}');
}

/* What is CRITICAL is allowed once, and asked for again; so is what may have been done already. */
static void put_tail(struct cs_json_writer *w, const struct cs_question_want *want,
                     const struct cs_limits *limits)
{
    const struct cs_run *run = want->run;
    bool lasts = want->risk != CS_RISK_CRITICAL && !want->once;
    struct cs_approval_rules rules = cs_policy_approvals(run->policy);
    uint32_t seconds = run->request.durable ? rules.durable_timeout_s : rules.timeout_s;
    int64_t now = cs_time_ms();
    put_limits(w, limits);
    cs_json_key(w, "answers");
    cs_json_open(w, '[');
    cs_json_put_z(w, "once");
    if (lasts && run->request.session.len)
        cs_json_put_z(w, "session");
    if (lasts)
        cs_json_put_z(w, want->call ? "tool" : "program");
    cs_json_put_z(w, "deny");
    cs_json_close(w, ']');
    put_time(w, "created", now);
    put_time(w, "expires", now + (int64_t)seconds * 1000);
    cs_json_close(w, '}');
}

static void put_evident_flows(struct cs_json_writer *w, const struct cs_verdict *v)
{
    cs_json_key(w, "flows");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < v->flow_count; i++) {
        cs_json_open(w, '{');
        text(w, "from", v->flows[i].from);
        text(w, "to", v->flows[i].to);
        number(w, "line", v->flows[i].line);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

void cs_card_program(struct cs_run *run, struct cs_question_want *want, struct cs_buf *card)
{
    struct cs_json_writer w = CS_JSON_WRITER(card);
    CS_AUTO(cs_card_names_done) struct cs_card_names names = {0};
    bind_program(run, true, want->binding);
    bind_program(run, false, want->scope);
    put_head(&w, run, "program", want, &names);
    put_program(&w, run, &names);
    put_evident_flows(&w, &run->result.verdict);
    put_tail(&w, want, &run->result.verdict.limits);
}

static void put_annotations(struct cs_json_writer *w, const struct cs_tool *t)
{
    cs_json_key(w, "annotations");
    cs_json_open(w, '{');
    flag(w, "declared", t->annotated);
    flag(w, "trusted", t->trusted);
    flag(w, "read_only", t->read_only);
    flag(w, "destructive", t->destructive);
    flag(w, "idempotent", t->idempotent);
    flag(w, "open_world", t->open_world);
    cs_json_close(w, '}');
}

/* An object as it is, or a part of it as a text. */
static void put_arguments(struct cs_json_writer *w, struct cs_str arguments)
{
    if (arguments.len > ARGUMENTS_SHOWN) {
        put_cut(w, "arguments", cs_utf8_cut(arguments, ARGUMENTS_SHOWN), arguments.len);
        return;
    }
    cs_json_key(w, "arguments");
    cs_json_put_raw(w, arguments);
}

static void put_call(struct cs_json_writer *w, struct cs_gate_call *c)
{
    static const char *const standings[] = {"known", "young", "changed"};
    const struct cs_tool *t = c->tool;
    struct cs_tool_view view = cs_guard_view(t);
    unsigned char hash[CS_SHA256];
    cs_json_key(w, "call");
    cs_json_open(w, '{');
    number(w, "number", (uint64_t)c->record + 1);
    text(w, "server", t->server);
    text(w, "tool", t->name);
    if (c->sent_us)
        put_time(w, "sent_at", c->sent_us / 1000);
    put_cut(w, "description", cs_utf8_cut(t->description, DESCRIPTION_SHOWN), t->description.len);
    put_annotations(w, t);
    cs_json_key(w, "labels");
    cs_labels_json(cs_policy_labels(c->run->policy, &view, NULL), w);
    word(w, "standing", c->changed ? "changed" : standings[view.standing]);
    put_arguments(w, cs_buf_str(&c->arguments));
    cs_card_values(c, w);
    cs_canon_hash(cs_buf_str(&c->arguments), hash);
    put_hash(w, "arguments_hash", hash);
    cs_tool_definition_hash(t, hash);
    put_hash(w, "definition_hash", hash);
    const struct cs_tool *before =
        c->changed ? cs_catalogue_find(c->run->catalogue, t->server, t->name) : NULL;
    struct cs_str old = before ? before->definition : cs_tool_before(t);
    if (old.len)
        put_cut(w, "definition_before", cs_utf8_cut(old, DEFINITION_SHOWN), old.len);
    cs_json_close(w, '}');
}

void cs_card_call(struct cs_gate_call *c, const struct cs_flow_verdict *flow,
                  struct cs_question_want *want, struct cs_buf *card)
{
    struct cs_run *run = c->run;
    struct cs_json_writer w = CS_JSON_WRITER(card);
    CS_AUTO(cs_card_names_done) struct cs_card_names names = {0};
    bind_call(c, true, want->binding);
    bind_call(c, false, want->scope);
    put_head(&w, run, "call", want, &names);
    put_program(&w, run, &names);
    put_call(&w, c);
    cs_json_key(&w, "flows");
    cs_json_open(&w, '[');
    cs_flows_json(c, flow, &w);
    cs_json_close(&w, ']');
    put_tail(&w, want, &run->result.limits);
}
