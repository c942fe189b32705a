/*
 * A table of programs and what must come of them. The engine is warmed once; each case runs in a
 * worker of its own, forked from this process.
 */
#ifndef TESTS_WORKER_CASES_H
#define TESTS_WORKER_CASES_H

#include "test.h"

#include "base/own.h"
#include "worker/daemon.h"

struct worker_case {
    const char *name, *source;
    const char *result;   /* the exact JSON; or: */
    const char *type;     /* the type of the error */
    const char *contains; /* somewhere in the answer */
    const char *log;      /* somewhere in the log, levels before the lines */
    const char *lacks;    /* nowhere in answer and log */
    const char *inputs;
    const struct file *files;
    void (*tune)(struct talk *t);
    void (*check)(struct talk *t);
};

/* What the engine keeps to the end of the process is its own affair. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libjavascriptcoregtk\nleak:libglib\nleak:libicu\n";
}

static inline void check_answer(const struct worker_case *c, struct talk *t)
{
    const char *answer = cs_buf_cstr(&t->answer), *logs = cs_buf_cstr(&t->logs);
    if (t->outcome < 0)
        fail_msg("no answer (%s, status %#x), log: %s",
                 t->outcome == -2 ? "time was up" : "worker gone", t->status, logs);
    if (c->type) {
        char head[64];
        snprintf(head, sizeof head, "{\"type\":\"%s\"", c->type);
        if (t->outcome != CS_OUTCOME_ERROR || strncmp(answer, head, strlen(head)) != 0)
            fail_msg("expected %s, got %s", c->type, answer);
    } else if (t->outcome != CS_OUTCOME_VALUE) {
        fail_msg("failed: %s\nlog: %s", answer, logs);
    }
    if (c->result && strcmp(answer, c->result) != 0)
        fail_msg("expected %s\n     got %s", c->result, answer);
    if (c->contains)
        assert_contains(answer, c->contains);
    if (c->log)
        assert_contains(logs, c->log);
    if (c->lacks && (strstr(answer, c->lacks) || strstr(logs, c->lacks)))
        fail_msg("\"%s\" occurs in %s\nor %s", c->lacks, answer, logs);
    if (c->check)
        c->check(t);
}

static inline void run_case(void **state)
{
    const struct worker_case *c = *state;
    struct talk *t = cs_calloc(1, sizeof *t);
    t->source = c->source;
    t->inputs = c->inputs;
    t->files = c->files;
    t->step_us = 1000;
    t->seed = 42;
    if (c->tune)
        c->tune(t);
    talk_run(t);
    check_answer(c, t);
    talk_done(t);
    free(t);
}

static inline int run_cases(const char *suite, const struct worker_case *cases, size_t count)
{
    struct cs_err err = {0};
    if (cs_worker_warm(false, &err) < 0) {
        fprintf(stderr, "warm: %s\n", err.msg);
        return 1;
    }
    CS_AUTO_FREE struct CMUnitTest *tests = cs_calloc(count, sizeof *tests);
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){
            .name = cases[i].name, .test_func = run_case, .initial_state = (void *)&cases[i]};
    return _cmocka_run_group_tests(suite, tests, count, NULL, NULL);
}

#endif
