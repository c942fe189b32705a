/*
 * Inside of run/: protection of one execution. The model sees tokens, tools see values.
 *
 *     inputs            -> masked before anything else sees them
 *     arguments         -> checked, recorded and hashed with their tokens; values are put in last
 *     results of tools  -> masked in the gate, before the record and the program see them
 *     outputs           -> what the program says is masked once more, values of its own included
 *
 *   shield.c        the shield of an execution: its vault, and how a text is masked
 *   shield_scan.c   large texts are looked at in the thread pool
 *   shield_in.c     inputs, arguments and results
 *   shield_out.c    everything towards the model; and values back, for a caller with that right
 *   shield_name.c   names of artifacts
 *   shield_words.c  words of the program itself
 *   shield_trail.c  the record: counts, never values
 *   safe.c          vaults of sessions, and what is kept of them
 *
 * A vault is made when the first thing is found. Whatever cannot be masked is not shown.
 */
#ifndef CS_RUN_SHIELD_H
#define CS_RUN_SHIELD_H

#include "run/inside.h"
#include "run/session_disk.h"

#define CS_SCAN_HERE (128u << 10) /* larger texts are looked at in the pool */

/* --- shield_scan.c --- */

struct cs_look {
    uv_work_t work;
    struct cs_detector *detector;
    enum cs_privacy_level level;
    enum cs_form form;
    struct cs_buf text; /* a copy */
    struct cs_spans spans;
    uint64_t us;
    void (*done)(void *ctx, struct cs_look *look); /* it is freed afterwards */
    void *ctx;                                     /* NULL: nobody wants to know any more */
};

struct cs_look *cs_look_start(uv_loop_t *loop, struct cs_detector *detector,
                              enum cs_privacy_level level, enum cs_form form, struct cs_str text,
                              void (*done)(void *ctx, struct cs_look *look), void *ctx);

/* --- safe.c: the vault of a session --- */

/* Lives as long as its session, or somebody who uses it. */
struct cs_safe {
    struct cs_safe *next;
    uint32_t refs;
    char id[CS_SESSION_ID + 1], tenant[65];
    struct cs_vault *vault; /* NULL: nothing is in it yet */
    size_t known;           /* parts of what the store has that are in it */
};

struct cs_safe *cs_safe_get(struct cs_sessions *sessions, struct cs_str tenant, struct cs_str id);
void cs_safe_unref(struct cs_safe *safe);
/* It is not found again: what the store has counts. */
void cs_safe_leave(struct cs_sessions *sessions, struct cs_safe *safe);
/* The session is over: nothing of its vault stays, here and in the store. */
void cs_safe_wipe(struct cs_sessions *sessions, struct cs_str tenant, struct cs_str id);
void cs_safes_done(struct cs_sessions *sessions);

/* --- shield.c --- */

/* For the store; the run may be over by then. */
struct cs_waits {
    struct cs_run *run;
};

struct cs_tool_count {
    struct cs_str name; /* "server/tool" */
    uint32_t found;
};

struct cs_shield {
    struct cs_privacy *privacy;
    struct cs_detector *detector; /* with what the request wants besides */
    enum cs_privacy_level asked, level;
    struct cs_vault *vault;      /* NULL: nothing was found yet */
    struct cs_safe *safe;        /* whose it is, if it is a session's */
    bool inputs_wait;            /* for the session: they hold something that gets its tokens */
    bool is_sealed;              /* the store has something of its own vault */
    bool is_recorded;            /* `made` is written by its vault */
    struct cs_buf made;          /* tokens that the program's own values got */
    struct cs_str played;        /* of a replay: those of then */
    struct cs_waits *waits;      /* NULL: it does not */
    struct cs_look *look;        /* at the inputs or an output */
    unsigned output;             /* the next one that is to be masked */
    struct cs_buf held[2];       /* streams of a guest, from where it is not known how they go on */
    struct cs_tool_count *tools; /* in whose results something was found */
    uint32_t tool_count, tool_cap;
    struct cs_str *unprotected;
    uint32_t unprotected_cap;
    struct cs_result *revealed; /* the result with values; its texts: */
    struct cs_arena revealed_texts;
};

/* Its vault, or that of its session before it was needed; NULL: nothing is in it yet. */
static inline struct cs_vault *cs_shield_known(const struct cs_shield *sh)
{
    return sh->vault ? sh->vault : sh->safe ? sh->safe->vault : NULL;
}

/* Before anything else is done with it. */
void cs_shield_open(struct cs_run *run);
/* What is kept of a request that has a key, so that another one can be told from it, cannot be
 * guessed by trying values. */
void cs_shield_fingerprint(struct cs_run *run);
/* What the request wants looked for besides. */
int cs_shield_customs(struct cs_run *run, struct cs_err *err);
/* Made, if there is none. */
struct cs_vault *cs_shield_vault(struct cs_run *run);
void cs_shield_done(struct cs_run *run);
/* Its session is somebody else's from now on. */
void cs_shield_detach(struct cs_run *run);

/* Where a text comes from, and what it may hold. */
struct cs_passage {
    enum cs_privacy_level level;
    enum cs_form form;
    enum cs_origin origin;
    bool literals;
    struct cs_str server;
    const struct cs_own *own;
    const struct cs_revealed *revealed;
    const struct cs_look *look; /* it was looked at; NULL: not yet */
    struct cs_masked *sum;      /* what is found is added to it */
};
/* As cs_mask. */
int cs_shield_mask(struct cs_run *run, const struct cs_passage *how, struct cs_str text,
                   struct cs_buf *out, struct cs_err *err);
/* Whose vault it is, for the store: "tenant/session", or "tenant/execution". */
struct cs_str cs_shield_owner(const struct cs_run *run, struct cs_buf *text);
/* What is new in its vault is on its way to the store, before whatever follows. `done` may be NULL.
 * False: there was nothing, and `done` will not run. */
bool cs_shield_seal(struct cs_run *run, cs_stored *done, void *ctx);

/* It is over: nothing of a vault of its own stays in the store. */
void cs_shield_wipe(struct cs_run *run);

/* --- shield_in.c --- */

int cs_step_inputs(struct cs_run *run, struct cs_err *err); /* tokens instead of values */
int cs_step_vault(struct cs_run *run, struct cs_err *err);  /* what its session or process knew */
int cs_step_seal(struct cs_run *run, struct cs_err *err);   /* what its session must know later */
/* Its inputs and their hash were not known before it had its session. Of a durable one nothing is
 * on record until then: if its process dies meanwhile, it is lost, and not begun. */
bool cs_shield_waits_for_session(const struct cs_run *run);

/* Of a call whose tool is known. The level its result is masked at. */
enum cs_privacy_level cs_shield_level(struct cs_gate_call *call);
/* As cs_mask, of what the tool has answered. */
int cs_shield_result(struct cs_gate_call *call, struct cs_str value, bool is_json,
                     const struct cs_look *look, struct cs_buf *out, struct cs_err *err);
/* The words of an error, for the program: masked, and without places of this machine. */
struct cs_str cs_shield_error(struct cs_gate_call *call, struct cs_str message,
                              struct cs_arena *arena);
/* The same, of a server that says why it cannot be used. */
void cs_shield_words(struct cs_run *run, struct cs_str server, struct cs_str message,
                     struct cs_buf *out);
/* As cs_unmask, into the arguments as the tool gets them; the error is a sentence for the program.
 */
int cs_shield_arguments(struct cs_gate_call *call, struct cs_buf *out, struct cs_unmasked *unmasked,
                        struct cs_err *err);
/* As cs_unmask, with every value that is known: for a hash of it, and for nobody to see. */
int cs_shield_value(const struct cs_gate_call *call, struct cs_str json, struct cs_buf *out);
/* Does it hold values that its tool gets only if a person says so, and none that it never gets?
 * `which`: "SSN x 2, CREDIT_CARD". */
bool cs_shield_asks(struct cs_gate_call *call, struct cs_buf *which);
/* Values that its tokens stand for, by the server that they came from (empty: none) and what they
 * are: "EMAIL". At most so many rows. */
struct cs_token_row {
    struct cs_str from;
    struct cs_str name; /* of what it is */
    uint32_t count;
};
#define CS_TOKEN_ROWS 32
size_t cs_shield_tokens(struct cs_gate_call *call, struct cs_token_row rows[CS_TOKEN_ROWS]);
/* What a model is asked, and what it answers: empty, if it speaks of what the tool may not have. */
int cs_shield_question(struct cs_gate_call *call, struct cs_str json, struct cs_buf *out,
                       struct cs_err *err);
struct cs_str cs_shield_reply(struct cs_gate_call *call, struct cs_str json, struct cs_buf *out);
/* Content of an artifact, on its way into the program. `is_own`: its tokens are those of this
 * vault. */
int cs_shield_artifact(struct cs_run *run, bool is_own, struct cs_str json, struct cs_buf *out,
                       struct cs_err *err);

/* --- shield_out.c --- */

/* A text of the program's that is shown now. What cannot be masked is replaced. `buf` owns it, if
 * it had to be changed. */
struct cs_str cs_shield_said(struct cs_run *run, enum cs_form form, struct cs_str text,
                             struct cs_buf *buf);
/* Bytes of a guest's stream; they are told to the watchers once it is known how they go on. */
void cs_shield_output(struct cs_run *run, bool is_stderr, struct cs_str bytes);
void cs_shield_flush(struct cs_run *run);                 /* it is over: the rest of the streams */
int cs_step_mask(struct cs_run *run, struct cs_err *err); /* result, error, streams */
/* Before its end is put on record: values instead of tokens, if they were asked for. */
void cs_shield_prepare(struct cs_run *run);
/* The result as the one who started it gets it. */
const struct cs_result *cs_shield_reveal(struct cs_run *run);

/* --- shield_name.c --- */

/* The name of an artifact with kinds instead of values, "[EMAIL].csv". `buf` owns it, if it had to
 * be changed. */
struct cs_str cs_shield_name(const struct cs_run *run, struct cs_str name, struct cs_buf *buf);

/* --- shield_words.c --- */

/* What is personal in a part of an error, without words that are the program's own identifiers.
 * False: there is none of those. */
bool cs_shield_doubt(const struct cs_run *run, struct cs_str text, struct cs_spans *spans);

/* --- shield_trail.c --- */

void cs_shield_count(struct cs_gate_call *call, uint32_t found);
void cs_shield_unprotected(struct cs_gate_call *call);
void cs_shield_settled(struct cs_run *run); /* its entries, when its end is put on record */
void cs_shield_note_restored(struct cs_gate_call *call, const struct cs_unmasked *unmasked,
                             const struct cs_str *rules, size_t rule_count);
void cs_shield_note_revealed(struct cs_run *run, const uint32_t put[CS_PII_COUNT]);

#endif
