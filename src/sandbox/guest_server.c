#include "sandbox/guest_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"
#include "sandbox/jail.h"

/* ---- as bytes ---- */

/* The counts, then the strings, each ends in NUL: program, real, cwd, argv, env, paths ("r/..",
 * "w/..").
 */
struct plan {
    uint32_t argc, envc, paths, network;
};

/* What the kernel takes as arguments and environment is less. */
#define PLAN_MAX (8u << 20)

static uint32_t count_strings(const char *const *list)
{
    uint32_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

static void put_string(struct cs_buf *out, const char *text)
{
    cs_buf_put(out, text, strlen(text) + 1);
}

void cs_server_put(const struct cs_server *s, struct cs_buf *out)
{
    struct plan plan = {.argc = count_strings(s->argv),
                        .envc = count_strings(s->env),
                        .paths = (uint32_t)s->path_count,
                        .network = s->network};
    cs_buf_put(out, &plan, sizeof plan);
    put_string(out, s->program);
    put_string(out, s->real);
    put_string(out, s->cwd);
    for (uint32_t i = 0; i < plan.argc; i++)
        put_string(out, s->argv[i]);
    for (uint32_t i = 0; i < plan.envc; i++)
        put_string(out, s->env[i]);
    for (uint32_t i = 0; i < plan.paths; i++) {
        cs_buf_putc(out, s->paths[i].writable ? 'w' : 'r');
        put_string(out, s->paths[i].path);
    }
}

/* The next string, or NULL if there is none. */
static const char *next_string(struct cs_str *rest)
{
    const char *at = rest->at, *end = rest->len ? memchr(at, '\0', rest->len) : NULL;
    if (!end)
        return NULL;
    rest->len -= (size_t)(end + 1 - at);
    rest->at = end + 1;
    return at;
}

static bool next_strings(struct cs_str *rest, const char **list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!(list[i] = next_string(rest)))
            return false;
    return true;
}

static bool parse(struct cs_str rest, const struct plan *plan, struct cs_server *s)
{
    if (plan->argc > rest.len || plan->envc > rest.len || plan->paths > CS_SERVER_PATHS)
        return false;
    const char **argv = cs_calloc(plan->argc + 1, sizeof *argv);
    const char **env = cs_calloc(plan->envc + 1, sizeof *env);
    s->argv = argv;
    s->env = env;
    s->network = plan->network;
    if (!(s->program = next_string(&rest)) || !(s->real = next_string(&rest)) ||
        !(s->cwd = next_string(&rest)) || !next_strings(&rest, argv, plan->argc) ||
        !next_strings(&rest, env, plan->envc))
        return false;
    for (; s->path_count < plan->paths; s->path_count++) {
        const char *text = next_string(&rest);
        if (!text || !*text)
            return false;
        s->paths[s->path_count] =
            (struct cs_server_path){.path = text + 1, .writable = *text == 'w', .tree = -1};
    }
    return rest.len == 0;
}

int cs_server_read(int fd, struct cs_server *server, struct cs_err *err)
{
    struct stat st;
    struct plan plan;
    if (fstat(fd, &st) < 0)
        return cs_fail_errno(err, "the server's plan");
    if (st.st_size < (off_t)sizeof plan || st.st_size > PLAN_MAX)
        return cs_fail(err, CS_LIMIT, "arguments and environment of the server are too large");
    char *bytes = cs_calloc((size_t)st.st_size, 1);
    *server = (struct cs_server){.memory = bytes, .from_root = geteuid() == 0};
    if (pread(fd, bytes, (size_t)st.st_size, 0) != st.st_size)
        return cs_fail_errno(err, "the server's plan");
    memcpy(&plan, bytes, sizeof plan);
    if (!parse(cs_strn(bytes + sizeof plan, (size_t)st.st_size - sizeof plan), &plan, server))
        return cs_fail(err, CS_BUG, "the server's plan is broken");
    return 0;
}

/* ---- mounts ---- */

static int write_map(pid_t pid, const char *file, uint32_t disk, uint32_t inside)
{
    char path[48], line[48];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    snprintf(line, sizeof line, "%u %u 1", disk, inside);
    CS_AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line) ? 0 : -1;
}

/*
 * A user namespace that maps the owner of a path to the id of the jail. Nobody lives in it: the
 * kernel takes the map of an idmapped mount from a namespace, and a namespace needs a process to be
 * born. -1 where it cannot be.
 */
static int make_map(const struct stat *owner, uint32_t id)
{
    int ns = -1;
    pid_t pid = cs_jail_fork(CLONE_NEWUSER, NULL);
    if (pid == 0)
        for (;;)
            pause();
    if (pid < 0)
        return -1;
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
    if (write_map(pid, "uid_map", owner->st_uid, id) == 0 &&
        write_map(pid, "gid_map", owner->st_gid, id) == 0)
        ns = open(path, O_RDONLY | O_CLOEXEC);
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return ns;
}

/* The attributes are set on the detached copy, all mounts below included, so that there is no
 * moment and no sub-mount without them. */
static int dress(int tree, bool writable, int map)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                          (writable ? 0 : MOUNT_ATTR_RDONLY),
                              .propagation = MS_PRIVATE};
    if (map >= 0) {
        attr.attr_set |= MOUNT_ATTR_IDMAP;
        attr.userns_fd = (uint64_t)map;
    }
    return mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr);
}

/* The map that was made last: most paths have one owner. */
struct map {
    int ns;
    uid_t uid;
    gid_t gid;
};

static int take(struct cs_server_path *p, uint32_t id, struct map *map)
{
    CS_AUTO_FD int tree =
        open_tree(AT_FDCWD, p->path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    struct stat st;
    if (tree < 0 || fstat(tree, &st) < 0)
        return -1;
    if (geteuid() == 0 && (map->ns < 0 || map->uid != st.st_uid || map->gid != st.st_gid)) {
        cs_closep(&map->ns);
        *map = (struct map){.ns = make_map(&st, id), .uid = st.st_uid, .gid = st.st_gid};
    }
    if ((map->ns < 0 || dress(tree, p->writable, map->ns) < 0) && dress(tree, p->writable, -1) < 0)
        return -1;
    p->is_file = !S_ISDIR(st.st_mode);
    p->tree = CS_TAKE_FD(tree);
    return 0;
}

int cs_server_take(struct cs_server *s, uint32_t host_uid, bool last, struct cs_err *err)
{
    struct map map = {.ns = -1};
    int r = 0;
    for (size_t i = 0; r == 0 && i < s->path_count; i++) {
        struct cs_server_path *p = &s->paths[i];
        if (p->tree >= 0 || take(p, host_uid, &map) == 0 || !last)
            continue;
        r = errno != EACCES
                ? cs_fail_errno(err, "show '%.200s' in the jail", p->path)
                : cs_fail(err, CS_DENIED,
                          "the jail of a server cannot show '%.200s': its user may not go there; "
                          "make the way to it open for everybody, or run caisson as an ordinary "
                          "user",
                          p->path);
    }
    cs_closep(&map.ns);
    return r;
}

/* Links in the new root lead to places in the new root. */
static int open_beneath(int root, const char *path, uint64_t flags)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

/* The place for a mount, made with the way to it where it is not there yet. */
static int make_place(int root, const char *path, bool is_file, struct cs_err *err)
{
    int place = open_beneath(root, path, 0);
    if (place >= 0)
        return place;
    char prefix[4096];
    CS_AUTO_FD int parent = open_beneath(root, "/", O_DIRECTORY);
    for (const char *at = path + 1; parent >= 0;) {
        size_t len = strcspn(at, "/");
        bool end = !at[len];
        int n = snprintf(prefix, sizeof prefix, "%.*s", (int)(at + len - path), path);
        if (n >= (int)sizeof prefix)
            return cs_fail(err, CS_LIMIT, "'%.100s...' is too long a path", path);
        place = open_beneath(root, prefix, 0);
        if (place < 0) {
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)len, at);
            int made = end && is_file
                           ? openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)
                           : mkdirat(parent, name, 0755);
            if (made > 0)
                close(made);
            place = made < 0 ? -1 : open_beneath(root, prefix, 0);
        }
        if (place < 0 || end)
            break;
        close(parent);
        parent = place;
        at += len + 1;
    }
    if (place < 0)
        return cs_fail_errno(err, "make a place for '%.200s' in the jail", path);
    return place;
}

int cs_server_mount(struct cs_server *s, int root, struct cs_err *err)
{
    for (size_t i = 0; i < s->path_count; i++) {
        struct cs_server_path *p = &s->paths[i];
        CS_AUTO_FD int place = make_place(root, p->path, p->is_file, err);
        if (place < 0)
            return -1;
        if (move_mount(p->tree, "", place, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) <
            0)
            return cs_fail_errno(err, "show '%.200s' in the jail", p->path);
        cs_closep(&p->tree);
    }
    return 0;
}

int cs_server_check(const struct cs_server *s, struct cs_err *err)
{
    for (size_t i = 0; i < s->path_count; i++) {
        const struct cs_server_path *p = &s->paths[i];
        int want = R_OK | (p->is_file ? 0 : X_OK) | (p->writable ? W_OK : 0);
        if (access(p->path, want) < 0)
            return cs_fail(err, CS_DENIED, "a jailed server may not %s '%.200s' (%s)%s",
                           p->writable ? "change" : "read", p->path, strerror(errno),
                           s->from_root ? ": as root it runs as a user that owns nothing, and the "
                                          "files there cannot be mapped to that user; open it for "
                                          "everybody, or run caisson as an ordinary user"
                                        : ": look at its permissions");
    }
    return 0;
}

/* ---- network ---- */

int cs_server_listen(struct cs_err *err)
{
    CS_AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return cs_fail_errno(err, "socket");
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
    if (ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
        return cs_fail_errno(err, "bring up the jail's loopback");
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(CS_SERVER_PROXY_PORT),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 64) < 0)
        return cs_fail_errno(err, "listen for the proxy");
    return CS_TAKE_FD(fd);
}
