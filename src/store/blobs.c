/*
 * Contents of artifacts: files blobs/ab/<SHA-256 in hex>, each written once. One that was cut off
 * by a loss of power has not the size it should have, and is written again, or told as damaged.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "store/inside.h"

void cs_blob_hash(struct cs_str content, unsigned char hash[32])
{
    SHA256((const unsigned char *)(content.len ? content.at : ""), content.len, hash);
}

static void path_of(const struct cs_db *db, const unsigned char hash[32], struct cs_buf *path)
{
    cs_buf_printf(path, "%s/blobs/%02x/", db->dir, hash[0]);
    for (int i = 0; i < 32; i++)
        cs_buf_printf(path, "%02x", hash[i]);
}

bool cs_blob_there(struct cs_db *db, const unsigned char hash[32], uint64_t size)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    path_of(db, hash, &path);
    struct stat st;
    return lstat(cs_buf_cstr(&path), &st) == 0 && S_ISREG(st.st_mode) &&
           (uint64_t)st.st_size == size;
}

static int cannot(struct cs_err *err)
{
    bool full = err->sys == ENOSPC || err->sys == EDQUOT;
    return full ? cs_wrap(err, "the disk is full: make room on it") : -1;
}

int cs_blob_put(struct cs_db *db, const unsigned char hash[32], struct cs_str content,
                struct cs_err *err)
{
    if (cs_blob_there(db, hash, content.len))
        return 0;
    CS_AUTO_BUF struct cs_buf path = {0};
    path_of(db, hash, &path);
    char *file = (char *)cs_buf_cstr(&path), *slash = strrchr(file, '/');
    *slash = '\0';
    int made = cs_dir_make(file, 0700, err);
    *slash = '/';
    if (made < 0)
        return cannot(err);
    bool sync = strcmp(CS_STORE_SYNC, "FULL") == 0;
    int put = (sync ? cs_file_replace : cs_file_replace_soon)(file, content, 0600, err);
    return put < 0 ? cannot(err) : 0;
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

int cs_blob_get(struct cs_db *db, const unsigned char hash[32], uint64_t size, uint64_t offset,
                size_t max, struct cs_arena *arena, struct cs_str *content, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    path_of(db, hash, &path);
    const char *file = cs_buf_cstr(&path);
    CS_AUTO_FD int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return cs_fail_errno(err, "the content of an artifact is gone: %s", file);
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != size)
        return cs_fail(err, CS_SYSTEM, "the content of an artifact is damaged: %s", file);
    uint64_t left = offset < size ? size - offset : 0;
    if (max > CS_STORE_READ_MAX)
        max = CS_STORE_READ_MAX;
    size_t n = left < max ? (size_t)left : max;
    char *to = cs_arena_alloc(arena, n + 1);
    if (read_at(fd, offset, to, n) < 0)
        return cs_fail_errno(err, "the content of an artifact cannot be read: %s", file);
    *content = cs_strn(to, n);
    return 0;
}

void cs_blob_remove(struct cs_db *db, const unsigned char hash[32])
{
    CS_AUTO_BUF struct cs_buf path = {0};
    path_of(db, hash, &path);
    unlink(cs_buf_cstr(&path));
}

static void tell(const struct cs_op *op)
{
    static const unsigned char none[32];
    if (op->done.blob)
        op->done.blob(op->ctx, &op->err, none, op->content);
}

static const struct cs_op_kind kind_put = {.tell = tell};

void cs_store_blob_put(struct cs_store *store, struct cs_str content, cs_blob_found *done,
                       void *ctx)
{
    (void)content;
    struct cs_op *op = cs_op_new(store, &kind_put, ctx);
    op->done.blob = done;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}

void cs_store_blob_get(struct cs_store *store, const unsigned char hash[32], size_t max,
                       cs_blob_found *done, void *ctx)
{
    (void)hash;
    (void)max;
    struct cs_op *op = cs_op_new(store, &kind_put, ctx);
    op->done.blob = done;
    cs_fail(&op->err, CS_SYSTEM, "not yet");
    cs_op_ask(op);
}
