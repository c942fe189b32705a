/*
 * Contents that nobody has ever referred to: their writer died in between. They are in no list, so
 * the directories are looked through, some of them every hour, all of them within a day.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/own.h"
#include "store/inside.h"

#define FILES_MOST 2000 /* of one directory, each time */

static int64_t changed_ms(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
}

/* "<hash>" or "<hash>.zst"; what else is there is half a file. */
static bool hash_of(const char *name, unsigned char hash[32])
{
    size_t n = strlen(name);
    return (n == 64 || (n == 68 && strcmp(name + 64, ".zst") == 0)) &&
           cs_hex_read(cs_strn(name, 64), hash, 32);
}

static int look_at(struct cs_db *db, int dir, const char *name, int64_t before, struct cs_err *err)
{
    unsigned char hash[32];
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
        changed_ms(&st) >= before)
        return 0;
    if (!hash_of(name, hash)) {
        unlinkat(dir, name, 0);
        return 0;
    }
    sqlite3_stmt *uses = cs_sql_ask(db, CS_SQL_BLOB_USES, err, "h", hash);
    int got = cs_sql_next(db, uses, err);
    cs_sql_leave(uses);
    if (got == 0)
        cs_blob_remove(db, hash, before);
    return got < 0 ? -1 : 0;
}

int cs_db_blobs_sweep(struct cs_db *db, unsigned directory, int64_t before, struct cs_err *err)
{
    char path[CS_STORE_PATH + 16];
    snprintf(path, sizeof path, "%s/blobs/%02x", db->dir, directory & 255);
    DIR *d = opendir(path);
    int result = 0;
    unsigned count = 0;
    for (struct dirent *e; d && result == 0 && count < FILES_MOST && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        result = look_at(db, dirfd(d), e->d_name, before, err);
        count++;
    }
    if (d)
        closedir(d);
    return result;
}
