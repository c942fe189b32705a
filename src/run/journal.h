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
    CS_JOURNAL_SENT, /* a call that must not be repeated was sent: durable executions only */
};

struct cs_journal_event {
    enum cs_journal_kind kind;
    enum cs_heard_kind what;
    unsigned char key[32]; /* of the wish: kind, names, canonical arguments */
    uint32_t occurrence;   /* 0, 1, ... among wishes of the same key */
    uint32_t call;         /* CALL: its number in the execution, from 1 */
    struct cs_str server, tool;
    int64_t time_us;
    enum cs_answer answer;
    struct cs_str canonical, payload; /* payload: empty if it is a blob */
    unsigned char hash[32];           /* of the payload */
    bool is_blob;
    uint64_t size;
};

struct cs_journal_doc {
    enum cs_language language;
    struct cs_str code, inputs, state, globals, principal, session, intent;
    uint64_t seed[2], state_bytes;
    int64_t start_us;
    struct cs_limits limits;
    struct cs_journal_event *events;
    size_t count;
    struct cs_arena arena;
};

/* CS_INVALID: it is damaged, or of a version that is not known. */
int cs_journal_read(struct cs_str bytes, struct cs_journal_doc *doc, struct cs_err *err);
void cs_journal_doc_done(struct cs_journal_doc *doc);

/* --- as it is written --- */

void cs_journal_begin(struct cs_run *run); /* its job is about to start */
/* Every wish, in its order; it may be one that is played. */
void cs_journal_wish(struct cs_run *run, const struct cs_wish *wish);
void cs_journal_heard(struct cs_run *run, const struct cs_heard *heard);
/* Durable: the call `id` is about to be sent. `then` runs when that is on record. */
void cs_journal_sent(struct cs_run *run, uint64_t id,
                     void (*then)(void *ctx, const struct cs_err *), void *ctx);
/* What is not written yet, into `more` of the execution's begin or end. */
void cs_journal_take(struct cs_run *run, struct cs_execution_more *more);
void cs_journal_done(struct cs_run *run);

/* --- as it is played --- */

/* The journal is the caller's and must outlive it; blobs are read when they are needed. */
struct cs_player *cs_player_new(struct cs_run *run, const struct cs_journal_doc *doc);
void cs_player_free(struct cs_player *player);
/* True: it is answered from the record, now or when its time comes. False: it is not in it. */
bool cs_player_wish(struct cs_player *player, const struct cs_wish *wish);
void cs_player_facts(struct cs_player *player); /* the verdict is due */
void cs_player_idle(struct cs_player *player, int64_t due_us);
/* Everything that was recorded has been heard. */
bool cs_player_over(const struct cs_player *player);
/* Was a call like this sent, and never answered? */
bool cs_player_ambiguous(const struct cs_player *player, const struct cs_wish *wish);

#endif
