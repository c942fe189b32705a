/* A schema and a value as text, checked, with what came of it. */
#ifndef CS_SCHEMA_CASES_H
#define CS_SCHEMA_CASES_H

#include "test.h"

#include "base/own.h"
#include "schema/schema.h"

#define CASE_FAULTS 8

struct outcome {
    int count; /* as cs_schema_check returns it; -2: the schema did not compile */
    struct cs_schema_fault faults[CASE_FAULTS];
    struct cs_arena arena;
    struct cs_json doc;
    struct cs_err err;
};

#define AUTO_OUTCOME CS_AUTO(outcome_done) struct outcome

static inline void outcome_done(struct outcome *o)
{
    cs_arena_done(&o->arena);
    cs_json_done(&o->doc);
}

static inline void check_with(struct outcome *o, struct cs_str schema, struct cs_str value,
                              const struct cs_schema_options *options)
{
    struct cs_schema *s = NULL;
    struct cs_json_limits deep = {.depth = 100000};
    *o = (struct outcome){.count = -2};
    if (cs_schema_new(schema, options, &s, &o->err) < 0) {
        assert_null(s);
        assert_true(o->err.code == CS_INVALID || o->err.code == CS_LIMIT ||
                    o->err.code == CS_MISSING);
        return;
    }
    if (cs_json_parse(value, &deep, &o->doc, &o->err) < 0)
        fail_msg("the value of the test: %s", o->err.msg);
    o->count =
        cs_schema_check(s, cs_json_root(&o->doc), &o->arena, o->faults, CASE_FAULTS, &o->err);
    cs_schema_free(s);
}

static inline void check(struct outcome *o, const char *schema, const char *value)
{
    check_with(o, cs_str(schema), cs_str(value), NULL);
}

static inline bool fits(const char *schema, const char *value)
{
    AUTO_OUTCOME o;
    check(&o, schema, value);
    if (o.count < 0)
        fail_msg("%s", o.err.msg);
    return o.count == 0;
}

/* What cs_schema_explain makes of it. */
#define assert_explained(schema, value, text)                                          \
    do {                                                                               \
        AUTO_OUTCOME cs_o_;                                                            \
        CS_AUTO_BUF struct cs_buf cs_b_ = {0};                                         \
        check(&cs_o_, (schema), (value));                                              \
        if (cs_o_.count < 0)                                                           \
            fail_msg("%s", cs_o_.err.msg);                                             \
        cs_schema_explain(cs_o_.faults, cs_o_.count, &cs_b_);                          \
        if (!cs_str_is(cs_buf_str(&cs_b_), (text)))                                    \
            fail_msg("\n  said:     %s\n  expected: %s", cs_buf_cstr(&cs_b_), (text)); \
    } while (0)

#endif
