/* A copy of all there is, while it is used: unpacked it is a store. */
#include "store/fixture.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

struct copy {
    char dir[64], file[128], to[128];
};

static int setup(void **state)
{
    f_setup(state);
    struct fixture *f = *state;
    cs_store_set_chain(f->store, &f_chain);
    return 0;
}

static void copy_init(struct copy *c, const char *name)
{
    strcpy(c->dir, "/tmp/caisson-backup-XXXXXX");
    assert_non_null(mkdtemp(c->dir));
    snprintf(c->file, sizeof c->file, "%s/%s", c->dir, name);
    snprintf(c->to, sizeof c->to, "%s/restored", c->dir);
    assert_int_equal(mkdir(c->to, 0700), 0);
}

static void copy_done(struct copy *c)
{
    cs_dir_remove(AT_FDCWD, c->dir);
}

static int files_in(const char *path)
{
    int count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; (e = readdir(dir));)
        count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void unpack(const struct copy *c)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execlp("tar", "tar", "-C", c->to, "-xf", c->file, NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void run_one(struct fixture *f, int n)
{
    char id[24];
    snprintf(id, sizeof id, "exec_%d", n);
    struct cs_execution_row row = f_execution(id, "default"), done = f_end_of(id, "default");
    const struct cs_entry one = f_entry("execution.settled", id);
    struct cs_execution_more more = {.entries = &one, .entry_count = 1};
    cs_store_execution_admit(f->store, &row, NULL, NULL, NULL);
    cs_store_execution_settle(f->store, &done, &more, NULL, NULL);
}

struct linked {
    uint64_t count;
    unsigned char hash[32];
};

static bool on_entry(void *ctx, const struct cs_entry_row *row)
{
    struct linked *l = ctx;
    char prev[65], text[512];
    cs_hex(l->hash, 32, prev);
    snprintf(text, sizeof text, "%.*s", CS_STR_ARG(row->text));
    assert_non_null(strstr(text, prev));
    assert_int_equal(row->seq, ++l->count);
    memcpy(l->hash, row->hash, 32);
    return true;
}

static uint64_t moved, moved_of;

static void on_progress(void *ctx, uint64_t bytes, uint64_t of)
{
    (void)ctx;
    assert_true(bytes >= moved);
    moved = bytes;
    moved_of = of;
}

/* While others write, contents too: everything that the copy knows is in it. */
static void backup_of(struct fixture *f, const char *name)
{
    struct copy c;
    struct cs_err err = {0};
    char path[200];
    copy_init(&c, name);
    snprintf(path, sizeof path, "%s/ledger.key", f->dir);
    assert_int_equal(cs_file_replace(path, CS_STR("key"), 0600, &err), 0);
    snprintf(path, sizeof path, "%s/archive", f->dir);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/archive/ledger-1-9.jsonl.zst", f->dir);
    assert_int_equal(cs_file_replace(path, CS_STR("nine entries"), 0600, &err), 0);
    char *big = cs_calloc(200000, 1);
    F(f, cs_store_blob_put, f_blob, cs_strn(big, 200000));
    unsigned char first[32];
    memcpy(first, f->hash, 32);
    for (int i = 0; i < 300; i++)
        run_one(f, i);
    F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("exec_299"));
    moved = 0;
    f_begin(f);
    cs_store_backup(f->store, c.file, on_progress, f_stored, f);
    int n = 300;
    while (!f->done) {
        run_one(f, n++);
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(f->err.code, CS_OK);
    assert_true(moved > 0);
    assert_true(moved <= moved_of);
    struct stat st;
    assert_int_equal(stat(c.file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(files_in(c.dir), 2);
    /* Not twice under one name. */
    assert_int_equal(F(f, cs_store_backup, f_stored, c.file, NULL), CS_CONFLICT);
    f_close(f);
    unpack(&c);
    char dir[64];
    strcpy(dir, f->dir);
    snprintf(f->dir, sizeof f->dir, "%.63s", c.to);
    f_open(f);
    cs_store_set_chain(f->store, &f_chain);
    F(f, cs_store_execution_get, f_executions, CS_STR("default"), CS_STR("exec_299"));
    assert_str_is(f->executions[0].status, "completed");
    assert_int_equal(F(f, cs_store_blob_get, f_blob, first, 200000), CS_OK);
    assert_memory_equal(f->content.at, big, 200000);
    free(big);
    struct linked l = {0};
    snprintf(path, sizeof path, "%s/caisson.db", f->dir);
    assert_int_equal(
        cs_store_ledger_read(path, &(struct cs_ledger_filter){0}, NULL, on_entry, &l, &err), 0);
    assert_true(l.count >= 300);
    assert_string_equal(f_sql(f, "PRAGMA integrity_check"), "ok");
    snprintf(path, sizeof path, "%s/ledger.key", f->dir);
    assert_int_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/archive/ledger-1-9.jsonl.zst", f->dir);
    assert_int_equal(access(path, F_OK), 0);
    f_close(f);
    strcpy(f->dir, dir);
    copy_done(&c);
}

static void a_backup_is_a_store(void **state)
{
    backup_of(*state, "copy.tar");
}

static void a_compressed_backup_is_a_store(void **state)
{
    backup_of(*state, "copy.tar.zst");
}

static void a_backup_that_fails_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct copy c;
    copy_init(&c, "none/copy.tar");
    assert_code(F(f, cs_store_backup, f_stored, c.file, NULL), CS_SYSTEM, "none");
    assert_int_equal(files_in(c.dir), 1);
    /* A directory, a link to nowhere: something is there. */
    assert_int_equal(F(f, cs_store_backup, f_stored, c.to, NULL), CS_CONFLICT);
    snprintf(c.file, sizeof c.file, "%s/link", c.dir);
    assert_int_equal(symlink("/nowhere", c.file), 0);
    assert_int_equal(F(f, cs_store_backup, f_stored, c.file, NULL), CS_CONFLICT);
    copy_done(&c);
}

static int backup_without_room(struct fixture *f, const char *file)
{
    signal(SIGXFSZ, SIG_IGN);
    uv_loop_init(&f->loop);
    f_open(f);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){300000, 300000});
    int code = F(f, cs_store_backup, f_stored, file, NULL);
    f_close(f);
    return code == CS_SYSTEM ? 0 : 1;
}

static void a_backup_without_room_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct copy c;
    int status;
    copy_init(&c, "copy.tar");
    for (int i = 0; i < 3000; i++)
        run_one(f, i);
    f_close(f);
    pid_t child = fork();
    if (child == 0)
        _exit(backup_without_room(f, c.file));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(files_in(c.dir), 1);
    copy_done(&c);
}

#define WITH(name) CS_TEST_WITH(name, setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* It forks, and comes before there is a pool of threads. */
        WITH(a_backup_without_room_leaves_nothing),
        WITH(a_backup_is_a_store),
        WITH(a_compressed_backup_is_a_store),
        WITH(a_backup_that_fails_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
