/* Tables of small inputs for the compiler, and the loops that run them. */
#ifndef TESTS_UNIT_COMPILE_CASES_H
#define TESTS_UNIT_COMPILE_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"
#include "compile/compile.h"

/* What every program and module starts with. */
#define HEAD "(async($ns,$export,$go,$import,$meta)=>{\"use strict\";"

struct output_case {
    const char *source, *output;
};

/* How many of the cases come out differently; each of them is printed. */
static inline int wrong_outputs(enum cs_compile_kind kind, const char *head,
                                const struct output_case *cases, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        struct cs_compiled c = {0};
        struct cs_diag diag = {0};
        if (cs_compile(kind, cs_str(cases[i].source), &c, &diag) < 0) {
            print_error("case %zu: %s\n  refused at %u:%u: %s\n", i, cases[i].source, diag.line,
                        diag.column, diag.message);
            wrong++;
            continue;
        }
        struct cs_str js = cs_buf_str(&c.js);
        if (cs_str_starts(js, head)) {
            js.at += strlen(head);
            js.len -= strlen(head);
        } else {
            js.len = 0;
        }
        if (!cs_str_is(js, cases[i].output)) {
            print_error("case %zu: %s\n  expected: %s\n  output:   %.*s\n", i, cases[i].source,
                        cases[i].output, CS_STR_ARG(js));
            wrong++;
        }
        cs_compiled_done(&c);
    }
    return wrong;
}

struct error_case {
    const char *source;
    uint32_t line, column;
    const char *message, *suggestion;
};

static inline int wrong_errors(enum cs_compile_kind kind, const struct error_case *cases,
                               size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const struct error_case *e = &cases[i];
        struct cs_compiled c = {0};
        struct cs_diag d = {0};
        if (cs_compile(kind, cs_str(e->source), &c, &d) == 0) {
            print_error("case %zu: %s\n  was accepted\n", i, e->source);
            cs_compiled_done(&c);
            wrong++;
        } else if (d.line != e->line || d.column != e->column ||
                   strcmp(d.message, e->message) != 0 || strcmp(d.suggestion, e->suggestion) != 0) {
            print_error("case %zu: %s\n  expected %u:%u: %s (%s)\n  got      %u:%u: %s (%s)\n", i,
                        e->source, e->line, e->column, e->message, e->suggestion, d.line, d.column,
                        d.message, d.suggestion);
            wrong++;
        }
    }
    return wrong;
}

#endif
