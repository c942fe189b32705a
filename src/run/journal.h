/*
 * Inside of run/: the journal of an execution, which is enough to run it again without the world,
 * and the player that does so.
 *
 * A journal is a head (program, inputs, state, seed, start, limits, what it saw of the tools) and
 * then, in the order in which the program got to know them, what it heard: see struct cs_heard. An
 * answer is found by what was asked (kind, names, canonical arguments) and how often that was asked
 * before, so parallel calls may arrive in any order. Payloads of more than 16 KiB are blobs.
 *
 * It is written in parts: of a durable execution the head when it begins and each answer as it
 * comes, before what the program does with it can leave; of any other one, all of it at the end.
 */
#ifndef CS_RUN_JOURNAL_H
#define CS_RUN_JOURNAL_H

#include "base/arena.h"
#include "run/inside.h"
#include "sandbox/sandbox.h"

#define CS_JOURNAL_INLINE 16384 /* larger payloads are blobs */

/* --- as it is read --- */

enum cs_journal_kind {
    CS_JOURNAL_HEARD,
    CS_JOURNAL_SENT,  /* a call that must not be repeated was sent: durable executions only */
    CS_JOURNAL_ASKED, /* it ended before there was an answer */
};

struct cs_journal_event {
    enum cs_journal_kind kind;
    enum cs_heard_kind what;
    unsigned char key[32];      /* of the wish: kind, names, canonical arguments */
    uint32_t occurrence;        /* 0, 1, ... among wishes of the same key */
    uint32_t call;              /* CALL of a tool: its number in the execution, from 1; else 0 */
    struct cs_str server, tool; /* CALL; tool of others: the path */
    enum cs_call_status status; /* CALL of a tool: as it was recorded */
    int64_t time_us;
    enum cs_answer answer;
    struct cs_str canonical, payload; /* payload: empty if it is a blob */
    unsigned char hash[32];           /* of a blob */
    bool is_blob;
    uint64_t size;
};

/* A text of the head, which may be a blob. */
enum cs_journal_text {
    CS_TEXT_CODE,
    CS_TEXT_INPUTS,
    CS_TEXT_STATE,
    CS_TEXT_GLOBALS,
    CS_TEXT_COUNT
};
struct cs_journal_ref {
    struct cs_str text;
    bool is_blob; /* then `text` is empty until cs_journal_load has read it */
    unsigned char hash[32];
    uint64_t size;
};

struct cs_journal_doc {
    enum cs_language language;
    enum cs_clock clock;
    enum cs_cache_mode cache;
    bool durable, begun; /* begun: its job was about to start; seed and all that follow are there */
    struct cs_journal_ref texts[CS_TEXT_COUNT];
    struct cs_str principal, session, intent, actor_type;
    struct cs_limits limits; /* wanted */
    uint64_t seed[2], state_bytes;
    bool has_state;
    int64_t start_us;
    bool is_protected;
    enum cs_privacy_level level, asked;
    struct cs_str made; /* tokens that values of the program's own got */
    struct cs_journal_event *events;
    size_t count;
    /* How it ended, if that is in it: of one that was under way when its process died it is not. */
    bool ended, scratch_full;
    enum cs_ending how;
    enum cs_limit limit;
    int64_t end_us;
    unsigned char state_hash[32]; /* of the state it left; zero: as it was */
    struct cs_arena arena;
};

/* CS_INVALID: it is damaged, or of a version that is not known. Texts are slices of `bytes`. */
int cs_journal_read(struct cs_str bytes, struct cs_journal_doc *doc, struct cs_err *err);
/* It did not end by itself: how far it had come by then is no function of what it heard. */
static inline bool cs_journal_killed(const struct cs_journal_doc *doc)
{
    return doc->ended && doc->how != CS_ENDED_VALUE && doc->how != CS_ENDED_ERROR &&
           doc->how != CS_ENDED_EXIT;
}
void cs_journal_doc_done(struct cs_journal_doc *doc);
/* Reads the texts of the head that are blobs; `then` runs once, perhaps at once. */
void cs_journal_load(struct cs_store *store, struct cs_journal_doc *doc,
                     void (*then)(void *ctx, const struct cs_err *err), void *ctx);

/* What a wish is known by; `arguments` is the hash of a call's arguments in their canonical form.
 */
void cs_wish_key(const struct cs_wish *wish, const unsigned char arguments[32],
                 unsigned char key[32]);

/* Keys and a number for each. */
struct cs_keymap {
    struct cs_keymap_row {
        unsigned char key[32];
        uint32_t value; /* 0: free */
    } * rows;
    size_t count, cap;
};
uint32_t cs_keymap_get(const struct cs_keymap *tally, const unsigned char key[32]); /* 0: none */
/* The number of a key, which is 0 at first and must not stay so; lent until the next one is. */
uint32_t *cs_keymap_at(struct cs_keymap *tally, const unsigned char key[32]);
void cs_keymap_done(struct cs_keymap *tally);

/* --- as it is written --- */

void cs_journal_admit(struct cs_run *run); /* a durable one is about to be put on record */
/* The same, of one whose inputs are known only now: it is on its way to the store. False: it is not
 * a durable one, and `then` will not run. */
bool cs_journal_admit_late(struct cs_run *run, cs_stored *then, void *ctx);
void cs_journal_begin(struct cs_run *run, int64_t start_us); /* its job is about to start */
/* Every wish, in its order; it may be one that is played. */
void cs_journal_wish(struct cs_run *run, const struct cs_wish *wish);
void cs_journal_heard(struct cs_run *run, const struct cs_heard *heard);
/* Of the call `id`, which is not answered yet: how many like it were there before? */
uint32_t cs_journal_occurrence(const struct cs_run *run, uint64_t id);
/* Durable: the call `id` is about to be sent. `then` runs when that is on record. */
void cs_journal_sent(struct cs_run *run, uint64_t id,
                     void (*then)(void *ctx, const struct cs_err *), void *ctx);
void cs_journal_ended(struct cs_run *run, const struct cs_job_end *end);
/* It has said all it had to say, and that is masked. */
void cs_journal_made(struct cs_run *run);
/* True: payloads are still on their way to the store; cs_run_go follows. */
bool cs_journal_busy(struct cs_run *run);
/* What is not written yet, into `more` of the execution's begin or end. */
void cs_journal_take(struct cs_run *run, struct cs_execution_more *more);
void cs_journal_done(struct cs_run *run);

/* Of all that stands in the journal of an execution, parts that the store has included; false: it
 * has none, or not all of it was stored. */
bool cs_journal_hash(const struct cs_run *run, unsigned char hash[32]);
void cs_journal_taken(struct cs_run *run); /* the store has it */

/* --- as it is played --- */

/*
 * Before the verdict an answer is given as soon as it is asked for. Then the program runs until it
 * waits, and hears one thing: the first that was recorded and has been asked for by now, or its
 * next timer, whichever was first.
 */
/* The journal is the caller's and must outlive it; blobs are read when they are needed. */
struct cs_player *cs_player_new(struct cs_run *run, const struct cs_journal_doc *doc);
void cs_player_free(struct cs_player *player);
/* Fills in the spec of a job that is to see the recorded world; run->player is there. */
int cs_player_world(struct cs_run *run, struct cs_job_spec *spec, struct cs_err *err);
/* True: it is answered from the record, now or when its time comes. False: it is not in it. */
bool cs_player_wish(struct cs_player *player, const struct cs_wish *wish);
void cs_player_facts(struct cs_player *player); /* the verdict is due */
/* The same, of a program that is another one than then: the verdict of now. */
void cs_player_judged(struct cs_player *player, bool allowed, struct cs_str why);
/* True: something follows. False: nothing is left that could be told, and no timer runs. */
int64_t cs_player_time(const struct cs_player *player);
bool cs_player_idle(struct cs_player *player, int64_t due_us);
/* What is heard right now comes from the record. */
bool cs_player_speaks(const struct cs_player *player);
/* Everything that was recorded has been heard. */
bool cs_player_over(const struct cs_player *player);
/* Of a call that is not answered from the record, and was looked at just now: the event of its
 * having been sent, the last time; NULL: it was not, or it may be sent as often as one likes. */
const struct cs_journal_event *cs_player_sent(const struct cs_player *player,
                                              const struct cs_wish *wish);
/* An event that was not asked for, from `from` on; NULL: none. */
const struct cs_journal_event *cs_player_left(const struct cs_player *player, size_t *from);

/* An answer to a wish that was not recorded; the same one that a wish like it got last: false if
 * there is none. Told when the program waits. */
void cs_player_say(struct cs_player *player, const struct cs_wish *wish, enum cs_answer answer,
                   struct cs_str payload);
bool cs_player_repeat(struct cs_player *player, const struct cs_wish *wish);

/* replay.c: a wish that is not in the record. True: it was seen to. */
bool cs_again_unknown(struct cs_run *run, const struct cs_wish *wish);
/* One that is in it. True: it was answered otherwise. */
bool cs_again_known(struct cs_run *run, const struct cs_wish *wish,
                    const struct cs_journal_event *event);
void cs_again_idle(struct cs_run *run, int64_t due_us);
void cs_again_damaged(struct cs_run *run, const struct cs_err *err); /* an answer is not there */

/* overlay.c: files that a changed program writes, in memory: the recorded world stays as it is. */
struct cs_overlay;
void cs_overlay_free(struct cs_overlay *overlay);
/* True: the wish is about a file that was written anew, and this is its answer. `known`: there is a
 * recorded one, which holds otherwise. */
bool cs_overlay_answer(struct cs_overlay **overlay, const struct cs_wish *wish, bool known,
                       int64_t time_us, enum cs_answer *answer, struct cs_buf *payload);

/* report.c: what is different. Fills in `same`, the hashes and `report`. */
struct cs_again_facts {
    const struct cs_journal_doc *doc;
    struct cs_str execution, recorded; /* the envelope of then */
    const struct cs_result *result;
    struct cs_str state; /* that it would have left; empty: as it was */
    bool changed;        /* it is another program */
    bool verified;       /* the ledger has the hash of its journal */
    uint32_t call;       /* where they parted; with `why` */
    struct cs_str server, tool, why;
};
void cs_again_report(const struct cs_again_facts *facts, struct cs_buf *report,
                     struct cs_replayed *replayed);

#endif
