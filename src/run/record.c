/*
 * What is known of an execution afterwards, and its idempotency key.
 *
 * The row of its begin delays nothing, unless there is a key, where the answer decides whether it
 * runs at all. Its answer leaves only after the row of its end is stored. If the store fails, the
 * execution has failed, whatever it did.
 */

#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "run/journal.h"
#include "run/shield.h"

static struct cs_execution_row row_of(const struct cs_run *run)
{
    return (struct cs_execution_row){
        .id = cs_str(run->result.execution_id),
        .tenant = run->tenant,
        .principal = run->principal,
        .session = run->request.session,
        .status = CS_STR("running"),
        .language = cs_str(cs_language_name(run->result.language)),
        .intent = run->request.intent,
        .key = run->request.key,
        .fingerprint = run->request.fingerprint,
        .durable = run->request.durable,
    };
}

/* --- somebody was here before, with the same key --- */

static int other_request(struct cs_run *run, struct cs_err *err)
{
    run->result.key_reused = true;
    return cs_fail(err, CS_CONFLICT,
                   "the idempotency key was used for another request; send a new key with a new "
                   "request");
}

static struct cs_run *twin_of(const struct cs_run *run)
{
    for (struct cs_run *r = run->runner->runs; r; r = r->next)
        if (r != run && !r->is_joiner && cs_str_eq(r->request.key, run->request.key) &&
            cs_str_eq(r->tenant, run->tenant))
            return r;
    return NULL;
}

/* The answer of the execution that is there: the same one, to both. */
static void on_twin_done(void *ctx, const struct cs_result *result)
{
    struct cs_run *run = ctx;
    run->joined = NULL;
    cs_record_leave(run);
    run->settling = true;
    cs_run_waits_no_more(run);
    run->result = *result;
    if (!result->refused) {
        cs_envelope(result, &run->envelope);
        run->result.earlier = cs_buf_str(&run->envelope);
    }
    cs_run_finish(run);
}

static void on_twin_log(void *ctx, enum cs_level level, struct cs_str text)
{
    cs_seats_log(ctx, level, text);
}

static void on_twin_output(void *ctx, bool is_stderr, struct cs_str bytes)
{
    cs_seats_output(ctx, is_stderr, bytes);
}

static void on_twin_progress(void *ctx, struct cs_str json)
{
    cs_seats_progress(ctx, json);
}

static void on_twin_begun(void *ctx)
{
    cs_seats_begun(ctx);
}

static void on_twin_approval(void *ctx, const struct cs_approval_row *row)
{
    cs_seats_approval(ctx, row);
}

static void on_twin_approval_over(void *ctx, const struct cs_approval_row *row)
{
    cs_seats_approval_over(ctx, row);
}

static void on_soon_closed(uv_handle_t *h)
{
    free(h);
}

static void on_soon(uv_timer_t *t)
{
    struct cs_run *run = t->data;
    uv_close((uv_handle_t *)t, on_soon_closed);
    if (!run)
        return;
    run->soon = NULL;
    cs_seats_begun(run);
}

/* The one that is joined has begun long ago; told from the loop, as all is. */
static void tell_soon(struct cs_run *run)
{
    run->soon = CS_NEW(uv_timer_t);
    uv_timer_init(run->runner->loop, run->soon);
    run->soon->data = run;
    uv_timer_start(run->soon, on_soon, 0, 0);
}

static int join_twin(struct cs_run *run, struct cs_run *twin, struct cs_err *err)
{
    if (!cs_str_eq(twin->request.fingerprint, run->request.fingerprint))
        return other_request(run, err);
    static const struct cs_run_watch watch = {.log = on_twin_log,
                                              .output = on_twin_output,
                                              .progress = on_twin_progress,
                                              .begun = on_twin_begun,
                                              .approval = on_twin_approval,
                                              .approval_over = on_twin_approval_over};
    run->is_joiner = true;
    run->joined = cs_run_join(twin, &watch, on_twin_done, run);
    memcpy(run->result.execution_id, twin->result.execution_id, sizeof run->result.execution_id);
    if (twin->told)
        tell_soon(run);
    return CS_LATER;
}

void cs_record_leave(struct cs_run *run)
{
    if (run->joined)
        cs_run_leave(run->joined);
    run->joined = NULL;
    if (run->soon)
        run->soon->data = NULL;
    run->soon = NULL;
}

static void on_key_taken(struct cs_run *run, const struct cs_execution_row *row)
{
    struct cs_err err = {0};
    run->on_record = false;
    if (!row || !cs_str_eq(row->fingerprint, run->request.fingerprint)) {
        other_request(run, &err);
        cs_run_refuse(run, &err);
        return;
    }
    if (!row->envelope.len) {
        cs_fail(&err, CS_CONFLICT,
                "the execution %.*s, which has the same idempotency key, is still running in "
                "another process; ask for it later",
                CS_STR_ARG(row->id));
        cs_run_refuse(run, &err);
        return;
    }
    cs_buf_putstr(&run->envelope, row->envelope);
    snprintf(run->result.execution_id, sizeof run->result.execution_id, "%.*s",
             CS_STR_ARG(row->id));
    run->result.earlier = cs_buf_str(&run->envelope);
    run->settling = true;
    cs_run_waits_no_more(run);
    cs_run_finish(run);
}

/* --- it begins --- */

/* Nothing more is to be written about it. */
static void stored(struct cs_run *run)
{
    run->end_stored = true;
    if (!run->beginning && !cs_trail_busy(run))
        cs_run_finish(run);
}

static void failed_to_begin(struct cs_run *run, const struct cs_err *err)
{
    struct cs_err why = *err;
    run->on_record = false;
    why.code = CS_SYSTEM;
    cs_wrap(&why, "the execution could not be put on record");
    if (run->request.key.len) {
        cs_run_refuse(run, &why);
        return;
    }
    /* It runs already, or waits: it must not, without a record. */
    run->record_error = why;
    cs_run_cancel(run);
}

/* Once, when it is on record and nothing can refuse it any more. */
static void tell_begun(struct cs_run *run)
{
    if (!run->on_record || run->beginning || !run->admitted || run->told || run->settling)
        return;
    run->told = true;
    cs_seats_begun(run);
}

int cs_step_begun(struct cs_run *run, struct cs_err *err)
{
    (void)err;
    run->admitted = true;
    tell_begun(run);
    return run->settling ? CS_LATER : CS_ON; /* they may have cancelled it */
}

static void go_on(struct cs_run *run)
{
    static const struct cs_err none;
    if (!run->request.key.len)
        tell_begun(run);
    else if (run->cancelled)
        cs_run_end_early(run, CS_ENDED_CANCELLED, &none);
    else
        cs_run_go(run);
}

static void on_begun(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                     size_t count)
{
    struct cs_run *run = ctx;
    bool keyed = run->request.key.len > 0;
    run->beginning = false;
    if (run->end_stored)
        stored(run);
    else if (err->code == CS_CONFLICT && keyed)
        on_key_taken(run, count ? rows : NULL);
    else if (err->code != CS_OK)
        failed_to_begin(run, err);
    else
        go_on(run);
}

int cs_step_begin(struct cs_run *run, struct cs_err *err)
{
    bool keyed = run->request.key.len > 0;
    struct cs_run *twin = keyed ? twin_of(run) : NULL;
    if (twin)
        return join_twin(run, twin, err);
    if (!cs_run_store(run))
        return CS_ON;
    struct cs_execution_row row = row_of(run);
    struct cs_execution_more more = {0};
    row.created = cs_time_ms();
    run->on_record = run->beginning = true;
    cs_trail_admitted(run);
    cs_trail_take(run, &more);
    if (!cs_shield_waits_for_session(run))
        cs_journal_admit(run);
    cs_journal_take(run, &more);
    cs_store_execution_admit(run->runner->store, &row, &more, on_begun, run);
    cs_journal_taken(run);
    return keyed ? CS_LATER : CS_ON;
}

/* --- it has ended --- */

/* What became of it is on record, or not, and nobody is told an answer that is not. */
static void unanswer(struct cs_run *run, const struct cs_err *why)
{
    run->result.envelope = (struct cs_str){0};
    run->result.provenance.chain_hash[0] = '\0';
    cs_settle_fault(run, why);
}

void cs_record_flown(struct cs_run *run, const struct cs_err *err)
{
    if (err->code) {
        struct cs_err why = *err;
        why.code = CS_SYSTEM;
        cs_wrap(&why, "what it did could not be put on record");
        if (!run->record_error.code)
            run->record_error = why;
        if (run->end_stored)
            unanswer(run, &why);
        else
            cs_run_cancel(run);
    }
    if (run->end_stored) {
        stored(run);
    } else if (run->end_waits && !cs_trail_busy(run)) {
        run->end_waits = false;
        cs_run_go(run);
    }
}

/* The entry of its end has its place in the chain, and the answer says which. */
static void patch_chain(struct cs_run *run, const unsigned char hash[CS_SHA256])
{
    struct cs_provenance *p = &run->result.provenance;
    cs_hex(hash, CS_SHA256, p->chain_hash);
    if (run->chain_at)
        memcpy(run->envelope.at + run->chain_at, p->chain_hash, 2 * CS_SHA256);
}

static void on_end(void *ctx, const struct cs_err *err, const unsigned char chain_hash[CS_SHA256])
{
    struct cs_run *run = ctx;
    /* If the store has failed before, and not now, that is on record as its end. */
    struct cs_err why = run->record_error.code ? run->record_error : *err;
    if (!run->record_error.code)
        cs_wrap(&why, "how it ended could not be put on record");
    if (err->code) {
        why.code = CS_SYSTEM;
        unanswer(run, &why);
    } else {
        patch_chain(run, chain_hash);
        cs_trail_flush(run); /* what came back too late for its end to take it along */
    }
    stored(run);
}

static void on_dropped(void *ctx, const struct cs_err *err)
{
    (void)err; /* it is as good as lost, and the next start of the store clears it away */
    stored(ctx);
}

static void put_on_record(struct cs_run *run)
{
    struct cs_result *r = &run->result;
    struct cs_execution_row row = row_of(run);
    struct cs_execution_more more = {0};
    struct cs_measure measure;
    CS_AUTO_BUF struct cs_buf tools = {0}, masked = {0};
    cs_measure_of(run, r->provenance.timestamp, &tools, &masked, &measure);
    memset(r->provenance.chain_hash, '0', 2 * CS_SHA256);
    cs_buf_clear(&run->envelope);
    run->chain_at = cs_envelope_at(r, &run->envelope);
    r->envelope = cs_buf_str(&run->envelope);
    row.status = cs_str(cs_status_name(r->status));
    row.error_type = measure.error_type;
    row.envelope = r->envelope;
    row.finished = r->provenance.timestamp;
    cs_shield_settled(run);
    cs_trail_settled(run);
    cs_trail_take(run, &more);
    cs_journal_take(run, &more);
    more.chain_at = run->chain_at;
    more.measure = &measure;
    cs_cache_record(run);
    cs_store_execution_settle(run->runner->store, &row, &more, on_end, run);
    cs_shield_wipe(run);
}

int cs_step_end(struct cs_run *run, struct cs_err *err)
{
    struct cs_result *r = &run->result;
    (void)err;
    /* If entries were refused, others may come back, which its end has to take along. */
    run->end_waits = run->record_error.code != CS_OK && cs_trail_busy(run);
    if (run->end_waits || cs_journal_busy(run)) {
        run->step--; /* it comes back */
        return CS_LATER;
    }
    cs_journal_made(run);
    if (run->record_error.code != CS_OK)
        cs_settle_fault(run, &run->record_error);
    if (!r->refused)
        cs_provenance_fill(run);
    cs_shield_prepare(run);
    if (!run->on_record) {
        run->end_stored = true;
        return run->beginning ? CS_LATER : CS_ON;
    }
    if (r->refused)
        cs_store_execution_drop(run->runner->store, run->tenant, cs_str(r->execution_id),
                                on_dropped, run);
    else
        put_on_record(run);
    return CS_LATER;
}
