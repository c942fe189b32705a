#include "test.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/own.h"
#include "tools/grants.h"

#define A  "https://a.example/mcp"
#define B  "https://b.example/mcp"
#define AS "https://as.example"

struct fixture {
    char dir[64], file[96], lock[128];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/caisson-grants-XXXXXX");
    if (!mkdtemp(f->dir))
        return -1;
    snprintf(f->file, sizeof f->file, "%s/oauth.json", f->dir);
    snprintf(f->lock, sizeof f->lock, "%s.lock", f->file);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    unlink(f->file);
    unlink(f->lock);
    int status = rmdir(f->dir);
    free(f);
    return status;
}

static void put(struct cs_grants *g, const char *server, const char *issuer, const char *token)
{
    struct cs_err err = {0};
    assert_int_equal(cs_grants_begin(g, &err), 0);
    struct cs_grant *n = cs_grants_make(g, server, issuer);
    cs_grant_set(&n->access, token);
    cs_grant_set(&n->client_id, "client");
    n->expires_at = 123;
    n->registered = true;
    assert_int_equal(cs_grants_commit(g, &err), 0);
}

static void what_is_stored_is_there_for_another_reader(void **state)
{
    struct fixture *f = *state;
    struct cs_grants *one, *two;
    assert_int_equal(cs_grants_open(f->dir, &one, NULL), 0);
    assert_int_equal(cs_grants_open(f->dir, &two, NULL), 0);
    assert_null(cs_grants_current(two, A));
    put(one, A, AS, "token \"quoted\" \xC3\xA4");
    assert_null(cs_grants_current(two, A));
    assert_int_equal(cs_grants_refresh(two, NULL), 0);
    struct cs_grant *g = cs_grants_current(two, A);
    assert_non_null(g);
    assert_string_equal(g->access, "token \"quoted\" \xC3\xA4");
    assert_string_equal(g->client_id, "client");
    assert_int_equal(g->expires_at, 123);
    assert_true(g->registered);
    assert_null(g->refresh);
    assert_null(cs_grants_current(two, B));
    struct stat st;
    assert_int_equal(stat(f->file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    cs_grants_free(one);
    cs_grants_free(two);
}

static void two_writers_lose_nothing(void **state)
{
    struct fixture *f = *state;
    struct cs_grants *one, *two;
    assert_int_equal(cs_grants_open(f->dir, &one, NULL), 0);
    assert_int_equal(cs_grants_open(f->dir, &two, NULL), 0);
    put(one, A, AS, "a");
    put(two, B, AS, "b");
    assert_int_equal(cs_grants_refresh(one, NULL), 0);
    assert_string_equal(cs_grants_current(one, A)->access, "a");
    assert_string_equal(cs_grants_current(one, B)->access, "b");
    cs_grants_free(one);
    cs_grants_free(two);
}

static void another_issuer_keeps_its_client_and_loses_its_token(void **state)
{
    struct fixture *f = *state;
    struct cs_grants *g;
    assert_int_equal(cs_grants_open(f->dir, &g, NULL), 0);
    put(g, A, AS, "old");
    put(g, A, "https://new.example", "new");
    assert_int_equal(cs_grants_refresh(g, NULL), 0);
    assert_string_equal(cs_grants_current(g, A)->access, "new");
    struct cs_grant *old = cs_grants_find(g, A, AS);
    assert_non_null(old);
    assert_null(old->access);
    assert_string_equal(old->client_id, "client");
    cs_grants_free(g);
}

static void a_logout_removes_all_of_one_server(void **state)
{
    struct fixture *f = *state;
    struct cs_grants *g;
    assert_int_equal(cs_grants_open(f->dir, &g, NULL), 0);
    put(g, A, AS, "a");
    put(g, B, AS, "b");
    assert_int_equal(cs_grants_begin(g, NULL), 0);
    cs_grant_set(&cs_grants_want(g, A, true)->scope, "x y");
    assert_int_equal(cs_grants_commit(g, NULL), 0);
    assert_int_equal(cs_grants_refresh(g, NULL), 0);
    assert_string_equal(cs_grants_want(g, A, false)->scope, "x y");
    assert_int_equal(cs_grants_begin(g, NULL), 0);
    assert_int_equal(cs_grants_remove(g, A), 1);
    assert_int_equal(cs_grants_commit(g, NULL), 0);
    assert_int_equal(cs_grants_refresh(g, NULL), 0);
    assert_null(cs_grants_find(g, A, AS));
    assert_null(cs_grants_want(g, A, false));
    assert_non_null(cs_grants_current(g, B));
    cs_grants_free(g);
}

static void a_file_that_is_broken_is_named_and_left_alone(void **state)
{
    struct fixture *f = *state;
    struct cs_grants *g = NULL;
    struct cs_err err = {0};
    FILE *out = fopen(f->file, "w");
    fputs("{\"grants\": [", out);
    fclose(out);
    assert_int_equal(cs_grants_open(f->dir, &g, &err), -1);
    assert_non_null(strstr(err.msg, "oauth.json"));
    struct stat st;
    assert_int_equal(stat(f->file, &st), 0);
    assert_int_equal(st.st_size, 12);
    out = fopen(f->file, "w");
    fputs("{\"grants\":[{\"server\":5},{},7],\"challenges\":{\"a\":1},\"other\":null}", out);
    fclose(out);
    assert_int_equal(cs_grants_open(f->dir, &g, &err), 0);
    assert_null(g->all);
    cs_grants_free(g);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(what_is_stored_is_there_for_another_reader),
        T(two_writers_lose_nothing),
        T(another_issuer_keeps_its_client_and_loses_its_token),
        T(a_logout_removes_all_of_one_server),
        T(a_file_that_is_broken_is_named_and_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
