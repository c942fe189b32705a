/*
 * The formats of JSON Schema, for those who want them checked.
 *
 * Every check is one pass over the text, or two.
 */
#ifndef CS_SCHEMA_FORMAT_H
#define CS_SCHEMA_FORMAT_H

#include <stdbool.h>

#include "base/str.h"

struct cs_format {
    const char *name;
    const char *expected; /* "a date like 2024-01-31" */
    bool (*fits)(struct cs_str s);
};

/* NULL: unknown, and therefore an annotation only. */
const struct cs_format *cs_format_find(struct cs_str name);

/* What format.c takes from format_uri.c. */
bool cs_format_uri(struct cs_str s);
bool cs_format_uri_reference(struct cs_str s);
bool cs_format_iri(struct cs_str s);
bool cs_format_iri_reference(struct cs_str s);
bool cs_format_uri_template(struct cs_str s);
bool cs_format_ipv4(struct cs_str s);
bool cs_format_ipv6(struct cs_str s);
bool cs_format_hostname(struct cs_str s);
bool cs_format_email(struct cs_str s);
bool cs_format_idn_email(struct cs_str s);

#endif
