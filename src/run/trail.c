/*
 * Entries of the ledger about an execution: hashes, sizes, numbers and names, never a value.
 *
 * They wait here, in their order, until the record of its begin or end takes them along; when a
 * tool is called they go ahead, so that a process that is killed leaves a trace of what it did.
 * Those that could not be written come back: the execution has failed, and its end takes them
 * along. Members stand in the order of their names: that is their canonical form.
 */
#include <stdio.h>

#include "base/canon.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/utf8.h"
#include "policy/judge.h"
#include "run/journal.h"
#include "run/shield.h"

#define NAME_BYTES 80
#define FINDINGS   20

/* Refusals cost whoever is refused nothing, so only so many a second are entered. */
#define REFUSALS_A_SECOND 10

struct note {
    const char *event;
    size_t at, len; /* of its data, in `texts` */
    int64_t time;
};

struct notes {
    struct cs_buf texts;
    struct note *all;
    size_t count, cap;
};

struct cs_trail {
    struct notes notes;
    struct cs_entry *entries; /* as they were taken */
    size_t entry_cap;
    bool taken;          /* what is there is somebody else's by now */
    struct cs_run *run;  /* NULL: it is gone, and some are still on their way */
    unsigned on_the_way; /* flights */
};

/* Some that were sent ahead. If they do not arrive, they are there to be sent again. */
struct flight {
    struct cs_trail *trail;
    struct notes notes;
};

/* --- gathered, and handed on --- */

static void notes_done(struct notes *n)
{
    cs_buf_done(&n->texts);
    free(n->all);
    *n = (struct notes){0};
}

static void add(struct cs_trail *t, const char *event, struct cs_str data, int64_t time)
{
    struct notes *n = &t->notes;
    if (t->taken) {
        n->count = 0;
        cs_buf_clear(&n->texts);
        t->taken = false;
    }
    if (n->count == n->cap) {
        n->cap = n->cap ? 2 * n->cap : 4;
        n->all = cs_realloc(n->all, n->cap, sizeof *n->all);
    }
    n->all[n->count++] = (struct note){event, n->texts.len, data.len, time};
    cs_buf_putstr(&n->texts, data);
}

void cs_trail_note(struct cs_run *run, const char *event, struct cs_str data)
{
    if (!cs_run_store(run))
        return;
    if (!run->trail) {
        run->trail = CS_NEW(struct cs_trail);
        run->trail->run = run;
    }
    add(run->trail, event, data, cs_time_ms());
}

void cs_trail_take(struct cs_run *run, struct cs_execution_more *more)
{
    struct cs_trail *t = run->trail;
    if (!t || t->taken)
        return;
    const struct notes *n = &t->notes;
    if (t->entry_cap < n->count) {
        t->entry_cap = n->cap;
        t->entries = cs_realloc(t->entries, t->entry_cap, sizeof *t->entries);
    }
    for (size_t i = 0; i < n->count; i++)
        t->entries[i] = (struct cs_entry){
            .event = cs_str(n->all[i].event),
            .tenant = run->tenant,
            .principal = run->principal,
            .session = run->request.session,
            .execution = cs_str(run->result.execution_id),
            .data = cs_strn(n->texts.at + n->all[i].at, n->all[i].len),
            .time = n->all[i].time,
        };
    more->entries = t->entries;
    more->entry_count = n->count;
    t->taken = true;
}

static void forget(struct cs_trail *t)
{
    t->run = NULL;
    if (t->on_the_way)
        return; /* on_flown frees it */
    notes_done(&t->notes);
    free(t->entries);
    free(t);
}

static void on_flown(void *ctx, const struct cs_err *err)
{
    struct flight *f = ctx;
    struct cs_trail *t = f->trail;
    t->on_the_way--;
    if (!t->run) {
        forget(t);
    } else {
        for (size_t i = 0; err->code && i < f->notes.count; i++) {
            const struct note *n = &f->notes.all[i];
            add(t, n->event, cs_strn(f->notes.texts.at + n->at, n->len), n->time);
        }
        cs_record_flown(t->run, err);
    }
    notes_done(&f->notes);
    free(f);
}

void cs_trail_flush(struct cs_run *run)
{
    struct cs_trail *t = run->trail;
    struct cs_execution_more more = {0};
    cs_trail_take(run, &more);
    if (!more.entry_count)
        return;
    struct flight *f = CS_NEW(struct flight);
    t->on_the_way++;
    *f = (struct flight){t, t->notes};
    cs_store_append(run->runner->store, more.entries, more.entry_count, on_flown, f);
    t->notes = (struct notes){0};
}

bool cs_trail_busy(const struct cs_run *run)
{
    return run->trail && run->trail->on_the_way > 0;
}

void cs_trail_done(struct cs_run *run)
{
    if (run->trail)
        forget(CS_TAKE(run->trail));
}

/* --- what is written --- */

static void put_number(struct cs_json_writer *w, const char *key, uint64_t value)
{
    cs_json_key(w, key);
    cs_json_put_u64(w, value);
}

static void put_flag(struct cs_json_writer *w, const char *key, bool value)
{
    cs_json_key(w, key);
    cs_json_put_bool(w, value);
}

static void put_hash(struct cs_json_writer *w, const char *key, const unsigned char hash[CS_SHA256])
{
    char hex[2 * CS_SHA256 + 1];
    cs_hex(hash, CS_SHA256, hex);
    cs_json_key(w, key);
    cs_json_put_z(w, hex);
}

static void put_hash_of(struct cs_json_writer *w, const char *key, struct cs_str bytes)
{
    unsigned char hash[CS_SHA256];
    cs_sha256(bytes, hash);
    put_hash(w, key, hash);
}

/* A program chooses the names it calls: what is no plain character of a name becomes one that is.
 */
static void put_name(struct cs_json_writer *w, const char *key, struct cs_str name)
{
    char plain[NAME_BYTES];
    name = cs_utf8_cut(name, NAME_BYTES);
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];
        plain[i] = c < 0x20 || c == 0x7F ? '?' : name.at[i];
    }
    cs_json_key(w, key);
    cs_json_put_str(w, cs_strn(plain, name.len));
}

static bool is_there(const unsigned char hash[CS_SHA256])
{
    static const unsigned char none[CS_SHA256];
    return memcmp(hash, none, CS_SHA256) != 0;
}

static void note(struct cs_run *run, const char *event, struct cs_json_writer *w)
{
    cs_json_close(w, '}');
    cs_trail_note(run, event, cs_buf_str(w->out));
}

/* Of the canonical form of what was asked for: {"calls_at_once":8,...}. */
static void put_limits_hash(struct cs_json_writer *w, const struct cs_limits *limits)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer l = CS_JSON_WRITER(&json);
    unsigned char hash[CS_SHA256];
    cs_json_open(&l, '{');
    for (int i = 0; i < CS_LIMIT_COUNT; i++)
        put_number(&l, cs_limit_name((enum cs_limit)i), cs_limit_get(limits, (enum cs_limit)i));
    cs_json_close(&l, '}');
    cs_canon_hash(cs_buf_str(&json), hash);
    put_hash(w, "limits_hash", hash);
}

static void put_inputs(struct cs_json_writer *w, const struct cs_run *run)
{
    put_number(w, "inputs_bytes", run->request.inputs.len);
    put_hash(w, "inputs_hash", run->result.provenance.inputs_hash);
}

void cs_trail_admitted(struct cs_run *run)
{
    const struct cs_request *r = &run->request;
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    if (!cs_run_store(run))
        return;
    cs_json_open(&w, '{');
    put_name(&w, "actor_type", run->result.provenance.actor_type);
    put_number(&w, "code_bytes", r->code.len);
    put_hash(&w, "code_hash", run->result.provenance.code_hash);
    put_flag(&w, "durable", r->durable);
    if (!cs_shield_waits_for_session(run))
        put_inputs(&w, run);
    if (r->intent.len) {
        put_number(&w, "intent_bytes", r->intent.len);
        put_hash_of(&w, "intent_hash", r->intent);
    }
    if (r->key.len)
        put_hash_of(&w, "key_hash", r->key);
    put_name(&w, "language", cs_str(cs_language_name(r->language)));
    put_limits_hash(&w, &r->limits);
    note(run, "execution.admitted", &w);
}

/* "HIGH eval": which rules found something, each once, the worst first. */
static void put_findings(struct cs_json_writer *w, const struct cs_verdict *v)
{
    uint32_t shown = 0;
    if (!v->finding_count)
        return;
    cs_json_key(w, "findings");
    cs_json_open(w, '[');
    for (uint32_t i = 0; i < v->finding_count && shown < FINDINGS; i++) {
        const struct cs_finding *f = &v->findings[i];
        char text[NAME_BYTES + 16];
        uint32_t k = 0;
        while (k < i && !cs_str_eq(v->findings[k].id, f->id))
            k++;
        if (k < i)
            continue;
        struct cs_str id = cs_utf8_cut(f->id, NAME_BYTES);
        snprintf(text, sizeof text, "%s %.*s", cs_risk_name(f->level), CS_STR_ARG(id));
        cs_json_put_z(w, text);
        shown++;
    }
    cs_json_close(w, ']');
}

static void put_verdict(struct cs_json_writer *w, const struct cs_verdict *v)
{
    CS_AUTO_BUF struct cs_buf reasons = {0};
    for (uint32_t i = 0; i < v->reason_count; i++) {
        cs_buf_putstr(&reasons, v->reasons[i]);
        cs_buf_putc(&reasons, '\n');
    }
    static const char *const actions[] = {"allow", "ask", "deny"};
    put_name(w, "action", cs_str(actions[v->action]));
    put_flag(w, "allowed", v->action != CS_GRANT_DENY);
    put_findings(w, v);
    if (v->modules_hash[0])
        put_name(w, "modules_hash", cs_str(v->modules_hash));
    put_number(w, "reasons", v->reason_count);
    put_hash_of(w, "reasons_hash", cs_buf_str(&reasons));
    put_name(w, "risk", cs_str(cs_risk_name(v->risk)));
    if (v->rule.len)
        put_name(w, "rule", v->rule);
}

static void note_verdict(struct cs_run *run, const char *event, const struct cs_verdict *v)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    if (!cs_run_store(run))
        return;
    cs_json_open(&w, '{');
    put_verdict(&w, v);
    note(run, event, &w);
}

void cs_trail_assessed(struct cs_run *run)
{
    note_verdict(run, "execution.assessed", &run->result.verdict);
}

void cs_trail_imported(struct cs_run *run, const struct cs_verdict *late)
{
    note_verdict(run, "execution.imported", late);
}

/* What it sees of the tools; the same catalogue is hashed once. */
static const unsigned char *tools_hash(struct cs_run *run)
{
    struct cs_runner *r = run->runner;
    if (r->hashed == cs_catalogue_serial(run->catalogue))
        return r->tools_hash;
    CS_AUTO_BUF struct cs_buf all = {0};
    for (size_t i = 0; i < cs_catalogue_count(run->catalogue); i++) {
        const struct cs_tool *t = cs_catalogue_at(run->catalogue, i);
        unsigned char hash[CS_SHA256];
        cs_sha256(t->input, hash);
        cs_buf_printf(&all, "%.*s/%.*s\n", CS_STR_ARG(t->server), CS_STR_ARG(t->name));
        cs_buf_put(&all, hash, sizeof hash);
    }
    cs_sha256(cs_buf_str(&all), r->tools_hash);
    r->hashed = cs_catalogue_serial(run->catalogue);
    return r->tools_hash;
}

void cs_trail_started(struct cs_run *run)
{
    static const char *const clocks[] = {"events", "live", "replay"};
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    if (!cs_run_store(run))
        return;
    cs_json_open(&w, '{');
    put_name(&w, "clock", cs_str(clocks[run->request.clock]));
    if (cs_shield_waits_for_session(run)) /* it did, and they are masked now */
        put_inputs(&w, run);
    put_number(&w, "queued_ms", run->result.queued_us / 1000);
    if (run->catalogue) {
        put_number(&w, "tools", cs_catalogue_count(run->catalogue));
        put_hash(&w, "tools_hash", tools_hash(run));
    }
    note(run, "execution.started", &w);
}

void cs_trail_call(struct cs_run *run, const struct cs_call *call)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    if (!cs_run_store(run))
        return;
    cs_json_open(&w, '{');
    if (call->approved_by.len)
        put_name(&w, "approved_by", call->approved_by);
    put_number(&w, "argument_bytes", call->argument_bytes);
    put_hash(&w, "argument_hash", call->argument_hash);
    put_flag(&w, "cached", call->cached);
    put_number(&w, "call", (uint64_t)(call - run->records) + 1);
    put_number(&w, "ms", call->us / 1000);
    put_number(&w, "result_bytes", call->result_bytes);
    if (is_there(call->result_hash))
        put_hash(&w, "result_hash", call->result_hash);
    put_name(&w, "server", call->server);
    put_name(&w, "status", cs_str(cs_call_status_name(call->status)));
    put_name(&w, "tool", call->tool);
    note(run, "call.made", &w);
    cs_trail_flush(run);
}

static uint64_t output_bytes(const struct cs_result *r)
{
    uint64_t sum = r->out.len + r->err.len;
    for (size_t i = 0; i < r->log_count; i++)
        sum += r->logs[i].text.len;
    return sum;
}

void cs_trail_settled(struct cs_run *run)
{
    const struct cs_result *r = &run->result;
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    if (!cs_run_store(run))
        return;
    cs_json_open(&w, '{');
    if (r->approved_by.len)
        put_name(&w, "approved_by", r->approved_by);
    put_number(&w, "artifacts", r->artifact_count);
    if (r->cached_from.len)
        put_name(&w, "cached_from", r->cached_from);
    put_number(&w, "calls", r->tool_calls);
    put_number(&w, "cpu_ms", r->cpu_us / 1000);
    if (r->failed)
        put_name(&w, "error_type", cs_str(cs_error_type_name(r->error.type)));
    unsigned char journal[CS_SHA256];
    if (cs_journal_hash(run, journal))
        put_hash(&w, "journal_hash", journal);
    put_number(&w, "log_bytes", output_bytes(r));
    put_number(&w, "memory_peak", r->memory_peak);
    put_hash(&w, "outputs_hash", r->provenance.outputs_hash);
    put_flag(&w, "replayable", !r->not_replayable.len);
    put_number(&w, "result_bytes", r->value.len);
    put_name(&w, "status", cs_str(cs_status_name(r->status)));
    put_number(&w, "tools", r->provenance.tool_count);
    if (r->waited_us)
        put_number(&w, "waited_ms", r->waited_us / 1000);
    put_number(&w, "wall_ms", r->wall_us / 1000);
    note(run, "execution.settled", &w);
}

/* --- not even begun --- */

void cs_trail_refused(struct cs_run *run, const struct cs_err *err)
{
    struct cs_runner *r = run->runner;
    if (!cs_run_store(run))
        return;
    int64_t now = cs_time_ms();
    if (now / 1000 != r->refusal_second) {
        r->refusal_second = now / 1000;
        r->refusals = 0;
    }
    if (++r->refusals > REFUSALS_A_SECOND) {
        r->refusals_left_out++;
        return;
    }
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    cs_json_open(&w, '{');
    put_name(&w, "code", cs_str(cs_code_name(err->code)));
    put_number(&w, "code_bytes", run->request.code.len);
    if (r->refusals_left_out)
        put_number(&w, "left_out", r->refusals_left_out);
    cs_json_close(&w, '}');
    r->refusals_left_out = 0;
    const struct cs_entry entry = {
        .event = CS_STR("execution.refused"),
        .tenant = cs_utf8_cut(run->tenant, NAME_BYTES),
        .principal = cs_utf8_cut(run->principal, NAME_BYTES),
        .data = cs_buf_str(&data),
        .time = now,
    };
    cs_store_append(r->store, &entry, 1, NULL, NULL);
}
