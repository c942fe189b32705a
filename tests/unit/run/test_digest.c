/* The estimate of tokens, the preview and the digest: valid, within their budget, and telling. */
#include "test.h"

#include <math.h>

#include "base/buf.h"
#include "base/json.h"
#include "run/preview.h"
#include "run/run.h"

/* --- tokens --- */

/* Texts as programs return them, and what o200k_base counts. */
static const struct {
    const char *text;
    unsigned tokens;
} counted[] = {
    /* clang-format off */
    /* issues */
    {"[{\"id\":48213,\"number\":512,\"title\":\"Crash when the configuration file is empty\",\"stat"
     "e\":\"open\",\"user\":{\"login\":\"mmustermann\",\"id\":9919},\"labels\":[\"bug\",\"good first"
     " issue\"],\"created_at\":\"2026-03-14T09:26:53Z\",\"comments\":4,\"body\":\"Steps to reproduce"
     ":\\n1. touch config.json\\n2. run the tool\\n\\nIt ends with a segmentation fault instead of a"
     "n error message.\"},{\"id\":48214,\"number\":513,\"title\":\"Add a flag for quiet output\",\"sta"
     "te\":\"closed\",\"user\":{\"login\":\"octocat\",\"id\":583231},\"labels\":[],\"created_at\":\"202"
     "6-03-15T11:02:10Z\",\"comments\":0,\"body\":null}]", 163},
    /* rows */
    {"[{\"order_id\":10000,\"customer\":\"Alice Miller\",\"email\":\"user0@example.com\",\"total\":19"
     ".99,\"paid\":false},{\"order_id\":10037,\"customer\":\"Bob Schmidt\",\"email\":\"user7@example"
     ".com\",\"total\":39.98,\"paid\":true},{\"order_id\":10074,\"customer\":\"Carla Gomez\",\"email"
     "\":\"user14@example.com\",\"total\":59.97,\"paid\":true},{\"order_id\":10111,\"customer\":\"Dmi"
     "tri Ivanov\",\"email\":\"user21@example.com\",\"total\":79.96,\"paid\":false},{\"order_id\":10"
     "148,\"customer\":\"Alice Miller\",\"email\":\"user28@example.com\",\"total\":99.95,\"paid\":tr"
     "ue},{\"order_id\":10185,\"customer\":\"Bob Schmidt\",\"email\":\"user35@example.com\",\"total\":11"
     "9.94,\"paid\":true},{\"order_id\":10222,\"customer\":\"Carla Gomez\",\"email\":\"user42@exampl"
     "e.com\",\"total\":139.93,\"paid\":false},{\"order_id\":10259,\"customer\":\"Dmitri Ivanov\",\"ema"
     "il\":\"user49@example.com\",\"total\":159.92,\"paid\":true}]", 234},
    /* numbers */
    {"[0,841.471,909.2974,141.12,-756.8025,-958.9243,-279.4155,656.9866,989.3582,412.1185,-544.0211"
     ",-999.9902,-536.5729,420.167,990.6074,650.2878,-287.9033,-961.3975,-750.9872,149.8772,912.9453"
     ",836.6556,-8.8513,-846.2204,-905.5784,-132.3518,762.5585,956.3759,270.9058,-663.6339,-988.0316"
     ",-404.0376,551.4267,999.9119,529.0827,-428.1827,-991.7789,-643.5381,296.3686,963.7954,745.1132"
     ",-158.6227,-916.5215,-831.7747,17.7019,850.9035,901.7883,123.5731,-768.2547,-953.7527,-262.374"
     "9,670.2292,986.6276,395.9252,-558.789,-999.7552,-521.551,436.1648,992.8726,636.738]", 292},
    /* integers */
    {"[0,7,28,63,112,175,252,343,448,567,700,847,1008,1183,1372,1575,1792,2023,2268,2527,2800,3087,"
     "3388,3703,4032,4375,4732,5103,5488,5887,6300,6727,7168,7623,8092,8575,9072,9583,10108,10647,11"
     "200,11767,12348,12943,13552,14175,14812,15463,16128,16807,17500,18207,18928,19663,20412,21175,"
     "21952,22743,23548,24367,25200,26047,26908,27783,28672,29575,30492,31423,32368,33327,34300,3528"
     "7,36288,37303,38332,39375,40432,41503,42588,43687,44800,45927,47068,48223,49392,50575,51772,52"
     "983,54208,55447,56700,57967,59248,60543,61852,63175,64512,65863,67228,68607,70000,71407,72828,"
     "74263,75712,77175,78652,80143,81648,83167,84700,86247,87808,89383,90972,92575,94192,95823,9746"
     "8,99127]", 349},
    /* uuids */
    {"[{\"id\":\"3f2504e0-4f89-41d3-9a0c-0305e82c3301\",\"sha\":\"da39a3ee5e6b4b0d3255bfef95601890a"
     "fd80709\"},{\"id\":\"9b2c7a14-0d5e-4c8b-8f61-2a7d9e43b015\",\"sha\":\"2fd4e1c67a2d28fced849ee1"
     "bb76e7391b93eb12\"},{\"id\":\"c56a4180-65aa-42ec-a945-5fd21dec0538\",\"sha\":\"de9f2c7fd25e1b3"
     "afad3e85a0bd17d9b100db4b3\"},{\"id\":\"7d444840-9dc0-11d1-b245-5ffdce74fad2\",\"sha\":\"356a19"
     "2b7913b04c54574d18c28d46e6395428ab\"}]", 225},
    /* urls */
    {"[{\"url\":\"https://api.github.com/repos/octocat/hello-world/issues/0\",\"html_url\":\"https:"
     "//github.com/octocat/hello-world/issues/0\",\"labels_url\":\"https://api.github.com/repos/octo"
     "cat/hello-world/issues/0/labels{/name}\"},{\"url\":\"https://api.github.com/repos/octocat/hell"
     "o-world/issues/113\",\"html_url\":\"https://github.com/octocat/hello-world/issues/113\",\"labe"
     "ls_url\":\"https://api.github.com/repos/octocat/hello-world/issues/113/labels{/name}\"},{\"url"
     "\":\"https://api.github.com/repos/octocat/hello-world/issues/226\",\"html_url\":\"https://gith"
     "ub.com/octocat/hello-world/issues/226\",\"labels_url\":\"https://api.github.com/repos/octocat/"
     "hello-world/issues/226/labels{/name}\"},{\"url\":\"https://api.github.com/repos/octocat/hello-"
     "world/issues/339\",\"html_url\":\"https://github.com/octocat/hello-world/issues/339\",\"labels"
     "_url\":\"https://api.github.com/repos/octocat/hello-world/issues/339/labels{/name}\"},{\"url\":\"htt"
     "ps://api.github.com/repos/octocat/hello-world/issues/452\",\"html_url\":\"https://github.com/o"
     "ctocat/hello-world/issues/452\",\"labels_url\":\"https://api.github.com/repos/octocat/hello-wo"
     "rld/issues/452/labels{/name}\"},{\"url\":\"https://api.github.com/repos/octocat/hello-world/is"
     "sues/565\",\"html_url\":\"https://github.com/octocat/hello-world/issues/565\",\"labels_url\":\"htt"
     "ps://api.github.com/repos/octocat/hello-world/issues/565/labels{/name}\"}]", 339},
    /* base64 */
    {"{\"content\":\"iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0D"
     "HxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==\",\"encoding\":\"base64\",\"size\":85}", 79},
    /* prose */
    {"A tool call becomes a message: the program waits, the host checks whether it may, sends it, a"
     "nd gives the answer back. What is too large for an answer is kept under a handle, which a late"
     "r program can open. Nothing of the program runs before the verdict is there; every state can g"
     "o to the end with an error, and nothing skips it, so nothing goes unrecorded.", 81},
    /* code */
    {"const commits = await tools.github.listCommits({ owner: 'octocat', repo: 'hello-world' });\ncon"
     "st byAuthor = new Map();\nfor (const c of commits) {\n    const name = c.commit.author.name;\n   "
     " byAuthor.set(name, (byAuthor.get(name) ?\? 0) + 1);\n}\nreturn [...byAuthor].sort((a, b) => b"
     "[1] - a[1]).slice(0, 10);\n", 96},
    /* pretty */
    {"{\n  \"cluster\": {\n    \"name\": \"production\",\n    \"nodes\": [\n      {\n        \"host"
     "\": \"node-1.internal\",\n        \"cpu\": 0.42,\n        \"memory_mb\": 2048,\n        \"read"
     "y\": true\n      },\n      {\n        \"host\": \"node-2.internal\",\n        \"cpu\": 0.91,\n   "
     "     \"memory_mb\": 4096,\n        \"ready\": false\n      }\n    ],\n    \"updated\": \"2026-"
     "01-31T23:59:59.999Z\"\n  }\n}", 120},
    /* chinese */
    {"{\"标题\":\"数据处理平台的用户指南\",\"内容\":\"请在提交之前检查所有的字段是否正确，并且确认您的邮箱地址。\"}", 30},
    /* russian */
    {"{\"text\":\"Пожалуйста, проверьте состояние заказа и сообщите клиенту о доставке до пятницы.\"}", 25},
    /* clang-format on */
};

static void the_estimate_is_near(void **state)
{
    (void)state;
    double sum = 0;
    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        double ratio = (double)cs_token_estimate(cs_str(counted[i].text)) / counted[i].tokens;
        if (ratio < 0.75 || ratio > 1.4)
            fail_msg("%.40s: %.2f", counted[i].text, ratio);
        sum += fabs(ratio - 1);
    }
    assert_true(sum / (sizeof counted / sizeof counted[0]) < 0.15);
    assert_int_equal(cs_token_estimate(CS_STR("")), 0);
    /* Whatever it is, it costs something. */
    static const char kinds[] = "a0 ,\n\x01\x7F";
    for (const char *k = kinds; *k; k++) {
        char many[4096];
        memset(many, *k, sizeof many);
        assert_true(cs_token_estimate(cs_strn(many, sizeof many)) >= 200);
    }
}

/* --- preview --- */

static void check_json(struct cs_str text)
{
    struct cs_json doc = {0};
    struct cs_err err = {0};
    if (cs_json_parse(text, NULL, &doc, &err) < 0)
        fail_msg("%s: %.*s", err.msg, (int)(text.len < 300 ? text.len : 300), text.at);
    cs_json_done(&doc);
}

static void preview(struct cs_str json, uint64_t tokens, struct cs_buf *out)
{
    struct cs_json doc = {0};
    struct cs_err err = {0};
    if (cs_json_parse(json, NULL, &doc, &err) < 0)
        fail_msg("%s", err.msg);
    cs_buf_clear(out);
    cs_preview(cs_json_root(&doc), tokens, out);
    cs_json_done(&doc);
    check_json(cs_buf_str(out));
    if (cs_token_estimate(cs_buf_str(out)) > (tokens > 30 ? tokens : 30))
        fail_msg("%llu tokens: %s", (unsigned long long)tokens, cs_buf_cstr(out));
}

static void rows_of(unsigned n, struct cs_buf *json)
{
    cs_buf_puts(json, "{\"total\":1000,\"rows\":[");
    for (unsigned i = 0; i < n; i++)
        cs_buf_printf(json, "%s{\"id\":%u,\"name\":\"row %u\",\"tags\":[\"a\",\"b\"]}",
                      i ? "," : "", i, i);
    cs_buf_puts(json, "],\"next\":null}");
}

static void arrays_show_their_first_items(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf json = {0}, out = {0};
    rows_of(1000, &json);
    preview(cs_buf_str(&json), 300, &out);
    assert_contains(cs_buf_cstr(&out), "{\"total\":1000,\"rows\":[{\"id\":0,\"name\":\"row 0\"");
    assert_contains(cs_buf_cstr(&out), "more items\"],\"next\":null}");
    /* Most of the room is used. */
    assert_true(cs_token_estimate(cs_buf_str(&out)) > 200);
    size_t less = out.len;
    preview(cs_buf_str(&json), 3000, &out);
    assert_true(out.len > 8 * less);
    preview(cs_buf_str(&json), 200000, &out);
    assert_true(cs_str_eq(cs_buf_str(&out), cs_buf_str(&json)));
    /* One more is as short as to say that there is one more. */
    preview(CS_STR("[1,2]"), 30, &out);
    assert_string_equal(cs_buf_cstr(&out), "[1,2]");
}

static void texts_are_cut_between_characters(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf json = {0}, out = {0};
    cs_buf_putc(&json, '"');
    for (int i = 0; i < 5000; i++)
        cs_buf_puts(&json, i % 3 ? "ü" : "\\n");
    cs_buf_putc(&json, '"');
    preview(cs_buf_str(&json), 200, &out);
    assert_contains(cs_buf_cstr(&out), "\\nüü");
    assert_contains(cs_buf_cstr(&out), " more characters)\"");
    cs_buf_clear(&out);
    cs_preview_text(CS_STR("äöü and more, and so on, and so forth, until the end of it"), 4, &out);
    assert_string_equal(cs_buf_cstr(&out), "äöü … (54 more characters)");
    cs_buf_clear(&out);
    cs_preview_text(CS_STR("nearly as short"), 4, &out);
    assert_string_equal(cs_buf_cstr(&out), "nearly as short");
}

static void wide_and_deep_is_collapsed(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf json = {0}, out = {0};
    cs_buf_puts(&json, "{\"…\":0");
    for (int i = 0; i < 500; i++)
        cs_buf_printf(&json, ",\"key %d\":{\"a\":{\"b\":{\"c\":{\"d\":[1,2,3,%d]}}}}", i, i);
    cs_buf_puts(&json, "}");
    preview(cs_buf_str(&json), 120, &out);
    /* The key that is really there keeps its name. */
    assert_contains(cs_buf_cstr(&out), "{\"…\":0,\"key 0\":{\"a\":");
    assert_contains(cs_buf_cstr(&out), "\"……\":\"4");
    assert_contains(cs_buf_cstr(&out), " more keys\"}");
    assert_contains(cs_buf_cstr(&out), "{…} 1 key\"");
    preview(cs_buf_str(&json), 5, &out);
    assert_string_equal(cs_buf_cstr(&out), "\"{…} 501 keys\"");

    cs_buf_clear(&json);
    for (int i = 0; i < 120; i++)
        cs_buf_puts(&json, "[[1],");
    cs_buf_puts(&json, "2");
    for (int i = 0; i < 120; i++)
        cs_buf_puts(&json, "]");
    preview(cs_buf_str(&json), 500, &out);
    assert_contains(cs_buf_cstr(&out), "[…] 2 items");

    /* Keys that are the same where they are cut. */
    cs_buf_clear(&json);
    for (int i = 0; i < 40; i++)
        cs_buf_printf(&json, "%c\"%0200d\":%0*d", i ? ',' : '{', i, 3, 100 + i);
    cs_buf_puts(&json, "}");
    preview(cs_buf_str(&json), 400, &out);
    assert_contains(cs_buf_cstr(&out), "0… (key 2)\":101");
}

/* --- digest --- */

static void digest(struct cs_str envelope, uint64_t tokens, struct cs_buf *out)
{
    cs_buf_clear(out);
    cs_digest(envelope, tokens, out);
    check_json(cs_buf_str(out));
    uint64_t n = cs_token_estimate(cs_buf_str(out));
    if (n > (tokens > 200 ? tokens : 200))
        fail_msg("%llu instead of %llu tokens: %s", (unsigned long long)n,
                 (unsigned long long)tokens, cs_buf_cstr(out));
}

static struct cs_result completed(const char *value)
{
    return (struct cs_result){.execution_id = "ex_0123456789abcdef0123456789abcdef",
                              .value = cs_str(value),
                              .exit_status = -1,
                              .limits = cs_limits_default()};
}

static void digest_of(const struct cs_result *r, uint64_t tokens, struct cs_buf *out)
{
    CS_AUTO_BUF struct cs_buf envelope = {0};
    cs_envelope(r, &envelope);
    digest(cs_buf_str(&envelope), tokens, out);
}

static void what_is_small_is_whole(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_result r = completed("{\"a\":[1,2,3]}");
    digest_of(&r, 1000, &out);
    assert_string_equal(cs_buf_cstr(&out),
                        "{\"status\":\"completed\",\"execution_id\":\"ex_0123456789abcdef0123456789"
                        "abcdef\",\"result\":{\"a\":[1,2,3]}}");
    const struct cs_log logs[] = {{CS_LEVEL_INFO, CS_STR("one")}, {CS_LEVEL_WARN, CS_STR("two")}};
    const struct cs_call calls[] = {
        {.server = CS_STR("github"), .tool = CS_STR("list"), .status = CS_CALL_OK},
        {.server = CS_STR("github"),
         .tool = CS_STR("get"),
         .status = CS_CALL_ERROR,
         .error = CS_STR("404")}};
    r.session_id = CS_STR("ses_1");
    r.logs = logs;
    r.log_count = 2;
    r.calls = calls;
    r.tool_calls = 1;
    digest_of(&r, 1000, &out);
    assert_contains(cs_buf_cstr(&out), "\"session_id\":\"ses_1\",\"result\":{\"a\":[1,2,3]},"
                                       "\"logs\":[\"one\",\"[warn] two\"]}");
    r.tool_calls = 2;
    digest_of(&r, 1000, &out);
    assert_contains(
        cs_buf_cstr(&out),
        "\"calls\":2,\"calls_failed\":1,\"failed_calls\":[\"github/get: 404\"],\"result\"");
}

static void a_large_result_is_a_preview_with_a_handle(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf json = {0}, out = {0};
    rows_of(2000, &json);
    struct cs_result r = completed(cs_buf_cstr(&json));
    digest_of(&r, 1000, &out);
    assert_contains(cs_buf_cstr(&out), "\"result_preview\":{\"total\":1000,\"rows\":[{\"id\":0,");
    assert_contains(cs_buf_cstr(&out), "not kept");
    assert_null(strstr(cs_buf_cstr(&out), "\"result\":"));
    const struct cs_artifact artifacts[] = {
        {CS_STR("art_1"), CS_STR("result"), CS_STR("application/json"), "result", {0}, json.len},
        {CS_STR("art_2"), CS_STR("stdout"), CS_STR("text/plain"), "stdout", {0}, 77777}};
    r.artifacts = artifacts;
    r.artifact_count = 2;
    digest_of(&r, 1000, &out);
    assert_contains(cs_buf_cstr(&out), "\"artifact\":\"art_1\"");
    assert_contains(cs_buf_cstr(&out), "`await caisson.storage.get('art_1')`");
    assert_contains(cs_buf_cstr(&out),
                    "\"artifacts\":[{\"id\":\"art_2\",\"name\":\"stdout\",\"size\":77777}]");
    char size[64];
    snprintf(size, sizeof size, "\"result_size_bytes\":%zu", json.len);
    assert_contains(cs_buf_cstr(&out), size);
    assert_true(cs_token_estimate(cs_buf_str(&out)) > 600);
}

static void the_last_lines_count(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf json = {0}, out = {0}, texts = {0};
    struct cs_log logs[500];
    rows_of(2000, &json);
    cs_buf_room(&texts, 20000);
    for (int i = 0; i < 500; i++) {
        size_t from = texts.len;
        cs_buf_printf(&texts, "line number %d", i);
        logs[i] = (struct cs_log){CS_LEVEL_INFO, cs_strn(texts.at + from, texts.len - from)};
    }
    struct cs_result r = completed(cs_buf_cstr(&json));
    r.logs = logs;
    r.log_count = 500;
    digest_of(&r, 2000, &out);
    assert_contains(cs_buf_cstr(&out), "\"line number 498\",\"line number 499\"],");
    assert_contains(cs_buf_cstr(&out), "\"log_lines_left_out\":4");
    assert_null(strstr(cs_buf_cstr(&out), "\"line number 0\""));
    assert_contains(cs_buf_cstr(&out), "result_preview");
    r.value = CS_STR("1");
    digest_of(&r, 20000, &out); /* there is room */
    assert_contains(cs_buf_cstr(&out), "\"line number 0\",\"line number 1\"");
}

static void errors_say_where_and_what_to_do(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0}, many = {0};
    for (int i = 0; i < 2000; i++)
        cs_buf_printf(&many, "word%d ", i);
    struct cs_result r = completed("");
    r.failed = true;
    r.status = CS_STATUS_FAILED;
    r.error = (struct cs_error){.type = CS_ERROR_TYPE,
                                .message = CS_STR("x is undefined"),
                                .snippet = CS_STR("  x.y"),
                                .suggestion = CS_STR("Check x."),
                                .stack = CS_STR("at main.ts:3:5"),
                                .line = 3,
                                .column = 5};
    digest_of(&r, 500, &out);
    assert_contains(
        cs_buf_cstr(&out),
        "\"error\":{\"type\":\"type_error\",\"message\":\"x is undefined\",\"line\":3,\"column\":5,"
        "\"snippet\":\"  x.y\",\"suggestion\":\"Check x.\",\"stack\":\"at main.ts:3:5\"}}");
    r.error.message = r.error.stack = r.error.snippet = cs_buf_str(&many);
    r.is_guest = true;
    r.language = CS_PYTHON;
    r.err = CS_STR("Traceback: at the end");
    digest_of(&r, 500, &out);
    assert_contains(cs_buf_cstr(&out), "\"message\":\"word0 word1");
    assert_contains(cs_buf_cstr(&out), "more characters)\",\"line\":3");
    assert_null(strstr(cs_buf_cstr(&out), "\"stack\""));
    assert_contains(cs_buf_cstr(&out), "\"stderr\":\"Traceback: at the end\"");
    r.err = cs_buf_str(&many);
    digest_of(&r, 500, &out);
    assert_contains(cs_buf_cstr(&out), " bytes before) …");
    assert_contains(cs_buf_cstr(&out), "word1999\"");
}

static void a_guest_does_not_say_it_twice(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_result r = completed("{\"n\":7}");
    r.is_guest = true;
    r.language = CS_PYTHON;
    r.out = CS_STR("reading\n{\"n\":7}\n");
    digest_of(&r, 500, &out);
    assert_contains(cs_buf_cstr(&out), "\"result\":{\"n\":7},\"stdout\":\"reading\"}");
    r.out = CS_STR("{\"n\":7}\n");
    digest_of(&r, 500, &out);
    assert_null(strstr(cs_buf_cstr(&out), "stdout"));
    r.language = CS_BASH;
    r.value = CS_STR("\"all of it\"");
    r.out = CS_STR("all of it\n");
    digest_of(&r, 500, &out);
    assert_null(strstr(cs_buf_cstr(&out), "stdout"));
}

static void whatever_it_is_the_answer_is_valid(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0}, hostile = {0};
    static const char *const envelopes[] = {"", "[]", "{", "7", "{}"};
    for (size_t i = 0; i < sizeof envelopes / sizeof envelopes[0]; i++)
        digest(cs_str(envelopes[i]), 10, &out);
    /* Control characters cost six bytes each, and are everywhere. */
    static const char *const keys[] = {"status", "execution_id", "session_id", "stdout", "stderr"};
    cs_buf_puts(&hostile, "{\"error\":{\"limit\":{},\"message\":\"");
    for (int i = 0; i < 3000; i++)
        cs_buf_puts(&hostile, "\\u0001");
    cs_buf_puts(&hostile, "\"},\"logs\":[1,{\"text\":[]}],\"calls\":[7,{\"status\":\"\"}],"
                          "\"artifacts\":{\"id\":3},\"metrics\":[]");
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        cs_buf_printf(&hostile, ",\"%s\":\"", keys[k]);
        for (int i = 0; i < 3000; i++)
            cs_buf_puts(&hostile, "\\u0002");
        cs_buf_puts(&hostile, "\"");
    }
    cs_buf_puts(&hostile, "}");
    for (uint64_t tokens = 1; tokens < 100000; tokens *= 3)
        digest(cs_buf_str(&hostile), tokens, &out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(the_estimate_is_near),
        CS_TEST(arrays_show_their_first_items),
        CS_TEST(texts_are_cut_between_characters),
        CS_TEST(wide_and_deep_is_collapsed),
        CS_TEST(what_is_small_is_whole),
        CS_TEST(a_large_result_is_a_preview_with_a_handle),
        CS_TEST(the_last_lines_count),
        CS_TEST(errors_say_where_and_what_to_do),
        CS_TEST(a_guest_does_not_say_it_twice),
        CS_TEST(whatever_it_is_the_answer_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
