#include "standin.h"

#include <dirent.h>
#include <spawn.h>
#include <sys/stat.h>

struct fixture {
    struct cs_zygote zygote;
};

static int setup(void **state)
{
    static struct fixture f;
    struct cs_jail_options o = standin_options();
    zygote_start(&o, &f.zygote);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    cs_zygote_close(&f->zygote);
    return 0;
}

static void a_worker_is_pid_one_of_its_own_namespace(void **state)
{
    struct fixture *f = *state;
    struct worker w = worker_start(&f->zygote);
    struct result r;
    assert_true(worker_ask(&w, OP_GETPID, 0, &r));
    assert_int_equal(r.value, 1);
    siginfo_t info = worker_end(&w, false);
    assert_int_equal(info.si_code, CLD_EXITED);
    assert_int_equal(info.si_status, 0);
}

static void the_engine_works_inside(void **state)
{
    struct fixture *f = *state;
    struct worker w = worker_start(&f->zygote);
    struct result r;
    if (!worker_ask(&w, OP_EVAL, 0, &r)) {
        siginfo_t info = worker_end(&w, false);
        fail_msg("worker ended: code %d status %d", info.si_code, info.si_status);
    }
    assert_int_equal(r.value, 6765 + 200000);
    worker_end(&w, false);
}

static void files_do_not_exist_inside(void **state)
{
    struct fixture *f = *state;
    struct worker w = worker_start(&f->zygote);
    struct result r;
    assert_true(worker_ask(&w, OP_OPEN, 0, &r));
    assert_int_equal(r.value, -1);
    assert_int_equal(r.error, ENOENT);
    worker_end(&w, false);
}

static void forbidden_calls_end_the_worker_with_sigsys(void **state)
{
    static const enum op forbidden[] = {OP_FORK,  OP_SOCKET, OP_EXECMEM, OP_MPROTECT, OP_RECVMSG,
                                        OP_PRCTL, OP_TGKILL, OP_READ0,   OP_PTRACE};
    struct fixture *f = *state;
    for (size_t i = 0; i < CS_COUNT(forbidden); i++) {
        struct worker w = worker_start(&f->zygote);
        struct result r;
        if (worker_ask(&w, forbidden[i], 0, &r))
            fail_msg("call %d was answered: %ld, %d", forbidden[i], (long)r.value, r.error);
        siginfo_t info = worker_end(&w, false);
        assert_int_equal(info.si_code & ~1, CLD_KILLED & ~1);
        assert_int_equal(info.si_status, SIGSYS);
    }
}

static void a_worker_holds_no_descriptor_but_its_own(void **state)
{
    struct fixture *f = *state;
    struct worker w = worker_start(&f->zygote);
    struct result r;
    assert_true(worker_ask(&w, OP_FDS, 0, &r));
    assert_int_equal(r.value & 0xffff, 0xf); /* 0 to 2, and the socket; the engine's lie above */
    char path[64], target[128];
    for (int fd = 0; fd < 64; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)w.pid, fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n < 0)
            continue;
        target[n] = '\0';
        bool fine = fd == 3 || fd == 2 || strstr(target, "/null") || strstr(target, "/urandom") ||
                    strstr(target, "memfd:frozen");
        if (!fine)
            fail_msg("descriptor %d is %s", fd, target);
    }
    worker_end(&w, false);
}

static void every_wall_shows_from_outside(void **state)
{
    static const char *const kinds[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
    struct fixture *f = *state;
    struct worker w = worker_start(&f->zygote);
    struct result r;
    assert_true(worker_ask(&w, OP_GETPID, 0, &r));
    char value[256], path[64], a[64], b[64];
    for (size_t i = 0; i < CS_COUNT(kinds); i++) {
        snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)w.pid, kinds[i]);
        ssize_t n = readlink(path, a, sizeof a - 1);
        if (n < 0 && errno == EACCES)
            continue; /* an ordinary user may not look at a process that is not dumpable */
        assert_true(n > 0);
        a[n] = '\0';
        snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[i]);
        n = readlink(path, b, sizeof b - 1);
        assert_true(n > 0);
        b[n] = '\0';
        assert_string_not_equal(a, b);
    }
    static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
    for (size_t i = 0; i < CS_COUNT(sets); i++) {
        status_line(w.pid, sets[i], value, sizeof value);
        assert_string_equal(value, "0000000000000000");
    }
    status_line(w.pid, "NoNewPrivs", value, sizeof value);
    assert_string_equal(value, "1");
    status_line(w.pid, "Seccomp", value, sizeof value);
    assert_string_equal(value, "2");
    status_line(w.pid, "Threads", value, sizeof value);
    assert_string_equal(value, "1");
    status_line(w.pid, "Groups", value, sizeof value);
    if (getuid() == 0) {
        assert_string_equal(value, "");
        status_line(w.pid, "Uid", value, sizeof value);
        assert_string_equal(value, "3735928\t3735928\t3735928\t3735928");
        snprintf(path, sizeof path, "/proc/%d/mountinfo", (int)w.pid);
        FILE *mounts = fopen(path, "re");
        assert_non_null(mounts);
        int lines = 0;
        char line[512];
        while (fgets(line, sizeof line, mounts)) {
            lines++;
            assert_non_null(strstr(line, " / / ro,"));
            assert_non_null(strstr(line, "tmpfs"));
        }
        fclose(mounts);
        assert_int_equal(lines, 1);
    }
    worker_end(&w, false);
}

static void the_daemon_can_bound_the_address_space_of_a_worker(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)state;
    skip();
#else
    struct fixture *f = *state;
    struct worker w = worker_start(&f->zygote);
    struct result r;
    char value[64];
    status_line(w.pid, "VmSize", value, sizeof value);
    rlim_t now = strtoull(value, NULL, 10) * 1024;
    struct cs_err err = {0};
    if (cs_worker_bound(w.pid, now + (64u << 20), NOBODY_AT_ALL, &err) < 0)
        fail_msg("%s", err.msg);
    uid_t real, effective, saved;
    assert_int_equal(getresuid(&real, &effective, &saved), 0);
    assert_int_equal(real, effective);
    assert_true(worker_ask(&w, OP_ALLOC, 256, &r));
    assert_in_range(r.value, 40, 64);
    worker_end(&w, false);
#endif
}

static void a_spinning_worker_is_killed_by_its_pidfd(void **state)
{
    struct fixture *f = *state;
    struct worker w = worker_start(&f->zygote);
    struct request r = {.op = OP_SPIN};
    assert_int_equal(send(w.sock, &r, sizeof r, 0), sizeof r);
    siginfo_t info = worker_end(&w, true);
    assert_int_equal(info.si_code, CLD_KILLED);
    assert_int_equal(info.si_status, SIGKILL);
}

static void a_worker_outlives_its_zygote(void **state)
{
    (void)state;
    struct cs_zygote z;
    struct cs_jail_options o = standin_options();
    zygote_start(&o, &z);
    struct worker w = worker_start(&z);
    struct result r;
    cs_zygote_close(&z);
    assert_true(worker_ask(&w, OP_GETPID, 0, &r));
    assert_int_equal(r.value, 1);
    worker_end(&w, false);
}

static void strict_workers_have_no_executable_memory_of_the_engine(void **state)
{
    (void)state;
    struct cs_zygote z;
    struct cs_jail_options o = standin_options();
    o.no_jit = true;
    zygote_start(&o, &z);
    struct worker w = worker_start(&z);
    struct result r;
    assert_true(worker_ask(&w, OP_EVAL, 0, &r));
    assert_int_equal(r.value, 6765 + 200000);
    worker_end(&w, false);
    cs_zygote_close(&z);
}

static void full_isolation_gives_every_worker_its_own_namespaces(void **state)
{
    (void)state;
    struct cs_zygote z;
    struct cs_jail_options o = standin_options();
    o.full = true;
    zygote_start(&o, &z);
    struct worker a = worker_start(&z), b = worker_start(&z);
    struct result r;
    assert_true(worker_ask(&a, OP_GETPID, 0, &r));
    assert_int_equal(r.value, 1);
    assert_true(worker_ask(&b, OP_EVAL, 0, &r));
    if (getuid() == 0) {
        static const char *const kinds[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
        for (size_t i = 0; i < CS_COUNT(kinds); i++) {
            struct stat sa, sb;
            char path[64];
            snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)a.pid, kinds[i]);
            assert_int_equal(stat(path, &sa), 0);
            snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)b.pid, kinds[i]);
            assert_int_equal(stat(path, &sb), 0);
            assert_int_not_equal(sa.st_ino, sb.st_ino);
        }
    }
    char value[64];
    status_line(a.pid, "CapBnd", value, sizeof value);
    assert_string_equal(value, "0000000000000000");
    status_line(a.pid, "CapPrm", value, sizeof value);
    assert_string_equal(value, "0000000000000000");
    worker_end(&a, false);
    worker_end(&b, false);
    cs_zygote_close(&z);
}

static void many_workers_leave_nothing_behind(void **state)
{
    struct fixture *f = *state;
    int before = count_fds();
    for (int i = 0; i < 500; i++) {
        struct worker w = worker_start(&f->zygote);
        struct result r;
        if (i % 10 == 0) {
            worker_ask(&w, OP_SOCKET, 0, &r);
            worker_end(&w, false);
        } else if (i % 10 == 1) {
            worker_end(&w, true);
        } else {
            assert_true(worker_ask(&w, OP_GETPID, 0, &r));
            worker_end(&w, false);
        }
    }
    assert_int_equal(count_fds(), before);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)f->zygote.pid);
    DIR *dir = opendir(path);
    if (dir) { /* root only */
        int n = 0;
        while (readdir(dir))
            n++;
        closedir(dir);
        assert_in_range(n, 4, 20);
    }
    siginfo_t info = {0};
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    assert_int_equal(info.si_pid, 0);
}

/* The process that the next test kills: a zygote, a worker that waits and one that spins. */
static int doomed_daemon(void)
{
    struct cs_zygote z;
    struct cs_jail_options o = standin_options();
    zygote_start(&o, &z);
    struct worker a = worker_start(&z), b = worker_start(&z);
    struct result r;
    worker_ask(&a, OP_GETPID, 0, &r);
    struct request spin = {.op = OP_SPIN};
    send(b.sock, &spin, sizeof spin, 0);
    pid_t pids[3] = {z.pid, a.pid, b.pid};
    if (write(1, pids, sizeof pids) != sizeof pids)
        return 1;
    for (;;)
        pause();
}

static void nothing_survives_the_daemon(void **state)
{
    (void)state;
    int out[2], status;
    pid_t pids[3], daemon;
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    char *argv[] = {(char *)"daemon", (char *)"--doomed", NULL};
    assert_int_equal(posix_spawn(&daemon, "/proc/self/exe", &files, NULL, argv, NULL), 0);
    posix_spawn_file_actions_destroy(&files);
    close(out[1]);
    assert_int_equal(read(out[0], pids, sizeof pids), sizeof pids);
    close(out[0]);
    usleep(50000);
    assert_int_equal(kill(daemon, SIGKILL), 0);
    assert_int_equal(waitpid(daemon, &status, 0), daemon);
    for (int i = 0; i < 3; i++) {
        bool gone = false;
        for (int tries = 0; tries < 6000 && !gone; tries++) {
            char value[64], path[64];
            snprintf(path, sizeof path, "/proc/%d/status", (int)pids[i]);
            gone = access(path, F_OK) < 0;
            if (!gone) {
                status_line(pids[i], "State", value, sizeof value);
                gone = value[0] == 'Z'; /* dead; whoever inherited it has not looked yet */
            }
            if (!gone)
                usleep(10000);
        }
        if (!gone)
            fail_msg("process %d of 3 survived", i);
    }
}

static void a_wall_that_is_missing_is_named(void **state)
{
    (void)state;
    struct cs_jail jail = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_jail_missing(&jail, CS_WALL_NETNS, EPERM, "unshare", &err), -1);
    assert_int_equal(err.code, CS_DENIED);
    assert_non_null(strstr(err.msg, "network-namespace"));
    assert_false(cs_jail_has(&jail, CS_WALL_NETNS));
    jail = (struct cs_jail){.options.allow_weak = 1u << CS_WALL_NETNS};
    assert_int_equal(cs_jail_missing(&jail, CS_WALL_NETNS, EPERM, "unshare", &err), 0);
}

#ifdef CS_TEST_HOOKS
static void the_weak_jail_of_the_tests_has_no_walls(void **state)
{
    (void)state;
    struct cs_zygote z;
    struct cs_jail_options o = standin_options();
    o.weak_for_test = true;
    zygote_start(&o, &z);
    struct worker w = worker_start(&z);
    struct result r;
    assert_true(worker_ask(&w, OP_OPEN, 0, &r));
    assert_true(r.value >= 0);
    assert_true(worker_ask(&w, OP_GETPID, 0, &r));
    assert_int_not_equal(r.value, 1);
    worker_end(&w, false);
    cs_zygote_close(&z);
}
#endif

int main(int argc, char **argv)
{
    int status = cs_role_main(argc, argv, &standin_hooks);
    if (status >= 0)
        return status;
    if (argc == 2 && strcmp(argv[1], "--doomed") == 0)
        return doomed_daemon();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worker_is_pid_one_of_its_own_namespace),
        cmocka_unit_test(the_engine_works_inside),
        cmocka_unit_test(files_do_not_exist_inside),
        cmocka_unit_test(forbidden_calls_end_the_worker_with_sigsys),
        cmocka_unit_test(a_worker_holds_no_descriptor_but_its_own),
        cmocka_unit_test(every_wall_shows_from_outside),
        cmocka_unit_test(the_daemon_can_bound_the_address_space_of_a_worker),
        cmocka_unit_test(a_spinning_worker_is_killed_by_its_pidfd),
        cmocka_unit_test(a_worker_outlives_its_zygote),
        cmocka_unit_test(strict_workers_have_no_executable_memory_of_the_engine),
        cmocka_unit_test(full_isolation_gives_every_worker_its_own_namespaces),
        cmocka_unit_test(many_workers_leave_nothing_behind),
        cmocka_unit_test(nothing_survives_the_daemon),
        cmocka_unit_test(a_wall_that_is_missing_is_named),
#ifdef CS_TEST_HOOKS
        cmocka_unit_test(the_weak_jail_of_the_tests_has_no_walls),
#endif
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
