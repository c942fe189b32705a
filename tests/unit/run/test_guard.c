/* A program that somebody has to let run: it waits without a turn, and its clock stands still; what
 * is said about it is what happens. With the real sandbox, store and questions. */
#include "way.h"

#include "run/guard.h"

#define RISKY  "const f = new Function('a', 'return a * ' + String(inputs.by)); return f(21)"
#define INPUTS "{\"by\": 2}"

/* What persons hear. */
static struct {
    unsigned asked, over;
    bool is_asked, is_over;
    char id[64], state[16], kind[16];
    struct cs_buf card, text;
} people;

static void on_asked(void *ctx, const struct cs_approval_row *row)
{
    (void)ctx;
    people.asked++;
    people.is_asked = true;
    snprintf(people.id, sizeof people.id, "%.*s", CS_STR_ARG(row->id));
    snprintf(people.kind, sizeof people.kind, "%.*s", CS_STR_ARG(row->kind));
    cs_buf_clear(&people.card);
    cs_buf_putstr(&people.card, row->card);
    cs_buf_clear(&people.text);
    cs_approval_text(row, false, 4000, &people.text);
}

static void on_over(void *ctx, const struct cs_approval_row *row)
{
    (void)ctx;
    people.over++;
    people.is_over = true;
    snprintf(people.state, sizeof people.state, "%.*s", CS_STR_ARG(row->state));
}

static void with_policy(const char *json, struct cs_runner_options o)
{
    struct cs_err err = {0};
    struct cs_policy *policy = NULL;
    if (cs_policy_parse(cs_str(json), "test", &policy, &err) < 0)
        fail_msg("%s", err.msg);
    o.policy = policy;
    open_runner(o);
    cs_policy_unref(policy);
    cs_approvals_watch(world.runner,
                       &(struct cs_approval_watcher){.asked = on_asked, .over = on_over});
}

static void open_store(void)
{
    struct cs_err err = {0};
    if (cs_store_open(&world.loop, path_of("data"), &world.store, &err) < 0)
        fail_msg("%s", err.msg);
}

static int setup(void **state)
{
    (void)state;
    nftw(path_of("data"), clear_path, 8, FTW_DEPTH | FTW_PHYS);
    mkdir(path_of("data"), 0700);
    open_store();
    people.asked = people.over = 0;
    people.is_asked = people.is_over = false;
    return 0;
}

static void close_all(void)
{
    bool closed = false;
    close_runner();
    cs_store_close(world.store, on_closed, &closed);
    until(&closed);
    world.store = NULL;
}

static int teardown(void **state)
{
    (void)state;
    close_all();
    cs_buf_done(&people.card);
    cs_buf_done(&people.text);
    return 0;
}

static struct cs_request risky(void)
{
    struct cs_request r = request_of(RISKY);
    r.inputs = CS_STR(INPUTS);
    return r;
}

static void on_decided(void *ctx, const struct cs_err *err, const struct cs_approval_row *row)
{
    (void)row;
    if (err->code)
        fail_msg("%s", err->msg);
    *(bool *)ctx = true;
}

static void decide(enum cs_approval_answer answer, const char *reason)
{
    bool decided = false;
    struct cs_approval_rules rules = cs_policy_approvals(cs_runner_policy(world.runner));
    struct cs_decision d = {.answer = answer,
                            .reason = cs_str(reason),
                            .who = cs_caller_local(),
                            .channel = "terminal",
                            .person = true};
    cs_approval_decide(world.store, &rules, cs_str(people.id), &d, on_decided, &decided);
    until(&decided);
}

static void begin_waiting(struct play *p, const struct cs_request *request)
{
    people.is_asked = false;
    begin(p, request);
    until(&people.is_asked);
    assert_string_equal(cs_run_phase(p->run), "awaiting_approval");
    assert_false(p->is_done);
}

static void has(const struct cs_buf *text, const char *what)
{
    if (!memmem(text->at, text->len, what, strlen(what)))
        fail_msg("no %s in %.*s", what, (int)text->len, text->at);
}

/* --- */

static void it_waits_without_a_turn_and_runs_when_somebody_says_so(void **state)
{
    (void)state;
    with_policy("{}", (struct cs_runner_options){.most_running = 1});
    struct play p = {0}, other = {0};
    struct cs_request request = risky(), low = request_of("return 'low'");
    request.intent = CS_STR("to double it");
    begin_waiting(&p, &request);
    assert_string_equal(people.kind, "program");
    has(&people.card, "\"code\":\"const f = new Function");
    has(&people.card, "\"inputs_preview\":\"{\\\"by\\\": 2}\"");
    has(&people.card, "\"intent\":\"to double it\"");
    has(&people.text, "HIGH risk: a program asks to run");
    has(&people.text, "const f = new Function");
    /* There is one turn, and this one does not have it. */
    perform(&other, &low);
    assert_string_equal(cs_buf_cstr(&other.value), "\"low\"");
    assert_false(p.is_done);
    decide(CS_APPROVE_ONCE, "");
    until(&p.is_done);
    assert_int_equal(p.status, CS_STATUS_COMPLETED);
    assert_string_equal(cs_buf_cstr(&p.value), "42");
    has(&p.envelope, "\"approved_by\":\"local\"");
    has(&p.envelope, "\"action\":\"ask\"");
    has(&p.envelope, "\"waited_ms\":");
    play_done(&p);
    play_done(&other);
}

static void an_answer_waits_for_a_turn(void **state)
{
    (void)state;
    with_policy("{}", (struct cs_runner_options){.most_running = 1});
    struct play p = {0}, other = {0};
    struct cs_request request = risky();
    struct cs_request slow = request_of("await new Promise((r) => setTimeout(r, 400)); return 1");
    begin_waiting(&p, &request);
    begin(&other, &slow);
    decide(CS_APPROVE_ONCE, "");
    until(&p.is_done);
    assert_true(other.is_done && other.order < p.order);
    assert_int_equal(p.status, CS_STATUS_COMPLETED);
    play_done(&p);
    play_done(&other);
}

static void a_denial_is_the_end_of_it(void **state)
{
    (void)state;
    with_policy("{}", (struct cs_runner_options){0});
    struct play p = {0};
    struct cs_request request = risky();
    begin_waiting(&p, &request);
    decide(CS_APPROVE_DENY, "not on a Monday");
    until(&p.is_done);
    assert_int_equal(p.status, CS_STATUS_DENIED);
    assert_int_equal(p.error, CS_ERROR_PERMISSION);
    has(&p.message, "not approved by local: not on a Monday");
    play_done(&p);
}

static void on_passed(uv_timer_t *t)
{
    *(bool *)t->data = true;
}

static void pass(unsigned ms)
{
    bool passed = false;
    uv_timer_t t;
    uv_timer_init(&world.loop, &t);
    t.data = &passed;
    uv_timer_start(&t, on_passed, ms, 0);
    until(&passed);
    uv_close((uv_handle_t *)&t, NULL);
    uv_run(&world.loop, UV_RUN_NOWAIT);
}

static void its_wall_clock_stands_still(void **state)
{
    (void)state;
    with_policy("{}", (struct cs_runner_options){0});
    struct play p = {0};
    struct cs_request request = risky();
    request.limits.wall_clock = 400;
    begin_waiting(&p, &request);
    pass(900);
    assert_false(p.is_done);
    decide(CS_APPROVE_ONCE, "");
    until(&p.is_done);
    assert_int_equal(p.status, CS_STATUS_COMPLETED);
    play_done(&p);
}

static void what_is_cancelled_asks_nobody_any_more(void **state)
{
    (void)state;
    with_policy("{}", (struct cs_runner_options){0});
    struct play p = {0};
    struct cs_request request = risky();
    begin_waiting(&p, &request);
    people.is_over = false;
    cs_run_cancel(p.run);
    until(&p.is_done);
    assert_int_equal(p.status, CS_STATUS_CANCELLED);
    assert_true(people.is_over);
    play_done(&p);
}

static void a_policy_refuses_it_and_says_by_which_rule(void **state)
{
    (void)state;
    with_policy("{\"risk\": {\"then\": {\"HIGH\": \"deny\"}}}", (struct cs_runner_options){0});
    struct play p = {0};
    struct cs_request request = risky();
    perform(&p, &request);
    assert_int_equal(people.asked, 0);
    assert_int_equal(p.status, CS_STATUS_DENIED);
    assert_int_equal(p.error, CS_ERROR_PERMISSION);
    has(&p.message, "risk.then.HIGH");
    has(&p.message, "line 1");
    play_done(&p);
}

static void a_guest_waits_before_it_is_started(void **state)
{
    (void)state;
    with_policy("{\"risk\": {\"then\": {\"MEDIUM\": \"ask\"}}}",
                (struct cs_runner_options){.most_running = 1});
    struct play p = {0}, no = {0}, gone = {0};
    struct cs_request request = request_of("echo $((6 * 7))");
    request.language = CS_BASH;
    begin_waiting(&p, &request);
    decide(CS_APPROVE_ONCE, "");
    until(&p.is_done);
    assert_string_equal(cs_buf_cstr(&p.value), "\"42\"");
    begin_waiting(&no, &request);
    decide(CS_APPROVE_DENY, "no shells");
    until(&no.is_done);
    assert_int_equal(no.status, CS_STATUS_DENIED);
    assert_int_equal(no.error, CS_ERROR_PERMISSION);
    has(&no.message, "no shells");
    begin_waiting(&gone, &request);
    cs_run_cancel(gone.run);
    until(&gone.is_done);
    assert_int_equal(gone.status, CS_STATUS_CANCELLED);
    play_done(&p);
    play_done(&no);
    play_done(&gone);
}

static void set_policy(const char *json)
{
    struct cs_err err = {0};
    struct cs_policy *policy = NULL;
    if (cs_policy_parse(cs_str(json), "test", &policy, &err) < 0)
        fail_msg("%s", err.msg);
    cs_runner_set_policy(world.runner, policy);
    cs_policy_unref(policy);
}

static void what_holds_when_it_begins_counts(void **state)
{
    (void)state;
    with_policy("{}", (struct cs_runner_options){0});
    struct play p = {0};
    struct cs_request request = risky();
    begin_waiting(&p, &request);
    set_policy("{\"risk\": {\"then\": {\"HIGH\": \"deny\"}}}");
    decide(CS_APPROVE_ONCE, "");
    until(&p.is_done);
    assert_int_equal(p.status, CS_STATUS_DENIED);
    has(&p.message, "risk.then.HIGH");
    play_done(&p);
}

static void a_program_that_is_allowed_always_is_not_asked_about(void **state)
{
    (void)state;
    with_policy("{}", (struct cs_runner_options){0});
    struct play p = {0}, again = {0}, changed = {0};
    struct cs_request request = risky(), other = risky();
    begin_waiting(&p, &request);
    decide(CS_APPROVE_PROGRAM, "");
    until(&p.is_done);
    request.inputs = CS_STR("{\"by\": 3}"); /* with any inputs */
    perform(&again, &request);
    assert_int_equal(people.asked, 1);
    assert_string_equal(cs_buf_cstr(&again.value), "63");
    other.code = CS_STR(RISKY " + 1");
    begin_waiting(&changed, &other);
    assert_int_equal(people.asked, 2);
    decide(CS_APPROVE_DENY, "");
    until(&changed.is_done);
    play_done(&p);
    play_done(&again);
    play_done(&changed);
}

static void nothing_that_needed_a_person_is_cached(void **state)
{
    (void)state;
    with_policy("{}", (struct cs_runner_options){.cache_bytes = 1 << 20});
    struct play p = {0}, again = {0};
    struct cs_request request = risky();
    begin_waiting(&p, &request);
    decide(CS_APPROVE_ONCE, "");
    until(&p.is_done);
    begin_waiting(&again, &request);
    decide(CS_APPROVE_DENY, "once was enough");
    until(&again.is_done);
    assert_int_equal(again.status, CS_STATUS_DENIED);
    play_done(&p);
    play_done(&again);
}

static void without_a_store_nobody_can_be_asked(void **state)
{
    (void)state;
    struct cs_store *store = CS_TAKE(world.store);
    with_policy("{}", (struct cs_runner_options){0});
    struct play p = {0};
    struct cs_request request = risky();
    perform(&p, &request);
    assert_int_equal(p.status, CS_STATUS_DENIED);
    has(&p.message, "was not approved");
    play_done(&p);
    world.store = store;
}

/* --- across a restart --- */

static void restart(void)
{
    close_all();
    open_store();
    with_policy("{}", (struct cs_runner_options){0});
}

struct found {
    bool is_done;
    struct cs_buf status, envelope;
};

static void on_found(void *ctx, const struct cs_err *err, const struct cs_execution_row *rows,
                     size_t count)
{
    struct found *f = ctx;
    f->is_done = true;
    if (err->code || !count)
        return;
    cs_buf_clear(&f->status);
    cs_buf_clear(&f->envelope);
    cs_buf_putstr(&f->status, rows->status);
    cs_buf_putstr(&f->envelope, rows->envelope);
}

static void look_up(const char *id, struct found *f)
{
    f->is_done = false;
    cs_store_execution_get(world.store, CS_STR("default"), cs_str(id), on_found, f);
    until(&f->is_done);
}

static void settled(const char *id, struct found *f)
{
    for (unsigned i = 0; i < 400; i++) {
        look_up(id, f);
        if (f->envelope.len)
            return;
        pass(25);
    }
    fail_msg("it is not settled");
}

static void left_while_it_waits(char first[64], char id[36])
{
    struct play p = {0};
    struct cs_request request = risky();
    request.durable = true;
    begin_waiting(&p, &request);
    snprintf(first, 64, "%s", people.id);
    people.is_over = false;
    cs_runner_leave_asking(world.runner);
    until(&p.is_done);
    assert_int_equal(p.refused, CS_BUSY);
    memcpy(id, p.id, sizeof p.id);
    struct found f = {0};
    look_up(id, &f);
    assert_string_equal(cs_buf_cstr(&f.status), "awaiting_approval");
    cs_buf_done(&f.status);
    cs_buf_done(&f.envelope);
    play_done(&p);
}

static void a_durable_one_asks_the_same_after_a_restart(void **state)
{
    (void)state;
    char first[64], id[36];
    struct found f = {0};
    with_policy("{}", (struct cs_runner_options){0});
    left_while_it_waits(first, id);
    restart();
    people.is_asked = false;
    cs_runner_resume(world.runner);
    until(&people.is_asked);
    assert_string_equal(people.id, first);
    decide(CS_APPROVE_ONCE, "");
    settled(id, &f);
    assert_string_equal(cs_buf_cstr(&f.status), "completed");
    has(&f.envelope, "\"result\":42");
    cs_buf_done(&f.status);
    cs_buf_done(&f.envelope);
}

static void an_answer_that_came_in_between_counts(void **state)
{
    (void)state;
    char first[64], id[36];
    struct found f = {0};
    with_policy("{}", (struct cs_runner_options){0});
    left_while_it_waits(first, id);
    decide(CS_APPROVE_DENY, "while you were away");
    restart();
    cs_runner_resume(world.runner);
    settled(id, &f);
    assert_string_equal(cs_buf_cstr(&f.status), "denied");
    has(&f.envelope, "while you were away");
    cs_buf_done(&f.status);
    cs_buf_done(&f.envelope);
}

/* The policy of the next process would let it run: somebody was asked, so somebody answers. */
static void who_was_asked_answers(void **state)
{
    (void)state;
    char first[64], id[36];
    struct found f = {0};
    with_policy("{}", (struct cs_runner_options){0});
    left_while_it_waits(first, id);
    close_all();
    open_store();
    with_policy("{\"risk\": {\"then\": {\"HIGH\": \"allow\"}}}", (struct cs_runner_options){0});
    people.is_asked = false;
    cs_runner_resume(world.runner);
    until(&people.is_asked);
    assert_string_equal(people.id, first);
    decide(CS_APPROVE_DENY, "still no");
    settled(id, &f);
    assert_string_equal(cs_buf_cstr(&f.status), "denied");
    cs_buf_done(&f.status);
    cs_buf_done(&f.envelope);
}

/* --- */

static void one_that_is_not_risky_is_not_asked_about(void **state)
{
    (void)state;
    with_policy("{}", (struct cs_runner_options){0});
    struct play p = {0};
    struct cs_request request = request_of("return [1, 2].map((n) => n * 2)");
    perform(&p, &request);
    assert_int_equal(people.asked, 0);
    assert_string_equal(cs_buf_cstr(&p.value), "[2,4]");
    has(&p.envelope, "\"action\":\"allow\"");
    play_done(&p);
}

int main(int argc, char **argv)
{
    int role = play_role(argc, argv);
    if (role >= 0)
        return role;
    const struct CMUnitTest tests[] = {
        CS_TEST_WITH(one_that_is_not_risky_is_not_asked_about, setup, teardown),
        CS_TEST_WITH(it_waits_without_a_turn_and_runs_when_somebody_says_so, setup, teardown),
        CS_TEST_WITH(an_answer_waits_for_a_turn, setup, teardown),
        CS_TEST_WITH(a_denial_is_the_end_of_it, setup, teardown),
        CS_TEST_WITH(its_wall_clock_stands_still, setup, teardown),
        CS_TEST_WITH(what_is_cancelled_asks_nobody_any_more, setup, teardown),
        CS_TEST_WITH(a_policy_refuses_it_and_says_by_which_rule, setup, teardown),
        CS_TEST_WITH(a_guest_waits_before_it_is_started, setup, teardown),
        CS_TEST_WITH(what_holds_when_it_begins_counts, setup, teardown),
        CS_TEST_WITH(a_program_that_is_allowed_always_is_not_asked_about, setup, teardown),
        CS_TEST_WITH(nothing_that_needed_a_person_is_cached, setup, teardown),
        CS_TEST_WITH(without_a_store_nobody_can_be_asked, setup, teardown),
        CS_TEST_WITH(a_durable_one_asks_the_same_after_a_restart, setup, teardown),
        CS_TEST_WITH(an_answer_that_came_in_between_counts, setup, teardown),
        CS_TEST_WITH(who_was_asked_answers, setup, teardown),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
