/* The queue, the commit, the file, and several at one file. */
#include "store/fixture.h"

#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <time.h>

#include "store/inside.h"

/* --- queue and commit --- */

struct order {
    int next, wrong, busy;
};

static struct order order;

static void in_order(void *ctx, const struct cs_err *err, const unsigned char hash[32])
{
    (void)hash;
    order.wrong += err->code != CS_OK || (int)(intptr_t)ctx != order.next;
    order.next++;
}

static void answers_come_in_the_order_of_the_questions(void **state)
{
    struct fixture *f = *state;
    order = (struct order){0};
    for (int i = 0; i < 6000; i++) {
        char id[24];
        snprintf(id, sizeof id, "exec_%d", i / 2);
        struct cs_execution_row row = i % 2 ? f_end_of(id, "default") : f_execution(id, "default");
        if (i % 2)
            cs_store_execution_settle(f->store, &row, NULL, in_order, (void *)(intptr_t)(i / 2));
        else
            cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
    }
    assert_int_equal(order.next, 0);
    f_close(f);
    assert_int_equal(order.next, 3000);
    assert_int_equal(order.wrong, 0);
}

static void one_that_fails_takes_no_other_with_it(void **state)
{
    struct fixture *f = *state;
    struct cs_execution_row a = f_execution("exec_a", "default"), b = f_execution("exec_b", "x");
    cs_store_execution_admit(f->store, &a, NULL, NULL, NULL);
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &a, NULL), CS_BUG);
    cs_store_execution_admit(f->store, &b, NULL, NULL, NULL);
    assert_int_equal(
        F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("exec_a")), CS_OK);
    assert_int_equal(F(f, cs_store_execution_get, f_executions, CS_STR("x"), CS_STR("exec_b")),
                     CS_OK);
}

static void busy(void *ctx, const struct cs_err *err)
{
    (void)ctx;
    order.busy += err->code == CS_BUSY;
    order.next++;
}

static void what_waits_is_bounded(void **state)
{
    struct fixture *f = *state;
    order = (struct order){0};
    for (int i = 0; i < CS_STORE_OPS + 100; i++)
        cs_store_session_end(f->store, CS_STR("t"), CS_STR("x"), busy, NULL);
    f_begin(f);
    f_close(f);
    assert_int_equal(order.next, CS_STORE_OPS + 100);
    assert_int_equal(order.busy, 100);
}

static void its_bytes_are_bounded_too(void **state)
{
    struct fixture *f = *state;
    size_t size = CS_STORE_BYTES / 2 + 1000;
    char *big = cs_calloc(size, 1);
    order = (struct order){0};
    for (int i = 0; i < 2; i++)
        cs_store_session_put(f->store, CS_STR("t"), CS_STR("x"), 0, cs_strn(big, size), 0, busy,
                             NULL);
    f_close(f);
    free(big);
    assert_int_equal(order.next, 2);
    assert_int_equal(order.busy, 1);
}

static void ask_more(void *ctx, const struct cs_err *err)
{
    struct fixture *f = ctx;
    order.next++;
    order.wrong += err->code != (order.next == 1 ? CS_MISSING : CS_SYSTEM);
    if (order.next < 3)
        cs_store_session_end(f->store, CS_STR("t"), CS_STR("x"), ask_more, f);
}

static void who_asks_while_it_closes_is_answered(void **state)
{
    struct fixture *f = *state;
    order = (struct order){0};
    cs_store_session_end(f->store, CS_STR("t"), CS_STR("x"), ask_more, f);
    f_close(f);
    assert_int_equal(order.next, 3);
    assert_int_equal(order.wrong, 0);
}

static void what_was_committed_is_there_after_a_restart(void **state)
{
    struct fixture *f = *state;
    struct cs_execution_row row = f_execution("exec_a", "default");
    cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
    row = f_end_of("exec_a", "default");
    cs_store_execution_settle(f->store, &row, NULL, NULL, NULL);
    f_close(f);
    f_open(f);
    F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("exec_a"));
    assert_str_is(f->executions[0].status, "completed");
}

/* --- several at one file --- */

static void write_some(const char *dir, const char *who, int count)
{
    struct fixture f = {0};
    strcpy(f.dir, dir);
    uv_loop_init(&f.loop);
    f_open(&f);
    order = (struct order){0};
    for (int i = 0; i < count; i++) {
        char id[40];
        snprintf(id, sizeof id, "%s_%d", who, i);
        struct cs_execution_row row = f_execution(id, "default"), done = f_end_of(id, "default");
        cs_store_execution_admit(f.store, &row, NULL, NULL, NULL);
        cs_store_execution_settle(f.store, &done, NULL, in_order, (void *)(intptr_t)i);
        if (i % 10 == 0)
            uv_run(&f.loop, UV_RUN_NOWAIT);
    }
    f_close(&f);
    uv_loop_close(&f.loop);
    _exit(order.wrong || order.next != count);
}

static void processes_share_it(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"a", "b", "c"};
    pid_t children[3];
    /* They open it at the same time too: nothing is there yet. */
    f_close(f);
    cs_dir_remove(AT_FDCWD, f->dir);
    assert_int_equal(mkdir(f->dir, 0700), 0);
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        if (children[i] == 0)
            write_some(f->dir, names[i], 400);
    }
    for (int i = 0; i < 3; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    f_open(f);
    size_t found = 0;
    struct cs_execution_filter filter = {.limit = 500, .status = CS_STR("completed")};
    do {
        F(f, cs_store_executions, f_executions, CS_STR("default"), &filter);
        found += f->count;
        if (f->count)
            filter.before = f->executions[f->count - 1].id;
    } while (f->count);
    assert_int_equal(found, 1200);
}

static void a_key_is_used_once_among_all_processes(void **state)
{
    struct fixture *f = *state, g = {0};
    strcpy(g.dir, f->dir);
    uv_loop_init(&g.loop);
    f_open(&g);
    struct cs_execution_row row = f_execution("exec_a", "default");
    row.key = CS_STR("once");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    row.id = CS_STR("exec_b");
    assert_int_equal(F(&g, cs_store_execution_admit, f_executions, &row, NULL), CS_CONFLICT);
    assert_str_is(g.executions[0].id, "exec_a");
    f_close(&g);
    uv_loop_close(&g.loop);
    cs_arena_done(&g.arena);
}

struct beside {
    const char *dir;
    int failed;
};

static void run_beside(void *arg)
{
    struct beside *b = arg;
    struct fixture f = {0};
    strcpy(f.dir, b->dir);
    uv_loop_init(&f.loop);
    f_open(&f);
    for (int i = 0; i < 100; i++) {
        char id[40];
        snprintf(id, sizeof id, "beside_%d", i);
        struct cs_execution_row row = f_execution(id, "default");
        b->failed += F(&f, cs_store_execution_admit, f_executions, &row, NULL) != CS_OK;
    }
    f_close(&f);
    uv_loop_close(&f.loop);
    cs_arena_done(&f.arena);
}

static void two_stores_of_one_process_share_it(void **state)
{
    struct fixture *f = *state;
    struct beside b = {.dir = f->dir};
    uv_thread_t thread;
    assert_int_equal(uv_thread_create(&thread, run_beside, &b), 0);
    for (int i = 0; i < 100; i++) {
        char id[24];
        snprintf(id, sizeof id, "exec_%d", i);
        struct cs_execution_row row = f_execution(id, "default");
        assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    }
    uv_thread_join(&thread);
    assert_int_equal(b.failed, 0);
    struct cs_execution_filter filter = {.limit = 500};
    F(f, cs_store_executions, f_executions, CS_STR("default"), &filter);
    assert_int_equal(f->count, 200);
}

/* It would be the last one to close it, if ours were not seen, and remove the log. */
static void look_and_close(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_open(path, &db);
    sqlite3_exec(db, "SELECT count(*) FROM keys", NULL, NULL, NULL);
    sqlite3_close(db);
    _exit(0);
}

/* POSIX locks belong to the process: whoever closes any descriptor of the file loses them all. */
static void a_store_that_opens_leaves_the_other_its_locks(void **state)
{
    struct fixture *f = *state, g = {0};
    char path[128], byte = 0;
    int pipes[2], status;
    snprintf(path, sizeof path, "%s/caisson.db", f->dir);
    f_close(f);
    assert_int_equal(pipe(pipes), 0);
    /* A child of now: a later one would inherit what SQLite knows of our locks. */
    pid_t child = fork();
    if (child == 0 && read(pipes[0], &byte, 1) == 1)
        look_and_close(path);
    f_open(f);
    struct cs_execution_row row = f_execution("exec_a", "default");
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    strcpy(g.dir, f->dir);
    uv_loop_init(&g.loop);
    f_open(&g);
    f_close(&g);
    uv_loop_close(&g.loop);
    assert_int_equal(write(pipes[1], &byte, 1), 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(pipes[0]);
    close(pipes[1]);
    strcat(path, "-wal");
    assert_int_equal(access(path, F_OK), 0);
}

/* --- a sudden end --- */

static int told_to;

static void tell_outside(void *ctx, const struct cs_err *err, const unsigned char hash[32])
{
    (void)hash;
    int32_t n = (int32_t)(intptr_t)ctx;
    if (err->code || write(told_to, &n, sizeof n) != (ssize_t)sizeof n)
        _exit(1);
}

static void write_until_killed(const char *dir, int round)
{
    struct fixture f = {0};
    strcpy(f.dir, dir);
    uv_loop_init(&f.loop);
    f_open(&f);
    for (int i = 0;; i++) {
        char id[40];
        snprintf(id, sizeof id, "r%d_%d", round, i);
        struct cs_execution_row row = f_execution(id, "default"), done = f_end_of(id, "default");
        cs_store_execution_admit(f.store, &row, NULL, NULL, NULL);
        cs_store_execution_settle(f.store, &done, NULL, tell_outside, (void *)(intptr_t)i);
        if (i % 20 == 0)
            uv_run(&f.loop, UV_RUN_ONCE);
    }
}

/* Whatever was told is there, whenever the process is killed. */
static void what_was_told_survives_a_kill(void **state)
{
    struct fixture *f = *state;
    for (int round = 0; round < 3; round++) {
        int pipes[2], status;
        int32_t n, last = -1;
        f_close(f);
        assert_int_equal(pipe(pipes), 0);
        pid_t child = fork();
        if (child == 0) {
            told_to = pipes[1];
            write_until_killed(f->dir, round);
        }
        close(pipes[1]);
        while (last < 300 * (round + 1) && read(pipes[0], &n, sizeof n) == (ssize_t)sizeof n)
            last = n;
        kill(child, SIGKILL);
        while (read(pipes[0], &n, sizeof n) == (ssize_t)sizeof n)
            last = n;
        close(pipes[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(last >= 300);
        f_open(f);
        for (int i = 0; i <= last; i++) {
            char id[40];
            snprintf(id, sizeof id, "r%d_%d", round, i);
            F(f, cs_store_execution_get, f_executions, CS_STR("default"), cs_str(id));
            assert_int_equal(f->err.code, CS_OK);
            assert_str_is(f->executions[0].status, "completed");
        }
        struct cs_execution_filter filter = {.limit = 10, .status = CS_STR("running")};
        F(f, cs_store_executions, f_executions, CS_STR("default"), &filter);
        assert_int_equal(f->count, 0);
    }
    assert_string_equal(f_sql(f, "PRAGMA integrity_check"), "ok");
}

/* --- the file --- */

static void it_is_for_us_alone_to_read(void **state)
{
    struct fixture *f = *state;
    static const char *const names[] = {"caisson.db", "caisson.db-wal", "caisson.db-shm"};
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", f->dir, names[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
    char path[128];
    snprintf(path, sizeof path, "%s/caisson.db", f->dir);
    f_close(f);
    assert_int_equal(chmod(path, 0644), 0);
    f_open(f);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* Opening fails, and `text` is among what it says. */
static void refused(struct fixture *f, const char *text)
{
    struct cs_err err = {0};
    struct cs_store *store = NULL;
    assert_int_equal(cs_store_open(&f->loop, f->dir, &store, &err), -1);
    assert_int_equal(err.code, CS_SYSTEM);
    assert_contains(err.msg, text);
    assert_contains(err.msg, f->dir);
}

static void a_file_that_is_none_of_ours_is_refused(void **state)
{
    struct fixture *f = *state;
    char path[128];
    struct cs_err err = {0};
    f_close(f);
    snprintf(path, sizeof path, "%s/caisson.db", f->dir);
    char noise[8192];
    memset(noise, 'z', sizeof noise);
    assert_int_equal(cs_file_replace(path, cs_strn(noise, sizeof noise), 0600, &err), 0);
    refused(f, "no database of ours");
    /* And it is left as it was. */
    CS_AUTO_BUF struct cs_buf now = {0};
    assert_int_equal(cs_file_read(path, 10000, &now, &err), 0);
    assert_int_equal(now.len, sizeof noise);
}

static void a_damaged_file_is_told_as_damaged(void **state)
{
    struct fixture *f = *state;
    char path[128], noise[4096];
    f_close(f);
    snprintf(path, sizeof path, "%s/caisson.db", f->dir);
    memset(noise, 0xFF, sizeof noise);
    int fd = open(path, O_RDWR);
    /* The pages after the first: the tables are there, and cannot be read. */
    for (int page = 1; page < 40; page++)
        assert_int_equal(pwrite(fd, noise, sizeof noise, page * 4096), sizeof noise);
    close(fd);
    refused(f, "damaged");
}

static void a_newer_version_is_refused(void **state)
{
    struct fixture *f = *state;
    f_close(f);
    f_sql(f, "PRAGMA user_version = 9999");
    refused(f, "version 9999");
}

static void a_directory_that_is_not_there_is_refused(void **state)
{
    struct fixture *f = *state;
    char dir[64];
    f_close(f);
    strcpy(dir, f->dir);
    strcat(f->dir, "/none");
    refused(f, "cannot be");
    strcpy(f->dir, dir);
}

/* Root may write where nobody may, so that it must be somebody else who tries. */
static void a_directory_that_cannot_be_written_is_refused(void **state)
{
    struct fixture *f = *state;
    f_close(f);
    pid_t child = fork();
    if (child == 0) {
        chmod(f->dir, 0555);
        if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
            _exit(77);
        struct cs_err err = {0};
        struct cs_store *store = NULL;
        _exit(cs_store_open(&f->loop, f->dir, &store, &err) == -1 && err.code == CS_SYSTEM &&
                      strstr(err.msg, "cannot be written") && strstr(err.msg, "caisson.db")
                  ? 0
                  : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    chmod(f->dir, 0700);
    assert_int_equal(status, 0);
}

/* Whoever holds the lock for too long is reported, and when it lets go all is well again. */
static void a_locked_file_makes_changes_fail_and_reads_work(void **state)
{
    struct fixture *f = *state;
    struct cs_execution_row row = f_execution("exec_a", "default");
    cs_store_patience(f->store, 50);
    F(f, cs_store_execution_admit, f_executions, &row, NULL);
    char path[128];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/caisson.db", f->dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    row.id = CS_STR("exec_b");
    cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
    assert_int_equal(
        F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("exec_a")), CS_OK);
    assert_code(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_SYSTEM,
                "another process");
    struct cs_err err = {0};
    cs_store_health(f->store, &err);
    assert_int_equal(err.code, CS_SYSTEM);
    assert_contains(err.msg, "caisson.db");
    sqlite3_close(db);
    assert_int_equal(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_OK);
    cs_store_health(f->store, &err);
    assert_int_equal(err.code, CS_OK);
}

static void a_batch_that_is_undone_is_done_again_one_by_one(void **state)
{
    struct fixture *f = *state;
    /* A trigger stands for whatever may end a whole transaction. */
    f_sql(f,
          "CREATE TRIGGER t BEFORE INSERT ON executions BEGIN SELECT RAISE(ROLLBACK, 'full'); END");
    struct cs_execution_row row = f_execution("exec_a", "default");
    struct cs_key_row key = {
        .id = CS_STR("k"), .name = CS_STR("k"), .tenant = CS_STR("t"), .role = CS_STR("admin")};
    f_begin(f);
    cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
    cs_store_key_add(f->store, &key, NULL, NULL);
    assert_code(F(f, cs_store_execution_admit, f_executions, &row, NULL), CS_SYSTEM, "full");
    /* The transaction went, and yet what was asked for with it was done. */
    assert_int_equal(F(f, cs_store_key_get, f_keys, CS_STR("k")), CS_OK);
}

/* Until a change fails; what it failed of, and how many did not. */
static struct cs_err fill(struct fixture *f, int *told)
{
    char *big = cs_calloc(20001, 1);
    memset(big, 'x', 20000);
    for (int i = *told = 0; i < 1000; i++, ++*told) {
        char id[24];
        snprintf(id, sizeof id, "exec_%d", i);
        struct cs_execution_row row = f_execution(id, "default");
        row.intent = cs_strn(big, 20000);
        if (F(f, cs_store_execution_admit, f_executions, &row, NULL) != CS_OK)
            break;
    }
    free(big);
    return f->err;
}

static bool put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    bool fine = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return fine;
}

/* May we mount? Root may, and everybody in a user namespace of their own. */
static bool own_mounts(void)
{
    char uid[40], gid[40];
    snprintf(uid, sizeof uid, "0 %d 1", (int)geteuid());
    snprintf(gid, sizeof gid, "0 %d 1", (int)getegid());
    if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0)
        return true;
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put("/proc/self/setgroups", "deny") &&
           put("/proc/self/uid_map", uid) && put("/proc/self/gid_map", gid);
}

static int on_a_full_disk(const char *dir, const char *ballast)
{
    struct fixture f = {0};
    struct cs_err err = {0};
    char path[128];
    if (!own_mounts() || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", dir, "tmpfs", 0, "size=9m") < 0)
        return 77;
    strcpy(f.dir, dir);
    uv_loop_init(&f.loop);
    f_open(&f);
    snprintf(path, sizeof path, "%s/%s", dir, ballast);
    char *zeros = cs_calloc(6 << 20, 1);
    if (cs_file_replace(path, cs_strn(zeros, 6 << 20), 0600, &err) < 0)
        return 10;
    free(zeros);
    int told;
    err = fill(&f, &told);
    if (err.code != CS_SYSTEM || !strstr(err.msg, "disk is full") || !strstr(err.msg, dir))
        return 11;
    cs_store_health(f.store, &err);
    if (err.code != CS_SYSTEM)
        return 12;
    struct cs_str a = CS_STR("exec_0");
    if (F(&f, cs_store_execution_get, f_executions, CS_STR("default"), a) != CS_OK)
        return 13;
    /* New work is refused, blobs too, and no file is left halfway. */
    struct cs_execution_row row = f_execution("exec_new", "default");
    char *large = cs_calloc(2 << 20, 1);
    for (int i = 0; i < 2 << 20; i++)
        large[i] = (char)((unsigned)i * 7919u >> 5 ^ (unsigned)i);
    if (F(&f, cs_store_execution_admit, f_executions, &row, NULL) != CS_SYSTEM)
        return 15;
    if (F(&f, cs_store_blob_put, f_blob, cs_strn(large, 2 << 20)) != CS_SYSTEM ||
        !strstr(f.err.msg, "disk is full"))
        return 16;
    free(large);
    /* Room is made, and it gets well without being asked for anything. */
    unlink(path);
    for (int i = 0; i < 600 && err.code; i++) {
        uv_run(&f.loop, UV_RUN_NOWAIT);
        cs_store_health(f.store, &err);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    if (err.code)
        return 14;
    /* Whatever was told is there, also for who opens it anew. */
    f_close(&f);
    f_open(&f);
    struct cs_execution_filter filter = {.limit = 1000};
    F(&f, cs_store_executions, f_executions, CS_STR("default"), &filter);
    return f.count == (size_t)told ? 0 : 17;
}

static void a_full_disk_is_told_and_forgiven(void **state)
{
    struct fixture *f = *state;
    f_close(f);
    pid_t child = fork();
    if (child == 0)
        _exit(on_a_full_disk(f->dir, "ballast"));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

/* A file may grow no further: as a full disk, but of the process alone. */
static int in_a_small_file(struct fixture *f)
{
    int told;
    signal(SIGXFSZ, SIG_IGN);
    uv_loop_init(&f->loop);
    f_open(f);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1500000, 1500000});
    struct cs_err err = fill(f, &told);
    if (err.code != CS_SYSTEM || !strstr(err.msg, f->dir) || !told)
        return 11;
    struct cs_execution_filter filter = {.limit = 1000};
    F(f, cs_store_executions, f_executions, CS_STR("default"), &filter);
    if (f->count != (size_t)told)
        return 12;
    cs_store_health(f->store, &err);
    return err.code == CS_SYSTEM ? told : 13;
}

static void a_file_that_cannot_grow_loses_nothing(void **state)
{
    struct fixture *f = *state;
    int status;
    f_close(f);
    pid_t child = fork();
    if (child == 0)
        _exit(in_a_small_file(f));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) > 13);
    f_open(f);
    struct cs_execution_filter filter = {.limit = 1000};
    F(f, cs_store_executions, f_executions, CS_STR("default"), &filter);
    assert_int_equal(f->count, WEXITSTATUS(status));
}

/* Somebody overwrites the file while it is used: it is told, and nothing crashes. */
static void a_file_that_is_damaged_in_use_is_told(void **state)
{
    struct fixture *f = *state;
    char path[128], noise[4096];
    for (int i = 0; i < 2000; i++) {
        char id[24];
        snprintf(id, sizeof id, "exec_%d", i);
        struct cs_execution_row row = f_execution(id, "default");
        cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
    }
    f_close(f);
    f_open(f);
    snprintf(path, sizeof path, "%s/caisson.db", f->dir);
    memset(noise, 0xFF, sizeof noise);
    int fd = open(path, O_RDWR), bad = 0;
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t at = 4096; at < st.st_size; at += 4096)
        assert_int_equal(pwrite(fd, noise, sizeof noise, at), sizeof noise);
    for (int i = 0; i < 20; i++) {
        char id[24];
        snprintf(id, sizeof id, "new_%d", i);
        struct cs_execution_row row = f_execution(id, "default");
        if (F(f, cs_store_execution_admit, f_executions, &row, NULL) == CS_OK)
            continue;
        bad++;
        assert_int_equal(f->err.code, CS_SYSTEM);
        assert_contains(f->err.msg, "damaged");
    }
    close(fd);
    assert_true(bad > 0);
    struct cs_err err = {0};
    cs_store_health(f->store, &err);
    assert_int_equal(err.code, CS_SYSTEM);
}

static size_t log_size(struct fixture *f)
{
    char path[128];
    struct stat st = {0};
    snprintf(path, sizeof path, "%s/caisson.db-wal", f->dir);
    return stat(path, &st) < 0 ? 0 : (size_t)st.st_size;
}

/* 80 MB without a pause: they do not stay in the log. */
static void the_log_does_not_grow_for_ever(void **state)
{
    struct fixture *f = *state;
    size_t most = 0;
    char *big = cs_calloc(100001, 1);
    memset(big, 'x', 100000);
    order = (struct order){0};
    for (int i = 0; i < 800; i++) {
        char id[24];
        snprintf(id, sizeof id, "exec_%d", i);
        struct cs_execution_row row = f_execution(id, "default"), done = f_end_of(id, "default");
        done.envelope = cs_strn(big, 100000);
        cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
        cs_store_execution_settle(f->store, &done, NULL, in_order, (void *)(intptr_t)i);
        while (order.next < i - 10)
            uv_run(&f->loop, UV_RUN_ONCE);
        most = log_size(f) > most ? log_size(f) : most;
    }
    free(big);
    f_close(f);
    assert_int_equal(order.wrong, 0);
    assert_true(most > 4 << 20);
    assert_in_range(most, 4 << 20, 60 << 20);
    assert_int_equal(log_size(f), 0);
}

#define WITH(name) CS_TEST_WITH(name, f_setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(answers_come_in_the_order_of_the_questions),
        WITH(one_that_fails_takes_no_other_with_it),
        WITH(what_waits_is_bounded),
        WITH(its_bytes_are_bounded_too),
        WITH(who_asks_while_it_closes_is_answered),
        WITH(what_was_committed_is_there_after_a_restart),
        WITH(processes_share_it),
        WITH(a_key_is_used_once_among_all_processes),
        WITH(two_stores_of_one_process_share_it),
        WITH(a_store_that_opens_leaves_the_other_its_locks),
        WITH(what_was_told_survives_a_kill),
        WITH(it_is_for_us_alone_to_read),
        WITH(a_file_that_is_none_of_ours_is_refused),
        WITH(a_damaged_file_is_told_as_damaged),
        WITH(a_newer_version_is_refused),
        WITH(a_directory_that_is_not_there_is_refused),
        WITH(a_directory_that_cannot_be_written_is_refused),
        WITH(a_locked_file_makes_changes_fail_and_reads_work),
        WITH(a_full_disk_is_told_and_forgiven),
        WITH(a_file_that_cannot_grow_loses_nothing),
        WITH(a_file_that_is_damaged_in_use_is_told),
        WITH(the_log_does_not_grow_for_ever),
        WITH(a_batch_that_is_undone_is_done_again_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
