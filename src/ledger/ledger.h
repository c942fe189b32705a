/*
 * The ledger: one chain of entries that somebody who does not trust us can check.
 *
 * An entry is one line of canonical JSON (RFC 8785); its hash is the SHA-256 of that line, and the
 * next entry holds it as "prev". Every so many entries, and at shutdown, the hash is signed
 * (Ed25519). The store keeps entries and signatures (store/store.h); this module knows what they
 * mean.
 *
 *     {"data":{...},"event":"execution.settled","execution":"ex_...","prev":"<64 hex>",
 *      "principal":"...","seq":17,"session":"...","tenant":"...","time":1700000000000,"v":1}
 *
 * Members that are empty are left out. `data` has hashes, sizes, names and numbers; names are cut,
 * and control characters are escaped as JSON does, so that nothing forges a line.
 *
 * Runs in: daemon and command line. link and sign run in the store's thread; all else blocks, and
 * belongs to the command line or to libuv's pool.
 */
#ifndef CS_LEDGER_LEDGER_H
#define CS_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "store/store.h"

#define CS_CHECKPOINT_EVERY 1000

struct cs_ledger;

/* The key is `dir`/ledger.key (PEM, mode 0600) and made if it is not there; the public one stands
 * beside it, in ledger.pub. A key that others can read is an error. */
int cs_ledger_open(const char *dir, struct cs_ledger **ledger, struct cs_err *err);
void cs_ledger_close(struct cs_ledger *ledger);
const struct cs_chain *cs_ledger_chain(const struct cs_ledger *ledger);
void cs_ledger_public(const struct cs_ledger *ledger, unsigned char key[32]);
/* The public key of a file (ledger.pub, PEM). CS_MISSING: there is no such file. */
int cs_ledger_read_key(const char *path, unsigned char key[32], struct cs_err *err);
/* For people: 32 hex digits in groups of four. */
#define CS_FINGERPRINT 40
void cs_ledger_fingerprint(const unsigned char key[32], char text[CS_FINGERPRINT]);

/* A checkpoint of the last entry there is, signed now, as one line to be kept elsewhere (without
 * the line's end). CS_MISSING: there is no entry. CS_CONFLICT: the ledger does not fit. */
int cs_ledger_checkpoint(const char *database, const struct cs_ledger *ledger, struct cs_buf *line,
                         struct cs_err *err);

/*
 * An export is lines: a head with the signed end,
 *
 *     {"base":{"hash":...,"seq":0},"caisson_ledger":1,"checkpoint":{...},"checkpoints":2,
 *      "from":1,"head":...,"to":60}
 *
 * then the entries and, as {"checkpoint":{...}}, the checkpoints, in their order. `base` is the
 * entry before the first, `head` the hash of the last, `checkpoints` how many lines of them. Every
 * byte of it counts. `range` has only `from` and `to`. `ledger` signs the end, after the chain was
 * checked: what does not fit is not signed, and not exported (CS_CONFLICT). NULL: the last
 * checkpoint there is covers the end, or "checkpoint" is null. `compress`: with zstd.
 */
int cs_ledger_export(const char *database, const struct cs_ledger_filter *range,
                     const struct cs_ledger *ledger, bool compress, FILE *out, struct cs_err *err);

struct cs_ledger_check {
    uint64_t entries, checkpoints, from, to;
    unsigned char head[32]; /* hash of the last entry */
    unsigned char key[32];  /* that signed; zero: nothing was signed */
    uint64_t signed_to;     /* the last entry that a signature covers */
    uint64_t bad;           /* the first entry that does not fit; 0: it is not about one entry */
    bool key_given;         /* it was compared with a key that is known from elsewhere */
};
/*
 * Checks an export (also a compressed one), a database, or the one in a directory. CS_CONFLICT: it
 * does not fit, and `err` says what and where, and so does `check`; other codes: it could not be
 * read. `key`: who must have signed, or NULL: all by the same. `until`: a checkpoint that is known
 * from elsewhere (a line of an export, or `caisson audit checkpoint`), which must be part of it; or
 * empty.
 *
 * A database that begins later than with entry 1 must say itself, in a "ledger.archived" entry,
 * that what was before is in an archive.
 */
int cs_ledger_verify(const char *path, const unsigned char key[32], struct cs_str until,
                     struct cs_ledger_check *check, struct cs_err *err);

/*
 * Moves nothing yet: entries that are older than `before` are exported to a compressed file in
 * `dir`/archive, and it is read again and checked. Whoever calls it puts `archived` on record
 * ("ledger.archived", with from, to and hash) and then purges up to `to`. `to` 0: there are none.
 */
#define CS_LEDGER_ARCHIVE "archive"
struct cs_ledger_archived {
    char file[80];
    uint64_t from, to, bytes;
    unsigned char hash[32]; /* of entry `to` */
    bool more;              /* there are more: ask again after the purge */
};
int cs_ledger_archive(const char *dir, const struct cs_ledger *ledger, int64_t before,
                      struct cs_ledger_archived *archived, struct cs_err *err);

/* An in-toto statement about an execution, from its provenance (JSON), signed: a DSSE envelope. */
int cs_ledger_attest(const struct cs_ledger *ledger, struct cs_str provenance, struct cs_buf *dsse,
                     struct cs_err *err);

#endif
