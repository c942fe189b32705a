/* Questions to persons: asked, answered from here or elsewhere, used once, expired, withdrawn; and
 * who may answer what. Runs and runners are bare: nothing of them is needed but who they are. */
#include "store/fixture.h"

#include "policy/inside.h"
#include "run/guard.h"

#define CARD                                                                                     \
    "{\"why\":\"it is risky\",\"answers\":[\"once\",\"session\",\"program\",\"tool\",\"deny\"]," \
    "\"call\":{\"server\":\"mail\",\"tool\":\"send\",\"definition_hash\":\"%s\","                \
    "\"arguments\":{\"to\":\"a@b.c\",\"text\":\"hello\"},\"standing\":\"changed\"}}"

struct world {
    struct fixture f;
    struct cs_runner runner;
    struct cs_run run;
    struct cs_policy *policy;
    struct cs_buf card;
    /* a question */
    struct cs_question *question;
    unsigned dones, asked, over;
    bool approved, was_asked;
    char reason[600], by[65], id[64], state[16];
    /* an answer */
    bool decided;
    struct cs_err err;
    char stands[16];
    struct cs_buf json;
};

static const struct cs_tool send_tool = {
    .server = CS_STR("mail"), .name = CS_STR("send"), .definition = CS_STR("{\"name\": \"send\"}")};

static void on_asked(void *ctx, const struct cs_approval_row *row)
{
    struct world *w = ctx;
    w->asked++;
    snprintf(w->id, sizeof w->id, "%.*s", CS_STR_ARG(row->id));
}

static void on_over(void *ctx, const struct cs_approval_row *row)
{
    struct world *w = ctx;
    w->over++;
    snprintf(w->state, sizeof w->state, "%.*s", CS_STR_ARG(row->state));
}

static void open_runner(struct world *w)
{
    f_open(&w->f);
    cs_store_set_chain(w->f.store, &f_chain);
    w->runner.loop = &w->f.loop;
    w->runner.store = w->f.store;
    cs_approvals_open(&w->runner);
    cs_approvals_watch(&w->runner,
                       &(struct cs_approval_watcher){.asked = on_asked, .over = on_over, .ctx = w});
}

static void close_runner(struct world *w)
{
    cs_approvals_close(&w->runner);
    f_close(&w->f);
}

static struct world *world_new(const char *dir)
{
    struct world *w = CS_NEW(struct world);
    if (dir)
        snprintf(w->f.dir, sizeof w->f.dir, "%s", dir);
    else
        strcpy(w->f.dir, "/tmp/caisson-store-XXXXXX");
    if (!dir)
        assert_non_null(mkdtemp(w->f.dir));
    uv_loop_init(&w->f.loop);
    w->run = (struct cs_run){
        .runner = &w->runner,
        .tenant = CS_STR("default"),
        .principal = CS_STR("ann"),
        .request = {.session = CS_STR("s1")},
        .result = {.execution_id = "exec_1", .provenance = {.actor_type = CS_STR("key")}}};
    struct cs_err err = {0};
    assert_int_equal(cs_policy_parse(CS_STR("{}"), "test", &w->policy, &err), 0);
    w->run.policy = w->policy;
    unsigned char hash[32];
    char hex[65];
    cs_tool_definition_hash(&send_tool, hash);
    cs_hex(hash, 32, hex);
    cs_buf_printf(&w->card, CARD, hex);
    open_runner(w);
    return w;
}

static void world_free(struct world *w)
{
    close_runner(w);
    assert_int_equal(uv_loop_close(&w->f.loop), 0);
    cs_trail_done(&w->run);
    cs_seats_free(&w->run);
    cs_arena_done(&w->f.arena);
    cs_policy_unref(w->policy);
    cs_buf_done(&w->card);
    cs_buf_done(&w->json);
    free(w);
}

static int setup(void **state)
{
    *state = world_new(NULL);
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    char dir[64];
    memcpy(dir, w->f.dir, sizeof dir);
    world_free(w);
    cs_dir_remove(AT_FDCWD, dir);
    return 0;
}

/* --- asking --- */

static void on_done(void *ctx, const struct cs_question_end *end)
{
    struct world *w = ctx;
    w->dones++;
    w->question = NULL;
    w->approved = end->approved;
    w->was_asked = end->asked;
    snprintf(w->reason, sizeof w->reason, "%.*s", CS_STR_ARG(end->reason));
    snprintf(w->by, sizeof w->by, "%.*s", CS_STR_ARG(end->by));
}

static struct cs_question_want want(struct world *w, char binding)
{
    struct cs_question_want q = {.run = &w->run,
                                 .risk = CS_RISK_HIGH,
                                 .why = CS_STR("it is risky"),
                                 .rule = CS_STR("risk.then.HIGH"),
                                 .card = cs_buf_str(&w->card)};
    memset(q.binding, binding, sizeof q.binding);
    memset(q.scope, binding + 1, sizeof q.scope);
    return q;
}

static void ask_as(struct world *w, const struct cs_question_want *q)
{
    unsigned before = w->dones;
    w->question = cs_question_ask(q, on_done, w);
    assert_non_null(w->question);
    assert_int_equal(w->dones, before); /* never before it has returned */
}

static void until_asked(struct world *w, unsigned n)
{
    while (w->asked < n)
        uv_run(&w->f.loop, UV_RUN_ONCE);
}

static void until_done(struct world *w, unsigned n)
{
    while (w->dones < n)
        uv_run(&w->f.loop, UV_RUN_ONCE);
}

static void ask(struct world *w, char binding)
{
    struct cs_question_want q = want(w, binding);
    unsigned asked = w->asked;
    ask_as(w, &q);
    until_asked(w, asked + 1);
}

/* No person is needed. */
static void ask_known(struct world *w, const struct cs_question_want *q)
{
    unsigned dones = w->dones, asked = w->asked;
    ask_as(w, q);
    until_done(w, dones + 1);
    assert_int_equal(w->asked, asked);
    assert_false(w->was_asked);
}

/* --- answering --- */

static void on_decided(void *ctx, const struct cs_err *err, const struct cs_approval_row *row)
{
    struct world *w = ctx;
    w->decided = true;
    w->err = *err;
    snprintf(w->stands, sizeof w->stands, "%.*s", row ? (int)row->state.len : 0,
             row ? row->state.at : "");
    cs_buf_clear(&w->json);
    if (row)
        cs_approval_json(row, true, &w->json);
}

static struct cs_decision by_key(const char *name, enum cs_approval_answer answer)
{
    struct cs_decision d = {.answer = answer, .channel = "rest"};
    snprintf(d.who.principal, sizeof d.who.principal, "%s", name);
    snprintf(d.who.tenant, sizeof d.who.tenant, "default");
    snprintf(d.who.key_id, sizeof d.who.key_id, "key_of_%s", name);
    d.who.role = CS_KEY_APPROVE;
    return d;
}

static struct cs_decision by_person(enum cs_approval_answer answer)
{
    return (struct cs_decision){
        .answer = answer, .channel = "terminal", .who = cs_caller_local(), .person = true};
}

static int decide(struct world *w, const char *id, const struct cs_decision *d)
{
    struct cs_approval_rules rules = cs_policy_approvals(w->policy);
    w->decided = false;
    cs_approval_decide(w->f.store, &rules, cs_str(id), d, on_decided, w);
    assert_false(w->decided);
    while (!w->decided)
        uv_run(&w->f.loop, UV_RUN_ONCE);
    return (int)w->err.code;
}

static int answer(struct world *w, const char *name, enum cs_approval_answer answer)
{
    struct cs_decision d = by_key(name, answer);
    return decide(w, w->id, &d);
}

#define assert_says(w, got, code, text)      \
    do {                                     \
        assert_int_equal(got, code);         \
        assert_contains((w)->err.msg, text); \
    } while (0)

/* --- the tests --- */

static void an_approval_lets_it_go_on_once(void **state)
{
    struct world *w = *state;
    ask(w, 1);
    assert_int_equal(w->dones, 0);
    assert_int_equal(answer(w, "bob", CS_APPROVE_ONCE), CS_OK);
    until_done(w, 1);
    assert_true(w->approved && w->was_asked);
    assert_string_equal(w->by, "bob");
    assert_int_equal(w->over, 1);
    assert_string_equal(w->state, "approved");
    assert_string_equal(f_sql(&w->f, "SELECT used FROM approvals"), "1");
    ask(w, 1); /* the same again: asked again */
    assert_int_equal(w->dones, 1);
    cs_question_drop(w->question, false);
}

static void a_denial_gives_its_reason(void **state)
{
    struct world *w = *state;
    char longest[900];
    memset(longest, 'n', sizeof longest);
    struct cs_decision d = by_key("bob", CS_APPROVE_DENY);
    d.reason = cs_strn(longest, sizeof longest);
    ask(w, 1);
    assert_says(w, decide(w, w->id, &d), CS_INVALID, "900 bytes; at most 500");
    d.reason.len = 500;
    assert_int_equal(decide(w, w->id, &d), CS_OK);
    until_done(w, 1);
    assert_false(w->approved);
    assert_int_equal(strlen(w->reason), 500);
    /* What was denied a moment ago is not asked again and again. */
    struct cs_question_want q = want(w, 1);
    ask_known(w, &q);
    assert_false(w->approved);
    ask(w, 5);
    assert_int_equal(answer(w, "bob", CS_APPROVE_DENY), CS_OK);
    until_done(w, 3);
    assert_string_equal(w->reason, "a person said no");
}

static void it_is_heard_at_once_in_the_same_process(void **state)
{
    struct world *w = *state;
    ask(w, 1);
    int64_t start = cs_tick_ms();
    answer(w, "bob", CS_APPROVE_ONCE);
    until_done(w, 1);
    assert_true(cs_tick_ms() - start < 200);
}

static void and_soon_in_another(void **state)
{
    struct world *w = *state, *other = world_new(w->f.dir);
    ask(w, 1);
    strcpy(other->id, w->id);
    assert_int_equal(answer(other, "bob", CS_APPROVE_ONCE), CS_OK);
    int64_t start = cs_tick_ms();
    until_done(w, 1);
    assert_true(w->approved);
    assert_true(cs_tick_ms() - start < 1500);
    world_free(other);
}

static void two_approvers_one_is_told_how_it_stands(void **state)
{
    struct world *w = *state;
    ask(w, 1);
    struct cs_decision d = by_key("bob", CS_APPROVE_DENY), e = by_key("eve", CS_APPROVE_ONCE);
    struct cs_approval_rules rules = cs_policy_approvals(w->policy);
    cs_approval_decide(w->f.store, &rules, cs_str(w->id), &d, NULL, NULL);
    assert_says(w, decide(w, w->id, &e), CS_CONFLICT, "denied by bob already");
    assert_string_equal(w->stands, "denied");
    assert_contains(cs_buf_cstr(&w->json), "\"by\":\"bob\"");
    until_done(w, 1);
    assert_false(w->approved);
    assert_says(w, answer(w, "eve", CS_APPROVE_ONCE), CS_CONFLICT, "denied by bob already");
    assert_string_equal(w->stands, "denied");
}

static void nobody_answers_and_that_is_a_denial(void **state)
{
    struct world *w = *state;
    w->policy->approvals.timeout_s = 1;
    int64_t start = cs_tick_ms();
    ask(w, 1);
    until_done(w, 1);
    assert_false(w->approved);
    assert_string_equal(w->reason, "nobody answered within 1 s");
    assert_true(cs_tick_ms() - start >= 990);
    assert_string_equal(f_sql(&w->f, "SELECT state FROM approvals"), "expired");
    assert_string_equal(
        f_sql(&w->f, "SELECT count(*) FROM ledger WHERE event = 'approval.expired'"), "1");
    assert_says(w, answer(w, "bob", CS_APPROVE_ONCE), CS_CONFLICT, "expired already");
}

static void a_durable_one_waits_for_a_day(void **state)
{
    struct world *w = *state;
    w->run.request.durable = true;
    ask(w, 1);
    assert_string_equal(f_sql(&w->f, "SELECT (expires - created) / 3600000 FROM approvals"), "24");
    cs_question_drop(w->question, false);
}

static void what_is_dropped_is_withdrawn(void **state)
{
    struct world *w = *state;
    ask(w, 1);
    cs_question_drop(w->question, false);
    assert_int_equal(w->over, 1);
    assert_string_equal(w->state, "withdrawn");
    assert_says(w, answer(w, "bob", CS_APPROVE_ONCE), CS_CONFLICT, "withdrawn already");
    assert_int_equal(w->dones, 0);
    /* Also if it was not even stored yet. */
    struct cs_question_want q = want(w, 2);
    ask_as(w, &q);
    cs_question_drop(w->question, false);
    close_runner(w);
    assert_string_equal(f_sql(&w->f, "SELECT count(*) FROM approvals WHERE state = 'pending'"),
                        "0");
    open_runner(w);
}

static void one_that_leaves_is_found_again_by_the_next_process(void **state)
{
    struct world *w = *state;
    w->run.request.durable = true;
    ask(w, 1);
    char id[64];
    memcpy(id, w->id, sizeof id);
    cs_question_drop(w->question, true);
    close_runner(w);
    open_runner(w);
    ask(w, 1);
    assert_string_equal(w->id, id);
    cs_question_drop(w->question, true);
    close_runner(w);
    open_runner(w);
    /* Answered while nobody waited. */
    assert_int_equal(answer(w, "bob", CS_APPROVE_ONCE), CS_OK);
    close_runner(w);
    open_runner(w);
    struct cs_question_want q = want(w, 1);
    ask_known(w, &q);
    assert_true(w->approved);
    assert_string_equal(f_sql(&w->f, "SELECT count(*) || ' ' || sum(used) FROM approvals"), "1 1");
}

static void two_that_ask_the_same_are_two(void **state)
{
    struct world *w = *state;
    struct cs_question_want q = want(w, 1);
    ask(w, 1);
    ask_as(w, &q);
    until_asked(w, 2);
    char first[64];
    memcpy(first, w->id, sizeof first);
    assert_int_equal(answer(w, "bob", CS_APPROVE_ONCE), CS_OK);
    until_asked(w, 3); /* the one that came too late */
    assert_int_equal(w->dones, 1);
    assert_true(w->approved);
    assert_string_not_equal(w->id, first);
    assert_int_equal(answer(w, "bob", CS_APPROVE_DENY), CS_OK);
    until_done(w, 2);
    assert_false(w->approved);
}

static void a_tenant_cannot_flood_people(void **state)
{
    struct world *w = *state;
    w->policy->approvals.most_waiting = 1;
    ask(w, 1);
    struct cs_question *open = w->question;
    struct cs_question_want q = want(w, 2);
    ask_known(w, &q);
    assert_false(w->approved);
    assert_contains(w->reason, "1 questions wait");
    cs_question_drop(open, false);
}

static void without_a_store_nobody_can_be_asked(void **state)
{
    struct world *w = *state;
    struct cs_question_want q = want(w, 1);
    w->runner.store = NULL;
    ask_known(w, &q);
    assert_false(w->approved);
    assert_contains(w->reason, "nobody can be asked");
    w->runner.store = w->f.store;
}

/* --- who may answer --- */

static void who_may_answer(void **state)
{
    struct world *w = *state;
    struct cs_decision d = by_key("bob", CS_APPROVE_ONCE);
    ask(w, 1);
    d.who.role = CS_KEY_EXECUTE;
    assert_says(w, decide(w, w->id, &d), CS_DENIED, "role approve");
    d = by_key("ann", CS_APPROVE_ONCE); /* it asked itself */
    d.who.role = CS_KEY_ADMIN;
    assert_says(w, decide(w, w->id, &d), CS_DENIED, "asked for itself");
    w->policy->approvals.four_eyes_off = true;
    assert_says(w, decide(w, w->id, &d), CS_DENIED, "asked for itself");
    d = by_key("bob", CS_APPROVE_ONCE);
    strcpy(d.who.tenant, "other");
    assert_int_equal(decide(w, w->id, &d), CS_MISSING);
    assert_int_equal(answer(w, "bob", CS_APPROVE_ONCE), CS_OK);
    until_done(w, 1);
    /* To take it back is nobody's harm. */
    ask(w, 2);
    assert_int_equal(answer(w, "ann", CS_APPROVE_DENY), CS_OK);
    until_done(w, 2);
}

/* The asker is "local": the person at the terminal, or an agent that they let in. */
static int local_answers(struct world *w, enum cs_risk risk, const char *actor, const char *channel)
{
    static char next = 20;
    struct cs_question_want q = want(w, next++);
    struct cs_decision d = by_person(CS_APPROVE_ONCE);
    unsigned asked = w->asked, dones = w->dones;
    d.channel = channel;
    q.risk = risk;
    w->run.principal = CS_STR("local");
    w->run.result.provenance.actor_type = cs_str(actor);
    ask_as(w, &q);
    until_asked(w, asked + 1);
    int code = decide(w, w->id, &d);
    if (code == CS_OK)
        until_done(w, dones + 1);
    else
        cs_question_drop(w->question, false);
    return code;
}

static void four_eyes(void **state)
{
    struct world *w = *state;
    assert_int_equal(local_answers(w, CS_RISK_HIGH, "local", "terminal"), CS_OK);
    assert_int_equal(local_answers(w, CS_RISK_HIGH, "agent", "mcp"), CS_OK);
    assert_says(w, local_answers(w, CS_RISK_CRITICAL, "local", "terminal"), CS_DENIED, "CRITICAL");
    assert_int_equal(local_answers(w, CS_RISK_CRITICAL, "agent", "terminal"), CS_OK);
    assert_int_equal(local_answers(w, CS_RISK_CRITICAL, "agent", "mcp"), CS_DENIED);
    w->policy->approvals.four_eyes = CS_RISK_HIGH;
    assert_int_equal(local_answers(w, CS_RISK_HIGH, "local", "terminal"), CS_DENIED);
    assert_int_equal(local_answers(w, CS_RISK_HIGH, "agent", "terminal"), CS_OK);
    w->policy->approvals.four_eyes_off = true;
    assert_int_equal(local_answers(w, CS_RISK_CRITICAL, "local", "terminal"), CS_OK);
}

/* --- what an answer is good for --- */

static void the_same_program_always(void **state)
{
    struct world *w = *state;
    ask(w, 1);
    assert_int_equal(answer(w, "bob", CS_APPROVE_PROGRAM), CS_OK);
    until_done(w, 1);
    struct cs_question_want q = want(w, 1);
    memset(q.binding, 77, sizeof q.binding); /* other inputs */
    w->run.request.session = CS_STR("s2");
    strcpy(w->run.result.execution_id, "exec_2");
    ask_known(w, &q);
    assert_true(w->approved);
    assert_string_equal(w->by, "bob");
    /* Not of somebody else, not another program, not if it is worse by now, and not what is asked
     * about each time. */
    w->run.principal = CS_STR("eve");
    ask_as(w, &q);
    until_asked(w, 2);
    cs_question_drop(w->question, false);
    w->run.principal = CS_STR("ann");
    w->run.result.provenance.actor_type = CS_STR("agent");
    ask_as(w, &q);
    until_asked(w, 3);
    cs_question_drop(w->question, false);
    w->run.result.provenance.actor_type = CS_STR("key");
    q.risk = CS_RISK_CRITICAL;
    ask_as(w, &q);
    until_asked(w, 4);
    cs_question_drop(w->question, false);
    q.risk = CS_RISK_HIGH;
    q.once = true;
    ask_as(w, &q);
    until_asked(w, 5);
    cs_question_drop(w->question, false);
    ask(w, 3);
    cs_question_drop(w->question, false);
}

static void a_program_in_its_session(void **state)
{
    struct world *w = *state;
    struct cs_question_want q = want(w, 1);
    ask(w, 1);
    assert_int_equal(answer(w, "bob", CS_APPROVE_SESSION), CS_OK);
    until_done(w, 1);
    ask_known(w, &q);
    assert_true(w->approved);
    w->run.request.session = CS_STR("s2");
    ask(w, 1);
    cs_question_drop(w->question, false);
    w->run.request.session = CS_STR("");
    ask(w, 2);
    assert_says(w, answer(w, "bob", CS_APPROVE_SESSION), CS_INVALID, "no session");
    assert_says(w, answer(w, "bob", CS_APPROVE_TOOL), CS_INVALID, "not a tool");
    cs_question_drop(w->question, false);
}

static unsigned reasons = CS_WHY_POLICY;

/* A call of the tool; `definition` NULL: as it was. */
static unsigned call_asks(struct world *w, const char *arguments, const char *definition)
{
    static char next = 60;
    struct cs_tool tool = send_tool;
    struct cs_gate_call call = {.run = &w->run, .tool = &tool};
    struct cs_question_want q = want(w, next);
    unsigned asked = w->asked, dones = w->dones;
    next += 2;
    if (definition)
        tool.definition = cs_str(definition);
    cs_buf_puts(&call.arguments, arguments);
    q.call = &call;
    q.reasons = reasons;
    ask_as(w, &q);
    while (w->asked == asked && w->dones == dones)
        uv_run(&w->f.loop, UV_RUN_ONCE);
    cs_buf_done(&call.arguments);
    return w->asked - asked;
}

static void a_tool_with_such_arguments_until_a_date(void **state)
{
    struct world *w = *state;
    struct cs_decision d = by_key("bob", CS_APPROVE_TOOL);
    assert_int_equal(call_asks(w, "{\"to\":\"a@b.c\",\"text\":\"one\"}", NULL), 1);
    d.arguments = CS_STR("{\"to\": \"a@b.c\"}");
    d.until = cs_time_ms() - 1;
    assert_says(w, decide(w, w->id, &d), CS_INVALID, "date is over");
    d.until = cs_time_ms() + 1000LL * 86400 * 400;
    assert_says(w, decide(w, w->id, &d), CS_INVALID, "a year");
    d.until = cs_time_ms() + 5000;
    d.arguments = CS_STR("[1]");
    assert_says(w, decide(w, w->id, &d), CS_INVALID, "JSON object");
    d.arguments = CS_STR("{");
    assert_int_equal(decide(w, w->id, &d), CS_INVALID);
    d.arguments = CS_STR("{\"to\": \"a@b.c\"}");
    assert_int_equal(decide(w, w->id, &d), CS_OK);
    until_done(w, 1);
    assert_int_equal(call_asks(w, "{\"text\":\"two\", \"to\" : \"a@b.\\u0063\"}", NULL), 0);
    assert_true(w->approved);
    w->run.request.session = CS_STR("s2");
    assert_int_equal(call_asks(w, "{\"to\":\"a@b.c\"}", NULL), 0);
    assert_int_equal(call_asks(w, "{\"to\":\"a@b.d\",\"text\":\"one\"}", NULL), 1);
    cs_question_drop(w->question, false);
    assert_int_equal(call_asks(w, "{\"text\":\"one\"}", NULL), 1);
    cs_question_drop(w->question, false);
    assert_int_equal(call_asks(w, "{\"to\":\"a@b.c\"}", "{\"name\":\"send\",\"x\":1}"), 1);
    cs_question_drop(w->question, false);
    f_sql(&w->f, "UPDATE grants SET expires = 5");
    assert_int_equal(call_asks(w, "{\"to\":\"a@b.c\"}", NULL), 1);
    cs_question_drop(w->question, false);
}

static void a_tool_with_exactly_these(void **state)
{
    struct world *w = *state;
    const char *exact = "{\"to\":\"a@b.c\",\"text\":\"hello\"}";
    call_asks(w, exact, NULL);
    assert_int_equal(answer(w, "bob", CS_APPROVE_SESSION), CS_OK);
    until_done(w, 1);
    assert_int_equal(call_asks(w, exact, NULL), 0);
    assert_int_equal(call_asks(w, "{\"to\":\"a@b.c\",\"text\":\"bye\"}", NULL), 1);
    cs_question_drop(w->question, false);
    assert_int_equal(call_asks(w, "{\"to\":\"a@b.c\",\"text\":\"hello\",\"cc\":1}", NULL), 1);
    cs_question_drop(w->question, false);
    w->run.request.session = CS_STR("s2");
    assert_int_equal(call_asks(w, exact, NULL), 1);
    cs_question_drop(w->question, false);
}

static void a_grant_is_for_why_it_was_asked(void **state)
{
    struct world *w = *state;
    const char *exact = "{\"to\":\"a@b.c\",\"text\":\"hello\"}";
    static const char flows[] = ",\"flows\":[{\"from\":\"crm/find\",\"to\":\"mail/send\","
                                "\"labels\":[\"private\"],\"data\":[\"EMAIL x %d\"]}]}";
    reasons = CS_WHY_POLICY | CS_WHY_FLOW;
    w->card.len--;
    size_t len = w->card.len;
    cs_buf_printf(&w->card, flows, 2);
    call_asks(w, exact, NULL);
    assert_int_equal(answer(w, "bob", CS_APPROVE_TOOL), CS_OK);
    until_done(w, 1);
    assert_int_equal(call_asks(w, exact, NULL), 0);
    reasons = CS_WHY_FLOW;
    assert_int_equal(call_asks(w, exact, NULL), 0);
    reasons = CS_WHY_FLOW | CS_WHY_VALUES;
    assert_int_equal(call_asks(w, exact, NULL), 1);
    cs_question_drop(w->question, false);
    reasons = CS_WHY_POLICY;
    w->card.len = len;
    cs_buf_printf(&w->card, flows, 3);
    assert_int_equal(call_asks(w, exact, NULL), 1);
    cs_question_drop(w->question, false);
    w->card.len = len;
    cs_buf_printf(&w->card, flows, 1);
    assert_int_equal(call_asks(w, exact, NULL), 0);
    f_sql(&w->f, "UPDATE grants SET bound = ''");
    assert_int_equal(call_asks(w, exact, NULL), 1);
    cs_question_drop(w->question, false);
}

static void arguments_are_those_of_the_call(void **state)
{
    struct world *w = *state;
    struct cs_decision d = by_key("bob", CS_APPROVE_TOOL);
    call_asks(w, "{\"to\":\"a@b.c\",\"text\":\"one\"}", NULL);
    d.arguments = CS_STR("{\"to\":\"a@b.d\"}");
    assert_says(w, decide(w, w->id, &d), CS_INVALID, "'to' is another one");
    d.arguments = CS_STR("{\"bcc\":1}");
    assert_says(w, decide(w, w->id, &d), CS_INVALID, "has no 'bcc'");
    d.arguments = CS_STR("{}");
    assert_says(w, decide(w, w->id, &d), CS_INVALID, "\"any\"");
    d.arguments = CS_STR("\"any\"");
    assert_int_equal(decide(w, w->id, &d), CS_OK);
    until_done(w, 1);
    assert_int_equal(call_asks(w, "{\"to\":\"x\"}", NULL), 0);
}

static void a_card_says_which_answers_there_are(void **state)
{
    struct world *w = *state;
    cs_buf_clear(&w->card);
    cs_buf_puts(&w->card, "{\"answers\":[\"once\",\"deny\"]}");
    ask(w, 1);
    assert_says(w, answer(w, "bob", CS_APPROVE_PROGRAM), CS_INVALID, "'program'");
    assert_int_equal(answer(w, "bob", CS_APPROVE_ONCE), CS_OK);
    until_done(w, 1);
    cs_buf_clear(&w->card);
    cs_buf_puts(&w->card, "{\"answers\":[\"once\",\"program\"]}");
    struct cs_question_want q = want(w, 2);
    q.risk = CS_RISK_CRITICAL;
    ask_as(w, &q);
    until_asked(w, 2);
    assert_says(w, answer(w, "bob", CS_APPROVE_PROGRAM), CS_INVALID, "'program'");
    cs_question_drop(w->question, false);
}

/* --- on record --- */

static void everything_is_in_the_ledger_and_no_value(void **state)
{
    struct world *w = *state;
    struct cs_decision d = by_key("bob", CS_APPROVE_TOOL);
    d.reason = CS_STR("trust me");
    call_asks(w, "{\"to\":\"a@b.c\",\"text\":\"hello\"}", NULL);
    assert_int_equal(decide(w, w->id, &d), CS_OK);
    until_done(w, 1);
    call_asks(w, "{\"to\":\"a@b.c\",\"text\":\"hello\"}", NULL);
    cs_trail_flush(&w->run);
    close_runner(w);
    assert_string_equal(f_sql(&w->f, "SELECT group_concat(event, ' ') FROM ledger"),
                        "approval.asked approval.decided grant.made grant.used");
    assert_string_equal(f_sql(&w->f, "SELECT count(*) FROM ledger WHERE entry LIKE '%a@b.c%' OR"
                                     " entry LIKE '%hello%' OR entry LIKE '%trust%'"),
                        "0");
    assert_string_equal(f_sql(&w->f, "SELECT count(*) FROM ledger WHERE event = 'approval.decided'"
                                     " AND entry LIKE '%\"by\":\"bob\",\"card_hash\"%'"),
                        "1");
    open_runner(w);
}

static void its_json_has_what_people_ask_for(void **state)
{
    struct world *w = *state;
    ask(w, 1);
    answer(w, "bob", CS_APPROVE_ONCE);
    until_done(w, 1);
    const char *json = cs_buf_cstr(&w->json);
    assert_contains(json, "\"state\":\"approved\"");
    assert_contains(json, "\"why\":\"it is risky\"");
    assert_contains(json, "\"execution_id\":\"exec_1\"");
    assert_contains(json, "\"answer\":\"once\"");
    assert_contains(json, "\"card\":{");
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err;
    assert_int_equal(cs_json_parse(cs_buf_str(&w->json), NULL, &doc, &err), 0);
}

#define WITH(name) CS_TEST_WITH(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(an_approval_lets_it_go_on_once),
        WITH(a_denial_gives_its_reason),
        WITH(it_is_heard_at_once_in_the_same_process),
        WITH(and_soon_in_another),
        WITH(two_approvers_one_is_told_how_it_stands),
        WITH(nobody_answers_and_that_is_a_denial),
        WITH(a_durable_one_waits_for_a_day),
        WITH(what_is_dropped_is_withdrawn),
        WITH(one_that_leaves_is_found_again_by_the_next_process),
        WITH(two_that_ask_the_same_are_two),
        WITH(a_tenant_cannot_flood_people),
        WITH(without_a_store_nobody_can_be_asked),
        WITH(who_may_answer),
        WITH(four_eyes),
        WITH(the_same_program_always),
        WITH(a_program_in_its_session),
        WITH(a_tool_with_such_arguments_until_a_date),
        WITH(a_tool_with_exactly_these),
        WITH(a_grant_is_for_why_it_was_asked),
        WITH(arguments_are_those_of_the_call),
        WITH(a_card_says_which_answers_there_are),
        WITH(everything_is_in_the_ledger_and_no_value),
        WITH(its_json_has_what_people_ask_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
