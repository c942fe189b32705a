/* Skeleton of the chain. */
#include "ledger/ledger.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"

struct cs_ledger {
    struct cs_chain chain;
    unsigned char key[32];
};

static void link_entry(void *ctx, uint64_t seq, const unsigned char prev[32],
                       const struct cs_entry *e, struct cs_buf *text, unsigned char hash[32])
{
    (void)ctx;
    struct cs_json_writer w = CS_JSON_WRITER(text);
    size_t start = text->len;
    cs_json_open(&w, '{');
    cs_json_key(&w, "event");
    cs_json_put_str(&w, e->event);
    cs_json_key(&w, "prev");
    char hex[65];
    cs_hex(prev, 32, hex);
    cs_json_put_z(&w, hex);
    cs_json_key(&w, "seq");
    cs_json_put_u64(&w, seq);
    cs_json_close(&w, '}');
    cs_sha256(cs_strn(text->at + start, text->len - start), hash);
}

static int sign(void *ctx, struct cs_checkpoint_row *row, struct cs_err *err)
{
    (void)ctx;
    (void)row;
    return cs_fail(err, CS_SYSTEM, "not yet");
}

int cs_ledger_open(const char *dir, struct cs_ledger **ledger, struct cs_err *err)
{
    (void)dir;
    (void)err;
    struct cs_ledger *l = CS_NEW(struct cs_ledger);
    l->chain = (struct cs_chain){CS_CHECKPOINT_EVERY, link_entry, sign, l};
    *ledger = l;
    return 0;
}

void cs_ledger_close(struct cs_ledger *ledger)
{
    free(ledger);
}

const struct cs_chain *cs_ledger_chain(const struct cs_ledger *ledger)
{
    return &ledger->chain;
}

void cs_ledger_public(const struct cs_ledger *ledger, unsigned char key[32])
{
    memcpy(key, ledger->key, 32);
}

int cs_ledger_read_key(const char *path, unsigned char key[32], struct cs_err *err)
{
    (void)key;
    return cs_fail(err, CS_SYSTEM, "%s: not yet", path);
}

int cs_ledger_export(const char *database, const struct cs_ledger_filter *range,
                     const struct cs_ledger *ledger, FILE *out, struct cs_err *err)
{
    (void)range;
    (void)ledger;
    (void)out;
    return cs_fail(err, CS_SYSTEM, "%s: not yet", database);
}

int cs_ledger_verify(const char *path, const unsigned char key[32], struct cs_str until,
                     struct cs_ledger_check *check, struct cs_err *err)
{
    (void)key;
    (void)until;
    (void)check;
    return cs_fail(err, CS_SYSTEM, "%s: not yet", path);
}

int cs_ledger_attest(const struct cs_ledger *ledger, struct cs_str provenance, struct cs_buf *dsse,
                     struct cs_err *err)
{
    (void)ledger;
    (void)provenance;
    (void)dsse;
    return cs_fail(err, CS_SYSTEM, "not yet");
}
