/* What a vault holds: found by value and by token, bounded, wiped. */
#include "test.h"

#include "base/mem.h"
#include "privacy/unescape.h"
#include "privacy/vault.h"

static struct cs_entry *put(struct cs_vault *v, enum cs_pii kind, const char *raw, bool *fresh)
{
    struct cs_value value = {.kind = kind, .name = CS_STR("PROJECT"), .raw = cs_str(raw)};
    return cs_vault_put(v, &value, fresh, NULL);
}

static void entries_are_found_by_both(void **state)
{
    (void)state;
    for (int style = CS_TOKEN_BRACKET; style <= CS_TOKEN_HASH; style++) {
        struct cs_vault *v = cs_vault_new((enum cs_token_style)style);
        bool fresh;
        for (int round = 0; round < 2; round++)
            for (int i = 0; i < 3000; i++) {
                char raw[32], text[CS_TOKEN_MAX];
                snprintf(raw, sizeof raw, "user%d@example.org", i);
                struct cs_entry *e = put(v, i % 3 ? CS_PII_EMAIL : CS_PII_CUSTOM, raw, &fresh);
                assert_int_equal(fresh, round == 0);
                assert_str_is(e->raw, raw);
                struct cs_token t;
                size_t n = cs_vault_text(v, e, text);
                assert_true(cs_token_next(cs_strn(text, n), 0, cs_vault_named, v, &t));
                assert_true(t.start == 0 && t.end == n);
                assert_ptr_equal(cs_vault_of(v, &t), e);
            }
        assert_int_equal(cs_vault_count(v), 3000);
        cs_vault_free(v);
    }
    cs_vault_free(NULL);
}

static void numbers_count_by_name(void **state)
{
    (void)state;
    struct cs_vault *v = cs_vault_new(CS_TOKEN_BRACKET);
    bool fresh;
    assert_int_equal(put(v, CS_PII_EMAIL, "a@example.org", &fresh)->id, 1);
    assert_int_equal(put(v, CS_PII_PERSON, "Ann Ray", &fresh)->id, 1);
    assert_int_equal(put(v, CS_PII_CUSTOM, "Bluebird", &fresh)->id, 1);
    assert_int_equal(put(v, CS_PII_EMAIL, "b@example.org", &fresh)->id, 2);
    /* Numbers of the program's are from the same row. */
    struct cs_value own = {.kind = CS_PII_EMAIL,
                           .name = CS_STR("EMAIL"),
                           .raw = CS_STR("a@example.org"),
                           .program = true};
    assert_int_equal(cs_vault_put(v, &own, &fresh, NULL)->id, 3);
    assert_true(fresh);
    cs_vault_free(v);
}

static void entries_are_bounded(void **state)
{
    (void)state;
    struct cs_vault *v = cs_vault_new(CS_TOKEN_BRACKET);
    struct cs_err err = {0};
    bool fresh;
    for (unsigned i = 0; i < CS_VAULT_ENTRIES; i++) {
        char raw[16];
        snprintf(raw, sizeof raw, "%u", i);
        assert_non_null(put(v, CS_PII_SECRET, raw, &fresh));
    }
    struct cs_value more = {.kind = CS_PII_SECRET, .name = CS_STR("SECRET"), .raw = CS_STR("more")};
    assert_null(cs_vault_put(v, &more, &fresh, &err));
    assert_int_equal(err.code, CS_LIMIT);
    more.raw = CS_STR("17");
    assert_non_null(cs_vault_put(v, &more, &fresh, &err));
    cs_vault_free(v);
}

/* Against the definition: every place of every value, the longest first. */
static void known_values_are_found_where_they_stand(void **state)
{
    (void)state;
    static const char *const values[] = {"ann ray",  "ann ray jr.", "+49 30 1234", "x-1-x-1",
                                         "ann rayx", "zzzz",        "(30) 1234",   "abc"};
    struct cs_known known = {0};
    for (uint32_t i = 0; i < CS_COUNT(values); i++)
        cs_known_add(&known, cs_str(values[i]), i);
    char many[40][16];
    for (uint32_t i = 0; i < 40; i++) { /* enough that begin alike */
        snprintf(many[i], sizeof many[i], "user%u%.*s", i * 37, (int)(i % 5), "aaaaa");
        cs_known_add(&known, cs_str(many[i]), 100 + i);
    }
    static const char text[] =
        "Ann Ray, ann ray jr. and joann ray; +49 30 1234 (30) 1234 x-1-x-1-x-1 ZZZZ zzzzz abc "
        "user37a user74aa USER0 user1443aaa user1443aaaa user37";
    static const struct {
        const char *text;
        uint32_t tag;
    } wanted[] = {{"Ann Ray", 0},    {"ann ray jr.", 1}, {"+49 30 1234", 2},   {"(30) 1234", 6},
                  {"x-1-x-1", 3},    {"ZZZZ", 5},        {"abc", 7},           {"user37a", 101},
                  {"user74aa", 102}, {"USER0", 100},     {"user1443aaaa", 139}};
    struct cs_known_search search;
    struct cs_known_hit hit;
    cs_known_begin(&search, &known, cs_str(text));
    for (size_t i = 0; i < CS_COUNT(wanted); i++) {
        assert_int_equal(cs_known_next(&search, &hit), 1);
        assert_str_is(cs_strn(text + hit.start, hit.end - hit.start), wanted[i].text);
        assert_int_equal(hit.tag, wanted[i].tag);
    }
    assert_int_equal(cs_known_next(&search, &hit), 0);
    cs_known_done(&known);
}

static void too_much_work_is_said(void **state)
{
    (void)state;
    struct cs_known known = {0};
    CS_AUTO_BUF struct cs_buf value = {0};
    while (value.len < 8000)
        cs_buf_puts(&value, "aaaa ");
    CS_AUTO_BUF struct cs_buf text = {0};
    for (int i = 0; i < 5; i++)
        cs_buf_putstr(&text, cs_buf_str(&value));
    cs_buf_putc(&value, 'b');
    cs_known_add(&known, cs_buf_str(&value), 1);
    struct cs_known_search search;
    struct cs_known_hit hit;
    cs_known_begin(&search, &known, cs_buf_str(&text));
    int got;
    while ((got = cs_known_next(&search, &hit)) > 0)
        ;
    assert_int_equal(got, -1);
    cs_known_done(&known);
}

static void escapes_lead_back_to_where_they_stood(void **state)
{
    (void)state;
    static const char raw[] = "a\\nb\\u00e9c\\ud83d\\ude00d\\q\\ud800e\\\\u005bf\\";
    struct cs_unescaped u = {.count = 0};
    assert_true(cs_unescape(cs_str(raw), &u));
    assert_str_is(cs_buf_str(&u.text), "a\nb\xC3\xA9"
                                       "c\xF0\x9F\x98\x80"
                                       "d\\q\\ud800e\\u005bf\\");
    static const struct {
        const char *in, *raw;
    } places[] = {{"a", "a\\n"},
                  {"\n", "\\n"},
                  {"b", "b\\u00e9"},
                  {"\xC3\xA9", "\\u00e9"},
                  {"c", "c\\ud83d"},
                  {"\xF0", "\\ud83d"},
                  {"d\\q", "d\\q"},
                  {"e\\u", "e\\\\u005b"},
                  {"\\u005b", "\\\\u005b"},
                  {"f", "f\\"}};
    const char *text = cs_buf_cstr(&u.text);
    for (size_t i = 0; i < CS_COUNT(places); i++) {
        const char *p = strstr(text, places[i].in), *q = strstr(raw, places[i].raw);
        assert_true(p && q);
        assert_int_equal(cs_unescaped_raw(&u, (size_t)(p - text)), q - raw);
    }
    assert_int_equal(cs_unescaped_raw(&u, u.text.len), sizeof raw - 1);
    cs_unescaped_done(&u);
    assert_false(cs_unescape(CS_STR("plain"), &u));
}

/* The vectors of its authors: key 00..0f, texts 00, 0001, ... */
static void the_hash_is_siphash(void **state)
{
    (void)state;
    unsigned char key[16];
    char text[16];
    for (int i = 0; i < 16; i++) {
        key[i] = (unsigned char)i;
        text[i] = (char)i;
    }
    assert_true(cs_siphash(key, cs_strn(text, 0)) == 0x726fdb47dd0e0e31);
    assert_true(cs_siphash(key, cs_strn(text, 1)) == 0x74f839c593dc67fd);
    assert_true(cs_siphash(key, cs_strn(text, 8)) == 0x93f5f5799a932462);
    assert_true(cs_siphash(key, cs_strn(text, 15)) == 0xa129ca6149be45e5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(entries_are_found_by_both), CS_TEST(numbers_count_by_name),
        CS_TEST(entries_are_bounded),       CS_TEST(known_values_are_found_where_they_stand),
        CS_TEST(too_much_work_is_said),     CS_TEST(escapes_lead_back_to_where_they_stood),
        CS_TEST(the_hash_is_siphash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
