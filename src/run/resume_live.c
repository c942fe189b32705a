/*
 * From the record into the world.
 *
 *     played   what was recorded is heard again, in its order. What the program wants to know
 *              beyond that waits: its answer must not come before something that came earlier
 *     live     the record is over: those that waited go the usual way, and so does all that follows
 *
 * A call that was sent and never answered, of a tool that must not be called twice, goes that way
 * too, with when it was sent: the guard asks a person whether it is sent again.
 */
#include <string.h>

#include "base/mem.h"
#include "run/guard.h"
#include "run/resume.h"

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

void cs_resume_close(struct cs_run *run)
{
    struct cs_resume *r = run->resume;
    if (!r)
        return;
    while (r->held)
        drop(take(&r->held));
}

void cs_resume_free(struct cs_resume *r)
{
    if (!r)
        return;
    cs_journal_doc_done(&r->doc);
    cs_buf_done(&r->journal);
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

/* --- the record is over --- */

static void give_up(struct cs_run *run, enum cs_code code, const char *why)
{
    if (run->resume->lost.code == CS_OK)
        cs_fail(&run->resume->lost, code, "%s", why);
    cs_run_cancel(run);
}

/* The usual way, after all. */
static void do_now(struct cs_run *run, const struct cs_kept_wish *k)
{
    if (k->wish.kind == CS_WISH_CALL)
        cs_guard_wish_hash(&k->wish, run->argument_hash);
    run->sent_us = k->sent ? k->sent->time_us + !k->sent->time_us : 0;
    cs_job_do(run->job, &k->wish);
    run->sent_us = 0;
}

/* Takes it. */
static void go_live(struct cs_run *run, struct cs_kept_wish *k)
{
    if (run->resume->released)
        give_up(run, CS_SYSTEM, "it had ended, and goes another way than its journal says");
    else
        do_now(run, k);
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
