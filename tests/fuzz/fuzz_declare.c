/*
 * Any name, description and schema: the first line is name and description, the rest is the schema
 * of input and output. What is written is bounded, has no hidden character, and our compiler takes
 * it. What is learned from the same bytes as a value can be learned from again, and declared.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "compile/compile.h"
#include "tools/declare.h"
#include "tools/learn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good, const char *what, struct cs_str text)
{
    if (good)
        return;
    fprintf(stderr, "fuzz_declare: %s\n%.*s\n", what, CS_STR_ARG(text));
    abort();
}

static void must_compile(struct cs_str text)
{
    struct cs_compiled c = {0};
    struct cs_diag d = {0};
    if (cs_compile(CS_COMPILE_MODULE, text, &c, &d) < 0) {
        fprintf(stderr, "%u:%u: %s\n", d.line, d.column, d.message);
        check(false, "the compiler refuses it", text);
    }
    cs_compiled_done(&c);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char b = (unsigned char)text.at[i];
        check(b >= ' ' || b == '\n', "a control character", text);
        bool mark = i + 2 < text.len && b == 0xE2 && (unsigned char)text.at[i + 1] == 0x80 &&
                    (unsigned char)text.at[i + 2] >= 0xA8 && (unsigned char)text.at[i + 2] <= 0xAE;
        check(!mark, "a line separator or a mark of direction", text);
    }
}

static void declare(struct cs_str line, struct cs_str input, struct cs_str output)
{
    CS_AUTO_BUF struct cs_buf text = {0}, index = {0};
    struct cs_err err = {0};
    char ident[1][CS_IDENT_MAX + 1];
    cs_idents(&line, 1, ident);
    struct cs_declaration tool = {.server = line,
                                  .name = line,
                                  .ident = cs_str(ident[0]),
                                  .description = line,
                                  .input = input,
                                  .output = output,
                                  .learned = line.len,
                                  .category = "read",
                                  .risk = "low"};
    if (cs_declare_tool(&tool, &text, &err) < 0) {
        check(err.code == CS_INVALID && err.msg[0] && text.len == 0, "an odd error", input);
        return;
    }
    check(text.len <= CS_DECLARE_BYTES, "too large", input);
    must_compile(cs_buf_str(&text));
    cs_declare_index(line, line, &tool, 1, &index);
    must_compile(cs_buf_str(&index));
}

static void learn(struct cs_str value)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf once = {0}, twice = {0};
    struct cs_err err = {0};
    struct cs_json_limits limits = {.allow_duplicate = true};
    /* As a schema it is foreign, or at least no crash. */
    if (cs_json_parse(value, &limits, &doc, &err) < 0)
        return;
    if (cs_learn(value, cs_json_root(&doc), &once, &err) < 0)
        check(err.code == CS_INVALID || err.code == CS_LIMIT, "an odd error", value);
    cs_buf_clear(&once);
    check(cs_learn((struct cs_str){0}, cs_json_root(&doc), &once, &err) == 0, "not learned", value);
    check(once.len <= CS_LEARN_BYTES, "too much learned", value);
    check(cs_learn(cs_buf_str(&once), cs_json_root(&doc), &twice, &err) == 0, "not its own schema",
          cs_buf_str(&once));
    check(cs_str_eq(cs_buf_str(&once), cs_buf_str(&twice)), "the same again is something else",
          cs_buf_str(&twice));
    declare(CS_STR("learned"), CS_STR("{}"), cs_buf_str(&once));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str all = cs_strn((const char *)data, size);
    const char *end = size ? memchr(data, '\n', size) : NULL;
    struct cs_str line = end ? cs_strn(all.at, (size_t)(end - all.at)) : (struct cs_str){0};
    struct cs_str rest = end ? cs_strn(end + 1, size - line.len - 1) : all;
    declare(line, rest, rest);
    learn(rest);
    return 0;
}
