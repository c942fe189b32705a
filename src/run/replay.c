/*
 * An execution again, from its journal, without the world: no tool is connected, no session is
 * touched, and nothing is kept but an entry in the ledger.
 *
 *     its row -> its journal -> the ledger has its hash -> large texts of it
 *         -> a run that hears what was recorded -> a report
 *
 * A program that asks for something that was not recorded has parted from the record: the same one
 * must not, and a changed one is told what there is. The same one also hears what was said about it
 * then; a changed one is judged as any other, as a program of whoever replays it, but nobody is
 * asked.
 */
#include <stdio.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/utf8.h"
#include "run/guard.h"
#include "run/journal.h"

#define NAME_SHOWN 80
#define LISTED     12

/* One that was cancelled is given so much longer than it ran then: it may never end by itself. */
#define LONGER    4
#define LONGER_MS 2000

struct cs_again {
    struct cs_runner *runner;
    struct cs_arena arena;
    struct cs_str tenant, principal, execution, code; /* as asked for */
    bool changed;                                     /* `code` is another program */
    struct cs_str recorded;                           /* the envelope of then */
    struct cs_buf journal;
    bool verified; /* it is the one that the ledger has the hash of */
    struct cs_journal_doc doc;
    struct cs_overlay *overlay;
    bool stuck;            /* nothing was left that it could have been told */
    struct cs_err damaged; /* an answer that was recorded is not there */
    uint32_t call;
    struct cs_str server, tool, why; /* where they parted */
    bool perhaps;                    /* parted only if not all that was recorded is heard */
    struct cs_str state;             /* that it would have left */
    void (*done)(void *ctx, const struct cs_replayed *replayed);
    void *ctx;
};

static void finish(struct cs_again *a, const struct cs_replayed *replayed)
{
    a->done(a->ctx, replayed);
    cs_overlay_free(a->overlay);
    cs_journal_doc_done(&a->doc);
    cs_buf_done(&a->journal);
    cs_arena_done(&a->arena);
    free(a);
}

static void fail(struct cs_again *a, const struct cs_err *err)
{
    struct cs_replayed replayed = {.err = *err};
    struct cs_runner *r = a->runner;
    finish(a, &replayed);
    cs_runner_again_over(r);
}

/* Somebody or something else ended it then; it would have gone on. */
static bool from_outside(const struct cs_journal_doc *doc)
{
    return doc->ended && (doc->how == CS_ENDED_CANCELLED ||
                          (doc->how == CS_ENDED_LIMIT && doc->limit == CS_LIMIT_WALL_CLOCK));
}

/* It stands where the other one stood when it was ended, or waits for what never comes. */
static void stop(struct cs_run *run)
{
    run->again->stuck = true;
    cs_job_cancel(run->job);
}

/* --- where they part --- */

static void part(struct cs_run *run, struct cs_str server, struct cs_str tool, const char *why)
{
    struct cs_again *a = run->again;
    if (a->why.len || a->changed)
        return;
    a->call = run->result.tool_calls;
    a->server = cs_arena_dup(&a->arena, cs_utf8_cut(server, NAME_SHOWN));
    a->tool = cs_arena_dup(&a->arena, cs_utf8_cut(tool, NAME_SHOWN));
    a->why = cs_arena_dup(&a->arena, cs_str(why));
}

/* "github.listCommits (3), files.read" */
static void list_answers(const struct cs_again *a, struct cs_buf *out)
{
    size_t listed = 0, left_out = 0;
    for (size_t i = 0; i < a->doc.count; i++) {
        const struct cs_journal_event *e = &a->doc.events[i];
        if (e->kind != CS_JOURNAL_HEARD || !e->call)
            continue;
        bool seen = false;
        unsigned times = 1;
        for (size_t k = 0; k < a->doc.count && !seen; k++) {
            const struct cs_journal_event *o = &a->doc.events[k];
            bool same = o->kind == CS_JOURNAL_HEARD && o->call && cs_str_eq(o->tool, e->tool) &&
                        cs_str_eq(o->server, e->server);
            seen = same && k < i;
            times += same && k > i;
        }
        if (seen)
            continue;
        if (listed == LISTED) {
            left_out++;
            continue;
        }
        cs_buf_printf(out, "%s%.*s.%.*s", listed++ ? ", " : "", CS_STR_ARG(e->server),
                      CS_STR_ARG(e->tool));
        if (times > 1)
            cs_buf_printf(out, " (%u)", times);
    }
    if (!listed)
        cs_buf_puts(out, "none");
    if (left_out)
        cs_buf_printf(out, " and %zu more", left_out);
}

static void refuse_call(struct cs_run *run, const struct cs_wish *wish)
{
    CS_AUTO_BUF struct cs_buf json = {0}, message = {0}, known = {0};
    struct cs_str server = cs_utf8_cut(wish->server, NAME_SHOWN);
    struct cs_str tool = cs_utf8_cut(wish->tool, NAME_SHOWN);
    list_answers(run->again, &known);
    cs_buf_printf(&message,
                  "the recorded world has no answer for %.*s.%.*s with these arguments; it has "
                  "answers for: %s",
                  CS_STR_ARG(server), CS_STR_ARG(tool), cs_buf_cstr(&known));
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_json_key(&w, "message");
    cs_json_put_str(&w, cs_buf_str(&message));
    cs_json_key(&w, "retryable");
    cs_json_put_bool(&w, false);
    cs_json_close(&w, '}');
    if (!cs_str_is(wish->server, "caisson"))
        run->records[run->result.tool_calls - 1].status = CS_CALL_ERROR;
    cs_player_say(run->player, wish, CS_ANSWER_FAILED, cs_buf_str(&json));
}

static void answer_file(struct cs_run *run, const struct cs_wish *wish)
{
    CS_AUTO_BUF struct cs_buf payload = {0};
    enum cs_answer answer = CS_ANSWER_MISSING;
    cs_overlay_answer(&run->again->overlay, wish, false, cs_player_time(run->player), &answer,
                      &payload);
    cs_player_say(run->player, wish, answer, cs_buf_str(&payload));
}

/* What a changed program imports while it runs is judged as the program is. */
static bool judged_anew(struct cs_run *run, const struct cs_wish *wish)
{
    CS_AUTO_BUF struct cs_buf payload = {0};
    if (!run->again->changed || wish->kind != CS_WISH_CALL ||
        !cs_guard_is_late(wish->server, wish->tool))
        return false;
    enum cs_answer answer = cs_guard_late_again(run, wish, &payload);
    cs_player_say(run->player, wish, answer, cs_buf_str(&payload));
    return true;
}

bool cs_again_unknown(struct cs_run *run, const struct cs_wish *wish)
{
    static const char *const whats[] = {"a call that was not recorded",
                                        "a file operation that was not recorded",
                                        "a module that was not recorded"};
    struct cs_str name = wish->kind == CS_WISH_CALL ? wish->tool : wish->path;
    const struct cs_again *a = run->again;
    if (!a->changed && from_outside(&a->doc) && cs_player_over(run->player)) {
        stop(run); /* it did not get that far */
        return true;
    }
    part(run, wish->server, name, whats[wish->kind]);
    if (!a->changed && from_outside(&a->doc)) {
        run->again->perhaps = true; /* the other one may have been ended before it was read */
        return true;
    }
    if (judged_anew(run, wish))
        return true;
    if (wish->kind == CS_WISH_FILE)
        answer_file(run, wish);
    else if (wish->kind == CS_WISH_MODULE)
        cs_player_say(run->player, wish, CS_ANSWER_MISSING,
                      CS_STR("the recorded world has no such module"));
    else if (!run->again->changed || !cs_player_repeat(run->player, wish))
        refuse_call(run, wish);
    return true;
}

bool cs_again_known(struct cs_run *run, const struct cs_wish *wish,
                    const struct cs_journal_event *event)
{
    struct cs_again *a = run->again;
    CS_AUTO_BUF struct cs_buf payload = {0};
    enum cs_answer answer = CS_ANSWER_MISSING;
    if (judged_anew(run, wish))
        return true;
    if (a->changed && event->kind == CS_JOURNAL_ASKED && wish->kind == CS_WISH_CALL) {
        refuse_call(run, wish);
        return true;
    }
    if (!a->changed || wish->kind != CS_WISH_FILE ||
        !cs_overlay_answer(&a->overlay, wish, true, cs_player_time(run->player), &answer, &payload))
        return false;
    cs_player_say(run->player, wish, answer, cs_buf_str(&payload));
    return true;
}

void cs_again_damaged(struct cs_run *run, const struct cs_err *err)
{
    run->again->damaged = *err;
    cs_wrap(&run->again->damaged, "an answer that was recorded");
    cs_job_cancel(run->job);
}

void cs_again_idle(struct cs_run *run, int64_t due_us)
{
    const struct cs_again *a = run->again;
    bool as_then = !a->changed && from_outside(&a->doc) && cs_player_over(run->player);
    if ((as_then && due_us > a->doc.end_us) || !cs_player_idle(run->player, due_us))
        stop(run);
}

const struct cs_job_end *cs_again_ended(struct cs_run *run, const struct cs_job_end *end,
                                        struct cs_job_end *as_then)
{
    struct cs_again *a = run->again;
    *as_then = *end;
    if (end->state.len)
        a->state = cs_arena_dup(&a->arena, end->state);
    /* One that asks for files without ever listening had some of them read by then; here nobody
     * reads those, and they are too many before it has heard everything. */
    bool flooded = end->how == CS_ENDED_PROTOCOL;
    if (a->perhaps && (flooded || cs_player_over(run->player)))
        a->why = (struct cs_str){0};
    if (from_outside(&a->doc) && !a->changed && !a->why.len) {
        as_then->how = a->doc.how;
        as_then->limit = a->doc.limit;
        as_then->state = a->state = (struct cs_str){0};
    } else if (a->stuck) {
        as_then->how = CS_ENDED_FAILED;
        cs_fail(&as_then->err, CS_INVALID,
                "the program waits for something that the recorded world never answers");
    }
    if (a->damaged.code)
        as_then->how = CS_ENDED_FAILED;
    if (a->damaged.code)
        as_then->err = a->damaged;
    if (a->doc.scratch_full && !a->changed) {
        as_then->scratch_full = true;
        as_then->limit = a->doc.limit;
    }
    return as_then;
}

/* --- the report --- */

static void note_in_ledger(const struct cs_again *a, const struct cs_replayed *replayed)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    char hex[2 * CS_SHA256 + 1];
    cs_json_open(&w, '{');
    cs_json_key(&w, "changed");
    cs_json_put_bool(&w, a->changed);
    cs_json_key(&w, "code_hash");
    cs_hex(replayed->result->provenance.code_hash, CS_SHA256, hex);
    cs_json_put_z(&w, hex);
    cs_json_key(&w, "outputs_hash");
    cs_hex(replayed->replayed_hash, CS_SHA256, hex);
    cs_json_put_z(&w, hex);
    cs_json_key(&w, "same");
    cs_json_put_bool(&w, replayed->same);
    cs_json_close(&w, '}');
    const struct cs_entry entry = {
        .event = CS_STR("execution.replayed"),
        .tenant = a->tenant,
        .principal = a->principal,
        .execution = a->execution,
        .data = cs_buf_str(&data),
    };
    cs_store_append(a->runner->store, &entry, 1, NULL, NULL);
}

/* What it did not ask for, though it is the same program. */
static void find_left(struct cs_again *a, const struct cs_run *run)
{
    size_t from = 0;
    const struct cs_journal_event *e = NULL;
    while (!a->why.len && !a->changed && run->player && !a->stuck && !cs_journal_killed(&a->doc) &&
           (e = cs_player_left(run->player, &from))) {
        a->call = e->call;
        a->server = e->server;
        a->tool = e->tool;
        a->why = e->what == CS_HEARD_CALL ? CS_STR("a recorded call was not made")
                                          : CS_STR("a recorded file or module was not asked for");
    }
}

static void on_done(void *ctx, const struct cs_result *result)
{
    struct cs_again *a = ctx;
    const struct cs_run *run =
        (const struct cs_run *)((const char *)result - offsetof(struct cs_run, result));
    struct cs_replayed replayed = {.recorded = a->recorded, .result = result};
    a->runner->agains--; /* the run itself holds the runner */
    CS_AUTO_BUF struct cs_buf report = {0};
    if (result->refused || a->damaged.code) {
        cs_fail(&replayed.err, a->damaged.code ? a->damaged.code : result->refused, "%.*s",
                CS_STR_ARG(result->error.message));
        finish(a, &replayed);
        return;
    }
    find_left(a, run);
    const struct cs_again_facts facts = {
        .doc = &a->doc,
        .execution = a->execution,
        .recorded = a->recorded,
        .result = result,
        .state = a->state,
        .changed = a->changed,
        .verified = a->verified,
        .call = a->call,
        .server = a->server,
        .tool = a->tool,
        .why = a->why,
    };
    replayed.call = a->call;
    replayed.server = a->server;
    replayed.tool = a->tool;
    replayed.why = a->why;
    cs_again_report(&facts, &report, &replayed);
    replayed.report = cs_buf_str(&report);
    note_in_ledger(a, &replayed);
    finish(a, &replayed);
}

/* --- from the record to a run --- */

static struct cs_limits limits_again(const struct cs_again *a)
{
    const struct cs_journal_doc *doc = &a->doc;
    struct cs_limits limits = doc->limits;
    if (a->changed || !doc->ended || doc->how != CS_ENDED_CANCELLED)
        return limits;
    uint64_t ran_ms =
        doc->end_us > doc->start_us ? (uint64_t)(doc->end_us - doc->start_us) / 1000 : 0;
    uint64_t most = ran_ms * LONGER + LONGER_MS;
    limits.wall_clock = most < limits.wall_clock ? most : limits.wall_clock;
    return limits;
}

static void on_loaded(void *ctx, const struct cs_err *err)
{
    struct cs_again *a = ctx;
    const struct cs_journal_doc *doc = &a->doc;
    if (err->code != CS_OK) {
        fail(a, err);
        return;
    }
    a->changed = a->changed && !cs_str_eq(a->code, doc->texts[CS_TEXT_CODE].text);
    struct cs_request request = {
        .language = doc->language,
        .code = a->changed ? a->code : doc->texts[CS_TEXT_CODE].text,
        .inputs = doc->texts[CS_TEXT_INPUTS].text,
        .limits = limits_again(a),
        .principal = a->changed ? a->principal : doc->principal, /* whose program it is */
        .tenant = a->tenant,
        .cache = CS_CACHE_OFF,
    };
    cs_run_start_again(a->runner, &request, a, cs_arena_dup(&a->arena, a->execution).at, on_done);
}

/* The hash in the ledger is of the journal as it was when the execution ended. */
static int check_journal(struct cs_again *a, struct cs_str entry, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    unsigned char then[CS_SHA256], now[CS_SHA256];
    int64_t seq = 0;
    if (cs_json_parse(entry, NULL, &doc, err) < 0)
        return cs_wrap(err, "its entry in the ledger");
    struct cs_json_val root = cs_json_root(&doc);
    cs_json_i64(cs_json_get(root, "seq"), &seq);
    struct cs_json_val hash = cs_json_get(cs_json_get(root, "data"), "journal_hash");
    if (!cs_hex_read(cs_json_str(hash, &arena), then, sizeof then))
        return 0;
    cs_sha256(cs_buf_str(&a->journal), now);
    a->verified = memcmp(then, now, sizeof now) == 0;
    if (a->verified)
        return 0;
    return cs_fail(err, CS_SYSTEM,
                   "its journal was changed after it was recorded: its hash is not the one in "
                   "entry %lld of the ledger, so it is not replayed; 'caisson audit verify' checks "
                   "the ledger, and a backup may have the journal",
                   (long long)seq);
}

static void on_entry(void *ctx, const struct cs_err *err, struct cs_str entry)
{
    struct cs_again *a = ctx;
    struct cs_err why = *err;
    if (err->code == CS_MISSING) /* it is archived, or there is no ledger */
        why = (struct cs_err){0};
    else if (err->code == CS_OK)
        check_journal(a, entry, &why);
    if (why.code == CS_OK)
        cs_journal_read(cs_buf_str(&a->journal), &a->doc, &why);
    if (why.code == CS_OK && !a->doc.begun)
        cs_fail(&why, CS_INVALID, "the execution did not begin: there is nothing to replay");
    if (why.code != CS_OK)
        fail(a, &why);
    else
        cs_journal_load(a->runner->store, &a->doc, on_loaded, a);
}

static void on_journal(void *ctx, const struct cs_err *err, struct cs_str journal)
{
    struct cs_again *a = ctx;
    struct cs_err why = *err;
    if (err->code == CS_MISSING)
        cs_fail(&why, CS_INVALID, "the execution has no journal: it cannot be replayed");
    if (err->code != CS_OK) {
        fail(a, &why);
        return;
    }
    cs_buf_putstr(&a->journal, journal);
    cs_store_entry_of(a->runner->store, a->execution, CS_STR("execution.settled"), on_entry, a);
}

/* Of one that cannot be replayed its envelope says why; a guest's calls can be, its clock not. */
static bool is_replayable(struct cs_again *a, struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    const struct cs_json_limits limits = {
        .bytes = a->recorded.len + 1, .depth = 1200, .allow_duplicate = true};
    if (cs_json_parse(a->recorded, &limits, &doc, err) < 0) {
        cs_wrap(err, "the recorded answer");
        return false;
    }
    struct cs_json_val root = cs_json_root(&doc);
    struct cs_str why = cs_json_str(cs_json_get(root, "not_replayable"), &arena);
    if (!why.len || !cs_json_is(cs_json_get(root, "language"), "typescript"))
        return true;
    cs_fail(err, CS_INVALID, "the execution cannot be replayed: %.*s", CS_STR_ARG(why));
    return false;
}

static void on_row(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                   size_t count)
{
    struct cs_again *a = ctx;
    struct cs_err why = *err;
    if (err->code == CS_MISSING || (err->code == CS_OK && !count))
        cs_fail(&why, CS_MISSING, "there is no execution '%.*s'", CS_STR_ARG(a->execution));
    else if (err->code == CS_OK && !rows->envelope.len)
        cs_fail(&why, CS_CONFLICT, "the execution is %.*s: it can be replayed when it is over",
                CS_STR_ARG(rows->status));
    if (why.code == CS_OK) {
        a->recorded = cs_arena_dup(&a->arena, rows->envelope);
        is_replayable(a, &why);
    }
    if (why.code != CS_OK)
        fail(a, &why);
    else
        cs_store_journal_get(a->runner->store, a->tenant, a->execution, on_journal, a);
}

static void on_soon_closed(uv_handle_t *h)
{
    struct cs_again *a = h->data;
    struct cs_err err = {0};
    free(h);
    cs_fail(&err, CS_MISSING, "nothing is kept here: there is nothing to replay");
    fail(a, &err);
}

static void on_soon(uv_timer_t *t)
{
    uv_close((uv_handle_t *)t, on_soon_closed);
}

void cs_replay(struct cs_runner *runner, const struct cs_replay_request *request,
               void (*done)(void *ctx, const struct cs_replayed *replayed), void *ctx)
{
    struct cs_again *a = CS_NEW(struct cs_again);
    a->runner = runner;
    runner->agains++;
    a->tenant =
        cs_arena_dup(&a->arena, request->tenant.len ? request->tenant : CS_STR(CS_TENANT_DEFAULT));
    a->principal =
        cs_arena_dup(&a->arena, request->principal.len ? request->principal : CS_STR("local"));
    a->execution = cs_arena_dup(&a->arena, cs_utf8_cut(request->execution, CS_ID_TEXT - 5));
    a->code = cs_arena_dup(&a->arena, request->code);
    a->changed = request->code.len > 0;
    a->done = done;
    a->ctx = ctx;
    if (runner->store) {
        cs_store_execution_get(runner->store, a->tenant, a->execution, on_row, a);
        return;
    }
    uv_timer_t *t = CS_NEW(uv_timer_t);
    uv_timer_init(runner->loop, t);
    t->data = a;
    uv_timer_start(t, on_soon, 0, 0);
}

bool cs_again_changed(const struct cs_run *run)
{
    return run->again->changed;
}

const struct cs_journal_doc *cs_again_doc(const struct cs_run *run)
{
    return &run->again->doc;
}

void cs_again_open(struct cs_run *run)
{
    run->player = cs_player_new(run, &run->again->doc);
}
