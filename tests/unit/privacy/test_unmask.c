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

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(values_stand_where_their_tokens_stood, setup, teardown),
        CS_TEST_WITH(a_token_is_no_prefix_of_another, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
