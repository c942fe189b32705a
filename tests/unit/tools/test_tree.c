/* The directory of TypeScript files: complete or absent, kept while it is used, then removed. */
#include "offers.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct cs_tree open_tree(const char *dir, struct cs_offer *const *offers, size_t count)
{
    struct cs_tree tree = {.dir = -1};
    struct cs_err err = {0};
    if (cs_tree_open(dir, offers, count, &tree, &err) < 0)
        fail_msg("%s", err.msg);
    assert_true(tree.dir >= 0);
    return tree;
}

static void read_at(int dir, const char *path, struct cs_buf *text)
{
    struct cs_err err = {0};
    CS_AUTO_FD int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail_msg("there is no %s", path);
    assert_int_equal(cs_file_read_fd(fd, 1 << 20, text, &err), 0);
}

static mode_t mode_at(int dir, const char *path)
{
    struct stat st;
    assert_int_equal(fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW), 0);
    return st.st_mode & 0777;
}

static void test_it_is_complete(void **state)
{
    struct place *p = *state;
    struct cs_offer *offers[] = {offer_named("a", "[" TOOL("one-two") "," TOOL("three") "]"),
                                 offer_named("b", NULL), offer_named("c", "[]")};
    mode_t before = umask(077);
    struct cs_tree tree = open_tree(p->dir, offers, 3);
    umask(before);
    CS_AUTO_BUF struct cs_buf text = {0};
    read_at(tree.dir, "a/oneTwo.ts", &text);
    assert_contains(cs_buf_cstr(&text), "export async function oneTwo(");
    assert_int_equal(faccessat(tree.dir, "a/three.ts", R_OK, 0), 0);
    cs_buf_clear(&text);
    read_at(tree.dir, "a/index.ts", &text);
    assert_contains(cs_buf_cstr(&text), "oneTwo");
    assert_contains(cs_buf_cstr(&text), "three");
    cs_buf_clear(&text);
    read_at(tree.dir, "README.md", &text);
    assert_contains(cs_buf_cstr(&text), "a");
    assert_int_equal(faccessat(tree.dir, "caisson.d.ts", R_OK, 0), 0);
    assert_int_equal(faccessat(tree.dir, "c/index.ts", R_OK, 0), 0);
    /* What was never listed is not there, so that an import of it asks the server. */
    assert_int_equal(faccessat(tree.dir, "b", F_OK, 0), -1);
    /* Guests are other users, whatever our umask is. */
    assert_int_equal(mode_at(tree.dir, "a"), 0755);
    assert_int_equal(mode_at(tree.dir, "."), 0755);
    assert_int_equal(mode_at(tree.dir, "a/three.ts"), 0444);
    assert_int_equal(mode_at(tree.dir, "README.md"), 0444);
    cs_tree_close(&tree);
    for (size_t i = 0; i < 3; i++)
        cs_offer_unref(offers[i]);
}

static void test_what_is_there_is_not_made_again(void **state)
{
    struct place *p = *state;
    struct cs_offer *offers[] = {offer_named("a", "[" TOOL("x") "]"),
                                 offer_named("b", "[" TOOL("y") "]")};
    struct cs_tree first = open_tree(p->dir, offers, 2), second = open_tree(p->dir, offers, 2);
    struct stat x, y;
    assert_string_equal(first.path, second.path);
    assert_int_equal(fstat(first.dir, &x) | fstat(second.dir, &y), 0);
    assert_int_equal(x.st_ino, y.st_ino);
    /* Another tree has the same files of a server that did not change. */
    struct cs_tree third = open_tree(p->dir, offers, 1);
    assert_string_not_equal(first.path, third.path);
    assert_int_equal(fstatat(first.dir, "a/x.ts", &x, 0) | fstatat(third.dir, "a/x.ts", &y, 0), 0);
    assert_int_equal(x.st_ino, y.st_ino);
    cs_tree_close(&first);
    cs_tree_close(&second);
    cs_tree_close(&third);
    cs_offer_unref(offers[0]);
    cs_offer_unref(offers[1]);
}

static void link_is(const char *dir, const struct cs_tree *tree)
{
    char link[128], target[256];
    snprintf(link, sizeof link, "%s/mcp-servers", dir);
    ssize_t n = readlink(link, target, sizeof target - 1);
    assert_true(n > 0);
    target[n] = '\0';
    assert_contains(tree->path, target);
}

static void test_the_link_for_people_follows(void **state)
{
    struct place *p = *state;
    struct cs_offer *a = offer_named("a", "[" TOOL("x") "]"),
                    *b = offer_named("a", "[" TOOL("y") "]");
    struct cs_tree first = open_tree(p->dir, &a, 1);
    link_is(p->dir, &first);
    struct cs_tree second = open_tree(p->dir, &b, 1);
    link_is(p->dir, &second);
    struct cs_tree again = open_tree(p->dir, &a, 1); /* is there still */
    link_is(p->dir, &again);
    cs_tree_close(&first);
    cs_tree_close(&second);
    cs_tree_close(&again);
    cs_offer_unref(a);
    cs_offer_unref(b);
}

static void test_generations_do_not_pile_up(void **state)
{
    struct place *p = *state;
    struct cs_offer *steady = offer_named("steady", "[" TOOL("x") "]");
    struct cs_tree tree = {.dir = -1};
    for (int i = 0; i < 30; i++) {
        char list[200];
        snprintf(list, sizeof list, "[{\"name\":\"t%d\",\"inputSchema\":{}}]", i);
        struct cs_offer *offers[] = {steady, offer_named("changing", list)};
        struct cs_tree next = open_tree(p->dir, offers, 2);
        cs_tree_close(&tree);
        tree = next;
        cs_offer_unref(offers[1]);
    }
    assert_true(entries(p->dir, "tree") <= 3); /* this one, the one before, servers */
    assert_int_equal(entries(p->dir, "tree/servers"), 2);
    assert_int_equal(faccessat(tree.dir, "changing/t29.ts", R_OK, 0), 0);
    assert_int_equal(faccessat(tree.dir, "steady/x.ts", R_OK, 0), 0);
    cs_tree_close(&tree);
    cs_offer_unref(steady);
}

/* Another process opens a tree, says so, and holds it until its input ends. */
static pid_t holder(const char *dir, struct cs_offer *const *offers, size_t count, int *say,
                    int *end)
{
    int out[2], in[2];
    assert_int_equal(pipe(out) | pipe(in), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct cs_tree tree = {.dir = -1};
        struct cs_err err = {0};
        char c = cs_tree_open(dir, offers, count, &tree, &err) == 0 ? 'y' : 'n';
        close(in[1]);
        if (write(out[1], &c, 1) != 1 || read(in[0], &c, 1) < 0)
            _exit(1);
        _exit(0);
    }
    close(out[1]);
    close(in[0]);
    *say = out[0];
    *end = in[1];
    return pid;
}

static void test_what_another_process_holds_is_kept(void **state)
{
    struct place *p = *state;
    struct cs_offer *theirs = offer_named("a", "[" TOOL("theirs") "]");
    struct cs_offer *ours = offer_named("a", "[" TOOL("ours") "]");
    int say, end, status;
    pid_t pid = holder(p->dir, &theirs, 1, &say, &end);
    char c = 0, path[300];
    assert_int_equal(read(say, &c, 1), 1);
    assert_int_equal(c, 'y');
    struct cs_tree their_tree = open_tree(p->dir, &theirs, 1);
    snprintf(path, sizeof path, "%.200s/a/theirs.ts", their_tree.path);
    cs_tree_close(&their_tree);

    struct cs_tree tree = open_tree(p->dir, &ours, 1);
    assert_int_equal(access(path, R_OK), 0);
    close(end);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    cs_tree_close(&tree);
    /* It is over: the next who makes a tree removes theirs. */
    struct cs_offer *next = offer_named("a", "[" TOOL("next") "]");
    tree = open_tree(p->dir, &next, 1);
    assert_int_equal(access(path, R_OK), -1);
    cs_tree_close(&tree);
    close(say);
    cs_offer_unref(theirs);
    cs_offer_unref(ours);
    cs_offer_unref(next);
}

/* Several processes make and remove trees of the same directory; each finds its own complete. */
static void test_many_processes_at_once(void **state)
{
    struct place *p = *state;
    pid_t pids[4];
    for (int child = 0; child < 4; child++) {
        pids[child] = fork();
        if (pids[child] != 0)
            continue;
        for (int i = 0; i < 25; i++) {
            char list[200], file[64];
            int number = (child + i) % 6;
            snprintf(list, sizeof list, "[{\"name\":\"t%d\",\"inputSchema\":{}}]", number);
            struct cs_offer *offers[] = {offer_named("same", "[" TOOL("x") "]"),
                                         offer_named("other", list)};
            struct cs_tree tree = {.dir = -1};
            struct cs_err err = {0};
            if (cs_tree_open(p->dir, offers, 2, &tree, &err) < 0) {
                fprintf(stderr, "%s\n", err.msg);
                _exit(1);
            }
            snprintf(file, sizeof file, "other/t%d.ts", number);
            if (faccessat(tree.dir, file, R_OK, 0) < 0 ||
                faccessat(tree.dir, "same/x.ts", R_OK, 0) < 0 ||
                faccessat(tree.dir, "README.md", R_OK, 0) < 0)
                _exit(2);
            cs_tree_close(&tree);
            cs_offer_unref(offers[0]);
            cs_offer_unref(offers[1]);
        }
        _exit(0);
    }
    for (int child = 0; child < 4; child++) {
        int status;
        assert_int_equal(waitpid(pids[child], &status, 0), pids[child]);
        assert_int_equal(status, 0);
    }
}

/* What a process left that died while it made a directory: not at once, as another may be at it. */
static void test_what_is_unfinished_is_left_to_its_maker(void **state)
{
    struct place *p = *state;
    struct cs_offer *offer = offer_named("a", "[" TOOL("x") "]");
    struct cs_err err = {0};
    char path[200];
    snprintf(path, sizeof path, "%s/tree/servers/.new-1-1", p->dir);
    assert_int_equal(cs_dir_make(path, 0700, &err), 0);
    snprintf(path, sizeof path, "%s/tree/.new-1-2", p->dir);
    assert_int_equal(cs_dir_make(path, 0700, &err), 0);
    struct cs_tree tree = open_tree(p->dir, &offer, 1);
    assert_true(exists(p->dir, "tree/.new-1-2"));
    assert_true(exists(p->dir, "tree/servers/.new-1-1"));
    cs_tree_close(&tree);
    cs_offer_unref(offer);
}

static void test_a_disk_that_cannot_be_written_is_an_error(void **state)
{
    struct place *p = *state;
    struct cs_offer *offer = offer_named("a", "[" TOOL("x") "]");
    struct cs_tree tree = {.dir = -1};
    struct cs_err err = {0};
    char path[200];
    /* Files of no more than 10 bytes, as if the disk were full. */
    struct rlimit before, small;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){10, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    int result = cs_tree_open(p->dir, &offer, 1, &tree, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(result, -1);
    assert_int_equal(tree.dir, -1);
    assert_contains(err.msg, "a@");
    assert_int_equal(entries(p->dir, "tree"), 1); /* nothing half made */
    assert_int_equal(entries(p->dir, "tree/servers"), 0);
    assert_false(exists(p->dir, "mcp-servers"));
    /* And all is well when there is room again. */
    tree = open_tree(p->dir, &offer, 1);
    cs_tree_close(&tree);

    snprintf(path, sizeof path, "%s/file", p->dir);
    assert_int_equal(cs_file_replace(path, CS_STR("x"), 0600, &err), 0);
    assert_int_equal(cs_tree_open(path, &offer, 1, &tree, &err), -1);
    assert_contains(err.msg, "file");
    cs_offer_unref(offer);
}

static void test_a_catalogue_lends_its_directory(void **state)
{
    struct place *p = *state;
    struct cs_offer *offer = offer_named("a", "[" TOOL("x") "]");
    struct cs_catalogue *c = NULL;
    struct cs_err err = {0};
    assert_int_equal(cs_catalogue_new(p->dir, &offer, 1, &c, &err), 0);
    assert_int_equal(faccessat(cs_catalogue_dir(c), "a/x.ts", R_OK, 0), 0);
    char path[5000];
    snprintf(path, sizeof path, "%s/a/x.ts", cs_catalogue_path(c));
    assert_int_equal(access(path, R_OK), 0);
    /* Its directory stays while somebody has the catalogue. */
    struct cs_catalogue *kept = cs_catalogue_ref(c);
    cs_catalogue_unref(c);
    struct cs_offer *other = offer_named("a", "[" TOOL("y") "]");
    assert_int_equal(cs_catalogue_new(p->dir, &other, 1, &c, &err), 0);
    assert_int_equal(access(path, R_OK), 0);
    cs_catalogue_unref(kept);
    cs_catalogue_unref(c);
    cs_offer_unref(offer);
    cs_offer_unref(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(test_it_is_complete, make_place, drop_place),
        CS_TEST_WITH(test_what_is_there_is_not_made_again, make_place, drop_place),
        CS_TEST_WITH(test_the_link_for_people_follows, make_place, drop_place),
        CS_TEST_WITH(test_generations_do_not_pile_up, make_place, drop_place),
        CS_TEST_WITH(test_what_another_process_holds_is_kept, make_place, drop_place),
        CS_TEST_WITH(test_many_processes_at_once, make_place, drop_place),
        CS_TEST_WITH(test_what_is_unfinished_is_left_to_its_maker, make_place, drop_place),
        CS_TEST_WITH(test_a_disk_that_cannot_be_written_is_an_error, make_place, drop_place),
        CS_TEST_WITH(test_a_catalogue_lends_its_directory, make_place, drop_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
