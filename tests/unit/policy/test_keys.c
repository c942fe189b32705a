#include "store/fixture.h"

#include <openssl/sha.h>
#include <time.h>

#include "policy/keys.h"

static struct cs_caller who;

static void on_check(void *ctx, const struct cs_err *err, const struct cs_caller *caller)
{
    f_said(ctx, err, caller ? 1 : 0);
    assert_true((caller != NULL) == (err->code == CS_OK));
    if (caller)
        who = *caller;
}

static int check(struct fixture *f, const char *text)
{
    f_begin(f);
    cs_key_check(f->store, cs_str(text), on_check, f);
    return f_wait(f);
}

/* A key in the store; its text. */
static void make(struct fixture *f, const char *name, int64_t lifetime_ms, char text[CS_KEY_TEXT])
{
    struct cs_key_row row;
    struct cs_err err = {0};
    assert_int_equal(
        cs_key_make(cs_str(name), CS_STR("acme"), CS_KEY_APPROVE, lifetime_ms, text, &row, &err),
        0);
    assert_int_equal(F(f, cs_store_key_add, f_stored, &row), CS_OK);
}

static void a_key_has_the_form_that_was_promised(void **state)
{
    (void)state;
    char text[CS_KEY_TEXT], other[CS_KEY_TEXT];
    struct cs_key_row row;
    struct cs_err err = {0};
    assert_int_equal(
        cs_key_make(CS_STR("ci"), CS_STR("acme"), CS_KEY_ADMIN, 5000, text, &row, &err), 0);
    assert_int_equal(strlen(text), 64);
    assert_int_equal(strncmp(text, "csk_", 4), 0);
    assert_int_equal(text[20], '_');
    assert_int_equal(strspn(text + 4, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789"),
                     16);
    assert_int_equal(strspn(text + 21, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789-_"),
                     43);
    assert_true(cs_str_eq(row.id, cs_strn(text + 4, 16)));
    unsigned char hash[32];
    SHA256((unsigned char *)text + 21, 43, hash);
    assert_memory_equal(row.hash, hash, 32);
    assert_str_is(row.role, "admin");
    assert_int_equal(row.expires - row.created, 5000);
    assert_int_equal(cs_key_make(CS_STR("ci"), CS_STR("acme"), CS_KEY_ADMIN, 0, other, &row, &err),
                     0);
    assert_int_equal(row.expires, 0);
    assert_string_not_equal(text, other);
    assert_int_not_equal(strncmp(text + 21, other + 21, 43), 0);
}

static void names_are_plain(void **state)
{
    (void)state;
    char text[CS_KEY_TEXT], big[66];
    struct cs_key_row row;
    struct cs_err err = {0};
    memset(big, 'a', sizeof big);
    assert_true(cs_key_name_ok(CS_STR("a")));
    assert_true(cs_key_name_ok(CS_STR("ci.Build_7-x")));
    assert_true(cs_key_name_ok(cs_strn(big, 64)));
    assert_false(cs_key_name_ok(cs_strn(big, 65)));
    assert_false(cs_key_name_ok(CS_STR("")));
    assert_false(cs_key_name_ok(CS_STR("a b")));
    assert_false(cs_key_name_ok(CS_STR("a/b")));
    assert_false(cs_key_name_ok(CS_STR("\xC3\xA4")));
    assert_false(cs_key_name_ok(cs_strn("a\0b", 3)));
    assert_int_equal(cs_key_make(CS_STR("a b"), CS_STR("t"), CS_KEY_ADMIN, 0, text, &row, &err),
                     -1);
    assert_int_equal(err.code, CS_INVALID);
    assert_int_equal(cs_key_make(CS_STR("a"), CS_STR("../t"), CS_KEY_ADMIN, 0, text, &row, &err),
                     -1);
    assert_contains(err.msg, "tenant");
}

static void roles_have_names(void **state)
{
    (void)state;
    enum cs_key_role role = CS_KEY_EXECUTE;
    struct cs_err err = {0};
    assert_int_equal(cs_key_role_parse(CS_STR("approve"), &role, &err), 0);
    assert_int_equal(role, CS_KEY_APPROVE);
    assert_string_equal(cs_key_role_name(CS_KEY_EXECUTE), "execute");
    assert_int_equal(cs_key_role_parse(CS_STR("root"), &role, &err), -1);
    assert_int_equal(err.code, CS_INVALID);
    assert_contains(err.msg, "execute, approve and admin");
    assert_int_equal(role, CS_KEY_APPROVE);
    struct cs_caller local = cs_caller_local();
    assert_string_equal(local.principal, "local");
    assert_string_equal(local.tenant, "default");
    assert_string_equal(local.key_id, "");
    assert_int_equal(local.role, CS_KEY_ADMIN);
}

static void a_right_key_says_whose_it_is(void **state)
{
    struct fixture *f = *state;
    char text[CS_KEY_TEXT];
    make(f, "ci", 0, text);
    assert_int_equal(check(f, text), CS_OK);
    assert_string_equal(who.principal, "ci");
    assert_string_equal(who.tenant, "acme");
    assert_int_equal(who.role, CS_KEY_APPROVE);
    assert_int_equal(strncmp(who.key_id, text + 4, 16), 0);
    assert_int_equal(who.key_id[16], 0);
    /* Its use is written down. */
    F(f, cs_store_keys, f_keys);
    assert_true(f->keys[0].used > 1700000000000);
}

/* All of them get the same answer. */
static void everything_else_is_denied_alike(void **state)
{
    struct fixture *f = *state;
    char text[CS_KEY_TEXT], bad[CS_KEY_TEXT], unknown[CS_KEY_TEXT], expired[CS_KEY_TEXT];
    struct cs_key_row row;
    struct cs_err err = {0};
    make(f, "ci", 0, text);
    make(f, "old", 1, expired);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    cs_key_make(CS_STR("x"), CS_STR("t"), CS_KEY_ADMIN, 0, unknown, &row, &err);
    const char *const wrong[] = {"",      "csk_",  "Bearer",    "csk_aaaaaaaaaaaaaaaa_",
                                 expired, unknown, "' OR 1 = 1"};
    for (size_t i = 0; i < CS_COUNT(wrong); i++)
        assert_code(check(f, wrong[i]), CS_DENIED, "this key is not valid");
    /* Any other character anywhere makes it wrong. */
    for (size_t i = 0; i < 64; i++) {
        memcpy(bad, text, sizeof bad);
        bad[i] = bad[i] == 'x' ? 'y' : 'x';
        assert_code(check(f, bad), CS_DENIED, "this key is not valid");
    }
    memcpy(bad, text, sizeof bad);
    bad[63] = '\0';
    assert_int_equal(check(f, bad), CS_DENIED);
    bad[63] = text[63];
    bad[64] = 'a';
    bad[65] = '\0';
    assert_int_equal(check(f, bad), CS_DENIED);
    bad[30] = '\0';
    f_begin(f);
    cs_key_check(f->store, cs_strn(bad, 64), on_check, f);
    assert_int_equal(f_wait(f), CS_DENIED);
    assert_int_equal(check(f, text), CS_OK);
}

static void a_revoked_key_is_none(void **state)
{
    struct fixture *f = *state;
    char text[CS_KEY_TEXT];
    make(f, "ci", 0, text);
    assert_int_equal(check(f, text), CS_OK);
    F(f, cs_store_key_revoke, f_stored, CS_STR("ci"), 1);
    assert_code(check(f, text), CS_DENIED, "this key is not valid");
}

static void after_a_rotation_the_new_one_counts(void **state)
{
    struct fixture *f = *state;
    char old[CS_KEY_TEXT], text[CS_KEY_TEXT];
    struct cs_key_row row;
    struct cs_err err = {0};
    make(f, "ci", 0, old);
    cs_key_make(CS_STR("ci"), CS_STR("acme"), CS_KEY_APPROVE, 0, text, &row, &err);
    assert_int_equal(
        F(f, cs_store_key_rotate, f_stored, CS_STR("ci"), row.id, row.hash, row.expires), CS_OK);
    assert_int_equal(check(f, old), CS_DENIED);
    assert_int_equal(check(f, text), CS_OK);
    assert_string_equal(who.principal, "ci");
    assert_int_equal(who.role, CS_KEY_APPROVE);
}

/* Values instead of tokens: a right of its own, which no role has, and a rotation keeps. */
static void the_right_to_reveal_is_a_keys_own(void **state)
{
    struct fixture *f = *state;
    char plain[CS_KEY_TEXT], text[CS_KEY_TEXT], next[CS_KEY_TEXT];
    struct cs_key_row row, other;
    struct cs_err err = {0};
    make(f, "plain", 0, plain);
    assert_int_equal(check(f, plain), CS_OK);
    assert_false(who.reveal);
    assert_false(cs_caller_local().reveal);
    cs_key_make(CS_STR("auditor"), CS_STR("acme"), CS_KEY_EXECUTE, 0, text, &row, &err);
    assert_false(row.reveal);
    row.reveal = true;
    F(f, cs_store_key_add, f_stored, &row);
    assert_int_equal(check(f, text), CS_OK);
    assert_true(who.reveal);
    cs_key_make(CS_STR("auditor"), CS_STR("acme"), CS_KEY_EXECUTE, 0, next, &other, &err);
    F(f, cs_store_key_rotate, f_stored, CS_STR("auditor"), other.id, other.hash, other.expires);
    assert_int_equal(check(f, next), CS_OK);
    assert_true(who.reveal);
}

/* A row that somebody has put there by hand must not become more than it says. */
static void a_damaged_row_lets_nobody_in(void **state)
{
    struct fixture *f = *state;
    char text[CS_KEY_TEXT];
    struct cs_key_row row;
    struct cs_err err = {0};
    cs_key_make(CS_STR("ci"), CS_STR("acme"), CS_KEY_ADMIN, 0, text, &row, &err);
    row.role = CS_STR("emperor");
    F(f, cs_store_key_add, f_stored, &row);
    assert_int_equal(check(f, text), CS_SYSTEM);
}

#define WITH(name) CS_TEST_WITH(name, f_setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST(a_key_has_the_form_that_was_promised),
        CS_TEST(names_are_plain),
        CS_TEST(roles_have_names),
        WITH(a_right_key_says_whose_it_is),
        WITH(everything_else_is_denied_alike),
        WITH(a_revoked_key_is_none),
        WITH(after_a_rotation_the_new_one_counts),
        WITH(the_right_to_reveal_is_a_keys_own),
        WITH(a_damaged_row_lets_nobody_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
