#include "run/session_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"

/* Deeper directories are not listed; a program's are not copied out of the jail either. */
#define WALK_DEPTH 64

/* The file system of a session changes in one moment; whoever meets that looks again. */
#define LOOK_AGAIN 8

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

/* --- names --- */

bool cs_session_id_ok(struct cs_str id)
{
    if (id.len != CS_SESSION_ID || !cs_str_starts(id, "ses_"))
        return false;
    for (size_t i = 4; i < id.len; i++)
        if (!(id.at[i] >= '0' && id.at[i] <= '9') && !(id.at[i] >= 'a' && id.at[i] <= 'f'))
            return false;
    return true;
}

static bool is_utf8(struct cs_str s)
{
    for (size_t i = 0; i < s.len;) {
        int n = cs_utf8_len(s.at + i, s.len - i);
        if (n < 0)
            return false;
        i += (size_t)n;
    }
    return true;
}

static bool part_ok(struct cs_str part)
{
    return part.len > 0 && part.len <= 255 && !cs_str_is(part, ".") && !cs_str_is(part, "..");
}

int cs_session_path_check(struct cs_str path, struct cs_err *err)
{
    if (!path.len || path.len > CS_SESSION_PATH)
        return cs_fail(err, CS_INVALID, "a path has 1 to %d bytes, not %zu", CS_SESSION_PATH,
                       path.len);
    if (memchr(path.at, '\0', path.len) || !is_utf8(path))
        return cs_fail(err, CS_INVALID, "the path is not UTF-8 text");
    unsigned depth = 0;
    for (struct cs_str rest = path; depth <= CS_SESSION_DEPTH;) {
        const char *slash = memchr(rest.at, '/', rest.len);
        struct cs_str part = cs_strn(rest.at, slash ? (size_t)(slash - rest.at) : rest.len);
        if (!part_ok(part))
            return cs_fail(err, CS_INVALID,
                           "the path '%.*s' must be relative to the session's files, of names with "
                           "1 to 255 bytes, without '.' and '..'",
                           path.len > 200 ? 200 : (int)path.len, path.at);
        depth++;
        if (!slash)
            break;
        rest = cs_strn(slash + 1, rest.len - part.len - 1);
    }
    if (depth > CS_SESSION_DEPTH)
        return cs_fail(err, CS_INVALID, "the path has more than %d levels", CS_SESSION_DEPTH);
    return 0;
}

/* errno as an error about this path; what is no file or directory is not there. */
static int fail_path(struct cs_err *err, const char *path)
{
    switch (errno) {
    case ENOENT:
    case ELOOP:
    case EXDEV:
    case ENXIO:
        return cs_fail(err, CS_MISSING, "the session has no file '%.200s'", path);
    case ENOTDIR:
        return cs_fail(err, CS_INVALID, "'%.200s': a part of the path is a file", path);
    case EISDIR:
    case ENOTEMPTY:
    case EEXIST:
        return cs_fail(err, CS_INVALID, "'%.200s' is a directory", path);
    case ENAMETOOLONG:
        return cs_fail(err, CS_INVALID, "'%.200s': the name is too long", path);
    case EDQUOT:
    case ENOSPC:
        return cs_fail(err, CS_LIMIT, "'%.200s': the disk is full", path);
    default:
        return cs_fail_errno(err, "'%.200s'", path);
    }
}

static int open_dir(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* --- the whole session --- */

static int make_dir(int at, const char *name)
{
    return mkdirat(at, name, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

/* What somebody who died left half done. */
static int mend(int dir)
{
    struct stat st;
    if (fstatat(dir, "files", &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
        renameat(dir, "old", dir, "files");
    cs_dir_remove(dir, "old");
    cs_dir_remove(dir, "next");
    unlinkat(dir, "put", 0);
    return make_dir(dir, "files");
}

int cs_disk_lock(int root, const char *id, const char *tenant, int *lock, struct cs_err *err)
{
    CS_AUTO_FD int dir = make_dir(root, id) < 0 ? -1 : open_dir(root, id);
    CS_AUTO_FD int fd =
        dir < 0 ? -1 : openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return cs_fail_errno(err, "the directory of session %s", id);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK
                   ? cs_fail(err, CS_CONFLICT, "another execution is in session %s", id)
                   : cs_fail_errno(err, "the lock of session %s", id);
    struct stat st;
    if (fstat(fd, &st) < 0 || st.st_nlink == 0) /* it was removed meanwhile */
        return cs_fail(err, CS_CONFLICT, "session %s has just been removed", id);
    if (st.st_size == 0 && cs_file_write_fd(fd, cs_str(tenant)) < 0)
        return cs_fail_errno(err, "the lock of session %s", id);
    if (mend(dir) < 0)
        return cs_fail_errno(err, "the files of session %s", id);
    *lock = CS_TAKE_FD(fd);
    return 0;
}

void cs_disk_remove(int root, const char *id, bool locked)
{
    CS_AUTO_FD int dir = open_dir(root, id);
    CS_AUTO_FD int fd =
        dir < 0 || locked ? -1 : openat(dir, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (dir < 0 || (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0))
        return;
    cs_dir_remove(root, id);
}

bool cs_disk_tenant(int root, const char *id, char tenant[65])
{
    CS_AUTO_FD int dir = open_dir(root, id);
    CS_AUTO_FD int fd = dir < 0 ? -1 : openat(dir, "lock", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, tenant, 64);
    tenant[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* --- walking the files --- */

struct walk {
    struct cs_arena *arena; /* NULL: only the sum is wanted */
    struct cs_session_file *files;
    size_t count, cap;
    uint64_t bytes;
};

static void note(struct walk *w, const char *prefix, const char *name, const struct stat *st)
{
    bool directory = S_ISDIR(st->st_mode);
    if (!directory)
        w->bytes += (uint64_t)st->st_size;
    if (w->arena && w->count == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 64;
        w->files = cs_realloc(w->files, w->cap, sizeof *w->files);
    }
    if (w->arena)
        w->files[w->count] = (struct cs_session_file){
            .path = cs_str(cs_arena_printf(w->arena, "%s%s", prefix, name)),
            .size = directory ? 0 : (uint64_t)st->st_size,
            .modified = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000,
            .is_directory = directory,
        };
    w->count++;
}

/* Takes `dir`. */
static int walk(struct walk *w, int dir, const char *prefix, unsigned depth)
{
    DIR *d = fdopendir(dir);
    if (!d) {
        close(dir);
        return -1;
    }
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
            continue;
        note(w, prefix, e->d_name, &st);
        int inner = S_ISDIR(st.st_mode) && depth < WALK_DEPTH ? open_dir(dirfd(d), e->d_name) : -1;
        if (inner < 0)
            continue;
        CS_AUTO_FREE char *longer = NULL;
        if (w->arena) {
            CS_AUTO_BUF struct cs_buf text = {0};
            cs_buf_printf(&text, "%s%s/", prefix, e->d_name);
            longer = cs_strdup(cs_buf_cstr(&text));
        }
        walk(w, inner, longer ? longer : "", depth + 1);
    }
    closedir(d);
    return 0;
}

static int measure(int dir, const char *name, struct walk *w)
{
    int fd = open_dir(dir, name);
    return fd < 0 ? -1 : walk(w, fd, "", 0);
}

static int over(const struct walk *w, const struct cs_quota *quota, struct cs_err *err)
{
    if (w->bytes > quota->bytes)
        return cs_fail(err, CS_LIMIT,
                       "its files would be %" PRIu64 " bytes, at most %" PRIu64
                       " (setting session.files); remove some first",
                       w->bytes, quota->bytes);
    if (w->count > quota->files)
        return cs_fail(err, CS_LIMIT,
                       "it would have %zu files and directories, at most %" PRIu64
                       "; remove some first",
                       w->count, quota->files);
    return 0;
}

/* --- what an execution left --- */

int cs_disk_next(int root, const char *id, const struct cs_quota *quota, struct cs_err *err)
{
    struct walk w = {0};
    CS_AUTO_FD int dir = open_dir(root, id);
    if (dir < 0 || measure(dir, "next", &w) < 0)
        return 0;
    return over(&w, quota, err) < 0 ? -1 : 1;
}

int cs_disk_adopt(int root, const char *id, struct cs_err *err)
{
    CS_AUTO_FD int dir = open_dir(root, id);
    if (dir < 0)
        return cs_fail_errno(err, "the directory of session %s", id);
    if (syscall(SYS_renameat2, dir, "next", dir, "files", RENAME_EXCHANGE) == 0) {
        cs_dir_remove(dir, "next");
        return 0;
    }
    /* A file system that cannot do it in one step: see mend. */
    if (renameat(dir, "files", dir, "old") < 0 || renameat(dir, "next", dir, "files") < 0)
        return cs_fail_errno(err, "the files of session %s", id);
    cs_dir_remove(dir, "old");
    return 0;
}

void cs_disk_drop(int root, const char *id)
{
    CS_AUTO_FD int dir = open_dir(root, id);
    if (dir >= 0)
        cs_dir_remove(dir, "next");
}

/* --- reading: without the lock, so the files may be replaced meanwhile --- */

/* The directory `files` and its session's; -1 if there is none. */
static int open_files(int root, const char *id, int *session)
{
    *session = open_dir(root, id);
    return *session < 0 ? -1 : open_dir(*session, "files");
}

static bool replaced(int session, int files)
{
    struct stat was, is;
    return fstat(files, &was) == 0 &&
           (fstatat(session, "files", &is, AT_SYMLINK_NOFOLLOW) < 0 || was.st_ino != is.st_ino);
}

static int by_path(const void *a, const void *b)
{
    const struct cs_session_file *x = a, *y = b;
    size_t n = x->path.len < y->path.len ? x->path.len : y->path.len;
    int order = memcmp(x->path.at, y->path.at, n);
    return order ? order : (x->path.len > y->path.len) - (x->path.len < y->path.len);
}

int cs_disk_list(int root, const char *id, struct cs_arena *arena, struct cs_session_file **files,
                 size_t *count, struct cs_err *err)
{
    for (int look = 0; look < LOOK_AGAIN; look++) {
        int session = -1;
        CS_AUTO_FD int dir = open_files(root, id, &session);
        CS_AUTO_FD int owned = session;
        struct walk w = {.arena = arena};
        if (dir >= 0 && walk(&w, dup(dir), "", 0) < 0)
            return cs_fail_errno(err, "the files of session %s", id);
        if (dir >= 0 && replaced(owned, dir)) {
            free(w.files);
            continue;
        }
        if (w.count)
            qsort(w.files, w.count, sizeof *w.files, by_path);
        *files = w.files;
        *count = w.count;
        return 0;
    }
    return cs_fail(err, CS_CONFLICT, "the files of session %s change all the time", id);
}

static int read_file(int dir, const char *path, uint64_t max, struct cs_buf *out,
                     struct cs_err *err)
{
    struct stat st;
    CS_AUTO_FD int fd = cs_open_beneath(dir, path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fail_path(err, path);
    if (!S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : ENOENT;
        return fail_path(err, path);
    }
    if ((uint64_t)st.st_size > max)
        return cs_fail(err, CS_LIMIT, "'%.200s' is %lld bytes, at most %" PRIu64 " can be read",
                       path, (long long)st.st_size, max);
    return cs_file_read_fd(fd, max, out, err);
}

int cs_disk_get(int root, const char *id, const char *path, uint64_t max, struct cs_buf *out,
                struct cs_err *err)
{
    for (int look = 0; look < LOOK_AGAIN; look++) {
        int session = -1;
        CS_AUTO_FD int dir = open_files(root, id, &session);
        CS_AUTO_FD int owned = session;
        if (dir < 0) {
            errno = ENOENT;
            return fail_path(err, path);
        }
        int result = read_file(dir, path, max, out, err);
        if (result == 0 || !replaced(owned, dir))
            return result;
        cs_buf_clear(out);
    }
    return cs_fail(err, CS_CONFLICT, "the files of session %s change all the time", id);
}

/* --- changing, with the lock held --- */

/* Splits "a/b/c" into "a/b" (or ".") and "c". */
static const char *split(const char *path, char parent[CS_SESSION_PATH + 1])
{
    const char *slash = strrchr(path, '/');
    snprintf(parent, CS_SESSION_PATH + 1, "%.*s", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
    return slash ? slash + 1 : path;
}

/* Directories on the way that are not there. */
static int make_parents(int files, const char *path, struct cs_err *err)
{
    char part[CS_SESSION_PATH + 1], parent[CS_SESSION_PATH + 1];
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        const char *leaf = split(part, parent);
        CS_AUTO_FD int dir = cs_open_beneath(files, parent, O_RDONLY | O_DIRECTORY);
        if (dir < 0)
            return fail_path(err, path);
        if (mkdirat(dir, leaf, 0700) < 0 && errno != EEXIST)
            return fail_path(err, path);
        CS_AUTO_FD int made = cs_open_beneath(files, part, O_RDONLY | O_DIRECTORY);
        if (made < 0) {
            errno = ENOTDIR;
            return fail_path(err, path);
        }
    }
    return 0;
}

/* Would this file fit? Counts the directories that its path still needs. */
static int room_for(int dir, int files, const char *path, uint64_t size,
                    const struct cs_quota *quota, struct cs_err *err)
{
    struct walk w = {0};
    if (measure(dir, "files", &w) < 0)
        return cs_fail_errno(err, "the files of the session");
    struct stat st;
    CS_AUTO_FD int old = cs_open_beneath(files, path, O_PATH);
    if (old >= 0 && fstat(old, &st) == 0 && S_ISREG(st.st_mode))
        w.bytes -= w.bytes < (uint64_t)st.st_size ? w.bytes : (uint64_t)st.st_size;
    else
        w.count++;
    char part[CS_SESSION_PATH + 1];
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        CS_AUTO_FD int there = cs_open_beneath(files, part, O_PATH);
        w.count += there < 0;
    }
    w.bytes += size;
    return over(&w, quota, err);
}

static int store_file(int dir, int files, const char *path, struct cs_str content,
                      struct cs_err *err)
{
    char parent[CS_SESSION_PATH + 1];
    const char *leaf = split(path, parent);
    CS_AUTO_FD int into = cs_open_beneath(files, parent, O_RDONLY | O_DIRECTORY);
    CS_AUTO_FD int fd =
        into < 0 ? -1
                 : openat(dir, "put", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_path(err, path);
    if (cs_file_write_fd(fd, content) == 0 && renameat(dir, "put", into, leaf) == 0)
        return 0;
    fail_path(err, path);
    unlinkat(dir, "put", 0);
    return -1;
}

int cs_disk_put(int root, const char *id, const char *path, struct cs_str content,
                const struct cs_quota *quota, struct cs_err *err)
{
    int session = -1;
    CS_AUTO_FD int files = open_files(root, id, &session);
    CS_AUTO_FD int dir = session;
    if (files < 0)
        return cs_fail_errno(err, "the files of session %s", id);
    if (room_for(dir, files, path, content.len, quota, err) < 0 ||
        make_parents(files, path, err) < 0)
        return -1;
    return store_file(dir, files, path, content, err);
}

int cs_disk_take(int root, const char *id, const char *path, struct cs_err *err)
{
    int session = -1;
    char parent[CS_SESSION_PATH + 1];
    const char *leaf = split(path, parent);
    CS_AUTO_FD int files = open_files(root, id, &session);
    CS_AUTO_FD int owned = session;
    CS_AUTO_FD int dir = files < 0 ? -1 : cs_open_beneath(files, parent, O_RDONLY | O_DIRECTORY);
    struct stat st;
    (void)owned;
    if (dir < 0 || fstatat(dir, leaf, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return fail_path(err, path);
    if (S_ISDIR(st.st_mode))
        cs_dir_remove(dir, leaf);
    else if (unlinkat(dir, leaf, 0) < 0)
        return fail_path(err, path);
    return 0;
}
