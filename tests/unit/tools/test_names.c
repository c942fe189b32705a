#include "test.h"

#include <strings.h>

#include "base/arena.h"
#include "base/own.h"
#include "tools/declare.h"

static void names_become_identifiers(void **state)
{
    (void)state;
    static const struct {
        const char *name, *ident;
    } rows[] = {
        {"list_commits", "listCommits"},
        {"create-pr", "createPr"},
        {"nasa/apod", "nasaApod"},
        {"jpl/jd_cal", "jplJdCal"},
        {"delete", "delete_"},
        {"2fa", "_2fa"},
        {"listCommits", "listCommits"},
        {"ListCommits", "ListCommits"},
        {"API-get-user", "APIGetUser"},
        {"GET_USER", "getUser"},
        {"URL", "URL"},
        {"get_v1_2", "getV1_2"},
        {"get_v12", "getV12"},
        {"_private", "_private"},
        {"__proto__", "_proto"},
        {"constructor", "constructor_"},
        {"toString", "toString_"},
        {"then", "then_"},
        {"index", "index_"},
        {"Index", "Index_"},
        {"caisson", "caisson_"},
        {"await", "await_"},
        {"Promise", "Promise_"},
        {"${MCP_API_PREFIX}_make_request", "MCPAPIPREFIXMakeRequest"},
        {"chat-with-${AI_CHAT_NAME_CLEAN}", "chatWithAICHATNAMECLEAN"},
        {"\xE8\x8E\xB7\xE5\x8F\x96\xE5\xA4\xA9\xE6\xB0\x94",
         "\xE8\x8E\xB7\xE5\x8F\x96\xE5\xA4\xA9\xE6\xB0\x94"},
        {"\xE5\xA4\xA9\xE6\xB0\x94-get", "\xE5\xA4\xA9\xE6\xB0\x94Get"},
        {"caf\xC3\xA9_list", "caf\xC3\xA9List"},
        {"rocket \xF0\x9F\x9A\x80 launch", "rocketLaunch"},
        {"a\xFF\xFEz", "aZ"},
        {"a*/b", "aB"},
        {"x\";evil()//", "xEvil"},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        char ident[CS_IDENT_MAX + 1];
        cs_ident(cs_str(rows[i].name), ident);
        assert_string_equal(ident, rows[i].ident);
    }
}

static void a_name_without_letters_still_gets_one_of_its_own(void **state)
{
    (void)state;
    char a[CS_IDENT_MAX + 1], b[CS_IDENT_MAX + 1], c[CS_IDENT_MAX + 1];
    cs_ident(CS_STR("\xF0\x9F\x9A\x80"), a);
    cs_ident(CS_STR("!!!"), b);
    cs_ident(CS_STR(""), c);
    assert_memory_equal(a, "tool", 4);
    assert_memory_equal(b, "tool", 4);
    assert_memory_equal(c, "tool", 4);
    assert_string_not_equal(a, b);
    assert_string_not_equal(b, c);
}

static void a_long_name_is_cut_between_characters(void **state)
{
    (void)state;
    char name[301], ident[CS_IDENT_MAX + 1];
    for (size_t i = 0; i < 300; i += 3)
        memcpy(name + i, "\xE5\xA4\xA9", 3);
    cs_ident(cs_strn(name, 300), ident);
    assert_int_equal(strlen(ident), 63);
    memset(name, 'x', 300);
    cs_ident(cs_strn(name, 300), ident);
    assert_true(strlen(ident) <= CS_IDENT_MAX);
}

static void type_names_start_with_a_capital(void **state)
{
    (void)state;
    char type[CS_IDENT_MAX + 1];
    cs_ident_type("listCommits", type);
    assert_string_equal(type, "ListCommits");
    cs_ident_type("_2fa", type);
    assert_string_equal(type, "_2fa");
}

static void check_unique(char (*idents)[CS_IDENT_MAX + 1], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (i == j)
                continue;
            if (strcasecmp(idents[i], idents[j]) == 0)
                fail_msg("%s twice", idents[i]);
            char type[CS_IDENT_MAX + 1], all[CS_IDENT_MAX + 8];
            cs_ident_type(idents[j], type);
            snprintf(all, sizeof all, "%sInput", type);
            assert_string_not_equal(idents[i], all);
            snprintf(all, sizeof all, "%sOutput", type);
            assert_string_not_equal(idents[i], all);
        }
    }
}

static void identifiers_of_a_server_are_unique(void **state)
{
    (void)state;
    static const struct cs_str names[] = {
        CS_STR("create_pr"), CS_STR("create-pr"), CS_STR("createPr"),  CS_STR("CreatePR"),
        CS_STR("create.pr"), CS_STR("createPr2"), CS_STR("create pr"), CS_STR("foo"),
        CS_STR("FooInput"),  CS_STR("FooOutput"), CS_STR("fooOutput"), CS_STR("Foo"),
        CS_STR("index"),     CS_STR("INDEX"),     CS_STR("delete"),    CS_STR("delete_"),
        CS_STR("v1"),        CS_STR("V1"),        CS_STR("v1_2"),      CS_STR("\xF0\x9F\x9A\x80"),
        CS_STR("same"),      CS_STR("same"),
    };
    char idents[CS_COUNT(names)][CS_IDENT_MAX + 1];
    cs_idents(names, CS_COUNT(names), idents);
    check_unique(idents, CS_COUNT(names));
    /* A name that is an identifier keeps it, whatever the others would like. (A file
     * system may not tell createPr from CreatePR.) */
    assert_string_equal(idents[3], "CreatePR");
    assert_string_equal(idents[5], "createPr2");
}

static void identifiers_do_not_depend_on_the_order(void **state)
{
    (void)state;
    struct cs_str names[] = {
        CS_STR("a_b"), CS_STR("a-b"),      CS_STR("a b"),  CS_STR("aB"),    CS_STR("ab"),
        CS_STR("foo"), CS_STR("FooInput"), CS_STR("A_b2"), CS_STR("a/b/2"), CS_STR("index"),
    };
    size_t count = CS_COUNT(names);
    char first[CS_COUNT(names)][CS_IDENT_MAX + 1], later[CS_COUNT(names)][CS_IDENT_MAX + 1];
    cs_idents(names, count, first);
    for (size_t shift = 1; shift < count; shift++) {
        struct cs_str turned[CS_COUNT(names)];
        for (size_t i = 0; i < count; i++)
            turned[i] = names[(i * 3 + shift) % count];
        cs_idents(turned, count, later);
        for (size_t i = 0; i < count; i++)
            assert_string_equal(later[i], first[(i * 3 + shift) % count]);
    }
}

static void thousands_of_colliding_names_are_numbered_in_no_time(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str *names = cs_arena_alloc(&arena, COUNT * sizeof *names);
    char(*idents)[CS_IDENT_MAX + 1] = cs_arena_alloc(&arena, COUNT * sizeof *idents);
    for (size_t i = 0; i < COUNT; i++) {
        /* All the same but for marks that separate words; and long, so that the number takes the
         * place of letters. */
        char *text = cs_arena_alloc(&arena, 101);
        memset(text, 'x', 100);
        for (size_t bit = 0; bit < 15; bit++)
            text[80 + bit] = i >> bit & 1 ? '-' : '+';
        names[i] = cs_strn(text, 100);
    }
    cs_idents(names, COUNT, idents);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(strlen(idents[i]) <= CS_IDENT_MAX);
    check_unique(idents, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(names_become_identifiers),
        CS_TEST(a_name_without_letters_still_gets_one_of_its_own),
        CS_TEST(a_long_name_is_cut_between_characters),
        CS_TEST(type_names_start_with_a_capital),
        CS_TEST(identifiers_of_a_server_are_unique),
        CS_TEST(identifiers_do_not_depend_on_the_order),
        CS_TEST(thousands_of_colliding_names_are_numbered_in_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
