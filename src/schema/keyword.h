/*
 * The keywords of the drafts as a table, and the dialects that choose among them.
 */
#ifndef CS_SCHEMA_KEYWORD_H
#define CS_SCHEMA_KEYWORD_H

#include "base/json.h"

enum {
    DRAFT_7 = 1,
    DRAFT_2019 = 2,
    DRAFT_2020 = 4,
    DRAFT_NEW = DRAFT_2019 | DRAFT_2020,
    DRAFT_ALL = 7
};

enum {
    VOCAB_CORE = 1,
    VOCAB_APPLICATOR = 2,
    VOCAB_UNEVALUATED = 4,
    VOCAB_VALIDATION = 8,
    VOCAB_FORMAT = 16,
    VOCAB_FORMAT_ASSERTION = 32,
    VOCAB_OTHER = 64,
    VOCAB_ALL = 127 & ~VOCAB_FORMAT_ASSERTION,
};

/* Where the subschemas of a keyword are. */
enum holds { HOLDS_NONE, HOLDS_SCHEMA, HOLDS_LIST, HOLDS_MAP, HOLDS_EITHER, HOLDS_DEPENDENCIES };

struct dialect {
    uint8_t draft, vocabularies;
};

/* name, text, drafts, vocabulary, subschemas; sorted by text. */
#define KEYWORDS(X)                                                                                \
    X(ANCHOR, "$anchor", DRAFT_NEW, VOCAB_CORE, HOLDS_NONE)                                        \
    X(DEFS, "$defs", DRAFT_NEW, VOCAB_CORE, HOLDS_MAP)                                             \
    X(DYNAMIC_ANCHOR, "$dynamicAnchor", DRAFT_2020, VOCAB_CORE, HOLDS_NONE)                        \
    X(DYNAMIC_REF, "$dynamicRef", DRAFT_2020, VOCAB_CORE, HOLDS_NONE)                              \
    X(ID, "$id", DRAFT_ALL, VOCAB_CORE, HOLDS_NONE)                                                \
    X(RECURSIVE_ANCHOR, "$recursiveAnchor", DRAFT_2019, VOCAB_CORE, HOLDS_NONE)                    \
    X(RECURSIVE_REF, "$recursiveRef", DRAFT_2019, VOCAB_CORE, HOLDS_NONE)                          \
    X(REF, "$ref", DRAFT_ALL, VOCAB_CORE, HOLDS_NONE)                                              \
    X(SCHEMA, "$schema", DRAFT_ALL, VOCAB_CORE, HOLDS_NONE)                                        \
    X(ADDITIONAL_ITEMS, "additionalItems", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_SCHEMA)              \
    X(ADDITIONAL_PROPERTIES, "additionalProperties", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_SCHEMA)    \
    X(ALL_OF, "allOf", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_LIST)                                    \
    X(ANY_OF, "anyOf", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_LIST)                                    \
    X(CONST, "const", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                                     \
    X(CONTAINS, "contains", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_SCHEMA)                             \
    X(DEFINITIONS, "definitions", DRAFT_ALL, VOCAB_CORE, HOLDS_MAP)                                \
    X(DEPENDENCIES, "dependencies", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_DEPENDENCIES)               \
    X(DEPENDENT_REQUIRED, "dependentRequired", DRAFT_NEW, VOCAB_VALIDATION, HOLDS_NONE)            \
    X(DEPENDENT_SCHEMAS, "dependentSchemas", DRAFT_NEW, VOCAB_APPLICATOR, HOLDS_MAP)               \
    X(ELSE, "else", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_SCHEMA)                                     \
    X(ENUM, "enum", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                                       \
    X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)              \
    X(EXCLUSIVE_MINIMUM, "exclusiveMinimum", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)              \
    X(FORMAT, "format", DRAFT_ALL, VOCAB_FORMAT | VOCAB_FORMAT_ASSERTION, HOLDS_NONE)              \
    X(IF, "if", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_SCHEMA)                                         \
    X(ITEMS, "items", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_EITHER)                                   \
    X(MAX_CONTAINS, "maxContains", DRAFT_NEW, VOCAB_VALIDATION, HOLDS_NONE)                        \
    X(MAX_ITEMS, "maxItems", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                              \
    X(MAX_LENGTH, "maxLength", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                            \
    X(MAX_PROPERTIES, "maxProperties", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                    \
    X(MAXIMUM, "maximum", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                                 \
    X(MIN_CONTAINS, "minContains", DRAFT_NEW, VOCAB_VALIDATION, HOLDS_NONE)                        \
    X(MIN_ITEMS, "minItems", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                              \
    X(MIN_LENGTH, "minLength", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                            \
    X(MIN_PROPERTIES, "minProperties", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                    \
    X(MINIMUM, "minimum", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                                 \
    X(MULTIPLE_OF, "multipleOf", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                          \
    X(NOT, "not", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_SCHEMA)                                       \
    X(ONE_OF, "oneOf", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_LIST)                                    \
    X(PATTERN, "pattern", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                                 \
    X(PATTERN_PROPERTIES, "patternProperties", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_MAP)             \
    X(PREFIX_ITEMS, "prefixItems", DRAFT_2020, VOCAB_APPLICATOR, HOLDS_LIST)                       \
    X(PROPERTIES, "properties", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_MAP)                            \
    X(PROPERTY_NAMES, "propertyNames", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_SCHEMA)                  \
    X(REQUIRED, "required", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                               \
    X(THEN, "then", DRAFT_ALL, VOCAB_APPLICATOR, HOLDS_SCHEMA)                                     \
    X(TYPE, "type", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)                                       \
    X(UNEVALUATED_ITEMS, "unevaluatedItems", DRAFT_NEW, VOCAB_UNEVALUATED, HOLDS_SCHEMA)           \
    X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", DRAFT_NEW, VOCAB_UNEVALUATED, HOLDS_SCHEMA) \
    X(UNIQUE_ITEMS, "uniqueItems", DRAFT_ALL, VOCAB_VALIDATION, HOLDS_NONE)

enum keyword {
#define X(name, text, drafts, vocabulary, holds) KW_##name,
    KEYWORDS(X)
#undef X
        KW_COUNT,
};

/* The keywords of one schema object; what is not there is CS_JSON_NONE. */
struct keywords {
    struct cs_json_val all[KW_COUNT];
};

void cs_keywords_read(struct cs_json_val object, struct dialect dialect, struct keywords *k);
const char *cs_keyword_text(enum keyword k);
enum holds cs_keyword_holds(enum keyword k);

/* The dialect that a $schema names, or false: it is none of the drafts. */
bool cs_dialect_find(struct cs_str uri, struct dialect *dialect);

/* The bit of a vocabulary that we know, or 0. */
uint8_t cs_vocabulary_find(struct cs_str uri);

/* The text of a document that everybody knows: the drafts' metaschemas. Empty: it is none. */
struct cs_str cs_metaschema_find(struct cs_str uri);

#endif
