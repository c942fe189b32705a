/*
 * ECMA-262 patterns, run by PCRE2 under a budget.
 *
 * Patterns and subjects are both foreign. What a match costs is counted while it runs (a callout
 * before each item of the pattern), so a catastrophic one ends when the steps of its check do.
 *
 * Owner:   a pattern is freed by cs_pattern_free; a matcher belongs to one check, in one thread.
 * Limits:  CS_PATTERN_BYTES of pattern.
 * Failure: a pattern that is none is CS_INVALID, with what is wrong with it.
 */
#ifndef CS_SCHEMA_PATTERN_H
#define CS_SCHEMA_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define CS_PATTERN_BYTES 20000u

struct cs_pattern {
    void *code; /* pcre2_code */
    size_t size;
    uint32_t weight; /* what one step of it costs: large classes are slow */
};

/* `strict` refuses what only other dialects know (\A, \Z, (?P<name>...)); else it is understood. */
int cs_pattern_new(struct cs_str ecma, bool strict, struct cs_pattern *pattern, struct cs_err *err);
void cs_pattern_free(struct cs_pattern *pattern);

struct cs_matcher {
    void *data, *context;
    int64_t *steps; /* the budget that matches are taken from */
    size_t last;
    uint32_t weight;
};

/* 1: it matches somewhere; 0: nowhere; -1: the steps ran out. */
int cs_matcher_run(struct cs_matcher *m, const struct cs_pattern *p, struct cs_str text);
void cs_matcher_done(struct cs_matcher *m);

/* Appends the pattern as PCRE2 wants it. */
int cs_pattern_translate(struct cs_str ecma, bool strict, struct cs_buf *out, struct cs_err *err);

#endif
