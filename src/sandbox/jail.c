#include "sandbox/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cover.h"
#include "base/own.h"
#include "sandbox/role.h"

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

static const struct {
    enum cs_wall wall;
    uint64_t flag;
} namespaces[] = {
    {CS_WALL_USERNS, CLONE_NEWUSER},     {CS_WALL_MOUNTNS, CLONE_NEWNS},
    {CS_WALL_NETNS, CLONE_NEWNET},       {CS_WALL_IPCNS, CLONE_NEWIPC},
    {CS_WALL_UTSNS, CLONE_NEWUTS},       {CS_WALL_PIDNS, CLONE_NEWPID},
    {CS_WALL_CGROUPNS, CLONE_NEWCGROUP},
};

int cs_jail_missing(struct cs_jail *jail, enum cs_wall wall, int sys, const char *what,
                    struct cs_err *err)
{
    jail->missing |= 1u << wall;
    jail->why[wall] = sys;
    if (jail->options.allow_weak & (1u << wall))
        return 0;
    cs_fail(err, CS_DENIED, "the wall '%s' cannot be built (%s: %s): %s", cs_wall_name(wall), what,
            strerror(sys), cs_wall_remedy(wall, sys));
    if (err)
        err->sys = sys;
    return -1;
}

uint32_t cs_jail_uid_base(void)
{
    return 0x70000000u + ((uint32_t)getpid() & 0xffff) * CS_JAIL_UIDS;
}

uint64_t cs_jail_namespaces(uint32_t walls)
{
    uint64_t flags = 0;
    for (size_t i = 0; i < CS_COUNT(namespaces); i++)
        if (walls & (1u << namespaces[i].wall))
            flags |= namespaces[i].flag;
    return flags;
}

/*
 * In a user namespace (a rootless container) root is an ordinary user of the machine, and an id
 * beyond the map does not exist. Then our own id serves, as any ordinary user's does; not if it is
 * the machine's root after all, which jailed code must never be.
 */
static bool own_id_serves(uid_t id)
{
    FILE *map = fopen("/proc/self/uid_map", "re");
    unsigned inside, outside, count;
    bool has = !map, ordinary = false;
    while (map && fscanf(map, "%u %u %u", &inside, &outside, &count) == 3) {
        has |= id >= inside && id - inside < count;
        ordinary |= inside == 0 && outside != 0;
    }
    if (map)
        fclose(map);
    return !has && ordinary;
}

/*
 * Root is left before anything else happens, for an id that owns nothing. Safe to keep the
 * capabilities across the change only where the operator allowed the user namespace to be missing:
 * the other namespaces then need them, and cs_jail_drop takes them away.
 */
static int leave_root(const struct cs_jail *jail, struct cs_err *err)
{
    uid_t id = jail->options.host_uid;
    if (geteuid() != 0 || own_id_serves(id))
        return 0;
    if (id == 0)
        return cs_fail(err, CS_BUG, "no id to run jailed code as");
    bool keep = jail->options.allow_weak & (1u << CS_WALL_USERNS);
    if (keep && prctl(PR_SET_KEEPCAPS, 1) < 0)
        return cs_fail_errno(err, "PR_SET_KEEPCAPS");
    if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
        return cs_fail_errno(err, "become user %u", (unsigned)id);
    if (keep) {
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[2];
        if (syscall(SYS_capget, &head, data) < 0)
            return cs_fail_errno(err, "capget");
        data[0].effective = data[0].permitted;
        data[1].effective = data[1].permitted;
        if (syscall(SYS_capset, &head, data) < 0)
            return cs_fail_errno(err, "capset");
    }
    return cs_role_bind(err);
}

static int write_file(const char *path, const char *text, struct cs_err *err)
{
    CS_AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return cs_fail_errno(err, "%s", path);
    size_t len = strlen(text);
    if (write(fd, text, len) != (ssize_t)len)
        return cs_fail_errno(err, "%s", path);
    return 0;
}

/* One id, mapped to our own: the only map that needs no privilege. The files of a process that is
 * not dumpable belong to root, hence the two prctl calls; nobody shares our id but jailed code,
 * which cannot see us. */
static int map_ids(uid_t uid, gid_t gid, struct cs_err *err)
{
    char line[48];
    if (prctl(PR_SET_DUMPABLE, 1) < 0)
        return cs_fail_errno(err, "PR_SET_DUMPABLE");
    if (write_file("/proc/self/setgroups", "deny", err) < 0)
        return -1;
    snprintf(line, sizeof line, "%u %u 1", CS_JAIL_ID, (unsigned)gid);
    if (write_file("/proc/self/gid_map", line, err) < 0)
        return -1;
    snprintf(line, sizeof line, "%u %u 1", CS_JAIL_ID, (unsigned)uid);
    if (write_file("/proc/self/uid_map", line, err) < 0)
        return -1;
    if (prctl(PR_SET_DUMPABLE, 0) < 0)
        return cs_fail_errno(err, "PR_SET_DUMPABLE");
    return 0;
}

int cs_jail_enter(struct cs_jail *jail, uint32_t walls, struct cs_err *err)
{
    /* Even the deliberately weak jail of the tests is not root: the attacks it lets through are
     * real, and so is the machine. */
    if (leave_root(jail, err) < 0)
        return -1;
    if (cs_jail_off(jail))
        return 0;
    uid_t uid = geteuid();
    gid_t gid = getegid();
    uint64_t all = cs_jail_namespaces(walls);
    if (unshare((int)all) < 0) {
        /* One of them is refused; find out which. The user namespace comes first in the table,
         * since the others need its capabilities. */
        for (size_t i = 0; i < CS_COUNT(namespaces); i++)
            if ((namespaces[i].flag & all) && unshare((int)namespaces[i].flag) < 0 &&
                cs_jail_missing(jail, namespaces[i].wall, errno, "unshare", err) < 0)
                return -1;
    }
    if ((all & CLONE_NEWUSER) && cs_jail_has(jail, CS_WALL_USERNS)) {
        struct cs_err why = {0};
        if (map_ids(uid, gid, &why) < 0)
            return cs_jail_missing(jail, CS_WALL_USERNS, why.sys, why.msg, err);
    }
    return cs_role_bind(err);
}

int cs_jail_pivot(struct cs_err *err)
{
    cs_cover_save(); /* from here on there is no file to save to */
    cs_cover_off();
    /* The old root ends up on top of the new one, and is then let go with everything in it. */
    if (syscall(SYS_pivot_root, ".", ".") < 0)
        return cs_fail_errno(err, "pivot_root");
    if (umount2(".", MNT_DETACH) < 0)
        return cs_fail_errno(err, "detach the old root");
    if (chdir("/") < 0)
        return cs_fail_errno(err, "chdir");
    return 0;
}

static int empty_root(struct cs_err *err)
{
    static const char shape[] = "size=4k,nr_inodes=2,mode=0000";
    const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return cs_fail_errno(err, "make mounts private");
    /* Any directory will do to hang it on for a moment; these two exist everywhere. */
    const char *at = "/tmp";
    if (mount("tmpfs", at, "tmpfs", flags, shape) < 0 &&
        mount("tmpfs", at = "/proc", "tmpfs", flags, shape) < 0)
        return cs_fail_errno(err, "mount an empty root");
    if (chdir(at) < 0)
        return cs_fail_errno(err, "chdir");
    if (cs_jail_pivot(err) < 0)
        return -1;
    if (mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY | flags, shape) < 0)
        return cs_fail_errno(err, "make the root read-only");
    return 0;
}

int cs_jail_empty_root(struct cs_jail *jail, struct cs_err *err)
{
    if (cs_jail_off(jail) || !cs_jail_has(jail, CS_WALL_MOUNTNS))
        return 0;
    struct cs_err why = {0};
    if (empty_root(&why) < 0)
        return cs_jail_missing(jail, CS_WALL_MOUNTNS, why.sys, why.msg, err);
    return 0;
}

int cs_jail_rename(struct cs_jail *jail, struct cs_err *err)
{
    static const char name[] = "caisson";
    if (cs_jail_off(jail))
        return 0;
    if (cs_jail_has(jail, CS_WALL_UTSNS) &&
        (sethostname(name, sizeof name - 1) < 0 || setdomainname("", 0) < 0) &&
        cs_jail_missing(jail, CS_WALL_UTSNS, errno, "sethostname", err) < 0)
        return -1;
    /*
     * Keyrings cross all namespaces, so jailed code gets an empty session keyring. The kernel may
     * lack keys, or an outer filter refuse them; the filter then is what keeps them away.
     */
    if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 &&
        !cs_jail_has(jail, CS_WALL_SECCOMP))
        return cs_fail_errno(err, "a session keyring of its own");
    return 0;
}

static int limit(int what, uint64_t value, struct cs_err *err)
{
    struct rlimit now;
    if (getrlimit(what, &now) < 0)
        return cs_fail_errno(err, "getrlimit %d", what);
    if (now.rlim_max < value)
        value = now.rlim_max;
    struct rlimit want = {.rlim_cur = value, .rlim_max = value};
    if (setrlimit(what, &want) < 0)
        return cs_fail_errno(err, "setrlimit %d", what);
    return 0;
}

int cs_jail_rlimits(const struct cs_jail *jail, const struct cs_limits *limits, struct cs_err *err)
{
    if (cs_jail_off(jail))
        return 0;
    const struct {
        int what;
        uint64_t value;
    } table[] = {
        /* A piped core_pattern ignores 0; one byte stops both kinds. */
        {RLIMIT_CORE, 1},
        {RLIMIT_FSIZE, limits ? limits->scratch_bytes : 0},
        {RLIMIT_NOFILE, limits ? limits->open_files : 64},
        {RLIMIT_STACK, limits ? limits->stack : 8u << 20},
        {RLIMIT_MEMLOCK, 64u << 10},
        {RLIMIT_MSGQUEUE, 0},
        {RLIMIT_LOCKS, limits ? 64 : 0},
        {RLIMIT_SIGPENDING, 64},
        {RLIMIT_NICE, 0},
        {RLIMIT_RTPRIO, 0},
    };
    for (size_t i = 0; i < CS_COUNT(table); i++)
        if (limit(table[i].what, table[i].value, err) < 0)
            return -1;
    return 0;
}

int cs_jail_drop(uint64_t keep, struct cs_err *err)
{
    /* The bounding set and the bits can only be changed with CAP_SETPCAP, so they come first. They
     * guard execve, which no_new_privs and the filter guard as well. */
    for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
        if (prctl(PR_CAPBSET_READ, cap) == 1 && prctl(PR_CAPBSET_DROP, cap) < 0 && errno != EPERM)
            return cs_fail_errno(err, "drop capability %d", cap);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 && errno != EINVAL)
        return cs_fail_errno(err, "clear ambient capabilities");
    const unsigned long bits = SECURE_ALL_BITS & ~(unsigned long)SECBIT_KEEP_CAPS;
    if (prctl(PR_SET_SECUREBITS, bits | SECURE_ALL_LOCKS) < 0 && errno != EPERM)
        return cs_fail_errno(err, "lock securebits");
    return cs_jail_uncap(keep, err);
}

int cs_jail_uncap(uint64_t keep, struct cs_err *err)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{0}};
    data[0].effective = data[0].permitted = (uint32_t)keep;
    data[1].effective = data[1].permitted = (uint32_t)(keep >> 32);
    if (syscall(SYS_capset, &head, data) < 0)
        return cs_fail_errno(err, "drop capabilities");
    return 0;
}

int cs_jail_seal(struct cs_jail *jail, struct cs_err *err)
{
    if (cs_jail_off(jail))
        return 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 &&
        cs_jail_missing(jail, CS_WALL_NNP, errno, "PR_SET_NO_NEW_PRIVS", err) < 0)
        return -1;
    if (prctl(PR_SET_DUMPABLE, 0) < 0)
        return cs_fail_errno(err, "PR_SET_DUMPABLE");
    return 0;
}

/*
 * Landlock, as the kernel's interface stands at version 6 and later; the system headers may be
 * older. A kernel accepts a shorter struct than it knows and refuses bits it does not know, so both
 * follow the version.
 */
struct landlock_rules {
    uint64_t files;
    uint64_t network;
    uint64_t scoped;
};

struct landlock_beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

#define FILE_EXECUTE   (1ull << 0)
#define FILE_READ      (1ull << 2)
#define FILE_LIST      (1ull << 3)
#define FILE_MAKE_CHAR (1ull << 6)
#define FILE_MAKE_SOCK (1ull << 9)
#define FILE_MAKE_BLK  (1ull << 11)
#define FILE_IOCTL     (1ull << 15)
#define FILE_V1        ((1ull << 13) - 1) /* all up to making symbolic links */
#define FILE_REFER     (1ull << 13)       /* version 2: links and renames across directories */
#define FILE_TRUNCATE  (1ull << 14)       /* version 3 */
#define FILE_WRITE     (1ull << 1)
#define NET_BIND       (1ull << 0) /* version 4 */
#define NET_CONNECT    (1ull << 1)
#define SCOPE_ABSTRACT (1ull << 0) /* version 6: abstract unix sockets, signals */
#define SCOPE_SIGNAL   (1ull << 1)

int cs_jail_landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* ask for the version */);
    return abi > 0 ? (int)abi : 0;
}

static struct landlock_rules known(int abi)
{
    struct landlock_rules r = {.files = FILE_V1};
    if (abi >= 2)
        r.files |= FILE_REFER;
    if (abi >= 3)
        r.files |= FILE_TRUNCATE;
    if (abi >= 4)
        r.network = NET_BIND | NET_CONNECT;
    if (abi >= 5)
        r.files |= FILE_IOCTL;
    if (abi >= 6)
        r.scoped = SCOPE_ABSTRACT | SCOPE_SIGNAL;
    return r;
}

static int allow_beneath(int ruleset, const char *path, uint64_t allowed, struct cs_err *err)
{
    CS_AUTO_FD int fd = open(path, O_PATH | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return cs_fail_errno(err, "%s", path);
    if (!S_ISDIR(st.st_mode)) /* what is about directories is refused for files */
        allowed &= FILE_EXECUTE | FILE_READ | FILE_WRITE | FILE_TRUNCATE | FILE_IOCTL;
    struct landlock_beneath rule = {.allowed = allowed, .parent = fd};
    if (syscall(SYS_landlock_add_rule, ruleset, 1 /* path beneath */, &rule, 0) < 0)
        return cs_fail_errno(err, "landlock rule for %s", path);
    return 0;
}

static int fence(int abi, enum cs_fence kind, const char *const *writable, int count,
                 struct cs_err *err)
{
    struct landlock_rules rules = known(abi);
    if (kind == CS_FENCE_SERVER)
        rules.network = 0;
    size_t size = abi >= 6 ? sizeof rules : abi >= 4 ? 16 : 8;
    CS_AUTO_FD int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
    if (ruleset < 0)
        return cs_fail_errno(err, "landlock_create_ruleset");
    if (kind != CS_FENCE_NOTHING &&
        allow_beneath(ruleset, "/", FILE_EXECUTE | FILE_READ | FILE_LIST, err) < 0)
        return -1;
    uint64_t write = rules.files & ~(FILE_MAKE_CHAR | FILE_MAKE_BLK | FILE_MAKE_SOCK | FILE_IOCTL);
    for (int i = 0; i < count; i++)
        if (allow_beneath(ruleset, writable[i], write, err) < 0)
            return -1;
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        return cs_fail_errno(err, "landlock_restrict_self");
    return 0;
}

int cs_jail_fence(struct cs_jail *jail, enum cs_fence kind, const char *const *writable, int count,
                  struct cs_err *err)
{
    if (cs_jail_off(jail))
        return 0;
    int abi = cs_jail_landlock_abi();
    struct cs_err why = {0};
    if (abi > 0 && fence(abi, kind, writable, count, &why) == 0)
        return 0;
    /* The second wall around files: nice to have, so its absence alone stops nothing. */
    jail->missing |= 1u << CS_WALL_LANDLOCK;
    return abi > 0 ? (*err = why, -1) : 0;
}
