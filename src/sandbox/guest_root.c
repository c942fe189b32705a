#include "sandbox/guest_root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/own.h"
#include "sandbox/guest_server.h"

CS_EMBED(sdk_python, "src/sandbox/guest/caisson.py")
CS_EMBED(driver_python, "src/sandbox/guest/driver.py")
CS_EMBED(driver_node, "src/sandbox/guest/driver.js")

/* Most of a tree that is copied because it cannot be mounted. */
#define COPY_FILES 20000
#define COPY_BYTES (64ll << 20)
#define COPY_DEPTH 16

/* ---- small steps; every path is relative to the new root ---- */

static int make_dir(int root, const char *path, struct cs_err *err)
{
    if (mkdirat(root, path, 0755) < 0 && errno != EEXIST)
        return cs_fail_errno(err, "make /%s", path);
    return 0;
}

static int make_file(int root, const char *path, struct cs_str text, mode_t mode,
                     struct cs_err *err)
{
    CS_AUTO_FD int fd = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return cs_fail_errno(err, "make /%s", path);
    while (text.len > 0) {
        ssize_t n = write(fd, text.at, text.len);
        if (n < 0)
            return cs_fail_errno(err, "write /%s", path);
        text.at += n;
        text.len -= (size_t)n;
    }
    return 0;
}

static int make_link(int root, const char *target, const char *path, struct cs_err *err)
{
    if (symlinkat(target, root, path) < 0)
        return cs_fail_errno(err, "make /%s", path);
    return 0;
}

static int copy_bytes(int from, int to, off_t size)
{
    off_t at = 0;
    while (at < size) {
        ssize_t n = sendfile(to, from, &at, (size_t)(size - at));
        if (n < 0)
            return -1;
        if (n == 0)
            break; /* it became shorter */
    }
    return 0;
}

/* Copies the regular file behind `from` to a new file, and puts `tail` behind it. */
static int copy_file(int from, int root, const char *path, mode_t mode, const char *tail,
                     struct cs_err *err)
{
    struct stat st;
    CS_AUTO_FD int to = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (to < 0 || fstat(from, &st) < 0 || copy_bytes(from, to, st.st_size) < 0)
        return cs_fail_errno(err, "make /%s", path);
    if (tail && write(to, tail, strlen(tail)) != (ssize_t)strlen(tail))
        return cs_fail_errno(err, "make /%s", path);
    return 0;
}

static int attach(int tree, int root, const char *path, struct cs_err *err)
{
    if (move_mount(tree, "", root, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return cs_fail_errno(err, "mount /%s", path);
    return 0;
}

/*
 * A read-only copy of the mount tree at `source`, all mounts below it included. Setting the flags
 * on the copy, recursively and before it is attached, leaves no moment and no sub-mount in which it
 * is writable.
 */
static int bind_read_only(const char *source, uint64_t flags, int root, const char *path,
                          struct cs_err *err)
{
    CS_AUTO_FD int tree =
        open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree < 0)
        return cs_fail_errno(err, "take %s", source);
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | flags};
    if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) < 0)
        return cs_fail_errno(err, "make %s read-only", source);
    return attach(tree, root, path, err);
}

/* An empty directory over one that is not for guests; read-only once seal_hidden is called. */
static int hide(const char *path, struct cs_err *err)
{
    struct stat st;
    if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return 0;
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "size=64k,nr_inodes=128,mode=0755") < 0)
        return cs_fail_errno(err, "hide /%s", path);
    return 0;
}

static const char *const hidden[] = {"usr/local", "usr/src"};

static int seal_hidden(int root, struct cs_err *err)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    struct stat st;
    for (size_t i = 0; i < CS_COUNT(hidden); i++)
        if (fstatat(root, hidden[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
            mount_setattr(root, hidden[i], 0, &attr, sizeof attr) < 0)
            return cs_fail_errno(err, "hide /%s", hidden[i]);
    return 0;
}

/* ---- the parts ---- */

/* The programs. Where /bin and the like are links into /usr they are links here too. */
static int add_system(int root, struct cs_err *err)
{
    static const char *const tops[] = {"bin", "sbin", "lib", "lib32", "lib64", "libx32"};
    if (make_dir(root, "usr", err) < 0 ||
        bind_read_only("/usr", MOUNT_ATTR_NODEV, root, "usr", err) < 0)
        return -1;
    for (size_t i = 0; i < CS_COUNT(hidden); i++)
        if (hide(hidden[i], err) < 0)
            return -1;
    for (size_t i = 0; i < CS_COUNT(tops); i++) {
        char source[16], target[128];
        struct stat st;
        snprintf(source, sizeof source, "/%s", tops[i]);
        if (lstat(source, &st) < 0)
            continue;
        if (S_ISLNK(st.st_mode)) {
            ssize_t n = readlink(source, target, sizeof target - 1);
            if (n < 0)
                return cs_fail_errno(err, "%s", source);
            target[n] = '\0';
            if (make_link(root, target, tops[i], err) < 0)
                return -1;
        } else if (S_ISDIR(st.st_mode)) {
            if (make_dir(root, tops[i], err) < 0 ||
                bind_read_only(source, MOUNT_ATTR_NODEV, root, tops[i], err) < 0)
                return -1;
        }
    }
    return 0;
}

static int add_etc(const char *home, int root, struct cs_err *err)
{
    char users[160];
    snprintf(users, sizeof users,
             "caisson:x:1000:1000:caisson:%s:/bin/sh\n"
             "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
             home);
    const struct {
        const char *path, *text;
    } files[] = {
        {"etc/passwd", users},
        {"etc/group", "caisson:x:1000:\nnogroup:x:65534:\n"},
        {"etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"},
        {"etc/hostname", "caisson\n"},
        {"etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"},
        {"etc/timezone", "Etc/UTC\n"},
    };
    if (make_dir(root, "etc", err) < 0)
        return -1;
    for (size_t i = 0; i < CS_COUNT(files); i++)
        if (make_file(root, files[i].path, cs_str(files[i].text), 0644, err) < 0)
            return -1;
    if (make_link(root, "/usr/share/zoneinfo/Etc/UTC", "etc/localtime", err) < 0 ||
        make_link(root, "../usr/lib/os-release", "etc/os-release", err) < 0)
        return -1;
    /* Where libraries are; without it the loader only looks into its default directories. */
    CS_AUTO_FD int cache = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    if (cache >= 0 && copy_file(cache, root, "etc/ld.so.cache", 0644, NULL, err) < 0)
        return -1;
    /* Some programs in /usr/bin are links through here. */
    struct stat st;
    if (stat("/etc/alternatives", &st) == 0 && S_ISDIR(st.st_mode)) {
        if (make_dir(root, "etc/alternatives", err) < 0)
            return -1;
        return bind_read_only("/etc/alternatives", MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, root,
                              "etc/alternatives", err);
    }
    return 0;
}

static int add_dev(int root, struct cs_err *err)
{
    static const char *const nodes[] = {"null", "zero", "full", "random", "urandom"};
    static const struct {
        const char *path, *target;
    } links[] = {{"dev/fd", "/proc/self/fd"},
                 {"dev/stdin", "/proc/self/fd/0"},
                 {"dev/stdout", "/proc/self/fd/1"},
                 {"dev/stderr", "/proc/self/fd/2"}};
    if (make_dir(root, "dev", err) < 0)
        return -1;
    for (size_t i = 0; i < CS_COUNT(nodes); i++) {
        char source[32], path[32];
        snprintf(source, sizeof source, "/dev/%s", nodes[i]);
        snprintf(path, sizeof path, "dev/%s", nodes[i]);
        /* Read-only is about the file system; a device can be written to all the same. */
        if (make_file(root, path, (struct cs_str){0}, 0666, err) < 0 ||
            bind_read_only(source, MOUNT_ATTR_NOEXEC, root, path, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < CS_COUNT(links); i++)
        if (make_link(root, links[i].target, links[i].path, err) < 0)
            return -1;
    return 0;
}

/* One tmpfs with two directories, so that bytes and files are counted together. */
static int add_scratch(const struct cs_limits *limits, const char *home, struct cs_guest_root *r,
                       struct cs_err *err)
{
    char shape[96];
    snprintf(shape, sizeof shape, "size=%llu,nr_inodes=%llu,mode=0700",
             (unsigned long long)limits->scratch_bytes,
             (unsigned long long)limits->scratch_files + 4);
    if (make_dir(r->root, "scratch", err) < 0)
        return -1;
    if (mount("tmpfs", "scratch", "tmpfs", MS_NOSUID | MS_NODEV, shape) < 0)
        return cs_fail_errno(err, "mount the scratch space");
    const char *const dirs[] = {home, "tmp"};
    int *const fds[] = {&r->workspace, &r->tmp};
    for (size_t i = 0; i < CS_COUNT(dirs); i++) {
        char inner[32];
        snprintf(inner, sizeof inner, "scratch/%s", i ? "tmp" : "home");
        if (make_dir(r->root, dirs[i], err) < 0)
            return -1;
        if (mkdirat(r->root, inner, 0700) < 0)
            return cs_fail_errno(err, "make /%s", dirs[i]);
        if (i == 0 && strcmp(home, "workspace") == 0 &&
            mkdirat(r->root, "scratch/home/out", 0700) < 0)
            return cs_fail_errno(err, "make /workspace/out");
        CS_AUTO_FD int tree = open_tree(r->root, inner, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
        if (tree < 0)
            return cs_fail_errno(err, "take /%s", dirs[i]);
        if (attach(tree, r->root, dirs[i], err) < 0)
            return -1;
        *fds[i] = openat(r->root, dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (*fds[i] < 0)
            return cs_fail_errno(err, "open /%s", dirs[i]);
    }
    if (umount2("scratch", MNT_DETACH) < 0 || unlinkat(r->root, "scratch", AT_REMOVEDIR) < 0)
        return cs_fail_errno(err, "detach the scratch space");
    return 0;
}

struct copying {
    int files;
    long long bytes;
    int depth;
};

static int copy_tree(int from, int to, struct copying *c, struct cs_err *err);

static int copy_entry(int from, int to, const char *name, struct copying *c, struct cs_err *err)
{
    struct stat st;
    CS_AUTO_FD int fd = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return 0; /* a link, or not for us: then guests do not see it either */
    if (++c->files > COPY_FILES || (c->bytes += st.st_size) > COPY_BYTES)
        return cs_fail(err, CS_LIMIT, "the tree has more than %d files or %lld bytes", COPY_FILES,
                       COPY_BYTES);
    if (S_ISREG(st.st_mode))
        return copy_file(fd, to, name, 0644, NULL, err);
    if (!S_ISDIR(st.st_mode))
        return 0;
    if (mkdirat(to, name, 0755) < 0)
        return cs_fail_errno(err, "make %s", name);
    CS_AUTO_FD int inner = openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (inner < 0)
        return cs_fail_errno(err, "open %s", name);
    return copy_tree(fd, inner, c, err);
}

static int copy_tree(int from, int to, struct copying *c, struct cs_err *err)
{
    if (c->depth >= COPY_DEPTH)
        return cs_fail(err, CS_LIMIT, "the tree is more than %d deep", COPY_DEPTH);
    int again = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    if (!dir)
        return cs_fail_errno(err, "list");
    c->depth++;
    int r = 0;
    for (struct dirent *e; r == 0 && (e = readdir(dir));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            r = copy_entry(from, to, e->d_name, c, err);
    c->depth--;
    closedir(dir);
    return r;
}

/*
 * The same directory as seen from our own mount namespace: what the daemon opened belongs to its
 * namespace, and cannot be mounted here. -1 if the way to it is not open to us.
 */
static int reopen(int fd)
{
    char link[32], path[4096];
    struct stat want, got;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = fd < 0 ? -1 : readlink(link, path, sizeof path - 1);
    if (n < 0)
        return -1;
    path[n] = '\0';
    CS_AUTO_FD int again = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (again < 0 || fstat(fd, &want) < 0 || fstat(again, &got) < 0 || want.st_dev != got.st_dev ||
        want.st_ino != got.st_ino)
        return -1;
    return CS_TAKE_FD(again);
}

static int copy_shared(int fd, int root, const char *path, struct cs_err *err)
{
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "size=80m,nr_inodes=20010,mode=0755") < 0)
        return cs_fail_errno(err, "mount /%s", path);
    CS_AUTO_FD int to = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (to < 0)
        return cs_fail_errno(err, "open /%s", path);
    struct copying c = {0};
    if (copy_tree(fd, to, &c, err) < 0)
        return cs_wrap(err, "copy /%s", path);
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    if (mount_setattr(root, path, 0, &attr, sizeof attr) < 0)
        return cs_fail_errno(err, "make /%s read-only", path);
    return 0;
}

/*
 * A directory of ours, read-only. Not by a bind mount: /proc/self/mountinfo would show the guest
 * where it lies on this machine. An overlay of one directory shows what it was told instead. Where
 * that does not work, the tree is copied.
 */
static int add_shared(int fd, int here, int root, const char *path, struct cs_err *err)
{
    if (make_dir(root, path, err) < 0)
        return -1;
    if (fd < 0)
        return 0;
    CS_AUTO_FD int empty = openat(root, "empty", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char options[96];
    snprintf(options, sizeof options, "lowerdir=/proc/self/fd/%d:/proc/self/fd/%d", here, empty);
    if (here >= 0 && empty >= 0 &&
        mount("overlay", path, "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, options) ==
            0)
        return 0;
    return copy_shared(fd, root, path, err);
}

/* The program itself, what it is given, and what it may talk to us with. */
static int add_ours(const struct cs_guest_parts *parts, int root, struct cs_err *err)
{
    static const char *const dirs[] = {"caisson", "caisson/bin", "caisson/python"};
    for (size_t i = 0; i < CS_COUNT(dirs); i++)
        if (make_dir(root, dirs[i], err) < 0)
            return -1;
    /* A copy: a memory file cannot be mounted, and the file on disk would show its path. */
    CS_AUTO_FD int image = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (image < 0)
        return cs_fail_errno(err, "/proc/self/exe");
    if (copy_file(image, root, "caisson/bin/caisson", 0555, NULL, err) < 0 ||
        copy_file(parts->inputs, root, "caisson/inputs.json", 0444, NULL, err) < 0)
        return -1;
    struct stat state;
    if (fstat(parts->state, &state) == 0 && state.st_size > 0 &&
        copy_file(parts->state, root, "caisson/state.json", 0444, NULL, err) < 0)
        return -1;
    switch (parts->language) {
    case CS_GUEST_SERVER:
        break;
    case CS_GUEST_PYTHON:
        if (make_file(root, "caisson/python/caisson.py", sdk_python(), 0444, err) < 0 ||
            make_file(root, "caisson/python/driver.py", driver_python(), 0444, err) < 0)
            return -1;
        return copy_file(parts->source, root, "caisson/program.py", 0444, NULL, err);
    case CS_GUEST_BASH:
        return copy_file(parts->source, root, "caisson/program.sh", 0555, NULL, err);
    case CS_GUEST_NODE:
        if (make_file(root, "caisson/driver.js", driver_node(), 0444, err) < 0 ||
            copy_file(parts->source, root, "caisson/program.cjs", 0444, NULL, err) < 0)
            return -1;
        /* A module does not show its functions; this way it shows the one that matters. */
        return copy_file(parts->source, root, "caisson/program.mjs", 0444,
                         "\n;export const __caisson_main = typeof main === 'function' ? main : "
                         "undefined;\n",
                         err);
    }
    return cs_fail(err, CS_BUG, "a guest without a language");
}

#ifdef CS_TEST_HOOKS
/* For the test that shows that the escape tests can fail: everything of the host, writable. */
static int add_host(int root, struct cs_err *err)
{
    DIR *dir = opendir("/");
    if (!dir)
        return cs_fail_errno(err, "/");
    int r = 0;
    for (struct dirent *e; r == 0 && (e = readdir(dir));) {
        char source[300], target[300];
        struct stat st;
        snprintf(source, sizeof source, "/%s", e->d_name);
        if (e->d_name[0] == '.' || strcmp(e->d_name, "tmp") == 0 || lstat(source, &st) < 0)
            continue;
        if (S_ISLNK(st.st_mode)) {
            ssize_t n = readlink(source, target, sizeof target - 1);
            target[n < 0 ? 0 : n] = '\0';
            r = make_link(root, target, e->d_name, err);
        } else if (S_ISDIR(st.st_mode)) {
            CS_AUTO_FD int tree =
                open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
            r = make_dir(root, e->d_name, err);
            if (r == 0 && tree >= 0)
                r = attach(tree, root, e->d_name, err);
        }
    }
    closedir(dir);
    return r;
}
#endif

static int add_view(const struct cs_jail *jail, const char *home, int root, struct cs_err *err)
{
#ifdef CS_TEST_HOOKS
    if (cs_jail_off(jail))
        return add_host(root, err);
#endif
    (void)jail;
    if (add_system(root, err) < 0 || add_etc(home, root, err) < 0 || add_dev(root, err) < 0)
        return -1;
    return make_dir(root, "proc", err);
}

static int size_root(const struct cs_guest_parts *parts, char *shape, size_t size,
                     struct cs_err *err)
{
    struct stat image, source, inputs, state, cache;
    if (stat("/proc/self/exe", &image) < 0 || fstat(parts->source, &source) < 0 ||
        fstat(parts->inputs, &inputs) < 0 || fstat(parts->state, &state) < 0)
        return cs_fail_errno(err, "measure the program");
    if (stat("/etc/ld.so.cache", &cache) < 0)
        cache.st_size = 0;
    long long bytes = (long long)image.st_size + 2 * (long long)source.st_size + inputs.st_size +
                      state.st_size + cache.st_size + (2 << 20);
    snprintf(shape, size, "size=%lld,nr_inodes=%d,mode=0755", bytes, parts->server ? 1024 : 128);
    return 0;
}

/* What a guest has besides the system. */
static int add_guest(const struct cs_guest_parts *parts, int mcp_servers, int skills,
                     struct cs_guest_root *root, struct cs_err *err)
{
    if (add_scratch(&parts->limits, "workspace", root, err) < 0 ||
        add_shared(parts->mcp_servers, mcp_servers, root->root, "mcp-servers", err) < 0 ||
        add_shared(parts->skills, skills, root->root, "skills", err) < 0)
        return -1;
    return add_ours(parts, root->root, err);
}

/* What a server has. */
static int add_server(const struct cs_guest_parts *parts, struct cs_guest_root *root,
                      struct cs_err *err)
{
    if (make_dir(root->root, "home", err) < 0 ||
        add_scratch(&parts->limits, &CS_SERVER_HOME[1], root, err) < 0)
        return -1;
    return cs_server_mount(parts->server, root->root, err);
}

int cs_guest_root_build(const struct cs_jail *jail, const struct cs_guest_parts *parts,
                        struct cs_guest_root *root, struct cs_err *err)
{
    char shape[96];
    if (size_root(parts, shape, sizeof shape, err) < 0)
        return -1;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return cs_fail_errno(err, "make mounts private");
    /* Before the new root covers anything. */
    CS_AUTO_FD int mcp_servers = reopen(parts->mcp_servers);
    CS_AUTO_FD int skills = reopen(parts->skills);
    if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, shape) < 0)
        return cs_fail_errno(err, "mount a new root");
    root->root = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root->root < 0 || fchdir(root->root) < 0)
        return cs_fail_errno(err, "enter the new root");
    umask(022); /* what is made here is for the guest to read */
    int r = 0;
    const char *home = parts->server ? CS_SERVER_HOME : "/workspace";
    if (make_dir(root->root, "empty", err) < 0 || add_view(jail, home, root->root, err) < 0 ||
        (parts->server ? add_server(parts, root, err)
                       : add_guest(parts, mcp_servers, skills, root, err)) < 0 ||
        (!cs_jail_off(jail) && seal_hidden(root->root, err) < 0))
        r = -1;
    umask(077);
    return r;
}

int cs_guest_root_enter(const struct cs_jail *jail, const struct cs_guest_root *root,
                        struct cs_err *err)
{
    if (fchdir(root->root) < 0)
        return cs_fail_errno(err, "enter the new root");
    /* Refused where the outer /proc has masks, as in nested containers: then there is none. */
    if (!cs_jail_off(jail))
        mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "hidepid=ptraceable,subset=pid");
    if (cs_jail_pivot(err) < 0)
        return -1;
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
    if (mount_setattr(AT_FDCWD, "/", 0, &attr, sizeof attr) < 0)
        return cs_fail_errno(err, "make the root read-only");
    return 0;
}
