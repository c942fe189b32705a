#include "store/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"

#define BLOCK 512
#define PIECE 131072
#define LEVEL 3

/* POSIX.1-1988, byte for byte. */
struct head {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100], magic[6],
        version[2], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct head) == BLOCK, "a head is one block");

struct cs_tar {
    int fd;
    ZSTD_CCtx *zstd; /* NULL: not compressed */
    struct cs_buf path, part;
    char *in, *out; /* PIECE bytes each */
};

static int cannot(struct cs_tar *t, struct cs_err *err)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    cs_fail_errno(err, "%s", cs_buf_cstr(&t->part));
    return full ? cs_wrap(err, "the disk is full: make room on it, or choose another") : -1;
}

/* --- bytes --- */

static int compress(struct cs_tar *t, struct cs_str bytes, ZSTD_EndDirective how,
                    struct cs_err *err)
{
    ZSTD_inBuffer in = {bytes.at, bytes.len, 0};
    for (size_t left = 1; left;) {
        ZSTD_outBuffer out = {t->out, PIECE, 0};
        left = ZSTD_compressStream2(t->zstd, &out, &in, how);
        if (ZSTD_isError(left))
            return cs_fail(err, CS_SYSTEM, "zstd: %s", ZSTD_getErrorName(left));
        if (cs_file_write_fd(t->fd, cs_strn(t->out, out.pos)) < 0)
            return cannot(t, err);
        if (how == ZSTD_e_continue)
            left = in.pos < in.size;
    }
    return 0;
}

static int put(struct cs_tar *t, const void *bytes, size_t n, struct cs_err *err)
{
    if (t->zstd)
        return compress(t, cs_strn(bytes, n), ZSTD_e_continue, err);
    return cs_file_write_fd(t->fd, cs_strn(bytes, n)) < 0 ? cannot(t, err) : 0;
}

/* --- members --- */

/* Octal digits; what has more of them, as GNU does: the first bit set, and then the number. */
static void put_number(char *to, size_t n, uint64_t value)
{
    if (value >> (3 * (n - 1)) == 0) {
        snprintf(to, n, "%0*" PRIo64, (int)n - 1, value);
        return;
    }
    for (size_t i = n; i-- > 0; value >>= 8)
        to[i] = (char)(value & 0xFF);
    to[0] = (char)0x80;
}

static int put_head(struct cs_tar *t, const char *name, char type, uint64_t size,
                    struct cs_err *err)
{
    struct head h = {.magic = "ustar", .version = {'0', '0'}, .type = type};
    unsigned sum = 0;
    if (strlen(name) >= sizeof h.name)
        return cs_fail(err, CS_BUG, "a name is too long for tar: %s", name);
    memcpy(h.name, name, strlen(name));
    put_number(h.mode, sizeof h.mode, type == '5' ? 0700 : 0600);
    put_number(h.uid, sizeof h.uid, geteuid());
    put_number(h.gid, sizeof h.gid, getegid());
    put_number(h.size, sizeof h.size, size);
    put_number(h.mtime, sizeof h.mtime, (uint64_t)time(NULL));
    memset(h.sum, ' ', sizeof h.sum);
    for (size_t i = 0; i < sizeof h; i++)
        sum += ((const unsigned char *)&h)[i];
    snprintf(h.sum, sizeof h.sum, "%06o", sum);
    return put(t, &h, sizeof h, err);
}

static int put_zeros(struct cs_tar *t, size_t n, struct cs_err *err)
{
    static const char zeros[2 * BLOCK];
    return n ? put(t, zeros, n, err) : 0;
}

int cs_tar_dir(struct cs_tar *t, const char *name, struct cs_err *err)
{
    return put_head(t, name, '5', 0, err);
}

int cs_tar_file(struct cs_tar *t, const char *name, int fd, uint64_t size, _Atomic uint64_t *moved,
                struct cs_err *err)
{
    if (put_head(t, name, '0', size, err) < 0)
        return -1;
    for (uint64_t left = size; left;) {
        ssize_t got = read(fd, t->in, left < PIECE ? (size_t)left : PIECE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cs_fail_errno(err, "%s", name);
        if (got == 0)
            return cs_fail(err, CS_SYSTEM, "%s became shorter while it was copied", name);
        if (put(t, t->in, (size_t)got, err) < 0)
            return -1;
        left -= (uint64_t)got;
        *moved += (uint64_t)got;
    }
    return put_zeros(t, (BLOCK - size % BLOCK) % BLOCK, err);
}

/* --- the file --- */

int cs_tar_open(const char *path, struct cs_tar **tar, struct cs_err *err)
{
    struct stat st;
    if (lstat(path, &st) == 0)
        return cs_fail(err, CS_CONFLICT, "%s is there already: choose another name, or remove it",
                       path);
    struct cs_tar *t = CS_NEW(struct cs_tar);
    cs_buf_puts(&t->path, path);
    cs_buf_printf(&t->part, "%s.part-XXXXXX", path);
    t->fd = mkostemp((char *)cs_buf_cstr(&t->part), O_CLOEXEC);
    if (t->fd < 0) {
        cannot(t, err);
        cs_buf_clear(&t->part);
        cs_tar_free(t);
        return -1;
    }
    t->in = cs_calloc(PIECE, 1);
    t->out = cs_calloc(PIECE, 1);
    if (cs_str_ends(cs_str(path), ".zst")) {
        t->zstd = ZSTD_createCCtx();
        ZSTD_CCtx_setParameter(t->zstd, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(t->zstd, ZSTD_c_checksumFlag, 1);
    }
    *tar = t;
    return 0;
}

int cs_tar_beside(struct cs_tar *t, struct cs_buf *path, struct cs_err *err)
{
    cs_buf_printf(path, "%s.copy-XXXXXX", cs_buf_cstr(&t->path));
    CS_AUTO_FD int fd = mkostemp((char *)cs_buf_cstr(path), O_CLOEXEC);
    if (fd >= 0)
        return 0;
    cs_buf_clear(path);
    return cannot(t, err);
}

static int sync_dir_of(const char *path, struct cs_err *err)
{
    CS_AUTO_FREE char *dir = cs_strdup(path);
    char *slash = strrchr(dir, '/');
    if (slash)
        slash[slash == dir] = '\0';
    CS_AUTO_FD int fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || fsync(fd) < 0 ? cs_fail_errno(err, "%s", slash ? dir : ".") : 0;
}

/* Not over a file that came meanwhile; where the file system cannot say so, rename decides. */
static int give_name(struct cs_tar *t, struct cs_err *err)
{
    const char *from = cs_buf_cstr(&t->part), *to = cs_buf_cstr(&t->path);
    int done = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1 /* NOREPLACE */);
    if (done < 0 && errno == EINVAL)
        done = rename(from, to);
    if (done < 0 && errno == EEXIST)
        return cs_fail(err, CS_CONFLICT, "%s is there already: choose another name", to);
    if (done < 0)
        return cannot(t, err);
    cs_buf_clear(&t->part);
    return sync_dir_of(to, err);
}

int cs_tar_finish(struct cs_tar *t, struct cs_err *err)
{
    if (put_zeros(t, 2 * BLOCK, err) < 0)
        return -1;
    if (t->zstd && compress(t, (struct cs_str){0}, ZSTD_e_end, err) < 0)
        return -1;
    return fsync(t->fd) < 0 ? cannot(t, err) : give_name(t, err);
}

void cs_tar_free(struct cs_tar *t)
{
    if (!t)
        return;
    if (t->part.len)
        unlink(cs_buf_cstr(&t->part));
    cs_closep(&t->fd);
    ZSTD_freeCCtx(t->zstd);
    cs_buf_done(&t->path);
    cs_buf_done(&t->part);
    free(t->in);
    free(t->out);
    free(t);
}
