#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#define STEP 65536u

int cs_file_read_fd(int fd, size_t max, struct cs_buf *out, struct cs_err *err)
{
    size_t before = out->len;
    for (;;) {
        ssize_t n = read(fd, cs_buf_room(out, STEP), STEP);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cs_fail_errno(err, "read");
        if (n == 0)
            return 0;
        cs_buf_added(out, (size_t)n);
        if (out->len - before > max)
            return cs_fail(err, CS_LIMIT, "it is larger than %zu bytes", max);
    }
}

static int read_path(const char *path, bool regular, size_t max, struct cs_buf *out,
                     struct cs_err *err)
{
    struct stat st;
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | (regular ? O_NONBLOCK : 0));
    if (fd < 0) {
        int missing = errno == ENOENT || errno == ENOTDIR;
        cs_fail_errno(err, "%s", path);
        if (missing && err)
            err->code = CS_MISSING;
        return -1;
    }
    if (regular && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
        return cs_fail(err, CS_INVALID, "%s: it is no file, but %s", path,
                       S_ISDIR(st.st_mode) ? "a directory" : "a pipe or a device");
    if (cs_file_read_fd(fd, max, out, err) < 0)
        return cs_wrap(err, "%s", path);
    return 0;
}

int cs_file_read(const char *path, size_t max, struct cs_buf *out, struct cs_err *err)
{
    return read_path(path, false, max, out, err);
}

int cs_file_read_regular(const char *path, size_t max, struct cs_buf *out, struct cs_err *err)
{
    return read_path(path, true, max, out, err);
}

int cs_file_write_fd(int fd, struct cs_str content)
{
    while (content.len) {
        ssize_t n = write(fd, content.at, content.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        content.at += n;
        content.len -= (size_t)n;
    }
    return 0;
}

static int replace(const char *path, struct cs_str content, mode_t mode, bool sync,
                   struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf temporary = {0};
    cs_buf_printf(&temporary, "%s.XXXXXX", path);
    char *name = (char *)cs_buf_cstr(&temporary);
    CS_AUTO_FD int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return cs_fail_errno(err, "%s", name);
    if (cs_file_write_fd(fd, content) < 0 || fchmod(fd, mode) < 0 || (sync && fsync(fd) < 0) ||
        rename(name, path) < 0) {
        cs_fail_errno(err, "%s", path);
        unlink(name);
        return -1;
    }
    return 0;
}

int cs_file_read_private(const char *path, size_t max, const char *what, struct cs_buf *out,
                         struct cs_err *err)
{
    struct stat st;
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? cs_fail(err, CS_MISSING, "there is no key '%s'", path)
                               : cs_fail_errno(err, "%s", path);
    if (fstat(fd, &st) < 0)
        return cs_fail_errno(err, "%s", path);
    if (!S_ISREG(st.st_mode))
        return cs_fail(err, CS_SYSTEM, "%s: it is no file", path);
    if (st.st_mode & 077)
        return cs_fail(err, CS_SYSTEM,
                       "%s: others can read this key, and %s (mode %04o): chmod 600 it; if they "
                       "may have done so, move it away and a new one is made",
                       path, what, (unsigned)st.st_mode & 07777);
    cs_buf_room(out, max + 2 * STEP); /* growing would leave copies */
    return cs_file_read_fd(fd, max, out, err) < 0 ? cs_wrap(err, "%s", path) : 0;
}

int cs_file_make_private(const char *path, struct cs_str content, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf temporary = {0};
    cs_buf_printf(&temporary, "%s.XXXXXX", path);
    char *name = (char *)cs_buf_cstr(&temporary);
    CS_AUTO_FD int fd = mkostemp(name, O_CLOEXEC); /* with mode 0600 */
    int result = 0;
    if (fd < 0)
        return cs_fail_errno(err, "%s", name);
    if (cs_file_write_fd(fd, content) < 0 || fsync(fd) < 0)
        result = cs_fail_errno(err, "%s", name);
    else if (link(name, path) < 0 && errno != EEXIST) /* somebody else was first: fine */
        result = cs_fail_errno(err, "%s", path);
    unlink(name);
    return result;
}

int cs_open_beneath(int root, const char *path, int flags)
{
    int quick = flags & O_PATH ? 0 : O_NONBLOCK; /* which does not even open it */
    struct open_how how = {
        .flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW | quick),
        .mode = flags & O_CREAT ? 0600 : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    return (int)syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof how);
}

int cs_file_replace(const char *path, struct cs_str content, mode_t mode, struct cs_err *err)
{
    return replace(path, content, mode, true, err);
}

int cs_file_replace_soon(const char *path, struct cs_str content, mode_t mode, struct cs_err *err)
{
    return replace(path, content, mode, false, err);
}

int cs_dir_make(const char *path, mode_t mode, struct cs_err *err)
{
    CS_AUTO_FREE char *copy = cs_strdup(path);
    for (char *slash = copy + 1; *copy; slash++) {
        slash = slash + strcspn(slash, "/");
        bool last = *slash == '\0';
        *slash = '\0';
        if (mkdir(copy, mode) < 0 && errno != EEXIST)
            return cs_fail_errno(err, "%s", copy);
        if (last)
            break;
        *slash = '/';
    }
    return 0;
}

void cs_dir_remove(int at, const char *name)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        if (fd >= 0)
            close(fd);
        unlinkat(at, name, 0);
        return;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (e->d_type != DT_DIR && unlinkat(fd, e->d_name, 0) == 0)
            continue;
        cs_dir_remove(fd, e->d_name);
    }
    closedir(dir);
    unlinkat(at, name, AT_REMOVEDIR);
}
