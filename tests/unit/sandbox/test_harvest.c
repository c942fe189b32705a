#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "sandbox/folder.h"
#include "sandbox/harvest.h"

struct fixture {
    char dir[64], out[80], old[80], to[80];
    int workspace;
};

static int setup(void **state)
{
    struct fixture *f = CS_NEW(struct fixture);
    strcpy(f->dir, "/tmp/caisson-harvest-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->out, sizeof f->out, "%s/out", f->dir);
    snprintf(f->old, sizeof f->old, "%s/old", f->dir);
    snprintf(f->to, sizeof f->to, "%s/1-1-out", f->dir);
    f->workspace = open(f->dir, O_RDONLY | O_DIRECTORY);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    close(f->workspace);
    cs_folder_remove(AT_FDCWD, f->dir);
    free(f);
    return 0;
}

static void put(struct fixture *f, const char *name, const char *text)
{
    char path[512];
    struct cs_err err = {0};
    mkdir(f->out, 0700);
    snprintf(path, sizeof path, "%s/%s", f->out, name);
    assert_int_equal(cs_file_replace_soon(path, cs_str(text), 0600, &err), 0);
}

static void assert_file(const struct cs_harvest *h, uint32_t i, const char *name, const char *text)
{
    CS_AUTO_BUF struct cs_buf got = {0};
    CS_AUTO_FD int fd = cs_harvest_open(h, i);
    struct cs_err err = {0};
    assert_true(i < h->count);
    assert_str_is(h->files[i].name, name);
    assert_true(fd >= 0);
    assert_int_equal(cs_file_read_fd(fd, 1000, &got, &err), 0);
    assert_string_equal(cs_buf_cstr(&got), text);
    assert_int_equal(h->files[i].size, strlen(text));
}

static void nothing_there_is_nothing(void **state)
{
    struct fixture *f = *state;
    assert_null(cs_harvest(f->workspace, NULL, f->to, true, 1000));
    assert_null(cs_harvest(-1, NULL, f->to, true, 1000));
    mkdir(f->out, 0700);
    assert_null(cs_harvest(f->workspace, NULL, f->to, true, 1000));
    assert_int_equal(rmdir(f->out), 0);
    assert_int_equal(symlink("/etc", f->out), 0);
    assert_null(cs_harvest(f->workspace, NULL, f->to, false, 1000));
    assert_int_equal(access(f->to, F_OK), -1);
}

static void files_are_moved_or_copied_in_the_order_of_their_names(void **state)
{
    struct fixture *f = *state;
    char inner[128];
    for (int move = 0; move < 2; move++) {
        put(f, "b", "2");
        put(f, "a", "one");
        snprintf(inner, sizeof inner, "%s/c", f->out);
        mkdir(inner, 0700);
        put(f, "c/d", "deep");
        struct cs_harvest *h = cs_harvest(f->workspace, NULL, f->to, move, 1000);
        assert_non_null(h);
        assert_int_equal(h->count, 3);
        assert_int_equal(h->left_out, 0);
        assert_file(h, 0, "a", "one");
        assert_file(h, 1, "b", "2");
        assert_file(h, 2, "c/d", "deep");
        snprintf(inner, sizeof inner, "%s/a", f->out);
        assert_int_equal(access(inner, F_OK), move ? -1 : 0);
        cs_harvest_free(h);
        assert_int_equal(access(f->to, F_OK), -1);
    }
}

static void only_plain_files_are_taken(void **state)
{
    struct fixture *f = *state;
    char path[512], other[512];
    put(f, "good", "good");
    put(f, "one", "x");
    snprintf(path, sizeof path, "%s/one", f->out);
    snprintf(other, sizeof other, "%s/two", f->out);
    assert_int_equal(link(path, other), 0);
    snprintf(path, sizeof path, "%s/pipe", f->out);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/link", f->out);
    assert_int_equal(symlink("good", path), 0);
    put(f, "line\nbreak", "x");
    put(f, "bad\xff", "x");
    put(f, "c1\xC2\x85", "x");
    struct cs_harvest *h = cs_harvest(f->workspace, NULL, f->to, false, 1000);
    assert_non_null(h);
    assert_int_equal(h->count, 1);
    assert_file(h, 0, "good", "good");
    assert_int_equal(h->left_out, 7);
    assert_int_equal(h->note_count, CS_HARVEST_NOTES);
    for (uint32_t i = 0; i < h->note_count; i++)
        assert_null(strchr(h->notes[i], '\n'));
    cs_harvest_free(h);
}

static void what_is_too_much_is_left_out(void **state)
{
    struct fixture *f = *state;
    char path[512];
    put(f, "a", "12345");
    put(f, "b", "123456");
    put(f, "c", "123");
    put(f, "huge", "x");
    snprintf(path, sizeof path, "%s/huge", f->out);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    struct cs_harvest *h = cs_harvest(f->workspace, NULL, f->to, false, 9);
    assert_int_equal(h->count, 2);
    assert_file(h, 0, "a", "12345");
    assert_file(h, 1, "c", "123");
    assert_int_equal(h->left_out, 2);
    assert_contains(h->notes[0], "'b' is more than");
    assert_contains(h->notes[1], "'huge' has more than");
    cs_harvest_free(h);
    snprintf(path, sizeof path, "%s/d", f->out);
    for (int i = 0; i < 30; i++) {
        mkdir(path, 0700);
        strcat(path, "/d");
    }
    for (int i = 0; i < 120; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%03d", i);
        put(f, name, "");
    }
    h = cs_harvest(f->workspace, NULL, f->to, false, 1000);
    assert_int_equal(h->count, CS_HARVEST_FILES);
    assert_int_equal(h->left_out, 23 + 2); /* huge, and a nest */
    cs_harvest_free(h);
}

static void what_was_there_before_is_not_taken(void **state)
{
    struct fixture *f = *state;
    char path[512];
    struct cs_err err = {0};
    struct cs_folder_size size = {0};
    put(f, "same", "same");
    put(f, "changed", "before");
    assert_int_equal(mkdir(f->old, 0700), 0);
    snprintf(path, sizeof path, "%s/out", f->old);
    assert_int_equal(mkdir(path, 0700), 0);
    CS_AUTO_FD int from = open(f->out, O_RDONLY | O_DIRECTORY),
                   to = open(path, O_RDONLY | O_DIRECTORY);
    assert_int_equal(cs_folder_copy(from, to, &size, &err), 0);
    assert_null(cs_harvest(f->workspace, f->old, f->to, false, 1000));
    put(f, "changed", "after!");
    put(f, "new", "new");
    struct cs_harvest *h = cs_harvest(f->workspace, f->old, f->to, false, 1000);
    assert_int_equal(h->count, 2);
    assert_file(h, 0, "changed", "after!");
    assert_file(h, 1, "new", "new");
    cs_harvest_free(h);
}

#define WITH(name) CS_TEST_WITH(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(nothing_there_is_nothing),
        WITH(files_are_moved_or_copied_in_the_order_of_their_names),
        WITH(only_plain_files_are_taken),
        WITH(what_is_too_much_is_left_out),
        WITH(what_was_there_before_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
