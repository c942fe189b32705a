/* The journal of an execution, as it is written. */
#include "run/journal.h"

int cs_journal_read(struct cs_str bytes, struct cs_journal_doc *doc, struct cs_err *err)
{
    (void)bytes, (void)doc;
    return cs_fail(err, CS_INVALID, "not yet");
}

void cs_journal_doc_done(struct cs_journal_doc *doc)
{
    cs_arena_done(&doc->arena);
}

void cs_journal_begin(struct cs_run *run)
{
    (void)run;
}

void cs_journal_wish(struct cs_run *run, const struct cs_wish *wish)
{
    (void)run, (void)wish;
}

void cs_journal_heard(struct cs_run *run, const struct cs_heard *heard)
{
    (void)run, (void)heard;
}

void cs_journal_sent(struct cs_run *run, uint64_t id,
                     void (*then)(void *ctx, const struct cs_err *), void *ctx)
{
    static const struct cs_err none;
    (void)run, (void)id;
    then(ctx, &none);
}

void cs_journal_take(struct cs_run *run, struct cs_execution_more *more)
{
    (void)run, (void)more;
}

void cs_journal_done(struct cs_run *run)
{
    (void)run;
}
