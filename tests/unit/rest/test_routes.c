#include "rest/inside.h"
#include "test.h"

static const struct cs_route *find(const char *method, const char *path, struct cs_str *parts,
                                   struct cs_buf *allow)
{
    return cs_route_find(cs_str(method), cs_str(path), parts, allow);
}

static void a_path_finds_its_route_and_its_parts(void **state)
{
    (void)state;
    struct cs_str parts[CS_REST_PARTS];
    const struct cs_route *r = find("GET", "/executions/ex_1/trace", parts, NULL);
    assert_non_null(r);
    assert_string_equal(r->id, "getTrace");
    assert_str_is(parts[0], "ex_1");
    r = find("GET", "/tools/search", parts, NULL);
    assert_string_equal(r->id, "searchTools");
    r = find("GET", "/", parts, NULL);
    assert_string_equal(r->id, "getRoot");
}

static void a_star_takes_the_rest_with_its_slashes(void **state)
{
    (void)state;
    struct cs_str parts[CS_REST_PARTS];
    assert_non_null(find("PUT", "/sessions/s/files/a/b/c.txt", parts, NULL));
    assert_str_is(parts[0], "s");
    assert_str_is(parts[1], "a/b/c.txt");
    assert_non_null(find("PUT", "/sessions/s/files//etc/passwd", parts, NULL));
    assert_str_is(parts[1], "/etc/passwd");
    assert_non_null(find("GET", "/tools/search/x", parts, NULL));
    assert_str_is(parts[0], "search");
}

static void what_is_nearly_a_path_is_none(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "executions",
                                        "/executions/",
                                        "//executions",
                                        "/executions//trace",
                                        "/Executions",
                                        "/executions/a/b",
                                        "/executions/a/trace/",
                                        "/sessions/s/files/",
                                        "/sessions//files/x",
                                        "/tools/a/",
                                        "/tools//a",
                                        "/healthy",
                                        "/health/",
                                        "*"};
    for (size_t i = 0; i < CS_COUNT(wrong); i++) {
        struct cs_str parts[CS_REST_PARTS];
        CS_AUTO_BUF struct cs_buf allow = {0};
        if (find("GET", wrong[i], parts, &allow) || allow.len)
            fail_msg("'%s' is served", wrong[i]);
    }
}

static void a_wrong_method_is_told_the_right_ones(void **state)
{
    (void)state;
    struct cs_str parts[CS_REST_PARTS];
    CS_AUTO_BUF struct cs_buf allow = {0};
    assert_null(find("POST", "/executions/ex_1", parts, &allow));
    assert_string_equal(cs_buf_cstr(&allow), "GET, HEAD, DELETE, OPTIONS");
    assert_null(find("get", "/executions", parts, NULL));
    assert_non_null(find("HEAD", "/executions", parts, NULL));
    assert_null(find("HEAD", "/executions/ex_1/replay", parts, NULL));
}

static void only_three_routes_are_open(void **state)
{
    (void)state;
    size_t count, open = 0;
    const struct cs_route *routes = cs_routes(&count);
    for (size_t i = 0; i < count; i++)
        open += routes[i].need == CS_NEED_NOTHING;
    assert_int_equal(open, 3);
    assert_true(cs_rest_is_open(CS_STR("GET"), CS_STR("/health")));
    assert_true(cs_rest_is_open(CS_STR("HEAD"), CS_STR("/")));
    assert_false(cs_rest_is_open(CS_STR("POST"), CS_STR("/health")));
    assert_false(cs_rest_is_open(CS_STR("GET"), CS_STR("/metrics")));
    assert_false(cs_rest_is_open(CS_STR("GET"), CS_STR("/healthx")));
}

static void each_route_takes_as_much_body_as_it_needs(void **state)
{
    (void)state;
    const struct cs_rest rest = {
        .o = {.code_bytes = 1000, .inputs_bytes = 5000, .file_bytes = 300}};
    const struct {
        const char *method, *path;
        uint64_t bytes;
    } rows[] = {{"POST", "/executions", 6000 + 5000 + CS_REST_SMALL_BODY},
                {"POST", "/tools/a/b", 5000},
                {"POST", "/sessions", CS_REST_SMALL_BODY},
                {"PUT", "/sessions/a/files/b", 300},
                {"GET", "/executions", CS_REST_SMALL_BODY},
                {"POST", "/nothing", CS_REST_SMALL_BODY}};
    for (size_t i = 0; i < CS_COUNT(rows); i++)
        assert_int_equal(cs_rest_body_bytes(&rest, cs_str(rows[i].method), cs_str(rows[i].path)),
                         rows[i].bytes);
}

/* --- the description --- */

static void every_route_is_described(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf json = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    cs_rest_openapi(&json);
    if (cs_json_parse(cs_buf_str(&json), NULL, &doc, &err) < 0)
        fail_msg("%s", err.msg);
    struct cs_json_val paths = cs_json_get(cs_json_root(&doc), "paths"), key, path;
    struct cs_json_iter it = {0};
    size_t count, described = 0;
    const struct cs_route *routes = cs_routes(&count);
    for (size_t i = 0; i < count; i++) {
        CS_AUTO_BUF struct cs_buf at = {0};
        char method[8];
        for (const char *c = routes[i].path; *c; c++)
            if (*c != '*')
                cs_buf_putc(&at, *c);
        snprintf(method, sizeof method, "%s", routes[i].method);
        for (char *c = method; *c; c++)
            *c = (char)(*c | 32);
        struct cs_json_val operation = cs_json_get(cs_json_get(paths, cs_buf_cstr(&at)), method);
        if (!cs_json_is(cs_json_get(operation, "operationId"), routes[i].id))
            fail_msg("%s %s is not described", routes[i].method, routes[i].path);
    }
    while (cs_json_next(paths, &it, &key, &path))
        described += cs_json_count(path);
    assert_int_equal(described, count);
}

static bool is_there(struct cs_json_val root, struct cs_str ref)
{
    char part[80];
    struct cs_json_val at = root;
    assert_true(cs_str_starts(ref, "#/"));
    ref = cs_strn(ref.at + 2, ref.len - 2);
    while (ref.len) {
        const char *slash = memchr(ref.at, '/', ref.len);
        size_t n = slash ? (size_t)(slash - ref.at) : ref.len;
        snprintf(part, sizeof part, "%.*s", (int)n, ref.at);
        at = cs_json_get(at, part);
        ref = cs_strn(ref.at + n + (slash != NULL), ref.len - n - (slash != NULL));
    }
    return cs_json_type(at) != CS_JSON_NONE;
}

static void check_refs(struct cs_json_val root, struct cs_json_val v, struct cs_arena *arena)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    bool object = cs_json_type(v) == CS_JSON_OBJECT;
    if (!object && cs_json_type(v) != CS_JSON_ARRAY)
        return;
    while (cs_json_next(v, &it, object ? &key : NULL, &item)) {
        struct cs_str ref = cs_json_str(item, arena);
        if (object && cs_json_is(key, "$ref") && !is_there(root, ref))
            fail_msg("%.*s leads nowhere", CS_STR_ARG(ref));
        check_refs(root, item, arena);
    }
}

static void every_reference_leads_somewhere(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf json = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    cs_rest_openapi(&json);
    assert_int_equal(cs_json_parse(cs_buf_str(&json), NULL, &doc, NULL), 0);
    check_refs(cs_json_root(&doc), cs_json_root(&doc), &arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_path_finds_its_route_and_its_parts),
        CS_TEST(a_star_takes_the_rest_with_its_slashes),
        CS_TEST(what_is_nearly_a_path_is_none),
        CS_TEST(a_wrong_method_is_told_the_right_ones),
        CS_TEST(only_three_routes_are_open),
        CS_TEST(each_route_takes_as_much_body_as_it_needs),
        CS_TEST(every_route_is_described),
        CS_TEST(every_reference_leads_somewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
