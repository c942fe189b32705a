#include "sandbox/walls.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/own.h"
#include "base/str.h"
#include "sandbox/role.h"

/* All of it takes well under a second; a machine that is this slow has other troubles. */
#define PROBE_MS 30000

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
    return "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1; with AppArmor "
           "kernel.apparmor_restrict_unprivileged_userns=0; in a container, permit unshare and "
           "mount in its seccomp profile";
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

int cs_walls_probe(struct cs_wall_state states[CS_WALL_COUNT], struct cs_err *err)
{
    struct cs_role role;
    if (cs_role_spawn("probe", &role, err) < 0)
        return -1;
    struct pollfd p = {.fd = role.control, .events = POLLIN};
    size_t size = sizeof(struct cs_wall_state) * CS_WALL_COUNT;
    int r;
    do
        r = poll(&p, 1, PROBE_MS);
    while (r < 0 && errno == EINTR);
    if (r == 1)
        r = cs_role_recv(role.control, states, size, NULL, NULL, err);
    else
        r = cs_fail(err, CS_SYSTEM, "it does not answer");
    cs_role_end(&role);
    if (r != 1)
        return cs_wrap(err, "trying the walls");
    for (size_t i = 0; i < CS_WALL_COUNT; i++) {
        states[i].how[sizeof states[i].how - 1] = '\0';
        states[i].remedy[sizeof states[i].remedy - 1] = '\0';
    }
    return 0;
}
