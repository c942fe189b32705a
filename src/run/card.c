/* What a person sees before they decide, and what exactly their answer is about. */
#include "run/guard.h"

void cs_card_program(struct cs_run *run, struct cs_question_want *want, struct cs_buf *card)
{
    want->run = run;
    cs_buf_puts(card, "{}");
}

void cs_card_call(struct cs_gate_call *call, const struct cs_flow_verdict *flow,
                  struct cs_question_want *want, struct cs_buf *card)
{
    (void)flow;
    want->run = call->run;
    want->call = call;
    cs_buf_puts(card, "{}");
}

void cs_approval_text(const struct cs_approval_row *row, size_t bytes, struct cs_buf *out)
{
    (void)row;
    (void)bytes;
    (void)out;
}
