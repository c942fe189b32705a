#include "standin.h"

#include <linux/capability.h>
#include <sys/stat.h>

#include "base/cover.h"
#include "sandbox/limits.h"

/* The steps of the jail, one by one, in a child; the exit status names the step that went wrong. */
static int in_child(int (*act)(void))
{
    fflush(NULL);
    pid_t pid = cs_jail_fork(0, NULL);
    if (pid == 0) {
        int status = act();
        cs_cover_save();
        _exit(status);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static struct cs_jail jail_of(uint32_t allow_weak)
{
    struct cs_jail jail = {.options = standin_options()};
    jail.options.allow_weak = allow_weak;
    return jail;
}

static int enter_all(void)
{
    struct cs_jail jail = jail_of(0);
    struct cs_err err = {0};
    if (cs_jail_enter(&jail, CS_JAIL_ENTERED | 1u << CS_WALL_CGROUPNS, &err) < 0) {
        print_message("%s\n", err.msg);
        return 1;
    }
    if (jail.missing || getuid() != CS_JAIL_ID || getgid() != CS_JAIL_ID)
        return 2;
    char name[64];
    if (cs_jail_rename(&jail, &err) < 0 || gethostname(name, sizeof name) < 0 ||
        strcmp(name, "caisson") != 0)
        return 3;
    return 0;
}

static void entering_gives_a_new_identity(void **state)
{
    (void)state;
    assert_int_equal(in_child(enter_all), 0);
}

static bool limit_is(int what, rlim_t value)
{
    struct rlimit now;
    return getrlimit(what, &now) == 0 && now.rlim_cur == value && now.rlim_max == value;
}

static int set_rlimits(void)
{
    struct cs_jail jail = jail_of(0);
    struct cs_limits limits = cs_limits_default();
    struct cs_err err = {0};
    limits.scratch_bytes = 12345;
    limits.open_files = 77;
    if (cs_jail_rlimits(&jail, &limits, &err) < 0)
        return 1;
    if (!limit_is(RLIMIT_FSIZE, 12345) || !limit_is(RLIMIT_NOFILE, 77) || !limit_is(RLIMIT_CORE, 1))
        return 2;
    /* Never upwards. */
    limits.open_files = 1000000;
    if (cs_jail_rlimits(&jail, &limits, &err) < 0 || !limit_is(RLIMIT_NOFILE, 77))
        return 3;
    return 0;
}

static int set_worker_rlimits(void)
{
    struct cs_jail jail = jail_of(0);
    struct cs_err err = {0};
    if (cs_jail_rlimits(&jail, NULL, &err) < 0)
        return 1;
    cs_cover_save();
    return limit_is(RLIMIT_FSIZE, 0) && limit_is(RLIMIT_MSGQUEUE, 0) ? 0 : 2;
}

static void limits_only_go_down(void **state)
{
    (void)state;
    assert_int_equal(in_child(set_rlimits), 0);
    assert_int_equal(in_child(set_worker_rlimits), 0);
}

static int drop_all(void)
{
    struct cs_jail jail = jail_of(0);
    struct cs_err err = {0};
    char value[64];
    if (cs_jail_enter(&jail, 1u << CS_WALL_USERNS, &err) < 0)
        return 1;
    if (cs_jail_drop(1ull << CAP_SYS_ADMIN, &err) < 0)
        return 2;
    status_line(getpid(), "CapEff", value, sizeof value);
    if (strcmp(value, "0000000000200000") != 0)
        return 3;
    status_line(getpid(), "CapBnd", value, sizeof value);
    if (strcmp(value, "0000000000000000") != 0)
        return 4;
    if (cs_jail_uncap(0, &err) < 0)
        return 5;
    status_line(getpid(), "CapPrm", value, sizeof value);
    if (strcmp(value, "0000000000000000") != 0)
        return 6;
    if (cs_jail_uncap(1ull << CAP_SYS_ADMIN, &err) == 0) /* there is no way back */
        return 7;
    return 0;
}

static void capabilities_go_and_do_not_come_back(void **state)
{
    (void)state;
    assert_int_equal(in_child(drop_all), 0);
}

static char fence_dir[] = "/tmp/caisson-fence-XXXXXX";

static int fence_files(void)
{
    struct cs_jail jail = jail_of(0);
    struct cs_err err = {0};
    if (cs_jail_landlock_abi() == 0)
        return 77;
    char file[64];
    snprintf(file, sizeof file, "%s/f", fence_dir);
    const char *const writable[] = {fence_dir, "/dev/null", CS_SOURCE_DIR};
    if (cs_jail_seal(&jail, &err) < 0 ||
        cs_jail_fence(&jail, CS_FENCE_GUEST, writable, 3, &err) < 0)
        return 2;
    int fd = open(file, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || unlink(file) < 0)
        return 3;
    if (open("/tmp/caisson-fence-outside", O_WRONLY | O_CREAT, 0600) >= 0 || errno != EACCES)
        return 4;
    if (open("/etc/passwd", O_RDONLY) < 0) /* reading is allowed below / */
        return 5;
    if (rmdir(fence_dir) == 0) /* its parent is outside */
        return 6;
    return 0;
}

static int fence_everything(void)
{
    struct cs_jail jail = jail_of(0);
    struct cs_err err = {0};
    if (cs_jail_landlock_abi() == 0)
        return 77;
    if (cs_jail_seal(&jail, &err) < 0 || cs_jail_fence(&jail, CS_FENCE_NOTHING, NULL, 0, &err) < 0)
        return 1;
    return open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES ? 0 : 2;
}

static void landlock_allows_what_it_is_told_and_no_more(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(fence_dir));
    int status = in_child(fence_files);
    rmdir(fence_dir);
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
    assert_int_equal(in_child(fence_everything), 0);
}

static int without_user_namespace(void)
{
    /* As root with permission to do without: the capabilities survive the change of id. */
    struct cs_jail jail = jail_of(1u << CS_WALL_USERNS);
    struct cs_err err = {0};
    if (cs_jail_enter(&jail, CS_JAIL_ENTERED & ~(1u << CS_WALL_USERNS), &err) < 0)
        return 1;
    return getuid() == NOBODY_AT_ALL && jail.missing == 0 ? 0 : 2;
}

static void root_can_do_without_a_user_namespace_if_allowed(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    assert_int_equal(in_child(without_user_namespace), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entering_gives_a_new_identity),
        cmocka_unit_test(limits_only_go_down),
        cmocka_unit_test(capabilities_go_and_do_not_come_back),
        cmocka_unit_test(landlock_allows_what_it_is_told_and_no_more),
        cmocka_unit_test(root_can_do_without_a_user_namespace_if_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
