/*
 * Inside of ledger/: what is written into lines, read from them, and signed.
 *
 * chain.c writes and reads lines, key.c has the key, check.c knows what must fit, verify.c and
 * export.c where lines come from and go to.
 */
#ifndef CS_LEDGER_INSIDE_H
#define CS_LEDGER_INSIDE_H

#include "ledger/ledger.h"

#define CS_LEDGER_DATA   (64u << 10)       /* bytes of an entry's data; more is cut */
#define CS_LEDGER_LINE   (128u << 10)      /* no line of ours is longer */
#define CS_LEDGER_NUMBER 9007199254740991u /* no number is larger */

/* --- chain.c --- */

void cs_chain_link(void *ctx, uint64_t seq, const unsigned char prev[32], const struct cs_entry *e,
                   struct cs_buf *text, unsigned char hash[32]);

/* An entry, taken apart: slices of its line. Strings are what stands between the quotes. */
struct cs_entry_parts {
    struct cs_str data, event, execution, principal, session, tenant;
    unsigned char prev[32];
    uint64_t seq;
    int64_t time;
};
/* False: it is not as link writes it. */
bool cs_entry_read(struct cs_str line, struct cs_entry_parts *parts);
/* Do the columns beside an entry say the same? If not, the name of the one that does not. */
const char *cs_entry_differs(const struct cs_entry_parts *parts, const struct cs_entry *columns);

/* {"hash":...,"key":...,"seq":...,"signature":...,"time":...} */
void cs_checkpoint_put(struct cs_buf *out, const struct cs_checkpoint_row *row);
/* {"checkpoint":{...}} */
void cs_checkpoint_line(struct cs_buf *out, const struct cs_checkpoint_row *row);
/* False: it is not as the one above writes it. */
bool cs_checkpoint_read(struct cs_str line, struct cs_checkpoint_row *row);
/* As people may hand it on: with spaces around it, or the head of an export. */
int cs_checkpoint_parse(struct cs_str text, struct cs_checkpoint_row *row, struct cs_err *err);
/* What is signed. */
void cs_checkpoint_message(struct cs_buf *out, const struct cs_checkpoint_row *row);

/* The first line of an export. */
struct cs_export_head {
    struct cs_ledger_base base;
    uint64_t from, to;
    uint64_t checkpoints;   /* lines */
    unsigned char hash[32]; /* of entry `to` */
    bool is_signed;
    struct cs_checkpoint_row checkpoint; /* of it, if it is signed */
};
void cs_export_head_put(struct cs_buf *out, const struct cs_export_head *head);
bool cs_export_head_read(struct cs_str line, struct cs_export_head *head);

/* --- key.c --- */

int cs_ledger_sign(const struct cs_ledger *ledger, struct cs_str message,
                   unsigned char signature[64], struct cs_err *err);
bool cs_signature_fits(const unsigned char key[32], struct cs_str message,
                       const unsigned char signature[64]);
int cs_checkpoint_sign(const struct cs_ledger *ledger, struct cs_checkpoint_row *row,
                       struct cs_err *err);

/* --- check.c: entries and checkpoints in their order, and whether they fit --- */

struct cs_checker {
    struct cs_ledger_check *check;
    unsigned char key[32]; /* all must be signed by it */
    bool has_key;
    struct cs_checkpoint_row until;
    bool has_until, until_met;
    struct cs_ledger_base base;
    uint64_t anchor;             /* the last entry that is signed, or the base */
    bool base_needed, base_told; /* an entry must say that it was archived; it did */
    uint64_t broken;             /* this entry does not follow from the one before */
    struct cs_buf message;
};

int cs_checker_init(struct cs_checker *c, const unsigned char key[32], struct cs_str until,
                    struct cs_ledger_check *check, struct cs_err *err);
void cs_checker_done(struct cs_checker *c);
/* What is before the first entry. */
int cs_checker_start(struct cs_checker *c, const struct cs_ledger_base *base, struct cs_err *err);
/* `parts` (may be NULL) is filled in. */
int cs_checker_entry(struct cs_checker *c, struct cs_str line, struct cs_entry_parts *parts,
                     struct cs_err *err);
/* Of the entry that came last. */
int cs_checker_checkpoint(struct cs_checker *c, const struct cs_checkpoint_row *row,
                          struct cs_err *err);
/* `head` (may be NULL): what the last hash must be. */
int cs_checker_end(struct cs_checker *c, const unsigned char head[32], struct cs_err *err);
/* It does not fit: CS_CONFLICT, and which entry. */
int cs_checker_fail(struct cs_checker *c, uint64_t seq, struct cs_err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* --- verify.c --- */

/* An export, plain or compressed, that is in memory; for tests. */
int cs_export_verify(struct cs_str bytes, const unsigned char key[32], struct cs_str until,
                     struct cs_ledger_check *check, struct cs_err *err);

struct cs_points {
    struct cs_checkpoint_row *at; /* in their order */
    size_t count, cap;
};
/* They are read before the entries: then none is of an entry that is not there yet. */
int cs_points_read(const char *database, struct cs_points *points, struct cs_err *err);
void cs_points_done(struct cs_points *points);

/* The entries of a database `from` to `to` (0: from the first, to the last), each followed by its
 * checkpoint, through the checker; and what passes, as lines of an export, to `line` (may be NULL).
 */
struct cs_database_walk {
    const char *database;
    uint64_t from, to;
    const struct cs_points *points;
    int (*line)(void *ctx, struct cs_str line, struct cs_err *err);
    void *ctx;
};
int cs_database_walk(const struct cs_database_walk *walk, struct cs_checker *c, struct cs_err *err);

#endif
