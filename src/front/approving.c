#include "front/approving.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/time.h"
#include "front/card.h"
#include "front/text.h"

struct cs_approving {
    struct cs_store *store;
    struct cs_approval_rules rules;
    struct cs_asking *asking;
    const char *verb;
    unsigned under_way; /* decisions that the store has not answered */
    bool closed;
};

struct cs_approving *cs_approving_new(struct cs_store *store, const struct cs_policy *policy,
                                      struct cs_asking *asking, const char *verb)
{
    struct cs_approving *a = CS_NEW(struct cs_approving);
    a->store = store;
    a->rules = cs_policy_approvals(policy);
    a->asking = asking;
    a->verb = verb;
    return a;
}

void cs_approving_close(struct cs_approving *a)
{
    if (!a)
        return;
    a->closed = true;
    if (!a->under_way)
        free(a);
}

bool cs_approving_four_eyes(const struct cs_approval_rules *rules, struct cs_str risk)
{
    if (rules->four_eyes_off)
        return false;
    for (int i = (int)rules->four_eyes; i <= CS_RISK_CRITICAL; i++)
        if (cs_str_is(risk, cs_risk_name((enum cs_risk)i)))
            return true;
    return false;
}

/* --- asked --- */

/* What it waits for and how to answer, where no key can be pressed. */
static void tell(const struct cs_approving *a, const struct cs_approval_row *row)
{
    char left[CS_CARD_LEFT];
    CS_AUTO_BUF struct cs_buf why = {0};
    cs_card_member(row, "why", &why);
    fprintf(stderr, "caisson %s: waits %s for a person (%.*s): %s\n", a->verb,
            cs_card_left(row->expires - cs_time_ms(), left), CS_STR_ARG(row->risk),
            cs_buf_cstr(&why));
    fprintf(stderr, "  see it with 'caisson approvals show %.*s'; ", CS_STR_ARG(row->id));
    fprintf(stderr, "answer with 'caisson approve %.*s' or 'caisson deny %.*s'\n",
            CS_STR_ARG(row->id), CS_STR_ARG(row->id));
    fflush(stderr);
}

static void tell_others(const struct cs_approving *a, const struct cs_approval_row *row)
{
    char left[CS_CARD_LEFT];
    cs_asking_aside(a->asking);
    cs_card_print(stderr, cs_text_colour(stderr), false, row);
    fprintf(stderr,
            "\nWhat is %.*s needs somebody else than the one who asks (approvals.four_eyes): a key "
            "with\nthe role approve, POST /approvals/%.*s. It waits %s; Ctrl-C ends it.\n",
            CS_STR_ARG(row->risk), CS_STR_ARG(row->id),
            cs_card_left(row->expires - cs_time_ms(), left));
    cs_asking_back(a->asking);
}

void cs_approving_asked(struct cs_approving *a, const struct cs_approval_row *row)
{
    struct cs_err err = {0};
    if (a->asking && cs_approving_four_eyes(&a->rules, row->risk)) {
        tell_others(a, row);
        return;
    }
    if (a->asking && cs_asking_approval(a->asking, row, NULL, &err) == 0)
        return;
    tell(a, row);
}

/* --- over --- */

void cs_approving_over(struct cs_approving *a, const struct cs_approval_row *row)
{
    bool shown = a->asking && cs_asking_settled(a->asking, row->id);
    /* One that was answered here has been told. */
    if (a->asking && !shown && cs_str_is(row->channel, "terminal") && row->by.len)
        return;
    cs_asking_aside(a->asking);
    fprintf(stderr, "caisson %s: %.*s is %.*s", a->verb, CS_STR_ARG(row->id),
            CS_STR_ARG(row->state));
    if (row->by.len) {
        fputs(" by ", stderr);
        cs_text_safe(stderr, row->by);
        fprintf(stderr, " (%.*s)", CS_STR_ARG(row->channel));
    }
    if (row->reason.len) {
        fputs(": ", stderr);
        cs_text_safe(stderr, row->reason);
    }
    fputc('\n', stderr);
    cs_asking_back(a->asking);
}

/* --- decided --- */

static void on_decided(void *ctx, const struct cs_err *err, const struct cs_approval_row *row)
{
    struct cs_approving *a = ctx;
    (void)row;
    a->under_way--;
    if (err->code) {
        fprintf(stderr, "caisson %s: ", a->verb);
        cs_text_safe(stderr, cs_str(err->msg));
        fputc('\n', stderr);
    }
    if (a->closed && !a->under_way)
        free(a);
}

void cs_approving_decide(struct cs_approving *a, struct cs_str id, const struct cs_choice *choice)
{
    if (choice->left) {
        fprintf(stderr,
                "It still waits: 'caisson approve %.*s' or 'caisson deny %.*s' answer it.\n",
                CS_STR_ARG(id), CS_STR_ARG(id));
        return;
    }
    const struct cs_decision decision = {
        .answer = choice->answer,
        .arguments = choice->arguments,
        .until = choice->until,
        .reason = choice->reason,
        .who = cs_caller_local(),
        .channel = "terminal",
        .person = true,
    };
    a->under_way++;
    cs_approval_decide(a->store, &a->rules, id, &decision, on_decided, a);
}
