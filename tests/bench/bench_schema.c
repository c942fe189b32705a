/*
 * What a check costs, beside parsing the same value in the same run: a tool call with ten
 * arguments, and a list of 1,000 records. The best of several rounds, taken in turns, so that a
 * noisy machine is equally unkind to both.
 *
 * Prints `name value unit` lines. Exits 1 if a ratio is missed; the absolute figures are notes,
 * since they say as much about the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schema/schema.h"

#define ROUNDS       60
#define TARGET_RATIO 3.0
#define TARGET_NS    2000.0

static const char call_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,"
    "\"required\":[\"owner\",\"repo\",\"title\"],\"properties\":{"
    "\"owner\":{\"type\":\"string\",\"minLength\":1,\"description\":\"Who owns it\"},"
    "\"repo\":{\"type\":\"string\",\"minLength\":1},"
    "\"title\":{\"type\":\"string\",\"maxLength\":256},"
    "\"body\":{\"type\":\"string\"},"
    "\"state\":{\"type\":\"string\",\"enum\":[\"open\",\"closed\",\"all\"]},"
    "\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":20},"
    "\"assignees\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/login\"}},"
    "\"milestone\":{\"anyOf\":[{\"type\":\"integer\",\"minimum\":1},{\"type\":\"null\"}]},"
    "\"perPage\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"default\":30},"
    "\"draft\":{\"type\":\"boolean\"}},"
    "\"$defs\":{\"login\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":39}}}";

static const char call[] =
    "{\"owner\":\"octocat\",\"repo\":\"hello-world\",\"title\":\"The build fails on arm64\","
    "\"body\":\"Since yesterday the build stops with an error about a missing header.\","
    "\"state\":\"open\",\"labels\":[\"bug\",\"build\",\"arm64\"],\"assignees\":[\"ada\",\"grace\"],"
    "\"milestone\":3,\"perPage\":50,\"draft\":false}";

static const char list_schema[] =
    "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"id\",\"name\"],"
    "\"properties\":{\"id\":{\"type\":\"integer\",\"minimum\":1},"
    "\"name\":{\"type\":\"string\",\"minLength\":1},\"score\":{\"type\":\"number\"},"
    "\"active\":{\"type\":\"boolean\"},"
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}}";

static const char uuid_schema[] =
    "{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-"
    "[0-9a-f]{12}$\"}";

static const char uuid[] = "\"123e4567-e89b-12d3-a456-426614174000\"";

static void make_list(struct cs_buf *out)
{
    cs_buf_putc(out, '[');
    for (int i = 1; i <= 1000; i++)
        cs_buf_printf(out,
                      "%s{\"id\":%d,\"name\":\"record number %d\",\"score\":%d.25,"
                      "\"active\":%s,\"tags\":[\"alpha\",\"beta\"]}",
                      i > 1 ? "," : "", i, i, i % 100, i % 3 ? "true" : "false");
    cs_buf_putc(out, ']');
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void must(int status, const struct cs_err *err)
{
    if (status == 0)
        return;
    fprintf(stderr, "%s\n", status < 0 ? err->msg : "the value does not fit");
    exit(2);
}

static double time_parse(struct cs_str text, int times)
{
    struct cs_err err = {0};
    double start = now();
    for (int i = 0; i < times; i++) {
        CS_AUTO_JSON struct cs_json doc = {0};
        must(cs_json_parse(text, NULL, &doc, &err), &err);
    }
    return (now() - start) / times;
}

static double time_check(const struct cs_schema *schema, const struct cs_json *doc, int times)
{
    struct cs_err err = {0};
    struct cs_schema_fault faults[8];
    double start = now();
    for (int i = 0; i < times; i++) {
        CS_AUTO_ARENA struct cs_arena arena = {0};
        must(cs_schema_check(schema, cs_json_root(doc), &arena, faults, 8, &err), &err);
    }
    return (now() - start) / times;
}

static double time_refusal(const struct cs_schema *schema, struct cs_str text, int times)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    struct cs_schema_fault faults[8];
    must(cs_json_parse(text, NULL, &doc, &err), &err);
    double best = 1e9;
    for (int r = 0; r < ROUNDS; r++) {
        double start = now();
        for (int i = 0; i < times; i++) {
            CS_AUTO_ARENA struct cs_arena arena = {0};
            if (cs_schema_check(schema, cs_json_root(&doc), &arena, faults, 8, &err) != 2)
                exit(2);
        }
        double t = (now() - start) / times;
        best = t < best ? t : best;
    }
    return best;
}

/* How often a check takes as long as parsing does. */
static double compare(const char *name, const struct cs_schema *schema, struct cs_str text,
                      int times, double *check)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    must(cs_json_parse(text, NULL, &doc, &err), &err);
    double parse = 1e9;
    *check = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        double t = time_parse(text, times);
        parse = t < parse ? t : parse;
        t = time_check(schema, &doc, times);
        *check = t < *check ? t : *check;
    }
    printf("schema_%s_size %zu bytes\n", name, text.len);
    printf("schema_%s_parse %.0f ns\n", name, parse * 1e9);
    printf("schema_%s_check %.0f ns\n", name, *check * 1e9);
    printf("schema_%s_ratio %.2f x\n", name, *check / parse);
    return *check / parse;
}

int main(void)
{
    CS_AUTO_BUF struct cs_buf list = {0};
    struct cs_schema *for_call = NULL, *for_list = NULL, *for_uuid = NULL;
    struct cs_err err = {0};
    double compile = 1e9, check;
    for (int i = 0; i < ROUNDS; i++) {
        cs_schema_free(for_call);
        double start = now();
        must(cs_schema_new(cs_str(call_schema), NULL, &for_call, &err), &err);
        compile = now() - start < compile ? now() - start : compile;
    }
    must(cs_schema_new(cs_str(list_schema), NULL, &for_list, &err), &err);
    must(cs_schema_new(cs_str(uuid_schema), NULL, &for_uuid, &err), &err);
    make_list(&list);
    printf("schema_compile %.1f us\n", compile * 1e6);
    double worst = compare("call", for_call, cs_str(call), 1000, &check);
    if (check * 1e9 > TARGET_NS)
        printf("note: a call takes more than %.0f ns on this machine, now\n", TARGET_NS);
    double ratio = compare("list", for_list, cs_buf_str(&list), 5, &check);
    worst = ratio > worst ? ratio : worst;
    compare("pattern", for_uuid, cs_str(uuid), 500, &check);
    printf(
        "schema_refusal %.1f us\n",
        time_refusal(for_call, CS_STR("{\"owner\":\"a\",\"repos\":\"b\",\"titel\":\"c\"}"), 500) *
            1e6);
    cs_schema_free(for_call);
    cs_schema_free(for_list);
    cs_schema_free(for_uuid);
    if (worst > TARGET_RATIO) {
        printf("missed: a check takes more than %.1f times as long as parsing\n", TARGET_RATIO);
        return 1;
    }
    return 0;
}
