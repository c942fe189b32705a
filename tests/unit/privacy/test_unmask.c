/* Tokens to values: where they stand, what fails, and that a value makes no difference. */
#include "test.h"

#include "privacy/vault.h"

struct fixture {
    struct cs_vault *vault;
    struct cs_buf out;
    struct cs_unmasked unmasked;
    struct cs_err err;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->vault = cs_vault_new(CS_TOKEN_BRACKET);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    cs_vault_free(f->vault);
    cs_buf_done(&f->out);
    free(f);
    return 0;
}

static void put(struct fixture *f, enum cs_pii kind, const char *raw, bool is_number)
{
    bool fresh;
    struct cs_value v = {.kind = kind,
                         .name = cs_str(cs_pii_name(kind)),
                         .raw = cs_str(raw),
                         .server = cs_str("crm"),
                         .is_number = is_number};
    assert_non_null(cs_vault_put(f->vault, &v, &fresh, &f->err));
}

static int unmask(struct fixture *f, const char *json)
{
    struct cs_unmask how = {.vault = f->vault};
    cs_buf_clear(&f->out);
    f->unmasked = (struct cs_unmasked){0};
    return cs_unmask(&how, cs_str(json), &f->out, &f->unmasked, &f->err);
}

static void becomes(struct fixture *f, const char *json, const char *wanted)
{
    int got = unmask(f, json);
    if (got < 0)
        fail_msg("%s: %s", json, f->err.msg);
    assert_str_is(got ? cs_buf_str(&f->out) : cs_str(json), wanted);
}

static void values_stand_where_their_tokens_stood(void **state)
{
    struct fixture *f = *state;
    put(f, CS_PII_EMAIL, "ann@example.org", false);
    put(f, CS_PII_PHONE, "4155550100", true);
    becomes(f, "{\"to\":\"[EMAIL_1]\"}", "{\"to\":\"ann@example.org\"}");
    becomes(f, "{\"a\":[{\"[EMAIL_1]\":\"mail [EMAIL_1], now\"}]}",
            "{\"a\":[{\"ann@example.org\":\"mail ann@example.org, now\"}]}");
    becomes(f, "\"[EMAIL_1][EMAIL_1]\"", "\"ann@example.organn@example.org\"");
    becomes(f, "{\"n\": \"[PHONE_1]\"}", "{\"n\": 4155550100}");
    becomes(f, "{\"[PHONE_1]\": \"x[PHONE_1]\"}", "{\"4155550100\": \"x4155550100\"}");
    assert_int_equal(unmask(f, "{\"a\":\"none\"}"), 0);
}

static void a_token_is_no_prefix_of_another(void **state)
{
    struct fixture *f = *state;
    for (int i = 1; i <= 10; i++) {
        char name[24];
        snprintf(name, sizeof name, "Person %d", i);
        put(f, CS_PII_PERSON, name, false);
    }
    becomes(f, "[\"[PERSON_1]\",\"[PERSON_10]\"]", "[\"Person 1\",\"Person 10\"]");
}

static void bent_tokens_are_understood(void **state)
{
    struct fixture *f = *state;
    put(f, CS_PII_EMAIL, "a b@example.org", false);
    put(f, CS_PII_CREDIT_CARD, "4111 1111", false);
    becomes(f, "[\"[email_1] [ EMAIL_1 ] \\\\[EMAIL_1\\\\] [Credit_Card_1]\"]",
            "[\"a b@example.org a b@example.org a b@example.org 4111 1111\"]");
    /* Backslashes before it are its own only if it has them behind as well. */
    becomes(f, "[\"\\\\\\\\[EMAIL_1]\"]", "[\"\\\\\\\\a b@example.org\"]");
    /* As a part of an URL it is escaped like one. */
    becomes(f, "[\"https://x.org/?q=%5BEMAIL_1%5D&z=%5bEMAIL_1%5d\"]",
            "[\"https://x.org/?q=a%20b%40example.org&z=a%20b%40example.org\"]");
    /* Without brackets only if it is alone, and there. */
    becomes(f, "[\"EMAIL_1\",\"EMAIL_2\",\"select EMAIL_1 from t\",\"email_1\",\"ITEM_1\"]",
            "[\"a b@example.org\",\"EMAIL_2\",\"select EMAIL_1 from t\",\"email_1\",\"ITEM_1\"]");
}

static void what_is_no_token_goes_out_as_it_is(void **state)
{
    struct fixture *f = *state;
    put(f, CS_PII_EMAIL, "ann@example.org", false);
    static const char *const texts[] = {
        "\"[STEP_1] [TODO_2] [RFC_2119]\"",
        "\"[EMAIL_0]\"",
        "\"[EMAIL_12345678]\"",
        "\"EMAIL_1]\"",
        "\"[EMAIL_1\"",
        "\"[EMAIL 1]\"",
        "\"[EMAIL-1]\"",
        "\"[E\u200bM_1]\"",
        "\"[\u200bE\u200bM\u200bA\u200bI\u200bL\u200b_\u200b1\u200b]\"",
        "\"[MY_EMAIL_1x]\"",
        "[1,2]",
        "{}",
        "\"\"",
        "\"_\"",
        "\"[_1]\"",
        "\"EMAIL_TOKEN_1\"",
        "\"EMAIL_3f9a0c71\""};
    for (size_t i = 0; i < CS_COUNT(texts); i++)
        if (unmask(f, texts[i]) != 0)
            fail_msg("%s", texts[i]);
}

static void unknown_tokens_fail_by_name(void **state)
{
    struct fixture *f = *state;
    put(f, CS_PII_EMAIL, "ann@example.org", false);
    static const char *const texts[] = {"[EMAIL_2]",
                                        "[PERSON_1]",
                                        "[email_2]",
                                        "%5BEMAIL_2%5D",
                                        "EMAIL_TOKEN_001",
                                        "EMAIL_3f9a0c71e2b4d855",
                                        "[EMAIL_1] [LITERAL_1]",
                                        "x[EMAIL_10]"};
    for (size_t i = 0; i < CS_COUNT(texts); i++) {
        char json[128];
        snprintf(json, sizeof json, "{\"a\":[{\"b\":\"%s\"}]}", texts[i]);
        if (unmask(f, json) != -1)
            fail_msg("%s", texts[i]);
        assert_int_equal(f->err.code, CS_INVALID);
        assert_contains(f->err.msg, "no token of this session");
        assert_int_equal(f->out.len, 0);
        assert_null(strstr(f->err.msg, "ann@"));
    }
    assert_contains(f->err.msg, "[EMAIL_10]");
    struct cs_unmask none = {.vault = NULL};
    assert_int_equal(cs_unmask(&none, CS_STR("\"[EMAIL_1]\""), &f->out, NULL, &f->err), -1);
    assert_int_equal(f->err.code, CS_INVALID);
}

/* --- who may have it --- */

static enum cs_may may(void *ctx, enum cs_pii kind, struct cs_str name, struct cs_str from)
{
    *(int *)ctx += 1;
    assert_str_is(from, "crm");
    assert_str_is(name, cs_pii_name(kind));
    return kind == CS_PII_API_KEY ? CS_MAY_NOT : kind == CS_PII_SSN ? CS_MAY_ASK : CS_MAY;
}

static int unmask_for(struct fixture *f, const char *json, bool readable)
{
    int asked = 0;
    struct cs_unmask how = {
        .vault = f->vault, .may = may, .ctx = &asked, .literals_only_known = readable};
    cs_buf_clear(&f->out);
    f->unmasked = (struct cs_unmasked){0};
    return cs_unmask(&how, cs_str(json), &f->out, &f->unmasked, &f->err);
}

static void policy_decides_by_kind(void **state)
{
    struct fixture *f = *state;
    put(f, CS_PII_EMAIL, "ann@example.org", false);
    put(f, CS_PII_API_KEY, "zq81-Kd02-77aa", false);
    put(f, CS_PII_SSN, "219-09-9999", false);
    assert_int_equal(unmask_for(f, "[\"[EMAIL_1]\"]", false), 1);
    assert_int_equal(f->unmasked.put[CS_PII_EMAIL], 1);
    assert_int_equal(unmask_for(f, "[\"[EMAIL_1][SSN_1]\"]", false), -1);
    assert_int_equal(f->err.code, CS_DENIED);
    assert_true(f->unmasked.ask);
    assert_int_equal(f->unmasked.kind, CS_PII_SSN);
    assert_str_is(f->unmasked.refused, "[SSN_1]");
    /* Asking somebody makes no sense where another one is refused anyway. */
    assert_int_equal(unmask_for(f, "[\"[SSN_1][API_KEY_1]\"]", false), -1);
    assert_false(f->unmasked.ask);
    assert_str_is(f->unmasked.refused, "[API_KEY_1]");
    /* For people to read: what they may not have stays a token. */
    assert_int_equal(unmask_for(f, "[EMAIL_1], [SSN_1], [API_KEY_1], [EMAIL_7]", true), 1);
    assert_str_is(cs_buf_str(&f->out), "ann@example.org, [SSN_1], [API_KEY_1], [EMAIL_7]");
}

/* --- no oracle --- */

/* What fails, and with which words, is the same whatever the values are. */
static void failing_says_nothing_about_values(void **state)
{
    struct fixture *f = *state;
    char said[2][3][sizeof f->err.msg];
    for (int v = 0; v < 2; v++) {
        static char large[4000];
        memset(large, 'k', sizeof large - 1);
        cs_vault_free(f->vault);
        f->vault = cs_vault_new(CS_TOKEN_BRACKET);
        put(f, CS_PII_SECRET, v ? large : "k", false);
        put(f, CS_PII_API_KEY, v ? "other-1" : "k", false);
        struct cs_buf many = {0};
        cs_buf_putc(&many, '"');
        for (int i = 0; i < 4097; i++)
            cs_buf_puts(&many, "[SECRET_1]");
        cs_buf_putc(&many, '"');
        assert_int_equal(unmask(f, cs_buf_cstr(&many)), -1);
        assert_int_equal(f->err.code, CS_LIMIT);
        strcpy(said[v][0], f->err.msg);
        many.len -= 11;
        cs_buf_putc(&many, '"');
        assert_int_equal(unmask(f, cs_buf_cstr(&many)), 1); /* one less */
        cs_buf_done(&many);
        assert_int_equal(unmask_for(f, "[\"[SECRET_1][API_KEY_1]\"]", false), -1);
        strcpy(said[v][1], f->err.msg);
        assert_int_equal(unmask(f, "[\"[SECRET_1][SECRET_2]\"]"), -1);
        strcpy(said[v][2], f->err.msg);
    }
    for (int i = 0; i < 3; i++)
        assert_string_equal(said[0][i], said[1][i]);
}

static void values_are_escaped_for_their_place(void **state)
{
    struct fixture *f = *state;
    put(f, CS_PII_PASSWORD, "a\"b\\c\n\x01\xC3\xA9", false);
    becomes(f, "{\"x\":\"[PASSWORD_1]\",\"[PASSWORD_1]\":1}",
            "{\"x\":\"a\\\"b\\\\c\\n\\u0001\xC3\xA9\",\"a\\\"b\\\\c\\n\\u0001\xC3\xA9\":1}");
    /* A quote that is escaped before the token is no end of its string. */
    becomes(f, "[\"\\\\\\\"[PASSWORD_1]\"]", "[\"\\\\\\\"a\\\"b\\\\c\\n\\u0001\xC3\xA9\"]");
    /* Not in what was put in: it is not read again. */
    put(f, CS_PII_LITERAL, "[PASSWORD_1]", false);
    becomes(f, "[\"[LITERAL_1]\"]", "[\"[PASSWORD_1]\"]");
}

static void forms_are_told_by_their_looks(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum cs_token_form form;
    } cases[] = {
        {"[EMAIL_1]", CS_TOKEN_WHOLE},
        {"[EMPLOYEE_12]", CS_TOKEN_WHOLE},
        {"EMAIL_TOKEN_001", CS_TOKEN_WHOLE},
        {"EMAIL_3f9a0c71e2b4d855", CS_TOKEN_WHOLE},
        {"EMAIL_1", CS_TOKEN_WHOLE},
        {"ITEM_1", CS_TOKEN_NONE},
        {"to [EMAIL_1]", CS_TOKEN_INSIDE},
        {"[EMAIL_1][EMAIL_1]", CS_TOKEN_INSIDE},
        {"to EMAIL_1", CS_TOKEN_NONE},
        {"plain", CS_TOKEN_NONE},
        {"", CS_TOKEN_NONE},
        {"[EMAIL_0]", CS_TOKEN_NONE},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        if (cs_token_form(cs_str(cases[i].text)) != cases[i].form)
            fail_msg("%s", cases[i].text);
        if (cases[i].form != CS_TOKEN_NONE)
            assert_true(cs_token_like(cs_str(cases[i].text)));
    }
    assert_true(cs_token_like(CS_STR("\\u005bEMAIL\\u005f1\\u005d")));
    assert_false(cs_token_like(CS_STR("{\"created_at\":\"snake_case_1x\"}")));
}

/* Every cut of a text with tokens is looked at within its bounds. */
static void nothing_is_read_beyond_the_end(void **state)
{
    struct fixture *f = *state;
    put(f, CS_PII_EMAIL, "ann@example.org", false);
    static const char text[] =
        "{\"a\":\"\\\\[EMAIL_1\\\\] %5BEMAIL_1%5D EMAIL_TOKEN_001 [ EMAIL_1 ]"
        " EMAIL_3f9a0c71e2b4d855 {\\\"x\\\":\\\\\\\"[EMAIL_1]\\\"}\"}";
    struct cs_unmask how = {.vault = f->vault, .literals_only_known = true};
    for (size_t from = 0; from < sizeof text - 1; from++)
        for (size_t n = 0; n < sizeof text - from; n++) {
            char *copy = malloc(n + !n);
            memcpy(copy, text + from, n);
            cs_buf_clear(&f->out);
            assert_true(cs_unmask(&how, cs_strn(copy, n), &f->out, NULL, &f->err) >= 0);
            cs_token_form(cs_strn(copy, n));
            free(copy);
        }
}

#define WITH(name) CS_TEST_WITH(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(values_stand_where_their_tokens_stood),
        WITH(a_token_is_no_prefix_of_another),
        WITH(bent_tokens_are_understood),
        WITH(what_is_no_token_goes_out_as_it_is),
        WITH(unknown_tokens_fail_by_name),
        WITH(policy_decides_by_kind),
        WITH(failing_says_nothing_about_values),
        WITH(values_are_escaped_for_their_place),
        CS_TEST(forms_are_told_by_their_looks),
        WITH(nothing_is_read_beyond_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
