/* Questions to persons: asked, looked for, expired, answered; and what they allowed beyond once. */
#include "run/approvals.h"

#include "run/guard.h"

static const char *const answers[] = {"once", "session", "program", "tool", "deny"};

const char *cs_approval_answer_name(enum cs_approval_answer answer)
{
    return answers[answer];
}

bool cs_approval_answer_parse(struct cs_str word, enum cs_approval_answer *answer)
{
    for (int i = 0; i < CS_APPROVE_ANSWERS; i++)
        if (cs_str_is(word, answers[i])) {
            *answer = (enum cs_approval_answer)i;
            return true;
        }
    return false;
}

void cs_approval_decide(struct cs_store *store, const struct cs_approval_rules *rules,
                        struct cs_str id, const struct cs_decision *decision,
                        cs_approval_decided *done, void *ctx)
{
    (void)store;
    (void)rules;
    (void)id;
    (void)decision;
    (void)done;
    (void)ctx;
}

void cs_approval_json(const struct cs_approval_row *row, bool with_card, struct cs_buf *out)
{
    (void)row;
    (void)with_card;
    cs_buf_puts(out, "{}");
}

void cs_approvals_watch(struct cs_runner *runner, const struct cs_approval_watcher *watcher)
{
    (void)runner;
    (void)watcher;
}

struct cs_question *cs_question_ask(const struct cs_question_want *want,
                                    void (*done)(void *ctx, const struct cs_question_end *end),
                                    void *ctx)
{
    (void)want;
    (void)done;
    (void)ctx;
    return NULL;
}

void cs_question_drop(struct cs_question *question, bool keep)
{
    (void)question;
    (void)keep;
}

void cs_approvals_open(struct cs_runner *runner)
{
    (void)runner;
}

void cs_approvals_close(struct cs_runner *runner)
{
    (void)runner;
}
