/*
 * The first line is a schema, the rest a value. Whatever they are: compiling and checking end, a
 * check says the same whether faults are asked for or not, faults are told in valid UTF-8 of
 * bounded length, and a value fits the schema that asks for exactly this value.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FAULTS 5

/* Unlike assert, there in every build. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

static void must_be_text(struct cs_str s, size_t most)
{
    must(s.len <= most);
    for (size_t i = 0; i < s.len;) {
        int n = cs_utf8_len(s.at + i, s.len - i);
        must(n > 0);
        i += (size_t)n;
    }
}

static void check(const struct cs_schema *schema, struct cs_json_val value)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf said = {0};
    struct cs_schema_fault faults[FAULTS];
    struct cs_err err = {0};
    int quick = cs_schema_check(schema, value, NULL, NULL, 0, &err);
    must(quick >= 0 || err.code == CS_LIMIT);
    int count = cs_schema_check(schema, value, &arena, faults, FAULTS, &err);
    must((quick < 0) == (count < 0) && (quick == 0) == (count == 0) && count <= FAULTS);
    for (int i = 0; i < count; i++) {
        must_be_text(faults[i].path, 1000);
        must_be_text(faults[i].keyword, 100);
        must_be_text(faults[i].message, 4000);
        must(faults[i].message.len > 0 && faults[i].keyword.len > 0);
    }
    cs_schema_explain(faults, count > 0 ? count : 0, &said);
    must((said.len > 0) == (count > 0));
}

static void one(struct cs_str schema, struct cs_json_val value,
                const struct cs_schema_options *options)
{
    struct cs_schema *s = NULL;
    struct cs_err err = {0};
    if (cs_schema_new(schema, options, &s, &err) < 0) {
        must(err.code == CS_INVALID || err.code == CS_LIMIT || err.code == CS_MISSING);
        must(!s && err.msg[0]);
        return;
    }
    check(s, value);
    cs_schema_free(s);
}

static void is_itself(struct cs_json_val value)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_schema *s = NULL;
    cs_buf_puts(&text, "{\"const\":");
    cs_buf_putstr(&text, cs_json_raw(value));
    cs_buf_puts(&text, "}");
    must(cs_schema_new(cs_buf_str(&text), NULL, &s, NULL) == 0);
    must(cs_schema_check(s, value, NULL, NULL, 0, NULL) == 0);
    cs_schema_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *line = size ? memchr(text, '\n', size) : NULL;
    struct cs_str schema = cs_strn(text, line ? (size_t)(line - text) : size);
    struct cs_str rest = line ? cs_strn(line + 1, size - schema.len - 1) : CS_STR("null");
    struct cs_json_limits limits = {.depth = 100};
    const struct cs_schema_document documents[] = {{CS_STR("http://localhost/it"), rest}};
    struct cs_schema_options options = {
        .assert_format = true, .documents = documents, .document_count = 1};
    CS_AUTO_JSON struct cs_json doc = {0};
    if (cs_json_parse(rest, &limits, &doc, NULL) < 0)
        return 0;
    one(schema, cs_json_root(&doc), &options);
    options = (struct cs_schema_options){.dialect = CS_DRAFT_7};
    one(schema, cs_json_root(&doc), &options);
    is_itself(cs_json_root(&doc));
    return 0;
}
