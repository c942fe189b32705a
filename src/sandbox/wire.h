/*
 * What crosses the wall: frames between the daemon and one worker (or guest), over one stream
 * socket.
 *
 * Runs in: both sides, so it depends on base/ alone.
 * Order:   cs_wire_reader_feed bytes as they come, cs_wire_next until it says there is no more.
 * Limits:  every message has a largest body in the table below; a longer one, an unknown one, one
 * of another version or one that does not belong into this phase is CS_DENIED, and ends the peer.
 *
 * A frame is a head of 24 bytes in the machine's own byte order (both ends are the same machine),
 * then `len` bytes of body. A body is a sequence of fields: u8, u32, u64 or a string (u32 length,
 * then bytes). Fields are read with the cs_field_ functions, which cannot run over the end.
 */
#ifndef CS_SANDBOX_WIRE_H
#define CS_SANDBOX_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define CS_WIRE_VERSION 3

#define CS_KIB 1024u
#define CS_MIB (1024u * 1024u)

/* Hard caps of the protocol; the limits of one execution (struct cs_limits) lie below them. */
#define CS_PROGRAM_MAX (64u * CS_MIB)
#define CS_MODULE_MAX  (8u * CS_MIB)
#define CS_PATH_MAX    (4u * CS_KIB)
#define CS_FACTS_MAX   (1u * CS_MIB)
#define CS_CALL_MAX    (16u * CS_MIB)
#define CS_FILE_MAX    (32u * CS_MIB)
#define CS_LOG_MAX     (256u * CS_KIB)
#define CS_STATE_MAX   (16u * CS_MIB)
#define CS_DONE_MAX    (32u * CS_MIB + CS_STATE_MAX)

/* Calls that wait for their answer, and the bytes of their arguments: more ends the program. A
 * worker sends no more than its limit at once, so only one that lies gets here. */
#define CS_CALLS_AT_ONCE_MAX 256u
#define CS_CALLS_BYTES_MAX   (64u * CS_MIB)

/* Where an execution stands, as both sides see it. Bits, so that a message can name several. */
enum cs_phase {
    CS_PHASE_BOOT = 1,     /* forked; nothing said yet */
    CS_PHASE_IDLE = 2,     /* READY was sent; waits for a program */
    CS_PHASE_COMPILE = 4,  /* has the source: parses it, asks for modules */
    CS_PHASE_ASSESS = 8,   /* FACTS were sent; waits for the verdict, may do nothing */
    CS_PHASE_EXECUTE = 16, /* runs */
    CS_PHASE_ENDED = 32,   /* DONE was sent; nothing more may come */
};

/*
 * name, sent by, allowed in these phases, phase afterwards (0: unchanged), largest body
 *
 *   READY     u32 wire version
 *   PROGRAM   see struct cs_program; the daemon's start signal
 *   ASK       (module wanted) id; str path, normalised and absolute
 *   MODULE    answers ASK id: u8 status (enum cs_answer), str canonical path, str source or message
 *   FACTS     str JSON: what the program imports, reaches, hides
 *   VERDICT   u8 allowed, str message
 *   CALL      id; str server, str tool, str arguments JSON
 *   FILE      id; u8 op (enum cs_file_op), str path, str data or second path, u32 flags
 *   RESULT    answers CALL or FILE id: u8 status (enum cs_answer), str payload. Of a CALL that
 *             failed the payload is JSON {message, retryable?, suggestion?, type?}, of a FILE a
 *             message
 *   LOG       u8 level (enum cs_level), str text
 *   PROGRESS  str JSON {progress, total?, message?}
 *   DONE      u8 outcome (enum cs_outcome), str result or error as JSON, u32 times memory was
 *             refused, str the state as JSON if it is not what PROGRAM said
 *   CANCEL    nothing: abort what waits; the daemon kills the process soon after
 *   SLEEP     id: how many frames it has had; u64 when its next timer is due, INT64_MAX: it has
 *             none. It waits; this takes the place of the SLEEP before
 *   WAKE      nothing: what is due by the time in the head fires. One that nobody waits for any
 *             more does no harm
 */
#define CS_MESSAGES(X)                                                                     \
    X(READY, WORKER, CS_PHASE_BOOT, CS_PHASE_IDLE, 64)                                     \
    X(PROGRAM, DAEMON, CS_PHASE_IDLE, CS_PHASE_COMPILE, CS_PROGRAM_MAX)                    \
    X(ASK, WORKER, CS_PHASE_COMPILE | CS_PHASE_EXECUTE, 0, CS_PATH_MAX + 64)               \
    X(MODULE, DAEMON, CS_PHASE_COMPILE | CS_PHASE_EXECUTE, 0, CS_MODULE_MAX)               \
    X(FACTS, WORKER, CS_PHASE_COMPILE, CS_PHASE_ASSESS, CS_FACTS_MAX)                      \
    X(VERDICT, DAEMON, CS_PHASE_ASSESS, CS_PHASE_EXECUTE, 64 * CS_KIB)                     \
    X(CALL, WORKER, CS_PHASE_EXECUTE, 0, CS_CALL_MAX)                                      \
    X(FILE, WORKER, CS_PHASE_EXECUTE, 0, CS_FILE_MAX)                                      \
    X(RESULT, DAEMON, CS_PHASE_EXECUTE, 0, CS_FILE_MAX)                                    \
    X(LOG, WORKER, CS_PHASE_EXECUTE, 0, CS_LOG_MAX)                                        \
    X(PROGRESS, WORKER, CS_PHASE_EXECUTE, 0, 64 * CS_KIB)                                  \
    X(DONE, WORKER, CS_PHASE_COMPILE | CS_PHASE_ASSESS | CS_PHASE_EXECUTE, CS_PHASE_ENDED, \
      CS_DONE_MAX)                                                                         \
    X(CANCEL, DAEMON, CS_PHASE_COMPILE | CS_PHASE_ASSESS | CS_PHASE_EXECUTE, 0, 0)         \
    X(SLEEP, WORKER, CS_PHASE_EXECUTE, 0, 8)                                               \
    X(WAKE, DAEMON, CS_PHASE_EXECUTE, 0, 0)

enum cs_msg {
    CS_MSG_NONE,
#define X(name, side, phases, then, max) CS_MSG_##name,
    CS_MESSAGES(X)
#undef X
};

enum cs_side { CS_SIDE_DAEMON, CS_SIDE_WORKER };

enum cs_answer {
    CS_ANSWER_OK,
    CS_ANSWER_MISSING, /* no such file, module, tool */
    CS_ANSWER_DENIED,  /* outside the roots, read-only, refused by policy */
    CS_ANSWER_LIMIT,   /* too large, too many */
    CS_ANSWER_INVALID, /* is a directory, exists already, bad arguments */
    CS_ANSWER_FAILED,  /* the tool or the system failed */
    CS_ANSWER_TEXT, /* of a worker's call: OK, and the payload is a text; if that is JSON, its value
                     */
};

enum cs_outcome {
    CS_OUTCOME_VALUE,
    CS_OUTCOME_ERROR,
    CS_OUTCOME_PRINTED, /* guests: its result is what it printed */
};

enum cs_level { CS_LEVEL_DEBUG, CS_LEVEL_INFO, CS_LEVEL_WARN, CS_LEVEL_ERROR };

/*
 * payload of the RESULT:  READ bytes; STAT JSON {type: "file"|"directory", size, mtimeMs}; LIST
 * JSON
 * [{name, type}]; the others nothing. A relative path is below /workspace.
 */
enum cs_file_op {
    CS_FILE_READ,
    CS_FILE_WRITE,  /* data; creates or replaces. Flag 1: must not exist */
    CS_FILE_APPEND, /* data */
    CS_FILE_STAT,
    CS_FILE_LIST,
    CS_FILE_MKDIR,  /* flag 1: with parents, and no error if it is there */
    CS_FILE_REMOVE, /* flag 1: recursively; flag 2: no error if missing */
    CS_FILE_RENAME, /* data: the new path */
    CS_FILE_COPY,   /* data: the new path */
};

struct cs_frame_head {
    uint32_t len;
    uint16_t type;
    uint16_t version;
    uint64_t id;
    /* Daemon to worker: the time it is now, for the worker's clock. To one worker it never goes
     * back. Else 0. */
    int64_t time_us;
};

struct cs_frame {
    enum cs_msg type;
    uint64_t id;
    int64_t time_us;
    struct cs_str body; /* borrowed from the reader until the next feed */
};

/* How time passes inside. */
enum cs_clock {
    CS_CLOCK_EVENTS, /* it moves when the daemon answers or a timer fires */
    CS_CLOCK_LIVE,   /* it runs, as outside */
    CS_CLOCK_REPLAY, /* like EVENTS, and timers fire when cs_job_wake says so */
};

/* The body of PROGRAM. Strings are borrowed. */
struct cs_program {
    uint64_t seed[2];
    struct cs_str source;
    struct cs_str inputs;  /* JSON, or empty for {} */
    struct cs_str state;   /* JSON, or empty for {} */
    struct cs_str globals; /* JSON array: identifiers of the tool servers, or empty */
    uint32_t log_bytes;    /* what the worker may send in LOG frames before it says "truncated" */
    uint32_t log_lines;
    uint32_t result_bytes;   /* largest result JSON */
    uint32_t state_bytes;    /* largest state JSON; 0: what becomes of it is not wanted */
    uint32_t json_depth;     /* deepest result, argument or input */
    uint32_t argument_bytes; /* largest arguments of one call */
    uint32_t calls_at_once;  /* calls under way; others wait, small ones in the daemon */
    uint32_t wall_ms;        /* the whole time it has */
    uint32_t clock;          /* enum cs_clock */
};

/* One end's view of the conversation: checks order, direction, version and size of every frame. */
struct cs_wire_reader {
    enum cs_side from; /* whose messages are read */
    enum cs_phase phase;
    struct cs_buf buf;
    size_t used; /* bytes of buf already handed out */
};

void cs_wire_reader_init(struct cs_wire_reader *r, enum cs_side from, enum cs_phase phase);
void cs_wire_reader_done(struct cs_wire_reader *r);

/* Room for at least `want` bytes from the socket; invalidates the last frame. */
char *cs_wire_room(struct cs_wire_reader *r, size_t want, size_t *room);
void cs_wire_added(struct cs_wire_reader *r, size_t n);

/* 1: `frame` is filled and the phase moved on; 0: not complete yet; -1: the peer broke the rules.
 */
int cs_wire_next(struct cs_wire_reader *r, struct cs_frame *frame, struct cs_err *err);

/* How many bytes the frame that is under way still lacks (0: unknown). To size the next read. */
size_t cs_wire_missing(const struct cs_wire_reader *r);

/* The phase after the owner of this reader itself sent `type`; -1 if it may not send it now. */
int cs_wire_sent(struct cs_wire_reader *r, enum cs_msg type, struct cs_err *err);

const char *cs_msg_name(enum cs_msg type);

/* Writing: begin returns a mark, fields follow, end fixes the length. */
size_t cs_frame_begin(struct cs_buf *b, enum cs_msg type, uint64_t id, int64_t time_us);
void cs_frame_end(struct cs_buf *b, size_t mark);
void cs_put_u8(struct cs_buf *b, uint8_t v);
void cs_put_u32(struct cs_buf *b, uint32_t v);
void cs_put_u64(struct cs_buf *b, uint64_t v);
void cs_put_str(struct cs_buf *b, struct cs_str s);
void cs_put_program(struct cs_buf *b, const struct cs_program *p);

/* Reading: false once the body is too short; what is read then is zero or empty. */
bool cs_field_u8(struct cs_str *body, uint8_t *v);
bool cs_field_u32(struct cs_str *body, uint32_t *v);
bool cs_field_u64(struct cs_str *body, uint64_t *v);
bool cs_field_str(struct cs_str *body, struct cs_str *s);
bool cs_field_program(struct cs_str body, struct cs_program *p);

#endif
