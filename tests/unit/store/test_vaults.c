/* Sealed entries of vaults: kept in their order, and gone with whose they are. */
#include "store/fixture.h"

static void f_parts(void *ctx, const struct cs_err *err, const struct cs_str *sealed, size_t count)
{
    struct fixture *f = ctx;
    CS_AUTO_BUF struct cs_buf all = {0};
    f_said(f, err, count);
    for (size_t i = 0; i < count; i++)
        cs_buf_printf(&all, "%.*s;", CS_STR_ARG(sealed[i]));
    f->content = cs_arena_dup(&f->arena, cs_buf_str(&all));
}

static void add(struct fixture *f, const char *owner, const char *sealed)
{
    assert_int_equal(F(f, cs_store_vault_add, f_stored, cs_str(owner), cs_str(sealed)), CS_OK);
}

static const char *parts(struct fixture *f, const char *owner)
{
    assert_int_equal(F(f, cs_store_vault_get, f_parts, cs_str(owner)), CS_OK);
    return f->content.at;
}

static void parts_are_given_back_in_their_order(void **state)
{
    struct fixture *f = *state;
    add(f, "default/s1", "one");
    add(f, "default/s2", "other");
    add(f, "default/s1", "two");
    f_close(f);
    f_open(f);
    assert_string_equal(parts(f, "default/s1"), "one;two;");
    assert_string_equal(parts(f, "default/s2"), "other;");
    assert_string_equal(parts(f, "default/s3"), "");
    assert_int_equal(f->count, 0);
    assert_int_equal(F(f, cs_store_vault_add, f_stored, CS_STR(""), CS_STR("x")), CS_INVALID);
}

static bool in_file(struct fixture *f, const char *bytes)
{
    CS_AUTO_BUF struct cs_buf all = {0};
    char path[128];
    struct cs_err err;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/caisson.db%s", f->dir, i ? "-wal" : "");
        cs_file_read(path, 64 << 20, &all, &err);
    }
    return memmem(all.at, all.len, bytes, strlen(bytes)) != NULL;
}

static void what_is_wiped_is_no_longer_in_the_file(void **state)
{
    struct fixture *f = *state;
    char large[9000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    memcpy(large + 8000, "MARKED", 6);
    add(f, "default/s1", large);
    add(f, "default/s2", "stays");
    f_close(f);
    assert_true(in_file(f, "MARKED"));
    f_open(f);
    assert_int_equal(F(f, cs_store_vault_wipe, f_stored, CS_STR("default/s1")), CS_OK);
    assert_string_equal(parts(f, "default/s1"), "");
    assert_string_equal(parts(f, "default/s2"), "stays;");
    f_close(f);
    assert_false(in_file(f, "MARKED"));
    f_open(f);
    assert_int_equal(F(f, cs_store_vault_wipe, f_stored, CS_STR("default/s1")), CS_OK);
}

static void a_session_takes_its_vault_along(void **state)
{
    struct fixture *f = *state;
    const char *const ids[] = {"ended", "expired", "stays"};
    for (size_t i = 0; i < CS_COUNT(ids); i++) {
        char owner[32];
        struct cs_session_row row = {.id = cs_str(ids[i]),
                                     .tenant = CS_STR("default"),
                                     .principal = CS_STR("ann"),
                                     .expires = i == 1 ? 5 : 0};
        assert_int_equal(F(f, cs_store_session_add, f_stored, &row, 10), CS_OK);
        snprintf(owner, sizeof owner, "default/%s", ids[i]);
        add(f, owner, "sealed");
    }
    assert_int_equal(F(f, cs_store_session_end, f_stored, CS_STR("other"), CS_STR("ended")),
                     CS_MISSING);
    assert_string_equal(parts(f, "default/ended"), "sealed;");
    assert_int_equal(F(f, cs_store_session_end, f_stored, CS_STR("default"), CS_STR("ended")),
                     CS_OK);
    assert_string_equal(parts(f, "default/ended"), "");
    assert_int_equal(F(f, cs_store_sessions_expire, f_sessions, 10), CS_OK);
    assert_string_equal(parts(f, "default/expired"), "");
    assert_string_equal(parts(f, "default/stays"), "sealed;");
}

static void an_execution_too_when_it_is_forgotten(void **state)
{
    struct fixture *f = *state;
    struct cs_execution_row row = f_execution("x1", "default"), end = f_end_of("x1", "default");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    assert_int_equal(F(f, cs_store_execution_settle, f_ended, &end, NULL), CS_OK);
    add(f, "default/x1", "sealed");
    add(f, "other/x1", "sealed");
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 3000), CS_OK);
    assert_string_equal(parts(f, "default/x1"), "");
    assert_string_equal(parts(f, "other/x1"), "sealed;");
}

#define WITH(name) CS_TEST_WITH(name, f_setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(parts_are_given_back_in_their_order),
        WITH(what_is_wiped_is_no_longer_in_the_file),
        WITH(a_session_takes_its_vault_along),
        WITH(an_execution_too_when_it_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
