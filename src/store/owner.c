/*
 * Which stores are open: each holds the lock of a file of its own, owners/PID-RANDOM, as long as it
 * lives. The kernel lets go of a lock when its process ends, however it ends, and knows no two
 * processes of the same number in different containers.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own.h"
#include "store/inside.h"

static void path_of(const struct cs_db *db, struct cs_str owner, struct cs_buf *path)
{
    cs_buf_printf(path, "%s/owners/%.*s", db->dir, CS_STR_ARG(owner));
}

/* 1: it is ours; 0: somebody took it for a dead one's before it was locked, and removed it. */
static int lock_new(struct cs_db *db, const char *path, struct cs_err *err)
{
    CS_AUTO_FD int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat st;
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0) {
        if (fd >= 0 && errno == EWOULDBLOCK)
            return 0;
        cs_fail_errno(err, "%s", path);
        return cs_wrap(err, "the data directory must be writable and have room");
    }
    if (st.st_nlink == 0)
        return 0;
    db->owner_fd = CS_TAKE_FD(fd);
    return 1;
}

/* Files of those that were killed. */
static void sweep(struct cs_db *db, const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (e->d_name[0] != '.')
            cs_owner_alive(db, cs_str(e->d_name));
    if (dir)
        closedir(dir);
}

int cs_owner_open(struct cs_db *db, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/owners", db->dir);
    if (cs_dir_make(cs_buf_cstr(&path), 0700, err) < 0)
        return cs_wrap(err, "the data directory must be writable and have room");
    sweep(db, cs_buf_cstr(&path));
    for (int got = 0; got == 0;) {
        uint64_t random;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
            return cs_fail_errno(err, "getrandom");
        snprintf(db->owner, sizeof db->owner, "%ld-%016" PRIx64, (long)getpid(), random);
        cs_buf_clear(&path);
        path_of(db, cs_str(db->owner), &path);
        got = lock_new(db, cs_buf_cstr(&path), err);
        if (got < 0)
            return -1;
    }
    return 0;
}

/* The file goes first: who still finds it finds it locked. */
void cs_owner_close(struct cs_db *db)
{
    if (db->owner_fd < 0)
        return;
    CS_AUTO_BUF struct cs_buf path = {0};
    path_of(db, cs_str(db->owner), &path);
    unlink(cs_buf_cstr(&path));
    cs_closep(&db->owner_fd);
}

bool cs_owner_alive(struct cs_db *db, struct cs_str owner)
{
    if (cs_str_is(owner, db->owner))
        return true;
    /* What the database says is a name of ours, or nobody's. */
    if (!owner.len || memchr(owner.at, '/', owner.len))
        return false;
    CS_AUTO_BUF struct cs_buf path = {0};
    path_of(db, owner, &path);
    CS_AUTO_FD int fd = open(cs_buf_cstr(&path), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
    /* Shared: others who look at the same time are not taken for the owner, nor are we. */
    if (flock(fd, LOCK_SH | LOCK_NB) < 0)
        return errno == EWOULDBLOCK;
    unlink(cs_buf_cstr(&path));
    return false;
}
