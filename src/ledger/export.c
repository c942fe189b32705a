/*
 * Out of the database, into a file that can be checked without it. Two passes: the head, which
 * comes first, tells the end.
 *
 * What we sign at the end counts for all before it, so the first pass checks it, up to the next
 * checkpoint: a ledger that somebody has changed is not made right by exporting it.
 */
#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "base/mem.h"
#include "base/time.h"
#include "ledger/inside.h"

#define LEVEL 3 /* most of it is hashes, which do not get smaller by trying harder */

/* --- to a file, perhaps compressed --- */

struct sink {
    FILE *out;
    ZSTD_CCtx *zstd;
    char *packed;
    size_t cap;
};

static void sink_done(struct sink *s)
{
    ZSTD_freeCCtx(s->zstd);
    free(s->packed);
}

static int put_file(struct sink *s, const char *bytes, size_t n, struct cs_err *err)
{
    return fwrite(bytes, 1, n, s->out) == n ? 0 : cs_fail_errno(err, "writing the export");
}

static int put_packed(struct sink *s, struct cs_str bytes, ZSTD_EndDirective end,
                      struct cs_err *err)
{
    ZSTD_inBuffer in = {bytes.len ? bytes.at : "", bytes.len, 0};
    for (;;) {
        ZSTD_outBuffer out = {s->packed, s->cap, 0};
        size_t left = ZSTD_compressStream2(s->zstd, &out, &in, end);
        if (ZSTD_isError(left))
            return cs_fail(err, CS_SYSTEM, "zstd: %s", ZSTD_getErrorName(left));
        if (put_file(s, s->packed, out.pos, err) < 0)
            return -1;
        if (end == ZSTD_e_end ? left == 0 : in.pos == in.size)
            return 0;
    }
}

static int put_line(struct sink *s, struct cs_str line, struct cs_err *err)
{
    if (s->zstd)
        return put_packed(s, line, ZSTD_e_continue, err) < 0 ||
                       put_packed(s, CS_STR("\n"), ZSTD_e_continue, err) < 0
                   ? -1
                   : 0;
    return put_file(s, line.at, line.len, err) < 0 || put_file(s, "\n", 1, err) < 0 ? -1 : 0;
}

static void sink_pack(struct sink *s)
{
    s->zstd = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_checksumFlag, 1);
    s->cap = ZSTD_CStreamOutSize();
    s->packed = cs_calloc(s->cap, 1);
}

static int sink_end(struct sink *s, struct cs_err *err)
{
    if (s->zstd && put_packed(s, (struct cs_str){0}, ZSTD_e_end, err) < 0)
        return -1;
    return fflush(s->out) == 0 ? 0 : cs_fail_errno(err, "writing the export");
}

/* --- the first pass --- */

struct look {
    struct cs_export_head *head;
    const struct cs_ledger_check *check;
    uint64_t to; /* 0: the last */
};

static int look_at(void *ctx, struct cs_str line, struct cs_err *err)
{
    struct look *l = ctx;
    struct cs_export_head *h = l->head;
    (void)err;
    if (l->to && l->check->to > l->to)
        return 0;
    if (cs_str_starts(line, "{\"checkpoint\":")) {
        h->checkpoints++;
        return 0;
    }
    h->to = l->check->to;
    memcpy(h->hash, l->check->head, 32);
    return 0;
}

/* Up to the next signature after what is wanted: it covers that too. */
static uint64_t far_enough(const struct cs_points *points, uint64_t to)
{
    for (size_t i = 0; to && i < points->count; i++)
        if (points->at[i].seq >= to)
            return points->at[i].seq;
    return 0;
}

static int make_head(const struct cs_database_walk *range, const struct cs_ledger *ledger,
                     struct cs_export_head *head, struct cs_err *err)
{
    struct cs_ledger_check check;
    struct look look = {head, &check, range->to};
    CS_AUTO(cs_checker_done) struct cs_checker c = {0};
    unsigned char key[32];
    if (ledger)
        cs_ledger_public(ledger, key);
    struct cs_database_walk walk = *range;
    walk.to = far_enough(range->points, range->to);
    walk.line = look_at;
    walk.ctx = &look;
    *head = (struct cs_export_head){0};
    if (cs_checker_init(&c, ledger ? key : NULL, (struct cs_str){0}, &check, err) < 0 ||
        cs_database_walk(&walk, &c, err) < 0)
        return cs_wrap(err, "%s", range->database);
    head->base = c.base;
    head->from = c.base.seq + 1;
    if (head->to == 0) { /* no entry */
        head->to = c.base.seq;
        memcpy(head->hash, c.base.hash, 32);
    }
    return 0;
}

static const struct cs_checkpoint_row *point_of(const struct cs_points *points, uint64_t seq)
{
    for (size_t i = points->count; i > 0; i--)
        if (points->at[i - 1].seq == seq)
            return &points->at[i - 1];
    return NULL;
}

static int sign_head(const struct cs_points *points, const struct cs_ledger *ledger,
                     struct cs_export_head *head, struct cs_err *err)
{
    const struct cs_checkpoint_row *there = point_of(points, head->to);
    head->is_signed = head->to > 0 && (there || ledger);
    if (!head->is_signed)
        return 0;
    if (there) {
        head->checkpoint = *there;
        return 0;
    }
    head->checkpoint = (struct cs_checkpoint_row){.seq = head->to, .time = cs_time_ms()};
    memcpy(head->checkpoint.hash, head->hash, 32);
    return cs_checkpoint_sign(ledger, &head->checkpoint, err);
}

/* --- the second pass --- */

static int write_line(void *ctx, struct cs_str line, struct cs_err *err)
{
    return put_line(ctx, line, err);
}

static int write_lines(const struct cs_database_walk *range, const struct cs_export_head *head,
                       struct sink *sink, struct cs_err *err)
{
    struct cs_ledger_check check;
    CS_AUTO(cs_checker_done) struct cs_checker c = {0};
    struct cs_database_walk walk = *range;
    walk.from = head->from;
    walk.to = head->to;
    walk.line = write_line;
    walk.ctx = sink;
    if (head->to == head->base.seq)
        return 0;
    if (cs_checker_init(&c, NULL, (struct cs_str){0}, &check, err) < 0 ||
        cs_database_walk(&walk, &c, err) < 0)
        return -1;
    if (check.to != head->to || memcmp(check.head, head->hash, 32) != 0)
        return cs_fail(err, CS_BUSY, "%s: it was changed while it was exported", range->database);
    return 0;
}

int cs_ledger_export(const char *database, const struct cs_ledger_filter *range,
                     const struct cs_ledger *ledger, bool compress, FILE *out, struct cs_err *err)
{
    CS_AUTO(sink_done) struct sink sink = {.out = out};
    CS_AUTO(cs_points_done) struct cs_points points = {0};
    CS_AUTO_BUF struct cs_buf line = {0};
    struct cs_export_head head;
    struct cs_database_walk walk = {.database = database, .points = &points};
    if (range) {
        walk.from = range->from;
        walk.to = range->to;
    }
    if (walk.to && walk.from > walk.to)
        return cs_fail(err, CS_INVALID, "from %llu to %llu there is nothing",
                       (unsigned long long)walk.from, (unsigned long long)walk.to);
    if (cs_points_read(database, &points, err) < 0 || make_head(&walk, ledger, &head, err) < 0 ||
        sign_head(&points, ledger, &head, err) < 0)
        return -1;
    if (compress)
        sink_pack(&sink);
    cs_export_head_put(&line, &head);
    if (put_line(&sink, cs_buf_str(&line), err) < 0 || write_lines(&walk, &head, &sink, err) < 0)
        return -1;
    return sink_end(&sink, err);
}

/* --- a checkpoint of now --- */

struct last {
    bool found;
    struct cs_checkpoint_row row;
};

static bool on_last(void *ctx, const struct cs_entry_row *row)
{
    struct last *l = ctx;
    l->found = true;
    l->row.seq = row->seq;
    memcpy(l->row.hash, row->hash, 32);
    return false;
}

/* From the last checkpoint on, as the one before that was checked when it was made. */
int cs_ledger_checkpoint(const char *database, const struct cs_ledger *ledger, struct cs_buf *line,
                         struct cs_err *err)
{
    CS_AUTO(cs_points_done) struct cs_points points = {0};
    CS_AUTO(cs_checker_done) struct cs_checker c = {0};
    struct cs_ledger_check check;
    struct cs_ledger_filter newest = {.newest_first = true, .limit = 1};
    struct cs_ledger_base base;
    struct last last = {0};
    unsigned char key[32];
    cs_ledger_public(ledger, key);
    if (cs_points_read(database, &points, err) < 0 ||
        cs_store_ledger_read(database, &newest, &base, on_last, &last, err) < 0)
        return -1;
    if (!last.found)
        return cs_fail(err, CS_MISSING, "the ledger is empty: there is nothing to sign");
    uint64_t from = points.count ? points.at[points.count - 1].seq : 0;
    struct cs_database_walk walk = {
        .database = database, .from = from > base.seq ? from : 0, .points = &points};
    if (cs_checker_init(&c, key, (struct cs_str){0}, &check, err) < 0 ||
        cs_database_walk(&walk, &c, err) < 0)
        return -1;
    last.row.seq = check.to;
    memcpy(last.row.hash, check.head, 32);
    last.row.time = cs_time_ms();
    if (cs_checkpoint_sign(ledger, &last.row, err) < 0)
        return -1;
    cs_checkpoint_line(line, &last.row);
    return 0;
}
