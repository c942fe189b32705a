/*
 * Bytes under their SHA-256: files blobs/ab/<hash in hex>, or with .zst behind it if they are
 * compressed. Each is written once, whole, and is on the disk before anybody hears of it.
 *
 * Two lists refer to them, artifacts and journals. A reference comes after the file, so a file that
 * nobody refers to may still be about to be: putting it again makes it young, and a young one is
 * not removed. The lock keeps the two from meeting halfway, in all processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/own.h"
#include "store/inside.h"

#define COMPRESS_ABOVE 65536
#define LEVEL          3
#define PIECE          131072

void cs_blob_hash(struct cs_str content, unsigned char hash[32])
{
    cs_sha256(content, hash);
}

static const char *path_of(const struct cs_db *db, const unsigned char hash[32], bool packed,
                           struct cs_buf *path)
{
    cs_buf_clear(path);
    cs_buf_printf(path, "%s/blobs/%02x/", db->dir, hash[0]);
    cs_hex_put(path, hash, 32);
    cs_buf_puts(path, packed ? ".zst" : "");
    return cs_buf_cstr(path);
}

/* One may be there that was cut short, by an older version or a broken disk. */
static bool is_whole(const char *path, bool packed, uint64_t size)
{
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    char head[18]; /* the longest of a frame */
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    if (!packed)
        return (uint64_t)st.st_size == size;
    ssize_t got = pread(fd, head, sizeof head, 0);
    return got > 0 && ZSTD_getFrameContentSize(head, (size_t)got) == size;
}

bool cs_blob_there(const struct cs_db *db, const unsigned char hash[32], uint64_t size)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    return is_whole(path_of(db, hash, false, &path), false, size) ||
           is_whole(path_of(db, hash, true, &path), true, size);
}

static int cannot(struct cs_err *err)
{
    bool full = err->sys == ENOSPC || err->sys == EDQUOT;
    return full ? cs_wrap(err, "the disk is full: make room on it") : -1;
}

/* --- put --- */

/* A name in a directory is on the disk when the directory is. */
static int sync_dir(const char *path, struct cs_err *err)
{
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || fsync(fd) < 0 ? cs_fail_errno(err, "%s", path) : 0;
}

static int make_dir(const struct cs_db *db, const unsigned char hash[32], struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    size_t root;
    cs_buf_printf(&path, "%s/blobs", db->dir);
    root = path.len;
    cs_buf_printf(&path, "/%02x", hash[0]);
    if (access(cs_buf_cstr(&path), F_OK) == 0)
        return 0;
    if (cs_dir_make(cs_buf_cstr(&path), 0700, err) < 0)
        return -1;
    path.len = root;
    return sync_dir(cs_buf_cstr(&path), err) < 0 || sync_dir(db->dir, err) < 0 ? -1 : 0;
}

static int lock_blobs(const struct cs_db *db, int how, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/blobs/lock", db->dir);
    CS_AUTO_FD int fd = open(cs_buf_cstr(&path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return cs_fail_errno(err, "%s", cs_buf_cstr(&path));
    while (flock(fd, how) < 0)
        if (errno != EINTR)
            return cs_fail_errno(err, "%s", cs_buf_cstr(&path));
    return CS_TAKE_FD(fd);
}

/* True: it is there, and young again. */
static bool renew(const struct cs_db *db, const unsigned char hash[32], uint64_t size)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    for (int packed = 0; packed < 2; packed++)
        if (is_whole(path_of(db, hash, packed, &path), packed, size))
            return utimensat(AT_FDCWD, cs_buf_cstr(&path), NULL, AT_SYMLINK_NOFOLLOW) == 0;
    return false;
}

/* What is worth it. */
static bool pack(struct cs_str content, struct cs_buf *packed)
{
    if (content.len <= COMPRESS_ABOVE)
        return false;
    size_t most = ZSTD_compressBound(content.len);
    size_t len = ZSTD_compress(cs_buf_room(packed, most), most, content.at, content.len, LEVEL);
    if (ZSTD_isError(len) || len > content.len - content.len / 16)
        return false;
    cs_buf_added(packed, len);
    return true;
}

int cs_blob_put(const struct cs_db *db, const unsigned char hash[32], struct cs_str content,
                struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0}, packed = {0};
    if (make_dir(db, hash, err) < 0)
        return cannot(err);
    CS_AUTO_FD int lock = lock_blobs(db, LOCK_SH, err);
    if (lock < 0)
        return cannot(err);
    if (renew(db, hash, content.len))
        return 0;
    bool smaller = pack(content, &packed);
    const char *file = path_of(db, hash, smaller, &path);
    if (cs_file_replace(file, smaller ? cs_buf_str(&packed) : content, 0600, err) < 0)
        return cannot(err);
    *strrchr(path.at, '/') = '\0';
    return sync_dir(path.at, err);
}

/* --- get --- */

static int damaged(const char *file, struct cs_err *err)
{
    return cs_fail(err, CS_SYSTEM,
                   "the content is damaged: %s; take it from a backup, or remove it", file);
}

/* Plain or not, whichever there is; `packed` says. */
static int open_blob(const struct cs_db *db, const unsigned char hash[32], bool *packed,
                     struct stat *st, struct cs_buf *path, struct cs_err *err)
{
    int fd = -1;
    *packed = true;
    do {
        *packed = !*packed;
        fd = open(path_of(db, hash, *packed, path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    } while (fd < 0 && errno == ENOENT && !*packed);
    if (fd < 0 && errno == ENOENT)
        return cs_fail(err, CS_MISSING, "there is no content %s", cs_buf_cstr(path));
    if (fd < 0 || fstat(fd, st) < 0)
        return cs_fail_errno(err, "the content cannot be read: %s", cs_buf_cstr(path));
    if (S_ISREG(st->st_mode))
        return fd;
    close(fd);
    return damaged(cs_buf_cstr(path), err);
}

static int read_at(int fd, uint64_t offset, char *to, size_t n)
{
    while (n) {
        ssize_t got = pread(fd, to, n, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        to += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return 0;
}

/* What comes before `offset` is unpacked too, and thrown away. */
static int unpack_at(int fd, uint64_t offset, char *to, size_t n)
{
    CS_AUTO_FREE char *in_bytes = cs_calloc(PIECE, 1), *skipped = cs_calloc(PIECE, 1);
    ZSTD_DCtx *z = ZSTD_createDCtx();
    ZSTD_inBuffer in = {in_bytes, 0, 0};
    uint64_t from = 0;
    int result = -1;
    while (z && n) {
        bool skipping = offset > 0;
        size_t room = !skipping ? n : offset < PIECE ? (size_t)offset : PIECE;
        ZSTD_outBuffer out = {skipping ? skipped : to, room, 0};
        if (in.pos == in.size) {
            ssize_t got = pread(fd, in_bytes, PIECE, (off_t)from);
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                break;
            from += (uint64_t)got;
            in = (ZSTD_inBuffer){in_bytes, (size_t)got, 0};
        }
        if (ZSTD_isError(ZSTD_decompressStream(z, &out, &in)))
            break;
        offset -= skipping ? out.pos : 0;
        n -= skipping ? 0 : out.pos;
        to += skipping ? 0 : out.pos;
    }
    if (!n)
        result = 0;
    ZSTD_freeDCtx(z);
    return result;
}

/* How large it is when it is unpacked; -1: that cannot be told. */
static int64_t size_of(int fd, bool packed, const struct stat *st)
{
    char head[18];
    if (!packed)
        return st->st_size;
    ssize_t got = pread(fd, head, sizeof head, 0);
    unsigned long long size = got > 0 ? ZSTD_getFrameContentSize(head, (size_t)got) : UINT64_MAX;
    return size > INT64_MAX ? -1 : (int64_t)size;
}

int cs_blob_get(const struct cs_db *db, const unsigned char hash[32], uint64_t size,
                uint64_t offset, size_t max, struct cs_arena *arena, struct cs_str *content,
                struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    struct stat st;
    bool packed;
    CS_AUTO_FD int fd = open_blob(db, hash, &packed, &st, &path, err);
    if (fd < 0 && err->code == CS_MISSING)
        return cs_fail(err, CS_SYSTEM, "the content of an artifact is gone: %s",
                       cs_buf_cstr(&path));
    if (fd < 0)
        return -1;
    if (size_of(fd, packed, &st) != (int64_t)size)
        return damaged(cs_buf_cstr(&path), err);
    uint64_t left = offset < size ? size - offset : 0;
    if (max > CS_STORE_READ_MAX)
        max = CS_STORE_READ_MAX;
    size_t n = left < max ? (size_t)left : max;
    char *to = cs_arena_alloc(arena, n + 1);
    if ((packed ? unpack_at : read_at)(fd, offset, to, n) < 0)
        return damaged(cs_buf_cstr(&path), err);
    *content = cs_strn(to, n);
    return 0;
}

/* All of it, and it is what it says it is. */
static int get_whole(const struct cs_db *db, struct cs_op *op)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    struct stat st;
    bool packed;
    CS_AUTO_FD int fd = open_blob(db, op->hash, &packed, &st, &path, &op->err);
    if (fd < 0)
        return -1;
    int64_t size = size_of(fd, packed, &st);
    if (size > 0 && (uint64_t)size > op->limit)
        return cs_fail(&op->err, CS_LIMIT, "the content has %lld bytes, more than %zu",
                       (long long)size, op->limit);
    unsigned char hash[32];
    char *to = size < 0 ? NULL : cs_arena_alloc(&op->arena, (size_t)size + 1);
    if (!to || (packed ? unpack_at : read_at)(fd, 0, to, (size_t)size) < 0)
        return damaged(cs_buf_cstr(&path), &op->err);
    op->content = cs_strn(to, (size_t)size);
    cs_sha256(op->content, hash);
    if (memcmp(hash, op->hash, sizeof hash) == 0)
        return 0;
    op->content = (struct cs_str){0};
    return damaged(cs_buf_cstr(&path), &op->err);
}

/* --- remove --- */

bool cs_blob_remove(const struct cs_db *db, const unsigned char hash[32], int64_t before)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    struct cs_err ignored = {0};
    struct stat st;
    /* Somebody is writing one: another time. */
    CS_AUTO_FD int lock = lock_blobs(db, LOCK_EX | LOCK_NB, &ignored);
    bool young = false;
    for (int packed = 0; packed < 2; packed++) {
        if (lstat(path_of(db, hash, packed, &path), &st) < 0)
            continue;
        bool old = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 < before;
        bool gone = old && lock >= 0 && unlink(cs_buf_cstr(&path)) == 0;
        young |= !gone;
    }
    return !young;
}

/* --- the operations: in the pool, and nowhere else --- */

static int put(const struct cs_db *db, struct cs_op *op)
{
    cs_sha256(op->text, op->hash);
    return cs_blob_put(db, op->hash, op->text, &op->err);
}

static void tell(const struct cs_op *op)
{
    if (op->done.blob)
        op->done.blob(op->ctx, &op->err, op->hash, op->content);
}

static const struct cs_op_kind kind_put = {.pool = put, .tell = tell},
                               kind_get = {.pool = get_whole, .tell = tell};

void cs_store_blob_put(struct cs_store *store, struct cs_str content, cs_blob_found *done,
                       void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_put, ctx);
    op->done.blob = done;
    op->text = content;
    cs_op_keep(op, (struct cs_str *[]){&op->text, NULL});
    cs_op_ask(op);
}

void cs_store_blob_get(struct cs_store *store, const unsigned char hash[32], size_t max,
                       cs_blob_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_get, ctx);
    op->done.blob = done;
    op->limit = max;
    memcpy(op->hash, hash, sizeof op->hash);
    cs_op_ask(op);
}
