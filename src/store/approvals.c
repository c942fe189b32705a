/* Approvals: questions to persons, each answered once. The first answer wins here, whoever gives
 * it. */
#include "base/json.h"
#include "base/time.h"
#include "store/inside.h"

#define CARDS_MOST 100 /* rows of a list that has cards in it */

static void tell(const struct cs_op *op)
{
    bool has = op->count && (!op->err.code || op->err.code == CS_CONFLICT);
    if (op->done.approvals)
        op->done.approvals(op->ctx, &op->err, has ? op->rows : NULL, has ? op->count : 0);
}

static int missing(struct cs_op *op)
{
    return cs_fail(&op->err, CS_MISSING, "there is no approval '%.*s'",
                   (int)(op->id.len < CS_STORE_ID ? op->id.len : CS_STORE_ID),
                   op->id.at ? op->id.at : "");
}

static int read_rows(struct cs_db *db, sqlite3_stmt *s, bool with_card, struct cs_op *op)
{
    int got;
    while ((got = cs_sql_next(db, s, &op->err)) > 0) {
        struct cs_approval_row *r = cs_op_row(op, sizeof *r);
        struct cs_str *const first[] = {&r->id,        &r->tenant, &r->execution, &r->session,
                                        &r->principal, &r->actor,  &r->kind,      &r->risk},
                             *const last[] = {&r->answer, &r->by, &r->channel, &r->reason};
        for (size_t i = 0; i < CS_COUNT(first); i++)
            *first[i] = cs_sql_str(s, (int)i, &op->arena);
        cs_sql_hash(s, 8, r->binding);
        cs_sql_hash(s, 9, r->scope);
        cs_sql_hash(s, 10, r->card_hash);
        r->state = cs_sql_str(s, 11, &op->arena);
        r->created = sqlite3_column_int64(s, 12);
        r->expires = sqlite3_column_int64(s, 13);
        r->decided = sqlite3_column_int64(s, 14);
        for (size_t i = 0; i < CS_COUNT(last); i++)
            *last[i] = cs_sql_str(s, (int)i + 15, &op->arena);
        r->used = sqlite3_column_int64(s, 19) == 1;
        if (with_card)
            r->card = cs_sql_str(s, 20, &op->arena);
        if (sqlite3_column_count(s) > 21)
            r->bound = cs_sql_str(s, 21, &op->arena);
    }
    return got;
}

static int append(struct cs_db *db, struct cs_op *op)
{
    return cs_db_append(db, op->more.entries, op->more.entry_count, op->hash, &op->err);
}

/* --- asked --- */

static int check_room(struct cs_db *db, struct cs_op *op)
{
    const struct cs_approval_row *r = &op->row.ask.approval;
    sqlite3_stmt *s =
        cs_sql_ask(db, CS_SQL_APPROVAL_COUNT, &op->err, "si", r->tenant, cs_time_ms());
    if (cs_sql_next(db, s, &op->err) < 0)
        return -1;
    int64_t count = sqlite3_column_int64(s, 0);
    cs_sql_leave(s);
    if (count < (int64_t)op->number)
        return 0;
    return cs_fail(&op->err, CS_LIMIT,
                   "%lld questions wait for a person already, which is the most", (long long)count);
}

static int run_add(struct cs_db *db, struct cs_op *op)
{
    const struct cs_approval_row *r = &op->row.ask.approval;
    /* Time 0: one that is late is told as pending, so that who asked puts down that it expired. */
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_APPROVAL_SAME, &op->err, "issh", (int64_t)0,
                                 r->execution, r->tenant, r->binding);
    if (read_rows(db, s, true, op) < 0)
        return -1;
    if (op->count)
        return 0;
    if (check_room(db, op) < 0 ||
        cs_sql_do(db, CS_SQL_APPROVAL_ADD, &op->err, "sssssssshhhiiss", r->id, r->tenant,
                  r->execution, r->session, r->principal, r->actor, r->kind, r->risk, r->binding,
                  r->scope, r->card_hash, r->created, r->expires, r->card, r->bound) < 0 ||
        append(db, op) < 0)
        return -1;
    struct cs_approval_row *added = cs_op_row(op, sizeof *added);
    *added = *r;
    added->state = CS_STR("pending");
    return 0;
}

/* --- looked at --- */

static int get(struct cs_db *db, struct cs_op *op)
{
    sqlite3_stmt *s =
        cs_sql_ask(db, CS_SQL_APPROVAL_GET, &op->err, "iss", cs_time_ms(), op->id, op->tenant);
    if (read_rows(db, s, true, op) < 0)
        return -1;
    return op->count ? 0 : missing(op);
}

static int seq_of(struct cs_db *db, struct cs_op *op, int64_t *seq)
{
    *seq = INT64_MAX;
    if (!op->id.len)
        return 0;
    sqlite3_stmt *s = cs_sql_ask(db, CS_SQL_APPROVAL_SEQ, &op->err, "ss", op->id, op->tenant);
    int got = cs_sql_next(db, s, &op->err);
    if (got <= 0)
        return got < 0 ? -1 : missing(op);
    *seq = sqlite3_column_int64(s, 0);
    cs_sql_leave(s);
    return 0;
}

static int run_list(struct cs_db *db, struct cs_op *op)
{
    int64_t before, now = cs_time_ms(), limit = (int64_t)op->limit, cards = (int64_t)op->number;
    if (seq_of(db, op, &before) < 0)
        return -1;
    sqlite3_stmt *s;
    if (op->text.len && !cs_str_is(op->text, "expired"))
        s = cs_sql_ask(db, CS_SQL_APPROVALS_IN, &op->err, "iisiis", now, cards, op->tenant, before,
                       limit, op->text);
    else
        s = cs_sql_ask(db, op->text.len ? CS_SQL_APPROVALS_EXPIRED : CS_SQL_APPROVALS, &op->err,
                       "iisii", now, cards, op->tenant, before, limit);
    return read_rows(db, s, true, op);
}

static int run_decided(struct cs_db *db, struct cs_op *op)
{
    for (size_t i = 0; i < op->limit; i++) {
        sqlite3_stmt *s =
            cs_sql_ask(db, CS_SQL_APPROVAL_OVER, &op->err, "is", (int64_t)0, op->ids[i]);
        if (read_rows(db, s, false, op) < 0)
            return -1;
    }
    return 0;
}

/* --- decided --- */

static int run_decide(struct cs_db *db, struct cs_op *op)
{
    const struct cs_approval_row *r = &op->row.ask.approval;
    int changed = cs_sql_do(db, CS_SQL_APPROVAL_DECIDE, &op->err, "sssssiss", r->state, r->answer,
                            r->by, r->channel, r->reason, r->decided, op->id, op->tenant);
    if (changed < 0 || get(db, op) < 0)
        return -1;
    if (changed == 0) {
        const struct cs_approval_row *there = op->rows;
        return cs_fail(&op->err, CS_CONFLICT, "it is %.*s already", CS_STR_ARG(there->state));
    }
    if (op->row.ask.grant.id.len && cs_db_grant_add(db, &op->row.ask.grant, &op->err) < 0)
        return -1;
    return append(db, op);
}

static void tell_decided(const struct cs_op *op)
{
    tell(op);
    if (!op->err.code)
        cs_store_approval_over(op->store, op->rows);
}

static int run_use(struct cs_db *db, struct cs_op *op)
{
    int used = cs_sql_do(db, CS_SQL_APPROVAL_USE, &op->err, "ss", op->id, op->tenant);
    if (used != 0)
        return used < 0 ? -1 : 0;
    return cs_fail(&op->err, CS_CONFLICT, "the approval was used, or is none (any more)");
}

/* --- over without an answer --- */

#define END_MOST 100 /* in one go */

static void end_entry(const struct cs_approval_row *r, bool lost, struct cs_buf *data,
                      struct cs_entry *entry)
{
    struct cs_json_writer w = CS_JSON_WRITER(data);
    cs_json_open(&w, '{');
    cs_json_key(&w, "approval");
    cs_json_put_str(&w, r->id);
    cs_json_key(&w, "lost");
    cs_json_put_bool(&w, lost);
    cs_json_close(&w, '}');
    *entry =
        (struct cs_entry){.event = lost ? CS_STR("approval.withdrawn") : CS_STR("approval.expired"),
                          .tenant = r->tenant,
                          .principal = r->principal,
                          .session = r->session,
                          .execution = r->execution,
                          .data = cs_buf_str(data)};
}

/* Those of a list of (id, tenant, principal, session, execution). */
static int end_all(struct cs_db *db, sqlite3_stmt *s, bool lost, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_approval_row rows[END_MOST];
    struct cs_str state = lost ? CS_STR("withdrawn") : CS_STR("expired"),
                  reason = lost ? CS_STR("its process ended") : CS_STR("nobody answered in time");
    size_t count = 0;
    int got = 0;
    while (count < END_MOST && (got = cs_sql_next(db, s, err)) > 0) {
        struct cs_approval_row *r = &rows[count++];
        struct cs_str *const texts[] = {&r->id, &r->tenant, &r->principal, &r->session,
                                        &r->execution};
        for (size_t i = 0; i < CS_COUNT(texts); i++)
            *texts[i] = cs_sql_str(s, (int)i, &arena);
    }
    cs_sql_leave(s);
    for (size_t i = 0; got >= 0 && i < count; i++) {
        CS_AUTO_BUF struct cs_buf data = {0};
        struct cs_entry entry;
        unsigned char hash[32];
        end_entry(&rows[i], lost, &data, &entry);
        got = cs_sql_do(db, CS_SQL_APPROVAL_END, err, "siss", state, cs_time_ms(), reason,
                        rows[i].id);
        if (got >= 0)
            got = cs_db_append(db, &entry, 1, hash, err);
    }
    return got < 0 ? -1 : 0;
}

int cs_db_approvals_lost(struct cs_db *db, const struct cs_execution_row *r, struct cs_err *err)
{
    sqlite3_stmt *s =
        cs_sql_ask(db, CS_SQL_APPROVALS_OF, err, "ssi", r->id, r->tenant, (int64_t)END_MOST);
    return end_all(db, s, true, err);
}

int cs_db_approvals_age(struct cs_db *db, int64_t when, int64_t step, struct cs_err *err)
{
    /* Who waits for it puts that down itself; this is for those who are gone. Where there is a
     * ledger that this process cannot write to, it is left to one that can. */
    int64_t late = cs_time_ms() - 60000;
    int has_ledger = db->chain ? 0 : cs_db_has_ledger(db, err);
    if (has_ledger < 0)
        return -1;
    if (!has_ledger &&
        end_all(db, cs_sql_ask(db, CS_SQL_APPROVALS_LATE, err, "ii", late, (int64_t)END_MOST),
                false, err) < 0)
        return -1;
    return cs_sql_do(db, CS_SQL_OLD_APPROVALS, err, "ii", when, step) < 0 ? -1 : 0;
}

/* --- the operations --- */

static const struct cs_op_kind
    kind_add = {.writes = true, .steps = true, .run = run_add, .tell = tell},
    kind_get = {.run = get, .tell = tell}, kind_list = {.run = run_list, .tell = tell},
    kind_decided = {.run = run_decided, .tell = tell},
    kind_decide = {.writes = true, .steps = true, .run = run_decide, .tell = tell_decided},
    kind_use = {.writes = true, .run = run_use, .tell = cs_op_tell_stored};

void cs_store_approval_add(struct cs_store *store, const struct cs_approval_row *row, uint64_t most,
                           const struct cs_entry *entry, cs_approval_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_add, ctx);
    struct cs_approval_row *r = &op->row.ask.approval;
    op->done.approvals = done;
    op->number = most;
    *r = *row;
    cs_op_keep(op,
               (struct cs_str *[]){&r->id, &r->tenant, &r->execution, &r->session, &r->principal,
                                   &r->actor, &r->kind, &r->risk, &r->card, &r->bound, NULL});
    cs_op_give_more(op, &(struct cs_execution_more){.entries = entry, .entry_count = !!entry});
    cs_op_check(op, r->tenant, r->id);
    cs_op_ask(op);
}

static struct cs_op *of_one(struct cs_store *store, const struct cs_op_kind *kind,
                            struct cs_str tenant, struct cs_str id, void *ctx)
{
    struct cs_op *op = cs_op_new(store, kind, ctx);
    op->tenant = tenant;
    op->id = id;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &op->id, NULL});
    return op;
}

void cs_store_approval_get(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                           cs_approval_found *done, void *ctx)
{
    struct cs_op *op = of_one(store, &kind_get, tenant, id, ctx);
    op->done.approvals = done;
    cs_op_ask(op);
}

void cs_store_approvals(struct cs_store *store, struct cs_str tenant, struct cs_str state,
                        size_t limit, struct cs_str before, bool cards, cs_approval_found *done,
                        void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_list, ctx);
    size_t most = cards ? CARDS_MOST : CS_STORE_LIST;
    op->done.approvals = done;
    op->tenant = tenant;
    op->id = before;
    op->text = state;
    op->limit = limit < most ? limit : most;
    op->number = cards;
    cs_op_keep(op, (struct cs_str *[]){&op->tenant, &op->id, &op->text, NULL});
    cs_op_ask(op);
}

void cs_store_approval_decide(struct cs_store *store, const struct cs_approval_row *row,
                              const struct cs_grant_row *grant, const struct cs_entry *entries,
                              size_t entry_count, cs_approval_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_decide, ctx);
    struct cs_approval_row *r = &op->row.ask.approval;
    struct cs_grant_row *g = &op->row.ask.grant;
    op->done.approvals = done;
    *r = *row;
    if (grant)
        *g = *grant;
    if (!r->decided)
        r->decided = cs_time_ms();
    op->tenant = r->tenant;
    op->id = r->id;
    cs_op_keep(op,
               (struct cs_str *[]){&op->tenant, &op->id,      &r->state,  &r->answer, &r->by,
                                   &r->channel, &r->reason,   &g->id,     &g->tenant, &g->principal,
                                   &g->scope,   &g->session,  &g->server, &g->tool,   &g->arguments,
                                   &g->by,      &g->approval, &g->actor,  &g->bound,  NULL});
    cs_op_give_more(op,
                    &(struct cs_execution_more){.entries = entries, .entry_count = entry_count});
    cs_op_check(op, op->tenant, op->id);
    cs_op_ask(op);
}

void cs_store_approval_use(struct cs_store *store, struct cs_str tenant, struct cs_str id,
                           cs_stored *done, void *ctx)
{
    struct cs_op *op = of_one(store, &kind_use, tenant, id, ctx);
    op->done.stored = done;
    cs_op_ask(op);
}

void cs_store_approvals_decided(struct cs_store *store, const struct cs_str *ids, size_t count,
                                cs_approval_found *done, void *ctx)
{
    struct cs_op *op = cs_op_new(store, &kind_decided, ctx);
    size_t bytes = count * sizeof *ids;
    for (size_t i = 0; i < count; i++)
        bytes += ids[i].len;
    cs_op_room(op, bytes, count + 1);
    struct cs_str *copies = cs_op_give(op, ids, count * sizeof *ids);
    for (size_t i = 0; i < count; i++)
        copies[i].at = cs_op_give(op, ids[i].at, ids[i].len);
    op->done.approvals = done;
    op->ids = copies;
    op->limit = count;
    cs_op_ask(op);
}
