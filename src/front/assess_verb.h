/* Inside of front/: what `caisson assess` was asked for, and its forms. */
#ifndef CS_FRONT_ASSESS_VERB_H
#define CS_FRONT_ASSESS_VERB_H

#include "front/world.h"
#include "run/assess.h"

enum cs_assess_form { CS_ASSESS_TEXT, CS_ASSESS_JSON, CS_ASSESS_SARIF };

struct cs_assess_args {
    const char *file; /* NULL: -e */
    struct cs_buf code;
    enum cs_language language;
    const char *principal, *intent, *environment;
    enum cs_assess_form form;
};

/* The judgement with its lines marked. */
void cs_assess_print(const struct cs_assess_args *args, const struct cs_verdict *verdict);
/* SARIF 2.1.0. */
void cs_assess_sarif(const struct cs_assess_args *args, const struct cs_policy *policy,
                     const struct cs_verdict *verdict, struct cs_buf *out);
/* A tool as tests write it: {"server", "tool", "description"?, "input"?, "annotations"?, ...}; see
 * assess_lines.c. What is left out is lent from `from`. */
void cs_assess_tool(struct cs_json_val from, struct cs_arena *arena, struct cs_tool_view *tool);
/* Programs as lines of JSON on stdin, verdicts as lines on stdout: one process for many. Runs the
 * loop. */
int cs_assess_lines(const struct cs_assess_args *args, struct cs_world *world, uv_loop_t *loop,
                    struct cs_err *err);

#endif
