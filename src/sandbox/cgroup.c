#include "sandbox/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"

#define MAKE_TRIES 1000

static const char *const names[CS_CONTROLLERS] = {"memory", "pids", "cpu", "cpuacct"};

/* ---- where is it? ---- */

static bool next_line(struct cs_str *text, struct cs_str *line)
{
    if (text->len == 0)
        return false;
    const char *end = memchr(text->at, '\n', text->len);
    size_t len = end ? (size_t)(end - text->at) : text->len;
    *line = cs_strn(text->at, len);
    size_t used = len + (end ? 1 : 0);
    text->at += used;
    text->len -= used;
    return true;
}

static bool next_part(struct cs_str *text, char separator, struct cs_str *part)
{
    if (!text->at)
        return false;
    const char *end = text->len ? memchr(text->at, separator, text->len) : NULL;
    size_t len = end ? (size_t)(end - text->at) : text->len;
    *part = cs_strn(text->at, len);
    if (end)
        *text = cs_strn(end + 1, text->len - len - 1);
    else
        *text = (struct cs_str){0};
    return true;
}

static bool lists(struct cs_str list, const char *name)
{
    struct cs_str part;
    while (next_part(&list, ',', &part))
        if (cs_str_is(part, name))
            return true;
    return false;
}

/* The path of our group in the hierarchy that has `name`, from lines "id:controllers:path". */
static bool group_path(struct cs_str text, const char *name, struct cs_str *path)
{
    struct cs_str line, id, list;
    while (next_line(&text, &line)) {
        if (!next_part(&line, ':', &id) || !next_part(&line, ':', &list))
            continue;
        if (name ? lists(list, name) : (cs_str_is(id, "0") && list.len == 0)) {
            *path = line;
            return true;
        }
    }
    return false;
}

struct mount_line {
    struct cs_str root, point, type, options;
};

/* "36 35 98:0 /root /point rw,noatime master:1 - type source options" */
static bool parse_mount(struct cs_str line, struct mount_line *m)
{
    struct cs_str part;
    for (int i = 0; i < 3; i++)
        if (!next_part(&line, ' ', &part))
            return false;
    if (!next_part(&line, ' ', &m->root) || !next_part(&line, ' ', &m->point))
        return false;
    while (next_part(&line, ' ', &part))
        if (cs_str_is(part, "-"))
            return next_part(&line, ' ', &m->type) && next_part(&line, ' ', &part) &&
                   next_part(&line, ' ', &m->options);
    return false;
}

/* Joins mount point and group path, if the group is below what is mounted there. */
static bool join(const struct mount_line *m, struct cs_str group, char *out, size_t size)
{
    struct cs_str rest = group;
    if (!cs_str_is(m->root, "/")) {
        bool below = group.len >= m->root.len && memcmp(group.at, m->root.at, m->root.len) == 0 &&
                     (group.len == m->root.len || group.at[m->root.len] == '/');
        if (!below)
            return false;
        rest = cs_strn(group.at + m->root.len, group.len - m->root.len);
    }
    if (cs_str_starts(rest, "/..")) /* outside of our cgroup namespace */
        return false;
    int n = snprintf(out, size, "%.*s%.*s", CS_STR_ARG(m->point), CS_STR_ARG(rest));
    return n > 0 && (size_t)n < size;
}

static bool find(struct cs_str cgroup, struct cs_str mountinfo, const char *name,
                 struct cs_cgroup_place *place)
{
    struct cs_str group, line;
    struct mount_line m;
    if (!group_path(cgroup, name, &group))
        return false;
    while (next_line(&mountinfo, &line)) {
        if (!parse_mount(line, &m) || !cs_str_is(m.type, name ? "cgroup" : "cgroup2"))
            continue;
        if (name && !lists(m.options, name))
            continue;
        if (join(&m, group, place->path, sizeof place->path))
            return true;
    }
    return false;
}

void cs_cgroup_find(struct cs_str cgroup, struct cs_str mountinfo, enum cs_controller controller,
                    struct cs_cgroup_place *place)
{
    *place = (struct cs_cgroup_place){0};
    if (find(cgroup, mountinfo, names[controller], place))
        place->version = 1;
    else if (find(cgroup, mountinfo, NULL, place))
        place->version = 2;
}

/* ---- values ---- */

int cs_cgroup_write(int dir, const char *file, const char *value)
{
    CS_AUTO_FD int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t len = strlen(value);
    ssize_t n = write(fd, value, len);
    if (n >= 0 && (size_t)n != len)
        errno = EIO;
    return n == (ssize_t)len ? 0 : -1;
}

int cs_cgroup_write_u64(int dir, const char *file, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return cs_cgroup_write(dir, file, text);
}

bool cs_cgroup_read(int dir, const char *file, char *text, size_t size)
{
    CS_AUTO_FD int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t len = 0;
    ssize_t n;
    while (len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    return true;
}

bool cs_cgroup_read_u64(int dir, const char *file, const char *key, uint64_t *value)
{
    char text[4096];
    if (!cs_cgroup_read(dir, file, text, sizeof text))
        return false;
    if (!key) {
        char *end;
        unsigned long long v = strtoull(text, &end, 10);
        if (end == text)
            return false;
        *value = v;
        return true;
    }
    struct cs_str rest = cs_str(text), line, word;
    while (next_line(&rest, &line))
        if (next_part(&line, ' ', &word) && cs_str_is(word, key) && line.at) {
            *value = strtoull(line.at, NULL, 10);
            return true;
        }
    return false;
}

/* ---- groups ---- */

int cs_cgroup_make(int parent, const char *name)
{
    if (mkdirat(parent, name, 0755) < 0)
        return -1;
    int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        unlinkat(parent, name, AT_REMOVEDIR);
    return dir;
}

/* Removes a group and the ones below it (there is one level). What is busy stays. */
static void remove_group(int parent, const char *name)
{
    CS_AUTO_FD int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return;
    DIR *d = fdopendir(dup(dir));
    if (d) {
        for (struct dirent *e; (e = readdir(d));)
            if (e->d_type == DT_DIR && e->d_name[0] != '.')
                unlinkat(dir, e->d_name, AT_REMOVEDIR);
        closedir(d);
    }
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* The lock on the directory tells whether the owner lives: also across pid namespaces, and however
 * pids are reused. */
static void sweep(int parent)
{
    DIR *d = fdopendir(openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        if (strncmp(e->d_name, "caisson-", 8) != 0)
            continue;
        CS_AUTO_FD int dir = openat(parent, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0)
            remove_group(parent, e->d_name);
    }
    closedir(d);
}

/* Somebody may sweep between the making and the locking; then it is made again, when they are done
 * with it. */
static int make_locked(int parent, const char *name)
{
    for (int tries = 0; tries < MAKE_TRIES; tries++) {
        if (tries)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        if (mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
            return -1;
        CS_AUTO_FD int dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct stat mine, there;
        if (dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0 && fstat(dir, &mine) == 0 &&
            fstatat(parent, name, &there, 0) == 0 && mine.st_ino == there.st_ino)
            return CS_TAKE_FD(dir);
    }
    errno = EAGAIN;
    return -1;
}

/* True if this process is the only one in the group. */
static bool alone(int parent)
{
    char text[256];
    if (!cs_cgroup_read(parent, "cgroup.procs", text, sizeof text))
        return false;
    char *end;
    long pid = strtol(text, &end, 10);
    return pid == (long)getpid() && strspn(end, "\n") == strlen(end);
}

/*
 * Version 2 hands a controller down only from a group without processes. If that is not so yet, and
 * the group is ours alone, we move into a leaf; other people's processes are not moved about.
 */
static int hand_down(int parent, const char *leaf, enum cs_controller controller)
{
    char have[512], enable[32];
    const char *name = names[controller];
    if (!cs_cgroup_read(parent, "cgroup.subtree_control", have, sizeof have))
        return -1;
    have[strcspn(have, "\n")] = '\0';
    struct cs_str list = cs_str(have), part;
    while (next_part(&list, ' ', &part))
        if (cs_str_is(part, name))
            return 0;
    snprintf(enable, sizeof enable, "+%s", name);
    if (cs_cgroup_write(parent, "cgroup.subtree_control", enable) == 0)
        return 0;
    if (errno != EBUSY || !leaf || !alone(parent))
        return -1;
    CS_AUTO_FD int dir = make_locked(parent, leaf);
    if (dir < 0 || cs_cgroup_write_u64(dir, "cgroup.procs", (uint64_t)getpid()) < 0)
        return -1;
    return cs_cgroup_write(parent, "cgroup.subtree_control", enable);
}

int cs_cgroup_own(const struct cs_cgroup_place *place, const char *name, unsigned wanted, int *dir,
                  unsigned *got)
{
    CS_AUTO_FD int parent = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (parent < 0)
        return -1;
    sweep(parent);
    CS_AUTO_FD int made = make_locked(parent, name);
    if (made < 0)
        return -1;
    unsigned have = wanted;
    if (place->version == 2) {
        char leaf[64];
        snprintf(leaf, sizeof leaf, "%s-host", name);
        for (unsigned c = 0; c < CS_CONTROLLERS; c++)
            if ((have & (1u << c)) && (hand_down(parent, leaf, (enum cs_controller)c) < 0 ||
                                       hand_down(made, NULL, (enum cs_controller)c) < 0))
                have &= ~(1u << c);
    }
    if (have == 0) {
        int sys = errno;
        unlinkat(parent, name, AT_REMOVEDIR);
        errno = sys;
        return -1;
    }
    *got = have;
    *dir = CS_TAKE_FD(made);
    return 0;
}
