/* Executions are on record before their answer leaves; keys, artifacts and a store that fails. */
#include "way.h"

#include <dirent.h>
#include <sqlite3.h>

#include "base/time.h"

static char session[64];       /* of the test; empty: none yet */
static struct cs_store *other; /* as another process has it: it sees what is committed */

static void open_store(struct cs_store **store)
{
    struct cs_err err = {0};
    if (cs_store_open(&world.loop, path_of("data"), store, &err) < 0)
        fail_msg("%s", err.msg);
}

static void close_store(struct cs_store **store)
{
    bool closed = false;
    cs_store_close(*store, on_closed, &closed);
    until(&closed);
    *store = NULL;
}

static int setup(void **state)
{
    (void)state;
    nftw(path_of("data"), clear_path, 8, FTW_DEPTH | FTW_PHYS);
    mkdir(path_of("data"), 0700);
    open_store(&world.store);
    open_store(&other);
    open_runner((struct cs_runner_options){.most_running = 1, .artifact_bytes = 1000});
    return 0;
}

static int setup_sessions(void **state)
{
    const struct cs_session_limits limits = {.state_bytes = 2000,
                                             .file_bytes = 100000,
                                             .files = 100,
                                             .per_tenant = 10,
                                             .idle_ms = 60000};
    struct cs_err err = {0};
    (void)state;
    nftw(path_of("data"), clear_path, 8, FTW_DEPTH | FTW_PHYS);
    mkdir(path_of("data"), 0700);
    open_store(&world.store);
    open_store(&other);
    if (cs_sessions_new(&world.loop, world.store, path_of("data"), &limits, &world.sessions, &err) <
        0)
        fail_msg("%s", err.msg);
    open_runner((struct cs_runner_options){.most_running = 2});
    session[0] = '\0';
    return 0;
}

static int teardown(void **state)
{
    bool closed = !world.sessions;
    (void)state;
    close_runner();
    if (world.sessions)
        cs_sessions_close(world.sessions, on_closed, &closed);
    until(&closed);
    world.sessions = NULL;
    close_store(&other);
    close_store(&world.store);
    return 0;
}

/* A row, as the other process sees it. */
struct row {
    bool is_done;
    enum cs_code code;
    struct cs_buf status, envelope, error_type, session, intent;
    int64_t created, finished;
};

static void on_row(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                   size_t count)
{
    struct row *r = ctx;
    r->is_done = true;
    r->code = err->code;
    if (!count)
        return;
    cs_buf_putstr(&r->status, rows->status);
    cs_buf_putstr(&r->envelope, rows->envelope);
    cs_buf_putstr(&r->error_type, rows->error_type);
    cs_buf_putstr(&r->intent, rows->intent);
    r->created = rows->created;
    r->finished = rows->finished;
}

static struct row row_of(const char *id)
{
    struct row r = {0};
    cs_store_execution_get(other, CS_STR("default"), cs_str(id), on_row, &r);
    until(&r.is_done);
    return r;
}

static void row_done(struct row *r)
{
    cs_buf_done(&r->status);
    cs_buf_done(&r->envelope);
    cs_buf_done(&r->error_type);
    cs_buf_done(&r->session);
    cs_buf_done(&r->intent);
}

static void expect_row(const struct play *p, const char *status, const char *error_type)
{
    struct row r = row_of(p->id);
    assert_int_equal(r.code, CS_OK);
    assert_string_equal(cs_buf_cstr(&r.status), status);
    assert_string_equal(cs_buf_cstr(&r.error_type), error_type);
    assert_string_equal(cs_buf_cstr(&r.envelope), cs_buf_cstr((struct cs_buf *)&p->envelope));
    assert_true(r.created > 0 && r.finished >= r.created);
    row_done(&r);
}

static void it_is_on_record_when_the_answer_leaves(void **state)
{
    (void)state;
    struct play fine = {0}, broken = {0}, refused = {0};
    struct cs_request request = request_of("return 42");
    request.intent = CS_STR("to know");
    perform(&fine, &request);
    assert_str_is(cs_buf_str(&fine.value), "42");
    expect_row(&fine, "completed", "");
    struct row r = row_of(fine.id);
    assert_string_equal(cs_buf_cstr(&r.intent), "to know");
    row_done(&r);
    request = request_of("throw new Error('no')");
    perform(&broken, &request);
    expect_row(&broken, "failed", "runtime_error");
    request = request_of("return 1");
    request.session = CS_STR("ses_00000000000000000000000000000000");
    perform(&refused, &request);
    assert_int_equal(refused.refused, CS_MISSING);
    r = row_of(refused.id);
    assert_int_equal(r.code, CS_MISSING);
    row_done(&r);
    play_done(&fine);
    play_done(&broken);
    play_done(&refused);
}

static void who_waits_is_on_record_too(void **state)
{
    (void)state;
    struct play first = {0}, second = {0};
    struct cs_request request = request_of("for (;;) await new Promise(r => setTimeout(r, 5))");
    begin(&first, &request);
    begin(&second, &request);
    struct row r = row_of(cs_run_id(second.run));
    for (int i = 0; i < 60000 && r.code == CS_MISSING; i++) {
        uv_sleep(1); /* the row delays nothing, so it may be under way */
        row_done(&r);
        r = row_of(cs_run_id(second.run));
    }
    assert_string_equal(cs_buf_cstr(&r.status), "running");
    row_done(&r);
    cs_run_cancel(second.run);
    until(&second.is_done);
    expect_row(&second, "cancelled", "runtime_error");
    cs_run_cancel(first.run);
    until(&first.is_done);
    expect_row(&first, "cancelled", "runtime_error");
    play_done(&first);
    play_done(&second);
}

/* --- keys --- */

static void a_key_stands_for_one_answer(void **state)
{
    (void)state;
    struct play first = {0}, again = {0}, changed = {0}, foreign = {0};
    struct cs_request request = request_of("return Math.random()");
    request.key = CS_STR("key-1");
    request.fingerprint = CS_STR("print-1");
    perform(&first, &request);
    assert_false(first.failed);
    assert_int_equal(first.earlier.len, 0);
    perform(&again, &request);
    assert_string_equal(cs_buf_cstr(&again.earlier), cs_buf_cstr(&first.envelope));
    assert_string_equal(cs_buf_cstr(&again.envelope), cs_buf_cstr(&first.envelope));
    assert_string_equal(again.id, first.id);
    assert_int_equal(again.refused, CS_OK);
    request.fingerprint = CS_STR("print-2");
    perform(&changed, &request);
    assert_int_equal(changed.refused, CS_CONFLICT);
    assert_contains(cs_buf_cstr(&changed.message), "used for another request");
    request.tenant = CS_STR("blue");
    perform(&foreign, &request);
    assert_int_equal(foreign.refused, CS_OK);
    assert_int_equal(foreign.earlier.len, 0);
    struct cs_figures figures;
    cs_runner_figures(world.runner, &figures);
    assert_int_equal(figures.by_status[CS_STATUS_COMPLETED], 2);
    assert_int_equal(figures.refused, 1);
    play_done(&first);
    play_done(&again);
    play_done(&changed);
    play_done(&foreign);
}

static void those_that_run_here_are_joined(void **state)
{
    (void)state;
    struct play first = {0}, second = {0}, third = {0};
    struct cs_request request =
        request_of("console.log('on'); await new Promise(r => setTimeout(r, 60)); return 1");
    request.key = CS_STR("key-1");
    begin(&first, &request);
    begin(&second, &request);
    while (!first.begun)
        uv_run(&world.loop, UV_RUN_ONCE);
    begin(&third, &request); /* after that was told */
    until(&third.is_done);
    assert_true(first.is_done && second.is_done);
    assert_int_equal(first.begun + second.begun + third.begun, 3);
    assert_int_equal(second.begun, 1);
    assert_string_equal(cs_buf_cstr(&third.earlier), cs_buf_cstr(&first.envelope));
    play_done(&third);
    assert_string_equal(cs_buf_cstr(&second.logs), "on\n");
    assert_string_equal(cs_buf_cstr(&second.earlier), cs_buf_cstr(&first.envelope));
    play_done(&first);
    play_done(&second);
}

static void those_that_run_elsewhere_are_not(void **state)
{
    (void)state;
    struct play p = {0};
    struct row r = {0};
    const struct cs_execution_row row = {.id = CS_STR("ex_1"),
                                         .tenant = CS_STR("default"),
                                         .principal = CS_STR("local"),
                                         .language = CS_STR("typescript"),
                                         .key = CS_STR("key-1"),
                                         .created = cs_time_ms()};
    cs_store_execution_admit(other, &row, NULL, on_row, &r);
    until(&r.is_done);
    assert_int_equal(r.code, CS_OK);
    struct cs_request request = request_of("return 1");
    request.key = CS_STR("key-1");
    perform(&p, &request);
    assert_int_equal(p.refused, CS_CONFLICT);
    assert_contains(cs_buf_cstr(&p.message), "ex_1");
    assert_contains(cs_buf_cstr(&p.message), "another process");
    play_done(&p);
    row_done(&r);
}

static void a_refusal_leaves_the_key_free(void **state)
{
    (void)state;
    struct play refused = {0}, fine = {0}, cancelled = {0};
    struct cs_request request = request_of("return 1");
    request.key = CS_STR("key-1");
    request.session = CS_STR("ses_00000000000000000000000000000000");
    perform(&refused, &request);
    assert_int_equal(refused.refused, CS_MISSING);
    request.session = CS_STR("");
    perform(&fine, &request);
    assert_str_is(cs_buf_str(&fine.value), "1");
    assert_int_equal(fine.earlier.len, 0);
    /* Cancelled before it is known whether it may begin. */
    request.key = CS_STR("key-2");
    begin(&cancelled, &request);
    cs_run_cancel(cancelled.run);
    until(&cancelled.is_done);
    expect_row(&cancelled, "cancelled", "runtime_error");
    play_done(&refused);
    play_done(&fine);
    play_done(&cancelled);
}

/* --- artifacts --- */

static void perform_with(struct play *p, const char *code, const char *id, const char *tenant)
{
    char inputs[128];
    struct cs_request request = request_of(code);
    snprintf(inputs, sizeof inputs, "{\"id\":\"%s\"}", id);
    request.inputs = cs_str(inputs);
    request.tenant = cs_str(tenant);
    perform(p, &request);
}

static void a_large_result_can_be_opened_later(void **state)
{
    (void)state;
    struct play small = {0}, large = {0}, p = {0};
    struct cs_request request = request_of("return 'x'.repeat(998)");
    perform(&small, &request);
    assert_string_equal(small.artifact, "");
    request = request_of("return Array.from({ length: 500 }, (_, i) => 'Zeile ' + i + ' ü')");
    perform(&large, &request);
    assert_int_equal(strlen(large.artifact), 36);
    assert_contains(cs_buf_cstr(&large.envelope), large.artifact);
    assert_contains(
        cs_buf_cstr(&large.envelope),
        "\"name\":\"result\",\"media_type\":\"application/json\",\"kind\":\"result\",\"size\":");

    perform_with(&p, "const a = await caisson.storage.get(inputs.id); return [a.length, a[499]]",
                 large.artifact, "");
    assert_str_is(cs_buf_str(&p.value), "[500,\"Zeile 499 ü\"]");
    play_done(&p);

    p = (struct play){0};
    perform_with(
        &p,
        "let text = '', next = 0;\n"
        "for (let n = 0; next !== null && n < 10000; n++) {\n"
        "  const part = await caisson.storage.get(inputs.id, { offset: next, length: 97 });\n"
        "  text += part.text; next = part.next;\n"
        "}\n"
        "const all = await caisson.storage.get(inputs.id);\n"
        "return text === JSON.stringify(all)",
        large.artifact, "");
    if (!cs_str_is(cs_buf_str(&p.value), "true"))
        fail_msg("%s", cs_buf_cstr(&p.envelope));
    play_done(&p);

    p = (struct play){0};
    perform_with(&p,
                 "const l = await caisson.storage.list(); return [l.length, l[0].id === inputs.id]",
                 large.artifact, "");
    assert_str_is(cs_buf_str(&p.value), "[1,true]");
    play_done(&p);

    p = (struct play){0};
    perform_with(&p, "return caisson.storage.get(inputs.id)", large.artifact, "blue");
    assert_true(p.failed);
    assert_contains(cs_buf_cstr(&p.message), "art_");
    assert_contains(cs_buf_cstr(&p.envelope), "caisson.storage.list()");
    play_done(&p);

    p = (struct play){0};
    perform_with(&p, "return caisson.storage.get('/etc/passwd')", "", "");
    assert_contains(cs_buf_cstr(&p.message), "the handle of an artifact");
    play_done(&p);
    play_done(&small);
    play_done(&large);
}

static void what_is_larger_than_a_call_is_read_in_parts(void **state)
{
    (void)state;
    struct play large = {0}, p = {0};
    struct cs_request request = request_of("return 'y'.repeat(5000)");
    perform(&large, &request);
    char inputs[128];
    snprintf(inputs, sizeof inputs, "{\"id\":\"%s\"}", large.artifact);
    request = request_of("return caisson.storage.get(inputs.id)");
    request.inputs = cs_str(inputs);
    request.limits.call_result = 2000;
    perform(&p, &request);
    assert_true(p.failed);
    assert_contains(cs_buf_cstr(&p.message), "the artifact has 5002 bytes; a call answers with at "
                                             "most 2000");
    assert_contains(cs_buf_cstr(&p.envelope), "Read it in parts");
    play_done(&p);
    p = (struct play){0};
    request.code = CS_STR("const { text, next, size } = await caisson.storage.get(inputs.id, "
                          "{ offset: 1, length: 100000 }); return [text.length, next, size]");
    perform(&p, &request);
    assert_str_is(cs_buf_str(&p.value), "[2000,2001,5002]");
    play_done(&p);
    play_done(&large);
}

static void guests_open_them_too(void **state)
{
    (void)state;
    if (cs_language_missing(CS_PYTHON))
        skip();
    struct play large = {0}, p = {0};
    struct cs_request request = request_of("print('-' * 3000)\nprint('{\"n\": 1}')");
    request.language = CS_PYTHON;
    perform(&large, &request);
    assert_contains(cs_buf_cstr(&large.envelope),
                    "\"name\":\"stdout\",\"media_type\":\"text/plain\"");
    char inputs[128];
    snprintf(inputs, sizeof inputs, "{\"id\":\"%s\"}", large.artifact);
    request = request_of("import caisson\ntext = caisson.storage.get(caisson.inputs['id'])\n"
                         "print([len(text), len(caisson.storage.list())])");
    request.language = CS_PYTHON;
    request.inputs = cs_str(inputs);
    perform(&p, &request);
    assert_str_is(cs_buf_str(&p.value), "[3010, 1]");
    play_done(&large);
    play_done(&p);
}

/* --- sessions --- */

static void on_session(void *ctx, const struct cs_err *err, const struct cs_session_row *rows,
                       size_t count)
{
    if (err->code || !count)
        fail_msg("%s", err->msg);
    snprintf(session, sizeof session, "%.*s", CS_STR_ARG(rows->id));
    *(bool *)ctx = true;
}

static struct cs_request in_session(const char *code)
{
    struct cs_request request = request_of(code);
    if (!session[0]) {
        struct cs_caller caller = {.principal = "local", .tenant = "default"};
        bool there = false;
        cs_session_start(world.sessions, &caller, CS_STR(""), 0, on_session, &there);
        until(&there);
    }
    request.session = cs_str(session);
    return request;
}

static void state_goes_from_one_to_the_next(void **state)
{
    (void)state;
    static const char *const codes[] = {
        "import { writeFile } from 'fs/promises'; state.n = 1; "
        "await writeFile('/workspace/a.txt', 'kept'); return state.n",
        "state.n = 7; throw new Error('this one leaves nothing')",
        "import { readFile } from 'fs/promises'; return [++state.n, "
        "await readFile('/workspace/a.txt', 'utf8')]",
        "state.text = 'x'.repeat(3000); return 1", "return state"};
    static const char *const values[] = {"1", "", "[2,\"kept\"]", "", "{\"n\":2}"};
    for (size_t i = 0; i < CS_COUNT(codes); i++) {
        struct play p = {0};
        struct cs_request request = in_session(codes[i]);
        perform(&p, &request);
        if (!cs_str_is(cs_buf_str(&p.value), values[i]))
            fail_msg("%zu: %s", i, cs_buf_cstr(&p.envelope));
        assert_true(p.failed == !values[i][0]);
        assert_contains(cs_buf_cstr(&p.envelope), session);
        struct row r = row_of(p.id);
        assert_string_equal(cs_buf_cstr(&r.envelope), cs_buf_cstr(&p.envelope));
        row_done(&r);
        play_done(&p);
    }
}

static void one_at_a_time_in_a_session_and_nobody_else_waits(void **state)
{
    (void)state;
    struct play first = {0}, second = {0}, third = {0}, strict = {0}, cancelled = {0};
    /* Long enough for all that happens meanwhile, on a busy machine too. */
    struct cs_request request = in_session("console.log('on'); for (let i = 0; i < 400; i++) await "
                                           "new Promise(r => setTimeout(r, 10)); state.a = 1");
    world.order = 0;
    begin(&first, &request);
    while (!first.logs.len)
        uv_run(&world.loop, UV_RUN_ONCE);
    request = in_session("return state.a");
    begin(&second, &request);
    begin(&cancelled, &request);
    request.session_must_be_free = true;
    request.key = CS_STR("k");
    perform(&strict, &request);
    assert_int_equal(strict.refused, CS_CONFLICT);
    assert_int_equal(strict.begun, 0);
    struct row r = row_of(strict.id);
    assert_int_equal(r.code, CS_MISSING);
    row_done(&r);
    cs_run_cancel(cancelled.run);
    until(&cancelled.is_done);
    assert_int_equal(cancelled.status, CS_STATUS_CANCELLED);
    assert_string_equal(cs_run_phase(second.run), "waiting");
    request = request_of("return 3");
    perform(&third, &request);
    assert_int_equal(third.begun, 1);
    assert_false(first.is_done || second.is_done);
    until(&second.is_done);
    assert_true(first.order < second.order);
    assert_str_is(cs_buf_str(&second.value), "1");
    assert_true(second.queued_us > 50000);
    assert_int_equal(second.begun, 1);
    play_done(&first);
    play_done(&second);
    play_done(&third);
    play_done(&cancelled);
    play_done(&strict);
    /* The key was not used up. */
    strict = (struct play){0};
    request = in_session("return 4");
    request.key = CS_STR("k");
    perform(&strict, &request);
    assert_str_is(cs_buf_str(&strict.value), "4");
    play_done(&strict);
}

static void artifacts_of_a_session_are_its_own(void **state)
{
    (void)state;
    struct play large = {0}, foreign = {0}, p = {0};
    struct cs_request request = request_of("return 'z'.repeat(30000)");
    perform(&foreign, &request);
    request = in_session("return 'y'.repeat(30000)");
    perform(&large, &request);
    request = in_session("return (await caisson.storage.list()).map(a => a.id)");
    perform(&p, &request);
    char expected[80];
    snprintf(expected, sizeof expected, "[\"%s\"]", large.artifact);
    assert_str_is(cs_buf_str(&p.value), expected);
    play_done(&large);
    play_done(&foreign);
    play_done(&p);
}

/* --- a store that fails --- */

static void break_store(void)
{
    sqlite3 *db = NULL;
    DIR *dir = opendir(path_of("data"));
    char path[400] = "";
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strstr(e->d_name, ".db") && !strstr(e->d_name, "-"))
            snprintf(path, sizeof path, "%s/data/%s", world.dir, e->d_name);
    closedir(dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_exec(db, "DROP TABLE executions", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void what_is_not_on_record_has_failed(void **state)
{
    (void)state;
    struct play late = {0}, early = {0}, keyed = {0};
    struct cs_request request =
        request_of("console.log('on'); await new Promise(r => setTimeout(r, 300)); return 1");
    begin(&late, &request);
    while (!late.logs.len)
        uv_run(&world.loop, UV_RUN_ONCE);
    break_store();
    until(&late.is_done);
    assert_true(late.failed);
    assert_int_equal(late.error, CS_ERROR_INTERNAL);
    assert_contains(cs_buf_cstr(&late.message), "how it ended could not be put on record");
    assert_null(strstr(cs_buf_cstr(&late.envelope), "\"result\":1,"));
    request = request_of("for (;;) await new Promise(r => setTimeout(r, 5))");
    perform(&early, &request); /* it does not go on without */
    assert_int_equal(early.error, CS_ERROR_INTERNAL);
    assert_contains(cs_buf_cstr(&early.message), "could not be put on record");
    request.key = CS_STR("k");
    perform(&keyed, &request);
    assert_int_equal(keyed.refused, CS_SYSTEM);
    play_done(&late);
    play_done(&early);
    play_done(&keyed);
}

/* A ledger that cannot be signed after some entries: they are not written. */
static struct {
    const char *event; /* that one, */
    int times;         /* so often, */
    int ms;            /* and it takes so long to find out */
    char last[64];
} unsigned_one;

static void link_entry(void *ctx, uint64_t seq, const unsigned char prev[32],
                       const struct cs_entry *e, struct cs_buf *text, unsigned char hash[32])
{
    (void)ctx, (void)prev;
    snprintf(unsigned_one.last, sizeof unsigned_one.last, "%.*s", CS_STR_ARG(e->event));
    cs_buf_puts(text, "{}");
    memset(hash, (int)seq, 32);
}

static int sign_entry(void *ctx, struct cs_checkpoint_row *row, struct cs_err *err)
{
    (void)ctx, (void)row;
    if (strcmp(unsigned_one.last, unsigned_one.event) != 0 || unsigned_one.times == 0)
        return 0;
    unsigned_one.times--;
    uv_sleep((unsigned)unsigned_one.ms);
    return cs_fail(err, CS_SYSTEM, "no room");
}

static int setup_chain(void **state)
{
    static const struct cs_chain chain = {1, link_entry, sign_entry, NULL};
    unsigned_one.event = "execution.started";
    setup(state);
    cs_store_set_chain(world.store, &chain);
    return 0;
}

static bool count_entry(void *ctx, const struct cs_entry_row *row)
{
    (void)row;
    ++*(int *)ctx;
    return true;
}

static int entries_of(const struct play *p, const char *event)
{
    struct cs_ledger_filter filter = {.execution = cs_str(p->id), .event = cs_str(event)};
    struct cs_err err = {0};
    char path[160];
    int count = 0;
    snprintf(path, sizeof path, "%s/data/caisson.db", world.dir);
    if (cs_store_ledger_read(path, &filter, NULL, count_entry, &count, &err) < 0)
        fail_msg("%s", err.msg);
    return count;
}

static void what_it_did_is_on_record_or_it_has_failed(void **state)
{
    (void)state;
    struct play again = {0}, late = {0}, never = {0}, fine = {0};
    struct cs_request request = request_of("for (;;) await new Promise(r => setTimeout(r, 5))");
    request.durable = true; /* what it did is written as it does it */
    unsigned_one.times = 1;
    perform(&again, &request); /* it does not go on; its end takes along what was not written */
    assert_int_equal(again.error, CS_ERROR_INTERNAL);
    assert_contains(cs_buf_cstr(&again.message), "what it did could not be put on record: ");
    assert_contains(cs_buf_cstr(&again.message), "no room");
    assert_int_equal(entries_of(&again, "execution.started"), 1);
    assert_int_equal(entries_of(&again, "execution.settled"), 1);
    expect_row(&again, "failed", "internal_error");
    request.code = CS_STR("return 1"); /* over before anybody knows, usually */
    unsigned_one.times = 1;
    unsigned_one.ms = 200;
    perform(&late, &request);
    assert_int_equal(entries_of(&late, "execution.started"), 1);
    unsigned_one.times = -1;
    perform(&never, &request);
    assert_int_equal(never.error, CS_ERROR_INTERNAL);
    assert_contains(cs_buf_cstr(&never.message), "could not be put on record");
    assert_null(strstr(cs_buf_cstr(&never.envelope), "\"result\":1,"));
    assert_int_equal(entries_of(&never, "execution.started"), 0);
    unsigned_one.times = 0;
    perform(&fine, &request);
    assert_str_is(cs_buf_str(&fine.value), "1");
    assert_int_equal(entries_of(&fine, "execution.started"), 1);
    play_done(&again);
    play_done(&late);
    play_done(&never);
    play_done(&fine);
}

static void on_begun_cancel(void *ctx)
{
    struct play *p = ctx;
    p->begun++;
    cs_run_cancel(p->run);
}

static void it_can_be_cancelled_as_soon_as_it_has_begun(void **state)
{
    (void)state;
    static const struct cs_run_watch watch = {.begun = on_begun_cancel};
    static const char *const keys[] = {"", "k1", "", "k2"};
    for (int i = 0; i < 4; i++) {
        struct play p = {0};
        struct cs_request request =
            i < 2 ? request_of("for (;;) await 0") : in_session("for (;;) await 0");
        request.key = cs_str(keys[i]);
        p.run = cs_run_start(world.runner, &request, &watch, on_play_done, &p);
        until(&p.is_done);
        assert_int_equal(p.begun, 1);
        assert_int_equal(p.status, CS_STATUS_CANCELLED);
        expect_row(&p, "cancelled", "runtime_error");
        play_done(&p);
    }
}

/* Whatever happens in whatever order, each is done once, and nothing is left of it. */
static void a_crowd_is_settled(void **state)
{
    (void)state;
    enum { CROWD = 80 };
    static struct play crowd[CROWD];
    static const char *const tenants[] = {"default", "blue", "green"};
    static const char *const codes[] = {
        "return 1", "for (;;) await new Promise(r => setTimeout(r, 3))",
        "await new Promise(r => setTimeout(r, 20)); return 2", "throw 1"};
    unsigned seed = 7;
    memset(crowd, 0, sizeof crowd);
    for (unsigned i = 0; i < CROWD; i++) {
        unsigned r = (seed = seed * 1103515245u + 12345u) >> 8;
        struct cs_request request = r % 5 ? request_of(codes[r % 4]) : in_session(codes[r % 4]);
        char key[8];
        snprintf(key, sizeof key, "k%u", r / 64 % 9);
        request.tenant = r % 5 ? cs_str(tenants[r / 16 % 3]) : CS_STR("");
        request.key = r % 3 ? CS_STR("") : cs_str(key);
        request.limits.wall_clock = 200;
        begin(&crowd[i], &request);
        for (unsigned n = r / 7 % 6; n; n--)
            uv_run(&world.loop, UV_RUN_NOWAIT);
        struct play *victim = &crowd[r / 3 % (i + 1)];
        if (r % 2 && !victim->is_done)
            cs_run_cancel(victim->run);
    }
    for (unsigned i = 0; i < CROWD; i++) {
        until(&crowd[i].is_done);
        play_done(&crowd[i]);
    }
    struct cs_figures figures;
    cs_runner_figures(world.runner, &figures);
    assert_int_equal(figures.running + figures.waiting, 0);
    assert_null(world.runner->runs);
    assert_null(world.runner->queue.last);
}

static void closing_puts_all_on_record(void **state)
{
    (void)state;
    struct play p[4] = {0};
    struct cs_request request = request_of("for (;;) await new Promise(r => setTimeout(r, 5))");
    for (int i = 0; i < 4; i++) {
        char key[] = "k0";
        key[1] = (char)('0' + i);
        request.key = i > 1 ? cs_str(key) : CS_STR("");
        begin(&p[i], &request);
    }
    close_runner();
    for (int i = 0; i < 4; i++) {
        assert_true(p[i].is_done);
        expect_row(&p[i], "cancelled", "runtime_error");
        play_done(&p[i]);
    }
}

int main(int argc, char **argv)
{
    int status = play_role(argc, argv);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(it_is_on_record_when_the_answer_leaves, setup, teardown),
        CS_TEST_WITH(who_waits_is_on_record_too, setup, teardown),
        CS_TEST_WITH(a_key_stands_for_one_answer, setup, teardown),
        CS_TEST_WITH(those_that_run_here_are_joined, setup, teardown),
        CS_TEST_WITH(those_that_run_elsewhere_are_not, setup, teardown),
        CS_TEST_WITH(a_refusal_leaves_the_key_free, setup, teardown),
        CS_TEST_WITH(a_large_result_can_be_opened_later, setup, teardown),
        CS_TEST_WITH(what_is_larger_than_a_call_is_read_in_parts, setup, teardown),
        CS_TEST_WITH(guests_open_them_too, setup, teardown),
        CS_TEST_WITH(state_goes_from_one_to_the_next, setup_sessions, teardown),
        CS_TEST_WITH(one_at_a_time_in_a_session_and_nobody_else_waits, setup_sessions, teardown),
        CS_TEST_WITH(artifacts_of_a_session_are_its_own, setup_sessions, teardown),
        CS_TEST_WITH(what_is_not_on_record_has_failed, setup, teardown),
        CS_TEST_WITH(what_it_did_is_on_record_or_it_has_failed, setup_chain, teardown),
        CS_TEST_WITH(it_can_be_cancelled_as_soon_as_it_has_begun, setup_sessions, teardown),
        CS_TEST_WITH(a_crowd_is_settled, setup_sessions, teardown),
        CS_TEST_WITH(closing_puts_all_on_record, setup, teardown),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
