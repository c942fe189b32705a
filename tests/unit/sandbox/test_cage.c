#include "standin.h"

#include <dirent.h>
#include <sys/stat.h>
#include <time.h>

#include "sandbox/cage.h"
#include "sandbox/cgroup.h"

static struct cs_zygote zygote;

static int setup(void **state)
{
    (void)state;
    struct cs_jail_options o = standin_options();
    zygote_start(&o, &zygote);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cs_zygote_close(&zygote);
    return 0;
}

static int64_t ms_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct cs_limits limits(void)
{
    return (struct cs_limits){.memory = 64u << 20, .cpu = 100, .cpu_burst = 60000, .processes = 1};
}

static struct cs_cages *open_cages(bool polling)
{
    struct cs_cages *cages;
    struct cs_err err = {0};
    if (cs_cages_open(polling, &cages, &err) < 0)
        fail_msg("%s", err.msg);
    return cages;
}

static struct cs_cage *put(struct cs_cages *cages, const struct worker *w,
                           const struct cs_limits *l)
{
    struct cs_cage *cage;
    struct cs_err err = {0};
    if (cs_cage_make(cages, &cage, &err) < 0 || cs_cage_join(cage, w->pid, w->pidfd, &err) < 0 ||
        cs_cage_set(cage, l, 16u << 20, &err) < 0)
        fail_msg("%s", err.msg);
    return cage;
}

static void take_away(struct cs_cage *cage)
{
    for (int i = 0; i < 30000; i++) {
        if (cs_cage_empty(cage) && cs_cage_remove(cage))
            return;
        usleep(2000);
    }
    fail_msg("the cage stays busy");
}

static void tick_until_dead(struct cs_cage *cage, const struct worker *w, int64_t ms,
                            struct cs_usage *usage)
{
    int64_t end = ms_now() + ms;
    struct pollfd p = {.fd = w->pidfd, .events = POLLIN};
    while (ms_now() < end && poll(&p, 1, 20) == 0)
        cs_cage_tick(cage, usage);
}

static void memory_limit(bool polling)
{
    struct cs_cages *cages = open_cages(polling);
    struct worker w = worker_start(&zygote);
    struct cs_limits l = limits();
    struct cs_cage *cage = put(cages, &w, &l);
    struct request r = {.op = OP_ALLOC, .arg = 600};
    struct cs_usage usage = {0};
    assert_int_equal(send(w.sock, &r, sizeof r, 0), sizeof r);
    tick_until_dead(cage, &w, 60000, &usage);
    siginfo_t info = worker_end(&w, false);
    assert_int_equal(info.si_code, CLD_KILLED);
    assert_int_equal(info.si_status, SIGKILL);
    cs_cage_read(cage, &usage);
    assert_true(usage.memory_hit);
    assert_in_range(usage.memory_peak, 50u << 20, 620u << 20);
    take_away(cage);
    cs_cages_free(cages);
}

static void memory_beyond_the_limit_ends_the_worker(void **state)
{
    (void)state;
    memory_limit(false);
}

static void memory_is_bounded_by_polling_too(void **state)
{
    (void)state;
    memory_limit(true);
}

static void memory_below_the_limit_is_measured_and_does_no_harm(void **state)
{
    (void)state;
    for (int polling = 0; polling < 2; polling++) {
        struct cs_cages *cages = open_cages(polling);
        struct worker w = worker_start(&zygote);
        struct cs_limits l = limits();
        struct cs_cage *cage = put(cages, &w, &l);
        struct result r;
        struct cs_usage usage;
        assert_true(worker_ask(&w, OP_ALLOC, 40, &r));
        cs_cage_tick(cage, &usage);
        assert_false(usage.memory_hit);
        assert_in_range(usage.memory_peak, 38u << 20, 60u << 20);
        assert_true(usage.cpu_us > 0);
        worker_end(&w, false);
        take_away(cage);
        cs_cages_free(cages);
    }
}

static void cpu_share(bool polling)
{
    struct cs_cages *cages = open_cages(polling);
    struct worker w = worker_start(&zygote);
    struct cs_limits l = limits();
    l.cpu = 20;
    l.cpu_burst = 200;
    struct cs_cage *cage = put(cages, &w, &l);
    struct request r = {.op = OP_SPIN};
    struct cs_usage usage = {0};
    assert_int_equal(send(w.sock, &r, sizeof r, 0), sizeof r);
    int64_t start = ms_now(), wall;
    uint64_t ms, most;
    /* On a busy machine the burst takes longer, and whoever looks comes late: what was too much is
     * made up for. */
    do {
        tick_until_dead(cage, &w, 3000, &usage);
        wall = ms_now() - start;
        ms = usage.cpu_us / 1000;
        most = 200 + (uint64_t)wall * 20 / 100;
        most += most / 5 + 60;
    } while ((ms > most || ms <= 200) && wall < 60000);
    if (ms > most)
        fail_msg("%llu ms of CPU in %lld ms", (unsigned long long)ms, (long long)wall);
    assert_true(ms > 200); /* the burst itself was not slowed down to nothing */
    worker_end(&w, true);
    take_away(cage);
    cs_cages_free(cages);
}

static void the_cpu_share_holds_after_the_burst(void **state)
{
    (void)state;
    cpu_share(false);
}

static void the_cpu_share_holds_by_polling_too(void **state)
{
    (void)state;
    cpu_share(true);
}

/* Counts directories of this process below the current groups. */
static int groups_left(void)
{
    char mine[32];
    snprintf(mine, sizeof mine, "caisson-%d-", (int)getpid());
    char cgroup[4096], mounts[65536];
    int dir = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
    assert_true(cs_cgroup_read(dir, "cgroup", cgroup, sizeof cgroup));
    assert_true(cs_cgroup_read(dir, "mountinfo", mounts, sizeof mounts));
    close(dir);
    for (unsigned c = 0; c < CS_CONTROLLERS; c++) {
        struct cs_cgroup_place place;
        cs_cgroup_find(cs_str(cgroup), cs_str(mounts), (enum cs_controller)c, &place);
        DIR *d = place.version ? opendir(place.path) : NULL;
        for (struct dirent *e; d && (e = readdir(d));)
            n += strncmp(e->d_name, mine, strlen(mine)) == 0;
        if (d)
            closedir(d);
    }
    return n;
}

static void many_cages_leave_nothing_behind(void **state)
{
    (void)state;
    int fds = count_fds();
    struct cs_cages *cages = open_cages(false);
    for (int i = 0; i < 100; i++) {
        struct worker w = worker_start(&zygote);
        struct cs_limits l = limits();
        l.processes = i % 2 ? 1 : 8;
        struct cs_cage *cage = put(cages, &w, &l);
        struct result r;
        assert_true(worker_ask(&w, OP_GETPID, 0, &r));
        worker_end(&w, i % 3 == 0);
        take_away(cage);
    }
    cs_cages_free(cages);
    assert_int_equal(groups_left(), 0);
    assert_int_equal(count_fds(), fds);
}

static void groups_of_dead_daemons_are_swept(void **state)
{
    (void)state;
    int ready[2], swept[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(swept), 0);
    pid_t other = fork(); /* another daemon, which is alive */
    if (other == 0) {
        struct cs_cages *cages;
        struct cs_cage *cage;
        char byte = 'x';
        if (cs_cages_open(false, &cages, NULL) < 0 || write(ready[1], &byte, 1) != 1 ||
            read(swept[0], &byte, 1) != 1)
            _exit(1);
        bool stayed = cs_cage_make(cages, &cage, NULL) == 0 && cs_cage_remove(cage);
        cs_cages_free(cages);
        _exit(stayed ? 0 : 2);
    }
    char byte;
    int status;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    struct cs_cages *first = open_cages(false);
    bool groups = cs_cages_memory(first) != CS_BY_POLLING;
    assert_int_equal(write(swept[1], &byte, 1), 1);
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_int_equal(status, 0);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(swept[i]);
    }
    struct cs_cages *second = open_cages(false); /* one process has one */
    assert_ptr_equal(first, second);
    cs_cages_free(second);
    cs_cages_free(first);
    if (!groups)
        skip();

    char cgroup[4096], mounts[65536];
    int dir = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(cs_cgroup_read(dir, "cgroup", cgroup, sizeof cgroup));
    assert_true(cs_cgroup_read(dir, "mountinfo", mounts, sizeof mounts));
    close(dir);
    struct cs_cgroup_place place;
    cs_cgroup_find(cs_str(cgroup), cs_str(mounts), CS_MEMORY, &place);
    char stale[5000], inner[5010];
    snprintf(stale, sizeof stale, "%s/caisson-1-deadbeef", place.path);
    snprintf(inner, sizeof inner, "%s/1", stale);
    assert_int_equal(mkdir(stale, 0755), 0);
    assert_int_equal(mkdir(inner, 0755), 0);
    struct cs_cages *third = open_cages(false);
    assert_int_equal(access(stale, F_OK), -1);
    cs_cages_free(third);
    assert_int_equal(groups_left(), 0);
}

#define HYBRID_CGROUP "4:memory:/a/b\n3:cpu,cpuacct:/\n0::/user.slice/x.scope\n"
#define HYBRID_MOUNTS                                                                      \
    "33 25 0:30 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"                           \
    "37 33 0:34 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"           \
    "34 33 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n" \
    "43 33 0:40 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"

static void controllers_are_found_one_by_one(void **state)
{
    (void)state;
    static const struct {
        const char *cgroup, *mounts;
        enum cs_controller controller;
        int version;
        const char *path;
    } cases[] = {
        {HYBRID_CGROUP, HYBRID_MOUNTS, CS_MEMORY, 1, "/sys/fs/cgroup/memory/a/b"},
        {HYBRID_CGROUP, HYBRID_MOUNTS, CS_CPU, 1, "/sys/fs/cgroup/cpu,cpuacct/"},
        {HYBRID_CGROUP, HYBRID_MOUNTS, CS_PIDS, 2, "/sys/fs/cgroup/unified/user.slice/x.scope"},
        {"0::/\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", CS_MEMORY, 2,
         "/sys/fs/cgroup/"},
        /* a container that sees only its own part */
        {"2:memory:/docker/abc/in\n",
         "40 33 0:34 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", CS_MEMORY,
         1, "/sys/fs/cgroup/memory/in"},
        {"2:memory:/docker/abcd\n",
         "40 33 0:34 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n", CS_MEMORY,
         0, ""},
        {"0::/../other\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", CS_MEMORY, 0,
         ""},
        {"", "", CS_MEMORY, 0, ""},
        {"garbage\n:::\n4:memory\n", "a b c\n- - -\n\n", CS_MEMORY, 0, ""},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        struct cs_cgroup_place place;
        cs_cgroup_find(cs_str(cases[i].cgroup), cs_str(cases[i].mounts), cases[i].controller,
                       &place);
        assert_int_equal(place.version, cases[i].version);
        if (place.version)
            assert_string_equal(place.path, cases[i].path);
    }
}

int main(int argc, char **argv)
{
    int status = cs_role_main(argc, argv, &standin_hooks);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controllers_are_found_one_by_one),
        cmocka_unit_test(memory_beyond_the_limit_ends_the_worker),
        cmocka_unit_test(memory_is_bounded_by_polling_too),
        cmocka_unit_test(memory_below_the_limit_is_measured_and_does_no_harm),
        cmocka_unit_test(the_cpu_share_holds_after_the_burst),
        cmocka_unit_test(the_cpu_share_holds_by_polling_too),
        cmocka_unit_test(many_cages_leave_nothing_behind),
        cmocka_unit_test(groups_of_dead_daemons_are_swept),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
