/*
 * Inside of privacy/: one message while it is looked at.
 *
 * A text with escapes is read through layers: layer 0 is the message as it came, each further one
 * is a JSON string (or a text) of the layer below with its escapes undone. Steps say where the
 * bytes of a layer come from, so that a hit, found in the topmost layer, becomes a span of the
 * message.
 */
#ifndef CS_PRIVACY_PAGE_H
#define CS_PRIVACY_PAGE_H

#include "privacy/blocks.h"
#include "privacy/find.h"

#define CS_LAYERS 3 /* the message, and escapes undone twice */

/* One thing that was undone. */
struct cs_step {
    size_t here, below;
    uint8_t bytes, took; /* this many bytes here are that many below */
};

struct cs_layer {
    const char *at;
    size_t len;
    size_t from;           /* where it begins in the layer below */
    struct cs_step *steps; /* NULL in layer 0 */
    size_t count, cap;
    struct cs_buf bytes; /* kept for the next string */
    struct cs_block *blocks;
    size_t block_cap;
    bool json;     /* undoes the escapes of a JSON string */
    unsigned made; /* how often it was filled */
};

struct cs_hit {
    size_t start, end, core_start, core_end; /* in the view */
    uint16_t custom;
    uint8_t kind;
};

struct cs_hits {
    struct cs_hit *at;
    size_t count, cap;
};

/* Keys come again and again: what they mean is kept. */
#define CS_KEYS_KEPT 256
#define CS_KEY_KEPT  30 /* bytes */

/* What a key says about other keys beside it. */
enum cs_key_role {
    CS_KEY_PLAIN,
    CS_KEY_NAMES,   /* {"name": "dob", */
    CS_KEY_VALUE,   /*  "value": "1980-02-03"} */
    CS_KEY_INNER,   /* {"phone": {"number": "..."}} */
    CS_KEY_COLUMNS, /* {"columns": ["id", "dob"], "rows": [[1, "1980-02-03"]]} */
};

struct cs_kept_key {
    uint8_t len, role;
    bool plain; /* nothing but letters: it holds nobody's data */
    char at[CS_KEY_KEPT];
    struct cs_sense sense;
};

/* Values come again, too: in these nothing was found, but names, which depend on what else was
 * read. */
#define CS_DULL_KEPT 256

struct cs_dull {
    struct cs_str text, key;
    unsigned layer, made;
};

struct cs_page {
    const struct cs_detector *detector;
    enum cs_privacy_level level;
    uint32_t kinds; /* bits of those that are looked for */
    bool customs;   /* are there any? */
    bool asked;     /* only those of a request are looked for */
    bool json;      /* the form */
    struct cs_spans *spans;
    struct cs_name_memory *names;
    struct cs_matcher *matcher; /* of patterns; made when first wanted */
    struct cs_layer layers[CS_LAYERS];
    unsigned top;
    struct cs_hits hits; /* of one view; the first `settled` are disjoint and in order */
    struct cs_hits spare;
    size_t settled;
    struct cs_kept_key kept[CS_KEYS_KEPT];
    struct cs_kept_key other; /* one that is not kept */
    struct cs_dull dull[CS_DULL_KEPT];
    unsigned turn;
    size_t secret_end; /* of the view: a value that a key made a secret goes up to here */
};

/* --- layers.c --- */

/* Undoes the escapes of [from, to) of the top layer, and folds characters that only look
 * different; what comes out is the new top layer. False: too many layers. */
bool cs_page_push(struct cs_page *page, size_t from, size_t to, bool json);
void cs_page_pop(struct cs_page *page);
/* Reads the bits of a layer whose text is there. */
void cs_layer_bits(struct cs_layer *layer);
/* Is there anything in [from, to) of the top layer that a new layer would undo? */
bool cs_page_folds(const struct cs_page *page, size_t from, size_t to);
/* Bytes of the message that [start, end) of the top layer comes from. */
void cs_page_raw(const struct cs_page *page, size_t *start, size_t *end, uint8_t *escapes);

/* --- hits.c --- */

uint32_t cs_page_kinds(const struct cs_detector *detector, enum cs_privacy_level level);
/* Hits that meet are sorted out. */
void cs_page_settle(struct cs_page *page);
/* Hits become spans. `offset`: of the view in the top layer. */
void cs_page_flush(struct cs_page *page, size_t offset, bool is_number, bool is_key);

/* --- anchors.c, structure.c, tables.c --- */

/* `offset`: of the view in the top layer. */
void cs_find_anchors(struct cs_view *view, size_t offset);
/* The ':' or '=' after a key, the '>' of a tag. */
void cs_find_keyed(struct cs_view *view, size_t at);
/* Columns under a header row, and other keys that do not stand beside their value. */
void cs_find_tables(struct cs_view *view);
/* Asks whoever knows about values under such a key. */
void cs_keyed(struct cs_view *view, struct cs_sense sense, struct cs_str key, size_t start,
              size_t end);

/* --- keys.c --- */

/* What a key means; kept until the next key is asked for. */
const struct cs_kept_key *cs_page_key(struct cs_page *page, struct cs_str key);
/* As cs_key_sense. */
struct cs_sense cs_page_sense(struct cs_page *page, struct cs_str key);

/* --- keys_table.c --- */

enum {
    CS_KEY_WEAK = 1,  /* asks for another sign */
    CS_KEY_ALONE = 2, /* only the whole key, not the end of a longer one */
};

struct cs_key_row {
    const char *name;
    uint8_t kind, flags;
};

extern const struct cs_key_row cs_key_rows[];
extern const size_t cs_key_row_count;

/* --- custom.c --- */

/* Kinds that were switched off, as bits. */
uint32_t cs_detector_off(const struct cs_detector *detector);
bool cs_detector_customs(const struct cs_detector *detector, enum cs_privacy_level level,
                         bool asked);

#endif
