#include "sandbox/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/own.h"

/* A directory that its maker locked. If this does not help, what follows fails and says so. */
static void unlock(int at, const char *name)
{
    if (fchmodat(at, name, 0700, 0) < 0)
        return;
}

static DIR *open_listing(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    DIR *d = fdopendir(fd);
    if (!d)
        close(fd);
    return d;
}

static const char *next_name(DIR *d)
{
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            return e->d_name;
    return NULL;
}

/* Counts one more file of `bytes`; CS_LIMIT if that is too much. */
static int count(struct cs_folder_size *size, uint64_t bytes, struct cs_err *err)
{
    if (size->bytes_max && bytes > size->bytes_max - size->bytes)
        return cs_fail(err, CS_LIMIT, "more than %llu bytes (limit scratch_bytes)",
                       (unsigned long long)size->bytes_max);
    if (size->files_max && size->files >= size->files_max)
        return cs_fail(err, CS_LIMIT, "more than %u files (limit scratch_files)", size->files_max);
    size->bytes += bytes;
    size->files++;
    return 0;
}

int cs_folder_copy_bytes(int in, int out, uint64_t max)
{
    char chunk[65536];
    for (uint64_t done = 0; done < max;) {
        size_t want = max - done < sizeof chunk ? (size_t)(max - done) : sizeof chunk;
        ssize_t n = read(in, chunk, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        for (ssize_t put = 0; put < n;) {
            ssize_t w = write(out, chunk + put, (size_t)(n - put));
            if (w < 0 && errno == EINTR)
                continue;
            if (w < 0)
                return -1;
            put += w;
        }
        done += (uint64_t)n;
    }
    return 0;
}

/* Copies keep the time of the last change, so what a program left alone is recognised by it. */
bool cs_folder_same_file(int to, const char *name, const struct stat *st)
{
    struct stat old;
    return fstatat(to, name, &old, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(old.st_mode) &&
           old.st_size == st->st_size && old.st_mtim.tv_sec == st->st_mtim.tv_sec &&
           old.st_mtim.tv_nsec == st->st_mtim.tv_nsec;
}

/*
 * The bytes go to a new name first, which then takes the place of the old one: a reader of the host
 * never sees half a file, and an existing link there is replaced, not followed. A file with several
 * names is left out: it may be a link to something outside.
 */
static int copy_file(int from, int to, const char *name, struct cs_folder_size *size,
                     struct cs_err *err)
{
    CS_AUTO_FD int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    if (in < 0 || fstat(in, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
        return 0;
    if (count(size, (uint64_t)st.st_size, err) < 0)
        return -1;
    if (cs_folder_same_file(to, name, &st))
        return 0;
    char part[32];
    snprintf(part, sizeof part, ".caisson-%08x.part", (unsigned)size->files);
    unlinkat(to, part, 0);
    CS_AUTO_FD int out =
        openat(to, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, st.st_mode & 0755);
    if (out < 0)
        return cs_fail_errno(err, "%s", name);
    struct timespec times[2] = {st.st_atim, st.st_mtim};
    if (cs_folder_copy_bytes(in, out, (uint64_t)st.st_size) < 0 || futimens(out, times) < 0 ||
        renameat(to, part, to, name) < 0) {
        cs_fail_errno(err, "%s", name);
        unlinkat(to, part, 0);
        return -1;
    }
    return 0;
}

static int copy_level(DIR *from, int to, unsigned depth, struct cs_folder_size *size,
                      struct cs_err *err);

static int copy_dir(int from, int to, const char *name, unsigned depth, struct cs_folder_size *size,
                    struct cs_err *err)
{
    DIR *d = open_listing(from, name);
    if (!d)
        return 0;
    int result = count(size, 0, err);
    if (result == 0 && mkdirat(to, name, 0700) < 0 && errno != EEXIST)
        result = cs_fail_errno(err, "%s", name);
    CS_AUTO_FD int into =
        result < 0 ? -1 : openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (result == 0 && into < 0)
        result = cs_fail_errno(err, "%s", name);
    if (result == 0)
        result = copy_level(d, into, depth + 1, size, err);
    closedir(d);
    return result;
}

static int copy_level(DIR *from, int to, unsigned depth, struct cs_folder_size *size,
                      struct cs_err *err)
{
    for (const char *name; (name = next_name(from));) {
        struct stat st;
        if (fstatat(dirfd(from), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        int result = 0;
        if (S_ISREG(st.st_mode))
            result = copy_file(dirfd(from), to, name, size, err);
        else if (S_ISDIR(st.st_mode) && depth < CS_FOLDER_DEPTH)
            result = copy_dir(dirfd(from), to, name, depth, size, err);
        if (result < 0)
            return -1;
    }
    return 0;
}

int cs_folder_copy(int from, int to, struct cs_folder_size *size, struct cs_err *err)
{
    DIR *d = open_listing(from, ".");
    if (!d)
        return cs_fail_errno(err, "cannot list the directory");
    int result = copy_level(d, to, 0, size, err);
    closedir(d);
    return result;
}

static bool same_level(DIR *a, int b, unsigned depth);

static bool same_dir(int a, int b, const char *name, unsigned depth)
{
    CS_AUTO_FD int inner = openat(b, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = inner < 0 ? NULL : open_listing(a, name);
    if (!d)
        return false;
    bool same = same_level(d, inner, depth + 1);
    closedir(d);
    return same;
}

static unsigned count_entries(int dir)
{
    DIR *d = open_listing(dir, ".");
    unsigned n = 0;
    while (d && next_name(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static bool same_level(DIR *a, int b, unsigned depth)
{
    unsigned entries = 0;
    for (const char *name; (name = next_name(a));) {
        struct stat st;
        if (fstatat(dirfd(a), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return false;
        bool file = S_ISREG(st.st_mode) && st.st_nlink == 1;
        bool dir = S_ISDIR(st.st_mode) && depth < CS_FOLDER_DEPTH;
        if (file ? !cs_folder_same_file(b, name, &st) : dir && !same_dir(dirfd(a), b, name, depth))
            return false;
        entries += file || dir;
    }
    return entries == count_entries(b);
}

bool cs_folder_same(int a, int b)
{
    DIR *d = open_listing(a, ".");
    if (!d)
        return false;
    bool same = same_level(d, b, 0);
    closedir(d);
    return same;
}

static void measure(int at, const char *name, unsigned depth, struct cs_folder_size *size)
{
    struct stat st;
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    size->files++;
    if (S_ISREG(st.st_mode))
        size->bytes += (uint64_t)st.st_size;
    DIR *d = S_ISDIR(st.st_mode) && depth < CS_FOLDER_DEPTH ? open_listing(at, name) : NULL;
    if (!d)
        return;
    for (const char *inner; (inner = next_name(d));)
        measure(dirfd(d), inner, depth + 1, size);
    closedir(d);
}

void cs_folder_measure(int at, const char *name, struct cs_folder_size *size)
{
    measure(at, name, 0, size);
}

/*
 * Empties one directory. A subdirectory that is not empty is moved up into `top` under a number and
 * dealt with in a later round, so a nest of any depth is removed without recursion and without long
 * paths.
 */
static bool empty_level(DIR *d, int top, unsigned *number)
{
    bool moved = false;
    for (const char *name; (name = next_name(d));) {
        if (unlinkat(dirfd(d), name, 0) == 0 || unlinkat(dirfd(d), name, AT_REMOVEDIR) == 0)
            continue;
        if (dirfd(d) == top)
            continue;
        char up[32];
        snprintf(up, sizeof up, "caisson-rm-%u", (*number)++);
        unlock(dirfd(d), name);
        moved |= renameat(dirfd(d), name, top, up) == 0;
    }
    return moved;
}

static bool empty_children(int top, unsigned *number)
{
    DIR *d = open_listing(top, ".");
    if (!d)
        return false;
    bool progress = false;
    for (const char *name; (name = next_name(d));) {
        if (unlinkat(top, name, 0) == 0 || unlinkat(top, name, AT_REMOVEDIR) == 0) {
            progress = true;
            continue;
        }
        unlock(top, name);
        DIR *child = open_listing(top, name);
        if (!child)
            continue;
        empty_level(child, top, number);
        closedir(child);
        progress |= unlinkat(top, name, AT_REMOVEDIR) == 0;
    }
    closedir(d);
    return progress;
}

int cs_folder_remove(int at, const char *name)
{
    if (unlinkat(at, name, 0) == 0 || unlinkat(at, name, AT_REMOVEDIR) == 0)
        return 0;
    unlock(at, name);
    CS_AUTO_FD int top = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top < 0)
        return -1;
    unsigned number = 0;
    while (empty_children(top, &number))
        continue;
    return unlinkat(at, name, AT_REMOVEDIR);
}
