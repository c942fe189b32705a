#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/folder.h"
#include "sandbox/roots.h"

struct fixture {
    char dir[64];
    struct cs_roots roots;
    struct cs_buf out;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->dir, sizeof f->dir, "/tmp/cs-roots-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    char path[128];
    snprintf(path, sizeof path, "%s/servers", f->dir);
    assert_int_equal(mkdir(path, 0700), 0);
    int servers = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct cs_limits limits = cs_limits_default();
    limits.scratch_bytes = 1000;
    limits.scratch_files = 5;
    snprintf(path, sizeof path, "%s/scratch", f->dir);
    cs_roots_init(&f->roots, path, servers, -1, &limits);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    cs_roots_done(&f->roots);
    char path[128];
    snprintf(path, sizeof path, "%s/scratch", f->dir);
    assert_int_equal(access(path, F_OK), -1); /* nothing is left */
    assert_int_equal(cs_folder_remove(AT_FDCWD, f->dir), 0);
    cs_buf_done(&f->out);
    free(f);
    return 0;
}

static enum cs_answer op(struct fixture *f, enum cs_file_op what, const char *path,
                         const char *data, uint32_t flags)
{
    cs_buf_clear(&f->out);
    return cs_roots_op(&f->roots, what, cs_str(path), cs_str(data), flags, &f->out);
}

static void what_is_written_can_be_read(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/a.txt", "hello", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_APPEND, "/workspace/a.txt", " you", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_READ, "/workspace/a.txt", "", 0), CS_ANSWER_OK);
    assert_str_is(cs_buf_str(&f->out), "hello you");
    assert_int_equal(op(f, CS_FILE_READ, "a.txt", "", 0), CS_ANSWER_OK);
    assert_str_is(cs_buf_str(&f->out), "hello you");
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/a.txt", "x", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_READ, "/workspace/a.txt", "", 0), CS_ANSWER_OK);
    assert_str_is(cs_buf_str(&f->out), "x");
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/a.txt", "x", 1), CS_ANSWER_INVALID);
    assert_contains(cs_buf_cstr(&f->out), "EEXIST");
}

static void paths_outside_of_the_roots_are_refused(void **state)
{
    static const char *const paths[] = {
        "/etc/passwd",
        "../relative",
        "/workspace/../etc/passwd",
        "/workspace//a",
        "/workspace/./a",
        "/workspace/a/..",
        "/workspacex/a",
        "/",
        "",
        "/tmp/../../etc",
        "/workspace/a/",
        "//workspace/a",
        "/proc/self/environ",
        "/workspace/a/../b",
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(op(f, CS_FILE_READ, paths[i], "", 0), CS_ANSWER_DENIED);
        assert_int_equal(op(f, CS_FILE_WRITE, paths[i], "x", 0), CS_ANSWER_DENIED);
        assert_int_equal(op(f, CS_FILE_RENAME, "/tmp/x", paths[i], 0), CS_ANSWER_DENIED);
    }
    char nul[] = "/workspace/a\0b";
    assert_int_equal(
        cs_roots_op(&f->roots, CS_FILE_READ, cs_strn(nul, sizeof nul - 1), cs_str(""), 0, &f->out),
        CS_ANSWER_DENIED);
}

static void links_are_never_followed(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/real", "x", 0), CS_ANSWER_OK);
    int dir = f->roots.dir[CS_ROOT_WORKSPACE];
    assert_int_equal(symlinkat("/etc/passwd", dir, "link"), 0);
    assert_int_equal(symlinkat("/etc", dir, "etc"), 0);
    assert_int_not_equal(op(f, CS_FILE_READ, "/workspace/link", "", 0), CS_ANSWER_OK);
    assert_int_not_equal(op(f, CS_FILE_READ, "/workspace/etc/passwd", "", 0), CS_ANSWER_OK);
    assert_int_not_equal(op(f, CS_FILE_WRITE, "/workspace/link", "x", 0), CS_ANSWER_OK);
    assert_int_not_equal(op(f, CS_FILE_LIST, "/workspace/etc", "", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_LIST, "/workspace", "", 0), CS_ANSWER_OK);
    assert_str_is(cs_buf_str(&f->out), "[{\"name\":\"real\",\"type\":\"file\"}]");
    assert_int_equal(op(f, CS_FILE_REMOVE, "/workspace/etc", "", 1), CS_ANSWER_OK);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
}

static void pipes_do_not_block_and_do_not_exist(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(op(f, CS_FILE_MKDIR, "/workspace/d", "", 0), CS_ANSWER_OK);
    assert_int_equal(mkfifoat(f->roots.dir[CS_ROOT_WORKSPACE], "pipe", 0600), 0);
    assert_int_equal(op(f, CS_FILE_READ, "/workspace/pipe", "", 0), CS_ANSWER_MISSING);
}

static void bytes_and_files_are_bounded_and_given_back(void **state)
{
    struct fixture *f = *state;
    char big[901];
    memset(big, 'x', 900);
    big[900] = '\0';
    assert_int_equal(op(f, CS_FILE_WRITE, "/tmp/big", big, 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/more", big, 0), CS_ANSWER_LIMIT);
    assert_contains(cs_buf_cstr(&f->out), "ENOSPC");
    assert_int_equal(op(f, CS_FILE_APPEND, "/tmp/big", big, 0), CS_ANSWER_LIMIT);
    assert_int_equal(op(f, CS_FILE_WRITE, "/tmp/big", "small", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/more", big, 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_REMOVE, "/workspace/more", "", 0), CS_ANSWER_OK);
    for (char name[] = "/tmp/f0"; name[6] < '4'; name[6]++)
        assert_int_equal(op(f, CS_FILE_WRITE, name, "", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_WRITE, "/tmp/one-too-many", "", 0), CS_ANSWER_LIMIT);
    assert_int_equal(op(f, CS_FILE_MKDIR, "/tmp/dir", "", 0), CS_ANSWER_LIMIT);
    assert_int_equal(op(f, CS_FILE_REMOVE, "/tmp/f0", "", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_WRITE, "/tmp/now-it-fits", "", 0), CS_ANSWER_OK);
}

static void directories_are_made_listed_and_removed(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(op(f, CS_FILE_MKDIR, "/workspace/a/b", "", 0), CS_ANSWER_MISSING);
    assert_int_equal(op(f, CS_FILE_MKDIR, "/workspace/a/b", "", 1), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_MKDIR, "/workspace/a/b", "", 1), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/a/b/c", "1", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_STAT, "/workspace/a/b/c", "", 0), CS_ANSWER_OK);
    assert_contains(cs_buf_cstr(&f->out), "\"type\":\"file\",\"size\":1");
    assert_int_equal(op(f, CS_FILE_READ, "/workspace/a", "", 0), CS_ANSWER_INVALID);
    assert_int_equal(op(f, CS_FILE_MKDIR, "/workspace/a/b/c", "", 1), CS_ANSWER_INVALID);
    assert_int_equal(op(f, CS_FILE_REMOVE, "/workspace/a", "", 0), CS_ANSWER_INVALID);
    assert_int_equal(op(f, CS_FILE_REMOVE, "/workspace/a", "", 1), CS_ANSWER_OK);
    assert_int_equal(f->roots.files, 0);
    assert_int_equal(op(f, CS_FILE_REMOVE, "/workspace/a", "", 0), CS_ANSWER_MISSING);
    assert_int_equal(op(f, CS_FILE_REMOVE, "/workspace/a", "", 2), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_REMOVE, "/workspace", "", 1), CS_ANSWER_INVALID);
}

static void renaming_and_copying_keep_the_books(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/a", "12345", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_COPY, "/workspace/a", "/tmp/b", 0), CS_ANSWER_OK);
    assert_int_equal(f->roots.bytes, 10);
    assert_int_equal(op(f, CS_FILE_RENAME, "/workspace/a", "/workspace/c", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/a", "1", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_RENAME, "/workspace/a", "/workspace/c", 0), CS_ANSWER_OK);
    assert_int_equal(f->roots.bytes, 6);
    assert_int_equal(f->roots.files, 2);
}

static void servers_and_skills_are_read_only(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(op(f, CS_FILE_WRITE, "/mcp-servers/x.ts", "x", 0), CS_ANSWER_DENIED);
    assert_contains(cs_buf_cstr(&f->out), "read-only");
    assert_int_equal(op(f, CS_FILE_REMOVE, "/skills/x.ts", "", 2), CS_ANSWER_DENIED);
    assert_int_equal(op(f, CS_FILE_RENAME, "/tmp/x", "/mcp-servers/x", 0), CS_ANSWER_DENIED);
    assert_int_equal(op(f, CS_FILE_READ, "/skills/x.ts", "", 0), CS_ANSWER_MISSING);
    assert_int_equal(op(f, CS_FILE_LIST, "/mcp-servers", "", 0), CS_ANSWER_OK);
}

static void modules_are_found_by_their_usual_endings(void **state)
{
    struct fixture *f = *state;
    CS_AUTO_BUF struct cs_buf name = {0};
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/util.ts", "export {}", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_MKDIR, "/workspace/lib", "", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/lib/index.ts", "1", 0), CS_ANSWER_OK);
    assert_int_equal(cs_roots_module(&f->roots, CS_STR("/workspace/util"), &name, &f->out),
                     CS_ANSWER_OK);
    assert_str_is(cs_buf_str(&name), "/workspace/util.ts");
    assert_str_is(cs_buf_str(&f->out), "export {}");
    assert_int_equal(cs_roots_module(&f->roots, CS_STR("/workspace/lib"), &name, &f->out),
                     CS_ANSWER_OK);
    assert_str_is(cs_buf_str(&name), "/workspace/lib/index.ts");
    assert_int_equal(cs_roots_module(&f->roots, CS_STR("/workspace/no"), &name, &f->out),
                     CS_ANSWER_MISSING);
    assert_int_equal(cs_roots_module(&f->roots, CS_STR("/etc/passwd"), &name, &f->out),
                     CS_ANSWER_DENIED);
}

static void put(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_workspace_goes_in_and_comes_back(void **state)
{
    struct fixture *f = *state;
    char host[128], path[160];
    snprintf(host, sizeof host, "%s/host", f->dir);
    assert_int_equal(mkdir(host, 0700), 0);
    put(host, "kept", "same");
    put(host, "changed", "before");
    snprintf(path, sizeof path, "%s/link", host);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    struct cs_err err = {0};
    assert_int_equal(cs_roots_copy_in(&f->roots, host, &err), 0);
    assert_int_equal(f->roots.files, 2);
    assert_int_equal(op(f, CS_FILE_READ, "/workspace/link", "", 0), CS_ANSWER_MISSING);
    struct stat before, after;
    snprintf(path, sizeof path, "%s/kept", host);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/changed", "after", 0), CS_ANSWER_OK);
    assert_int_equal(op(f, CS_FILE_WRITE, "/workspace/new", "1", 0), CS_ANSWER_OK);
    assert_int_equal(symlinkat("/etc", f->roots.dir[CS_ROOT_WORKSPACE], "planted"), 0);
    assert_int_equal(cs_roots_copy_out(&f->roots, host, &err), 0);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino); /* left alone */
    snprintf(path, sizeof path, "%s/planted", host);
    assert_int_equal(access(path, F_OK), -1);
    snprintf(path, sizeof path, "%s/changed", host);
    FILE *file = fopen(path, "r");
    char text[16] = "";
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "after");
}

static void a_workspace_that_is_too_large_is_refused(void **state)
{
    struct fixture *f = *state;
    struct cs_err err = {0};
    char host[128], big[2000];
    snprintf(host, sizeof host, "%s/host", f->dir);
    assert_int_equal(mkdir(host, 0700), 0);
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    put(host, "big", big);
    assert_int_equal(cs_roots_copy_in(&f->roots, host, &err), -1);
    assert_int_equal(err.code, CS_LIMIT);
    assert_contains(err.msg, "scratch_bytes");
    assert_int_equal(cs_roots_copy_in(&f->roots, "/no/such/place", &err), -1);
    assert_int_equal(err.code, CS_SYSTEM);
}

static void a_deep_nest_is_removed(void **state)
{
    struct fixture *f = *state;
    int at = open(f->dir, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 300; i++) {
        assert_int_equal(mkdirat(at, "directory-with-a-long-name", 0700), 0);
        int next = openat(at, "directory-with-a-long-name", O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        if (i == 200)
            fchmod(at, 0);
        close(at);
        at = next;
    }
    close(at);
    /* teardown removes it, and checks that it could */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(what_is_written_can_be_read, setup, teardown),
        CS_TEST_WITH(paths_outside_of_the_roots_are_refused, setup, teardown),
        CS_TEST_WITH(links_are_never_followed, setup, teardown),
        CS_TEST_WITH(pipes_do_not_block_and_do_not_exist, setup, teardown),
        CS_TEST_WITH(bytes_and_files_are_bounded_and_given_back, setup, teardown),
        CS_TEST_WITH(directories_are_made_listed_and_removed, setup, teardown),
        CS_TEST_WITH(renaming_and_copying_keep_the_books, setup, teardown),
        CS_TEST_WITH(servers_and_skills_are_read_only, setup, teardown),
        CS_TEST_WITH(modules_are_found_by_their_usual_endings, setup, teardown),
        CS_TEST_WITH(a_workspace_goes_in_and_comes_back, setup, teardown),
        CS_TEST_WITH(a_workspace_that_is_too_large_is_refused, setup, teardown),
        CS_TEST_WITH(a_deep_nest_is_removed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
