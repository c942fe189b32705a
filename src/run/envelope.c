/* The one envelope. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/time.h"
#include "policy/judge.h"
#include "run/inside.h"

#define FINDINGS 50

const char *cs_status_name(enum cs_status status)
{
    static const char *const names[] = {"completed", "failed", "denied", "cancelled",
                                        "awaiting_approval"};
    return names[status];
}

const char *cs_call_status_name(enum cs_call_status status)
{
    static const char *const names[] = {"ok", "error", "denied", "invalid", "limit", "cancelled"};
    return names[status];
}

const char *cs_error_type_name(enum cs_error_type type)
{
    static const char *const names[] = {
#define X(id, name) name,
        CS_ERROR_TYPES(X)
#undef X
    };
    return names[type];
}

static const char *const language_names[] = {"typescript", "python", "bash", "node"};

const char *cs_language_name(enum cs_language language)
{
    return language_names[language];
}

int cs_language_parse(struct cs_str name, enum cs_language *language, struct cs_err *err)
{
    static const struct {
        const char *name;
        enum cs_language language;
    } also[] = {{"ts", CS_TYPESCRIPT},  {"javascript", CS_TYPESCRIPT},
                {"js", CS_TYPESCRIPT},  {"py", CS_PYTHON},
                {"python3", CS_PYTHON}, {"sh", CS_BASH},
                {"shell", CS_BASH},     {"nodejs", CS_NODE}};
    for (size_t i = 0; i < CS_COUNT(language_names); i++) {
        if (cs_str_is(name, language_names[i])) {
            *language = (enum cs_language)i;
            return 0;
        }
    }
    for (size_t i = 0; i < CS_COUNT(also); i++) {
        if (cs_str_is(name, also[i].name)) {
            *language = also[i].language;
            return 0;
        }
    }
    return cs_fail(err, CS_INVALID,
                   "there is no language '%.*s'; there are typescript, python, bash and node",
                   (int)(name.len < 40 ? name.len : 40), name.at);
}

static void member(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    if (!text.len)
        return;
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static void number(struct cs_json_writer *w, const char *key, uint64_t value)
{
    cs_json_key(w, key);
    cs_json_put_u64(w, value);
}

static void put_error(struct cs_json_writer *w, const struct cs_error *e)
{
    cs_json_key(w, "error");
    cs_json_open(w, '{');
    cs_json_key(w, "type");
    cs_json_put_z(w, cs_error_type_name(e->type));
    member(w, "name", e->name);
    cs_json_key(w, "message");
    cs_json_put_str(w, e->message);
    member(w, "file", e->file);
    if (e->line)
        number(w, "line", e->line);
    if (e->column)
        number(w, "column", e->column);
    member(w, "snippet", e->snippet);
    member(w, "stack", e->stack);
    member(w, "suggestion", e->suggestion);
    if (e->has_limit) {
        cs_json_key(w, "limit");
        cs_json_open(w, '{');
        cs_json_key(w, "name");
        cs_json_put_z(w, cs_limit_name(e->limit));
        number(w, "value", e->limit_value);
        cs_json_key(w, "unit");
        cs_json_put_z(w, cs_limit_unit(e->limit));
        cs_json_close(w, '}');
    }
    cs_json_close(w, '}');
}

static void put_logs(struct cs_json_writer *w, const struct cs_result *r)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    cs_json_key(w, "logs");
    cs_json_open(w, '[');
    for (size_t i = 0; i < r->log_count; i++) {
        cs_json_open(w, '{');
        cs_json_key(w, "level");
        cs_json_put_z(w, levels[r->logs[i].level]);
        cs_json_key(w, "text");
        cs_json_put_str(w, r->logs[i].text);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
    if (r->output_cut)
        number(w, "output_bytes_cut", r->output_cut);
}

static void put_list(struct cs_json_writer *w, const char *key, const struct cs_str *list,
                     uint32_t count)
{
    cs_json_key(w, key);
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < count; i++)
        cs_json_put_str(w, list[i]);
    cs_json_close(w, ']');
}

static void put_calls(struct cs_json_writer *w, const struct cs_result *r)
{
    cs_json_key(w, "calls");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < r->tool_calls; i++) {
        const struct cs_call *c = &r->calls[i];
        cs_json_open(w, '{');
        cs_json_key(w, "server");
        cs_json_put_str(w, c->server);
        cs_json_key(w, "tool");
        cs_json_put_str(w, c->tool);
        cs_json_key(w, "status");
        cs_json_put_z(w, cs_call_status_name(c->status));
        cs_json_key(w, "latency_ms");
        cs_json_put_f64(w, (double)c->us / 1000);
        number(w, "argument_bytes", c->argument_bytes);
        number(w, "result_bytes", c->result_bytes);
        if (c->cached) {
            cs_json_key(w, "cached");
            cs_json_put_bool(w, true);
        }
        member(w, "approved_by", c->approved_by);
        member(w, "error", c->error);
        member(w, "drift", c->drift);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
}

static void put_artifacts(struct cs_json_writer *w, const struct cs_result *r)
{
    cs_json_key(w, "artifacts");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < r->artifact_count; i++) {
        const struct cs_artifact *a = &r->artifacts[i];
        cs_json_open(w, '{');
        cs_json_key(w, "id");
        cs_json_put_str(w, a->id);
        member(w, "name", a->name);
        member(w, "media_type", a->media_type);
        member(w, "kind", cs_str(a->kind));
        number(w, "size", a->size);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
    if (!r->left_out_count)
        return;
    cs_json_key(w, "artifacts_left_out");
    cs_json_open(w, '{');
    number(w, "count", r->left_out_count);
    put_list(w, "reasons", r->left_out, r->left_out_named);
    cs_json_close(w, '}');
}

/* Its answer is that of an earlier one. */
static void put_cached(struct cs_json_writer *w, const struct cs_result *r)
{
    if (!r->cached_from.len || r->failed)
        return;
    cs_json_key(w, "cached");
    cs_json_put_bool(w, true);
    member(w, "cached_from", r->cached_from);
    number(w, "cached_age_ms", r->cached_age_ms);
}

static void put_found(struct cs_json_writer *w, const struct cs_masked *all)
{
    cs_json_key(w, "found");
    cs_json_open(w, '{');
    for (int i = 0; i < CS_PII_COUNT; i++)
        if (all->found[i])
            number(w, cs_pii_name((enum cs_pii)i), all->found[i]);
    cs_json_close(w, '}');
    number(w, "tokens", all->fresh);
}

static void put_protection(struct cs_json_writer *w, const struct cs_protection *p)
{
    struct cs_masked all = p->inputs;
    if (!p->is_known)
        return;
    cs_masked_add(&all, &p->results);
    cs_masked_add(&all, &p->outputs);
    cs_json_key(w, "privacy");
    cs_json_open(w, '{');
    cs_json_key(w, "protected");
    cs_json_put_bool(w, p->is_protected);
    if (p->is_protected) {
        member(w, "level", cs_str(cs_privacy_level_name(p->level)));
        put_found(w, &all);
        if (p->unprotected_count)
            put_list(w, "unprotected", p->unprotected, p->unprotected_count);
    } else if (p->why) {
        member(w, "why", cs_str(p->why));
    }
    cs_json_close(w, '}');
}

static double average_latency_ms(const struct cs_result *r)
{
    uint64_t us = 0;
    for (uint32_t i = 0; i < r->tool_calls; i++)
        us += r->calls[i].us;
    return r->tool_calls ? (double)us / r->tool_calls / 1000 : 0;
}

static void put_finding(struct cs_json_writer *w, const struct cs_finding *f)
{
    cs_json_open(w, '{');
    member(w, "id", f->id);
    member(w, "level", cs_str(cs_risk_name(f->level)));
    member(w, "module", f->module);
    if (f->line) {
        number(w, "line", f->line);
        number(w, "column", f->column);
    }
    member(w, "reason", f->reason);
    member(w, "mitigation", f->mitigation);
    cs_json_close(w, '}');
}

static void put_risk(struct cs_json_writer *w, const struct cs_result *r)
{
    static const char *const actions[] = {"allow", "ask", "deny"};
    const struct cs_verdict *v = &r->verdict;
    cs_json_key(w, "risk");
    cs_json_open(w, '{');
    cs_json_key(w, "level");
    cs_json_put_z(w, cs_risk_name(v->risk));
    cs_json_key(w, "action");
    cs_json_put_z(w, actions[v->action]);
    if (v->action != CS_GRANT_ALLOW)
        member(w, "rule", v->rule);
    member(w, "approved_by", r->approved_by);
    cs_json_key(w, "findings");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < v->finding_count && i < FINDINGS; i++)
        put_finding(w, &v->findings[i]);
    cs_json_close(w, ']');
    if (v->finding_count > FINDINGS)
        number(w, "findings_left_out", v->finding_count - FINDINGS);
    put_list(w, "reasons", v->reasons, v->reason_count);
    put_list(w, "mitigations", v->mitigations, v->mitigation_count);
    cs_json_close(w, '}');
}

static void put_metrics(struct cs_json_writer *w, const struct cs_result *r)
{
    cs_json_key(w, "metrics");
    cs_json_open(w, '{');
    cs_json_key(w, "execution_time_ms");
    cs_json_put_f64(w, (double)r->wall_us / 1000);
    cs_json_key(w, "cpu_ms");
    cs_json_put_f64(w, (double)r->cpu_us / 1000);
    cs_json_key(w, "memory_peak_mb");
    cs_json_put_f64(w, (double)(r->memory_peak / 1024) / 1024);
    if (r->queued_us) {
        cs_json_key(w, "queued_ms");
        cs_json_put_f64(w, (double)r->queued_us / 1000);
    }
    if (r->waited_us) {
        cs_json_key(w, "waited_ms");
        cs_json_put_f64(w, (double)r->waited_us / 1000);
    }
    number(w, "tool_calls", r->tool_calls);
    if (r->tool_calls) {
        cs_json_key(w, "avg_tool_latency_ms");
        cs_json_put_f64(w, average_latency_ms(r));
    }
    number(w, "result_size_bytes", r->value.len);
    if (r->tokens_saved)
        number(w, "tokens_saved", r->tokens_saved);
    cs_json_close(w, '}');
}

static void put_hash(struct cs_json_writer *w, const char *key, const unsigned char hash[CS_SHA256])
{
    char hex[2 * CS_SHA256 + 1];
    cs_hex(hash, CS_SHA256, hex);
    cs_json_key(w, key);
    cs_json_put_z(w, hex);
}

static void put_time(struct cs_json_writer *w, const char *key, int64_t ms)
{
    char text[CS_TIME_TEXT];
    cs_json_key(w, key);
    cs_json_put_z(w, cs_time_text_ms(ms, text));
}

/* The last member, and its last one is the hash of the entry in the ledger that says all this: it
 * is not known when this is written. */
static size_t put_provenance(struct cs_json_writer *w, const struct cs_result *r)
{
    const struct cs_provenance *p = &r->provenance;
    size_t at = 0;
    cs_json_key(w, "provenance");
    cs_json_open(w, '{');
    cs_json_key(w, "execution_id");
    cs_json_put_z(w, r->execution_id);
    member(w, "skill_name", p->skill_name);
    member(w, "skill_version", p->skill_version);
    member(w, "actor_id", p->actor_id);
    member(w, "actor_type", p->actor_type);
    put_hash(w, "code_hash", p->code_hash);
    put_hash(w, "inputs_hash", p->inputs_hash);
    put_hash(w, "outputs_hash", p->outputs_hash);
    put_list(w, "tool_ids", p->tool_ids, p->tool_count);
    put_time(w, "timestamp", p->timestamp);
    cs_json_key(w, "execution_time_ms");
    cs_json_put_f64(w, (double)r->wall_us / 1000);
    cs_json_key(w, "success");
    cs_json_put_bool(w, !r->failed);
    cs_json_key(w, "chain_hash");
    if (p->chain_hash[0]) {
        at = w->out->len + 1; /* after the quote */
        cs_json_put_z(w, p->chain_hash);
    } else {
        cs_json_put_null(w);
    }
    cs_json_close(w, '}');
    return at;
}

static void put_limits(struct cs_json_writer *w, const struct cs_limits *limits)
{
    cs_json_key(w, "limits");
    cs_json_open(w, '{');
    for (int i = 0; i < CS_LIMIT_COUNT; i++)
        number(w, cs_limit_name((enum cs_limit)i), cs_limit_get(limits, (enum cs_limit)i));
    cs_json_close(w, '}');
}

void cs_envelope(const struct cs_result *r, struct cs_buf *out)
{
    struct cs_str made = r->earlier.len ? r->earlier : r->envelope;
    if (made.len)
        cs_buf_putstr(out, made);
    else
        cs_envelope_at(r, out);
}

size_t cs_envelope_at(const struct cs_result *r, struct cs_buf *out)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "status");
    cs_json_put_z(&w, cs_status_name(r->status));
    cs_json_key(&w, "execution_id");
    cs_json_put_z(&w, r->execution_id);
    cs_json_key(&w, "session_id");
    if (r->session_id.len)
        cs_json_put_str(&w, r->session_id);
    else
        cs_json_put_null(&w);
    cs_json_key(&w, "language");
    cs_json_put_z(&w, cs_language_name(r->language));
    cs_json_key(&w, "result");
    if (r->value.len && !r->failed)
        cs_json_put_raw(&w, r->value);
    else
        cs_json_put_null(&w);
    if (r->failed)
        put_error(&w, &r->error);
    put_logs(&w, r);
    if (r->is_guest) {
        cs_json_key(&w, "stdout");
        cs_json_put_str(&w, r->out);
        cs_json_key(&w, "stderr");
        cs_json_put_str(&w, r->err);
        cs_json_key(&w, "exit_status");
        if (r->exit_status >= 0)
            cs_json_put_i64(&w, r->exit_status);
        else
            cs_json_put_null(&w);
    }
    put_calls(&w, r);
    put_artifacts(&w, r);
    put_cached(&w, r);
    put_metrics(&w, r);
    put_protection(&w, &r->protection);
    put_risk(&w, r);
    put_limits(&w, &r->limits);
    if (r->not_replayable.len) {
        cs_json_key(&w, "replayable");
        cs_json_put_bool(&w, false);
        member(&w, "not_replayable", r->not_replayable);
    }
    size_t chain_at = put_provenance(&w, r);
    cs_json_close(&w, '}');
    return chain_at;
}
