#include "store/fixture.h"

static struct cs_key_row key(const char *id, const char *name)
{
    struct cs_key_row row = {.id = cs_str(id),
                             .name = cs_str(name),
                             .tenant = CS_STR("acme"),
                             .role = CS_STR("execute"),
                             .created = 1000,
                             .expires = 5000};
    memset(row.hash, id[0], sizeof row.hash);
    return row;
}

static int add(struct fixture *f, const char *id, const char *name)
{
    struct cs_key_row row = key(id, name);
    return F(f, cs_store_key_add, f_stored, &row);
}

static int get(struct fixture *f, const char *id)
{
    return F(f, cs_store_key_get, f_keys, cs_str(id));
}

static void one_is_found_by_its_id(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(add(f, "a1", "ci"), CS_OK);
    assert_int_equal(get(f, "a1"), CS_OK);
    assert_int_equal(f->count, 1);
    assert_str_is(f->keys[0].name, "ci");
    assert_str_is(f->keys[0].tenant, "acme");
    assert_str_is(f->keys[0].role, "execute");
    assert_int_equal(f->keys[0].hash[31], 'a');
    assert_int_equal(f->keys[0].created, 1000);
    assert_int_equal(f->keys[0].expires, 5000);
    assert_int_equal(f->keys[0].revoked, 0);
    assert_code(get(f, "ci"), CS_MISSING, "no such key");
    assert_int_equal(f->count, 0);
}

static void a_name_is_used_once_among_those_in_use(void **state)
{
    struct fixture *f = *state;
    add(f, "a1", "ci");
    assert_code(add(f, "a2", "ci"), CS_CONFLICT, "a key 'ci' already");
    assert_int_equal(F(f, cs_store_key_revoke, f_stored, CS_STR("ci"), 7000), CS_OK);
    assert_int_equal(add(f, "a2", "ci"), CS_OK);
    assert_int_equal(F(f, cs_store_keys, f_keys), CS_OK);
    assert_int_equal(f->count, 2);
    assert_str_is(f->keys[0].id, "a1");
    assert_int_equal(f->keys[0].revoked, 7000);
    assert_int_equal(f->keys[1].revoked, 0);
}

static void revoking_takes_a_name_or_an_id(void **state)
{
    struct fixture *f = *state;
    add(f, "a1", "one");
    add(f, "b1", "two");
    assert_int_equal(F(f, cs_store_key_revoke, f_stored, CS_STR("b1"), 7000), CS_OK);
    get(f, "b1");
    assert_int_equal(f->keys[0].revoked, 7000);
    get(f, "a1");
    assert_int_equal(f->keys[0].revoked, 0);
    assert_code(F(f, cs_store_key_revoke, f_stored, CS_STR("b1"), 8000), CS_MISSING, "'b1'");
    assert_code(F(f, cs_store_key_revoke, f_stored, CS_STR("none"), 8000), CS_MISSING, "'none'");
}

static void a_name_goes_before_an_id(void **state)
{
    struct fixture *f = *state;
    add(f, "a1", "one");
    add(f, "b1", "a1");
    F(f, cs_store_key_revoke, f_stored, CS_STR("a1"), 7000);
    get(f, "a1");
    assert_int_equal(f->keys[0].revoked, 0);
    get(f, "b1");
    assert_int_equal(f->keys[0].revoked, 7000);
}

static void rotation_puts_another_secret_in_its_place(void **state)
{
    struct fixture *f = *state;
    unsigned char hash[32];
    memset(hash, 'n', sizeof hash);
    add(f, "a1", "ci");
    cs_store_key_used(f->store, CS_STR("a1"), 3000);
    assert_int_equal(F(f, cs_store_key_rotate, f_stored, CS_STR("ci"), CS_STR("n1"), hash, 9000),
                     CS_OK);
    assert_int_equal(get(f, "a1"), CS_MISSING);
    assert_int_equal(get(f, "n1"), CS_OK);
    assert_str_is(f->keys[0].name, "ci");
    assert_str_is(f->keys[0].tenant, "acme");
    assert_int_equal(f->keys[0].expires, 9000);
    assert_int_equal(f->keys[0].used, 0);
    assert_int_equal(f->keys[0].hash[0], 'n');
    F(f, cs_store_key_revoke, f_stored, CS_STR("ci"), 7000);
    assert_int_equal(F(f, cs_store_key_rotate, f_stored, CS_STR("ci"), CS_STR("n2"), hash, 0),
                     CS_MISSING);
}

static void the_last_use_only_grows(void **state)
{
    struct fixture *f = *state;
    add(f, "a1", "ci");
    cs_store_key_used(f->store, CS_STR("a1"), 3000);
    cs_store_key_used(f->store, CS_STR("a1"), 2000);
    cs_store_key_used(f->store, CS_STR("none"), 2000);
    get(f, "a1");
    assert_int_equal(f->keys[0].used, 3000);
}

static void names_are_bounded(void **state)
{
    struct fixture *f = *state;
    char big[66] = {0};
    memset(big, 'x', 65);
    assert_code(add(f, big, "ci"), CS_INVALID, "1 to 64");
    assert_code(add(f, "", "ci"), CS_INVALID, "1 to 64");
    assert_code(F(f, cs_store_key_revoke, f_stored, cs_str(big), 1), CS_INVALID, "1 to 64");
}

#define WITH(name) CS_TEST_WITH(name, f_setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(one_is_found_by_its_id),
        WITH(a_name_is_used_once_among_those_in_use),
        WITH(revoking_takes_a_name_or_an_id),
        WITH(a_name_goes_before_an_id),
        WITH(rotation_puts_another_secret_in_its_place),
        WITH(the_last_use_only_grows),
        WITH(names_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
