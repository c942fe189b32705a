/* Tools by words, by path, and by names that are nearly right; no server is started for it. */
#include "world.h"

/* Two servers as they were listed last time, and one that never was. */
static int make_known(void **state)
{
    int status = make_world(state);
    struct world *w = *state;
    put_config(w,
               "\"git-hub\":{\"command\":\"/no/such/a\"},\"my.mail\":{\"command\":\"/no/such/b\"},"
               "\"fresh\":{\"command\":\"/no/such/c\"}");
    remember(
        w, "git-hub",
        "[{\"name\":\"list_commits\",\"description\":\"Lists the commits of a branch.\","
        "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"branch\":{\"type\":\"string\"}}}},"
        "{\"name\":\"create_issue\",\"description\":\"Opens a new issue.\",\"inputSchema\":{}},"
        "{\"name\":\"delete_repository\",\"description\":\"Deletes a "
        "repository.\",\"inputSchema\":{}}]");
    remember(w, "my.mail",
             "[{\"name\":\"send\",\"description\":\"Sends a message.\",\"inputSchema\":{}}]");
    open_tools(w, false);
    return status;
}

static bool harmless(void *ctx, const struct cs_tool *tool)
{
    (void)ctx;
    return !cs_str_starts(tool->name, "delete");
}

static bool nothing(void *ctx, const struct cs_tool *tool)
{
    (void)ctx;
    (void)tool;
    return false;
}

/* The answer, kept until the next one. */
static const char *find(struct world *w, struct cs_find f)
{
    static char answer[20000];
    CS_AUTO_BUF struct cs_buf json = {0};
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    struct cs_catalogue *c = cs_tools_current(w->tools);
    cs_tools_find(w->tools, c, &f, &json);
    cs_catalogue_unref(c);
    if (cs_json_parse(cs_buf_str(&json), NULL, &doc, &err) < 0)
        fail_msg("%s: %s", err.msg, cs_buf_cstr(&json));
    snprintf(answer, sizeof answer, "%s", cs_buf_cstr(&json));
    return answer;
}

static void test_words_find_tools(void **state)
{
    struct world *w = *state;
    const char *got = find(w, (struct cs_find){.query = CS_STR("commits of a branch")});
    assert_true(strncmp(got,
                        "{\"tools\":[{\"tool\":\"gitHub.listCommits\","
                        "\"path\":\"/mcp-servers/git-hub/listCommits.ts\"",
                        60) == 0);
    assert_null(strstr(got, "\"summary\"")); /* not asked for */
    assert_contains(got, "\"waiting\":[\"fresh\"]");
    got = find(w, (struct cs_find){.query = CS_STR("commits"), .detail = CS_DETAIL_SUMMARY});
    assert_contains(got, "\"summary\":\"Lists the commits of a branch.\"");
    assert_null(strstr(got, "\"definition\""));
    got = find(w, (struct cs_find){.query = CS_STR("commits"), .detail = CS_DETAIL_FULL});
    assert_contains(got, "export async function listCommits(");
}

static void test_an_empty_query_is_answered_with_the_servers(void **state)
{
    struct world *w = *state;
    static const char *const empty[] = {"", " ", "?!", "\xff\xfe"};
    for (size_t i = 0; i < CS_COUNT(empty); i++) {
        const char *got = find(w, (struct cs_find){.query = cs_str(empty[i]), .allowed = harmless});
        assert_contains(got, "{\"tools\":[],\"total\":0,\"servers\":["
                             "{\"server\":\"fresh\",\"tools\":0},"
                             "{\"server\":\"gitHub\",\"tools\":2},"
                             "{\"server\":\"myMail\",\"tools\":1}]");
    }
}

static void test_a_server_may_be_named_in_both_ways(void **state)
{
    struct world *w = *state;
    static const char *const names[] = {"git-hub", "gitHub"};
    for (size_t i = 0; i < 2; i++) {
        const char *got =
            find(w, (struct cs_find){.query = CS_STR("issue message"), .server = cs_str(names[i])});
        assert_contains(got, "createIssue");
        assert_null(strstr(got, "myMail"));
    }
}

static void test_denied_tools_do_not_exist(void **state)
{
    struct world *w = *state;
    struct cs_find f = {
        .query = CS_STR("deletes a repository"), .detail = CS_DETAIL_FULL, .limit = 50};
    assert_contains(find(w, f), "deleteRepository");
    f.allowed = harmless;
    assert_null(strstr(find(w, f), "delete"));
    f.query = CS_STR("delete_repository");
    assert_null(strstr(find(w, f), "delete"));
    f.allowed = nothing;
    f.query = CS_STR("commits issue message");
    assert_contains(find(w, f), "{\"tools\":[],\"total\":0,\"servers\":[{\"server\":\"fresh\","
                                "\"tools\":0},{\"server\":\"gitHub\",\"tools\":0}");
}

static void test_pages(void **state)
{
    struct world *w = *state;
    struct cs_find f = {.query = CS_STR("a commits issue repository message"), .limit = 1};
    char first[200];
    snprintf(first, sizeof first, "%.199s", find(w, f));
    assert_int_equal(strncmp(first, "{\"tools\":[{", 11), 0);
    f.offset = 1;
    assert_int_not_equal(strncmp(first, find(w, f), 40), 0);
    f.offset = 1000;
    assert_contains(find(w, f), "{\"tools\":[],\"total\":");
    f.limit = 1000000; /* as many as there may be */
    f.offset = 0;
    assert_contains(find(w, f), "deleteRepository");
}

static int read_path(struct world *w, const char *path,
                     bool (*allowed)(void *, const struct cs_tool *), struct cs_buf *text,
                     struct cs_err *err)
{
    struct cs_catalogue *c = cs_tools_current(w->tools);
    int status = cs_tools_read(w->tools, c, cs_str(path), allowed, NULL, text, err);
    cs_catalogue_unref(c);
    return status;
}

static void test_definitions_in_all_spellings(void **state)
{
    struct world *w = *state;
    static const char *const paths[] = {
        "/mcp-servers/git-hub/listCommits.ts",
        "./mcp-servers/git-hub/listCommits.ts",
        "mcp-servers/git-hub/listCommits.ts",
        "/mcp-servers/gitHub/list_commits.ts",
        "git-hub/list_commits",
        "git-hub/listCommits",
        "gitHub.listCommits",
        "git-hub.list_commits",
        "tools.gitHub.listCommits",
    };
    for (size_t i = 0; i < CS_COUNT(paths); i++) {
        CS_AUTO_BUF struct cs_buf text = {0};
        struct cs_err err = {0};
        if (read_path(w, paths[i], harmless, &text, &err) < 0)
            fail_msg("%s: %s", paths[i], err.msg);
        assert_contains(cs_buf_cstr(&text), "export async function listCommits(");
    }
    /* A name with a dot in it. */
    static const char *const dotted[] = {"my.mail.send", "my.mail/send",
                                         "/mcp-servers/my.mail/send.ts", "myMail.send"};
    for (size_t i = 0; i < CS_COUNT(dotted); i++) {
        CS_AUTO_BUF struct cs_buf text = {0};
        struct cs_err err = {0};
        if (read_path(w, dotted[i], NULL, &text, &err) < 0)
            fail_msg("%s: %s", dotted[i], err.msg);
        assert_contains(cs_buf_cstr(&text), "export async function send(");
    }
}

static void test_whole_servers_and_the_readme_can_be_read(void **state)
{
    struct world *w = *state;
    static const char *const paths[] = {"/mcp-servers/git-hub/index.ts", "git-hub", "gitHub",
                                        "my.mail"};
    for (size_t i = 0; i < CS_COUNT(paths); i++) {
        CS_AUTO_BUF struct cs_buf text = {0};
        struct cs_err err = {0};
        if (read_path(w, paths[i], NULL, &text, &err) < 0)
            fail_msg("%s: %s", paths[i], err.msg);
        assert_contains(cs_buf_cstr(&text), i == 3 ? "send" : "listCommits");
    }
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_err err = {0};
    assert_int_equal(read_path(w, "/mcp-servers/README.md", NULL, &text, &err), 0);
    assert_contains(cs_buf_cstr(&text), "git-hub");
}

static void test_what_is_missing_names_what_is_near(void **state)
{
    struct world *w = *state;
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_err err = {0};
    assert_int_equal(read_path(w, "git-hub/listComits", harmless, &text, &err), -1);
    assert_int_equal(err.code, CS_MISSING);
    assert_contains(err.msg,
                    "there is no tool 'git-hub/listComits'; near to it: gitHub.listCommits");
    assert_int_equal(read_path(w, "git-hub/delete_repository", harmless, &text, &err), -1);
    assert_null(strstr(err.msg, "near to it: gitHub.deleteRepository"));
    static const char *const odd[] = {"",
                                      "/",
                                      ".",
                                      "..",
                                      "../../etc/passwd",
                                      "git-hub/../my.mail/send",
                                      "/mcp-servers/git-hub/../../x",
                                      "fresh",
                                      "fresh/x"};
    for (size_t i = 0; i < CS_COUNT(odd); i++) {
        err = (struct cs_err){0};
        assert_int_equal(read_path(w, odd[i], NULL, &text, &err), -1);
        assert_int_equal(err.code, CS_MISSING);
    }
    assert_int_equal(text.len, 0);
}

static const char *near(struct world *w, const char *server, const char *tool,
                        bool (*allowed)(void *, const struct cs_tool *))
{
    static char names[500];
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_catalogue *c = cs_tools_current(w->tools);
    cs_tools_near(w->tools, c, cs_str(server), cs_str(tool), allowed, NULL, &out);
    cs_catalogue_unref(c);
    snprintf(names, sizeof names, "%s", cs_buf_cstr(&out));
    return names;
}

static void test_near_names(void **state)
{
    struct world *w = *state;
    assert_int_equal(strncmp(near(w, "git-hub", "listCommit", NULL), "gitHub.listCommits", 18), 0);
    assert_int_equal(strncmp(near(w, "gitHub", "creat_issue", NULL), "gitHub.createIssue", 18), 0);
    /* The server is wrong, the tool is right. */
    assert_contains(near(w, "gitlab", "list_commits", NULL), "gitHub.listCommits");
    /* Nothing is like it: what the server has, or which servers there are. */
    assert_string_equal(near(w, "my.mail", "zzz", NULL), "myMail.send");
    assert_string_equal(near(w, "qqq", "zzz", NULL), "fresh, gitHub, myMail");
    assert_null(strstr(near(w, "git-hub", "delete_repository", harmless), "delete"));
    assert_string_equal(near(w, "git-hub", "zzz", nothing), "");
}

/* A program keeps the tools it started with: what came later is not among its answers. */
static void test_a_catalogue_sees_itself_only(void **state)
{
    struct world *w = *state;
    struct cs_offer *old = offer_named("git-hub", "[" TOOL("create_issue") "]");
    struct cs_catalogue *c = NULL;
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf json = {0};
    assert_int_equal(cs_catalogue_new(w->data, &old, 1, &c, &err), 0);
    struct cs_find f = {.query = CS_STR("commits issue message"), .limit = 50};
    cs_tools_find(w->tools, c, &f, &json);
    assert_contains(cs_buf_cstr(&json), "createIssue");
    assert_null(strstr(cs_buf_cstr(&json), "listCommits"));
    assert_null(strstr(cs_buf_cstr(&json), "send"));
    cs_catalogue_unref(c);
    cs_offer_unref(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(test_words_find_tools, make_known, drop_world),
        CS_TEST_WITH(test_an_empty_query_is_answered_with_the_servers, make_known, drop_world),
        CS_TEST_WITH(test_a_server_may_be_named_in_both_ways, make_known, drop_world),
        CS_TEST_WITH(test_denied_tools_do_not_exist, make_known, drop_world),
        CS_TEST_WITH(test_pages, make_known, drop_world),
        CS_TEST_WITH(test_definitions_in_all_spellings, make_known, drop_world),
        CS_TEST_WITH(test_whole_servers_and_the_readme_can_be_read, make_known, drop_world),
        CS_TEST_WITH(test_what_is_missing_names_what_is_near, make_known, drop_world),
        CS_TEST_WITH(test_near_names, make_known, drop_world),
        CS_TEST_WITH(test_a_catalogue_sees_itself_only, make_known, drop_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
