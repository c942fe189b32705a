#include "sandbox/roots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "sandbox/folder.h"

static const char *const root_names[CS_ROOT_COUNT] = {
    [CS_ROOT_MCP_SERVERS] = "mcp-servers",
    [CS_ROOT_SKILLS] = "skills",
    [CS_ROOT_WORKSPACE] = "workspace",
    [CS_ROOT_TMP] = "tmp",
};

#define LIST_MAX 10000
#define OUT      "out" /* of /workspace */

void cs_roots_init(struct cs_roots *r, const char *scratch, int mcp_servers, int skills,
                   const struct cs_limits *limits)
{
    *r = (struct cs_roots){
        .dir = {mcp_servers, skills, -1, -1},
        .scratch = cs_strdup(scratch),
        .bytes_max = limits->scratch_bytes,
        .files_max = limits->scratch_files,
    };
}

void cs_roots_adopt(struct cs_roots *r, int workspace, int tmp)
{
    r->dir[CS_ROOT_WORKSPACE] = workspace;
    r->dir[CS_ROOT_TMP] = tmp;
    r->adopted = true;
}

void cs_roots_servers(struct cs_roots *r, int mcp_servers)
{
    cs_closep(&r->dir[CS_ROOT_MCP_SERVERS]);
    r->dir[CS_ROOT_MCP_SERVERS] = mcp_servers;
}

void cs_roots_done(struct cs_roots *r)
{
    for (int i = 0; i < CS_ROOT_COUNT; i++)
        cs_closep(&r->dir[i]);
    if (r->made)
        cs_folder_remove(AT_FDCWD, r->scratch);
    free(r->scratch);
    *r = (struct cs_roots){.dir = {-1, -1, -1, -1}};
}

static int open_dir(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* The scratch is made when something is first written: most programs never need it. */
static int make_scratch(struct cs_roots *r)
{
    if (r->dir[CS_ROOT_WORKSPACE] >= 0)
        return 0;
    if (mkdir(r->scratch, 0700) < 0)
        return -1;
    r->made = true;
    CS_AUTO_FD int top = open_dir(AT_FDCWD, r->scratch);
    if (top < 0 || mkdirat(top, "workspace", 0700) < 0 || mkdirat(top, "tmp", 0700) < 0)
        return -1;
    r->dir[CS_ROOT_WORKSPACE] = open_dir(top, "workspace");
    r->dir[CS_ROOT_TMP] = open_dir(top, "tmp");
    return r->dir[CS_ROOT_WORKSPACE] < 0 || r->dir[CS_ROOT_TMP] < 0 ? -1 : 0;
}

/* A path taken apart: its root, what is beneath it ("" for the root itself), and that one's parent.
 */
struct spot {
    enum cs_root root;
    char rel[CS_PATH_MAX];    /* "a/b/c" */
    char parent[CS_PATH_MAX]; /* "a/b" or "." */
    const char *leaf;         /* "c", inside rel */
};

static bool part_ok(const char *at, size_t len)
{
    return len > 0 && len <= 255 && !(len == 1 && at[0] == '.') &&
           !(len == 2 && at[0] == '.' && at[1] == '.');
}

static bool parts_ok(const char *rel)
{
    while (*rel) {
        size_t len = strcspn(rel, "/");
        if (!part_ok(rel, len))
            return false;
        rel += len;
        if (*rel == '/' && *++rel == '\0')
            return false;
    }
    return true;
}

static bool take_apart(struct cs_str path, struct spot *s)
{
    if (path.len < 2 || path.len >= CS_PATH_MAX || path.at[0] != '/' ||
        memchr(path.at, '\0', path.len))
        return false;
    for (int i = 0; i < CS_ROOT_COUNT; i++) {
        size_t n = strlen(root_names[i]);
        if (path.len < n + 1 || memcmp(path.at + 1, root_names[i], n) != 0)
            continue;
        struct cs_str rest = cs_strn(path.at + 1 + n, path.len - 1 - n);
        if (rest.len && rest.at[0] != '/')
            continue;
        s->root = (enum cs_root)i;
        size_t skip = rest.len ? 1 : 0;
        memcpy(s->rel, rest.at + skip, rest.len - skip);
        s->rel[rest.len - skip] = '\0';
        if (!parts_ok(s->rel))
            return false;
        const char *slash = strrchr(s->rel, '/');
        s->leaf = slash ? slash + 1 : s->rel;
        snprintf(s->parent, sizeof s->parent, "%.*s", slash ? (int)(slash - s->rel) : 1,
                 slash ? s->rel : ".");
        return true;
    }
    return false;
}

/* errno as an answer; the message names the path as the program wrote it, never one of the host. */
static enum cs_answer refuse(int sys, struct cs_str path, struct cs_buf *payload)
{
    static const struct {
        int sys;
        enum cs_answer answer;
        const char *text;
    } rows[] = {
        {ENOENT, CS_ANSWER_MISSING, "ENOENT: no such file or directory"},
        {ENOTDIR, CS_ANSWER_INVALID, "ENOTDIR: not a directory"},
        {EISDIR, CS_ANSWER_INVALID, "EISDIR: is a directory"},
        {EEXIST, CS_ANSWER_INVALID, "EEXIST: exists already"},
        {ENOTEMPTY, CS_ANSWER_INVALID, "ENOTEMPTY: directory is not empty"},
        {EINVAL, CS_ANSWER_INVALID, "EINVAL: invalid argument"},
        {EROFS, CS_ANSWER_DENIED,
         "EROFS: this directory is read-only; write to /workspace or /tmp"},
        {EACCES, CS_ANSWER_DENIED, "EACCES: outside of /workspace, /tmp, /mcp-servers and /skills"},
        {ENOSPC, CS_ANSWER_LIMIT, "ENOSPC: the limit of scratch bytes or files is reached"},
        {EFBIG, CS_ANSWER_LIMIT, "EFBIG: the file is too large to be read at once"},
        {ELOOP, CS_ANSWER_DENIED, "ELOOP: links are not followed"},
        {EXDEV, CS_ANSWER_DENIED, "EXDEV: not inside its root"},
    };
    cs_buf_clear(payload);
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        if (rows[i].sys != sys)
            continue;
        cs_buf_printf(payload, "%s, '%.*s'", rows[i].text, CS_STR_ARG(path));
        return rows[i].answer;
    }
    cs_buf_printf(payload, "EIO: %s, '%.*s'", strerror(sys), CS_STR_ARG(path));
    return CS_ANSWER_FAILED;
}

static bool writable(enum cs_root root)
{
    return root == CS_ROOT_WORKSPACE || root == CS_ROOT_TMP;
}

/* Opens an existing file or directory for reading; -1 with errno. */
static int open_existing(struct cs_roots *r, const struct spot *s, struct stat *st)
{
    if (r->dir[s->root] < 0 && writable(s->root) && make_scratch(r) < 0)
        return -1;
    if (r->dir[s->root] < 0) {
        errno = ENOENT;
        return -1;
    }
    int fd = cs_open_beneath(r->dir[s->root], s->rel, O_RDONLY);
    if (fd < 0)
        return -1;
    if (fstat(fd, st) < 0 || !(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode))) {
        close(fd);
        errno = ENOENT;
        return -1;
    }
    return fd;
}

static int read_all(int fd, size_t size, size_t max, struct cs_buf *out)
{
    if (size > max) {
        errno = EFBIG;
        return -1;
    }
    for (;;) {
        char *to = cs_buf_room(out, size > out->len ? size - out->len + 1 : 4096);
        ssize_t n = read(fd, to, out->cap - out->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        cs_buf_added(out, (size_t)n);
        if (out->len > max) {
            errno = EFBIG;
            return -1;
        }
    }
}

static int op_read(struct cs_roots *r, const struct spot *s, struct cs_buf *payload)
{
    struct stat st;
    CS_AUTO_FD int fd = open_existing(r, s, &st);
    if (fd < 0)
        return -1;
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    return read_all(fd, (size_t)st.st_size, CS_FILE_MAX - CS_KIB, payload);
}

/* Takes `bytes` and `files` from what is left; false and ENOSPC if it is not there. */
static bool charge(struct cs_roots *r, uint64_t bytes, uint32_t files)
{
    if (bytes > r->bytes_max - r->bytes || files > r->files_max - r->files) {
        errno = ENOSPC;
        return false;
    }
    r->bytes += bytes;
    r->files += files;
    return true;
}

static void refund(struct cs_roots *r, uint64_t bytes, uint32_t files)
{
    r->bytes -= bytes < r->bytes ? bytes : r->bytes;
    r->files -= files < r->files ? files : r->files;
}

/* /workspace/out is there when it is first written to. */
static void make_out(struct cs_roots *r, const struct spot *s)
{
    if (s->root != CS_ROOT_WORKSPACE || strncmp(s->rel, OUT "/", strlen(OUT "/")) != 0 ||
        !charge(r, 0, 1))
        return;
    if (mkdirat(r->dir[s->root], OUT, 0700) < 0)
        refund(r, 0, 1);
}

static int op_write(struct cs_roots *r, const struct spot *s, struct cs_str data, bool append,
                    bool exclusive)
{
    int root = r->dir[s->root];
    make_out(r, s);
    CS_AUTO_FD int fd = cs_open_beneath(root, s->rel, O_WRONLY | (append ? O_APPEND : 0));
    bool fresh = fd < 0 && errno == ENOENT;
    if (fd < 0 && !fresh)
        return -1;
    if (!fresh && exclusive) {
        errno = EEXIST;
        return -1;
    }
    if (fresh && !charge(r, 0, 1))
        return -1;
    if (fresh) {
        fd = cs_open_beneath(root, s->rel, O_WRONLY | O_CREAT | O_EXCL);
        if (fd < 0) {
            refund(r, 0, 1);
            return -1;
        }
    }
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -1;
    if (!S_ISREG(st.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    uint64_t old = append ? 0 : (uint64_t)st.st_size;
    if (data.len > old && !charge(r, data.len - old, 0))
        return -1;
    if (data.len < old)
        refund(r, old - data.len, 0);
    if (cs_file_write_fd(fd, data) < 0)
        return -1;
    /* What is left of the old content goes last: file systems take a file that is emptied and then
     * written for one that must not be lost, and wait for the disk. */
    return data.len < old ? ftruncate(fd, (off_t)data.len) : 0;
}

static void put_kind(struct cs_json_writer *w, mode_t mode)
{
    cs_json_key(w, "type");
    cs_json_put_z(w, S_ISDIR(mode) ? "directory" : "file");
}

static int op_stat(struct cs_roots *r, const struct spot *s, struct cs_buf *payload)
{
    struct stat st;
    CS_AUTO_FD int fd = open_existing(r, s, &st);
    if (fd < 0)
        return -1;
    struct cs_json_writer w = CS_JSON_WRITER(payload);
    cs_json_open(&w, '{');
    put_kind(&w, st.st_mode);
    cs_json_key(&w, "size");
    cs_json_put_u64(&w, S_ISDIR(st.st_mode) ? 0 : (uint64_t)st.st_size);
    cs_json_key(&w, "mtimeMs");
    cs_json_put_i64(&w, (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000);
    cs_json_close(&w, '}');
    return 0;
}

static int op_list(struct cs_roots *r, const struct spot *s, struct cs_buf *payload)
{
    struct stat st;
    int fd = open_existing(r, s, &st);
    if (fd < 0)
        return -1;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        errno = ENOTDIR;
        return -1;
    }
    struct cs_json_writer w = CS_JSON_WRITER(payload);
    cs_json_open(&w, '[');
    unsigned count = 0;
    for (struct dirent *e; (e = readdir(d)) && count < LIST_MAX;) {
        struct stat es;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            fstatat(dirfd(d), e->d_name, &es, AT_SYMLINK_NOFOLLOW) < 0 ||
            !(S_ISREG(es.st_mode) || S_ISDIR(es.st_mode)))
            continue;
        cs_json_open(&w, '{');
        cs_json_key(&w, "name");
        cs_json_put_z(&w, e->d_name);
        put_kind(&w, es.st_mode);
        cs_json_close(&w, '}');
        count++;
    }
    closedir(d);
    cs_json_close(&w, ']');
    return 0;
}

/* The directory that holds (or will hold) the leaf; -1 with errno. */
static int open_parent(struct cs_roots *r, const struct spot *s)
{
    if (!*s->rel) {
        errno = EINVAL;
        return -1;
    }
    return cs_open_beneath(r->dir[s->root], s->parent, O_RDONLY | O_DIRECTORY);
}

static int make_dir(struct cs_roots *r, const struct spot *s)
{
    CS_AUTO_FD int dir = open_parent(r, s);
    if (dir < 0 || !charge(r, 0, 1))
        return -1;
    if (mkdirat(dir, s->leaf, 0700) == 0)
        return 0;
    refund(r, 0, 1);
    return -1;
}

static int op_mkdir(struct cs_roots *r, const struct spot *s, bool parents)
{
    make_out(r, s);
    if (!parents)
        return make_dir(r, s);
    struct spot step = *s;
    for (char *at = step.rel; *at;) {
        at += strcspn(at, "/");
        char stop = *at;
        *at = '\0';
        const char *slash = strrchr(step.rel, '/');
        step.leaf = slash ? slash + 1 : step.rel;
        snprintf(step.parent, sizeof step.parent, "%.*s", slash ? (int)(slash - step.rel) : 1,
                 slash ? step.rel : ".");
        if (make_dir(r, &step) < 0 && errno != EEXIST)
            return -1;
        *at = stop;
        at += stop != '\0';
    }
    struct stat st;
    CS_AUTO_FD int fd = open_existing(r, s, &st);
    if (fd >= 0 && !S_ISDIR(st.st_mode)) {
        errno = EEXIST;
        return -1;
    }
    return fd < 0 ? -1 : 0;
}

static int op_remove(struct cs_roots *r, const struct spot *s, bool recursive, bool force)
{
    CS_AUTO_FD int dir = open_parent(r, s);
    struct stat st;
    if (dir < 0 || fstatat(dir, s->leaf, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return force && errno == ENOENT ? 0 : -1;
    if (!S_ISDIR(st.st_mode)) {
        if (unlinkat(dir, s->leaf, 0) < 0)
            return -1;
        refund(r, (uint64_t)st.st_size, 1);
        return 0;
    }
    if (!recursive) {
        if (unlinkat(dir, s->leaf, AT_REMOVEDIR) < 0)
            return -1;
        refund(r, 0, 1);
        return 0;
    }
    struct cs_folder_size size = {0};
    cs_folder_measure(dir, s->leaf, &size);
    if (cs_folder_remove(dir, s->leaf) < 0)
        return -1;
    refund(r, size.bytes, size.files);
    return 0;
}

static int op_rename(struct cs_roots *r, const struct spot *s, const struct spot *to)
{
    make_out(r, to);
    CS_AUTO_FD int from_dir = open_parent(r, s);
    CS_AUTO_FD int to_dir = from_dir < 0 ? -1 : open_parent(r, to);
    if (to_dir < 0)
        return -1;
    struct stat old;
    bool replaces = fstatat(to_dir, to->leaf, &old, AT_SYMLINK_NOFOLLOW) == 0;
    if (renameat(from_dir, s->leaf, to_dir, to->leaf) < 0)
        return -1;
    if (replaces)
        refund(r, S_ISREG(old.st_mode) ? (uint64_t)old.st_size : 0, 1);
    return 0;
}

static int op_copy(struct cs_roots *r, const struct spot *s, const struct spot *to)
{
    CS_AUTO_BUF struct cs_buf bytes = {0};
    if (op_read(r, s, &bytes) < 0)
        return -1;
    return op_write(r, to, cs_buf_str(&bytes), false, false);
}

static int dispatch(struct cs_roots *r, enum cs_file_op op, const struct spot *s,
                    const struct spot *to, struct cs_str data, uint32_t flags,
                    struct cs_buf *payload)
{
    switch (op) {
    case CS_FILE_READ:
        return op_read(r, s, payload);
    case CS_FILE_WRITE:
        return op_write(r, s, data, false, flags & 1);
    case CS_FILE_APPEND:
        return op_write(r, s, data, true, false);
    case CS_FILE_STAT:
        return op_stat(r, s, payload);
    case CS_FILE_LIST:
        return op_list(r, s, payload);
    case CS_FILE_MKDIR:
        return op_mkdir(r, s, flags & 1);
    case CS_FILE_REMOVE:
        return op_remove(r, s, flags & 1, flags & 2);
    case CS_FILE_RENAME:
        return op_rename(r, s, to);
    case CS_FILE_COPY:
        return op_copy(r, s, to);
    }
    errno = EINVAL;
    return -1;
}

/* A path as a program writes it: what does not start at the root starts in /workspace. */
static bool locate(struct cs_str path, struct spot *s)
{
    if (!path.len || path.at[0] == '/')
        return take_apart(path, s);
    char whole[CS_PATH_MAX];
    int n = snprintf(whole, sizeof whole, "/workspace/%.*s", CS_STR_ARG(path));
    return n > 0 && (size_t)n < sizeof whole && (size_t)n == path.len + strlen("/workspace/") &&
           take_apart(cs_strn(whole, (size_t)n), s);
}

enum cs_answer cs_roots_op(struct cs_roots *r, enum cs_file_op op, struct cs_str path,
                           struct cs_str data, uint32_t flags, struct cs_buf *payload)
{
    struct spot s, to;
    if (!locate(path, &s))
        return refuse(EACCES, path, payload);
    bool two = op == CS_FILE_RENAME || op == CS_FILE_COPY;
    if (two && !locate(data, &to))
        return refuse(EACCES, data, payload);
    bool changes = op != CS_FILE_READ && op != CS_FILE_STAT && op != CS_FILE_LIST;
    bool source_changes = changes && op != CS_FILE_COPY;
    if ((source_changes && !writable(s.root)) || (two && !writable(to.root)))
        return refuse(EROFS, two && writable(s.root) ? data : path, payload);
    if (changes && make_scratch(r) < 0)
        return refuse(errno, path, payload);
    if (dispatch(r, op, &s, &to, data, flags, payload) < 0)
        return refuse(errno, path, payload);
    return CS_ANSWER_OK;
}

enum cs_answer cs_roots_module(struct cs_roots *r, struct cs_str path, struct cs_buf *canonical,
                               struct cs_buf *source)
{
    static const char *const endings[] = {"",      ".ts",       ".js",      ".mjs",
                                          ".json", "/index.ts", "/index.js"};
    int why = ENOENT;
    for (size_t i = 0; i < CS_COUNT(endings); i++) {
        cs_buf_clear(canonical);
        cs_buf_putstr(canonical, path);
        cs_buf_puts(canonical, endings[i]);
        struct spot s;
        if (!take_apart(cs_buf_str(canonical), &s))
            return refuse(EACCES, path, source);
        struct stat st;
        CS_AUTO_FD int fd = open_existing(r, &s, &st);
        if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
            why = errno;
        if (fd < 0 || S_ISDIR(st.st_mode))
            continue;
        cs_buf_clear(source);
        if (read_all(fd, (size_t)st.st_size, CS_MODULE_MAX / 2, source) < 0)
            return refuse(errno, path, source);
        return CS_ANSWER_OK;
    }
    return refuse(why, path, source);
}

int cs_roots_copy_in(struct cs_roots *r, const char *host_dir, struct cs_err *err)
{
    if (make_scratch(r) < 0)
        return cs_fail_errno(err, "workspace: cannot make the scratch directory");
    struct cs_folder_size size = {.bytes_max = r->bytes_max, .files_max = r->files_max};
    CS_AUTO_FD int from = open(host_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (from < 0)
        return cs_fail_errno(err, "workspace '%s'", host_dir);
    int copied = cs_folder_copy(from, r->dir[CS_ROOT_WORKSPACE], &size, err);
    r->bytes = size.bytes; /* also if it failed: they say which limit it was */
    r->files = size.files;
    return copied < 0 ? cs_wrap(err, "workspace '%s'", host_dir) : 0;
}

static int copy_to(struct cs_roots *r, const char *host_dir, struct cs_err *err)
{
    struct cs_folder_size size = {.bytes_max = r->bytes_max, .files_max = r->files_max};
    CS_AUTO_FD int to = open(host_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (to < 0)
        return cs_fail_errno(err, "cannot open the directory");
    return cs_folder_copy(r->dir[CS_ROOT_WORKSPACE], to, &size, err);
}

int cs_roots_copy_out(struct cs_roots *r, const char *host_dir, struct cs_err *err)
{
    if (r->dir[CS_ROOT_WORKSPACE] < 0 || copy_to(r, host_dir, err) == 0)
        return 0;
    return cs_wrap(err, "workspace '%s'", host_dir);
}

void cs_roots_trim(struct cs_roots *r)
{
    if (r->dir[CS_ROOT_WORKSPACE] >= 0)
        unlinkat(r->dir[CS_ROOT_WORKSPACE], OUT, AT_REMOVEDIR);
}

struct cs_harvest *cs_roots_harvest(struct cs_roots *r, const char *old)
{
    char dir[4096];
    int n = snprintf(dir, sizeof dir, "%s-out", r->scratch);
    if (n < 0 || (size_t)n >= sizeof dir)
        return NULL;
    return cs_harvest(r->dir[CS_ROOT_WORKSPACE], old, dir, !r->adopted && !old, r->bytes_max);
}

int cs_roots_copy_new(struct cs_roots *r, const char *old, const char *fresh, struct cs_err *err)
{
    int here = r->dir[CS_ROOT_WORKSPACE];
    CS_AUTO_FD int was = open(old, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (here < 0 || (was >= 0 && cs_folder_same(here, was)))
        return 0;
    if (mkdir(fresh, 0700) < 0)
        return cs_fail_errno(err, "the files of /workspace cannot be kept");
    if (copy_to(r, fresh, err) == 0)
        return 0;
    cs_folder_remove(AT_FDCWD, fresh);
    return cs_wrap(err, "the files of /workspace cannot be kept");
}
