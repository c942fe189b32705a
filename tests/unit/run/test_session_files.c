/* The files of a session, and every way out of them that we know. */
#include "run/session_fixture.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

static void a_file_is_stored_read_listed_and_removed(void **state)
{
    struct fixture *f = *state;
    start(f);
    assert_string_equal(listing(f), "");
    assert_int_equal(put(f, "b/c/d.txt", "hello"), CS_OK);
    assert_int_equal(put(f, "a", "1"), CS_OK);
    assert_int_equal(put(f, "b-x", ""), CS_OK);
    assert_string_equal(listing(f), "a 1\nb/ 0\nb-x 0\nb/c/ 0\nb/c/d.txt 5\n");
    assert_int_equal(get(f, "b/c/d.txt"), CS_OK);
    assert_string_equal(cs_buf_cstr(&f->text), "hello");
    assert_int_equal(put(f, "a", "22"), CS_OK);
    assert_int_equal(get(f, "a"), CS_OK);
    assert_string_equal(cs_buf_cstr(&f->text), "22");
    assert_int_equal(take(f, "a"), CS_OK);
    assert_int_equal(get(f, "a"), CS_MISSING);
    assert_int_equal(take(f, "a"), CS_MISSING);
    assert_int_equal(take(f, "b"), CS_OK); /* a directory, with what is in it */
    assert_string_equal(listing(f), "b-x 0\n");
}

static void content_is_bytes(void **state)
{
    struct fixture *f = *state;
    start(f);
    char bytes[256];
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)i;
    cs_session_file_put(f->s, &f->me, cs_str(f->id), CS_STR("bytes"), cs_strn(bytes, sizeof bytes),
                        f_stored, f);
    f_wait(f);
    assert_int_equal(get(f, "bytes"), CS_OK);
    assert_int_equal(f->text.len, 256);
    assert_memory_equal(f->text.at, bytes, 256);
}

static void names_in_any_script_are_names(void **state)
{
    struct fixture *f = *state;
    start(f);
    static const char *const names[] = {"ä ö.txt", "日本/本", "..a",      "a..",
                                        "...",     "-rf",     "a\\..\\b", "%2e%2e"};
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        assert_int_equal(put(f, names[i], "x"), CS_OK);
        assert_int_equal(get(f, names[i]), CS_OK);
        assert_int_equal(take(f, names[i]), CS_OK);
    }
    assert_string_equal(listing(f), "日本/ 0\n");
}

static void a_path_stays_inside(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "dir/a", "1");
    char secret[80];
    snprintf(secret, sizeof secret, "%s/secret", f->dir);
    write_at(f->dir, "secret", 6);
    char long_part[300], long_path[1200], deep[200] = "";
    memset(long_part, 'x', sizeof long_part);
    memset(long_path, 'x', sizeof long_path);
    for (size_t i = 100; i < sizeof long_path; i += 100)
        long_path[i] = '/';
    for (int i = 0; i < 33; i++)
        memcpy(deep + 2 * i, i < 32 ? "d/" : "d", i < 32 ? 3 : 2);
    const struct cs_str bad[] = {
        CS_STR(""),
        CS_STR("/"),
        CS_STR("."),
        CS_STR(".."),
        CS_STR("../secret"),
        CS_STR("dir/.."),
        CS_STR("dir/../a"),
        CS_STR("dir/./a"),
        CS_STR("dir//a"),
        CS_STR("dir/"),
        CS_STR("/dir/a"),
        CS_STR("./dir/a"),
        CS_STR("a\0b"),
        CS_STR("\xff"),
        CS_STR("\xc0\xaf"),
        cs_str(secret),
        CS_STR("../../../../../../etc/passwd"),
        cs_strn(long_part, 256),
        cs_str(deep),
        cs_strn(long_path, 1025),
    };
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        cs_session_file_get(f->s, &f->me, cs_str(f->id), bad[i], f_file, f);
        f_wait(f);
        if (f->err.code != CS_INVALID)
            fail_msg("get '%.*s': %s", CS_STR_ARG(bad[i]), f->err.msg);
        cs_session_file_put(f->s, &f->me, cs_str(f->id), bad[i], CS_STR("x"), f_stored, f);
        f_wait(f);
        assert_int_equal(f->err.code, CS_INVALID);
        cs_session_file_remove(f->s, &f->me, cs_str(f->id), bad[i], f_stored, f);
        f_wait(f);
        assert_int_equal(f->err.code, CS_INVALID);
    }
    assert_string_equal(listing(f), "dir/ 0\ndir/a 1\n");
    assert_true(there(secret));
}

/* What an execution could have planted, had it got past the copying that leaves such things out. */
static void what_is_no_file_is_not_there(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "dir/a", "1");
    char outside[128], secret[160];
    snprintf(outside, sizeof outside, "%s/outside", f->dir);
    snprintf(secret, sizeof secret, "%s/secret", outside);
    mkdir(outside, 0700);
    write_at(outside, "secret", 6);
    assert_int_equal(symlink(secret, in_files(f, "link")), 0);
    assert_int_equal(symlink("dir/a", in_files(f, "inner")), 0);
    assert_int_equal(symlink(outside, in_files(f, "out")), 0);
    assert_int_equal(symlink("/proc/self/root", in_files(f, "root")), 0);
    assert_int_equal(mkfifo(in_files(f, "pipe"), 0600), 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%.100s", in_files(f, "sock"));
    CS_AUTO_FD int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(sock, (struct sockaddr *)&a, sizeof a), 0);
    bool device = mknod(in_files(f, "null"), S_IFCHR | 0600, makedev(1, 3)) == 0;

    static const char *const names[] = {"link", "inner",      "pipe",  "sock",
                                        "null", "out/secret", "out",   "root/etc/passwd",
                                        "root", "inner/x",    "pipe/x"};
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        int code = get(f, names[i]);
        if (code != CS_MISSING && code != CS_INVALID)
            fail_msg("%s: %d %s", names[i], code, f->err.msg);
        assert_null(f->text.len ? f->text.at : NULL);
    }
    assert_string_equal(listing(f), "dir/ 0\ndir/a 1\n");
    /* Not into them either; what stands at the end of a path is replaced, never followed. */
    assert_int_equal(put(f, "out/new", "x"), CS_INVALID);
    assert_int_equal(put(f, "pipe/new", "x"), CS_INVALID);
    assert_int_equal(take(f, "out/secret"), CS_INVALID);
    assert_int_equal(put(f, "link", "mine"), CS_OK);
    assert_int_equal(put(f, "pipe", "mine"), CS_OK);
    if (device)
        assert_int_equal(put(f, "null", "mine"), CS_OK);
    assert_int_equal(take(f, "out"), CS_OK);
    assert_int_equal(take(f, "sock"), CS_OK);
    CS_AUTO_BUF struct cs_buf content = {0};
    assert_int_equal(cs_file_read(secret, 100, &content, NULL), 0);
    assert_string_equal(cs_buf_cstr(&content), "xxxxxx");
    assert_string_equal(listing(f), device ? "dir/ 0\ndir/a 1\nlink 4\nnull 4\npipe 4\n"
                                           : "dir/ 0\ndir/a 1\nlink 4\npipe 4\n");
}

/* A session whose whole directory is a link, or whose files are. */
static void a_link_in_place_of_the_directory_is_not_followed(void **state)
{
    struct fixture *f = *state;
    start(f);
    char outside[128], path[256];
    snprintf(outside, sizeof outside, "%s/outside", f->dir);
    mkdir(outside, 0700);
    write_at(outside, "secret", 6);
    snprintf(path, sizeof path, "%s/sessions/%s", f->dir, f->id);
    assert_int_equal(symlink(outside, path), 0);
    assert_int_equal(get(f, "secret"), CS_MISSING);
    assert_string_equal(listing(f), "");
    assert_int_equal(put(f, "a", "1"), CS_SYSTEM);
    unlink(path);
    put(f, "a", "1");
    take(f, "a");
    snprintf(path, sizeof path, "%s/sessions/%s/files", f->dir, f->id);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink(outside, path), 0);
    assert_int_equal(get(f, "secret"), CS_MISSING);
    assert_int_equal(put(f, "a", "1"), CS_SYSTEM);
    snprintf(path, sizeof path, "%s/secret", outside);
    assert_true(there(path));
}

static void a_directory_is_no_file(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "dir/a", "1");
    assert_int_equal(get(f, "dir"), CS_INVALID);
    assert_contains(f->err.msg, "'dir' is a directory");
    assert_int_equal(put(f, "dir", "x"), CS_INVALID);
    assert_int_equal(put(f, "dir/a/b", "x"), CS_INVALID);
    assert_int_equal(get(f, "dir/a/b"), CS_INVALID);
    assert_string_equal(listing(f), "dir/ 0\ndir/a 1\n");
}

static void the_quota_holds(void **state)
{
    struct fixture *f = *state;
    start(f);
    char text[2002];
    memset(text, 'x', sizeof text);
    text[2001] = '\0';
    assert_int_equal(put(f, "a", text), CS_LIMIT);
    text[1999] = '\0';
    assert_int_equal(put(f, "a", text), CS_OK);
    assert_int_equal(put(f, "b", "12"), CS_LIMIT);
    assert_contains(f->err.msg, "2001 bytes, at most 2000");
    assert_int_equal(put(f, "b", "1"), CS_OK);
    assert_int_equal(put(f, "a", text), CS_OK); /* in place of itself */
    assert_int_equal(put(f, "a", ""), CS_OK);
    for (char name[] = "0"; *name < '8'; (*name)++)
        assert_int_equal(put(f, name, ""), CS_OK);
    assert_int_equal(put(f, "9", ""), CS_LIMIT);
    assert_contains(f->err.msg, "11 files");
    assert_int_equal(put(f, "b", "2"), CS_OK);
    take(f, "0");
    assert_int_equal(put(f, "d/e", ""), CS_LIMIT); /* the directory counts */
    take(f, "1");
    assert_int_equal(put(f, "d/e", ""), CS_OK);
}

static void other_limits_hold_from_now_on(void **state)
{
    struct fixture *f = *state;
    start(f);
    assert_int_equal(put(f, "a", "1234"), CS_OK);
    struct cs_session_limits limits = f->limits;
    limits.file_bytes = 3;
    limits.per_tenant = 1;
    cs_sessions_set(f->s, &limits);
    assert_int_equal(put(f, "b", ""), CS_LIMIT);
    assert_int_equal(get(f, "a"), CS_LIMIT);
    cs_session_start(f->s, &f->me, CS_STR(""), 0, f_session, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_LIMIT);
    cs_sessions_set(f->s, &f->limits);
    assert_int_equal(get(f, "a"), CS_OK);
}

static void a_refused_file_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    start(f);
    for (char name[] = "0"; *name < '9'; (*name)++)
        put(f, name, "");
    assert_int_equal(put(f, "d/e/f", ""), CS_LIMIT);
    assert_false(there(in_files(f, "d")));
}

static void a_change_waits_for_who_is_inside_and_reading_does_not(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "a", "1");
    struct wish w;
    hold(&w, f, 0);
    assert_int_equal(get(f, "a"), CS_OK);
    assert_string_equal(listing(f), "a 1\n");
    unsigned before = f->answers;
    cs_session_file_put(f->s, &f->me, cs_str(f->id), CS_STR("b"), CS_STR("2"), f_stored, f);
    for (int i = 0; i < 20; i++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_int_equal(f->answers, before);
    release(&w, "");
    while (f->answers < before + 2)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_string_equal(listing(f), "a 1\nb 1\n");
}

/* Replaces the files over and over, as executions do, and a link stands in their way now and then.
 */
struct race {
    struct fixture *f;
    int root;
    char id[40];
    bool links, stop;
};

static void *replace_files(void *arg)
{
    struct race *r = arg;
    char next[256], dir[300], link[300];
    snprintf(next, sizeof next, "%s/sessions/%s/next", r->f->dir, r->id);
    snprintf(dir, sizeof dir, "%s/sub", next);
    snprintf(link, sizeof link, "%s/sessions/%s/files/sub", r->f->dir, r->id);
    for (unsigned i = 0; !__atomic_load_n(&r->stop, __ATOMIC_RELAXED); i++) {
        mkdir(next, 0700);
        mkdir(dir, 0700);
        write_at(dir, "file", 10);
        if (cs_disk_adopt(r->root, r->id, NULL) < 0)
            abort();
        if (i % 3 || !r->links)
            continue;
        char aside[320];
        snprintf(aside, sizeof aside, "%s-aside", link);
        rename(link, aside);
        if (symlink(r->f->dir, link) < 0)
            abort();
    }
    return NULL;
}

static void race(struct fixture *f, bool links)
{
    start(f);
    put(f, "sub/file", "0123456789");
    char path[128];
    snprintf(path, sizeof path, "%s/sessions", f->dir);
    CS_AUTO_FD int root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    write_at(f->dir, "file", 3); /* what the link would lead to */
    struct race r = {.f = f, .root = root, .links = links};
    snprintf(r.id, sizeof r.id, "%s", f->id);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, replace_files, &r), 0);
    unsigned found = 0;
    for (int i = 0; i < 3000; i++) {
        CS_AUTO_BUF struct cs_buf out = {0};
        struct cs_err err = {0};
        if (cs_disk_get(root, f->id, "sub/file", 100, &out, &err) == 0) {
            assert_int_equal(out.len, 10);
            found++;
        } else if (!links || (err.code != CS_MISSING && err.code != CS_CONFLICT)) {
            fail_msg("%s", err.msg);
        }
        struct cs_arena arena = {0};
        struct cs_session_file *files = NULL;
        size_t count = 0;
        int listed = cs_disk_list(root, f->id, &arena, &files, &count, &err);
        if (!links)
            assert_true(listed == 0 && count == 2);
        if (listed == 0)
            for (size_t k = 0; k < count; k++)
                assert_true(cs_str_starts(files[k].path, "sub"));
        free(files);
        cs_arena_done(&arena);
    }
    __atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_true(found > 0);
}

static void what_is_always_there_is_always_found(void **state)
{
    race(*state, false);
}

static void reading_while_everything_moves_stays_inside(void **state)
{
    race(*state, true);
}

#define T(name) CS_TEST_WITH(name, f_set_up, f_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_file_is_stored_read_listed_and_removed),
        T(content_is_bytes),
        T(names_in_any_script_are_names),
        T(a_path_stays_inside),
        T(what_is_no_file_is_not_there),
        T(a_link_in_place_of_the_directory_is_not_followed),
        T(a_directory_is_no_file),
        T(the_quota_holds),
        T(other_limits_hold_from_now_on),
        T(a_refused_file_leaves_nothing),
        T(a_change_waits_for_who_is_inside_and_reading_does_not),
        T(what_is_always_there_is_always_found),
        T(reading_while_everything_moves_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
