/*
 * What was recorded is heard once more: the same answers, in the same order, at the same times.
 *
 *     asked for -> (its blob is read) -> heard
 *
 * A program that is as it was asks for everything that was recorded, in time. One that has changed
 * may leave things out: what it does not ask for before it waits is passed over.
 */
#include "base/mem.h"
#include "run/guard.h"
#include "run/journal.h"

struct slot {
    bool asked, heard;
    uint64_t id;     /* of the wish */
    uint32_t record; /* of a tool's call: index in run->records; else UINT32_MAX */
};

/* Something to be told that was not recorded for this wish. */
struct extra {
    struct extra *next;
    struct cs_heard heard;
    size_t event; /* whose payload it is; SIZE_MAX: its own */
    struct cs_buf payload;
};

struct cs_player {
    struct cs_run *run; /* NULL: it is gone, and a blob is still read */
    const struct cs_journal_doc *doc;
    struct slot *slots;      /* one per event */
    struct cs_keymap events; /* key and occurrence: index of the event, plus one */
    struct cs_keymap asked;  /* key: how often */
    struct extra *extras;    /* to be told when it waits */
    size_t first;            /* everything before it was heard, or is no answer */
    size_t left;             /* answers that have not been heard */
    int64_t time_us;
    unsigned loading; /* blobs that are read */
    bool started, speaks;
};

static void mix(const unsigned char key[32], uint32_t occurrence, unsigned char mixed[32])
{
    memcpy(mixed, key, 32);
    for (unsigned i = 0; i < sizeof occurrence; i++)
        mixed[i] ^= (unsigned char)(occurrence >> (8 * i));
}

static bool is_answer(const struct cs_journal_event *e)
{
    return e->kind == CS_JOURNAL_HEARD && e->what != CS_HEARD_START;
}

struct cs_player *cs_player_new(struct cs_run *run, const struct cs_journal_doc *doc)
{
    struct cs_player *p = CS_NEW(struct cs_player);
    p->run = run;
    p->doc = doc;
    p->time_us = doc->start_us;
    p->slots = cs_calloc(doc->count + 1, sizeof *p->slots);
    for (size_t i = 0; i < doc->count; i++) {
        const struct cs_journal_event *e = &doc->events[i];
        unsigned char mixed[32];
        p->slots[i].record = UINT32_MAX;
        p->left += is_answer(e);
        if (e->kind == CS_JOURNAL_SENT || e->what == CS_HEARD_START)
            continue;
        mix(e->key, e->occurrence, mixed);
        *cs_keymap_at(&p->events, mixed) = (uint32_t)i + 1;
    }
    return p;
}

void cs_player_free(struct cs_player *p)
{
    if (!p)
        return;
    p->run = NULL;
    if (p->loading)
        return; /* on_blob frees it */
    while (p->extras) {
        struct extra *x = p->extras;
        p->extras = x->next;
        cs_buf_done(&x->payload);
        free(x);
    }
    free(p->slots);
    cs_keymap_done(&p->events);
    cs_keymap_done(&p->asked);
    free(p);
}

int cs_player_world(struct cs_run *run, struct cs_job_spec *spec, struct cs_err *err)
{
    const struct cs_journal_doc *doc = run->player->doc;
    (void)err;
    memcpy(run->seed, doc->seed, sizeof run->seed);
    memcpy(spec->seed, doc->seed, sizeof spec->seed);
    spec->state = doc->texts[CS_TEXT_STATE].text;
    spec->state_bytes = doc->state_bytes;
    spec->globals = doc->texts[CS_TEXT_GLOBALS].text;
    spec->clock = CS_CLOCK_REPLAY;
    spec->start_us = doc->start_us;
    return 0;
}

int64_t cs_player_time(const struct cs_player *p)
{
    return p->time_us;
}

bool cs_player_speaks(const struct cs_player *p)
{
    return p->speaks;
}

bool cs_player_over(const struct cs_player *p)
{
    return p->left == 0;
}

/* --- heard --- */

/* It may be over before it hears: how the call ended is known beforehand. */
static void note_answer(struct cs_run *run, uint32_t record, const struct cs_journal_event *e)
{
    struct cs_call *c = &run->records[record];
    c->status = e->status;
    c->result_bytes = e->status == CS_CALL_OK ? e->size : 0;
}

static void tell(struct cs_player *p, const struct cs_heard *heard)
{
    struct cs_run *run = p->run;
    if (heard->time_us > p->time_us)
        p->time_us = heard->time_us;
    struct cs_heard now = *heard;
    now.time_us = p->time_us;
    p->speaks = true;
    if (run->result.is_guest)
        cs_job_result(run->job, now.id, now.answer, now.payload);
    else
        cs_job_hear(run->job, &now);
    p->speaks = false;
}

static void tell_event(struct cs_player *p, size_t i, uint64_t id, struct cs_str payload)
{
    const struct cs_journal_event *e = &p->doc->events[i];
    const struct cs_heard heard = {
        .kind = e->what,
        .id = id,
        .time_us = e->time_us,
        .answer = e->answer,
        .canonical = e->canonical,
        .payload = payload,
    };
    tell(p, &heard);
}

struct loading {
    struct cs_player *player;
    size_t event;
    uint64_t id;
};

static void on_blob(void *ctx, const struct cs_err *err, const unsigned char hash[32],
                    struct cs_str content)
{
    struct loading l = *(struct loading *)ctx;
    struct cs_player *p = l.player;
    (void)hash;
    free(ctx);
    p->loading--;
    if (!p->run)
        cs_player_free(p);
    else if (p->run->job && err->code != CS_OK)
        cs_again_damaged(p->run, err);
    else if (p->run->job)
        tell_event(p, l.event, l.id, content);
}

static void deliver(struct cs_player *p, size_t i, uint64_t id)
{
    const struct cs_journal_event *e = &p->doc->events[i];
    if (!e->is_blob) {
        tell_event(p, i, id, e->payload);
        return;
    }
    struct loading *l = CS_NEW(struct loading);
    *l = (struct loading){p, i, id};
    p->loading++;
    cs_store_blob_get(p->run->runner->store, e->hash, (size_t)e->size, on_blob, l);
}

static void hear(struct cs_player *p, size_t i, uint64_t id)
{
    if (!p->slots[i].heard)
        p->left -= is_answer(&p->doc->events[i]);
    p->slots[i].heard = true;
    deliver(p, i, id);
}

/* --- heard, and made up --- */

static struct extra *new_extra(struct cs_player *p, const struct cs_wish *wish)
{
    struct extra *x = CS_NEW(struct extra), **end = &p->extras;
    while (*end)
        end = &(*end)->next;
    *end = x;
    x->heard.kind = (enum cs_heard_kind)wish->kind;
    x->heard.id = wish->id;
    x->event = SIZE_MAX;
    return x;
}

static void tell_extra(struct cs_player *p)
{
    struct extra *x = p->extras;
    p->extras = x->next;
    x->heard.payload = cs_buf_str(&x->payload);
    if (x->event != SIZE_MAX)
        deliver(p, x->event, x->heard.id);
    else
        tell(p, &x->heard);
    cs_buf_done(&x->payload);
    free(x);
}

static void now_or_later(struct cs_player *p)
{
    if (!p->started || p->run->result.is_guest)
        tell_extra(p);
}

void cs_player_say(struct cs_player *p, const struct cs_wish *wish, enum cs_answer answer,
                   struct cs_str payload)
{
    struct extra *x = new_extra(p, wish);
    x->heard.answer = answer;
    cs_buf_putstr(&x->payload, payload);
    now_or_later(p);
}

bool cs_player_repeat(struct cs_player *p, const struct cs_wish *wish)
{
    unsigned char key[32];
    cs_wish_key(wish, p->run->argument_hash, key);
    for (size_t i = p->doc->count; i > 0; i--) {
        const struct cs_journal_event *e = &p->doc->events[i - 1];
        if (!is_answer(e) || memcmp(e->key, key, sizeof key) != 0)
            continue;
        new_extra(p, wish)->event = i - 1;
        if (e->call)
            note_answer(p->run, p->run->result.tool_calls - 1, e);
        now_or_later(p);
        return true;
    }
    return false;
}

/* --- asked for --- */

/* A call that is answered here never gets to the gate: it is noted here. */
static uint32_t note_call(struct cs_run *run, const struct cs_wish *wish,
                          const struct cs_journal_event *e)
{
    if (wish->kind != CS_WISH_CALL || cs_str_is(wish->server, "caisson"))
        return UINT32_MAX;
    return cs_gate_note(run, e ? e->server : wish->server, e ? e->tool : wish->tool,
                        wish->arguments.len);
}

static struct slot *slot_of(struct cs_player *p, const struct cs_wish *wish, size_t *index)
{
    unsigned char key[32], mixed[32];
    cs_wish_key(wish, p->run->argument_hash, key);
    uint32_t occurrence = (*cs_keymap_at(&p->asked, key))++;
    mix(key, occurrence, mixed);
    uint32_t found = cs_keymap_get(&p->events, mixed);
    *index = found - 1;
    return found ? &p->slots[found - 1] : NULL;
}

bool cs_player_wish(struct cs_player *p, const struct cs_wish *wish)
{
    struct cs_run *run = p->run;
    size_t i;
    struct slot *slot = slot_of(p, wish, &i);
    if (!slot) {
        if (run->again)
            note_call(run, wish, NULL);
        return run->again && cs_again_unknown(run, wish);
    }
    const struct cs_journal_event *e = &p->doc->events[i];
    slot->asked = true;
    slot->id = wish->id;
    slot->record = note_call(run, wish, e);
    if (slot->record != UINT32_MAX && e->kind != CS_JOURNAL_SENT) {
        note_answer(run, slot->record, e);
        cs_flows_played(run, e->server, e->tool, wish->arguments, slot->record + 1);
    }
    if (run->again && cs_again_known(run, wish, e)) {
        p->left -= is_answer(e); /* it gets to know otherwise */
        slot->heard = true;
    } else if ((!p->started || run->result.is_guest) && is_answer(e)) {
        hear(p, i, wish->id);
    }
    return true;
}

/* When it was let run, or refused; NULL: it had ended before. */
static const struct cs_journal_event *start_of(const struct cs_player *p)
{
    for (size_t i = 0; i < p->doc->count; i++)
        if (p->doc->events[i].kind == CS_JOURNAL_HEARD && p->doc->events[i].what == CS_HEARD_START)
            return &p->doc->events[i];
    return NULL;
}

void cs_player_facts(struct cs_player *p)
{
    const struct cs_journal_event *e = start_of(p);
    p->started = true;
    if (e)
        tell_event(p, (size_t)(e - p->doc->events), 0, e->payload);
    else /* the verdict of now holds */
        tell(p, &(struct cs_heard){.kind = CS_HEARD_START, .time_us = p->time_us});
}

void cs_player_judged(struct cs_player *p, bool allowed, struct cs_str why)
{
    const struct cs_journal_event *e = start_of(p);
    p->started = true;
    tell(p, &(struct cs_heard){.kind = CS_HEARD_START,
                               .time_us = e ? e->time_us : p->time_us,
                               .answer = allowed ? CS_ANSWER_OK : CS_ANSWER_DENIED,
                               .payload = why});
}

/* --- it waits --- */

bool cs_player_idle(struct cs_player *p, int64_t due_us)
{
    if (p->loading || !p->run->job)
        return true;
    if (p->extras) {
        tell_extra(p);
        return true;
    }
    size_t i = p->first;
    while (i < p->doc->count && (p->slots[i].heard || !is_answer(&p->doc->events[i])))
        i++;
    p->first = i;
    while (i < p->doc->count &&
           (p->slots[i].heard || !p->slots[i].asked || !is_answer(&p->doc->events[i])))
        i++;
    bool found = i < p->doc->count;
    if (found && p->doc->events[i].time_us < due_us) {
        hear(p, i, p->slots[i].id);
        return true;
    }
    if (due_us == INT64_MAX)
        return false;
    if (due_us > p->time_us)
        p->time_us = due_us;
    cs_job_wake(p->run->job, due_us);
    return true;
}

/* --- for those who compare --- */

const struct cs_journal_event *cs_player_sent(const struct cs_player *p, const struct cs_wish *wish)
{
    unsigned char key[32];
    cs_wish_key(wish, p->run->argument_hash, key);
    uint32_t asked = cs_keymap_get(&p->asked, key); /* this one included */
    const struct cs_journal_event *last = NULL;
    for (size_t i = 0; i < p->doc->count; i++) {
        const struct cs_journal_event *e = &p->doc->events[i];
        if (e->kind == CS_JOURNAL_SENT && e->occurrence + 1 == asked &&
            memcmp(e->key, key, sizeof key) == 0)
            last = e;
    }
    return last;
}

const struct cs_journal_event *cs_player_left(const struct cs_player *p, size_t *from)
{
    for (size_t i = *from; i < p->doc->count; i++) {
        const struct cs_journal_event *e = &p->doc->events[i];
        if (e->kind == CS_JOURNAL_SENT || e->what == CS_HEARD_START || p->slots[i].asked ||
            p->slots[i].heard)
            continue;
        *from = i + 1;
        return e;
    }
    return NULL;
}
