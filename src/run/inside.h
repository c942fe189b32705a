/* Inside of run/: one execution, as run.c drives it step by step. */
#ifndef CS_RUN_INSIDE_H
#define CS_RUN_INSIDE_H

#include "base/arena.h"
#include "run/run.h"

struct cs_look;
struct cs_shield;
struct cs_gate_call;

/* --- queue.c: turns. So many at once; tenants take turns, and one tenant's are served in order ---
 */

struct cs_line;

struct cs_place {
    struct cs_place *next;
    struct cs_line *line; /* NULL: does not wait */
    bool has_turn;
    uint64_t since_ns; /* of its turn */
};

struct cs_queue {
    uint32_t most, running, waiting;
    struct cs_line *last;                  /* a ring: the next one to be served is last->next */
    double turn_s;                         /* how long a turn took lately */
    void (*go)(struct cs_place *its_turn); /* called in cs_queue_quit of somebody else */
};

/* True: it has its turn at once, and `go` is not called. */
bool cs_queue_enter(struct cs_queue *queue, struct cs_str tenant, struct cs_place *place);
/* Its turn is over, or it does not want one any more, or never had. */
void cs_queue_quit(struct cs_queue *queue, struct cs_place *place);
/* After how many seconds `waiting` turns will have been given, by what was seen lately: 1 to 60. */
uint32_t cs_queue_seconds(const struct cs_queue *queue, uint32_t waiting);

/* --- one runner, one run --- */

struct cs_runner {
    uv_loop_t *loop;
    struct cs_sandbox *sandbox;
    struct cs_tools *tools;
    struct cs_policy *policy;     /* the newest; an execution keeps the one it began with */
    struct cs_store *store;       /* NULL: nothing is kept */
    struct cs_sessions *sessions; /* NULL: there are none */
    uint32_t most_waiting;
    uint64_t artifact_bytes;
    struct cs_queue queue;
    struct cs_cache *cache; /* NULL: none */
    struct cs_resumer *resumer;
    struct cs_observer observer;
    struct cs_privacy *privacy; /* NULL: there is no protection */
    bool has_vault_key;
    struct cs_vault_key vault_key;
    char *data_dir;
    uint64_t journal_bytes, artifact_quota;
    uint64_t hashed; /* trail.c: serial of the last catalogue that was, and its hash */
    unsigned char tools_hash[32];
    int64_t refusal_second; /* since 1970, and how many in it */
    uint32_t refusals;
    uint64_t refusals_left_out;
    struct cs_lately *lately;       /* journal.c: blobs that were put a moment ago */
    struct cs_figures figures;      /* but those that are asked for when they are wanted */
    struct cs_run *runs;            /* all that are not done, newest first */
    uint32_t agains;                /* replays that are not done */
    uint32_t waiting;               /* of them: admitted, and without a turn yet */
    struct cs_run_ask *asks;        /* open questions of all executions */
    struct cs_approvals *approvals; /* approvals.c */
    struct cs_history *history;     /* history.c */
    bool closing, sandbox_closed;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

struct cs_run_ask {
    struct cs_run_ask *next;
    struct cs_run *run;
    uint64_t id;
    struct cs_gate_call *call; /* of a question to a model: whose; else NULL */
};

/* One more watcher. */
struct cs_run_seat {
    struct cs_run_seat *next;
    struct cs_run *run;
    struct cs_run_watch watch;
    void (*done)(void *ctx, const struct cs_result *result);
    void *ctx;
    bool left;
};

struct cs_run {
    struct cs_runner *runner;
    struct cs_policy *policy;   /* what counts for it: the one that it began under */
    struct cs_shield *shield;   /* shield.c; NULL: it is not protected */
    struct cs_run *next, *prev; /* in runner->runs */
    struct cs_job *job;         /* NULL: not started, or over */
    struct cs_run_watch watch;  /* of whoever started it; */
    void (*done)(void *ctx, const struct cs_result *result);
    void *ctx;
    struct cs_run_seat *seats;          /* and the others */
    uint32_t telling;                   /* seats that are left now are freed later */
    struct cs_open_approval *approvals; /* seats.c: what persons are asked now */

    struct cs_request request; /* lent by whoever starts it; copied if it has to wait */
    struct cs_str tenant, principal;
    unsigned step;      /* the next one, of the table in run.c */
    bool waiting;       /* counted in runner->waiting */
    bool settling;      /* it is over, whatever it was */
    bool cancelled;     /* while its key was looked for */
    bool refused;       /* it was told, or was told then, that it may not run */
    bool leaves;        /* this process ends, and the next one goes on with it */
    uint64_t queued_ns; /* since when it waits */
    uint64_t start_ns;  /* result.started_us, by the clock that never jumps */
    struct cs_place place;

    /* record.c */
    bool on_record, beginning, end_stored;
    bool end_waits;             /* for entries that are on their way */
    bool admitted, told;        /* it has its session, if any; and watchers have heard `begun` */
    uv_timer_t *soon;           /* until they do, if it joins one that has told them */
    bool is_joiner;             /* it does not run: another one has the same key, */
    struct cs_run_seat *joined; /* and it waits for that */
    struct cs_err record_error;
    struct cs_buf envelope;
    size_t chain_at; /* where in it the hash of its end stands */

    /* hold.c */
    struct cs_hold *hold;
    struct cs_str state, new_state;
    uint64_t state_bytes;
    const char *workspace, *workspace_out;

    /* the record */
    struct cs_trail *trail;     /* trail.c */
    struct cs_journal *journal; /* journal.c; NULL: none is kept */
    struct cs_player *player;   /* player.c: what was recorded is played first; NULL: nothing is */
    struct cs_resume *resume;   /* resume.c; NULL: it began in this process */
    struct cs_again *again;     /* replay.c: it is no execution, and leaves nothing; NULL: it is */
    struct cs_keep *cache;      /* cache.c */
    struct cs_lineage *lineage; /* lineage.c */
    uint64_t seed[2];
    unsigned char argument_hash[32]; /* of the wish that is looked at now; */
    int64_t sent_us; /* when a process that is gone has sent it; 0: it was not sent, or it may be
                      * sent as often as one likes */
    struct cs_call *answering; /* the call that is answered now; NULL: none */

    /* artifacts.c */
    struct cs_artifact *artifacts;
    uint32_t artifact_cap;
    unsigned kept; /* results and streams that were looked at */
    struct cs_harvest *harvest;
    struct cs_str left_out[CS_HARVEST_NOTES];

    struct cs_arena arena; /* what the result points at, unless it is one of these: */
    struct cs_log *logs;   /* and the buffers that own their texts */
    struct cs_buf *log_texts;
    size_t log_count, log_cap;
    struct cs_buf out, err;
    uint64_t output;            /* bytes of logs and streams kept so far */
    uint64_t code_bytes;        /* of the program, */
    struct cs_str code_shown;   /* which is kept for a person who is asked, */
    struct cs_str inputs_shown; /* as the beginning of its inputs is */
    uint64_t inputs_bytes;
    struct cs_catalogue *catalogue; /* what the program sees; NULL: no tools */
    struct cs_gate_call *calls;     /* under way or waiting for their turn, oldest first */
    struct cs_call *records;        /* of all calls, those that are over included */
    uint32_t record_cap, calls_running;
    struct cs_await *await;     /* waits for servers */
    struct cs_guarded *guarded; /* guard.c, flows.c */
    struct cs_job_end early;    /* for an end before there was a job */
    struct cs_result result;
};

/* Where it is kept; NULL: nowhere. */
static inline struct cs_store *cs_run_store(const struct cs_run *run)
{
    return run->again ? NULL : run->runner->store;
}

/*
 * A step of the way. CS_ON: the next one may follow. CS_LATER: cs_run_go, cs_run_refuse or
 * cs_run_fail follows, never before the step has returned. -1: as cs_run_refuse.
 */
enum { CS_LATER, CS_ON };

void cs_run_go(struct cs_run *run);
/* It is not even begun, and leaves no record. */
void cs_run_refuse(struct cs_run *run, const struct cs_err *err);
/* It ends without having had a job. */
void cs_run_end_early(struct cs_run *run, enum cs_ending how, const struct cs_err *err);
void cs_run_waits_no_more(struct cs_run *run);
/* cancel.c: a durable one whose journal has begun; the next process can go on with it. */
bool cs_run_may_leave(const struct cs_run *run);
/* One that is on record already, as `id`; cs_run_go follows. */
struct cs_run *cs_run_resumed(struct cs_runner *runner, const struct cs_request *request,
                              struct cs_str id,
                              void (*done)(void *ctx, const struct cs_result *result), void *ctx);
/* Its result is there without a job. As a step: CS_ON it goes on with settling, CS_LATER it will.
 */
int cs_run_known(struct cs_run *run);
/* The answer leaves. */
void cs_run_finish(struct cs_run *run);

int cs_step_begin(struct cs_run *run, struct cs_err *err); /* record.c */
int cs_step_begun(struct cs_run *run, struct cs_err *err);
int cs_step_hold(struct cs_run *run, struct cs_err *err);    /* hold.c */
int cs_step_turn(struct cs_run *run, struct cs_err *err);    /* queue.c */
int cs_step_release(struct cs_run *run, struct cs_err *err); /* hold.c */
int cs_step_recall(struct cs_run *run, struct cs_err *err);  /* artifacts.c */
int cs_step_collect(struct cs_run *run, struct cs_err *err); /* collect.c */
int cs_step_keep(struct cs_run *run, struct cs_err *err);    /* artifacts.c */
int cs_step_trace(struct cs_run *run, struct cs_err *err);   /* lineage.c */
int cs_step_end(struct cs_run *run, struct cs_err *err);     /* record.c */

/* settle.c: fills run->result from how the job ended. Everything a worker reported is checked here.
 */
void cs_settle(struct cs_run *run, const struct cs_job_end *end);
/* hold.c: gives its session back as it was. */
void cs_run_unhold(struct cs_run *run);

/* It went well, but what had to follow did not. */
void cs_settle_fault(struct cs_run *run, const struct cs_err *err);

/* record.c */
void cs_record_leave(struct cs_run *run); /* waits no longer for the execution it has joined */

/* seats.c */
void cs_seats_log(struct cs_run *run, enum cs_level level, struct cs_str text);
void cs_seats_output(struct cs_run *run, bool is_stderr, struct cs_str bytes);
void cs_seats_progress(struct cs_run *run, struct cs_str json);
void cs_seats_begun(struct cs_run *run);
/* Whoever asks a person says so here when the question is stored, and again when it is over. */
void cs_seats_approval(struct cs_run *run, const struct cs_approval_row *row);
void cs_seats_approval_over(struct cs_run *run, const struct cs_approval_row *row);
void cs_seats_free(struct cs_run *run);
void cs_seats_done(struct cs_run *run, const struct cs_result *result);

/* envelope.c: as cs_envelope; where the hash of its place in the chain stands, or 0. */
size_t cs_envelope_at(const struct cs_result *result, struct cs_buf *out);

/* figures.c */
void cs_figures_count(struct cs_runner *runner, const struct cs_run *run);
/* What did not have to pass through a model, because a program did the calls: the bytes of their
 * arguments and results, less those of the program and of what it answered; four are a token. */
uint64_t cs_tokens_saved(const struct cs_run *run);
/* Of an execution that was settled. `tools` holds what the measure points at. */
void cs_measure_of(const struct cs_run *run, int64_t finished, struct cs_buf *tools,
                   struct cs_buf *masked, struct cs_measure *measure);

/* trace.c: where it belongs in the traces of others, when it begins. */
void cs_run_trace(struct cs_run *run);
void cs_run_span(unsigned char span[8]);

#define CS_ID_TEXT 40
/* The prefix and 32 hex digits, of which the first 12 are the time in milliseconds: rows are added
 * at the end of their indexes. `id` has room for them and a NUL. */
void cs_make_id(const char *prefix, char *id);

/* call.c: the gate. One way for every call: allowed, valid, small enough, its turn, sent, answered.
 */
void cs_gate_call(struct cs_run *run, uint64_t id, struct cs_str server, struct cs_str tool,
                  struct cs_str arguments);
/* One more call of a tool, in run->records; its index. */
uint32_t cs_gate_note(struct cs_run *run, struct cs_str server, struct cs_str tool, size_t bytes);
/* A module below /mcp-servers that is not there: perhaps its server has not been asked yet. */
void cs_gate_module(struct cs_run *run, uint64_t id, struct cs_str path);
/* The program is over: what is still under way is cancelled, downstream too. */
void cs_gate_close(struct cs_run *run);

/* ask.c: questions of servers to the watchers of the executions that they belong to. */
void cs_asks_open(struct cs_runner *runner, unsigned kinds);
void cs_asks_close(struct cs_run *run); /* it is over, and so are its calls */
void cs_asks_leave(const struct cs_gate_call *call);

/* guard_late.c: what a call is known by in the journal, of its arguments. */
void cs_guard_wish_hash(const struct cs_wish *wish, unsigned char hash[32]);

/* A wish of the program that has not been answered yet. */
struct cs_gate_call {
    struct cs_run *run;
    struct cs_gate_call *next;
    uint64_t id;
    uint64_t start_ns;
    uint32_t record; /* index in run->records; UINT32_MAX: it is no call of a server's tool */
    bool asked;      /* its server was listed anew because of it */
    bool looked;     /* whether somebody has looked at its tool was asked anew because of it */
    bool is_running; /* it has had its turn */
    struct cs_catalogue *catalogue; /* what `tool` belongs to */
    const struct cs_tool *tool;
    struct cs_tool_call *inner; /* NULL: it is not sent, or was answered */
    struct cs_await *await;
    struct cs_own_wait *wait;             /* for the store: storage.c */
    struct cs_sending *sending;           /* that it is sent is being put on record */
    struct cs_look *look;                 /* at its answer */
    struct cs_own *own;                   /* what the program itself wrote into the arguments */
    struct cs_revealed *revealed;         /* values that its tool was given */
    struct cs_question *question;         /* it waits for a person */
    unsigned char binding[32], scope[32]; /* of it, or of the last one */
    bool allowed;    /* the answer is yes, and it waits for its execution's turn */
    bool approved;   /* a person, or a grant, lets exactly this one through */
    int64_t sent_us; /* a process that is gone has sent it, then; 0: none, or it was sent again */
    bool changed;    /* its tool is defined otherwise than when the program began */
    bool granted;    /* nothing stops it any more */
    enum cs_answer answer; /* that is looked at; seen: it was parsed, too */
    bool answer_seen;
    struct cs_call_limits limits;
    unsigned char cache_key[32]; /* cache_calls.c, if keep_ms is not 0 */
    int64_t keep_ms;
    struct cs_buf server, name, arguments; /* as the program gave them */
};

/* What a tool has answered, before it is masked. */
struct cs_kept_answer {
    struct cs_str value;
    enum cs_answer answer;
    bool is_seen; /* it was parsed */
};

struct cs_refusal {
    enum cs_call_status status;
    enum cs_answer code;
    const char *type; /* of the error; NULL: what the code stands for */
    bool retryable;
};

struct cs_gate_call *cs_gate_call_new(struct cs_run *run, uint64_t id);
void cs_gate_call_free(struct cs_gate_call *call);
/* Both end the call. */
void cs_gate_answer(struct cs_gate_call *call, enum cs_call_status status, enum cs_answer code,
                    struct cs_str payload);
void cs_gate_refuse(struct cs_gate_call *call, struct cs_refusal refusal, struct cs_str message,
                    struct cs_str suggestion);
/* A value that its tool has answered, some time: it is masked, bounded, and then the call's answer.
 * `root`: as it was parsed, or none. */
void cs_gate_deliver(struct cs_gate_call *call, enum cs_answer answer, struct cs_str value,
                     struct cs_json_val root);
/* As the policy knows it. */
struct cs_target cs_gate_target(const struct cs_tool *tool);
/* May this run see that tool? `ctx` is the run. */
bool cs_gate_allowed(void *ctx, const struct cs_tool *tool);

/* discover.c: calls of our own, server "caisson": searchTools, readToolDefinition. */
void cs_gate_own(struct cs_gate_call *call);
/* storage.c: storageGet, storageList. False: it is neither. */
bool cs_gate_storage(struct cs_gate_call *call);
struct cs_own_wait;
void cs_own_wait_leave(struct cs_own_wait *wait);
/* Why a configured server offers nothing; nothing is added if there is no such reason. */
void cs_gate_why(struct cs_run *run, struct cs_str server, struct cs_buf *text);

/* unwrap.c: what a program gets out of an MCP result: structuredContent, else the one text block as
 * JSON, else as text, else the blocks. */
struct cs_unwrapped {
    bool is_error, retryable; /* then `value` is a text for people, not JSON */
    bool is_text;             /* `value` is a text that nobody has looked into; no `root` */
    struct cs_str value;      /* in the result, or in the arena */
    struct cs_json_val root;  /* of the value */
    struct cs_json text;      /* of a text that is JSON */
    struct cs_arena arena;
};
/* `result` must outlive it. A text of more than `parse_max` bytes that may be JSON is left to the
 * worker. CS_UPSTREAM: this is no MCP result. */
int cs_unwrap(struct cs_json_val result, size_t parse_max, struct cs_unwrapped *unwrapped,
              struct cs_err *err);
void cs_unwrapped_done(struct cs_unwrapped *unwrapped);

/* --- the record of what happens --- */

/* trail.c: entries of the ledger. `data` of an entry is written by the caller, canonical. They wait
 * in the run, in order, until the next write of its record takes them along, or flush. */
void cs_trail_note(struct cs_run *run, const char *event, struct cs_str data);
/* They go ahead; cs_record_flown (record.c) is told how they fared. */
void cs_trail_flush(struct cs_run *run);
bool cs_trail_busy(const struct cs_run *run); /* some are on their way */
void cs_record_flown(struct cs_run *run, const struct cs_err *err);
void cs_trail_admitted(struct cs_run *run);
void cs_trail_assessed(struct cs_run *run);
void cs_trail_imported(struct cs_run *run, const struct cs_verdict *late); /* as it runs */
void cs_trail_started(struct cs_run *run);
void cs_trail_refused(struct cs_run *run, const struct cs_err *err);
void cs_trail_call(struct cs_run *run, const struct cs_call *call);
void cs_trail_settled(struct cs_run *run);
/* What `more` of begin and end is to be; lent until the next note. */
void cs_trail_take(struct cs_run *run, struct cs_execution_more *more);
void cs_trail_done(struct cs_run *run);

/* provenance.c */
void cs_provenance_begin(struct cs_run *run);  /* when it is admitted */
void cs_provenance_inputs(struct cs_run *run); /* when they are as they are kept */
void cs_provenance_fill(struct cs_run *run);   /* when it is settled */

/* journal.c: what an execution heard; see journal.h. Inside cs_run: `journal`. */
struct cs_journal;
struct cs_player;
struct cs_journal_doc;

/* cache.c */
int cs_step_cache(struct cs_run *run, struct cs_err *err); /* is its answer known? */
void cs_cache_keep(struct cs_run *run);    /* it is done: is it worth keeping? Ends run->cache */
void cs_cache_record(struct cs_run *run);  /* its end is about to be put on record: so is this */
void cs_cache_settled(struct cs_run *run); /* its session has not been given back yet */
/* What its answer depends on: a tool that it called; all there are. Or it depends on so much that
 * it is not kept. */
void cs_cache_used(struct cs_run *run, const struct cs_tool *tool);
void cs_cache_saw_tools(struct cs_run *run);
void cs_cache_wish(struct cs_run *run, const struct cs_wish *wish);
void cs_cache_never(struct cs_run *run, const char *why);
struct cs_cache;
void cs_cache_free(struct cs_cache *cache);
/* cache_calls.c. True: the call was answered. And what it was answered otherwise, if it is ok. */
bool cs_cache_call(struct cs_gate_call *call);
void cs_cache_called(struct cs_gate_call *call, enum cs_answer answer, struct cs_str value);

/* resume.c: one that another process began, as it goes on here; see resume.h. Inside cs_run:
 * `resume`. */
struct cs_resume;
struct cs_resumer;
void cs_resumer_close(struct cs_resumer *resumer); /* NULL: there is none */
/* Each is for one with `resume` alone. */
void cs_resume_spec(struct cs_run *run, struct cs_job_spec *spec);   /* its job is about to start */
void cs_resume_held(struct cs_run *run, const struct cs_held *held); /* it has its session */
bool cs_resume_begun(const struct cs_run *run); /* the program had been told that it may run */
void cs_resume_facts(struct cs_run *run, bool allowed, struct cs_str why); /* the verdict is due */
bool cs_resume_wish(struct cs_run *run, const struct cs_wish *wish, bool played);
void cs_resume_idle(struct cs_run *run, int64_t due_us);
/* For all. */
void cs_resume_close(struct cs_run *run);   /* the program is over */
void cs_resume_settled(struct cs_run *run); /* it has a result; perhaps it is lost after all */
void cs_resume_done(struct cs_run *run);

/* replay.c: one that is run again. It belongs to whoever started it, who is `ctx` of its `done`. */
struct cs_again;
struct cs_run *cs_run_start_again(struct cs_runner *runner, const struct cs_request *request,
                                  struct cs_again *again, const char *id,
                                  void (*done)(void *ctx, const struct cs_result *result));
void cs_runner_again_over(struct cs_runner *runner); /* one that did not get to a run is done */
void cs_again_open(struct cs_run *run);
const struct cs_journal_doc *cs_again_doc(const struct cs_run *run);
bool cs_again_changed(const struct cs_run *run); /* it is another program than then */
/* How it ended: as it did then, if it stands where that one stood when somebody ended it. */
const struct cs_job_end *cs_again_ended(struct cs_run *run, const struct cs_job_end *end,
                                        struct cs_job_end *as_then);

/* artifacts.c: what is kept becomes a row, and is known to the result once it is stored. `content`
 * is copied; its texts too. */
struct cs_artifact_want {
    struct cs_str name, media_type, content;
    const char *kind; /* a literal */
    const char *id;   /* NULL: a new one */
};
/* The handle of what a program puts: the same one for the same arguments of the same execution, so
 * that one that is resumed and puts again has not put twice. */
void cs_artifact_id(const struct cs_run *run, struct cs_str arguments, char id[CS_ID_TEXT]);
void cs_artifact_keep(struct cs_run *run, const struct cs_artifact_want *want,
                      cs_artifact_found *done, void *ctx);
/* In the `done` of it. */
void cs_artifact_kept(struct cs_run *run, const struct cs_artifact_row *row);
void cs_artifact_left_out(struct cs_run *run, struct cs_str why);
void cs_artifacts_done(struct cs_run *run);

/* media.c: what a file is, by the end of its name, or else by its first bytes. */
struct cs_str cs_media_type(struct cs_str name, struct cs_str content);
/* Is it text, as far as the first bytes tell? */
bool cs_media_text(struct cs_str content);

/* lineage.c: an execution has read this artifact. */
void cs_lineage_read(struct cs_run *run, const struct cs_artifact_row *row);
void cs_lineage_done(struct cs_run *run);

#endif
