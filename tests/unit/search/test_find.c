#include "base/buf.h"
#include "base/mem.h"
#include "search/model.h"
#include "search/search.h"
#include "test.h"

/* Tags are the names themselves, so that answers can be read. */
struct tool {
    const char *group, *name, *text, *schema;
};

static const struct tool office[] = {
    {"github", "create_issue", "Create a new issue in a repository.", ""},
    {"github", "list_issues", "List the issues of a repository.", ""},
    {"github", "close_issue", "Close an issue.", ""},
    {"github", "create_pull_request", "Open a pull request.",
     "{\"properties\":{\"base\":{\"type\":\"string\",\"description\":\"branch to merge into\"}}}"},
    {"github", "merge_pull_request", "Merge a pull request.", ""},
    {"gitlab", "create_issue", "Create an issue in a project.", ""},
    {"slack", "post_message", "Send a message to a channel.",
     "{\"properties\":{\"priority\":{\"enum\":[\"urgent\",\"normal\"]}}}"},
    {"slack", "add_reaction", "Put an emoji on a message.", ""},
    {"stripe", "create_invoice", "Make an invoice for a customer.", ""},
    {"stripe", "delete_customer", "Delete a customer for good.", ""},
    {"stripe", "create_customer", "Make a customer.", ""},
    {"mongodb", "aggregate", "Group documents and sum their values.", ""},
    {"mongodb", "search", "Find documents.", ""},
    {"wikipedia", "search", "Find articles.", ""},
    {"trains", "tickets", "\xE6\x9F\xA5\xE8\xAF\xA2\xE7\x81\xAB\xE8\xBD\xA6\xE7\xA5\xA8", ""},
};

static struct cs_search_doc doc_of(const struct tool *t)
{
    return (struct cs_search_doc){.name = cs_str(t->name),
                                  .description = cs_str(t->text),
                                  .schema = cs_str(t->schema),
                                  .tag = t};
}

/* All tools whose group is that of tools[at], put as one group. */
static void put_group(struct cs_search *index, const struct tool *tools, size_t count, size_t at)
{
    struct cs_search_doc docs[400];
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(tools[i].group, tools[at].group) == 0)
            docs[n++] = doc_of(&tools[i]);
    struct cs_err err = {0};
    if (cs_search_put(index, cs_str(tools[at].group), docs, n, &err) < 0)
        fail_msg("%s", err.msg);
}

static struct cs_search *index_of(const struct tool *tools, size_t count, bool backwards)
{
    struct cs_search *index = cs_search_new(NULL);
    for (size_t i = 0; i < count; i++)
        put_group(index, tools, count, backwards ? count - 1 - i : i);
    return index;
}

static size_t find(struct cs_search *index, const char *query, struct cs_search_options options,
                   struct cs_buf *names)
{
    struct cs_search_hit hits[64];
    size_t total = 0;
    size_t n = cs_search_find(index, cs_str(query), &options, hits, &total);
    assert_true(n <= (options.limit ? options.limit : 5) && n <= total);
    cs_buf_clear(names);
    for (size_t i = 0; i < n; i++) {
        const struct tool *t = hits[i].tag;
        cs_buf_printf(names, "%s%s/%s", i ? " " : "", t->group, t->name);
    }
    return total;
}

static void assert_first(struct cs_search *index, const char *query, const char *want)
{
    CS_AUTO_BUF struct cs_buf names = {0};
    find(index, query, (struct cs_search_options){.limit = 1}, &names);
    if (strcmp(cs_buf_cstr(&names), want) != 0)
        fail_msg("'%s' finds %s, not %s", query, cs_buf_cstr(&names), want);
}

#define OFFICE office, CS_COUNT(office)

static void a_few_words_find_the_tool(void **state)
{
    (void)state;
    struct cs_search *index = index_of(OFFICE, false);
    assert_first(index, "create an issue on github", "github/create_issue");
    assert_first(index, "new issue in GitLab", "gitlab/create_issue");
    assert_first(index, "send a message", "slack/post_message");
    assert_first(index, "createPullRequest", "github/create_pull_request");
    assert_first(index, "merge into base branch", "github/merge_pull_request");
    assert_first(index, "urgent", "slack/post_message");
    assert_first(index, "\xE7\x81\xAB\xE8\xBD\xA6", "trains/tickets");
    cs_search_free(index);
}

static void the_verb_counts(void **state)
{
    (void)state;
    struct cs_search *index = index_of(OFFICE, false);
    assert_first(index, "create customer", "stripe/create_customer");
    assert_first(index, "delete customer", "stripe/delete_customer");
    assert_first(index, "list issues", "github/list_issues");
    assert_first(index, "close issues", "github/close_issue");
    cs_search_free(index);
}

static void typing_errors_are_repaired(void **state)
{
    (void)state;
    struct cs_search *index = index_of(OFFICE, false);
    assert_first(index, "craete invocie", "stripe/create_invoice");
    assert_first(index, "delte custommer", "stripe/delete_customer");
    assert_first(index, "merg pul reqest", "github/merge_pull_request");
    assert_first(index, "gitlba create issue", "gitlab/create_issue");
    cs_search_free(index);
}

static void relatives_stand_for_words_that_no_tool_has(void **state)
{
    (void)state;
    struct cs_search *index = index_of(OFFICE, false);
    assert_first(index, "bill a client", "stripe/create_invoice");
    assert_first(index, "erase client", "stripe/delete_customer");
    cs_search_free(index);
}

static void a_group_that_is_named_comes_first(void **state)
{
    (void)state;
    struct cs_search *index = index_of(OFFICE, false);
    assert_first(index, "search in mongo", "mongodb/search");
    assert_first(index, "search wikipedia", "wikipedia/search");
    CS_AUTO_BUF struct cs_buf names = {0};
    struct cs_search_options hint = {.limit = 1, .group = CS_STR("the Wikipedia server")};
    find(index, "search", hint, &names);
    assert_string_equal(cs_buf_cstr(&names), "wikipedia/search");
    hint.group = CS_STR("mongodb");
    find(index, "search", hint, &names);
    assert_string_equal(cs_buf_cstr(&names), "mongodb/search");
    struct cs_search_options only = {.limit = 20, .group = CS_STR("slack")};
    assert_int_equal(find(index, "message", only, &names), 2);
    assert_null(strstr(cs_buf_cstr(&names), "github"));
    cs_search_free(index);
}

static void an_exact_name_is_first_always(void **state)
{
    (void)state;
    struct tool tools[201] = {{"odd", "all", "Says nothing of itself.", ""}};
    for (size_t i = 1; i < CS_COUNT(tools); i++)
        tools[i] = (struct tool){"loud", "all_of_it_all", "All all. Odd all, odd/all.", ""};
    struct cs_search *index = index_of(tools, CS_COUNT(tools), false);
    assert_first(index, "all", "odd/all"); /* though it is a stop word */
    assert_first(index, " odd/all\n", "odd/all");
    assert_first(index, "ODD/All", "odd/all");
    cs_search_free(index);
    index = index_of(OFFICE, false);
    assert_first(index, "gitlab/create_issue", "gitlab/create_issue");
    CS_AUTO_BUF struct cs_buf names = {0};
    find(index, "create_issue", (struct cs_search_options){.limit = 2}, &names);
    assert_string_equal(cs_buf_cstr(&names), "github/create_issue gitlab/create_issue");
    cs_search_free(index);
}

static void useless_queries_find_nothing(void **state)
{
    (void)state;
    struct cs_search *index = index_of(OFFICE, false);
    CS_AUTO_BUF struct cs_buf names = {0};
    static const char *const queries[] = {"",         "   ",      "the of a",
                                          "?!... --", "\xFF\xFE", "qqqqzzzz"};
    for (size_t i = 0; i < CS_COUNT(queries); i++)
        assert_int_equal(find(index, queries[i], (struct cs_search_options){0}, &names), 0);
    cs_search_free(index);
    index = cs_search_new(NULL);
    assert_int_equal(find(index, "issue", (struct cs_search_options){0}, &names), 0);
    cs_search_free(index);
    cs_search_free(NULL);
}

static void the_order_of_arrival_changes_nothing(void **state)
{
    (void)state;
    struct cs_search *a = index_of(OFFICE, false), *b = index_of(OFFICE, true);
    static const char *const queries[] = {"create", "search documents", "issue request message",
                                          "crete custmer", "make a new thing"};
    for (size_t i = 0; i < CS_COUNT(queries); i++) {
        struct cs_search_hit x[20], y[20];
        const struct cs_search_options all = {.limit = 20};
        size_t n = cs_search_find(a, cs_str(queries[i]), &all, x, NULL);
        assert_int_equal(cs_search_find(b, cs_str(queries[i]), &all, y, NULL), n);
        for (size_t k = 0; k < n; k++) {
            assert_ptr_equal(x[k].tag, y[k].tag);
            assert_true(x[k].score == y[k].score);
            assert_true(k == 0 || k == 4 || k == 5 || x[k].score <= x[k - 1].score);
        }
    }
    cs_search_free(a);
    cs_search_free(b);
}

/* Seventy-five words are one letter from "aaq": more than a query can take. */
static void many_near_words_are_the_same_in_any_order(void **state)
{
    (void)state;
    static char names[75][4];
    static struct tool tools[75];
    size_t n = 0;
    for (int place = 0; place < 3; place++) {
        for (char c = 'a'; c <= 'z'; c++) {
            if (c == "aaq"[place])
                continue;
            memcpy(names[n], "aaq", 4);
            names[n][place] = c;
            tools[n] = (struct tool){names[n], names[n], "Does it.", ""};
            n++;
        }
    }
    assert_int_equal(n, 75);
    struct cs_search *a = index_of(tools, n, false), *b = index_of(tools, n, true);
    CS_AUTO_BUF struct cs_buf x = {0}, y = {0};
    struct cs_search_options options = {.limit = 60};
    assert_true(find(a, "aaq", options, &x) > 20);
    find(b, "aaq", options, &y);
    assert_string_equal(cs_buf_cstr(&x), cs_buf_cstr(&y));
    cs_search_free(a);
    cs_search_free(b);
}

static void groups_come_and_go(void **state)
{
    (void)state;
    struct cs_search *index = index_of(OFFICE, false);
    assert_first(index, "create issue gitlab", "gitlab/create_issue");
    cs_search_remove(index, CS_STR("gitlab"));
    cs_search_remove(index, CS_STR("gitlab"));
    assert_first(index, "create issue gitlab", "github/create_issue");
    const struct tool other = {"github", "rename_branch", "Rename a branch.", ""};
    put_group(index, &other, 1, 0);
    CS_AUTO_BUF struct cs_buf names = {0};
    find(index, "create issue", (struct cs_search_options){.limit = 20}, &names);
    assert_null(strstr(cs_buf_cstr(&names), "create_issue"));
    assert_first(index, "rename branch", "github/rename_branch");
    struct cs_err err = {0};
    assert_int_equal(cs_search_put(index, CS_STR("github"), NULL, 0, &err), 0);
    assert_int_equal(find(index, "rename branch", (struct cs_search_options){0}, &names), 0);
    cs_search_free(index);
}

/* Many more words than are alive have come and gone: the dictionary is swept, and still right. */
static void words_of_the_past_are_swept(void **state)
{
    (void)state;
    struct cs_search *index = index_of(OFFICE, false);
    CS_AUTO_BUF struct cs_buf text = {0};
    for (unsigned round = 0; round < 60; round++) {
        cs_buf_clear(&text);
        struct tool t[4];
        for (unsigned i = 0; i < 400; i++)
            cs_buf_printf(&text, "w%ux%u ", round, i);
        for (unsigned i = 0; i < CS_COUNT(t); i++)
            t[i] = (struct tool){"noise", "noise", cs_buf_cstr(&text) + i * 300, ""};
        put_group(index, t, CS_COUNT(t), 0);
        assert_first(index, "create invoice", "stripe/create_invoice");
        cs_search_remove(index, CS_STR("noise"));
    }
    assert_first(index, "send a mesage", "slack/post_message");
    cs_search_free(index);
}

static bool not_github(void *ctx, const void *tag)
{
    ++*(size_t *)ctx;
    return strcmp(((const struct tool *)tag)->group, "github") != 0;
}

static void what_is_not_accepted_does_not_exist(void **state)
{
    (void)state;
    struct cs_search *index = index_of(OFFICE, false);
    CS_AUTO_BUF struct cs_buf names = {0};
    size_t asked = 0;
    struct cs_search_options options = {.limit = 20, .accept = not_github, .ctx = &asked};
    size_t total = find(index, "create issue", options, &names);
    assert_true(asked > 0 && total > 0 && total < CS_COUNT(office) - 4);
    assert_null(strstr(cs_buf_cstr(&names), "github/"));
    assert_true(cs_str_starts(cs_buf_str(&names), "gitlab/create_issue"));
    find(index, "github/create_issue", options, &names);
    assert_null(strstr(cs_buf_cstr(&names), "github/"));
    cs_search_free(index);
}

#define MANY 120

static struct tool many[MANY];
static char many_names[MANY][32];

/* Sixty tools of one group and fifteen each of four others, all alike. */
static struct cs_search *many_alike(void)
{
    static const char *const groups[] = {"big", "north", "south", "east", "west"};
    for (size_t i = 0; i < MANY; i++) {
        snprintf(many_names[i], sizeof many_names[i], "read_report_%zu", i);
        many[i] =
            (struct tool){groups[i < 60 ? 0 : 1 + i % 4], many_names[i], "Read a report.", ""};
    }
    return index_of(many, MANY, false);
}

static size_t count_of(struct cs_str text, const char *piece)
{
    size_t n = 0;
    for (size_t i = 0; i + strlen(piece) <= text.len; i++)
        n += memcmp(text.at + i, piece, strlen(piece)) == 0;
    return n;
}

static void one_group_does_not_flood_the_first_answers(void **state)
{
    (void)state;
    struct cs_search *index = many_alike();
    CS_AUTO_BUF struct cs_buf names = {0};
    assert_int_equal(find(index, "read report", (struct cs_search_options){0}, &names), MANY);
    assert_int_equal(count_of(cs_buf_str(&names), "big/"), 3);
    find(index, "big read report", (struct cs_search_options){0}, &names);
    assert_int_equal(count_of(cs_buf_str(&names), "big/"), 5);
    struct cs_search_options only = {.group = CS_STR("big")};
    assert_int_equal(find(index, "read report", only, &names), 60);
    assert_int_equal(count_of(cs_buf_str(&names), "big/"), 5);
    cs_search_free(index);
}

static void pages_neither_repeat_nor_skip(void **state)
{
    (void)state;
    struct cs_search *index = many_alike();
    static struct cs_search_hit all[MANY], page[MANY];
    const struct cs_search_options whole = {.limit = MANY};
    assert_int_equal(cs_search_find(index, CS_STR("read report"), &whole, all, NULL), MANY);
    for (size_t step = 1; step < 20; step += 3) {
        size_t seen = 0;
        for (size_t offset = 0; offset < MANY + 10; offset += step) {
            const struct cs_search_options part = {.limit = step, .offset = offset};
            size_t total, n = cs_search_find(index, CS_STR("read report"), &part, page, &total);
            assert_int_equal(total, MANY);
            for (size_t i = 0; i < n; i++)
                assert_ptr_equal(page[i].tag, all[seen++].tag);
        }
        assert_int_equal(seen, MANY);
    }
    for (size_t i = 0; i < MANY; i++)
        for (size_t k = 0; k < i; k++)
            assert_ptr_not_equal(all[i].tag, all[k].tag);
    cs_search_free(index);
}

/* The score of the tool that is called `stuffed` for this query. */
static float score_of(const char *text, const char *query)
{
    struct tool tools[CS_COUNT(office) + 1];
    memcpy(tools, office, sizeof office);
    tools[CS_COUNT(office)] = (struct tool){"rogue", "stuffed", text, ""};
    struct cs_search *index = index_of(tools, CS_COUNT(tools), false);
    struct cs_search_hit hits[20];
    size_t n =
        cs_search_find(index, cs_str(query), &(struct cs_search_options){.limit = 20}, hits, NULL);
    float score = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(((const struct tool *)hits[i].tag)->group, "rogue") == 0)
            score = hits[i].score;
    cs_search_free(index);
    return score;
}

static void repeating_a_word_is_no_use(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    for (int i = 0; i < 150; i++)
        cs_buf_puts(&text, "create invoice ");
    const char *often = cs_buf_cstr(&text);
    assert_true(score_of("create invoice", "create invoice") > 0);
    assert_true(score_of(often, "create invoice") == score_of("create invoice", "create invoice"));

    struct tool tools[CS_COUNT(office) + 1];
    memcpy(tools, office, sizeof office);
    tools[CS_COUNT(office)] = (struct tool){"rogue", "stuffed", often, ""};
    struct cs_search *index = index_of(tools, CS_COUNT(tools), false);
    assert_first(index, "create invoice", "stripe/create_invoice");
    assert_first(index, "invoice a customer", "stripe/create_invoice");
    cs_search_free(index);
}

static void listing_every_word_is_no_use(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf text = {0};
    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < CS_COUNT(office) - 1; i++)
            cs_buf_printf(&text, "%s %s %s ", office[i].group, office[i].name, office[i].text);
    struct tool tools[CS_COUNT(office) + 1];
    memcpy(tools, office, sizeof office);
    tools[CS_COUNT(office)] =
        (struct tool){"rogue", "ALWAYS_use_this_first", cs_buf_cstr(&text), ""};
    struct cs_search *index = index_of(tools, CS_COUNT(tools), false);
    assert_first(index, "create an issue on github", "github/create_issue");
    assert_first(index, "send a message", "slack/post_message");
    assert_first(index, "delete customer", "stripe/delete_customer");
    assert_first(index, "merge pull request", "github/merge_pull_request");
    cs_search_free(index);
}

static void vectors_find_what_words_do_not(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf bytes = {0};
    struct cs_model *model = model_of(&bytes);
    struct cs_search *index = cs_search_new(model);
    /* In the model of the tests "playing" lies near the sign of "zhong", and far from "cafe". */
    static const struct tool tools[] = {
        {"one", "cafe", "", ""},
        {"two", "\xE4\xB8\xAD", "", ""},
        {"three", "cafe_cafe_cafe", "Cafe cafe. Cafe \xE4\xB8\xAD", ""},
    };
    for (size_t i = 0; i < CS_COUNT(tools); i++)
        put_group(index, tools, CS_COUNT(tools), i);
    assert_first(index, "playing", "two/\xE4\xB8\xAD");
    struct cs_search_hit hits[3];
    struct cs_search_options all = {.limit = 3};
    assert_int_equal(cs_search_find(index, CS_STR("cafe"), &all, hits, NULL), 3);
    assert_ptr_equal(hits[0].tag, &tools[0]);
    cs_search_free(index);
    cs_model_free(model);
}

static void hostile_texts_are_bounded(void **state)
{
    (void)state;
    struct cs_search *index = index_of(OFFICE, false);
    char *huge = cs_calloc(34001, 1);
    CS_AUTO_BUF struct cs_buf deep = {0};
    for (int i = 0; i < 100000; i++)
        cs_buf_puts(&deep, "{\"properties\":{\"a\":");
    static const char *const fills[] = {"x",   "\xFF",     "\x01", "\xE4\xB8\xAD",
                                        "a b", "\xCC\x81", "aB"};
    struct cs_search_hit hits[5];
    for (size_t i = 0; i < CS_COUNT(fills); i++) {
        for (size_t k = 0; k < 34000; k++)
            huge[k] = fills[i][k % strlen(fills[i])];
        struct cs_str text = cs_strn(huge, 34000);
        const struct cs_search_doc doc = {text, text, text, i ? text : cs_buf_str(&deep), huge};
        struct cs_err err = {0};
        assert_int_equal(cs_search_put(index, text, &doc, 1, &err), 0);
        cs_search_find(index, text, NULL, hits, NULL);
        assert_first(index, "create invoice", "stripe/create_invoice");
        cs_search_remove(index, text);
    }
    free(huge);
    cs_search_free(index);
}

static void too_many_documents_are_refused(void **state)
{
    (void)state;
    struct cs_search *index = index_of(OFFICE, false);
    struct cs_search_doc *docs = cs_calloc(CS_SEARCH_DOCS, sizeof *docs);
    struct cs_err err = {0};
    assert_int_equal(cs_search_put(index, CS_STR("all"), docs, CS_SEARCH_DOCS, &err), -1);
    assert_int_equal(err.code, CS_LIMIT);
    assert_contains(err.msg, "'all'");
    assert_first(index, "create invoice", "stripe/create_invoice");
    free(docs);
    cs_search_free(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_few_words_find_the_tool),
        CS_TEST(the_verb_counts),
        CS_TEST(typing_errors_are_repaired),
        CS_TEST(relatives_stand_for_words_that_no_tool_has),
        CS_TEST(a_group_that_is_named_comes_first),
        CS_TEST(an_exact_name_is_first_always),
        CS_TEST(useless_queries_find_nothing),
        CS_TEST(the_order_of_arrival_changes_nothing),
        CS_TEST(many_near_words_are_the_same_in_any_order),
        CS_TEST(groups_come_and_go),
        CS_TEST(words_of_the_past_are_swept),
        CS_TEST(what_is_not_accepted_does_not_exist),
        CS_TEST(one_group_does_not_flood_the_first_answers),
        CS_TEST(pages_neither_repeat_nor_skip),
        CS_TEST(repeating_a_word_is_no_use),
        CS_TEST(listing_every_word_is_no_use),
        CS_TEST(vectors_find_what_words_do_not),
        CS_TEST(hostile_texts_are_bounded),
        CS_TEST(too_many_documents_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
