/* The section "privacy" of the policy file: what it says, and what is said about its mistakes. */
#include "test.h"

#include <fcntl.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "privacy/privacy.h"

static struct cs_privacy *from_dir(const char *section, const char *dir, struct cs_err *err)
{
    struct cs_privacy_options options = {
        .level = CS_PRIVACY_MEDIUM, .section = cs_str(section), .dir = dir};
    struct cs_privacy *p = NULL;
    int status = cs_privacy_new(&options, &p, err);
    assert_true((status == 0) == (p != NULL));
    return p;
}

static struct cs_privacy *from(const char *section)
{
    struct cs_err err = {0};
    struct cs_privacy *p = from_dir(section, NULL, &err);
    assert_string_equal(err.msg, "");
    return p;
}

static enum cs_privacy_level level(const struct cs_privacy *p, const char *tool,
                                   enum cs_privacy_level asked)
{
    const struct cs_str names[] = {cs_str(tool), CS_STR("other/spelling")};
    return cs_privacy_level_of(p, names, 2, asked);
}

static enum cs_may may(const struct cs_privacy *p, const char *tool, enum cs_pii kind)
{
    const struct cs_str names[] = {cs_str(tool)};
    return cs_privacy_may(p, names, 1, kind, CS_STR(""), NULL);
}

static enum cs_may may_custom(const struct cs_privacy *p, const char *tool, const char *name)
{
    const struct cs_str names[] = {cs_str(tool)};
    return cs_privacy_may(p, names, 1, CS_PII_CUSTOM, cs_str(name), NULL);
}

static void without_a_section_there_are_defaults(void **state)
{
    (void)state;
    struct cs_privacy *p = from("");
    assert_false(cs_privacy_off(p));
    assert_int_equal(cs_privacy_level(p), CS_PRIVACY_MEDIUM);
    assert_int_equal(level(p, "a/b", CS_PRIVACY_OFF), CS_PRIVACY_MEDIUM);
    for (unsigned k = 0; k < CS_PII_COUNT; k++) {
        enum cs_pii kind = (enum cs_pii)k;
        bool asks = kind == CS_PII_SSN || kind == CS_PII_CREDIT_CARD;
        assert_int_equal(may(p, "mail/send", kind), cs_pii_secret(kind) ? CS_MAY_NOT
                                                    : asks              ? CS_MAY_ASK
                                                                        : CS_MAY);
    }
    cs_privacy_unref(p);
}

static void the_first_rule_gives_the_level_and_a_request_raises_it(void **state)
{
    (void)state;
    struct cs_privacy *p = from("{\"level\":\"low\",\"rules\":["
                                "{\"tool\":\"crm/secret*\",\"level\":\"high\"},"
                                "{\"tool\":\"crm/*\",\"level\":\"off\"},"
                                "{\"tool\":\"crm/x\",\"level\":\"high\"}]}");
    assert_int_equal(cs_privacy_level(p), CS_PRIVACY_LOW);
    assert_int_equal(level(p, "crm/secrets", CS_PRIVACY_OFF), CS_PRIVACY_HIGH);
    assert_int_equal(level(p, "crm/secrets", CS_PRIVACY_LOW), CS_PRIVACY_HIGH);
    assert_int_equal(level(p, "crm/x", CS_PRIVACY_OFF), CS_PRIVACY_OFF);
    assert_int_equal(level(p, "crm/x", CS_PRIVACY_MEDIUM), CS_PRIVACY_MEDIUM);
    assert_int_equal(level(p, "wiki/x", CS_PRIVACY_OFF), CS_PRIVACY_LOW);
    cs_privacy_unref(p);

    p = from("{\"rules\":[{\"tool\":\"other/*\",\"level\":\"high\"}]}"); /* any spelling counts */
    assert_int_equal(level(p, "wiki/x", CS_PRIVACY_OFF), CS_PRIVACY_HIGH);
    cs_privacy_unref(p);
}

static void switched_off_is_off_whatever_the_rules_say(void **state)
{
    (void)state;
    struct cs_err err = {0};
    struct cs_privacy_options options = {
        .off = true,
        .level = CS_PRIVACY_HIGH,
        .section = CS_STR("{\"rules\":[{\"tool\":\"*\",\"level\":\"high\"}]}")};
    struct cs_privacy *p = NULL;
    assert_int_equal(cs_privacy_new(&options, &p, &err), 0);
    assert_true(cs_privacy_off(p));
    assert_int_equal(cs_privacy_level(p), CS_PRIVACY_OFF);
    assert_int_equal(level(p, "a/b", CS_PRIVACY_HIGH), CS_PRIVACY_OFF);
    cs_privacy_unref(p);
}

static void values_go_back_by_tool_and_kind(void **state)
{
    (void)state;
    struct cs_privacy *p =
        from("{\"detokenize\":[{\"tool\":\"mail/send\",\"kinds\":[\"EMAIL\",\"PERSON\"],"
             "\"then\":\"allow\"},{\"tool\":\"mail/*\",\"then\":\"deny\"},"
             "{\"kinds\":[\"API_KEY\",\"dob\"],\"then\":\"ask\"}]}");
    assert_int_equal(may(p, "mail/send", CS_PII_EMAIL), CS_MAY);
    assert_int_equal(may(p, "mail/send", CS_PII_PHONE), CS_MAY_NOT);
    assert_int_equal(may(p, "mail/list", CS_PII_EMAIL), CS_MAY_NOT);
    assert_int_equal(may(p, "crm/find", CS_PII_EMAIL), CS_MAY);
    assert_int_equal(may(p, "crm/find", CS_PII_API_KEY), CS_MAY_ASK);
    assert_int_equal(may(p, "crm/find", CS_PII_DATE_OF_BIRTH), CS_MAY_ASK);
    assert_int_equal(may(p, "crm/find", CS_PII_PASSWORD), CS_MAY_NOT);
    assert_int_equal(may(p, "mail/list", CS_PII_LITERAL), CS_MAY);

    struct cs_str why = {0};
    const struct cs_str names[] = {CS_STR("mail/list")};
    cs_privacy_may(p, names, 1, CS_PII_EMAIL, CS_STR(""), &why);
    assert_true(cs_str_is(why, "privacy.detokenize[1], mail/*"));
    cs_privacy_unref(p);
}

static void one_word_may_stand_for_everything(void **state)
{
    (void)state;
    static const struct {
        const char *section;
        enum cs_may then;
    } cases[] = {{"{\"detokenize\":\"deny\"}", CS_MAY_NOT},
                 {"{\"detokenize\":\"ask\"}", CS_MAY_ASK},
                 {"{\"detokenize\":\"allow\"}", CS_MAY}};
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_privacy *p = from(cases[i].section);
        assert_int_equal(may(p, "a/b", CS_PII_EMAIL), cases[i].then);
        assert_int_equal(may(p, "a/b", CS_PII_PASSWORD), cases[i].then);
        cs_privacy_unref(p);
    }
}

static void own_patterns_are_kinds_too(void **state)
{
    (void)state;
    struct cs_privacy *p =
        from("{\"patterns\":[{\"name\":\"EMPLOYEE\",\"pattern\":\"E-[0-9]{6}\",\"level\":\"high\","
             "\"examples\":[\"badge E-123456\"],\"not\":[\"E-12\"]},"
             "{\"name\":\"BADGE\",\"pattern\":\"B-[0-9]{4}\",\"secret\":true}],"
             "\"words\":[{\"name\":\"PROJECT\",\"values\":[\"Bluebird\",\" Kestrel \"]}],"
             "\"detokenize\":[{\"tool\":\"hr/*\",\"kinds\":[\"BADGE\"],\"then\":\"allow\"},"
             "{\"tool\":\"web/*\",\"kinds\":[\"PROJECT\"],\"then\":\"deny\"},"
             "{\"tool\":\"log/*\",\"kinds\":[\"CUSTOM\"],\"then\":\"ask\"}]}");
    assert_int_equal(may_custom(p, "any/tool", "EMPLOYEE"), CS_MAY);
    assert_int_equal(may_custom(p, "any/tool", "BADGE"), CS_MAY_NOT);
    assert_int_equal(may_custom(p, "hr/find", "BADGE"), CS_MAY);
    assert_int_equal(may_custom(p, "web/post", "PROJECT"), CS_MAY_NOT);
    assert_int_equal(may_custom(p, "web/post", "EMPLOYEE"), CS_MAY);
    assert_int_equal(may_custom(p, "log/put", "EMPLOYEE"), CS_MAY_ASK);
    const struct cs_custom_example *examples = NULL;
    assert_int_equal(cs_privacy_examples(p, &examples), 2);
    assert_true(cs_str_is(examples[0].text, "badge E-123456") && examples[0].found);
    assert_true(cs_str_is(examples[1].name, "EMPLOYEE") && !examples[1].found);
    assert_int_equal(examples[0].level, CS_PRIVACY_HIGH);
    cs_privacy_unref(p);
}

static void everything_that_decides_is_in_the_hash(void **state)
{
    (void)state;
    static const char *const sections[] = {
        "", "{}", "{\"level\":\"high\"}", "{\"detokenize\":\"deny\"}",
        "{\"words\":[{\"name\":\"PROJECT\",\"values\":[\"Bluebird\"]}]}"};
    unsigned char seen[CS_COUNT(sections)][32];
    for (size_t i = 0; i < CS_COUNT(sections); i++) {
        struct cs_privacy *p = from(sections[i]), *same = from(sections[i]);
        memcpy(seen[i], cs_privacy_hash(p), 32);
        assert_memory_equal(cs_privacy_hash(p), cs_privacy_hash(same), 32);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(seen[i], seen[j], 32);
        cs_privacy_unref(p);
        cs_privacy_unref(same);
    }
}

static void write_words(const char *dir, const char *words)
{
    char path[200];
    struct cs_err err = {0};
    snprintf(path, sizeof path, "%s/words.txt", dir);
    assert_int_equal(cs_file_replace(path, cs_str(words), 0600, &err), 0);
}

static void words_may_come_from_a_file(void **state)
{
    (void)state;
    static const char section[] = "{\"words\":[{\"name\":\"PROJECT\",\"file\":\"words.txt\"}]}";
    char dir[] = "/tmp/caisson-words-XXXXXX";
    unsigned char before[32];
    struct cs_err err = {0};
    assert_non_null(mkdtemp(dir));

    assert_null(from_dir(section, dir, &err));
    assert_contains(err.msg, "privacy.words[0].file: 'words.txt' cannot be read");
    write_words(dir, "# only\n\n  # comments\n");
    assert_null(from_dir(section, dir, &err));
    assert_contains(err.msg, "privacy.words[0]: wants `values`");

    write_words(dir, "# ours\nBluebird\r\n\n  Kestrel");
    struct cs_privacy *p = from_dir(section, dir, &err);
    assert_non_null(p);
    memcpy(before, cs_privacy_hash(p), 32);
    cs_privacy_unref(p);
    write_words(dir, "Bluebird\nOsprey\n");
    p = from_dir(section, dir, &err);
    assert_non_null(p);
    assert_memory_not_equal(before, cs_privacy_hash(p), 32);
    cs_privacy_unref(p);

    assert_null(from_dir(section, NULL, &err)); /* no directory, no files */
    assert_null(
        from_dir("{\"words\":[{\"name\":\"PROJECT\",\"file\":\"../../etc/passwd\"}]}", dir, &err));
    assert_contains(err.msg, "beneath the directory");
    assert_null(
        from_dir("{\"words\":[{\"name\":\"PROJECT\",\"file\":\"/etc/passwd\"}]}", dir, &err));
    cs_dir_remove(AT_FDCWD, dir);
}

static void mistakes_are_told_with_place_and_remedy(void **state)
{
    (void)state;
    static const struct {
        const char *section, *says;
    } cases[] = {
        {"[]", "privacy: must be an object"},
        {"{\"levle\":\"low\"}", "privacy: 'levle' is none of: level, rules, detokenize, patterns, "
                                "words; did you mean 'level'?"},
        {"{\"level\":\"meduim\"}", "privacy.level: 'meduim' is none of: off, low, medium, high; "
                                   "did you mean 'medium'?"},
        {"{\"level\":2}", "privacy.level: must be one of: off, low, medium, high"},
        {"{\"rules\":{}}", "privacy.rules: must be a list"},
        {"{\"rules\":[{\"tool\":\"a/*\"}]}", "privacy.rules[0].level: must be one of"},
        {"{\"rules\":[{\"level\":\"low\"}]}", "privacy.rules[0]: wants a `tool`"},
        {"{\"rules\":[{\"tool\":\"crm\",\"level\":\"off\"}]}", "did you mean 'crm/*'?"},
        {"{\"rules\":[{\"tool\":\"a/b\",\"level\":\"low\"},{\"tool\":\"a/b\",\"lvl\":1}]}",
         "privacy.rules[1]: 'lvl' is none of: tool, level"},
        {"{\"detokenize\":\"allways\"}", "privacy.detokenize: 'allways' is none of: allow, deny, "
                                         "ask"},
        {"{\"detokenize\":[{\"tool\":\"a/b\"}]}", "privacy.detokenize[0].then: must be one of"},
        {"{\"detokenize\":[{\"kinds\":[\"EMIAL\"],\"then\":\"deny\"}]}",
         "privacy.detokenize[0].kinds: 'EMIAL' is none of: "},
        {"{\"detokenize\":[{\"kinds\":[\"LITERAL\"],\"then\":\"deny\"}]}", "'LITERAL' is none of"},
        {"{\"detokenize\":[{\"kinds\":[],\"then\":\"deny\"}]}", "leave it out for all kinds"},
        {"{\"detokenize\":[{\"kinds\":\"EMAIL\",\"then\":\"deny\"}]}", "kinds: must be a list"},
        {"{\"patterns\":[{\"name\":\"employee\",\"pattern\":\"x\"}]}",
         "privacy.patterns[0]: wants a `name` of capital letters"},
        {"{\"patterns\":[{\"name\":\"EMAIL\",\"pattern\":\"x\"}]}",
         "'EMAIL' is a kind that is found already"},
        {"{\"patterns\":[{\"name\":\"E\"}]}", "privacy.patterns[0].pattern: must be a text"},
        {"{\"patterns\":[{\"name\":\"E\",\"pattern\":\"x\",\"secret\":1}]}", "true or false"},
        {"{\"patterns\":[{\"name\":\"E\",\"pattern\":\"x\",\"level\":\"off\"}]}",
         "'off' is none of: low, medium, high"},
        {"{\"words\":[{\"name\":\"E\",\"values\":[]}]}", "privacy.words[0]: wants `values`"},
        {"{\"words\":[{\"name\":\"E\",\"values\":[\"a\",7]}]}", "a word must be a text"},
        {"{\"words\":[{\"name\":\"E\",\"values\":\"a\"}]}", "values: must be a list"},
        {"{", "privacy: JSON, line 1"},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_err err = {0};
        assert_null(from_dir(cases[i].section, NULL, &err));
        assert_contains(err.msg, cases[i].says);
        assert_true(err.code == CS_INVALID);
    }
}

static int wish(const struct cs_privacy *p, const char *json, struct cs_privacy_wish *w,
                struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    *err = (struct cs_err){0};
    assert_int_equal(cs_json_parse(cs_str(json), NULL, &doc, err), 0);
    int status = cs_privacy_wish(p, cs_json_root(&doc), &arena, w, err);
    if (status == 0 && w->custom_count == 2) {
        assert_true(cs_str_is(w->customs[0].name, "TICKET"));
        assert_true(cs_str_is(w->customs[0].pattern, "T-[0-9]{4}"));
        assert_true(cs_str_is(w->customs[1].name, "WORD"));
        assert_true(cs_str_is(w->customs[1].words[0], "Bluebird"));
    }
    return status;
}

static void a_request_may_ask_for_more(void **state)
{
    (void)state;
    struct cs_privacy *p = from("");
    struct cs_privacy_wish w;
    struct cs_err err;
    assert_int_equal(wish(p, "\"high\"", &w, &err), 0);
    assert_int_equal(w.level, CS_PRIVACY_HIGH);
    assert_int_equal(wish(p, "{\"level\":\"low\"}", &w, &err), 0);
    assert_int_equal(w.level, CS_PRIVACY_LOW);
    assert_int_equal(w.custom_count, 0);
    assert_int_equal(wish(p, "null", &w, &err), 0);
    static const char both[] = "{\"patterns\":[{\"name\":\"TICKET\",\"pattern\":\"T-[0-9]{4}\"}],"
                               "\"words\":[\"Bluebird\"]}";
    assert_int_equal(wish(p, both, &w, &err), 0);
    assert_int_equal(w.level, CS_PRIVACY_OFF);
    assert_int_equal(w.custom_count, 2);

    static const struct {
        const char *json, *says;
    } wrong[] = {
        {"\"off\"", "privacy: must be low, medium or high; a request can ask for more"},
        {"{\"level\":\"none\"}", "privacy.level: must be low, medium or high"},
        {"7", "privacy: must be low, medium or high, or an object"},
        {"{\"rules\":[]}", "privacy: 'rules' is none of: level, patterns, words"},
        {"{\"words\":[{\"name\":\"P\",\"file\":\"x\"}]}", "'file' is none of: name, values, level"},
        {"{\"patterns\":[{\"name\":\"P\",\"pattern\":\"x\",\"secret\":false}]}",
         "'secret' is none"},
    };
    for (size_t i = 0; i < CS_COUNT(wrong); i++) {
        assert_int_equal(wish(p, wrong[i].json, &w, &err), -1);
        assert_int_equal(err.code, CS_INVALID);
        assert_contains(err.msg, wrong[i].says);
    }
    cs_privacy_unref(p);

    struct cs_privacy_options off = {.off = true, .level = CS_PRIVACY_MEDIUM};
    assert_int_equal(cs_privacy_new(&off, &p, &err), 0);
    assert_int_equal(wish(p, "\"low\"", &w, &err), -1);
    assert_contains(err.msg, "switched off here");
    cs_privacy_unref(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(without_a_section_there_are_defaults),
        CS_TEST(the_first_rule_gives_the_level_and_a_request_raises_it),
        CS_TEST(switched_off_is_off_whatever_the_rules_say),
        CS_TEST(values_go_back_by_tool_and_kind),
        CS_TEST(one_word_may_stand_for_everything),
        CS_TEST(own_patterns_are_kinds_too),
        CS_TEST(everything_that_decides_is_in_the_hash),
        CS_TEST(words_may_come_from_a_file),
        CS_TEST(mistakes_are_told_with_place_and_remedy),
        CS_TEST(a_request_may_ask_for_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
