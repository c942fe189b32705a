/*
 * Any bytes through the compiler, in all three ways. Beyond not crashing: an error has a place and
 * a message, stripping loses no line, positions map back, and the output may come in again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "fuzz_compile: %s\n", what);
        abort();
    }
}

static uint32_t lines(struct cs_str text)
{
    uint32_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += text.at[i] == '\n';
    return n;
}

static void check_map(const struct cs_compiled *c)
{
    for (uint32_t i = 0; i < c->insert_count; i++) {
        uint32_t line = c->inserts[i].line, column = c->inserts[i].column;
        cs_compiled_map(c, &line, &column);
        check(line == c->inserts[i].line && column >= 1 &&
                  column <= c->inserts[i].column + (1u << 24),
              "a position does not map back");
    }
}

static void one(enum cs_compile_kind kind, struct cs_str source)
{
    struct cs_compiled c = {0};
    struct cs_diag d = {0};
    if (cs_compile(kind, source, &c, &d) < 0) {
        check(d.line > 0 && d.column > 0 && d.message[0], "an error without place or message");
        return;
    }
    check_map(&c);
    if (kind == CS_COMPILE_STRIP) {
        check(lines(cs_buf_str(&c.js)) == lines(source), "lines were lost");
        struct cs_compiled again = {0};
        if (cs_compile(kind, cs_buf_str(&c.js), &again, &d) == 0)
            cs_compiled_done(&again);
    }
    cs_compiled_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str source = {(const char *)data, size};
    for (int kind = CS_COMPILE_PROGRAM; kind <= CS_COMPILE_STRIP; kind++)
        one((enum cs_compile_kind)kind, source);
    return 0;
}
