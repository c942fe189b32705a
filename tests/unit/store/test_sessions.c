#include "store/fixture.h"

#include <time.h>

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct cs_session_row session(const char *id, const char *tenant)
{
    int64_t t = now();
    return (struct cs_session_row){.id = cs_str(id),
                                   .tenant = cs_str(tenant),
                                   .principal = CS_STR("ann"),
                                   .name = CS_STR("mine"),
                                   .created = t,
                                   .used = t,
                                   .expires = t + 60000,
                                   .idle_ms = 60000};
}

static int add(struct fixture *f, const char *id, const char *tenant, uint64_t most)
{
    struct cs_session_row row = session(id, tenant);
    return F(f, cs_store_session_add, f_stored, &row, most);
}

static int get(struct fixture *f, const char *id, const char *tenant)
{
    return F(f, cs_store_session_get, f_sessions, cs_str(tenant), cs_str(id));
}

static int put(struct fixture *f, const char *id, const char *tenant, uint64_t version,
               const char *json, int64_t when)
{
    return F(f, cs_store_session_put, f_stored, cs_str(tenant), cs_str(id), version, cs_str(json),
             when);
}

static void one_keeps_its_state(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(add(f, "ses_1", "default", 10), CS_OK);
    assert_int_equal(get(f, "ses_1", "default"), CS_OK);
    assert_str_is(f->sessions[0].state, "");
    assert_str_is(f->sessions[0].name, "mine");
    assert_str_is(f->sessions[0].principal, "ann");
    assert_int_equal(f->sessions[0].version, 0);
    int64_t later = now() + 30000;
    assert_int_equal(put(f, "ses_1", "default", 0, "{\"a\":1}", later), CS_OK);
    get(f, "ses_1", "default");
    assert_str_is(f->sessions[0].state, "{\"a\":1}");
    assert_int_equal(f->sessions[0].version, 1);
    assert_int_equal(f->sessions[0].executions, 1);
    assert_int_equal(f->sessions[0].used, later);
    assert_int_equal(f->sessions[0].expires, later + 60000);
    /* An execution that leaves it as it was counts too. */
    assert_int_equal(put(f, "ses_1", "default", 1, "", later + 1), CS_OK);
    get(f, "ses_1", "default");
    assert_str_is(f->sessions[0].state, "{\"a\":1}");
    assert_int_equal(f->sessions[0].version, 1);
    assert_int_equal(f->sessions[0].executions, 2);
}

static void a_first_state_is_kept(void **state)
{
    struct fixture *f = *state;
    struct cs_session_row row = session("ses_1", "default");
    row.state = CS_STR("[1]");
    row.version = 4;
    assert_int_equal(F(f, cs_store_session_add, f_stored, &row, 10), CS_OK);
    get(f, "ses_1", "default");
    assert_str_is(f->sessions[0].state, "[1]");
    assert_int_equal(f->sessions[0].version, 4);
    assert_int_equal(F(f, cs_store_session_add, f_stored, &row, 10), CS_CONFLICT);
}

static void who_comes_second_is_told(void **state)
{
    struct fixture *f = *state;
    add(f, "ses_1", "default", 10);
    assert_int_equal(put(f, "ses_1", "default", 0, "{\"a\":1}", now()), CS_OK);
    assert_code(put(f, "ses_1", "default", 0, "{\"a\":2}", now()), CS_CONFLICT, "version 1, not 0");
    get(f, "ses_1", "default");
    assert_str_is(f->sessions[0].state, "{\"a\":1}");
    assert_int_equal(f->sessions[0].executions, 1);
}

static void another_tenants_session_is_none(void **state)
{
    struct fixture *f = *state;
    add(f, "ses_1", "theirs", 10);
    assert_code(get(f, "ses_1", "default"), CS_MISSING, "no session 'ses_1'");
    assert_int_equal(put(f, "ses_1", "default", 0, "{}", now()), CS_MISSING);
    assert_int_equal(F(f, cs_store_session_end, f_stored, CS_STR("default"), CS_STR("ses_1")),
                     CS_MISSING);
    assert_int_equal(F(f, cs_store_sessions, f_sessions, CS_STR("default"), 10, 0), CS_OK);
    assert_int_equal(f->count, 0);
    assert_int_equal(get(f, "ses_1", "theirs"), CS_OK);
}

static void a_tenant_has_so_many_and_no_more(void **state)
{
    struct fixture *f = *state;
    struct cs_session_row old = session("ses_old", "default");
    old.expires = now() - 1;
    F(f, cs_store_session_add, f_stored, &old, 10);
    assert_int_equal(add(f, "ses_1", "default", 2), CS_OK);
    assert_int_equal(add(f, "ses_2", "default", 2), CS_OK);
    assert_code(add(f, "ses_3", "default", 2), CS_LIMIT, "2 sessions already");
    assert_int_equal(add(f, "ses_3", "theirs", 2), CS_OK);
    F(f, cs_store_session_end, f_stored, CS_STR("default"), CS_STR("ses_1"));
    assert_int_equal(add(f, "ses_4", "default", 2), CS_OK);
}

static void what_has_expired_is_missing_and_then_removed(void **state)
{
    struct fixture *f = *state;
    struct cs_session_row row = session("ses_old", "default");
    row.expires = now() - 1;
    row.state = CS_STR("{\"old\":1}");
    F(f, cs_store_session_add, f_stored, &row, 10);
    row.id = CS_STR("ses_ever");
    row.expires = 0;
    F(f, cs_store_session_add, f_stored, &row, 10);
    add(f, "ses_new", "default", 10);
    assert_int_equal(get(f, "ses_old", "default"), CS_MISSING);
    F(f, cs_store_sessions, f_sessions, CS_STR("default"), 10, 0);
    assert_int_equal(f->count, 2);

    assert_int_equal(F(f, cs_store_sessions_expire, f_sessions, now()), CS_OK);
    assert_int_equal(f->count, 1);
    assert_str_is(f->sessions[0].id, "ses_old");
    assert_str_is(f->sessions[0].tenant, "default");
    assert_int_equal(F(f, cs_store_sessions_expire, f_sessions, now()), CS_OK);
    assert_int_equal(f->count, 0);
    assert_int_equal(get(f, "ses_ever", "default"), CS_OK);
    /* Its state went with it: a new one of the same name starts empty. */
    add(f, "ses_old", "default", 10);
    get(f, "ses_old", "default");
    assert_str_is(f->sessions[0].state, "");
}

static void an_execution_that_outlives_the_session_revives_it(void **state)
{
    struct fixture *f = *state;
    struct cs_session_row row = session("ses_1", "default");
    row.expires = now() - 1;
    F(f, cs_store_session_add, f_stored, &row, 10);
    assert_int_equal(put(f, "ses_1", "default", 0, "{}", now()), CS_OK);
    assert_int_equal(get(f, "ses_1", "default"), CS_OK);
}

static void lists_go_by_the_last_use_and_have_no_state(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 5; i++) {
        char id[24];
        snprintf(id, sizeof id, "ses_%d", i);
        struct cs_session_row row = session(id, "default");
        row.used = 1000 + i;
        row.expires = 0;
        row.state = CS_STR("{\"big\":1}");
        cs_store_session_add(f->store, &row, 10, NULL, NULL);
    }
    put(f, "ses_1", "default", 0, "", 2000);
    F(f, cs_store_sessions, f_sessions, CS_STR("default"), 3, 0);
    assert_int_equal(f->count, 3);
    assert_str_is(f->sessions[0].id, "ses_1");
    assert_str_is(f->sessions[1].id, "ses_4");
    assert_str_is(f->sessions[0].state, "");
    F(f, cs_store_sessions, f_sessions, CS_STR("default"), 3, 3);
    assert_int_equal(f->count, 2);
    assert_str_is(f->sessions[1].id, "ses_0");
}

/* Until it is settled, whatever becomes of its process; and it is known that it was released. */
static void a_durable_execution_is_in_it_until_it_is_settled(void **state)
{
    struct fixture *f = *state;
    struct cs_execution_row row = {.id = CS_STR("ex_1"),
                                   .tenant = CS_STR("default"),
                                   .session = CS_STR("ses_1"),
                                   .status = CS_STR("running"),
                                   .created = now(),
                                   .durable = true};
    add(f, "ses_1", "default", 10);
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    assert_int_equal(
        F(f, cs_store_session_hold, f_stored, CS_STR("default"), CS_STR("ses_1"), CS_STR("ex_1")),
        CS_OK);
    get(f, "ses_1", "default");
    assert_str_is(f->sessions[0].holder, "ex_1");
    assert_false(f->sessions[0].released);
    put(f, "ses_1", "default", 0, "", now());
    get(f, "ses_1", "default");
    assert_str_is(f->sessions[0].holder, "ex_1");
    assert_true(f->sessions[0].released);
    row.status = CS_STR("completed");
    row.envelope = CS_STR("{}");
    row.finished = now();
    assert_int_equal(F(f, cs_store_execution_settle, f_ended, &row, NULL), CS_OK);
    get(f, "ses_1", "default");
    assert_str_is(f->sessions[0].holder, "");
    assert_false(f->sessions[0].released);
    /* One that nobody knows keeps nobody out. */
    F(f, cs_store_session_hold, f_stored, CS_STR("default"), CS_STR("ses_1"), CS_STR("ex_2"));
    get(f, "ses_1", "default");
    assert_str_is(f->sessions[0].holder, "");
}

#define WITH(name) CS_TEST_WITH(name, f_setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(one_keeps_its_state),
        WITH(a_first_state_is_kept),
        WITH(who_comes_second_is_told),
        WITH(another_tenants_session_is_none),
        WITH(a_tenant_has_so_many_and_no_more),
        WITH(what_has_expired_is_missing_and_then_removed),
        WITH(an_execution_that_outlives_the_session_revives_it),
        WITH(lists_go_by_the_last_use_and_have_no_state),
        WITH(a_durable_execution_is_in_it_until_it_is_settled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
