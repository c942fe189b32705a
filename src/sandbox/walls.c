#include "sandbox/walls.h"

#include <errno.h>
#include <string.h>

#include "base/own.h"
#include "base/str.h"

static const struct {
    const char *name;
    bool required;
    const char *purpose;
} walls[CS_WALL_COUNT] = {
#define X(id, name, required, purpose) [CS_WALL_##id] = {name, required, purpose},
    CS_WALLS(X)
#undef X
};

const char *cs_wall_name(enum cs_wall wall)
{
    return (unsigned)wall < CS_WALL_COUNT ? walls[wall].name : "?";
}

const char *cs_wall_purpose(enum cs_wall wall)
{
    return (unsigned)wall < CS_WALL_COUNT ? walls[wall].purpose : "?";
}

bool cs_wall_required(enum cs_wall wall)
{
    return (unsigned)wall < CS_WALL_COUNT && walls[wall].required;
}

static bool find(struct cs_str name, uint32_t *mask)
{
    if (cs_str_is(name, "all")) {
        *mask |= (1u << CS_WALL_COUNT) - 1;
        return true;
    }
    for (unsigned i = 0; i < CS_WALL_COUNT; i++)
        if (cs_str_is(name, walls[i].name)) {
            *mask |= 1u << i;
            return true;
        }
    return false;
}

int cs_walls_parse(const char *list, uint32_t *mask, struct cs_err *err)
{
    uint32_t found = 0;
    for (const char *at = list;;) {
        size_t len = strcspn(at, ",");
        if (!find(cs_strn(at, len), &found))
            return cs_fail(err, CS_INVALID,
                           "there is no wall called '%.*s'; `caisson doctor` lists them",
                           (int)(len > 80 ? 80 : len), at);
        if (!at[len])
            break;
        at += len + 1;
    }
    *mask = found;
    return 0;
}

static const char *namespace_remedy(int sys)
{
    if (sys == ENOSPC || sys == EUSERS)
        return "raise the limits under /proc/sys/user (user.max_*_namespaces), or end what uses "
               "them "
               "up";
    if (sys == EINVAL || sys == ENOSYS)
        return "this kernel was built without it: use one with CONFIG_NAMESPACES and all of its "
               "kinds";
    return "allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1, and "
           "where "
           "AppArmor restricts them kernel.apparmor_restrict_unprivileged_userns=0 or a profile "
           "for "
           "caisson; in a container, allow unshare and mount in its seccomp profile";
}

const char *cs_wall_remedy(enum cs_wall wall, int sys)
{
    switch (wall) {
    case CS_WALL_USERNS:
    case CS_WALL_MOUNTNS:
    case CS_WALL_PIDNS:
    case CS_WALL_NETNS:
    case CS_WALL_IPCNS:
    case CS_WALL_UTSNS:
    case CS_WALL_CGROUPNS:
        return namespace_remedy(sys);
    case CS_WALL_SECCOMP:
        return "use a kernel with CONFIG_SECCOMP_FILTER";
    case CS_WALL_NNP:
        return "use Linux 5.13 or later";
    case CS_WALL_LANDLOCK:
        return "use a kernel with CONFIG_SECURITY_LANDLOCK and `landlock` among its lsm= modules";
    case CS_WALL_MEMORY:
    case CS_WALL_CPU:
    case CS_WALL_PIDS:
        return "run as root, or in a delegated control group: systemd-run --user --scope "
               "-p Delegate=yes caisson ...";
    case CS_WALL_ENGINE:
        return "install the libjavascriptcoregtk-4.1-0 that this build was made for";
    case CS_WALL_COUNT:
        break;
    }
    return "";
}

int cs_walls_main(void)
{
    return 1;
}
