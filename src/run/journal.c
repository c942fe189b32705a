/*
 * The journal of an execution, as it is written: journal_in.h says in which form.
 *
 * Of most executions it is gathered here and goes along with the record of its end; only large
 * payloads leave at once, as blobs. A durable one writes each record as it comes, and has no blobs:
 * what it refers to must be there when its process dies.
 */
#include "base/canon.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/utf8.h"
#include "run/journal_in.h"
#include "run/resume.h"
#include "run/shield.h"

#define SERVER_BYTES 80
#define TOOL_BYTES   160

/* A blob that was put so recently is there: nothing removes it within an hour. */
#define LATELY    64
#define LATELY_MS (10 * 60 * 1000)

struct cs_lately {
    struct {
        unsigned char hash[32];
        int64_t time; /* 0: free */
    } blobs[LATELY];
    unsigned next;
};

/* A wish that has no answer yet. */
struct open_wish {
    enum cs_wish_kind kind;
    uint64_t id;
    unsigned char key[32];
    uint32_t occurrence, call;
    uint8_t server_len, tool_len;
    char server[SERVER_BYTES], tool[TOOL_BYTES];
};

struct cs_journal {
    struct cs_buf out;   /* what was not handed on yet */
    struct cs_buf blobs; /* hashes, 32 bytes each */
    uint64_t bytes;      /* of all, blobs included */
    bool durable, has_head;
    bool failed;               /* a blob could not be stored */
    bool has_hole;             /* a part could not, and it goes on without */
    struct cs_sha256_sum *sum; /* of what was handed on; NULL: nothing was */
    bool started;              /* the program was allowed to run */
    bool awaited;              /* the execution is over, and waits for the blobs */
    unsigned blobs_waiting;
    uint32_t calls;
    struct cs_keymap tally; /* how often each key was asked for */
    struct open_wish *open;
    size_t open_count, open_cap;
    int64_t start_us;
    struct cs_run *run;  /* NULL: it is gone, and parts are still on their way */
    unsigned on_the_way; /* parts of a durable one */
    int64_t time_us;     /* of the last thing that was heard */
};

static void why_not(struct cs_run *run, const char *why)
{
    if (!run->result.not_replayable.len)
        run->result.not_replayable = cs_arena_dup(&run->arena, cs_str(why));
}

static void forget(struct cs_journal *j)
{
    j->run = NULL;
    if (j->on_the_way)
        return; /* on_part frees it */
    cs_buf_done(&j->out);
    cs_buf_done(&j->blobs);
    cs_keymap_done(&j->tally);
    free(j->open);
    free(j->sum);
    free(j);
}

/* A durable execution without its journal must not go on: what it did then would be done again. */
static void give_up(struct cs_run *run, const struct cs_err *err)
{
    struct cs_err why = *err;
    run->journal->failed = true;
    if (!run->request.durable || run->record_error.code != CS_OK)
        return;
    cs_wrap(&why, "the journal of a durable execution");
    run->record_error = why;
    if (run->job)
        cs_run_cancel(run);
}

void cs_journal_done(struct cs_run *run)
{
    if (run->journal)
        forget(CS_TAKE(run->journal));
}

/* --- what a wish is known by --- */

void cs_wish_key(const struct cs_wish *wish, const unsigned char arguments[32],
                 unsigned char key[32])
{
    CS_AUTO_BUF struct cs_buf text = {0};
    unsigned char hash[CS_SHA256];
    cs_put_u8(&text, (uint8_t)wish->kind);
    switch (wish->kind) {
    case CS_WISH_CALL:
        cs_put_str(&text, wish->server);
        cs_put_str(&text, wish->tool);
        cs_buf_put(&text, arguments, CS_SHA256);
        break;
    case CS_WISH_FILE:
        cs_sha256(wish->data, hash);
        cs_put_u8(&text, (uint8_t)wish->op);
        cs_put_u32(&text, wish->flags);
        cs_put_str(&text, wish->path);
        cs_buf_put(&text, hash, CS_SHA256);
        break;
    case CS_WISH_MODULE:
        cs_put_str(&text, wish->path);
        break;
    }
    cs_sha256(cs_buf_str(&text), key);
}

/* --- records --- */

/* It has become too large, and is given up. */
static bool is_too_large(struct cs_run *run)
{
    struct cs_journal *j = run->journal;
    if (j->bytes + j->out.len <= run->runner->journal_bytes)
        return false;
    CS_AUTO_BUF struct cs_buf why = {0};
    cs_buf_printf(&why, "its journal would have more than %llu bytes (record.journal)",
                  (unsigned long long)run->runner->journal_bytes);
    why_not(run, cs_buf_cstr(&why));
    struct cs_err err = {0};
    cs_fail(&err, CS_LIMIT, "%s", cs_buf_cstr(&why));
    give_up(run, &err);
    cs_buf_done(&j->out);
    cs_buf_done(&j->blobs);
    return true;
}

static size_t begin_record(struct cs_journal *j, enum cs_record type)
{
    cs_put_u8(&j->out, (uint8_t)type);
    cs_put_u32(&j->out, 0);
    return j->out.len;
}

static void end_record(struct cs_journal *j, size_t mark)
{
    uint32_t len = (uint32_t)(j->out.len - mark);
    memcpy(j->out.at + mark - sizeof len, &len, sizeof len);
}

/* A part on its way, and who else wants to know. */
struct part {
    struct cs_journal *journal;
    cs_stored *then;
    void *ctx;
};

static void on_part(void *ctx, const struct cs_err *err)
{
    struct part part = *(struct part *)ctx;
    struct cs_journal *j = part.journal;
    free(ctx);
    j->on_the_way--;
    j->has_hole = j->has_hole || err->code;
    if (!j->run)
        forget(j);
    else if (err->code != CS_OK && !part.then)
        give_up(j->run, err);
    if (part.then)
        part.then(part.ctx, err);
}

static void handed_on(struct cs_journal *j)
{
    if (!j->sum)
        j->sum = cs_sha256_new();
    cs_sha256_add(j->sum, cs_buf_str(&j->out));
    j->bytes += j->out.len;
    cs_buf_clear(&j->out);
}

/* A durable journal is on its way to the store before anybody can learn what follows from it. */
static void hand_on(struct cs_run *run, cs_stored *then, void *ctx)
{
    struct cs_journal *j = run->journal;
    cs_shield_seal(run, NULL, NULL); /* what its tokens stand for comes first */
    struct part *part = CS_NEW(struct part);
    *part = (struct part){j, then, ctx};
    j->on_the_way++;
    cs_store_journal_append(run->runner->store, cs_str(run->result.execution_id),
                            cs_buf_str(&j->out), NULL, 0, on_part, part);
    handed_on(j);
}

/* --- blobs --- */

struct putting {
    struct cs_run *run;
    unsigned char hash[32];
};

static bool was_put(struct cs_runner *r, const unsigned char hash[32])
{
    int64_t now = cs_time_ms();
    for (unsigned i = 0; r->lately && i < LATELY; i++)
        if (r->lately->blobs[i].time && now - r->lately->blobs[i].time < LATELY_MS &&
            memcmp(r->lately->blobs[i].hash, hash, 32) == 0)
            return true;
    return false;
}

static void note_put(struct cs_runner *r, const unsigned char hash[32])
{
    if (!r->lately)
        r->lately = CS_NEW(struct cs_lately);
    struct cs_lately *l = r->lately;
    memcpy(l->blobs[l->next].hash, hash, 32);
    l->blobs[l->next].time = cs_time_ms();
    l->next = (l->next + 1) % LATELY;
}

static void on_put(void *ctx, const struct cs_err *err, const unsigned char hash[32],
                   struct cs_str content)
{
    struct putting *p = ctx;
    struct cs_run *run = p->run;
    struct cs_journal *j = run->journal;
    (void)hash, (void)content;
    if (err->code != CS_OK) {
        why_not(run, "a part of its journal could not be stored");
        j->failed = true;
    } else {
        note_put(run->runner, p->hash);
    }
    free(p);
    if (--j->blobs_waiting == 0 && j->awaited)
        cs_run_go(run);
}

static bool is_mine(const struct cs_journal *j, const unsigned char hash[32])
{
    for (size_t at = 0; at < j->blobs.len; at += 32)
        if (memcmp(j->blobs.at + at, hash, 32) == 0)
            return true;
    return false;
}

/* Of a call's answer the hash is known already. */
static void hash_of(const struct cs_run *run, struct cs_str text, unsigned char hash[32])
{
    if (run->answering && run->answering->result_bytes == text.len)
        memcpy(hash, run->answering->result_hash, 32);
    else
        cs_sha256(text, hash);
}

static void put_blob(struct cs_run *run, const unsigned char hash[32], struct cs_str text)
{
    struct cs_journal *j = run->journal;
    if (is_mine(j, hash))
        return;
    cs_buf_put(&j->blobs, hash, 32);
    j->bytes += text.len;
    if (was_put(run->runner, hash) || j->bytes > run->runner->journal_bytes)
        return;
    struct putting *p = CS_NEW(struct putting);
    p->run = run;
    memcpy(p->hash, hash, 32);
    j->blobs_waiting++;
    cs_store_blob_put(run->runner->store, text, on_put, p);
}

static void put_ref(struct cs_run *run, struct cs_str text)
{
    struct cs_journal *j = run->journal;
    bool is_blob = text.len > CS_JOURNAL_INLINE && !j->durable;
    cs_put_u8(&j->out, is_blob);
    if (!is_blob) {
        cs_put_str(&j->out, text);
        return;
    }
    unsigned char hash[CS_SHA256];
    hash_of(run, text, hash);
    cs_put_u64(&j->out, text.len);
    cs_put_str(&j->out, cs_strn((const char *)hash, sizeof hash));
    put_blob(run, hash, text);
}

/* --- the head --- */

static void put_request(struct cs_run *run)
{
    struct cs_journal *j = run->journal;
    const struct cs_request *r = &run->request;
    size_t mark = begin_record(j, CS_RECORD_VERSION);
    cs_buf_puts(&j->out, CS_JOURNAL_VERSION);
    end_record(j, mark);
    mark = begin_record(j, CS_RECORD_REQUEST);
    cs_put_u8(&j->out, (uint8_t)r->language);
    cs_put_u8(&j->out, (uint8_t)r->clock);
    cs_put_u8(&j->out, (uint8_t)r->cache);
    cs_put_u8(&j->out, r->durable);
    put_ref(run, r->code);
    put_ref(run, r->inputs);
    cs_put_str(&j->out, run->principal);
    cs_put_str(&j->out, r->session);
    cs_put_str(&j->out, r->intent);
    cs_put_str(&j->out, r->actor_type);
    cs_put_u32(&j->out, CS_LIMIT_COUNT);
    for (int i = 0; i < CS_LIMIT_COUNT; i++)
        cs_put_u64(&j->out, cs_limit_get(&r->limits, (enum cs_limit)i));
    end_record(j, mark);
    if (run->shield) {
        mark = begin_record(j, CS_RECORD_PRIVACY);
        cs_put_u8(&j->out, (uint8_t)run->shield->level);
        cs_put_u8(&j->out, (uint8_t)run->shield->asked);
        end_record(j, mark);
    }
    j->has_head = true;
}

static struct cs_journal *open_journal(struct cs_run *run)
{
    if (!run->journal) {
        run->journal = CS_NEW(struct cs_journal);
        run->journal->run = run;
        run->journal->durable = run->request.durable;
        run->journal->has_head = run->resume != NULL; /* what was written before is there */
        if (run->resume) {
            run->journal->sum = cs_sha256_new();
            cs_sha256_add(run->journal->sum, cs_buf_str(&run->resume->journal));
        }
    }
    return run->journal;
}

void cs_journal_admit(struct cs_run *run)
{
    if (!cs_run_store(run) || !run->request.durable || run->resume)
        return;
    open_journal(run);
    put_request(run);
}

bool cs_journal_admit_late(struct cs_run *run, cs_stored *then, void *ctx)
{
    cs_journal_admit(run);
    if (!run->journal || !run->journal->out.len)
        return false;
    hand_on(run, then, ctx);
    return true;
}

void cs_journal_begin(struct cs_run *run, int64_t start_us)
{
    if (!cs_run_store(run))
        return;
    if (run->request.clock == CS_CLOCK_LIVE) {
        why_not(run, "its clock ran as the one outside (clock: \"live\")");
        return;
    }
    if (run->result.is_guest) {
        CS_AUTO_BUF struct cs_buf why = {0};
        cs_buf_printf(&why, "the clock of %s runs", cs_language_name(run->result.language));
        why_not(run, cs_buf_cstr(&why));
    }
    struct cs_journal *j = open_journal(run);
    j->start_us = start_us;
    if (run->player || j->failed) /* what is played has begun */
        return;
    if (!j->has_head)
        put_request(run);
    size_t mark = begin_record(j, CS_RECORD_BEGIN);
    cs_put_u64(&j->out, run->seed[0]);
    cs_put_u64(&j->out, run->seed[1]);
    cs_put_u64(&j->out, (uint64_t)start_us);
    cs_put_u8(&j->out, run->hold != NULL);
    cs_put_u64(&j->out, run->state_bytes);
    put_ref(run, run->state);
    put_ref(run, run->catalogue ? cs_catalogue_globals(run->catalogue) : (struct cs_str){0});
    end_record(j, mark);
    if (!is_too_large(run) && j->durable)
        hand_on(run, NULL, NULL);
}

/* --- what it asks, and what it hears --- */

void cs_journal_wish(struct cs_run *run, const struct cs_wish *wish)
{
    struct cs_journal *j = run->journal;
    if (!j || j->failed)
        return;
    if (j->open_count == j->open_cap) {
        j->open_cap = j->open_cap ? 2 * j->open_cap : 8;
        j->open = cs_realloc(j->open, j->open_cap, sizeof *j->open);
    }
    struct open_wish *o = &j->open[j->open_count++];
    o->kind = wish->kind;
    o->id = wish->id;
    cs_wish_key(wish, run->argument_hash, o->key);
    o->occurrence = (*cs_keymap_at(&j->tally, o->key))++;
    bool is_tool = wish->kind == CS_WISH_CALL && !cs_str_is(wish->server, "caisson");
    o->call = is_tool ? ++j->calls : 0;
    struct cs_str server = cs_utf8_cut(wish->server, SERVER_BYTES);
    CS_AUTO_BUF struct cs_buf name = {0};
    struct cs_str tool = wish->kind == CS_WISH_CALL   ? wish->tool
                         : wish->kind == CS_WISH_FILE ? cs_shield_name(run, wish->path, &name)
                                                      : wish->path;
    tool = cs_utf8_cut(tool, TOOL_BYTES);
    o->server_len = (uint8_t)server.len;
    o->tool_len = (uint8_t)tool.len;
    memcpy(o->server, server.at ? server.at : "", server.len);
    memcpy(o->tool, tool.at ? tool.at : "", tool.len);
}

static struct open_wish *find_open(struct cs_journal *j, enum cs_heard_kind kind, uint64_t id)
{
    for (size_t i = j->open_count; i > 0; i--)
        if (j->open[i - 1].id == id && (int)j->open[i - 1].kind == (int)kind)
            return &j->open[i - 1];
    return NULL;
}

uint32_t cs_journal_occurrence(const struct cs_run *run, uint64_t id)
{
    const struct open_wish *o = run->journal ? find_open(run->journal, CS_HEARD_CALL, id) : NULL;
    return o ? o->occurrence : 0;
}

/* `call`: as it was noted, with the names that its server has; NULL: it is none. */
static size_t begin_event(struct cs_journal *j, enum cs_record type, int what,
                          const struct open_wish *o, const struct cs_call *call)
{
    size_t mark = begin_record(j, type);
    cs_put_u8(&j->out, (uint8_t)what);
    cs_put_str(&j->out, cs_strn((const char *)o->key, sizeof o->key));
    cs_put_u32(&j->out, o->occurrence);
    cs_put_u32(&j->out, o->call);
    cs_put_str(&j->out, call ? call->server : cs_strn(o->server, o->server_len));
    cs_put_str(&j->out, call ? call->tool : cs_strn(o->tool, o->tool_len));
    cs_put_u64(&j->out, (uint64_t)(type == CS_RECORD_SENT ? cs_time_ms() * 1000 : j->time_us));
    return mark;
}

void cs_journal_heard(struct cs_run *run, const struct cs_heard *heard)
{
    static const struct open_wish start;
    struct cs_journal *j = run->journal;
    if (!j || j->failed)
        return;
    struct open_wish *o =
        heard->kind == CS_HEARD_START ? NULL : find_open(j, heard->kind, heard->id);
    if (!o && heard->kind != CS_HEARD_START)
        return;
    j->time_us = heard->time_us;
    j->started = j->started || heard->kind == CS_HEARD_START;
    if (!run->player || !cs_player_speaks(run->player)) {
        size_t mark =
            begin_event(j, CS_RECORD_HEARD, (int)heard->kind, o ? o : &start, run->answering);
        cs_put_u8(&j->out, (uint8_t)(run->answering ? run->answering->status : CS_CALL_OK));
        cs_put_u8(&j->out, (uint8_t)heard->answer);
        cs_put_str(&j->out, heard->canonical);
        put_ref(run, heard->payload);
        end_record(j, mark);
    }
    if (o)
        *o = j->open[--j->open_count];
    if (!is_too_large(run) && j->durable && j->out.len)
        hand_on(run, NULL, NULL);
}

void cs_journal_sent(struct cs_run *run, uint64_t id,
                     void (*then)(void *ctx, const struct cs_err *), void *ctx)
{
    static const struct cs_err none;
    struct cs_journal *j = run->journal;
    struct open_wish *o = j && j->durable && !j->failed ? find_open(j, CS_HEARD_CALL, id) : NULL;
    if (!o) {
        then(ctx, &none);
        return;
    }
    end_record(j, begin_event(j, CS_RECORD_SENT, CS_HEARD_CALL, o, NULL));
    hand_on(run, then, ctx);
}

/* --- it is over --- */

/* A call may have been answered when the program was over already. */
static void put_asked(struct cs_run *run, const struct open_wish *o)
{
    struct cs_journal *j = run->journal;
    bool noted = o->call && o->call <= run->result.tool_calls;
    const struct cs_call *call = noted ? &run->records[o->call - 1] : NULL;
    size_t mark = begin_event(j, CS_RECORD_ASKED, (int)o->kind, o, call);
    cs_put_u8(&j->out, (uint8_t)(call ? call->status : CS_CALL_CANCELLED));
    cs_put_u64(&j->out, call ? call->result_bytes : 0);
    end_record(j, mark);
}

void cs_journal_ended(struct cs_run *run, const struct cs_job_end *end)
{
    struct cs_journal *j = run->journal;
    unsigned char hash[CS_SHA256] = {0};
    if (!j || j->failed)
        return;
    bool by_itself = end->how == CS_ENDED_VALUE || end->how == CS_ENDED_ERROR;
    if (!j->started && !by_itself)
        why_not(run, "it did not begin");
    for (size_t i = 0; i < j->open_count; i++)
        put_asked(run, &j->open[i]);
    if (end->state.len)
        cs_sha256(end->state, hash);
    size_t mark = begin_record(j, CS_RECORD_END);
    cs_put_u8(&j->out, (uint8_t)end->how);
    cs_put_u8(&j->out, (uint8_t)end->limit);
    cs_put_u8(&j->out, end->scratch_full);
    uint64_t end_us = (uint64_t)j->start_us + end->wall_us;
    cs_put_u64(&j->out, end_us > (uint64_t)j->time_us ? end_us : (uint64_t)j->time_us);
    cs_put_str(&j->out, cs_strn((const char *)hash, sizeof hash));
    end_record(j, mark);
    is_too_large(run);
}

void cs_journal_made(struct cs_run *run)
{
    struct cs_journal *j = run->journal;
    const struct cs_shield *sh = run->shield;
    if (!j || j->failed || !sh)
        return;
    if (run->result.protection.outputs.found[CS_PII_CUSTOM])
        why_not(run, "what it said was found by patterns of its own, which are not on record");
    if (!sh->made.len)
        return;
    size_t mark = begin_record(j, CS_RECORD_MADE);
    cs_put_str(&j->out, cs_buf_str(&sh->made));
    end_record(j, mark);
    is_too_large(run);
}

bool cs_journal_busy(struct cs_run *run)
{
    struct cs_journal *j = run->journal;
    if (j && j->blobs_waiting) {
        j->awaited = true;
        return true;
    }
    struct cs_result *r = &run->result;
    if (!cs_run_store(run))
        why_not(run, "nothing is kept here");
    else if (r->cached_from.len)
        why_not(run, "its answer came from the cache");
    else if (!j)
        why_not(run, "it did not begin");
    return false;
}

bool cs_journal_hash(const struct cs_run *run, unsigned char hash[32])
{
    const struct cs_journal *j = run->journal;
    if (!j || j->failed || j->has_hole)
        return false;
    if (j->sum)
        cs_sha256_with(j->sum, cs_buf_str(&j->out), hash);
    else
        cs_sha256(cs_buf_str(&j->out), hash);
    return true;
}

void cs_journal_take(struct cs_run *run, struct cs_execution_more *more)
{
    struct cs_journal *j = run->journal;
    if (!j || j->failed)
        return;
    more->journal = cs_buf_str(&j->out);
    more->blobs = (const unsigned char(*)[32])j->blobs.at;
    more->blob_count = j->blobs.len / 32;
}

void cs_journal_taken(struct cs_run *run)
{
    struct cs_journal *j = run->journal;
    if (j)
        handed_on(j);
}
