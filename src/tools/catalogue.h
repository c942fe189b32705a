/*
 * Inside of tools/: what the servers offer, as immutable counted values, and the directory of
 * TypeScript files that goes with it.
 *
 *   offer      one server's tools, as it listed them; made anew when the list or a learned type
 * changes catalogue  one offer per enabled server, in the order of their names; made anew when an
 * offer changes
 *
 * On disk (tree.c), below the data directory:
 *
 *   tree/servers/NAME@HASH/   the files of one offer; HASH is of everything they are made from
 *   tree/HASH/                a catalogue: README.md, caisson.d.ts, and NAME/ with links to the
 * above mcp-servers -> tree/HASH  the newest, for people
 *
 * A directory appears complete, by rename, or not at all; so several processes can share the data
 * directory. Whoever uses tree/HASH holds a shared lock on it, and only what nobody holds is
 * removed.
 */
#ifndef CS_TOOLS_CATALOGUE_H
#define CS_TOOLS_CATALOGUE_H

#include "tools/config.h"
#include "tools/tools.h"

#define CS_TOOL_NAME_MAX 256u

/* Twice 128 bits are enough to name files of our own making. */
#define CS_HASH_HEX 32

/* The output type of one tool, learned so far. */
struct cs_learned {
    struct cs_str tool;
    struct cs_str schema;
    uint64_t count;
};

/* What an offer is made from. Everything is copied. */
struct cs_offer_spec {
    const struct cs_server_config *config;
    uint64_t entry_hash;        /* of the entry as it is written */
    struct cs_str ident;        /* unique among the servers */
    struct cs_str tools;        /* JSON array of tools/list; empty: not listed yet */
    struct cs_str instructions; /* what the server says about itself; may be empty */
    const struct cs_learned *learned;
    size_t learned_count;
    struct cs_seen *seen; /* a reference is taken; NULL: none */
};

/* seen.c: how the tools of one server were seen, as it is now; counted. */
struct cs_seen *cs_seen_new(void);                 /* nothing is known yet */
struct cs_seen *cs_seen_ref(struct cs_seen *seen); /* NULL: NULL */
void cs_seen_unref(struct cs_seen *seen);

struct cs_offer;

/* Tools that cannot be used are left out, each with a line in `warnings`. */
int cs_offer_new(const struct cs_offer_spec *spec, struct cs_offer **offer, struct cs_buf *warnings,
                 struct cs_err *err);
struct cs_offer *cs_offer_ref(struct cs_offer *offer);
void cs_offer_unref(struct cs_offer *offer);
CS_DEFINE_CLEANUP(struct cs_offer, cs_offer_unref)

struct cs_str cs_offer_server(const struct cs_offer *offer);
struct cs_str cs_offer_ident(const struct cs_offer *offer);
struct cs_str cs_offer_instructions(const struct cs_offer *offer);
const char *cs_offer_hash(const struct cs_offer *offer);
bool cs_offer_listed(const struct cs_offer *offer);
size_t cs_offer_count(const struct cs_offer *offer);
const struct cs_tool *cs_offer_at(const struct cs_offer *offer, size_t i); /* sorted by name */

/* References are taken of `offers`. Makes the tree if it is not there. */
int cs_catalogue_new(const char *data_dir, struct cs_offer *const *offers, size_t count,
                     struct cs_catalogue **catalogue, struct cs_err *err);
size_t cs_catalogue_servers(const struct cs_catalogue *catalogue);
const struct cs_offer *cs_catalogue_offer(const struct cs_catalogue *catalogue, size_t i);
const struct cs_offer *cs_catalogue_find_offer(const struct cs_catalogue *catalogue,
                                               struct cs_str server);

/* tree.c */
struct cs_tree {
    int dir; /* locked, shared */
    char path[4096 + CS_HASH_HEX + 2];
};
int cs_tree_open(const char *data_dir, struct cs_offer *const *offers, size_t count,
                 struct cs_tree *tree, struct cs_err *err);
void cs_tree_close(struct cs_tree *tree);
int cs_tool_declare(const struct cs_tool *tool, struct cs_buf *out, struct cs_err *err);
void cs_hash_hex(const struct cs_str *parts, size_t count, char hex[CS_HASH_HEX + 1]);

/* cache.c: what a server offered last time, in DATA/catalogue/NAME.json. */
struct cs_cached {
    struct cs_arena arena;
    struct cs_buf text; /* what the others point into */
    struct cs_str config, tools, instructions, server_name, server_version, protocol;
    int64_t listed_at;
    struct cs_learned *learned;
    size_t learned_count;
};
int cs_cache_read(const char *data_dir, struct cs_str server, struct cs_cached *cached,
                  struct cs_err *err);
int cs_cache_write(const char *data_dir, struct cs_str server, const struct cs_cached *cached,
                   struct cs_err *err);
void cs_cached_done(struct cs_cached *cached);

#endif
