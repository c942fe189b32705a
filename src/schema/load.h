/*
 * The documents of a schema while it is compiled: which subschema is where, what it is called, and
 * what a reference leads to.
 *
 * Owner:   the loader belongs to one cs_schema_new; texts and tapes go to the schema.
 * Limits:  CS_SCHEMA_BYTES per document, CS_SCHEMA_NODES places, CS_SCHEMA_URIS bytes of names.
 */
#ifndef CS_SCHEMA_LOAD_H
#define CS_SCHEMA_LOAD_H

#include "schema/keyword.h"
#include "schema/node.h"

#define CS_SCHEMA_URIS  (8u << 20)
#define CS_SCHEMA_DEPTH 256

/* A document, or a part of one with an $id of its own. */
struct resource {
    struct cs_str uri;
    struct cs_json_val root;
    struct dialect dialect;
};

/* A place where a schema stands. */
struct place {
    struct cs_json_val value;
    uint32_t resource;
    uint32_t node;    /* or NO_NODE: nobody asked for it yet */
    uint32_t dynamic; /* number of its $dynamicAnchor's name, or NO_NODE */
};

struct loader {
    struct cs_schema *schema;
    const struct cs_schema_options *options;
    struct cs_arena arena; /* what only compiling needs */
    struct resource *resources;
    uint32_t resource_count, resource_cap;
    struct place *places;
    uint32_t place_count, place_cap;
    uint32_t *slots; /* places by document and position; index plus one */
    uint32_t slot_mask;
    struct cs_names uris;          /* value: resource */
    struct cs_names anchors;       /* "RESOURCE#NAME"; value: place */
    struct cs_names dynamic_names; /* value: number of the name */
    struct cs_names metaschemas;   /* of somebody's own, by URI; value: draft and vocabularies */
    struct cs_names containers;    /* that a pointer led through, by where they are */
    struct cs_names *child_names;  /* of each, its children by name; value: where it is */
    uint32_t child_cap;
    size_t uri_bytes;
    struct cs_err *err;
};

/* Reads the schema itself: its place. */
int cs_load_root(struct loader *l, struct cs_str text, uint32_t *place);

/* The place that a reference in `resource` leads to. May load a document. `from`: for the error. */
int cs_load_ref(struct loader *l, uint32_t resource, struct cs_str ref, struct cs_json_val from,
                uint32_t *place);

/* The place at which this value stands as a schema, or NO_NODE. */
uint32_t cs_load_place(const struct loader *l, struct cs_json_val value);

/* Fails with "schema, at #/properties/a: ...". */
int cs_load_fail(struct loader *l, struct cs_json_val at, enum cs_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

void cs_load_done(struct loader *l);

#endif
