/* A session's life, its lock and its state. */
#include "base/time.h"
#include "run/session_fixture.h"

static void one_is_started_and_found(void **state)
{
    struct fixture *f = *state;
    start(f);
    assert_true(cs_session_id_ok(cs_str(f->id)));
    cs_session_look(f->s, &f->me, cs_str(f->id), f_session, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_OK);
    assert_string_equal(cs_buf_cstr(&f->text), "{}");
    assert_int_equal(f->row.idle_ms, 3600000);
    assert_int_equal(f->row.expires - f->row.used, 3600000);
    assert_int_equal(f->row.executions, 0);
}

static void what_cannot_be_started_says_why(void **state)
{
    struct fixture *f = *state;
    char long_name[300];
    memset(long_name, 'x', sizeof long_name);
    const struct {
        struct cs_str name;
        int64_t idle;
    } bad[] = {
        {cs_strn(long_name, 201), 0},
        {CS_STR("a\nb"), 0},
        {CS_STR("\xff"), 0},
        {CS_STR(""), -1},
        {CS_STR(""), 3600000ll * 30 + 1},
    };
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        cs_session_start(f->s, &f->me, bad[i].name, bad[i].idle, f_session, f);
        f_wait(f);
        assert_int_equal(f->err.code, CS_INVALID);
    }
    cs_session_start(f->s, &f->me, cs_strn(long_name, 200), 3600000ll * 30, f_session, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_OK);
}

static void a_tenant_has_only_so_many(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 5; i++)
        start(f);
    cs_session_start(f->s, &f->me, CS_STR(""), 0, f_session, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_LIMIT);
    assert_contains(f->err.msg, "5 sessions");
    cs_session_start(f->s, &f->other, CS_STR(""), 0, f_session, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_OK);
}

/* Every way to ask for it, under a name that is not quite its own. */
static void only_the_exact_name_opens_it(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "a", "1");
    char names[12][80];
    const char *id = f->id;
    size_t n = 0;
    snprintf(names[n++], 64, "%s ", id);
    snprintf(names[n++], 64, " %s", id);
    snprintf(names[n++], 64, "%s/", id);
    snprintf(names[n++], 64, "./%s", id);
    snprintf(names[n++], 64, "%s%%00", id);
    snprintf(names[n++], 64, "SES_%s", id + 4);
    snprintf(names[n++], 64, "ses%%5f%s", id + 4);
    snprintf(names[n++], 64, "%.35s", id);
    snprintf(names[n++], 64, "%s0", id);
    snprintf(names[n++], 64, "ses_%031dx", 0);
    snprintf(names[n++], 64, "..");
    snprintf(names[n], 64, "%s", id);
    for (char *at = names[n] + 4; *at; at++)
        if (*at >= 'a')
            *at -= 32;
    n += strcmp(names[n], id) != 0;
    struct fixture wrong = *f;
    for (size_t i = 0; i < n; i++) {
        struct wish w;
        snprintf(f->id, sizeof f->id, "%.39s", names[i]);
        assert_int_equal(hold(&w, f, 0), CS_MISSING);
        assert_int_equal(get(f, "a"), CS_MISSING);
        assert_int_equal(put(f, "a", "2"), CS_MISSING);
        assert_int_equal(take(f, "a"), CS_MISSING);
        assert_string_equal(listing(f), cs_code_name(CS_MISSING));
        cs_session_look(f->s, &f->me, cs_str(names[i]), f_session, f);
        f_wait(f);
        assert_int_equal(f->err.code, CS_MISSING);
        cs_session_stop(f->s, &f->me, cs_str(names[i]), f_stored, f);
        f_wait(f);
        assert_int_equal(f->err.code, CS_MISSING);
    }
    snprintf(f->id, sizeof f->id, "%s", wrong.id);
    /* The bytes behind a NUL count as well. */
    char longer[40] = {0};
    memcpy(longer, f->id, 36);
    struct wish w = {.f = f};
    w.hold = cs_session_hold(f->s, cs_str(f->me.tenant), cs_strn(longer, 37), (struct cs_str){0}, 0,
                             w_held, &w);
    while (!w.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_int_equal(w.err.code, CS_MISSING);
    assert_int_equal(get(f, "a"), CS_OK);
}

static void another_tenant_finds_nothing(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "a", "1");
    struct wish inside, w;
    assert_int_equal(hold(&inside, f, 0), CS_OK);
    struct cs_caller me = f->me;
    f->me = f->other;
    assert_int_equal(hold(&w, f, 0), CS_MISSING); /* and not that it is busy */
    assert_int_equal(get(f, "a"), CS_MISSING);
    assert_int_equal(put(f, "a", "2"), CS_MISSING);
    assert_int_equal(take(f, "a"), CS_MISSING);
    assert_string_equal(listing(f), cs_code_name(CS_MISSING));
    cs_session_stop(f->s, &f->me, cs_str(f->id), f_stored, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_MISSING);
    f->me = me;
    release(&inside, "");
    assert_int_equal(get(f, "a"), CS_OK);
    assert_string_equal(cs_buf_cstr(&f->text), "1");
}

static void state_is_kept_and_counted(void **state)
{
    struct fixture *f = *state;
    start(f);
    struct wish w;
    assert_int_equal(hold(&w, f, 0), CS_OK);
    assert_string_equal(cs_buf_cstr(&w.state), "{}");
    assert_int_equal(release(&w, "{\"n\":1}"), CS_OK);
    assert_state(f, "{\"n\":1}");
    cs_session_look(f->s, &f->me, cs_str(f->id), f_session, f);
    f_wait(f);
    assert_string_equal(cs_buf_cstr(&f->text), "{\"n\":1}");
    assert_int_equal(f->row.executions, 2);
}

static void what_is_no_state_is_not_kept(void **state)
{
    struct fixture *f = *state;
    start(f);
    struct wish w;
    hold(&w, f, 0);
    release(&w, "{\"n\":1}");
    CS_AUTO_BUF struct cs_buf large = {0};
    cs_buf_printf(&large, "{\"a\":\"%01000d\"}", 0);
    CS_AUTO_BUF struct cs_buf deep = {0};
    for (int i = 0; i < 400; i++)
        cs_buf_puts(&deep, "[");
    const struct {
        const char *text;
        int code;
    } rows[] = {
        {"{", CS_INVALID},
        {"[1]", CS_INVALID},
        {"5", CS_INVALID},
        {"{}x", CS_INVALID},
        {"{\"a\":\xff}", CS_INVALID},
        {cs_buf_cstr(&large), CS_LIMIT},
        {cs_buf_cstr(&deep), CS_INVALID},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++) {
        assert_int_equal(hold(&w, f, 0), CS_OK);
        assert_int_equal(release(&w, rows[i].text), rows[i].code);
        assert_contains(w.err.msg, "state");
        assert_state(f, "{\"n\":1}");
    }
}

static void one_at_a_time_in_their_order(void **state)
{
    struct fixture *f = *state;
    start(f);
    struct wish w[5];
    for (int i = 0; i < 5; i++)
        ask(&w[i], f, 5000);
    for (int i = 0; i < 5; i++) {
        while (!w[i].done)
            uv_run(&f->loop, UV_RUN_ONCE);
        for (int k = 0; k < 10; k++)
            uv_run(&f->loop, UV_RUN_NOWAIT);
        for (int k = i + 1; k < 5; k++)
            assert_false(w[k].done);
        char text[32];
        snprintf(text, sizeof text, i ? "{\"n\":%d}" : "{}", i);
        assert_string_equal(cs_buf_cstr(&w[i].state), text);
        snprintf(text, sizeof text, "{\"n\":%d}", i + 1);
        assert_int_equal(release(&w[i], text), CS_OK);
    }
}

static void run_for(struct fixture *f, int ms)
{
    for (int i = 0; i < ms; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
        uv_sleep(1);
    }
}

/* Whenever they came: nobody is lucky to look at the right moment. */
static void who_came_first_is_served_first(void **state)
{
    struct fixture *f = *state;
    start(f);
    for (int round = 0; round < 10; round++) {
        struct wish a, b, c;
        assert_int_equal(hold(&a, f, 0), CS_OK);
        ask(&b, f, 5000);
        run_for(f, 2 * round + 1);
        ask(&c, f, 5000);
        run_for(f, 25);
        release(&a, "");
        while (!b.done)
            uv_run(&f->loop, UV_RUN_ONCE);
        assert_false(c.done);
        release(&b, "");
        while (!c.done)
            uv_run(&f->loop, UV_RUN_ONCE);
        release(&c, "");
    }
}

static void who_does_not_wait_is_told_at_once(void **state)
{
    struct fixture *f = *state;
    start(f);
    struct wish first, second;
    hold(&first, f, 0);
    assert_int_equal(hold(&second, f, 0), CS_CONFLICT);
    assert_contains(second.err.msg, f->id);
    uint64_t before = uv_hrtime();
    assert_int_equal(hold(&second, f, 50), CS_CONFLICT);
    assert_true(uv_hrtime() - before >= 40000000u);
    release(&first, "");
    assert_int_equal(hold(&second, f, 0), CS_OK);
    release(&second, "");
}

static void two_sessions_do_not_wait_for_each_other(void **state)
{
    struct fixture *f = *state;
    struct wish a, b;
    start(f);
    hold(&a, f, 0);
    start(f);
    assert_int_equal(hold(&b, f, 0), CS_OK);
    release(&a, "");
    release(&b, "");
}

static void waiting_can_be_given_up(void **state)
{
    struct fixture *f = *state;
    start(f);
    struct wish a, b, c;
    hold(&a, f, 0);
    ask(&b, f, 5000);
    ask(&c, f, 5000);
    for (int i = 0; i < 20; i++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_int_equal(release(&b, ""), CS_OK); /* waits in the queue */
    assert_false(b.done);
    release(&a, "");
    while (!c.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    release(&c, "");
    ask(&b, f, 5000); /* and before anything is known */
    assert_int_equal(release(&b, ""), CS_OK);
    assert_false(b.done);
    assert_int_equal(hold(&c, f, 0), CS_OK);
    release(&c, "");
}

/* Another process: takes the lock, says so, and holds it until it is told, or killed. */
static pid_t other_process(struct fixture *f, int *to)
{
    int ready[2], go[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    char path[256], c;
    snprintf(path, sizeof path, "%s/sessions/%s/lock", f->dir, f->id);
    pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        int fd = open(path, O_RDWR);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || write(ready[1], "x", 1) != 1 ||
            read(go[0], &c, 1) < 0)
            _exit(1);
        _exit(0);
    }
    close(ready[1]);
    close(go[0]);
    assert_int_equal(read(ready[0], &c, 1), 1);
    close(ready[0]);
    *to = go[1];
    return pid;
}

static void another_process_is_waited_for(void **state)
{
    struct fixture *f = *state;
    start(f);
    assert_state(f, "{}"); /* now there is a lock */
    int to, status;
    pid_t pid = other_process(f, &to);
    struct wish w;
    assert_int_equal(hold(&w, f, 0), CS_CONFLICT);
    assert_int_equal(hold(&w, f, 60), CS_CONFLICT);
    ask(&w, f, 5000);
    for (int i = 0; i < 5; i++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_false(w.done);
    close(to);
    while (!w.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_int_equal(w.err.code, CS_OK);
    release(&w, "");
    waitpid(pid, &status, 0);
}

static void a_process_that_dies_holds_nothing(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "a", "1");
    int to, status;
    pid_t pid = other_process(f, &to);
    char half[256];
    snprintf(half, sizeof half, "%s/sessions/%s/next", f->dir, f->id);
    mkdir(half, 0700); /* what it was about to leave */
    write_at(half, "b", 1);
    struct wish w;
    ask(&w, f, 5000);
    for (int i = 0; i < 5; i++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_false(w.done);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    while (!w.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_int_equal(w.err.code, CS_OK);
    assert_false(there(half));
    release(&w, "");
    close(to);
    assert_string_equal(listing(f), "a 1\n");
}

/* Somebody who went around the lock: nothing of theirs is overwritten. */
static void a_state_that_somebody_changed_is_a_conflict(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "a", "1");
    cs_session_look(f->s, &f->me, cs_str(f->id), f_session, f);
    f_wait(f);
    uint64_t version = f->row.version;
    struct wish w;
    hold(&w, f, 0);
    cs_store_session_put(f->store, cs_str(f->me.tenant), cs_str(f->id), version,
                         CS_STR("{\"theirs\":1}"), cs_time_ms(), f_stored, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_OK);
    mkdir(f->workspace_out, 0700);
    write_at(f->workspace_out, "b", 1);
    assert_int_equal(release(&w, "{\"mine\":1}"), CS_CONFLICT);
    assert_state(f, "{\"theirs\":1}");
    assert_string_equal(listing(f), "a 1\n");
}

static void files_of_an_execution_take_the_place_of_the_old_ones(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "old", "1");
    struct wish w;
    assert_int_equal(hold(&w, f, 0), CS_OK);
    char old[256];
    snprintf(old, sizeof old, "%s/old", f->workspace);
    assert_true(there(old));
    mkdir(f->workspace_out, 0700);
    write_at(f->workspace_out, "new", 7);
    assert_string_equal(listing(f), "old 1\n"); /* until the release */
    assert_int_equal(release(&w, ""), CS_OK);
    assert_string_equal(listing(f), "new 7\n");
    assert_false(there(f->workspace_out));
    hold(&w, f, 0);
    assert_int_equal(release(&w, ""), CS_OK);
    assert_string_equal(listing(f), "new 7\n");
}

static void files_beyond_the_quota_are_not_kept(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "old", "1");
    struct wish w;
    hold(&w, f, 0);
    mkdir(f->workspace_out, 0700);
    write_at(f->workspace_out, "new", 2001);
    assert_int_equal(release(&w, "{\"n\":1}"), CS_LIMIT);
    assert_contains(w.err.msg, "2001 bytes");
    hold(&w, f, 0);
    mkdir(f->workspace_out, 0700);
    for (int i = 0; i < 11; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        write_at(f->workspace_out, name, 0);
    }
    assert_int_equal(release(&w, "{\"n\":1}"), CS_LIMIT);
    assert_contains(w.err.msg, "11 files");
    assert_string_equal(listing(f), "old 1\n");
    assert_state(f, "{}");
    assert_false(there(f->workspace_out));
}

static void bad_state_keeps_no_files_either(void **state)
{
    struct fixture *f = *state;
    start(f);
    struct wish w;
    hold(&w, f, 0);
    mkdir(f->workspace_out, 0700);
    write_at(f->workspace_out, "new", 1);
    assert_int_equal(release(&w, "nonsense"), CS_INVALID);
    assert_string_equal(listing(f), "");
}

static void a_restart_keeps_everything(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "dir/a", "123");
    struct wish w;
    hold(&w, f, 0);
    release(&w, "{\"n\":1}");
    f_close(f);
    f_open(f);
    assert_state(f, "{\"n\":1}");
    assert_string_equal(listing(f), "dir/ 0\ndir/a 3\n");
}

static void the_end_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    start(f);
    put(f, "a", "1");
    char path[256];
    snprintf(path, sizeof path, "%s/sessions/%s", f->dir, f->id);
    assert_true(there(path));
    cs_session_stop(f->s, &f->me, cs_str(f->id), f_stored, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_OK);
    assert_false(there(path));
    assert_int_equal(get(f, "a"), CS_MISSING);
    struct wish w;
    assert_int_equal(hold(&w, f, 1000), CS_MISSING);
    assert_false(there(path));
}

static void the_end_is_told_to_who_is_inside_and_who_waits(void **state)
{
    struct fixture *f = *state;
    start(f);
    struct wish a, b;
    hold(&a, f, 0);
    ask(&b, f, 5000);
    for (int i = 0; i < 20; i++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
    cs_session_stop(f->s, &f->me, cs_str(f->id), f_stored, f);
    f_wait(f);
    mkdir(f->workspace_out, 0700);
    assert_int_equal(release(&a, "{\"n\":1}"), CS_MISSING);
    assert_contains(a.err.msg, "ended while");
    while (!b.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_int_equal(b.err.code, CS_MISSING);
    char path[256];
    snprintf(path, sizeof path, "%s/sessions/%s", f->dir, f->id);
    assert_false(there(path));
}

static void run_until_gone(struct fixture *f, const char *path)
{
    for (int i = 0; i < 12000 && there(path); i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
        uv_sleep(5);
    }
    assert_false(there(path));
}

static void an_idle_one_expires_with_its_files(void **state)
{
    struct fixture *f = *state;
    cs_session_start(f->s, &f->me, CS_STR(""), 1, f_session, f);
    f_wait(f);
    char path[256], orphan[256];
    snprintf(path, sizeof path, "%s/sessions/%s", f->dir, f->id);
    mkdir(path, 0700);
    snprintf(orphan, sizeof orphan, "%s/sessions/ses_%032d", f->dir, 7);
    mkdir(orphan, 0700);
    write_at(orphan, "lock", 3); /* of a tenant that has no such session */
    uv_sleep(5);
    assert_int_equal(get(f, "a"), CS_MISSING);
    start(f);
    put(f, "a", "1");
    f_close(f);
    f_open(f); /* looks at the start */
    run_until_gone(f, path);
    run_until_gone(f, orphan);
    assert_string_equal(listing(f), "a 1\n");
}

static size_t expire(struct fixture *f)
{
    cs_store_sessions_expire(f->store, cs_time_ms(), f_session, f);
    f_wait(f);
    return f->row.id.len;
}

static void ended(void *ctx, const struct cs_err *err, const unsigned char hash[32])
{
    (void)hash;
    f_stored(ctx, err);
}

static void begun(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                  size_t count)
{
    (void)rows;
    (void)count;
    f_stored(ctx, err);
}

static void one_that_is_used_does_not_expire(void **state)
{
    struct fixture *f = *state;
    cs_session_start(f->s, &f->me, CS_STR(""), 1, f_session, f);
    f_wait(f);
    char id[40];
    snprintf(id, sizeof id, "%s", f->id);
    struct cs_execution_row row = {.id = CS_STR("ex_1"),
                                   .tenant = cs_str(f->me.tenant),
                                   .session = cs_str(id),
                                   .status = CS_STR("running"),
                                   .created = cs_time_ms()};
    cs_store_execution_admit(f->store, &row, NULL, begun, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_OK);
    uv_sleep(5);
    assert_int_equal(expire(f), 0);
    row.status = CS_STR("completed");
    row.finished = cs_time_ms();
    row.envelope = CS_STR("{}");
    cs_store_execution_settle(f->store, &row, NULL, ended, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_OK);
    assert_int_equal(expire(f), 36);
}

/* What a process left behind that died: a durable execution, in its session. */
static void leave_behind(struct fixture *f, const char *execution)
{
    struct cs_execution_row row = {.id = cs_str(execution),
                                   .tenant = cs_str(f->me.tenant),
                                   .session = cs_str(f->id),
                                   .status = CS_STR("running"),
                                   .created = cs_time_ms(),
                                   .durable = true};
    cs_store_execution_admit(f->store, &row, NULL, begun, f);
    f_wait(f);
    cs_store_session_hold(f->store, row.tenant, row.session, row.id, f_stored, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_OK);
}

static void finish_it(struct fixture *f, const char *execution)
{
    struct cs_execution_row row = {.id = cs_str(execution),
                                   .tenant = cs_str(f->me.tenant),
                                   .session = cs_str(f->id),
                                   .status = CS_STR("completed"),
                                   .envelope = CS_STR("{}"),
                                   .finished = cs_time_ms(),
                                   .durable = true};
    cs_store_execution_settle(f->store, &row, NULL, ended, f);
    f_wait(f);
    assert_int_equal(f->err.code, CS_OK);
}

static void a_durable_execution_comes_first_wherever_it_stands_in_the_line(void **state)
{
    struct fixture *f = *state;
    struct wish hasty, first, second, durable;
    start(f);
    leave_behind(f, "ex_1");
    assert_int_equal(hold(&hasty, f, 0), CS_CONFLICT);
    assert_contains(hasty.err.msg, "ex_1");
    ask(&first, f, 5000);
    ask_as(&second, f, "ex_2", 5000);
    run_for(f, 60);
    assert_false(first.done || second.done);
    ask_as(&durable, f, "ex_1", 5000);
    while (!durable.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_int_equal(durable.err.code, CS_OK);
    assert_false(durable.was_released);
    assert_int_equal(release(&durable, "{\"n\":1}"), CS_OK);
    run_for(f, 60);
    assert_false(first.done || second.done); /* it is over, but not on record */
    finish_it(f, "ex_1");
    while (!first.done && !second.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    struct wish *now = first.done ? &first : &second, *then = first.done ? &second : &first;
    assert_string_equal(cs_buf_cstr(&now->state), "{\"n\":1}");
    release(now, "");
    struct cs_execution_row row = {.id = CS_STR("ex_2"),
                                   .tenant = cs_str(f->me.tenant),
                                   .session = cs_str(f->id),
                                   .created = cs_time_ms(),
                                   .durable = true};
    cs_store_execution_admit(f->store, &row, NULL, begun, f);
    f_wait(f);
    if (now == &second)
        finish_it(f, "ex_2");
    while (!then->done)
        uv_run(&f->loop, UV_RUN_ONCE);
    release(then, "");
}

/* Its process died between the session's state and the record of its end. */
static void what_was_released_before_is_not_counted_again(void **state)
{
    struct fixture *f = *state;
    struct wish w;
    start(f);
    leave_behind(f, "ex_1");
    ask_as(&w, f, "ex_1", 1000);
    while (!w.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_int_equal(release(&w, "{\"n\":1}"), CS_OK);
    ask_as(&w, f, "ex_1", 1000);
    while (!w.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_true(w.was_released);
    cs_session_return(w.hold, CS_STR("{\"n\":1}"), w_released, &w);
    while (!w.released)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_int_equal(w.err.code, CS_OK);
    cs_buf_done(&w.state);
    finish_it(f, "ex_1");
    cs_session_look(f->s, &f->me, cs_str(f->id), f_session, f);
    f_wait(f);
    assert_int_equal(f->row.executions, 1);
    assert_state(f, "{\"n\":1}");
}

/* Whoever waits hears of it, whoever is inside can still leave. */
static void closing_lets_nobody_wait(void **state)
{
    struct fixture *f = *state;
    start(f);
    struct wish a, b, c;
    hold(&a, f, 0);
    ask(&b, f, 60000);
    for (int i = 0; i < 20; i++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
    ask(&c, f, 60000);
    unsigned before = f->answers;
    cs_sessions_close(f->s, f_on_closed, f);
    while (!b.done || !c.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    assert_int_equal(b.err.code, CS_SYSTEM);
    assert_int_equal(c.err.code, CS_SYSTEM);
    assert_int_equal(release(&a, "{\"n\":1}"), CS_OK);
    while (f->answers < before + 4)
        uv_run(&f->loop, UV_RUN_ONCE);
    cs_store_close(f->store, f_on_closed, f);
    f_wait(f);
    f_open(f);
    assert_state(f, "{\"n\":1}");
}

#define T(name) CS_TEST_WITH(name, f_set_up, f_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(one_is_started_and_found),
        T(what_cannot_be_started_says_why),
        T(a_tenant_has_only_so_many),
        T(only_the_exact_name_opens_it),
        T(another_tenant_finds_nothing),
        T(state_is_kept_and_counted),
        T(what_is_no_state_is_not_kept),
        T(one_at_a_time_in_their_order),
        T(who_came_first_is_served_first),
        T(who_does_not_wait_is_told_at_once),
        T(two_sessions_do_not_wait_for_each_other),
        T(waiting_can_be_given_up),
        T(another_process_is_waited_for),
        T(a_process_that_dies_holds_nothing),
        T(a_state_that_somebody_changed_is_a_conflict),
        T(files_of_an_execution_take_the_place_of_the_old_ones),
        T(files_beyond_the_quota_are_not_kept),
        T(bad_state_keeps_no_files_either),
        T(a_restart_keeps_everything),
        T(the_end_leaves_nothing),
        T(the_end_is_told_to_who_is_inside_and_who_waits),
        T(an_idle_one_expires_with_its_files),
        T(one_that_is_used_does_not_expire),
        T(a_durable_execution_comes_first_wherever_it_stands_in_the_line),
        T(what_was_released_before_is_not_counted_again),
        T(closing_lets_nobody_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
