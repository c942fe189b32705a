/*
 * Executions that outlive their process. Whoever starts, and once a minute, looks for durable ones
 * whose process is gone: they are played from their journals up to where they stood, and go on. One
 * whose journal is damaged is settled as lost, as the store does with all that are not durable.
 */
#include "run/resume.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/time.h"
#include "run/guard.h"

#define LOOK_MS  (60u * 1000)
#define AGAIN_MS 1000 /* after a look that failed */

/* Lives as long as something of it is under way, even after its runner. */
struct cs_resumer {
    struct cs_runner *runner; /* NULL: closed */
    struct cs_store *store;
    uv_timer_t timer;
    unsigned pending; /* operations, and the timer */
    bool looking;
};

/* One that is being taken over. */
struct orphan {
    struct cs_resumer *resumer;
    struct cs_execution_row row; /* its texts are in `arena` */
    struct cs_resume *resume;    /* as far as it was read */
    struct cs_arena arena;
};

static void look(struct cs_resumer *s);
static void on_look(uv_timer_t *t);

static void less(struct cs_resumer *s)
{
    if (--s->pending == 0)
        free(s);
}

static void orphan_free(struct orphan *o)
{
    cs_resume_free(o->resume);
    cs_arena_done(&o->arena);
    free(o);
}

/* --- lost --- */

static void on_settled(void *ctx, const struct cs_err *err, const unsigned char chain_hash[32])
{
    struct orphan *o = ctx;
    (void)chain_hash;
    if (err->code != CS_OK && err->code != CS_MISSING)
        cs_log_line(CS_LOG_ERROR, "resume", "an execution that is lost stays so: %s execution=%.*s",
                    err->msg, CS_STR_ARG(o->row.id));
    less(o->resumer);
    orphan_free(o);
}

static void lost_envelope(const struct cs_execution_row *row, struct cs_str message,
                          struct cs_buf *out)
{
    struct cs_result r = {.status = CS_STATUS_CANCELLED,
                          .session_id = row->session,
                          .failed = true,
                          .exit_status = -1,
                          .limits = cs_limits_default()};
    snprintf(r.execution_id, sizeof r.execution_id, "%.*s", CS_STR_ARG(row->id));
    cs_language_parse(row->language, &r.language, NULL);
    r.is_guest = r.language != CS_TYPESCRIPT;
    r.error.type = CS_ERROR_INTERNAL;
    r.error.message = message;
    r.error.suggestion = CS_STR("Look what its calls have done; then run it again, if it may run "
                                "twice.");
    r.provenance.actor_id = row->principal;
    r.provenance.timestamp = cs_time_ms();
    cs_envelope(&r, out);
}

/* Takes the orphan. `reason` is for the ledger, `message` for people. */
static void settle_lost(struct orphan *o, const char *reason, struct cs_str message)
{
    CS_AUTO_BUF struct cs_buf envelope = {0}, data = {0};
    struct cs_execution_row row = o->row;
    cs_buf_printf(&data,
                  "{\"error\":\"internal_error\",\"lost\":true,\"reason\":\"%s\","
                  "\"status\":\"cancelled\"}",
                  reason);
    lost_envelope(&row, message, &envelope);
    row.status = CS_STR("cancelled");
    row.error_type = CS_STR("internal_error");
    row.envelope = cs_buf_str(&envelope);
    row.finished = cs_time_ms();
    struct cs_entry entry = {.event = CS_STR("execution.settled"),
                             .tenant = row.tenant,
                             .principal = row.principal,
                             .session = row.session,
                             .execution = row.id,
                             .data = cs_buf_str(&data)};
    struct cs_execution_more more = {.entries = &entry, .entry_count = 1};
    cs_log_line(CS_LOG_WARN, "resume", "lost: %.*s execution=%.*s", CS_STR_ARG(message),
                CS_STR_ARG(row.id));
    cs_store_execution_settle(o->resumer->store, &row, &more, on_settled, o);
    cs_buf_clear(&data);
    cs_buf_printf(&data, "%.*s/%.*s", CS_STR_ARG(row.tenant), CS_STR_ARG(row.id));
    cs_store_vault_wipe(o->resumer->store, cs_buf_str(&data), NULL, NULL);
}

/* --- taken over --- */

static void on_done(void *ctx, const struct cs_result *result)
{
    (void)ctx, (void)result; /* whoever wants to know finds it on record */
}

static unsigned ambiguous_calls(const struct cs_journal_doc *doc)
{
    unsigned sent = 0;
    for (size_t i = 0; i < doc->count; i++) {
        if (doc->events[i].kind != CS_JOURNAL_SENT)
            continue;
        bool open = true;
        for (size_t k = i + 1; open && k < doc->count; k++) {
            const struct cs_journal_event *a = &doc->events[i], *b = &doc->events[k];
            open = !(a->occurrence == b->occurrence && memcmp(a->key, b->key, sizeof a->key) == 0);
        }
        sent += open;
    }
    return sent;
}

static struct cs_request request_of(const struct orphan *o, const struct cs_journal_doc *doc)
{
    return (struct cs_request){
        .language = doc->language,
        .code = doc->texts[CS_TEXT_CODE].text,
        .inputs = doc->texts[CS_TEXT_INPUTS].text,
        .limits = doc->limits,
        .principal = o->row.principal,
        .tenant = o->row.tenant,
        .session = o->row.session,
        .intent = o->row.intent,
        .key = o->row.key,
        .fingerprint = o->row.fingerprint,
        .actor_type = doc->actor_type,
        .durable = true,
        .cache = doc->begun ? CS_CACHE_OFF : doc->cache,
        .privacy = doc->asked,
        .no_privacy = !doc->is_protected,
    };
}

/* Takes what was read. */
static void go_on(struct orphan *o)
{
    struct cs_resume *r = CS_TAKE(o->resume);
    struct cs_request request = request_of(o, &r->doc);
    struct cs_run *run = cs_run_resumed(o->resumer->runner, &request, o->row.id, on_done, NULL);
    run->resume = r;
    if (r->doc.begun) {
        memcpy(run->seed, r->doc.seed, sizeof run->seed);
        run->player = cs_player_new(run, &r->doc);
    }
    CS_AUTO_BUF struct cs_buf data = {0};
    cs_buf_printf(&data, "{\"ambiguous\":%u,\"played\":%zu}", ambiguous_calls(&r->doc),
                  r->doc.count);
    bool was_asked = cs_str_is(o->row.status, "awaiting_approval");
    if (was_asked && !cs_resume_begun(run))
        cs_guarded_of(run)->must_ask = true;
    if (!cs_str_is(o->row.status, "running")) /* whether it asks again is not known yet */
        cs_store_execution_status(o->resumer->store, o->row.id, CS_STR("running"), NULL, NULL);
    cs_trail_note(run, "execution.resumed", cs_buf_str(&data));
    cs_trail_flush(run);
    cs_log_line(CS_LOG_INFO, "resume", "goes on after %zu events execution=%.*s", r->doc.count,
                CS_STR_ARG(o->row.id));
    cs_run_go(run);
}

static void on_loaded(void *ctx, const struct cs_err *err)
{
    struct orphan *o = ctx;
    struct cs_resumer *s = o->resumer;
    if (err->code != CS_OK && s->runner) {
        CS_AUTO_BUF struct cs_buf message = {0};
        bool missing = err->code == CS_MISSING && !o->resume->journal.len;
        cs_buf_printf(&message,
                      "the process that ran this durable execution ended, and it cannot go on: %s",
                      missing ? "it has no journal" : err->msg);
        settle_lost(o, missing ? "journal_missing" : "journal_damaged", cs_buf_str(&message));
        return;
    }
    if (s->runner) /* else the next process finds it */
        go_on(o);
    orphan_free(o);
    less(s);
}

static void on_journal(void *ctx, const struct cs_err *err, struct cs_str journal)
{
    struct orphan *o = ctx;
    struct cs_err why = *err;
    o->resume = CS_NEW(struct cs_resume);
    cs_buf_putstr(&o->resume->journal, journal);
    if (why.code == CS_OK)
        cs_journal_read(cs_buf_str(&o->resume->journal), &o->resume->doc, &why);
    if (why.code == CS_OK)
        cs_journal_load(o->resumer->store, &o->resume->doc, on_loaded, o);
    else
        on_loaded(o, &why);
}

static void take_over(struct cs_resumer *s, const struct cs_execution_row *row)
{
    struct orphan *o = CS_NEW(struct orphan);
    struct cs_execution_row *r = &o->row;
    o->resumer = s;
    *r = *row;
    struct cs_str *const texts[] = {&r->id,     &r->tenant,     &r->principal, &r->session,
                                    &r->status, &r->error_type, &r->language,  &r->intent,
                                    &r->key,    &r->fingerprint};
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        *texts[i] = cs_arena_dup(&o->arena, *texts[i]);
    r->envelope = (struct cs_str){0};
    s->pending++;
    cs_store_journal_get(s->store, r->tenant, r->id, on_journal, o);
}

/* One after the other, until there is none. */
static void on_adopted(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                       size_t count)
{
    struct cs_resumer *s = ctx;
    s->looking = false;
    if (err->code != CS_OK && err->code != CS_MISSING) {
        cs_log_line(CS_LOG_ERROR, "resume", "what others left behind cannot be read: %s", err->msg);
        if (s->runner)
            uv_timer_start(&s->timer, on_look, AGAIN_MS, LOOK_MS);
    } else if (count && s->runner) {
        take_over(s, rows);
        look(s);
    }
    less(s);
}

static void look(struct cs_resumer *s)
{
    if (s->looking || !s->runner)
        return;
    s->looking = true;
    s->pending++;
    cs_store_execution_adopt(s->store, on_adopted, s);
}

static void on_look(uv_timer_t *t)
{
    look(t->data);
}

void cs_runner_resume(struct cs_runner *runner)
{
    if (!runner->store || runner->resumer)
        return;
    struct cs_resumer *s = CS_NEW(struct cs_resumer);
    s->runner = runner;
    s->store = runner->store;
    s->pending = 1;
    uv_timer_init(runner->loop, &s->timer);
    s->timer.data = s;
    uv_timer_start(&s->timer, on_look, LOOK_MS, LOOK_MS);
    uv_unref((uv_handle_t *)&s->timer);
    runner->resumer = s;
    look(s);
}

static void on_closed(uv_handle_t *h)
{
    less(h->data);
}

void cs_resumer_close(struct cs_resumer *s)
{
    if (!s)
        return;
    s->runner = NULL;
    uv_close((uv_handle_t *)&s->timer, on_closed);
}
