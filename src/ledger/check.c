/*
 * Whether entries and checkpoints, one after the other, fit together.
 *
 * If an entry does not follow from the one before, either of the two may have been changed; which
 * one, the next line tells: it holds the hash of the second.
 */
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "ledger/inside.h"

static bool same(const unsigned char a[32], const unsigned char b[32])
{
    return memcmp(a, b, 32) == 0;
}

int cs_checker_fail(struct cs_checker *c, uint64_t seq, struct cs_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    cs_vfail(err, CS_CONFLICT, fmt, ap);
    va_end(ap);
    c->check->bad = seq;
    return -1;
}

/* --- signatures --- */

static int check_key(struct cs_checker *c, const struct cs_checkpoint_row *row, struct cs_err *err)
{
    char signer[CS_FINGERPRINT], wanted[CS_FINGERPRINT];
    if (!c->has_key) {
        memcpy(c->key, row->key, 32);
        c->has_key = true;
    }
    if (same(c->key, row->key))
        return 0;
    cs_ledger_fingerprint(row->key, signer);
    cs_ledger_fingerprint(c->key, wanted);
    return cs_checker_fail(c, row->seq, err,
                           "the checkpoint at entry %llu is signed by a foreign key (%s, not %s)",
                           (unsigned long long)row->seq, signer, wanted);
}

static int check_signature(struct cs_checker *c, const struct cs_checkpoint_row *row,
                           struct cs_err *err)
{
    if (check_key(c, row, err) < 0)
        return -1;
    cs_buf_clear(&c->message);
    cs_checkpoint_message(&c->message, row);
    if (!cs_signature_fits(row->key, cs_buf_str(&c->message), row->signature))
        return cs_checker_fail(c, row->seq, err,
                               "the signature of the checkpoint at entry %llu does not fit",
                               (unsigned long long)row->seq);
    memcpy(c->check->key, row->key, 32);
    return 0;
}

/* --- from the begin to the end --- */

int cs_checker_init(struct cs_checker *c, const unsigned char key[32], struct cs_str until,
                    struct cs_ledger_check *check, struct cs_err *err)
{
    *c = (struct cs_checker){.check = check, .has_key = key != NULL};
    *check = (struct cs_ledger_check){.key_given = key != NULL};
    if (key)
        memcpy(c->key, key, 32);
    if (until.len == 0)
        return 0;
    c->has_until = true;
    if (cs_checkpoint_parse(until, &c->until, err) < 0)
        return -1;
    return check_signature(c, &c->until, err) < 0 ? cs_wrap(err, "the checkpoint from elsewhere")
                                                  : 0;
}

void cs_checker_done(struct cs_checker *c)
{
    cs_buf_done(&c->message);
}

int cs_checker_start(struct cs_checker *c, const struct cs_ledger_base *base, struct cs_err *err)
{
    static const unsigned char zero[32];
    c->base = *base;
    c->anchor = base->seq;
    c->base_needed &= base->seq > 0;
    c->check->from = base->seq + 1;
    c->check->to = base->seq;
    memcpy(c->check->head, base->hash, 32);
    if (base->seq == 0 && !same(base->hash, zero))
        return cs_checker_fail(c, 1, err, "before entry 1 there is nothing: its base must be zero");
    if (!c->has_until || c->until.seq > base->seq)
        return 0;
    c->until_met = c->until.seq == base->seq && same(c->until.hash, base->hash);
    if (c->until_met)
        return 0;
    if (c->until.seq == base->seq)
        return cs_checker_fail(c, c->until.seq, err,
                               "entry %llu is not the one that was signed in the checkpoint from "
                               "elsewhere",
                               (unsigned long long)c->until.seq);
    return cs_fail(err, CS_INVALID,
                   "the checkpoint from elsewhere is of entry %llu, and this begins with entry "
                   "%llu: it belongs to an archive",
                   (unsigned long long)c->until.seq, (unsigned long long)base->seq + 1);
}

/* `hash` is what the line after the entry that is suspected says its hash is. */
static int blame(struct cs_checker *c, const unsigned char *hash, struct cs_err *err)
{
    unsigned long long second = c->broken, first = second - 1;
    bool second_fits = hash && same(hash, c->check->head);
    if (second_fits && first > c->base.seq)
        return cs_checker_fail(c, first, err,
                               "entry %llu was changed: entry %llu has another hash of it", first,
                               second);
    return cs_checker_fail(c, second, err, "entry %llu does not follow from entry %llu", second,
                           first);
}

static int wrong_number(struct cs_checker *c, uint64_t seq, struct cs_err *err)
{
    unsigned long long wanted = c->check->to + 1, got = seq;
    if (got > wanted)
        return cs_checker_fail(c, wanted, err,
                               "entry %llu is not there: after entry %llu comes entry %llu", wanted,
                               wanted - 1, got);
    return cs_checker_fail(c, wanted, err, "entry %llu stands where entry %llu must be", got,
                           wanted);
}

/* {"from":...,"hash":...,"to":...}: what came before is in an archive. While it is being removed,
 * some of what is in the archive is still there. */
static void look_for_base(struct cs_checker *c, const struct cs_entry_parts *p)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_arena arena = {0};
    unsigned char hash[32];
    int64_t from, to;
    if (cs_json_parse(p->data, NULL, &doc, NULL) < 0)
        return;
    struct cs_json_val root = cs_json_root(&doc);
    c->base_told |= cs_json_i64(cs_json_get(root, "from"), &from) &&
                    cs_json_i64(cs_json_get(root, "to"), &to) && from > 0 &&
                    (uint64_t)from <= c->base.seq && (uint64_t)to >= c->base.seq &&
                    cs_hex_read(cs_json_str(cs_json_get(root, "hash"), &arena), hash, 32) &&
                    ((uint64_t)to > c->base.seq || same(hash, c->base.hash));
    cs_arena_done(&arena);
}

int cs_checker_entry(struct cs_checker *c, struct cs_str line, struct cs_entry_parts *parts,
                     struct cs_err *err)
{
    struct cs_entry_parts own, *p = parts ? parts : &own;
    struct cs_ledger_check *k = c->check;
    if (line.len > CS_LEDGER_LINE || !cs_entry_read(line, p))
        return cs_checker_fail(c, c->broken ? c->broken : k->to + 1, err,
                               "entry %llu is not written as an entry is",
                               (unsigned long long)k->to + 1);
    if (c->broken)
        return blame(c, p->prev, err);
    if (p->seq != k->to + 1)
        return wrong_number(c, p->seq, err);
    /* So many are never left unsigned: whoever writes the chain anew cannot keep the signatures. */
    if (p->seq - c->anchor > CS_CHECKPOINT_EVERY)
        return cs_checker_fail(c, p->seq, err,
                               "the entries %llu to %llu are not signed: a checkpoint is missing",
                               (unsigned long long)c->anchor + 1, (unsigned long long)k->to);
    if (!same(p->prev, k->head))
        c->broken = p->seq;
    cs_sha256(line, k->head);
    k->to = p->seq;
    k->entries++;
    if (c->has_until && c->until.seq == p->seq) {
        c->until_met = same(c->until.hash, k->head);
        if (!c->until_met && !c->broken)
            return cs_checker_fail(c, p->seq, err,
                                   "entry %llu is not the one that was signed in the checkpoint "
                                   "from elsewhere: it, or one before it, was changed",
                                   (unsigned long long)p->seq);
    }
    if (c->base_needed && !c->base_told && cs_str_is(p->event, "ledger.archived"))
        look_for_base(c, p);
    return 0;
}

int cs_checker_checkpoint(struct cs_checker *c, const struct cs_checkpoint_row *row,
                          struct cs_err *err)
{
    struct cs_ledger_check *k = c->check;
    if (row->seq > k->to)
        return cs_checker_fail(c, k->to + 1, err,
                               "entry %llu is not there: behind entry %llu comes the checkpoint of "
                               "entry %llu",
                               (unsigned long long)k->to + 1, (unsigned long long)k->to,
                               (unsigned long long)row->seq);
    if (row->seq < k->to)
        return cs_checker_fail(c, k->to, err,
                               "the checkpoint of entry %llu stands behind entry %llu",
                               (unsigned long long)row->seq, (unsigned long long)k->to);
    if (c->broken)
        return blame(c, row->hash, err);
    if (check_signature(c, row, err) < 0)
        return -1;
    if (!same(row->hash, k->head))
        return cs_checker_fail(c, row->seq, err,
                               "entry %llu is not the one that was signed: it was changed, or all "
                               "of the chain after the checkpoint before was written anew",
                               (unsigned long long)row->seq);
    k->checkpoints++;
    k->signed_to = c->anchor = row->seq;
    return 0;
}

int cs_checker_end(struct cs_checker *c, const unsigned char head[32], struct cs_err *err)
{
    struct cs_ledger_check *k = c->check;
    if (c->broken)
        return blame(c, head, err);
    if (head && !same(head, k->head))
        return cs_checker_fail(c, k->to, err, "entry %llu was changed: its hash is another",
                               (unsigned long long)k->to);
    if (c->has_until && !c->until_met)
        return cs_checker_fail(c, k->to + 1, err,
                               "it ends at entry %llu, and the checkpoint from elsewhere is of "
                               "entry %llu: the end is missing",
                               (unsigned long long)k->to, (unsigned long long)c->until.seq);
    if (c->base_needed && !c->base_told)
        return cs_checker_fail(c, c->base.seq, err,
                               "the entries up to %llu are not there, and no entry says that they "
                               "were archived",
                               (unsigned long long)c->base.seq);
    return 0;
}
