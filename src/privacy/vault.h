/*
 * Inside of privacy/: what a vault holds.
 *
 *     vault.c    entries, found by their value or by their token
 *     memory.c   where the values are: not swapped out, not in a core file, wiped at the end
 *     known.c    values found in a text by themselves, whatever they look like
 *     token.c    what a token looks like
 *     mask.c     values to tokens
 *     unmask.c   tokens to values
 *     seal.c     a vault for the disk
 */
#ifndef CS_PRIVACY_VAULT_H
#define CS_PRIVACY_VAULT_H

#include "base/arena.h"
#include "privacy/privacy.h"
#include "privacy/token.h"

#define CS_VAULT_ENTRIES 200000u
#define CS_VAULT_BYTES   (64u << 20) /* of values */
#define CS_VAULT_NAMES   1024u       /* kinds, and names of customs */
#define CS_VAULT_SERVERS 4096u

struct cs_entry {
    uint64_t hash;     /* of the value, keyed */
    uint64_t id;       /* in its token: number or hash */
    struct cs_str raw; /* as it was first seen, escapes undone */
    uint16_t name;     /* which of the vault's names */
    uint16_t server;   /* which of its servers; 0: none */
    uint8_t kind;      /* enum cs_pii */
    bool program;      /* it is the program's own */
    bool is_number;    /* of JSON, without quotes */
    bool exact;        /* one of several forms of the same, where they must stay apart */
    uint32_t recorded; /* in which record it was noted last */
};

struct cs_vault_name {
    char text[CS_TOKEN_NAME + 1];
    uint8_t kind;
    uint32_t last; /* number that was given */
};

/* memory.c */
struct cs_locked {
    struct cs_locked_block *blocks;
    size_t bytes; /* in all of them */
};

/* known.c: values by how they begin, and by all of them. */
struct cs_known {
    uint64_t *bits;   /* which beginnings there are */
    unsigned bit_log; /* how many bits: 2 to the power of it */
    struct cs_known_start *starts;
    struct cs_known_item *items;
    uint32_t *by_start, *by_value; /* starts and items, plus 1; 0: free */
    size_t slots;                  /* of each */
    size_t start_count, start_cap, count, cap;
    unsigned least; /* bytes of a beginning */
};

struct cs_vault {
    enum cs_token_style style;
    unsigned char key[16];
    struct cs_entry *entries;
    size_t count, cap;
    uint32_t *by_value, *by_token; /* entries, plus 1; 0: free */
    size_t slots;                  /* of each */
    struct cs_vault_name *names;
    size_t name_count;
    struct cs_str *servers; /* [0] is empty */
    size_t server_count;
    struct cs_arena arena; /* names of servers */
    struct cs_locked locked;
    struct cs_known known;

    struct cs_buf *record; /* or NULL */
    uint32_t records;
    struct cs_str play;
    bool is_playing;

    /* seal.c */
    size_t sealed; /* entries that are in what was sealed */
    uint32_t batches;
    unsigned char salt[16], tag[16];
};

/* What is to have a token. */
struct cs_value {
    enum cs_pii kind;
    struct cs_str name; /* of its tokens */
    struct cs_str raw;  /* escapes undone */
    struct cs_str server;
    bool program, is_number, exact;
};

/* The entry of that value, a new one if need be. NULL: CS_LIMIT. Lent until the next one. */
struct cs_entry *cs_vault_put(struct cs_vault *vault, const struct cs_value *value, bool *fresh,
                              struct cs_err *err);
/* With this id, which is nobody's yet: from what was sealed. */
int cs_vault_put_as(struct cs_vault *vault, const struct cs_value *value, uint64_t id,
                    struct cs_err *err);
/* Whose token it is, or NULL. */
struct cs_entry *cs_vault_of(const struct cs_vault *vault, const struct cs_token *token);
/* A name that is in use here, or that of a kind; `vault` may be NULL. */
cs_token_named cs_vault_named;
/* Its index; -1: there are too many. */
int cs_vault_name(struct cs_vault *vault, enum cs_pii kind, struct cs_str name);
size_t cs_vault_text(const struct cs_vault *vault, const struct cs_entry *entry,
                     char text[CS_TOKEN_MAX]);
/* The program has got that one: for replays. */
void cs_vault_note(struct cs_vault *vault, struct cs_entry *entry);

/* The form in which values are compared; `to` has room for raw.len bytes. */
size_t cs_vault_fold(enum cs_pii kind, struct cs_str raw, char *to);

/* --- memory.c --- */

/* Never NULL; lives until cs_locked_done, which wipes it. */
char *cs_locked_alloc(struct cs_locked *locked, size_t n);
void cs_locked_done(struct cs_locked *locked);

uint64_t cs_siphash(const unsigned char key[16], struct cs_str bytes);

/* --- known.c --- */

#define CS_KNOWN_BYTES 6 /* of a vault's values, at least; of those of one call: */
#define CS_KNOWN_SHORT 3
#define CS_KNOWN_MOST  16384

struct cs_known_hit {
    size_t start, end;
    uint32_t tag;
};

/* How much work a search may be: it is linear in the text, whatever is known. */
struct cs_known_search {
    const struct cs_known *known;
    struct cs_str text;
    size_t at;
    size_t work;   /* that is left */
    bool anywhere; /* also in the middle of a word, if it is not too short */
};

/* `raw` is lent as long as the index lives. Too short or too long: nothing happens. */
void cs_known_add(struct cs_known *known, struct cs_str raw, uint32_t tag);
void cs_known_done(struct cs_known *known);
void cs_known_begin(struct cs_known_search *search, const struct cs_known *known,
                    struct cs_str text);
/* The next one that stands by itself, or anywhere, in any case, the longest of those that begin
 * there. 0: there is none; -1: it was too much work. */
int cs_known_next(struct cs_known_search *search, struct cs_known_hit *hit);

/* --- own.c --- */

/* What a call was given: values, with the indices of their entries. */
struct cs_revealed {
    struct cs_known known;
    struct cs_locked locked;
    uint64_t *seen; /* a bit for each entry */
    size_t seen_bits;
};

void cs_revealed_add(struct cs_revealed *revealed, const struct cs_vault *vault,
                     const struct cs_entry *entry);

/* Did the program write that itself? */
bool cs_own_has(const struct cs_own *own, enum cs_pii kind, struct cs_str raw);
/* Of a value that the program has written itself, and has given by a token too: is the n-th that
 * comes back (from 0) the one that it wrote? They are taken to come in the order of the arguments,
 * as if they were different values. */
bool cs_own_turn(const struct cs_own *own, struct cs_str raw, struct cs_str token, unsigned n);

#endif
