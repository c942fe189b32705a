#include "standin.h"

#include <grp.h>
#include <sched.h>

#include "sandbox/walls.h"

static void every_wall_has_a_name_that_can_be_parsed(void **state)
{
    (void)state;
    uint32_t all = 0;
    for (unsigned i = 0; i < CS_WALL_COUNT; i++) {
        uint32_t mask = 0;
        struct cs_err err = {0};
        enum cs_wall wall = (enum cs_wall)i;
        assert_int_equal(cs_walls_parse(cs_wall_name(wall), &mask, &err), 0);
        assert_int_equal(mask, 1u << i);
        assert_true(strlen(cs_wall_purpose(wall)) > 5);
        assert_true(strlen(cs_wall_remedy(wall, EPERM)) > 5);
        /* A remedy fits where it is shown. */
        assert_true(strlen(cs_wall_remedy(wall, EPERM)) <
                    sizeof(((struct cs_wall_state *)0)->remedy));
        all |= mask;
    }
    uint32_t mask = 0;
    assert_int_equal(cs_walls_parse("all", &mask, NULL), 0);
    assert_int_equal(mask, all);
    assert_int_equal(cs_walls_parse("landlock,seccomp", &mask, NULL), 0);
    assert_int_equal(mask, 1u << CS_WALL_LANDLOCK | 1u << CS_WALL_SECCOMP);
    assert_false(cs_wall_required(CS_WALL_LANDLOCK));
    assert_true(cs_wall_required(CS_WALL_SECCOMP));
}

static void an_unknown_wall_is_named(void **state)
{
    (void)state;
    static const char *const bad[] = {"moat", "seccomp,moat", "", "seccomp,", ",", "moat,seccomp"};
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        uint32_t mask = 77;
        struct cs_err err = {0};
        assert_int_equal(cs_walls_parse(bad[i], &mask, &err), -1);
        assert_int_equal(err.code, CS_INVALID);
        assert_int_equal(mask, 77);
        if (strstr(bad[i], "moat"))
            assert_non_null(strstr(err.msg, "'moat'"));
    }
}

static void the_walls_hold_here(void **state)
{
    (void)state;
    struct cs_wall_state states[CS_WALL_COUNT];
    struct cs_err err = {0};
    int before = count_fds();
    if (cs_walls_probe(states, &err) < 0)
        fail_msg("%s", err.msg);
    for (unsigned i = 0; i < CS_WALL_COUNT; i++) {
        if (!states[i].holds && cs_wall_required((enum cs_wall)i))
            fail_msg("%s: %s; %s", cs_wall_name((enum cs_wall)i), states[i].how, states[i].remedy);
        assert_true(states[i].how[0] != '\0');
        assert_true(states[i].holds || states[i].remedy[0] != '\0');
    }
    assert_int_equal(count_fds(), before + 1); /* the program's own image is kept */
}

/*
 * A machine that refuses user namespaces, as a process of its own: a user namespace in which no
 * further one may be made. Prints what a zygote says there.
 */
static int forbidding_machine(bool weak)
{
    struct cs_jail_options o = standin_options();
    struct cs_zygote z;
    struct cs_zygote_reply reply;
    struct cs_err err = {0};
    o.host_uid = 0;
    if (weak)
        o.allow_weak = 1u << CS_WALL_USERNS;
    if (cs_zygote_spawn(&o, &z, &err) < 0)
        return 1;
    struct pollfd p = {.fd = z.control, .events = POLLIN};
    if (poll(&p, 1, 60000) != 1 || cs_zygote_reply(&z, &reply, &err) != 1)
        return 1;
    if (reply.kind == CS_ZYGOTE_FAILED)
        printf("FAILED %d %s\n", reply.err.code, reply.err.msg);
    else
        printf("HELLO\n");
    fflush(stdout);
    cs_zygote_close(&z);
    return 0;
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool fine = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return fine;
}

static void run_forbidding(const char *how, char *text, size_t size)
{
    int out[2], status;
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    fflush(NULL);
    pid_t pid = cs_jail_fork(0, NULL);
    if (pid == 0) {
        char map[64];
        uid_t uid = geteuid();
        gid_t gid = getegid();
        if (unshare(CLONE_NEWUSER) < 0)
            _exit(77);
        write_text("/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "%u %u 1", 4242u, (unsigned)uid);
        write_text("/proc/self/uid_map", map);
        snprintf(map, sizeof map, "%u %u 1", 4242u, (unsigned)gid);
        write_text("/proc/self/gid_map", map);
        if (!write_text("/proc/sys/user/max_user_namespaces", "0"))
            _exit(77);
        dup2(out[1], 1);
        execl("/proc/self/exe", "machine", how, (char *)NULL);
        _exit(1);
    }
    close(out[1]);
    size_t len = 0;
    ssize_t n;
    while (len < size - 1 && (n = read(out[0], text + len, size - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
}

static void a_missing_wall_is_named_and_stops_the_start(void **state)
{
    (void)state;
    char text[1024];
    run_forbidding("--forbidding", text, sizeof text);
    if (strncmp(text, "FAILED 3 ", 9) != 0 || !strstr(text, "'user-namespace'") ||
        !strstr(text, "max_*_namespaces"))
        fail_msg("it says: %s", text);
}

static void a_missing_wall_may_be_allowed(void **state)
{
    (void)state;
    char text[1024];
    /* Without one and without capabilities the next wall is missing, which was not allowed. */
    run_forbidding("--forbidding-weak", text, sizeof text);
    bool fine = strcmp(text, "HELLO\n") == 0 || strstr(text, "'mount-namespace'");
    if (!fine)
        fail_msg("it says: %s", text);
}

int main(int argc, char **argv)
{
    int status = cs_role_main(argc, argv, &standin_hooks);
    if (status >= 0)
        return status;
    if (argc == 2 && strncmp(argv[1], "--forbidding", 12) == 0)
        return forbidding_machine(argv[1][12] != '\0');
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wall_has_a_name_that_can_be_parsed),
        cmocka_unit_test(an_unknown_wall_is_named),
        cmocka_unit_test(the_walls_hold_here),
        cmocka_unit_test(a_missing_wall_is_named_and_stops_the_start),
        cmocka_unit_test(a_missing_wall_may_be_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
