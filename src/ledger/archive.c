/*
 * What is old goes into a file of its own, which is checked before anything is removed from the
 * database.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "ledger/inside.h"

#define MOST_ENTRIES 250000 /* of one file */

static bool on_found(void *ctx, const struct cs_entry_row *row)
{
    *(uint64_t *)ctx = row->seq;
    return false;
}

static int write_file(const char *database, const struct cs_ledger_filter *range,
                      const struct cs_ledger *ledger, const char *path, struct cs_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return cs_fail_errno(err, "%s", path);
    FILE *out = fdopen(fd, "w");
    int result = cs_ledger_export(database, range, ledger, true, out, err);
    if (result == 0 && (fflush(out) != 0 || fsync(fd) < 0))
        result = cs_fail_errno(err, "%s", path);
    fclose(out);
    return result;
}

/* It is read again from the disk, and must be what was asked for. */
static int check_file(const char *path, const struct cs_ledger_filter *range,
                      const struct cs_ledger *ledger, struct cs_ledger_archived *archived,
                      struct cs_err *err)
{
    unsigned char key[32];
    struct cs_ledger_check check;
    struct stat st;
    cs_ledger_public(ledger, key);
    if (cs_ledger_verify(path, key, (struct cs_str){0}, &check, err) < 0)
        return cs_wrap(err, "%s", path);
    if (check.from != range->from || check.to != range->to || check.signed_to != range->to ||
        stat(path, &st) < 0)
        return cs_fail(err, CS_SYSTEM, "%s: it is not the archive that was asked for", path);
    archived->from = check.from;
    archived->to = check.to;
    archived->bytes = (uint64_t)st.st_size;
    memcpy(archived->hash, check.head, 32);
    return 0;
}

static int sync_dir(const char *path, struct cs_err *err)
{
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && fsync(fd) == 0 ? 0 : cs_fail_errno(err, "%s", path);
}

int cs_ledger_archive(const char *dir, const struct cs_ledger *ledger, int64_t before,
                      struct cs_ledger_archived *archived, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf database = {0}, folder = {0}, path = {0}, part = {0};
    struct cs_ledger_filter old = {.until = before, .newest_first = true, .limit = 1};
    struct cs_ledger_base base = {0};
    uint64_t last = 0;
    *archived = (struct cs_ledger_archived){0};
    cs_buf_printf(&database, "%s/caisson.db", dir);
    cs_buf_printf(&folder, "%s/" CS_LEDGER_ARCHIVE, dir);
    if (cs_store_ledger_read(cs_buf_cstr(&database), &old, &base, on_found, &last, err) < 0)
        return -1;
    if (last <= base.seq)
        return 0;
    struct cs_ledger_filter range = {.from = base.seq + 1, .to = last};
    archived->more = range.to - base.seq > MOST_ENTRIES;
    if (archived->more)
        range.to = base.seq + MOST_ENTRIES;
    snprintf(archived->file, sizeof archived->file, "ledger-%llu-%llu.jsonl.zst",
             (unsigned long long)range.from, (unsigned long long)range.to);
    cs_buf_printf(&path, "%s/%s", cs_buf_cstr(&folder), archived->file);
    cs_buf_printf(&part, "%s.part", cs_buf_cstr(&path));
    if (cs_dir_make(cs_buf_cstr(&folder), 0700, err) < 0)
        return -1;
    if (write_file(cs_buf_cstr(&database), &range, ledger, cs_buf_cstr(&part), err) < 0 ||
        check_file(cs_buf_cstr(&part), &range, ledger, archived, err) < 0) {
        unlink(cs_buf_cstr(&part));
        return -1;
    }
    if (rename(cs_buf_cstr(&part), cs_buf_cstr(&path)) < 0)
        return cs_fail_errno(err, "%s", cs_buf_cstr(&path));
    return sync_dir(cs_buf_cstr(&folder), err);
}
