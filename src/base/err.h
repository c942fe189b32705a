/*
 * Errors are values with a story.
 *
 * A fallible function returns 0 or -1 and takes a `struct cs_err *` last; the struct belongs to the
 * caller, so failing allocates nothing. The message gathers context on the way out (cs_wrap).
 *
 * Runs in: every process. An error that arrives from a worker is checked like any other message.
 */
#ifndef CS_BASE_ERR_H
#define CS_BASE_ERR_H

#include <stdarg.h>

/* Few and stable: this list also feeds exit statuses. A new code needs a caller who acts on it. */
#define CS_CODES(X)                          \
    X(OK, "it worked")                       \
    X(INVALID, "the request is malformed")   \
    X(MISSING, "there is no such thing")     \
    X(DENIED, "policy refused it")           \
    X(LIMIT, "a limit was reached")          \
    X(CONFLICT, "somebody else was first")   \
    X(BUSY, "too much at once; try again")   \
    X(SCRIPT, "the program raised an error") \
    X(UPSTREAM, "a tool server failed")      \
    X(SYSTEM, "the system failed us")        \
    X(BUG, "caisson is wrong")

enum cs_code {
#define X(name, text) CS_##name,
    CS_CODES(X)
#undef X
};

struct cs_err {
    enum cs_code code;
    int sys;       /* errno, or 0 */
    char msg[480]; /* "skill 'tidy': read: Is a directory" */
};

/* Each of these fills `err` (which may be NULL) and returns -1, to be returned at once. */
int cs_fail(struct cs_err *err, enum cs_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int cs_vfail(struct cs_err *err, enum cs_code code, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* From errno: code CS_SYSTEM, message "what: strerror". */
int cs_fail_errno(struct cs_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "context: " before the message that is there. Returns -1. */
int cs_wrap(struct cs_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

const char *cs_code_name(enum cs_code code);
const char *cs_code_text(enum cs_code code);

#endif
