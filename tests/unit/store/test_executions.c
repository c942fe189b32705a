#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>

#include "base/json.h"
#include "store/fixture.h"

static const struct cs_str mine = {"default", 7};

static int begin(struct fixture *f, const char *id, const char *tenant)
{
    struct cs_execution_row row = f_execution(id, tenant);
    return F(f, cs_store_execution_admit, f_executions, &row, NULL);
}

static int end(struct fixture *f, const char *id, const char *tenant)
{
    struct cs_execution_row row = f_end_of(id, tenant);
    return F(f, cs_store_execution_settle, f_ended, &row, NULL);
}

static int get(struct fixture *f, const char *id, const char *tenant)
{
    return F(f, cs_store_execution_get, f_executions, cs_str(tenant), cs_str(id));
}

static int list(struct fixture *f, struct cs_execution_filter filter)
{
    return F(f, cs_store_executions, f_executions, mine, &filter);
}

static void one_begins_and_ends_and_can_be_read_all_the_while(void **state)
{
    struct fixture *f = *state;
    struct cs_execution_row row = f_execution("exec_1", "default");
    row.session = CS_STR("ses_1");
    row.intent = CS_STR("count the \xC3\xA4pples");
    row.key = CS_STR("k1");
    row.fingerprint = CS_STR("f1");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    assert_int_equal(f->count, 0);
    assert_int_equal(get(f, "exec_1", "default"), CS_OK);
    assert_str_is(f->executions[0].status, "running");
    assert_str_is(f->executions[0].envelope, "");
    assert_str_is(f->executions[0].intent, "count the \xC3\xA4pples");
    assert_str_is(f->executions[0].session, "ses_1");
    assert_str_is(f->executions[0].key, "k1");
    assert_str_is(f->executions[0].fingerprint, "f1");
    assert_int_equal(f->executions[0].created, 1000);
    assert_int_equal(f->executions[0].finished, 0);

    struct cs_execution_row done = f_end_of("exec_1", "default");
    done.status = CS_STR("failed");
    done.error_type = CS_STR("runtime_error");
    assert_int_equal(F(f, cs_store_execution_settle, f_ended, &done, NULL), CS_OK);
    assert_int_equal(get(f, "exec_1", "default"), CS_OK);
    assert_str_is(f->executions[0].status, "failed");
    assert_str_is(f->executions[0].error_type, "runtime_error");
    assert_str_is(f->executions[0].envelope, "{\"status\":\"completed\"}");
    assert_str_is(f->executions[0].language, "typescript");
    assert_int_equal(f->executions[0].finished, 2000);
}

static void one_ends_once(void **state)
{
    struct fixture *f = *state;
    assert_code(end(f, "exec_1", "default"), CS_MISSING, "exec_1");
    begin(f, "exec_1", "default");
    assert_int_equal(end(f, "exec_1", "default"), CS_OK);
    assert_code(end(f, "exec_1", "default"), CS_MISSING, "no execution 'exec_1' is running");
}

static void an_id_begins_once(void **state)
{
    struct fixture *f = *state;
    begin(f, "exec_1", "default");
    assert_code(begin(f, "exec_1", "default"), CS_BUG, "exec_1");
    assert_int_equal(f->count, 0);
}

static void another_tenants_execution_is_none(void **state)
{
    struct fixture *f = *state;
    begin(f, "exec_1", "theirs");
    assert_code(get(f, "exec_1", "default"), CS_MISSING, "no execution 'exec_1'");
    assert_int_equal(f->count, 0);
    assert_int_equal(end(f, "exec_1", "default"), CS_MISSING);
    assert_int_equal(list(f, (struct cs_execution_filter){.limit = 10}), CS_OK);
    assert_int_equal(f->count, 0);
    assert_int_equal(list(f, (struct cs_execution_filter){.limit = 10, .before = CS_STR("exec_1")}),
                     CS_MISSING);
    assert_int_equal(end(f, "exec_1", "theirs"), CS_OK);
}

static void a_key_stands_for_one_execution_for_a_day(void **state)
{
    struct fixture *f = *state;
    struct cs_execution_row row = f_execution("exec_1", "default");
    const int64_t day = 86400000;
    row.created = 1700000000000;
    row.key = CS_STR("again");
    row.fingerprint = CS_STR("one");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    row.id = CS_STR("exec_2");
    row.fingerprint = CS_STR("two");
    row.created += day - 1;
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_CONFLICT);
    assert_int_equal(f->count, 1);
    assert_str_is(f->executions[0].id, "exec_1");
    assert_str_is(f->executions[0].fingerprint, "one");
    assert_str_is(f->executions[0].status, "running");

    assert_int_equal(end(f, "exec_1", "default"), CS_OK);
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_CONFLICT);
    assert_str_is(f->executions[0].envelope, "{\"status\":\"completed\"}");
    assert_int_equal(get(f, "exec_2", "default"), CS_MISSING);

    row.tenant = CS_STR("theirs");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    row.tenant = mine;
    row.id = CS_STR("exec_3");
    row.created += 1;
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    row.id = CS_STR("exec_4");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_CONFLICT);
    assert_str_is(f->executions[0].id, "exec_3");
}

static void what_is_dropped_was_never_there(void **state)
{
    struct fixture *f = *state;
    struct cs_execution_row row = f_execution("exec_1", "default");
    row.key = CS_STR("again");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    assert_int_equal(F(f, cs_store_execution_drop, f_stored, CS_STR("theirs"), row.id), CS_MISSING);
    assert_int_equal(F(f, cs_store_execution_drop, f_stored, mine, row.id), CS_OK);
    assert_int_equal(get(f, "exec_1", "default"), CS_MISSING);
    row.id = CS_STR("exec_2");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    assert_int_equal(end(f, "exec_2", "default"), CS_OK);
    assert_int_equal(F(f, cs_store_execution_drop, f_stored, mine, row.id), CS_MISSING);
    assert_int_equal(get(f, "exec_2", "default"), CS_OK);
}

static void without_a_key_nothing_conflicts(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(begin(f, "exec_1", "default"), CS_OK);
    assert_int_equal(begin(f, "exec_2", "default"), CS_OK);
}

static void lists_are_newest_first_and_come_in_pages(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 25; i++) {
        char id[24];
        snprintf(id, sizeof id, "exec_%02d", i);
        struct cs_execution_row row = f_execution(id, "default"), done = f_end_of(id, "default");
        row.session = i % 5 == 0 ? CS_STR("ses_1") : CS_STR("");
        done.status = i % 2 ? CS_STR("completed") : CS_STR("failed");
        cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
        if (i < 24)
            cs_store_execution_settle(f->store, &done, NULL, NULL, NULL);
    }
    list(f, (struct cs_execution_filter){.limit = 10});
    assert_int_equal(f->count, 10);
    assert_str_is(f->executions[0].id, "exec_24");
    assert_str_is(f->executions[9].id, "exec_15");
    assert_str_is(f->executions[9].envelope, "");
    list(f, (struct cs_execution_filter){.limit = 10, .before = CS_STR("exec_15")});
    assert_str_is(f->executions[0].id, "exec_14");
    list(f, (struct cs_execution_filter){.limit = 10, .before = CS_STR("exec_05")});
    assert_int_equal(f->count, 5);
    assert_str_is(f->executions[4].id, "exec_00");
    list(f, (struct cs_execution_filter){.limit = 10, .before = CS_STR("exec_00")});
    assert_int_equal(f->count, 0);

    list(f, (struct cs_execution_filter){.limit = 10, .session = CS_STR("ses_1")});
    assert_int_equal(f->count, 5);
    assert_str_is(f->executions[0].id, "exec_20");
    list(f, (struct cs_execution_filter){.limit = 100, .status = CS_STR("failed")});
    assert_int_equal(f->count, 12);
    list(f, (struct cs_execution_filter){.limit = 100, .status = CS_STR("running")});
    assert_int_equal(f->count, 1);
    struct cs_execution_filter both = {
        .limit = 1, .status = CS_STR("failed"), .session = CS_STR("ses_1")};
    list(f, both);
    assert_str_is(f->executions[0].id, "exec_20");
    both.before = f->executions[0].id;
    list(f, both);
    assert_str_is(f->executions[0].id, "exec_10");
}

static void a_list_is_bounded(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 1100; i++) {
        char id[24];
        snprintf(id, sizeof id, "exec_%04d", i);
        struct cs_execution_row row = f_execution(id, "default");
        cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
    }
    list(f, (struct cs_execution_filter){.limit = SIZE_MAX});
    assert_int_equal(f->count, 1000);
}

static void old_ones_are_forgotten_and_running_ones_are_not(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 1300; i++) {
        char id[24];
        snprintf(id, sizeof id, "exec_%04d", i);
        struct cs_execution_row row = f_execution(id, "default"), done = f_end_of(id, "default");
        done.finished = i;
        cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
        if (i != 7)
            cs_store_execution_settle(f->store, &done, NULL, NULL, NULL);
    }
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 1299), CS_OK);
    list(f, (struct cs_execution_filter){.limit = 100});
    /* 0: finished at no time, as far as anyone can tell */
    assert_int_equal(f->count, 3);
    assert_str_is(f->executions[0].id, "exec_1299");
    assert_str_is(f->executions[1].id, "exec_0007");
    assert_int_equal(get(f, "exec_0700", "default"), CS_MISSING);
}

/* --- those whose process is gone --- */

static void die_while_one_runs(const char *dir)
{
    struct fixture f = {0};
    strcpy(f.dir, dir);
    uv_loop_init(&f.loop);
    f_open(&f);
    struct cs_execution_row row = f_execution("exec_lost", "default");
    row.session = CS_STR("ses_\"1");
    cs_store_execution_admit(f.store, &row, NULL, f_executions, &f);
    f_wait(&f);
    _exit(f.err.code);
}

/* Files that say that somebody lives. */
static int owners(struct fixture *f)
{
    char path[128];
    int count = 0;
    snprintf(path, sizeof path, "%s/owners", f->dir);
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));)
        count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* Its pid. */
static pid_t another_dies(const struct fixture *f)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        die_while_one_runs(f->dir);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return child;
}

static void what_a_dead_process_ran_is_cancelled(void **state)
{
    struct fixture *f = *state;
    begin(f, "exec_mine", "default");
    another_dies(f);
    get(f, "exec_lost", "default");
    assert_str_is(f->executions[0].status, "running");

    struct cs_store *other = f->store;
    f_open(f);
    assert_int_equal(get(f, "exec_lost", "default"), CS_OK);
    assert_str_is(f->executions[0].status, "cancelled");
    assert_str_is(f->executions[0].error_type, "internal_error");
    assert_true(f->executions[0].finished > 1700000000000);
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_json_parse(f->executions[0].envelope, NULL, &doc, &err), 0);
    struct cs_json_val root = cs_json_root(&doc);
    assert_true(cs_json_is(cs_json_get(root, "status"), "cancelled"));
    assert_true(cs_json_is(cs_json_get(root, "session_id"), "ses_\"1"));
    assert_true(cs_json_is(cs_json_get(cs_json_get(root, "error"), "message"),
                           "the daemon ended while this execution ran"));
    assert_int_equal(owners(f), 2);
    /* That of the store that is still open runs on. */
    get(f, "exec_mine", "default");
    assert_str_is(f->executions[0].status, "running");
    cs_store_close(other, NULL, NULL);
}

static void a_store_that_is_closed_is_gone_too(void **state)
{
    struct fixture *f = *state;
    begin(f, "exec_1", "default");
    f_close(f);
    f_open(f);
    get(f, "exec_1", "default");
    assert_str_is(f->executions[0].status, "cancelled");
}

static void the_living_notice_the_dead_when_they_tidy_up(void **state)
{
    struct fixture *f = *state;
    another_dies(f);
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 0), CS_OK);
    get(f, "exec_lost", "default");
    assert_str_is(f->executions[0].status, "cancelled");
}

/* Another process looks whether it lives, at the same time. */
static void who_looks_is_not_taken_for_who_died(void **state)
{
    struct fixture *f = *state;
    pid_t child = another_dies(f);
    char path[128], name[400], its[20];
    snprintf(path, sizeof path, "%s/owners", f->dir);
    snprintf(its, sizeof its, "%d-", (int)child);
    DIR *dir = opendir(path);
    int fd = -1;
    for (struct dirent *e; (e = readdir(dir));)
        if (strncmp(e->d_name, its, strlen(its)) == 0) {
            snprintf(name, sizeof name, "%s/%s", path, e->d_name);
            fd = open(name, O_RDWR | O_CLOEXEC);
        }
    closedir(dir);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_SH | LOCK_NB), 0);
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 0), CS_OK);
    get(f, "exec_lost", "default");
    assert_str_is(f->executions[0].status, "cancelled");
    close(fd);
}

#define WITH(name) CS_TEST_WITH(name, f_setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(one_begins_and_ends_and_can_be_read_all_the_while),
        WITH(one_ends_once),
        WITH(an_id_begins_once),
        WITH(another_tenants_execution_is_none),
        WITH(a_key_stands_for_one_execution_for_a_day),
        WITH(what_is_dropped_was_never_there),
        WITH(without_a_key_nothing_conflicts),
        WITH(lists_are_newest_first_and_come_in_pages),
        WITH(a_list_is_bounded),
        WITH(old_ones_are_forgotten_and_running_ones_are_not),
        WITH(what_a_dead_process_ran_is_cancelled),
        WITH(a_store_that_is_closed_is_gone_too),
        WITH(the_living_notice_the_dead_when_they_tidy_up),
        WITH(who_looks_is_not_taken_for_who_died),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
