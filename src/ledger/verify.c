/*
 * Exports and databases, read from the first byte to the last. Memory: a line, and (of a database)
 * the checkpoints.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "ledger/inside.h"

#define CHUNK     (256u << 10)
#define SQLITE    "SQLite format 3"
#define TAR_AT    257 /* where a tar file says that it is one */
#define ZSTD_MARK "\x28\xB5\x2F\xFD"

/* --- an export: lines, which come in pieces --- */

struct export
{
    struct cs_checker checker;
    struct cs_export_head head;
    bool has_head, foreign; /* foreign: it is no export at all */
    struct cs_buf rest;     /* the beginning of a line */
};

static int take_head(struct export *x, struct cs_str line, struct cs_err *err)
{
    struct cs_export_head *h = &x->head;
    if (!cs_export_head_read(line, h)) {
        x->foreign = true;
        return cs_checker_fail(&x->checker, 0, err,
                               "the first line is not the head of an export, as 'caisson audit "
                               "export' writes it");
    }
    x->has_head = true;
    if (h->from != h->base.seq + 1 || h->to < h->base.seq)
        return cs_checker_fail(&x->checker, 0, err,
                               "the head of the export does not fit: from %llu to %llu, after %llu",
                               (unsigned long long)h->from, (unsigned long long)h->to,
                               (unsigned long long)h->base.seq);
    return cs_checker_start(&x->checker, &h->base, err);
}

static int take_line(struct export *x, struct cs_str line, struct cs_err *err)
{
    struct cs_checkpoint_row row;
    struct cs_ledger_check *k = x->checker.check;
    if (!x->has_head)
        return take_head(x, line, err);
    if (!cs_str_starts(line, "{\"checkpoint\":"))
        return cs_checker_entry(&x->checker, line, NULL, err);
    if (!cs_checkpoint_read(line, &row))
        return cs_checker_fail(&x->checker, k->to, err,
                               "the checkpoint behind entry %llu is not written as one is",
                               (unsigned long long)k->to);
    /* A second one would be a line that could be taken away again. */
    if (row.seq == k->signed_to)
        return cs_checker_fail(&x->checker, k->to, err, "entry %llu has two checkpoints",
                               (unsigned long long)k->to);
    return cs_checker_checkpoint(&x->checker, &row, err);
}

static int too_long(struct export *x, struct cs_err *err)
{
    struct cs_ledger_check *k = x->checker.check;
    return cs_checker_fail(&x->checker, x->has_head ? k->to + 1 : 0, err,
                           "the line behind entry %llu is longer than any of an export",
                           (unsigned long long)k->to);
}

static int feed(struct export *x, struct cs_str bytes, struct cs_err *err)
{
    while (bytes.len) {
        const char *end = memchr(bytes.at, '\n', bytes.len);
        size_t n = end ? (size_t)(end - bytes.at) : bytes.len;
        if (x->rest.len + n > CS_LEDGER_LINE)
            return too_long(x, err);
        struct cs_str line = cs_strn(bytes.at, n);
        if (!end || x->rest.len) {
            cs_buf_put(&x->rest, bytes.at, n);
            line = cs_buf_str(&x->rest);
        }
        if (!end)
            return 0;
        if (take_line(x, line, err) < 0)
            return -1;
        cs_buf_clear(&x->rest);
        bytes.at += n + 1;
        bytes.len -= n + 1;
    }
    return 0;
}

static int feed_end(struct export *x, struct cs_err *err)
{
    struct cs_checker *c = &x->checker;
    struct cs_ledger_check *k = c->check;
    if (x->rest.len)
        return cs_checker_fail(c, x->has_head ? k->to + 1 : 0, err,
                               "the file ends within a line, behind entry %llu",
                               (unsigned long long)k->to);
    if (!x->has_head)
        return cs_checker_fail(c, 0, err, "the file is empty");
    if (k->to != x->head.to)
        return cs_checker_fail(c, (k->to < x->head.to ? k->to : x->head.to) + 1, err,
                               "the export ends at entry %llu, and its head says %llu",
                               (unsigned long long)k->to, (unsigned long long)x->head.to);
    if (k->checkpoints != x->head.checkpoints)
        return cs_checker_fail(c, 0, err, "the export has %llu checkpoints, and its head says %llu",
                               (unsigned long long)k->checkpoints,
                               (unsigned long long)x->head.checkpoints);
    if (x->head.is_signed && !c->broken) {
        uint64_t counted = k->checkpoints;
        if (cs_checker_checkpoint(c, &x->head.checkpoint, err) < 0)
            return cs_wrap(err, "the end");
        k->checkpoints = counted;
    }
    return cs_checker_end(c, x->head.hash, err);
}

static void export_done(struct export *x)
{
    cs_checker_done(&x->checker);
    cs_buf_done(&x->rest);
}

/* --- where the bytes come from --- */

struct unpack {
    ZSTD_DStream *zstd;
    char *out;
    bool ended; /* at the end of the frame */
};

static void unpack_done(struct unpack *u)
{
    ZSTD_freeDStream(u->zstd);
    free(u->out);
}

static int feed_packed(struct export *x, struct unpack *u, struct cs_str bytes, struct cs_err *err)
{
    ZSTD_inBuffer in = {bytes.at, bytes.len, 0};
    bool full = false; /* there may be more to come out, although all went in */
    while (in.pos < in.size || full) {
        ZSTD_outBuffer out = {u->out, CHUNK, 0};
        if (u->ended)
            return cs_checker_fail(&x->checker, 0, err, "there is something behind the end");
        size_t left = ZSTD_decompressStream(u->zstd, &out, &in);
        if (ZSTD_isError(left))
            return cs_checker_fail(&x->checker, 0, err, "the compressed file is damaged: %s",
                                   ZSTD_getErrorName(left));
        u->ended = left == 0;
        full = out.pos == out.size && !u->ended;
        if (feed(x, cs_strn(u->out, out.pos), err) < 0)
            return -1;
    }
    return 0;
}

/* One of the two, for all bytes. */
struct source {
    struct export x;
    struct unpack unpack;
    bool started, packed;
};

static void source_done(struct source *s)
{
    export_done(&s->x);
    unpack_done(&s->unpack);
}

static int source_feed(struct source *s, struct cs_str bytes, struct cs_err *err)
{
    if (!s->started) {
        s->started = true;
        s->packed = cs_str_starts(bytes, ZSTD_MARK);
        if (s->packed) {
            s->unpack.zstd = ZSTD_createDStream();
            s->unpack.out = cs_calloc(CHUNK, 1);
        }
    }
    return s->packed ? feed_packed(&s->x, &s->unpack, bytes, err) : feed(&s->x, bytes, err);
}

static int source_end(struct source *s, struct cs_err *err)
{
    if (s->packed && !s->unpack.ended)
        return cs_checker_fail(&s->x.checker, s->x.checker.check->to + 1, err,
                               "the compressed file is cut off");
    return feed_end(&s->x, err);
}

int cs_export_verify(struct cs_str bytes, const unsigned char key[32], struct cs_str until,
                     struct cs_ledger_check *check, struct cs_err *err)
{
    CS_AUTO(source_done) struct source s = {0};
    return cs_checker_init(&s.x.checker, key, until, check, err) < 0 ||
                   source_feed(&s, bytes, err) < 0 || source_end(&s, err) < 0
               ? -1
               : 0;
}

static int verify_file(int fd, const char *path, const unsigned char key[32], struct cs_str until,
                       struct cs_ledger_check *check, struct cs_err *err)
{
    CS_AUTO(source_done) struct source s = {0};
    CS_AUTO_FREE char *chunk = cs_calloc(CHUNK, 1);
    if (cs_checker_init(&s.x.checker, key, until, check, err) < 0)
        return -1;
    for (;;) {
        /* The first piece says what it is: it must not be a short one. */
        size_t n = 0;
        for (ssize_t got = 1; got != 0 && n < CHUNK; n += (size_t)got) {
            got = read(fd, chunk + n, CHUNK - n);
            if (got < 0 && errno != EINTR)
                return cs_fail_errno(err, "%s", path);
            got = got < 0 ? 0 : got;
            if (got == 0)
                break;
        }
        if (n == 0)
            return source_end(&s, err);
        if (source_feed(&s, cs_strn(chunk, n), err) < 0)
            return -1;
    }
}

/* --- a database --- */

static bool on_point(void *ctx, const struct cs_checkpoint_row *row)
{
    struct cs_points *p = ctx;
    if (p->count == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 64;
        p->at = cs_realloc(p->at, p->cap, sizeof *p->at);
    }
    p->at[p->count++] = *row;
    return true;
}

static int by_seq(const void *a, const void *b)
{
    const struct cs_checkpoint_row *x = a, *y = b;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

int cs_points_read(const char *database, struct cs_points *points, struct cs_err *err)
{
    if (cs_store_checkpoints_read(database, on_point, points, err) < 0)
        return -1;
    if (points->count)
        qsort(points->at, points->count, sizeof *points->at, by_seq);
    return 0;
}

void cs_points_done(struct cs_points *points)
{
    free(points->at);
}

struct walk {
    const struct cs_database_walk *o;
    struct cs_checker *checker;
    size_t next; /* checkpoint */
    uint64_t from;
    bool started, failed;
    struct cs_ledger_base base;
    struct cs_buf text;
    struct cs_err *err;
};

/* Those of entries that are behind us. The one of the base is as good as the base. */
static int pass_points(struct walk *w, uint64_t seq)
{
    struct cs_checker *c = w->checker;
    const struct cs_points *points = w->o->points;
    for (; w->next < points->count && points->at[w->next].seq <= seq; w->next++) {
        const struct cs_checkpoint_row *p = &points->at[w->next];
        if (p->seq < seq)
            continue;
        if (cs_checker_checkpoint(c, p, w->err) < 0)
            return -1;
        cs_buf_clear(&w->text);
        cs_checkpoint_line(&w->text, p);
        if (seq >= w->from && w->o->line && w->o->line(w->o->ctx, cs_buf_str(&w->text), w->err) < 0)
            return -1;
    }
    return 0;
}

static int start(struct walk *w, const struct cs_ledger_base *base)
{
    w->started = true;
    return cs_checker_start(w->checker, base, w->err) < 0 || pass_points(w, base->seq) < 0 ? -1 : 0;
}

static int take_row(struct walk *w, const struct cs_entry_row *row)
{
    struct cs_checker *c = w->checker;
    struct cs_entry_parts parts;
    if (!w->started && start(w, &w->base) < 0)
        return -1;
    if (cs_checker_entry(c, row->text, &parts, w->err) < 0)
        return -1;
    unsigned long long seq = parts.seq;
    /* Beside the text stands its hash: which of two was changed needs no guess. */
    if (memcmp(row->hash, c->check->head, 32) != 0)
        return cs_checker_fail(c, seq, w->err, "entry %llu was changed: its hash is another", seq);
    if (row->seq != parts.seq)
        return cs_checker_fail(c, seq, w->err, "entry %llu stands in the row of entry %llu", seq,
                               (unsigned long long)row->seq);
    const char *differs = cs_entry_differs(&parts, &row->columns);
    if (differs)
        return cs_checker_fail(c, seq, w->err,
                               "the column '%s' of entry %llu is not what the entry says", differs,
                               seq);
    if (w->o->line && w->o->line(w->o->ctx, row->text, w->err) < 0)
        return -1;
    return pass_points(w, parts.seq);
}

static bool on_row(void *ctx, const struct cs_entry_row *row)
{
    struct walk *w = ctx;
    w->failed = take_row(w, row) < 0;
    return !w->failed;
}

static void walk_done(struct walk *w)
{
    cs_buf_done(&w->text);
}

static bool on_base(void *ctx, const struct cs_entry_row *row)
{
    struct cs_ledger_base *base = ctx;
    base->seq = row->seq;
    memcpy(base->hash, row->hash, 32);
    return false;
}

/* What is before entry `from`: the base of the database, or the entry before. */
static int find_base(const char *database, uint64_t from, struct cs_ledger_base *base,
                     struct cs_err *err)
{
    struct cs_ledger_filter one = {.from = from - 1, .to = from - 1, .limit = 1};
    struct cs_ledger_base there = {0}, before = {0};
    if (from <= 1) {
        one.from = one.to = 1;
        return cs_store_ledger_read(database, &one, base, on_base, &before, err);
    }
    if (cs_store_ledger_read(database, &one, &there, on_base, &before, err) < 0)
        return -1;
    if (before.seq != from - 1 && there.seq != from - 1)
        return cs_fail(err, CS_MISSING, "%s: there is no entry %llu: it begins with %llu", database,
                       (unsigned long long)from - 1, (unsigned long long)there.seq + 1);
    *base = before.seq ? before : there;
    return 0;
}

int cs_database_walk(const struct cs_database_walk *o, struct cs_checker *c, struct cs_err *err)
{
    CS_AUTO(walk_done) struct walk w = {.o = o, .checker = c, .err = err};
    struct cs_ledger_base there = {0};
    if (find_base(o->database, o->from, &w.base, err) < 0)
        return -1;
    w.from = w.base.seq + 1;
    struct cs_ledger_filter filter = {.from = w.from, .to = o->to};
    int read = cs_store_ledger_read(o->database, &filter, &there, on_row, &w, err);
    if (read == 0 && there.seq > w.base.seq)
        return cs_fail(err, CS_BUSY, "%s: entries were archived meanwhile; try again", o->database);
    if (read < 0 || w.failed || (!w.started && start(&w, &w.base) < 0))
        return -1;
    /* Nothing may be signed behind the end, unless the end was chosen. */
    if (!o->to && w.next < o->points->count)
        return cs_checker_fail(c, c->check->to + 1, err,
                               "it ends at entry %llu, and entry %llu was signed: the end is "
                               "missing",
                               (unsigned long long)c->check->to,
                               (unsigned long long)o->points->at[o->points->count - 1].seq);
    return cs_checker_end(c, NULL, err);
}

/* --- what else the database knows --- */

struct missing {
    char execution[64]; /* empty: none */
};

/* An envelope names its place in the chain, if there was one. */
static bool on_unentered(void *ctx, struct cs_str execution, struct cs_str envelope)
{
    struct missing *m = ctx;
    CS_AUTO_JSON struct cs_json doc = {0};
    const struct cs_json_limits limits = {
        .bytes = envelope.len + 1, .depth = 1200, .allow_duplicate = true};
    if (cs_json_parse(envelope, &limits, &doc, NULL) < 0)
        return true;
    struct cs_json_val place = cs_json_get(cs_json_root(&doc), "provenance");
    if (cs_json_type(cs_json_get(place, "chain_hash")) != CS_JSON_STRING)
        return true;
    snprintf(m->execution, sizeof m->execution, "%.*s", CS_STR_ARG(execution));
    return false;
}

/* Who cuts off the end of a ledger, signatures and all, may have forgotten the executions. */
static int check_rows(const char *path, struct cs_checker *c, struct cs_err *err)
{
    struct missing m = {0};
    if (cs_store_unentered_read(path, on_unentered, &m, err) < 0)
        return -1;
    if (!*m.execution)
        return 0;
    return cs_checker_fail(c, c->check->to + 1, err,
                           "the execution %s has ended, and no entry up to %llu says so: the end "
                           "of the ledger is missing, or was written anew",
                           m.execution, (unsigned long long)c->check->to);
}

static int verify_database(const char *path, const unsigned char key[32], struct cs_str until,
                           struct cs_ledger_check *check, struct cs_err *err)
{
    CS_AUTO(cs_checker_done) struct cs_checker c = {0};
    CS_AUTO(cs_points_done) struct cs_points points = {0};
    struct cs_database_walk walk = {.database = path, .points = &points};
    if (cs_checker_init(&c, key, until, check, err) < 0 || cs_points_read(path, &points, err) < 0)
        return -1;
    c.base_needed = true;
    return cs_database_walk(&walk, &c, err) < 0 || check_rows(path, &c, err) < 0 ? -1 : 0;
}

int cs_ledger_verify(const char *path, const unsigned char key[32], struct cs_str until,
                     struct cs_ledger_check *check, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf inside = {0};
    struct stat st;
    char begin[sizeof SQLITE] = "";
    *check = (struct cs_ledger_check){0};
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        cs_buf_printf(&inside, "%s/caisson.db", path);
        path = cs_buf_cstr(&inside);
    }
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? cs_fail(err, CS_MISSING, "there is no file '%s'", path)
                               : cs_fail_errno(err, "%s", path);
    if (pread(fd, begin, sizeof begin, 0) == sizeof begin &&
        memcmp(begin, SQLITE, sizeof begin) == 0)
        return verify_database(path, key, until, check, err);
    if (pread(fd, begin, 5, TAR_AT) == 5 && memcmp(begin, "ustar", 5) == 0)
        return cs_fail(
            err, CS_INVALID,
            "%s: this is a backup: take the database out of it (tar xf %s caisson.db) and "
            "check that",
            path, path);
    return verify_file(fd, path, key, until, check, err);
}
