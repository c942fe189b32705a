/*
 * From the record into the world.
 *
 *     played   what was recorded is heard again, in its order. What the program wants to know
 *              beyond that waits: its answer must not come before something that came earlier
 *     live     the record is over: those that waited go the usual way, and so does all that follows
 *     asked    a call that was sent and never answered, of a tool that must not be called twice:
 *              somebody says whether it is sent again
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/canon.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/utf8.h"
#include "run/guard.h"
#include "run/resume.h"

#define NAME_BYTES 80 /* of a server or a tool, in the ledger */

/* --- wishes are kept --- */

static struct cs_kept_wish *keep(const struct cs_wish *wish, const struct cs_journal_event *sent)
{
    struct cs_kept_wish *k = CS_NEW(struct cs_kept_wish);
    k->wish = *wish;
    k->sent = sent;
    struct cs_str *const texts[] = {&k->wish.server, &k->wish.tool, &k->wish.arguments,
                                    &k->wish.path, &k->wish.data};
    size_t all = 1;
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        all += texts[i]->len;
    char *at = k->text = cs_calloc(all, 1);
    for (size_t i = 0; i < CS_COUNT(texts); i++) {
        if (texts[i]->len)
            memcpy(at, texts[i]->at, texts[i]->len);
        *texts[i] = cs_strn(at, texts[i]->len);
        at += texts[i]->len;
    }
    return k;
}

static void append(struct cs_kept_wish **list, struct cs_kept_wish *k)
{
    while (*list)
        list = &(*list)->next;
    *list = k;
}

static struct cs_kept_wish *take(struct cs_kept_wish **list)
{
    struct cs_kept_wish *k = *list;
    *list = k->next;
    k->next = NULL;
    return k;
}

static void drop(struct cs_kept_wish *k)
{
    free(k->text);
    free(k);
}

/* --- timers, which are handles of the loop --- */

static void on_timer_closed(uv_handle_t *h)
{
    free(h);
}

static void close_timer(uv_timer_t **timer)
{
    uv_timer_t *t = *timer;
    *timer = NULL;
    if (t)
        uv_close((uv_handle_t *)t, on_timer_closed);
}

static void start_timer(struct cs_run *run, uv_timer_t **timer, uint64_t ms, uv_timer_cb fired)
{
    if (!*timer) {
        *timer = CS_NEW(uv_timer_t);
        uv_timer_init(run->runner->loop, *timer);
        (*timer)->data = run;
    }
    uv_timer_start(*timer, fired, ms, 0);
}

void cs_resume_close(struct cs_run *run)
{
    struct cs_resume *r = run->resume;
    if (!r)
        return;
    close_timer(&r->patience);
    while (r->held)
        drop(take(&r->held));
    while (r->asked)
        drop(take(&r->asked));
    cs_buf_clear(&r->question);
}

void cs_resume_free(struct cs_resume *r)
{
    if (!r)
        return;
    cs_journal_doc_done(&r->doc);
    cs_buf_done(&r->journal);
    cs_buf_done(&r->question);
    free(r);
}

void cs_resume_done(struct cs_run *run)
{
    cs_resume_free(run->resume);
    run->resume = NULL;
}

/* --- it begins once more --- */

/* Nobody was in its session meanwhile: the state is the one it began with, or the one it left. */
void cs_resume_held(struct cs_run *run, const struct cs_held *held)
{
    struct cs_resume *r = run->resume;
    if (!run->player)
        return; /* it had not begun */
    r->released = held->released;
    run->state = r->doc.texts[CS_TEXT_STATE].text;
}

void cs_resume_settled(struct cs_run *run)
{
    struct cs_resume *r = run->resume;
    if (!r || r->lost.code == CS_OK || run->leaves)
        return;
    cs_settle_fault(run, &r->lost);
    run->result.status = CS_STATUS_CANCELLED;
}

/* --- a person is asked --- */

static void text(struct cs_json_writer *w, const char *key, struct cs_str value)
{
    cs_json_key(w, key);
    cs_json_put_str(w, value);
}

static void number(struct cs_json_writer *w, const char *key, uint64_t value)
{
    cs_json_key(w, key);
    cs_json_put_u64(w, value);
}

static void put_time(struct cs_json_writer *w, const char *key, int64_t us)
{
    char text[CS_TIME_TEXT];
    cs_json_key(w, key);
    cs_json_put_z(w, *cs_time_text_ms(us / 1000, text) ? text : NULL);
}

static void put_question(const struct cs_run *run, const struct cs_kept_wish *asked,
                         struct cs_buf *out)
{
    const struct cs_wish *wish = &asked->wish;
    struct cs_json_writer w = CS_JSON_WRITER(out);
    CS_AUTO_BUF struct cs_buf message = {0};
    cs_json_open(&w, '{');
    cs_json_key(&w, "execution_id");
    cs_json_put_z(&w, run->result.execution_id);
    text(&w, "kind", CS_STR("ambiguous_call"));
    number(&w, "call", asked->sent->call);
    text(&w, "server", wish->server);
    text(&w, "tool", wish->tool);
    number(&w, "argument_bytes", wish->arguments.len);
    put_time(&w, "sent_at", asked->sent->time_us);
    cs_buf_printf(&message,
                  "caisson ended after '%.*s' of '%.*s' was called and before it answered. It may "
                  "have taken effect, and the tool does not say that it can be called twice. Find "
                  "out, and answer: retry calls it again, fail raises an error in the program.",
                  CS_STR_ARG(wish->tool), CS_STR_ARG(wish->server));
    text(&w, "message", cs_buf_str(&message));
    cs_json_key(&w, "answers");
    cs_json_put_raw(&w, CS_STR("[\"retry\",\"fail\"]"));
    cs_json_close(&w, '}');
}

static void note_call(struct cs_run *run, const char *event, const struct cs_wish *wish,
                      const char *answer, struct cs_str by)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    cs_json_open(&w, '{'); /* canonical: the members are in their order */
    if (answer)
        text(&w, "answer", cs_str(answer));
    if (by.len)
        text(&w, "by", by);
    text(&w, "kind", CS_STR("ambiguous_call"));
    text(&w, "server", cs_utf8_cut(wish->server, NAME_BYTES));
    text(&w, "tool", cs_utf8_cut(wish->tool, NAME_BYTES));
    cs_json_close(&w, '}');
    cs_trail_note(run, event, cs_buf_str(&data));
    cs_trail_flush(run);
}

/* The usual way, after all. */
static void do_now(struct cs_run *run, const struct cs_wish *wish)
{
    if (wish->kind == CS_WISH_CALL)
        cs_guard_wish_hash(wish, run->argument_hash);
    cs_job_do(run->job, wish);
}

static void answer_first(struct cs_run *run, enum cs_resume_answer answer, struct cs_str by);

static void on_nobody(uv_timer_t *t)
{
    answer_first(t->data, CS_RESUME_FAIL, (struct cs_str){0});
}

/* The next question, or none: then its time goes on. */
static void ask_next(struct cs_run *run)
{
    struct cs_resume *r = run->resume;
    cs_buf_clear(&r->question);
    if (r->asked) {
        put_question(run, r->asked, &r->question);
        start_timer(run, &r->patience, CS_RESUME_ASK_MS, on_nobody);
    } else {
        close_timer(&r->patience);
    }
}

static void ask(struct cs_run *run, struct cs_kept_wish *k)
{
    struct cs_resume *r = run->resume;
    bool first = !r->asked;
    append(&r->asked, k);
    note_call(run, "execution.asked", &k->wish, NULL, (struct cs_str){0});
    cs_guard_waits(run);
    if (first)
        ask_next(run);
}

static void answer_first(struct cs_run *run, enum cs_resume_answer answer, struct cs_str by)
{
    struct cs_resume *r = run->resume;
    struct cs_kept_wish *k = take(&r->asked);
    note_call(run, "execution.decided", &k->wish, answer == CS_RESUME_RETRY ? "retry" : "fail", by);
    ask_next(run);
    cs_guard_goes_on(run);
    if (answer == CS_RESUME_RETRY)
        do_now(run, &k->wish);
    else
        cs_gate_unknown(run, &k->wish);
    drop(k);
}

struct cs_str cs_run_question(const struct cs_run *run)
{
    return run->resume && run->resume->asked ? cs_buf_str(&run->resume->question)
                                             : (struct cs_str){0};
}

int cs_run_decide(struct cs_run *run, enum cs_resume_answer answer, struct cs_str principal,
                  struct cs_err *err)
{
    if (!run->resume || !run->resume->asked || !run->job)
        return cs_fail(err, CS_CONFLICT, "the execution %s asks nothing (any more)",
                       run->result.execution_id);
    answer_first(run, answer, principal);
    return 0;
}

/* --- the record is over --- */

static void give_up(struct cs_run *run, enum cs_code code, const char *why)
{
    if (run->resume->lost.code == CS_OK)
        cs_fail(&run->resume->lost, code, "%s", why);
    cs_run_cancel(run);
}

/* Takes it. */
static void go_live(struct cs_run *run, struct cs_kept_wish *k)
{
    struct cs_resume *r = run->resume;
    if (!r->released && k->sent) {
        ask(run, k);
        return;
    }
    if (r->released)
        give_up(run, CS_SYSTEM, "it had ended, and goes another way than its journal says");
    else
        do_now(run, &k->wish);
    drop(k);
}

static bool has_start(const struct cs_journal_doc *doc)
{
    for (size_t i = 0; i < doc->count; i++)
        if (doc->events[i].kind == CS_JOURNAL_HEARD && doc->events[i].what == CS_HEARD_START)
            return true;
    return false;
}

static void look(struct cs_run *run)
{
    struct cs_resume *r = run->resume;
    bool over =
        !run->player || (cs_player_over(run->player) && (r->started || !has_start(&r->doc)));
    if (r->live || !over)
        return;
    r->live = true;
    cs_job_resume(run->job);
    while (r->held && r->lost.code == CS_OK)
        go_live(run, take(&r->held));
}

bool cs_resume_begun(const struct cs_run *run)
{
    return run->player && has_start(&run->resume->doc);
}

/* What was recorded of the verdict is heard once more, if it was recorded. */
void cs_resume_facts(struct cs_run *run, bool allowed, struct cs_str why)
{
    struct cs_resume *r = run->resume;
    if (!allowed && cs_resume_begun(run)) {
        CS_AUTO_BUF struct cs_buf text = {0};
        cs_buf_printf(&text, "it would not be allowed today: %.*s", CS_STR_ARG(why));
        give_up(run, CS_DENIED, cs_buf_cstr(&text));
        return;
    }
    look(run);
    if (!allowed && !r->live) {
        give_up(run, CS_SYSTEM, "it went another way than its journal says");
        return;
    }
    cs_job_verdict(run->job, allowed, &run->result.verdict.limits, why);
    if (!r->live)
        cs_player_facts(run->player);
    r->started = true;
    look(run);
}

/* True: it is answered some time. */
bool cs_resume_wish(struct cs_run *run, const struct cs_wish *wish, bool played)
{
    struct cs_resume *r = run->resume;
    const struct cs_journal_event *sent = run->player && !played && wish->kind == CS_WISH_CALL
                                              ? cs_player_sent(run->player, wish)
                                              : NULL;
    /* What it did to its files is done again: later ones find what they expect. */
    if (played)
        cs_job_redo(run->job, wish);
    look(run);
    if (played)
        return true;
    if (!r->live)
        append(&r->held, keep(wish, sent));
    else if (r->released || sent)
        go_live(run, keep(wish, sent));
    else
        return false;
    return true;
}

void cs_resume_idle(struct cs_run *run, int64_t due_us)
{
    look(run);
    if (run->resume->live)
        return;
    if (!cs_player_idle(run->player, due_us))
        give_up(run, CS_SYSTEM, "it went another way than its journal says");
    look(run);
}
