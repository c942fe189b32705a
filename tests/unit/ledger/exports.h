/* A key of its own directory, and exports made in memory. */
#ifndef CS_TEST_EXPORTS_H
#define CS_TEST_EXPORTS_H

#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "ledger/inside.h"
#include "test.h"

struct ledger_fixture {
    char dir[64];
    struct cs_ledger *ledger;
    unsigned char key[32];
};

static inline void fixture_open(struct ledger_fixture *f)
{
    struct cs_err err = {0};
    snprintf(f->dir, sizeof f->dir, "/tmp/cs-ledger-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    if (cs_ledger_open(f->dir, &f->ledger, &err) < 0)
        fail_msg("%s", err.msg);
    cs_ledger_public(f->ledger, f->key);
}

static inline void fixture_close(struct ledger_fixture *f)
{
    cs_ledger_close(f->ledger);
    cs_dir_remove(-1, f->dir);
}

static inline struct cs_entry entry_of(uint64_t seq, char data[64])
{
    static const char *const events[] = {"execution.admitted", "call.made", "execution.settled",
                                         "key.created"};
    snprintf(data, 64, "{\"bytes\":%llu,\"name\":\"tool \\\"%llu\\\" \xC3\xBC\"}",
             (unsigned long long)(seq * 7919 % 10007), (unsigned long long)seq);
    return (struct cs_entry){.event = cs_str(events[seq % 4]),
                             .tenant = CS_STR("default"),
                             .principal = seq % 3 ? CS_STR("agent \n\x7F") : CS_STR(""),
                             .session = seq % 2 ? CS_STR("ses_1") : CS_STR(""),
                             .execution = seq % 4 == 3 ? CS_STR("") : CS_STR("ex_0123"),
                             .data = seq % 5 ? cs_str(data) : CS_STR(""),
                             .time = 1700000000000 + (int64_t)seq * 13};
}

static inline void put_checkpoint(const struct cs_ledger *ledger, uint64_t seq,
                                  const unsigned char hash[32], struct cs_checkpoint_row *row)
{
    *row = (struct cs_checkpoint_row){.seq = seq, .time = 1700000000001 + (int64_t)seq};
    memcpy(row->hash, hash, 32);
    assert_int_equal(cs_checkpoint_sign(ledger, row, NULL), 0);
}

/* `count` entries, a checkpoint behind every `every`. `base`: that of the entry before; it is moved
 * to the last one. */
static inline void make_export(const struct cs_ledger *ledger, struct cs_ledger_base *base,
                               uint64_t count, uint64_t every, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf lines = {0};
    struct cs_export_head head = {.base = *base, .from = base->seq + 1, .is_signed = count > 0};
    for (uint64_t i = 0; i < count; i++) {
        char data[64];
        struct cs_checkpoint_row row;
        struct cs_entry e = entry_of(base->seq + 1, data);
        unsigned char hash[32];
        cs_chain_link(NULL, base->seq + 1, base->hash, &e, &lines, hash);
        cs_buf_putc(&lines, '\n');
        base->seq++;
        memcpy(base->hash, hash, 32);
        if (base->seq % every)
            continue;
        put_checkpoint(ledger, base->seq, hash, &row);
        cs_checkpoint_line(&lines, &row);
        cs_buf_putc(&lines, '\n');
        head.checkpoints++;
    }
    head.to = base->seq;
    memcpy(head.hash, base->hash, 32);
    if (count)
        put_checkpoint(ledger, head.to, head.hash, &head.checkpoint);
    cs_export_head_put(out, &head);
    cs_buf_putc(out, '\n');
    cs_buf_putstr(out, cs_buf_str(&lines));
}

#endif
