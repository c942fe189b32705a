/* A journal of foreign bytes: it is read or refused, and what was read lies within the bytes. */
#include <stdlib.h>

#include "run/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void within(struct cs_str text, struct cs_str all)
{
    if (text.len && (text.at < all.at || text.at + text.len > all.at + all.len))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str all = cs_strn((const char *)data, size);
    struct cs_journal_doc doc;
    struct cs_err err = {0};
    if (cs_journal_read(all, &doc, &err) < 0) {
        if (err.code != CS_INVALID || !err.msg[0])
            abort();
        return 0;
    }
    within(doc.principal, all);
    within(doc.session, all);
    for (size_t i = 0; i < CS_TEXT_COUNT; i++)
        within(doc.texts[i].text, all);
    for (size_t i = 0; i < doc.count; i++) {
        within(doc.events[i].server, all);
        within(doc.events[i].tool, all);
        within(doc.events[i].canonical, all);
        within(doc.events[i].payload, all);
        if (doc.events[i].is_blob && doc.events[i].payload.len)
            abort();
    }
    cs_journal_doc_done(&doc);
    return 0;
}
