/* Starting servers: real processes. */
#include "launching.h"

#include <sys/prctl.h>

/* What a shell prints. */
static const char *shell(const char *script, const char *const *env, const char *cwd,
                         struct cs_buf *out)
{
    const char *argv[] = {"sh", "-c", script, NULL};
    struct cs_child child = start(&(struct cs_launch){.argv = argv, .env = env, .cwd = cwd});
    read_some(child.out, SIZE_MAX, out);
    await_end(&child);
    return cs_buf_cstr(out);
}

static void test_streams(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "read x; echo \"out $x\"; echo \"err $x\" >&2; exit 7", NULL};
    struct cs_child child = start(&(struct cs_launch){.argv = argv, .env = plain_env});
    CS_AUTO_BUF struct cs_buf out = {0}, err = {0};
    assert_true(fcntl(child.in, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(child.out, F_GETFL) & O_NONBLOCK);
    assert_int_equal(write(child.in, "hello\n", 6), 6);
    read_some(child.out, SIZE_MAX, &out);
    read_some(child.err, SIZE_MAX, &err);
    assert_string_equal(cs_buf_cstr(&out), "out hello\n");
    assert_string_equal(cs_buf_cstr(&err), "err hello\n");
    siginfo_t info = await_end(&child);
    assert_int_equal(info.si_code, CLD_EXITED);
    assert_int_equal(info.si_status, 7);
}

static void test_environment_is_exact(void **state)
{
    (void)state;
    setenv("CAISSON_TEST_SECRET", "leak", 1);
    const char *const env[] = {"PATH=/usr/bin:/bin", "A=1", "EMPTY=", "B=x y=z", NULL};
    const char *argv[] = {"env", NULL};
    struct cs_child child = start(&(struct cs_launch){.argv = argv, .env = env});
    CS_AUTO_BUF struct cs_buf out = {0};
    read_some(child.out, SIZE_MAX, &out);
    await_end(&child);
    assert_string_equal(cs_buf_cstr(&out), "PATH=/usr/bin:/bin\nA=1\nEMPTY=\nB=x y=z\n");
    /* none at all: still found where commands usually are */
    child = start(&(struct cs_launch){.argv = argv});
    cs_buf_clear(&out);
    read_some(child.out, SIZE_MAX, &out);
    assert_int_equal(await_end(&child).si_status, 0);
    assert_int_equal(out.len, 0);
}

static void test_descriptors_are_closed(void **state)
{
    (void)state;
    int open_fd = open("/dev/null", O_RDONLY); /* on purpose without CLOEXEC */
    int high = fcntl(open_fd, F_DUPFD, 700);
    assert_true(high >= 700);
    CS_AUTO_BUF struct cs_buf out = {0};
    const char *argv[] = {"ls", "/proc/self/fd", NULL};
    struct cs_child child = start(&(struct cs_launch){.argv = argv, .env = plain_env});
    read_some(child.out, SIZE_MAX, &out);
    await_end(&child);
    assert_string_equal(cs_buf_cstr(&out), "0\n1\n2\n3\n"); /* the last is of ls itself */
    close(open_fd);
    close(high);
}

static void test_blocking_for_the_child(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    const char *text =
        shell("grep -h flags /proc/$$/fdinfo/0 /proc/$$/fdinfo/1", plain_env, NULL, &out);
    unsigned in, stdout_;
    assert_int_equal(sscanf(text, "flags: %o flags: %o", &in, &stdout_), 2);
    assert_false(in & O_NONBLOCK);
    assert_false(stdout_ & O_NONBLOCK);
}

static void on_usr1(int signal)
{
    (void)signal;
}

static void test_signals_are_default(void **state)
{
    (void)state;
    sigset_t some, before;
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    sigprocmask(SIG_BLOCK, &some, &before);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, on_usr1);
    CS_AUTO_BUF struct cs_buf out = {0};
    const char *argv[] = {"cat", "/proc/self/status", NULL};
    struct cs_child child = start(&(struct cs_launch){.argv = argv, .env = plain_env});
    read_some(child.out, SIZE_MAX, &out);
    await_end(&child);
    assert_non_null(strstr(cs_buf_cstr(&out), "SigBlk:\t0000000000000000\n"
                                              "SigIgn:\t0000000000000000\n"
                                              "SigCgt:\t0000000000000000\n"));
    /* and ours are as they were */
    struct sigaction now;
    sigset_t mask;
    assert_int_equal(sigaction(SIGUSR1, NULL, &now), 0);
    assert_ptr_equal(now.sa_handler, on_usr1);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    assert_int_equal(sigismember(&mask, SIGTERM), 1);
    assert_int_equal(sigismember(&mask, SIGUSR1), 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGUSR1, SIG_DFL);
}

static void test_session_and_directory(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    const char *text = shell("cut -d' ' -f5,6 /proc/$$/stat; echo $$; pwd", plain_env, dir, &out);
    int group, session, pid;
    char where[128];
    assert_int_equal(sscanf(text, "%d %d %d %127s", &group, &session, &pid, where), 4);
    assert_int_equal(group, pid);
    assert_int_equal(session, pid);
    assert_string_equal(where, dir);
}

/* A grandchild in the group, one that made a session of its own; none survives. */
static void test_kill_reaches_all(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c",
                          "trap '' TERM; sleep 100 & echo $!; setsid sleep 100 & echo $!; "
                          "(sleep 100 & echo $!; wait) & wait; wait; wait",
                          NULL};
    struct cs_child child = start(&(struct cs_launch){.argv = argv, .env = plain_env});
    CS_AUTO_BUF struct cs_buf out = {0};
    int pids[3];
    while (sscanf(cs_buf_cstr(&out), "%d %d %d", &pids[0], &pids[1], &pids[2]) != 3 ||
           out.at[out.len - 1] != '\n') {
        size_t before = out.len;
        read_some(child.out, out.len + 1, &out);
        assert_true(out.len > before);
    }
    usleep(100000); /* setsid(1) is to have done its work */
    for (int i = 0; i < 3; i++)
        assert_true(alive(pids[i]));
    cs_child_kill(&child, SIGKILL);
    siginfo_t info = await_end(&child);
    assert_int_equal(info.si_code, CLD_KILLED);
    for (int i = 0; i < 3; i++)
        assert_true(gone_soon(pids[i]));
}

static void test_term_goes_to_the_group(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "sleep 100 & echo $!; wait", NULL};
    struct cs_child child = start(&(struct cs_launch){.argv = argv, .env = plain_env});
    CS_AUTO_BUF struct cs_buf out = {0};
    read_some(child.out, 2, &out);
    pid_t grandchild = (pid_t)strtol(cs_buf_cstr(&out), NULL, 10);
    assert_true(alive(grandchild));
    cs_child_kill(&child, SIGTERM);
    siginfo_t info = await_end(&child);
    assert_int_equal(info.si_code, CLD_KILLED);
    assert_int_equal(info.si_status, SIGTERM);
    assert_true(gone_soon(grandchild));
}

/* It has ended by itself; what it left is killed before it is reaped. */
static void test_leftovers(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "sleep 100 & echo $!", NULL};
    struct cs_child child = start(&(struct cs_launch){.argv = argv, .env = plain_env});
    struct pollfd p = {.fd = child.pidfd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 60000), 1);
    CS_AUTO_BUF struct cs_buf out = {0};
    read_some(child.out, 2, &out);
    pid_t left = (pid_t)strtol(cs_buf_cstr(&out), NULL, 10);
    assert_true(alive(left));
    cs_child_kill(&child, SIGKILL);
    assert_int_equal(await_end(&child).si_code, CLD_EXITED);
    assert_true(gone_soon(left));
}

/* A process of its own launches and then dies: its server dies too. */
static void test_dies_with_us(void **state)
{
    (void)state;
    int pair[2];
    assert_int_equal(pipe(pair), 0);
    pid_t helper = fork();
    if (helper == 0) {
        const char *argv[] = {"sleep", "100", NULL};
        struct cs_child child;
        struct cs_err err;
        if (cs_launch(loop, &(struct cs_launch){.argv = argv, .env = plain_env}, &child, &err) ==
                0 &&
            write(pair[1], &child.pid, sizeof child.pid) == sizeof child.pid)
            pause();
        _exit(1);
    }
    pid_t server;
    assert_int_equal(read(pair[0], &server, sizeof server), sizeof server);
    assert_true(alive(server));
    kill(helper, SIGKILL);
    assert_int_equal(waitpid(helper, NULL, 0), helper);
    assert_true(gone_soon(server));
    close(pair[0]);
    close(pair[1]);
}

static void put(const char *name, const char *text, mode_t mode, char path[128])
{
    snprintf(path, 128, "%s/%s", dir, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(path, mode);
}

static void test_missing_commands(void **state)
{
    (void)state;
    struct cs_err err;
    char path[128];
    const char *argv[] = {"no-such-command", NULL};
    refuse(&(struct cs_launch){.argv = argv, .env = plain_env}, &err);
    assert_int_equal(err.code, CS_MISSING);
    assert_string_equal(err.msg, "there is no command 'no-such-command' (looked in /usr/bin:/bin)");

    argv[0] = "/no/such/command";
    refuse(&(struct cs_launch){.argv = argv, .env = plain_env}, &err);
    assert_int_equal(err.code, CS_MISSING);
    assert_non_null(strstr(err.msg, "/no/such/command"));

    argv[0] = "";
    refuse(&(struct cs_launch){.argv = argv, .env = plain_env}, &err);
    assert_int_equal(err.code, CS_MISSING);

    argv[0] = "true";
    const char *const elsewhere[] = {"PATH=/nowhere::.:bin", NULL};
    refuse(&(struct cs_launch){.argv = argv, .env = elsewhere, .cwd = "/usr/bin"}, &err);
    assert_int_equal(err.code, CS_MISSING);

    put("orphan", "#!/no/such/node --flag\n", 0755, path);
    argv[0] = path;
    refuse(&(struct cs_launch){.argv = argv, .env = plain_env}, &err);
    assert_int_equal(err.code, CS_MISSING);
    assert_non_null(strstr(err.msg, "'/no/such/node'"));

    argv[0] = "./orphan";
    refuse(&(struct cs_launch){.argv = argv, .env = plain_env, .cwd = dir}, &err);
    assert_non_null(strstr(err.msg, "'/no/such/node'"));

    put("plain", "echo hi\n", 0644, path);
    argv[0] = path;
    refuse(&(struct cs_launch){.argv = argv, .env = plain_env}, &err);
    assert_non_null(strstr(err.msg, "chmod +x"));

    put("shapeless", "echo hi\n", 0755, path);
    refuse(&(struct cs_launch){.argv = argv, .env = plain_env}, &err);
    assert_non_null(strstr(err.msg, "#!"));

    argv[0] = dir;
    refuse(&(struct cs_launch){.argv = argv, .env = plain_env}, &err);
    assert_non_null(strstr(err.msg, "is a directory"));

    argv[0] = "true";
    refuse(&(struct cs_launch){.argv = argv, .env = plain_env, .cwd = "/no/such/dir"}, &err);
    assert_non_null(strstr(err.msg, "'/no/such/dir'"));

    const char *nothing[] = {NULL};
    refuse(&(struct cs_launch){.argv = nothing, .env = plain_env}, &err);
    assert_int_equal(err.code, CS_INVALID);
}

/* An earlier directory of PATH has something of that name that cannot be executed. */
static void test_search_goes_on(void **state)
{
    (void)state;
    char path[128], env_path[160];
    put("true", "not for execution\n", 0644, path);
    snprintf(env_path, sizeof env_path, "PATH=/no/such:%s:/usr/bin:/bin", dir);
    const char *const env[] = {env_path, NULL};
    const char *argv[] = {"true", NULL};
    struct cs_child child = start(&(struct cs_launch){.argv = argv, .env = env});
    assert_int_equal(await_end(&child).si_status, 0);
    unlink(path);
}

static void test_nothing_is_left(void **state)
{
    (void)state;
    int before = count_fds();
    struct cs_err err;
    const char *good[] = {"true", NULL}, *bad[] = {"no-such-command", NULL};
    for (int i = 0; i < 20; i++) {
        struct cs_child child = start(&(struct cs_launch){.argv = good, .env = plain_env});
        await_end(&child);
        refuse(&(struct cs_launch){.argv = bad, .env = plain_env}, &err);
    }
    assert_int_equal(count_fds(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

int main(void)
{
    snprintf(dir, sizeof dir,
             "/tmp/caisson-launch-XX"
             "XXXX");
    if (!mkdtemp(dir))
        return 1;
    loop = uv_default_loop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_environment_is_exact),
        cmocka_unit_test(test_descriptors_are_closed),
        cmocka_unit_test(test_blocking_for_the_child),
        cmocka_unit_test(test_signals_are_default),
        cmocka_unit_test(test_session_and_directory),
        cmocka_unit_test(test_kill_reaches_all),
        cmocka_unit_test(test_term_goes_to_the_group),
        cmocka_unit_test(test_leftovers),
        cmocka_unit_test(test_dies_with_us),
        cmocka_unit_test(test_missing_commands),
        cmocka_unit_test(test_search_goes_on),
        cmocka_unit_test(test_nothing_is_left),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    static const char *const names[] = {"orphan", "plain", "shapeless"};
    for (size_t i = 0; i < CS_COUNT(names); i++) {
        snprintf(command, sizeof command, "%s/%s", dir, names[i]);
        unlink(command);
    }
    rmdir(dir);
    return failed;
}
