#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonc.h"
#include "tools/config.h"

/* A directory of its own for each test, with one file in it. */
struct fixture {
    char dir[64], path[96];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/caisson-config-XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    snprintf(f->path, sizeof f->path, "%s/caisson.json", f->dir);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    cs_dir_remove(AT_FDCWD, f->dir);
    free(f);
    return 0;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void must_read(const char *path, const char *text)
{
    CS_AUTO_BUF struct cs_buf bytes = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_file_read(path, 1 << 20, &bytes, &err), 0);
    assert_string_equal(cs_buf_cstr(&bytes), text);
}

#define ENTRY "{\"command\":\"npx\",\"args\":[\"-y\",\"pkg\"],\"env\":{\"K\":\"v\"}}"

static void an_entry_takes_the_layout_of_its_neighbours(void **state)
{
    static const struct {
        const char *before, *after;
    } rows[] = {
        /* two spaces */
        {"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n",
         "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"},\n    \"new\": {\n      "
         "\"command\": \"npx\",\n      \"args\": [\"-y\", \"pkg\"],\n      \"env\": {\n        "
         "\"K\": \"v\"\n      }\n    }\n  }\n}\n"},
        /* tabs, CRLF, a comment at the end of the line, and a trailing comma */
        {"{\r\n\t\"servers\": {\r\n\t\t\"a\": {\"command\": \"x\"}, // the first\r\n\t},\r\n}\r\n",
         "{\r\n\t\"servers\": {\r\n\t\t\"a\": {\"command\": \"x\"}, // the first\r\n\t\t\"new\": "
         "{\r\n\t\t\t\"command\": \"npx\",\r\n\t\t\t\"args\": [\"-y\", \"pkg\"],\r\n\t\t\t\"env\": "
         "{\r\n\t\t\t\t\"K\": \"v\"\r\n\t\t\t}\r\n\t\t},\r\n\t},\r\n}\r\n"},
        /* the comma goes before the comment */
        {"{\n \"mcpServers\": {\n  \"a\": {} // last, so far\n }\n}",
         "{\n \"mcpServers\": {\n  \"a\": {}, // last, so far\n  \"new\": {\n   \"command\": "
         "\"npx\",\n   \"args\": [\"-y\", \"pkg\"],\n   \"env\": {\n    \"K\": \"v\"\n   }\n  }\n "
         "}\n}"},
        /* all in one line */
        {"{\"mcpServers\":{\"a\":{\"command\":\"x\"}},\"n\":1}",
         "{\"mcpServers\":{\"a\":{\"command\":\"x\"},\"new\":" ENTRY "},\"n\":1}"},
        {"{\"mcpServers\": {}}", "{\"mcpServers\": {\"new\": {\"command\": \"npx\", \"args\": "
                                 "[\"-y\", \"pkg\"], \"env\": {\"K\": \"v\"}}}}"},
        /* nothing there yet */
        {"{\n    \"other\": 1,\n    \"mcpServers\": {}\n}\n",
         "{\n    \"other\": 1,\n    \"mcpServers\": {\n        \"new\": {\n            "
         "\"command\": \"npx\",\n            \"args\": [\"-y\", \"pkg\"],\n            \"env\": "
         "{\n                \"K\": \"v\"\n            }\n        }\n    }\n}\n"},
        {"{\n  \"other\": 1\n}\n",
         "{\n  \"other\": 1,\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"npx\",\n   "
         "   \"args\": [\"-y\", \"pkg\"],\n      \"env\": {\n        \"K\": \"v\"\n      }\n    "
         "}\n  }\n}\n"},
        {"", "{\n  \"mcpServers\": {\n    \"new\": {\n      \"command\": \"npx\",\n      "
             "\"args\": [\"-y\", \"pkg\"],\n      \"env\": {\n        \"K\": \"v\"\n      }\n    "
             "}\n  }\n}\n"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_err err = {0};
        put(f->path, rows[i].before);
        if (cs_config_add(f->path, cs_str("new"), cs_str(ENTRY), false, &err) < 0)
            fail_msg("row %zu: %s", i, err.msg);
        must_read(f->path, rows[i].after);
    }
}

static void removing_takes_the_entry_and_nothing_else(void **state)
{
    static const struct {
        const char *before, *name, *after;
    } rows[] = {
        {"{\"mcpServers\": {\"a\": {}, \"b\": {}, \"c\": {}}}", "b",
         "{\"mcpServers\": {\"a\": {}, \"c\": {}}}"},
        {"{\"mcpServers\": {\"a\": {}, \"b\": {}, \"c\": {}}}", "a",
         "{\"mcpServers\": {\"b\": {}, \"c\": {}}}"},
        {"{\"mcpServers\": {\"a\": {}, \"b\": {}, \"c\": {}}}", "c",
         "{\"mcpServers\": {\"a\": {}, \"b\": {}}}"},
        {"{\"mcpServers\": { \"a\": {} }}", "a", "{\"mcpServers\": {}}"},
        {"{\n \"servers\": {\n  // of a\n  \"a\": {\n   \"x\": 1 // inside\n  },\n  \"b\": {}, // "
         "of b\n  \"c\": {}\n }\n}\n",
         "a", "{\n \"servers\": {\n  // of a\n  \"b\": {}, // of b\n  \"c\": {}\n }\n}\n"},
        {"{\n \"servers\": {\n  \"a\": {},\n  \"b\": {}, // of b\n  \"c\": {}\n }\n}\n", "b",
         "{\n \"servers\": {\n  \"a\": {},\n  // of b\n  \"c\": {}\n }\n}\n"},
        {"{\n \"servers\": {\n  \"a\": {}, // of a\n  \"c\": {}\n }\n}\n", "c",
         "{\n \"servers\": {\n  \"a\": {} // of a\n }\n}\n"},
        {"{\n \"servers\": {\n  \"a\": {} // of a\n  , \"c\": {} }\n}\n", "c",
         "{\n \"servers\": {\n  \"a\": {} // of a\n   }\n}\n"},
        {"{\n \"servers\": {\n  \"a\": {}, // of a\n  \"c\": {} }\n}\n", "c",
         "{\n \"servers\": {\n  \"a\": {} // of a\n   }\n}\n"},
        {"{\r\n \"servers\": {\r\n  \"a\": {},\r\n  \"b\": {},\r\n },\r\n}", "b",
         "{\r\n \"servers\": {\r\n  \"a\": {},\r\n },\r\n}"},
        {"{\n \"mcpServers\": {\n  \"a\": {}\n }\n}\n", "a", "{\n \"mcpServers\": {}\n}\n"},
        {"{\"mcpServers\": {\"\\u0061\": {}, \"b\": {}}}", "a", "{\"mcpServers\": {\"b\": {}}}"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_err err = {0};
        put(f->path, rows[i].before);
        if (cs_config_remove(f->path, cs_str(rows[i].name), &err) < 0)
            fail_msg("row %zu: %s", i, err.msg);
        must_read(f->path, rows[i].after);
    }
}

/* Files put together at random from pieces that people write. */
static void random_text(struct cs_buf *out, unsigned *seed)
{
    static const char *const gaps[] = {"",   " ",       "\n",         "\n  ",           "\r\n\t",
                                       "  ", "/* c */", "// c\n    ", " /* , } \n */ ", "\n\n    "};
    static const char *const values[] = {"{}", "{\"command\": \"x\"}",
                                         "{\n      \"url\": \"http://x\", // u\n    }",
                                         "{ \"args\": [\"}\", \",\", \"// no\",] }", "null"};
#define PICK(list) list[(size_t)rand_r(seed) % (sizeof list / sizeof *list)]
    unsigned count = (unsigned)rand_r(seed) % 5;
    cs_buf_printf(out, "{%s\"mcpServers\"%s:%s{", PICK(gaps), PICK(gaps), PICK(gaps));
    for (unsigned i = 0; i < count; i++) {
        cs_buf_printf(out, "%s\"s%u\"%s:%s%s%s", PICK(gaps), i, PICK(gaps), PICK(gaps),
                      PICK(values), PICK(gaps));
        if (i + 1 < count || rand_r(seed) % 3 == 0)
            cs_buf_putc(out, ',');
    }
    if (count == 0)
        cs_buf_puts(out, rand_r(seed) % 2 ? "/* none */" : "");
    cs_buf_puts(out, count ? PICK(gaps) : "");
    cs_buf_printf(out, "}%s,%s\"z\":%s1%s}%s", PICK(gaps), PICK(gaps), PICK(gaps), PICK(gaps),
                  PICK(gaps));
}

static void adding_and_removing_gives_the_same_bytes(void **state)
{
    struct fixture *f = *state;
    unsigned seed = 7;
    for (int i = 0; i < 3000; i++) {
        CS_AUTO_BUF struct cs_buf text = {0}, added = {0}, removed = {0};
        CS_AUTO_JSONC struct cs_jsonc doc = {0}, with = {0};
        CS_AUTO_JSON struct cs_json entry = {0};
        struct cs_err err = {0};
        random_text(&text, &seed);
        assert_int_equal(cs_json_parse(cs_str(ENTRY), NULL, &entry, &err), 0);
        if (cs_jsonc_parse(cs_buf_str(&text), &doc, &err) < 0)
            fail_msg("%s in\n%s", err.msg, cs_buf_cstr(&text));
        struct cs_json_val servers = cs_json_get(cs_json_root(&doc.doc), "mcpServers");
        cs_jsonc_add(&doc, servers, cs_str("new"), cs_json_root(&entry), &added);
        if (cs_jsonc_parse(cs_buf_str(&added), &with, &err) < 0)
            fail_msg("%s in\n%s\nmade from\n%s", err.msg, cs_buf_cstr(&added), cs_buf_cstr(&text));
        servers = cs_json_get(cs_json_root(&with.doc), "mcpServers");
        struct cs_json_iter it = {0};
        struct cs_json_val key, item;
        bool found = false;
        while (!found && cs_json_next(servers, &it, &key, &item))
            found = cs_json_is(key, "new");
        assert_true(found);
        cs_jsonc_remove(&with, servers, key, &removed);
        if (!cs_str_eq(cs_buf_str(&removed), cs_buf_str(&text)))
            fail_msg("from\n%s\nto\n%s\nto\n%s", cs_buf_cstr(&text), cs_buf_cstr(&added),
                     cs_buf_cstr(&removed));
    }
    /* And once through files. */
    struct cs_err err = {0};
    static const char text[] = "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}";
    put(f->path, text);
    assert_int_equal(cs_config_add(f->path, cs_str("new"), cs_str(ENTRY), false, &err), 0);
    assert_int_equal(cs_config_remove(f->path, cs_str("new"), &err), 0);
    must_read(f->path, text);
}

static void switching_changes_one_word(void **state)
{
    static const struct {
        const char *before;
        bool on;
        const char *after; /* NULL: nothing changes */
    } rows[] = {
        {"{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}", false,
         "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"enabled\": false}}}"},
        {"{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}", true, NULL},
        {"{\"mcpServers\": {\"a\": {\"disabled\" : true /* for now */}}}", true,
         "{\"mcpServers\": {\"a\": {\"disabled\" : false /* for now */}}}"},
        {"{\"mcpServers\": {\"a\": {\"disabled\": true}}}", false, NULL},
        {"{\"mcpServers\": {\"a\": {\"enabled\": true}}}", false,
         "{\"mcpServers\": {\"a\": {\"enabled\": false}}}"},
        {"{\"mcpServers\": {\"a\": {\"enabled\": false, \"disabled\": true}}}", true,
         "{\"mcpServers\": {\"a\": {\"enabled\": true, \"disabled\": false}}}"},
        {"{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n", false,
         "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n      \"enabled\": "
         "false\n    }\n  }\n}\n"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_err err = {0};
        bool changed = false;
        put(f->path, rows[i].before);
        if (cs_config_enable(f->path, cs_str("a"), rows[i].on, &changed, &err) < 0)
            fail_msg("row %zu: %s", i, err.msg);
        assert_int_equal(changed, rows[i].after != NULL);
        must_read(f->path, rows[i].after ? rows[i].after : rows[i].before);
        struct cs_config config;
        assert_int_equal(cs_config_peek(f->path, &config, &err), 0);
        assert_int_equal(config.servers[0].enabled, rows[i].on);
        cs_config_done(&config);
    }
}

static void a_wrong_name_is_answered_with_the_right_one(void **state)
{
    struct fixture *f = *state;
    struct cs_err err = {0};
    bool changed;
    static const char text[] = "{\"mcpServers\": {\"github\": {}}}";
    put(f->path, text);
    assert_int_equal(cs_config_remove(f->path, cs_str("gitub"), &err), -1);
    assert_int_equal(err.code, CS_MISSING);
    assert_contains(err.msg, "'github'");
    assert_int_equal(cs_config_enable(f->path, cs_str("githbu"), false, &changed, &err), -1);
    assert_contains(err.msg, "'github'");
    assert_int_equal(cs_config_add(f->path, cs_str("github"), cs_str("{}"), false, &err), -1);
    assert_int_equal(err.code, CS_INVALID);
    assert_int_equal(cs_config_add(f->path, cs_str("my server"), cs_str("{}"), false, &err), -1);
    assert_int_equal(cs_config_add(f->path, cs_str("tools"), cs_str("{}"), false, &err), -1);
    assert_int_equal(cs_config_add(f->path, cs_str(".."), cs_str("{}"), false, &err), -1);
    must_read(f->path, text);
    assert_int_equal(
        cs_config_add(f->path, cs_str("github"), cs_str("{\"url\":\"http://x\"}"), true, &err), 0);
    must_read(f->path, "{\"mcpServers\": {\"github\": {\"url\": \"http://x\"}}}");
}

static void a_file_that_cannot_be_read_is_left_alone(void **state)
{
    static const char *const rows[] = {"{\"mcpServers\": {",
                                       "[]",
                                       "{\"mcpServers\": []}",
                                       "{\"mcpServers\": {}} x",
                                       "\"a\"",
                                       "{,}",
                                       "{\"a\": 1,,}",
                                       "/* never closed {}"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cs_err err = {0};
        put(f->path, rows[i]);
        assert_int_equal(cs_config_add(f->path, cs_str("a"), cs_str("{}"), false, &err), -1);
        assert_int_equal(err.code, CS_INVALID);
        must_read(f->path, rows[i]);
    }
    struct cs_err err = {0};
    put(f->path, "{\n  \"mcpServers\": {\n    \"a\" {}\n}}");
    assert_int_equal(cs_config_remove(f->path, cs_str("a"), &err), -1);
    assert_contains(err.msg, "line 3, column 9");
    assert_contains(err.msg, f->path);
}

static void the_mode_and_the_link_stay(void **state)
{
    struct fixture *f = *state;
    struct cs_err err = {0};
    struct stat st;
    char link[128];
    snprintf(link, sizeof link, "%s/link.json", f->dir);
    put(f->path, "{}");
    assert_int_equal(chmod(f->path, 0640), 0);
    assert_int_equal(symlink("caisson.json", link), 0);
    assert_int_equal(cs_config_add(link, cs_str("a"), cs_str("{\"command\":\"x\"}"), false, &err),
                     0);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    must_read(f->path, "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}");
    char nowhere[128];
    snprintf(nowhere, sizeof nowhere, "%s/nowhere.json", f->dir);
    assert_int_equal(symlink("missing/file.json", nowhere), 0);
    assert_int_equal(cs_config_add(nowhere, cs_str("a"), cs_str("{}"), false, &err), -1);
    assert_contains(err.msg, "leads nowhere");
}

static void a_new_file_is_for_its_owner_alone(void **state)
{
    struct fixture *f = *state;
    struct cs_err err = {0};
    struct stat st;
    char path[160];
    snprintf(path, sizeof path, "%s/deep/er/.vscode/mcp.json", f->dir);
    assert_int_equal(cs_config_remove(f->path, cs_str("a"), &err), -1);
    assert_int_equal(err.code, CS_MISSING);
    assert_int_equal(access(f->path, F_OK), -1);
    assert_int_equal(cs_config_add(path, cs_str("a"), cs_str("{\"command\":\"x\"}"), false, &err),
                     0);
    must_read(path, "{\n  \"servers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void import_takes_what_is_not_there_yet(void **state)
{
    struct fixture *f = *state;
    struct cs_err err = {0};
    CS_AUTO_BUF struct cs_buf said = {0};
    char from[128];
    snprintf(from, sizeof from, "%s/other.json", f->dir);
    put(f->path, "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"mine\"}\n  }\n}\n");
    put(from, "{ // theirs\n \"mcpServers\": {\n \"a\": {\"command\": \"theirs\"},\n \"My "
              "Server!\": {\"command\": \"x\", /* why */ \"args\": [\"${input:k}\"],},\n "
              "\"loop\": {\"command\": \"/usr/bin/caisson\", \"args\": [\"mcp\"]},\n \"odd\": 3,\n "
              "\"b\": {\"url\": \"https://b/mcp\"} } }");
    assert_int_equal(cs_config_import(f->path, from, &said, &err), 0);
    must_read(f->path, "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"mine\"},\n    "
                       "\"My-Server\": {\n      \"command\": \"x\",\n      \"args\": "
                       "[\"${input:k}\"]\n    },\n    \"b\": {\n      \"url\": "
                       "\"https://b/mcp\"\n    }\n  }\n}\n");
    const char *text = cs_buf_cstr(&said);
    assert_contains(text, "a: left as it is, there is a server 'a' already\n");
    assert_contains(text, "My Server!: added as 'My-Server'; it has ${input:...}");
    assert_contains(text, "loop: left out, it is Caisson itself\n");
    assert_contains(text, "odd: left out");
    assert_contains(text, "b: added\n");
    put(from, "{\"numbers\": 3}");
    assert_int_equal(cs_config_import(f->path, from, &said, &err), -1);
    assert_contains(err.msg, "neither 'mcpServers' nor 'servers'");
}

static void servers_of_a_folder_are_changed_where_they_are(void **state)
{
    struct fixture *f = *state;
    struct cs_err err = {0};
    char here[256], text[1024], want[1024];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(text, sizeof text,
             "{\"mcpServers\": {\"a\": {}}, \"projects\": {\"/elsewhere\": {\"mcpServers\": "
             "{\"x\": {}}}, \"%s\": {\"mcpServers\": {\"b\": {}, \"a\": {\"command\": \"l\"}}}}}",
             here);
    put(f->path, text);
    struct cs_config config;
    assert_int_equal(cs_config_peek(f->path, &config, &err), 0);
    assert_int_equal(config.count, 2);
    assert_string_equal(cs_config_find(&config, cs_str("a"))->command, "l");
    cs_config_done(&config);
    assert_int_equal(cs_config_remove(f->path, cs_str("a"), &err), 0);
    snprintf(want, sizeof want,
             "{\"mcpServers\": {\"a\": {}}, \"projects\": {\"/elsewhere\": {\"mcpServers\": "
             "{\"x\": {}}}, \"%s\": {\"mcpServers\": {\"b\": {}}}}}",
             here);
    must_read(f->path, want);
    assert_int_equal(cs_config_remove(f->path, cs_str("x"), &err), -1);
}

#define T(name) CS_TEST_WITH(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_entry_takes_the_layout_of_its_neighbours),
        T(removing_takes_the_entry_and_nothing_else),
        T(adding_and_removing_gives_the_same_bytes),
        T(switching_changes_one_word),
        T(a_wrong_name_is_answered_with_the_right_one),
        T(a_file_that_cannot_be_read_is_left_alone),
        T(the_mode_and_the_link_stay),
        T(a_new_file_is_for_its_owner_alone),
        T(import_takes_what_is_not_there_yet),
        T(servers_of_a_folder_are_changed_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
