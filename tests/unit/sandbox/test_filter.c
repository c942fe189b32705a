#include "standin.h"

#include <linux/sched.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "sandbox/filter.h"

/* Installs `profile` in a child and runs `act` there; what waitpid says about it. */
static int under(enum cs_profile profile, const struct cs_filter_facts *facts, int (*act)(void))
{
    struct cs_filter filter;
    struct cs_err err = {0};
    if (cs_filter_make(profile, facts, &filter, &err) < 0)
        fail_msg("%s", err.msg);
    fflush(NULL);
    pid_t pid = cs_jail_fork(0, NULL);
    if (pid == 0) {
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || cs_filter_install(&filter, &err) < 0)
            _exit(99);
        _exit(act());
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    cs_filter_done(&filter);
    return status;
}

static bool killed(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static bool fine(int status)
{
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int do_nothing(void)
{
    return 0;
}

static int open_file(void)
{
    return open("/etc/passwd", O_RDONLY) < 0 && errno == ENOENT ? 0 : 1;
}

static int make_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? 1 : 2;
}

static int make_code(void)
{
    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return 1;
}

static int map_a_file(void)
{
    mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 0, 0);
    return 1;
}

static int make_data(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED && mprotect(at, 4096, PROT_READ) == 0 ? 0 : 1;
}

static int send_to_address(void)
{
    char address[2] = {0};
    sendto(1, "x", 1, 0, (struct sockaddr *)address, 2);
    return 1;
}

static int read_elsewhere(void)
{
    char byte;
    return read(0, &byte, 1) < 0 ? 1 : 2;
}

static int call_a_future_number(void)
{
    syscall(5000);
    return 1;
}

static int suspend(void)
{
    sigset_t none;
    sigemptyset(&none);
    syscall(SYS_rt_sigsuspend, &none, 3); /* a wrong size: it comes back at once */
    return 0;
}

static void the_zygote_profile_lets_a_worker_live(void **state)
{
    (void)state;
    struct cs_filter_facts facts = {0};
    assert_true(fine(under(CS_PROFILE_ZYGOTE, &facts, do_nothing)));
    assert_true(fine(under(CS_PROFILE_ZYGOTE, &facts, open_file)));
    assert_true(fine(under(CS_PROFILE_ZYGOTE, &facts, make_data)));
    assert_true(fine(under(CS_PROFILE_ZYGOTE, &facts, suspend)));
}

static void the_zygote_profile_ends_what_has_no_row(void **state)
{
    (void)state;
    struct cs_filter_facts facts = {0};
    assert_true(killed(under(CS_PROFILE_ZYGOTE, &facts, make_socket)));
    assert_true(killed(under(CS_PROFILE_ZYGOTE, &facts, make_code)));
    assert_true(killed(under(CS_PROFILE_ZYGOTE, &facts, map_a_file)));
    assert_true(killed(under(CS_PROFILE_ZYGOTE, &facts, send_to_address)));
    assert_true(killed(under(CS_PROFILE_ZYGOTE, &facts, read_elsewhere)));
    assert_true(killed(under(CS_PROFILE_ZYGOTE, &facts, call_a_future_number)));
}

static void only_the_engines_random_devices_can_be_read(void **state)
{
    (void)state;
    int zero = 0;
    struct cs_filter_facts facts = {.random_fds = &zero, .random_count = 1};
    assert_false(killed(under(CS_PROFILE_ZYGOTE, &facts, read_elsewhere)));
}

static void strict_takes_the_signals_of_the_jit_away(void **state)
{
    (void)state;
    struct cs_filter_facts facts = {.strict = true};
    assert_true(killed(under(CS_PROFILE_ZYGOTE, &facts, suspend)));
}

static int change_limits(void)
{
    struct rlimit now;
    getrlimit(RLIMIT_CORE, &now);
    return 1;
}

static void the_worker_profile_takes_forking_away_and_nothing_else(void **state)
{
    (void)state;
    struct cs_filter_facts facts = {0};
    assert_true(killed(under(CS_PROFILE_WORKER, &facts, change_limits)));
    assert_true(fine(under(CS_PROFILE_WORKER, &facts, make_data)));
}

/* 0 if each of the calls fails with the errno that is expected of a guest. */
static int guest_refusals(void)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM)
        return 1;
    if (syscall(SYS_clone3, &args, sizeof args) >= 0 || errno != ENOSYS)
        return 2;
    if (syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0 || errno != EPERM)
        return 3;
    if (syscall(SYS_prlimit64, getppid(), RLIMIT_CORE, NULL, NULL) >= 0 || errno != EPERM)
        return 4;
    if (ioctl(0, TIOCSTI, "x") >= 0 || errno != EPERM)
        return 5;
    /* The kernel looks at the lower half only; so must the filter. */
    if (syscall(SYS_ioctl, 0, (1ull << 32) | TIOCSTI, "x") >= 0 || errno != EPERM)
        return 6;
    if (prctl(PR_SET_SECCOMP, 1, 0, 0, 0) >= 0 || errno != EPERM)
        return 7;
    if (syscall(SYS_memfd_create, "x", 0) >= 0 || errno != EPERM)
        return 8;
    if (syscall(SYS_unshare, CLONE_NEWUSER) >= 0 || errno != EPERM)
        return 9;
    if (syscall(SYS_ptrace, 0, 0, 0, 0) >= 0 || errno != EPERM)
        return 10;
    if (syscall(5000) >= 0 || errno != EPERM)
        return 11;
    if (syscall(SYS_io_uring_setup, 1, NULL) >= 0 || errno != ENOSYS)
        return 12;
    int pair[2];
    if (socketpair(AF_NETLINK, SOCK_RAW, 0, pair) >= 0 || errno != EPERM)
        return 13;
    return 0;
}

static int guest_rights(void)
{
    int pair[2], status;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return 1;
    long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(7);
    if (pid < 0 || waitpid((pid_t)pid, &status, 0) != pid || WEXITSTATUS(status) != 7)
        return 2;
    struct rlimit now;
    if (syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &now) < 0)
        return 3;
    if (prctl(PR_SET_NAME, "guest") < 0)
        return 4;
    return open("/etc/passwd", O_RDONLY) >= 0 ? 0 : 5;
}

static void guests_are_refused_by_an_error_and_live_on(void **state)
{
    (void)state;
    struct cs_filter_facts facts = {.alone = true};
    int status = under(CS_PROFILE_GUEST, &facts, guest_refusals);
    if (!fine(status))
        fail_msg("refusal %d (status %x)", WEXITSTATUS(status), (unsigned)status);
    status = under(CS_PROFILE_GUEST, &facts, guest_rights);
    if (!fine(status))
        fail_msg("right %d (status %x)", WEXITSTATUS(status), (unsigned)status);
}

static int server_refusals(void)
{
    int failed = guest_refusals();
    if (failed)
        return failed;
    struct sockaddr_in at = {.sin_family = AF_INET};
    if (connect(0, (struct sockaddr *)&at, sizeof at) >= 0 || errno != EPERM)
        return 20;
    return syscall(SYS_inotify_init1, 0) >= 0 ? 0 : 21;
}

static int server_network(void)
{
    const int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    if (socket(AF_INET, SOCK_STREAM, 0) < 0 || socket(AF_INET6, SOCK_DGRAM | flags, 0) < 0 ||
        socket(AF_INET, SOCK_STREAM | flags, IPPROTO_TCP) < 0 ||
        socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP) < 0)
        return 1;
    static const int kinds[][2] = {{SOCK_RAW, IPPROTO_ICMP},    {SOCK_RAW, 0},
                                   {SOCK_STREAM, IPPROTO_SCTP}, {SOCK_SEQPACKET, 0},
                                   {SOCK_DGRAM, IPPROTO_ICMP},  {SOCK_STREAM, 262}};
    for (size_t i = 0; i < CS_COUNT(kinds); i++)
        if (socket(AF_INET, kinds[i][0], kinds[i][1]) >= 0 || errno != EPERM)
            return 20 + (int)i;
    static const int others[] = {AF_UNIX, AF_NETLINK, AF_VSOCK, AF_PACKET, AF_ALG};
    for (size_t i = 0; i < CS_COUNT(others); i++)
        if (socket(others[i], SOCK_STREAM, 0) >= 0 || errno != EPERM)
            return 10 + (int)i;
    /* The kernel looks at the lower half only. */
    if (syscall(SYS_socket, (1ull << 32) | AF_UNIX, SOCK_STREAM, 0) >= 0 || errno != EPERM)
        return 2;
    return syscall(SYS_unshare, CLONE_NEWUSER) < 0 && errno == EPERM ? 0 : 3;
}

static void servers_have_a_network_only_if_told_so(void **state)
{
    (void)state;
    struct cs_filter_facts facts = {.alone = true};
    int status = under(CS_PROFILE_SERVER, &facts, server_refusals);
    if (!fine(status))
        fail_msg("refusal %d (status %x)", WEXITSTATUS(status), (unsigned)status);
    status = under(CS_PROFILE_SERVER, &facts, guest_rights);
    if (!fine(status))
        fail_msg("right %d (status %x)", WEXITSTATUS(status), (unsigned)status);
    facts.network = true;
    status = under(CS_PROFILE_SERVER, &facts, server_network);
    if (!fine(status))
        fail_msg("network %d (status %x)", WEXITSTATUS(status), (unsigned)status);
}

static void the_reaper_can_do_next_to_nothing(void **state)
{
    (void)state;
    struct cs_filter_facts facts = {.alone = true};
    assert_true(fine(under(CS_PROFILE_REAPER, &facts, do_nothing)));
    assert_true(killed(under(CS_PROFILE_REAPER, &facts, open_file)));
    assert_true(killed(under(CS_PROFILE_REAPER, &facts, make_code)));
    assert_true(killed(under(CS_PROFILE_REAPER, &facts, make_socket)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_zygote_profile_lets_a_worker_live),
        cmocka_unit_test(the_zygote_profile_ends_what_has_no_row),
        cmocka_unit_test(only_the_engines_random_devices_can_be_read),
        cmocka_unit_test(strict_takes_the_signals_of_the_jit_away),
        cmocka_unit_test(the_worker_profile_takes_forking_away_and_nothing_else),
        cmocka_unit_test(guests_are_refused_by_an_error_and_live_on),
        cmocka_unit_test(servers_have_a_network_only_if_told_so),
        cmocka_unit_test(the_reaper_can_do_next_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
