/* Questions to persons, what they allowed beyond one time, and tools as they were seen. */
#include "store/fixture.h"

#include "store/inside.h"

static struct cs_approval_row last; /* the first one that was found */
static struct cs_grant_row granted;
static struct cs_seen_row seen[8];

static int setup(void **state)
{
    f_setup(state);
    struct fixture *f = *state;
    cs_store_set_chain(f->store, &f_chain);
    last = (struct cs_approval_row){0};
    granted = (struct cs_grant_row){0};
    return 0;
}

static void f_approvals(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                        size_t count)
{
    struct fixture *f = ctx;
    f_said(f, err, count);
    if (!count)
        return;
    last = rows[0];
    f_texts(f,
            (struct cs_str *[]){&last.id, &last.tenant, &last.execution, &last.session,
                                &last.principal, &last.actor, &last.kind, &last.risk, &last.card,
                                &last.state, &last.answer, &last.by, &last.channel, &last.reason},
            14);
}

static void f_grants(void *ctx, const struct cs_err *err, const struct cs_grant_row *rows,
                     size_t count)
{
    struct fixture *f = ctx;
    f_said(f, err, count);
    if (!count)
        return;
    granted = rows[0];
    f_texts(f, (struct cs_str *[]){&granted.id, &granted.scope, &granted.arguments}, 3);
}

static void f_seen(void *ctx, const struct cs_err *err, const struct cs_seen_row *rows,
                   size_t count)
{
    struct fixture *f = ctx;
    f_said(f, err, count);
    for (size_t i = 0; i < count && i < CS_COUNT(seen); i++) {
        seen[i] = rows[i];
        f_texts(f,
                (struct cs_str *[]){&seen[i].server, &seen[i].tool, &seen[i].text, &seen[i].before},
                4);
    }
}

static struct cs_approval_row question(const char *id, const char *execution, char binding)
{
    int64_t now = cs_time_ms();
    struct cs_approval_row r = {.id = cs_str(id),
                                .tenant = CS_STR("default"),
                                .execution = cs_str(execution),
                                .session = CS_STR("s1"),
                                .principal = CS_STR("ann"),
                                .actor = CS_STR("key"),
                                .kind = CS_STR("call"),
                                .risk = CS_STR("HIGH"),
                                .card = CS_STR("{\"why\":\"it is risky\"}"),
                                .created = now,
                                .expires = now + 60000};
    memset(r.binding, binding, sizeof r.binding);
    memset(r.scope, 9, sizeof r.scope);
    return r;
}

static int ask(struct fixture *f, const char *id, const char *execution, char binding)
{
    struct cs_approval_row r = question(id, execution, binding);
    struct cs_entry entry = f_entry("approval.asked", execution);
    return F(f, cs_store_approval_add, f_approvals, &r, 10, &entry);
}

static struct cs_approval_row decision(const char *id, const char *state, const char *by)
{
    return (struct cs_approval_row){.id = cs_str(id),
                                    .tenant = CS_STR("default"),
                                    .state = cs_str(state),
                                    .answer = CS_STR("once"),
                                    .by = cs_str(by),
                                    .channel = CS_STR("rest"),
                                    .reason = CS_STR("because")};
}

static int decide(struct fixture *f, const char *id, const char *state, const char *by)
{
    struct cs_approval_row r = decision(id, state, by);
    struct cs_entry entry = f_entry("approval.decided", "x1");
    return F(f, cs_store_approval_decide, f_approvals, &r, NULL, &entry, 1);
}

static int get(struct fixture *f, const char *id)
{
    return F(f, cs_store_approval_get, f_approvals, CS_STR("default"), cs_str(id));
}

static const char *entries(struct fixture *f)
{
    return f_sql(f, "SELECT count(*) FROM ledger");
}

static void a_question_comes_back_as_it_was_asked(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(ask(f, "ap_1", "x1", 1), CS_OK);
    f_close(f);
    f_open(f);
    assert_int_equal(get(f, "ap_1"), CS_OK);
    assert_str_is(last.state, "pending");
    assert_str_is(last.execution, "x1");
    assert_str_is(last.session, "s1");
    assert_str_is(last.principal, "ann");
    assert_str_is(last.actor, "key");
    assert_str_is(last.kind, "call");
    assert_str_is(last.risk, "HIGH");
    assert_str_is(last.card, "{\"why\":\"it is risky\"}");
    assert_int_equal(last.binding[31], 1);
    assert_int_equal(last.scope[0], 9);
    assert_false(last.used);
    assert_int_equal(F(f, cs_store_approval_get, f_approvals, CS_STR("other"), CS_STR("ap_1")),
                     CS_MISSING);
    assert_int_equal(get(f, "ap_2"), CS_MISSING);
}

static void the_same_question_of_one_execution_is_one(void **state)
{
    struct fixture *f = *state;
    ask(f, "ap_1", "x1", 1);
    assert_int_equal(ask(f, "ap_2", "x1", 1), CS_OK);
    assert_str_is(last.id, "ap_1");
    assert_string_equal(entries(f), "1");
    ask(f, "ap_3", "x1", 2);
    assert_str_is(last.id, "ap_3");
    ask(f, "ap_4", "x2", 1);
    assert_str_is(last.id, "ap_4");
    /* Decided and not used: it is the answer. Used: it is asked again. A denial stays. */
    decide(f, "ap_1", "approved", "bob");
    ask(f, "ap_5", "x1", 1);
    assert_str_is(last.id, "ap_1");
    assert_str_is(last.state, "approved");
    assert_int_equal(F(f, cs_store_approval_use, f_stored, CS_STR("default"), CS_STR("ap_1")),
                     CS_OK);
    ask(f, "ap_6", "x1", 1);
    assert_str_is(last.id, "ap_6");
    decide(f, "ap_6", "denied", "bob");
    ask(f, "ap_7", "x1", 1);
    assert_str_is(last.id, "ap_6");
    assert_str_is(last.state, "denied");
    /* Withdrawn: nobody said anything. */
    decide(f, "ap_3", "withdrawn", "");
    ask(f, "ap_8", "x1", 2);
    assert_str_is(last.id, "ap_8");
}

static void the_first_answer_wins(void **state)
{
    struct fixture *f = *state;
    ask(f, "ap_1", "x1", 1);
    assert_int_equal(decide(f, "ap_1", "denied", "bob"), CS_OK);
    assert_str_is(last.state, "denied");
    assert_str_is(last.by, "bob");
    assert_str_is(last.reason, "because");
    assert_true(last.decided > 0);
    assert_string_equal(entries(f), "2");
    assert_code(decide(f, "ap_1", "approved", "eve"), CS_CONFLICT, "denied already");
    assert_int_equal(f->count, 1);
    assert_str_is(last.by, "bob");
    assert_string_equal(entries(f), "2");
    assert_int_equal(F(f, cs_store_approval_use, f_stored, CS_STR("default"), CS_STR("ap_1")),
                     CS_CONFLICT);
    assert_int_equal(decide(f, "ap_9", "approved", "eve"), CS_MISSING);
    struct cs_approval_row other = decision("ap_1", "approved", "eve");
    other.tenant = CS_STR("other");
    assert_int_equal(F(f, cs_store_approval_decide, f_approvals, &other, NULL, NULL, 0),
                     CS_MISSING);
}

/* Two stores, as two processes would have them. */
static void two_at_once_one_of_them_wins_and_it_is_used_once(void **state)
{
    struct fixture *f = *state, two = {0};
    memcpy(two.dir, f->dir, sizeof two.dir);
    uv_loop_init(&two.loop);
    f_open(&two);
    cs_store_set_chain(two.store, &f_chain);
    for (int i = 0; i < 20; i++) {
        char id[16];
        snprintf(id, sizeof id, "ap_%d", i);
        assert_int_equal(ask(f, id, "x1", (char)(i + 1)), CS_OK);
        struct cs_approval_row a = decision(id, "approved", "ann"),
                               b = decision(id, "approved", "bob");
        f_begin(f);
        f_begin(&two);
        cs_store_approval_decide(f->store, &a, NULL, NULL, 0, f_approvals, f);
        cs_store_approval_decide(two.store, &b, NULL, NULL, 0, f_approvals, &two);
        f_wait(f);
        f_wait(&two);
        assert_int_equal((f->err.code == CS_OK) + (two.err.code == CS_OK), 1);
        assert_int_equal((f->err.code == CS_CONFLICT) + (two.err.code == CS_CONFLICT), 1);
        f_begin(f);
        f_begin(&two);
        cs_store_approval_use(f->store, CS_STR("default"), cs_str(id), f_stored, f);
        cs_store_approval_use(two.store, CS_STR("default"), cs_str(id), f_stored, &two);
        f_wait(f);
        f_wait(&two);
        assert_int_equal((f->err.code == CS_OK) + (two.err.code == CS_OK), 1);
    }
    f_close(&two);
    uv_loop_close(&two.loop);
    cs_arena_done(&two.arena);
}

static void what_is_late_cannot_be_approved_any_more(void **state)
{
    struct fixture *f = *state;
    struct cs_approval_row r = question("ap_1", "x1", 1);
    r.expires = cs_time_ms() - 1;
    assert_int_equal(F(f, cs_store_approval_add, f_approvals, &r, 10, NULL), CS_OK);
    assert_code(decide(f, "ap_1", "approved", "bob"), CS_CONFLICT, "expired already");
    get(f, "ap_1");
    assert_str_is(last.state, "expired");
    F(f, cs_store_approvals, f_approvals, CS_STR("default"), CS_STR("pending"), 10, CS_STR(""),
      false);
    assert_int_equal(f->count, 0);
    F(f, cs_store_approvals, f_approvals, CS_STR("default"), CS_STR("expired"), 10, CS_STR(""),
      false);
    assert_int_equal(f->count, 1);
    /* Who asked puts it down. */
    assert_int_equal(decide(f, "ap_1", "expired", ""), CS_OK);
    assert_string_equal(f_sql(f, "SELECT state FROM approvals"), "expired");
}

static void a_tenant_has_so_many_that_wait(void **state)
{
    struct fixture *f = *state;
    for (int i = 0; i < 3; i++) {
        char id[16];
        snprintf(id, sizeof id, "ap_%d", i);
        struct cs_approval_row r = question(id, "x1", (char)i);
        assert_int_equal(F(f, cs_store_approval_add, f_approvals, &r, 3, NULL), CS_OK);
    }
    struct cs_approval_row r = question("ap_x", "x2", 1), other = question("ap_y", "x3", 1);
    assert_code(F(f, cs_store_approval_add, f_approvals, &r, 3, NULL), CS_LIMIT, "3 questions");
    other.tenant = CS_STR("other");
    assert_int_equal(F(f, cs_store_approval_add, f_approvals, &other, 3, NULL), CS_OK);
    decide(f, "ap_1", "denied", "bob");
    assert_int_equal(F(f, cs_store_approval_add, f_approvals, &r, 3, NULL), CS_OK);
}

static void lists_are_of_one_tenant_newest_first_in_pages(void **state)
{
    struct fixture *f = *state;
    struct cs_approval_row other = question("ap_o", "x9", 1);
    ask(f, "ap_1", "x1", 1);
    ask(f, "ap_2", "x1", 2);
    ask(f, "ap_3", "x1", 3);
    other.tenant = CS_STR("other");
    F(f, cs_store_approval_add, f_approvals, &other, 10, NULL);
    decide(f, "ap_2", "approved", "bob");
    F(f, cs_store_approvals, f_approvals, CS_STR("default"), CS_STR(""), 10, CS_STR(""), true);
    assert_int_equal(f->count, 3);
    assert_str_is(last.id, "ap_3");
    assert_true(last.card.len > 0);
    F(f, cs_store_approvals, f_approvals, CS_STR("default"), CS_STR(""), 1, CS_STR("ap_3"), false);
    assert_int_equal(f->count, 1);
    assert_str_is(last.id, "ap_2");
    assert_int_equal(last.card.len, 0);
    F(f, cs_store_approvals, f_approvals, CS_STR("default"), CS_STR("pending"), 10, CS_STR(""),
      false);
    assert_int_equal(f->count, 2);
    assert_int_equal(F(f, cs_store_approvals, f_approvals, CS_STR("default"), CS_STR(""), 10,
                       CS_STR("ap_o"), false),
                     CS_MISSING);
    const struct cs_str ids[] = {CS_STR("ap_1"), CS_STR("ap_2"), CS_STR("ap_no")};
    F(f, cs_store_approvals_decided, f_approvals, ids, 3);
    assert_int_equal(f->count, 1);
    assert_str_is(last.id, "ap_2");
}

static unsigned heard;
static void on_over(void *ctx, const struct cs_approval_row *row)
{
    (void)ctx;
    assert_str_is(row->id, "ap_1");
    heard++;
}

static void who_watches_hears_what_is_decided_here(void **state)
{
    struct fixture *f = *state;
    heard = 0;
    cs_store_watch_approvals(f->store, on_over, NULL);
    ask(f, "ap_1", "x1", 1);
    assert_int_equal(heard, 0);
    decide(f, "ap_1", "approved", "bob");
    assert_int_equal(heard, 1);
    decide(f, "ap_1", "denied", "eve");
    assert_int_equal(heard, 1);
}

/* --- lost, and forgotten --- */

static void what_a_lost_execution_asked_is_withdrawn_unless_it_is_durable(void **state)
{
    struct fixture *f = *state;
    struct cs_execution_row a = f_execution("x1", "default"), b = f_execution("x2", "default");
    b.durable = true;
    F(f, cs_store_execution_admit, f_executions, &a, NULL);
    F(f, cs_store_execution_admit, f_executions, &b, NULL);
    ask(f, "ap_1", "x1", 1);
    ask(f, "ap_2", "x2", 1);
    f_close(f);
    f_sql(f, "UPDATE executions SET owner = '1-dead'");
    f_open(f);
    cs_store_set_chain(f->store, &f_chain);
    get(f, "ap_1");
    assert_str_is(last.state, "withdrawn");
    get(f, "ap_2");
    assert_str_is(last.state, "pending");
    assert_string_equal(f_sql(f, "SELECT count(*) FROM ledger WHERE event = 'approval.withdrawn'"),
                        "1");
    ask(f, "ap_3", "x2", 1);
    assert_str_is(last.id, "ap_2");
}

static void old_ones_are_forgotten_and_late_ones_put_down(void **state)
{
    struct fixture *f = *state;
    ask(f, "ap_1", "x1", 1);
    ask(f, "ap_2", "x1", 2);
    ask(f, "ap_3", "x1", 3);
    decide(f, "ap_1", "denied", "bob");
    decide(f, "ap_2", "denied", "bob");
    f_sql(f, "UPDATE approvals SET decided = 1000 WHERE id = 'ap_1'");
    f_sql(f, "UPDATE approvals SET expires = 1000 WHERE id = 'ap_3'");
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 5000), CS_OK);
    assert_int_equal(get(f, "ap_1"), CS_MISSING);
    assert_int_equal(get(f, "ap_2"), CS_OK);
    assert_string_equal(f_sql(f, "SELECT state FROM approvals WHERE id = 'ap_3'"), "expired");
    assert_string_equal(f_sql(f, "SELECT count(*) FROM ledger WHERE event = 'approval.expired'"),
                        "1");
}

/* --- grants --- */

static struct cs_grant_row grant(const char *id, const char *scope)
{
    struct cs_grant_row g = {.id = cs_str(id),
                             .tenant = CS_STR("default"),
                             .principal = CS_STR("ann"),
                             .actor = CS_STR("key"),
                             .scope = cs_str(scope),
                             .created = 1,
                             .by = CS_STR("bob"),
                             .approval = CS_STR("ap_1")};
    return g;
}

static void add_grant(struct fixture *f, const struct cs_grant_row *g)
{
    static char next = 50;
    char id[16];
    snprintf(id, sizeof id, "ap_%d", next);
    ask(f, id, "x1", next++);
    struct cs_approval_row r = decision(id, "approved", "bob");
    assert_int_equal(F(f, cs_store_approval_decide, f_approvals, &r, g, NULL, 0), CS_OK);
}

static size_t found(struct fixture *f, const struct cs_grant_row *like)
{
    assert_int_equal(F(f, cs_store_grants_for, f_grants, like), CS_OK);
    return f->count;
}

static void grants_are_found_by_what_they_are_for(void **state)
{
    struct fixture *f = *state;
    struct cs_grant_row program = grant("gr_p", "program"), session = grant("gr_s", "session"),
                        tool = grant("gr_t", "tool"), late = grant("gr_l", "tool");
    memset(program.binding, 1, 32);
    memset(session.binding, 1, 32);
    session.session = CS_STR("s1");
    tool.server = late.server = CS_STR("mail");
    tool.tool = late.tool = CS_STR("send");
    tool.arguments = CS_STR("{\"to\":\"a\"}");
    tool.expires = cs_time_ms() + 60000;
    late.expires = cs_time_ms() - 1;
    add_grant(f, &program);
    add_grant(f, &session);
    add_grant(f, &tool);
    add_grant(f, &late);
    struct cs_grant_row like = {
        .tenant = CS_STR("default"), .principal = CS_STR("ann"), .actor = CS_STR("key")};
    assert_int_equal(found(f, &like), 0);
    memset(like.binding, 1, 32);
    assert_int_equal(found(f, &like), 1); /* no session */
    assert_str_is(granted.id, "gr_p");
    like.session = CS_STR("s1");
    assert_int_equal(found(f, &like), 2);
    like.session = CS_STR("s2");
    assert_int_equal(found(f, &like), 1);
    memset(like.binding, 2, 32);
    assert_int_equal(found(f, &like), 0);
    like.server = CS_STR("mail");
    like.tool = CS_STR("send");
    assert_int_equal(found(f, &like), 1);
    assert_str_is(granted.arguments, "{\"to\":\"a\"}");
    like.actor = CS_STR("agent");
    assert_int_equal(found(f, &like), 0);
    like.actor = CS_STR("key");
    like.principal = CS_STR("eve");
    assert_int_equal(found(f, &like), 0);
    like.principal = CS_STR("ann");
    like.tenant = CS_STR("other");
    assert_int_equal(found(f, &like), 0);
    F(f, cs_store_grants, f_grants, CS_STR("default"), 10);
    assert_int_equal(f->count, 3);
}

static void grants_are_revoked_and_go_with_their_session(void **state)
{
    struct fixture *f = *state;
    struct cs_grant_row program = grant("gr_p", "program"), session = grant("gr_s", "session");
    struct cs_session_row row = {
        .id = CS_STR("s1"), .tenant = CS_STR("default"), .principal = CS_STR("ann")};
    struct cs_entry entry = f_entry("grant.revoked", "");
    session.session = CS_STR("s1");
    F(f, cs_store_session_add, f_stored, &row, 10);
    add_grant(f, &program);
    add_grant(f, &session);
    F(f, cs_store_session_end, f_stored, CS_STR("default"), CS_STR("s1"));
    F(f, cs_store_grants, f_grants, CS_STR("default"), 10);
    assert_int_equal(f->count, 1);
    assert_int_equal(F(f, cs_store_grant_revoke, f_stored, CS_STR("other"), CS_STR("gr_p"), &entry),
                     CS_MISSING);
    assert_int_equal(
        F(f, cs_store_grant_revoke, f_stored, CS_STR("default"), CS_STR("gr_p"), &entry), CS_OK);
    assert_int_equal(
        F(f, cs_store_grant_revoke, f_stored, CS_STR("default"), CS_STR("gr_p"), &entry),
        CS_MISSING);
    F(f, cs_store_grants, f_grants, CS_STR("default"), 10);
    assert_int_equal(f->count, 0);
    assert_string_equal(f_sql(f, "SELECT count(*) FROM ledger WHERE event = 'grant.revoked'"), "1");
}

/* --- tools as they were seen --- */

static size_t see_as(struct fixture *f, uint64_t entry, const char *const *tools, int64_t now,
                     bool whole)
{
    struct cs_str names[8], definitions[8];
    struct cs_seen_list list = {
        .server = CS_STR("mail"), .entry = entry, .tools = names, .definitions = definitions};
    CS_AUTO_BUF struct cs_buf all = {0};
    unsigned char hash[32];
    for (; tools[list.count]; list.count++) {
        names[list.count] = cs_strn(tools[list.count] + 1, 1);
        definitions[list.count] = cs_str(tools[list.count]);
        cs_buf_puts(&all, tools[list.count]);
    }
    cs_sha256(cs_buf_str(&all), hash);
    if (whole)
        list.list = hash;
    assert_int_equal(F(f, cs_store_tools_seen, f_seen, &list, now), CS_OK);
    return f->count;
}

#define ENTRY (UINT64_MAX - 5)

static void see(struct fixture *f, const char *const *tools, int64_t now)
{
    see_as(f, ENTRY, tools, now, false);
}

static bool changed(int i)
{
    return cs_seen_changed(&seen[i]);
}

static int look_up(struct fixture *f, const char *tool)
{
    return F(f, cs_store_tool_seen, f_seen, CS_STR("mail"), ENTRY, cs_str(tool));
}

static void a_changed_definition_stands_out_until_somebody_looks(void **state)
{
    struct fixture *f = *state;
    see(f, (const char *[]){"\"a1\"", "\"b1\"", NULL}, 1000);
    assert_true(!changed(0) && !changed(1));
    assert_true(seen[1].since == 1000 && seen[1].server_since == 1000);
    see(f, (const char *[]){"\"a2\"", " \"b\\u0031\"", "\"c1\"", NULL}, 2000);
    assert_true(changed(0) && !changed(1) && !changed(2)); /* however it is written */
    assert_true(seen[0].changed == 2000 && seen[0].since == 1000);
    assert_str_is(seen[0].before, "\"a1\"");
    assert_true(seen[2].since == 2000 && seen[2].server_since == 1000);
    /* Another change, or that it is gone for a while, does not hide it. */
    see(f, (const char *[]){"\"b1\"", NULL}, 3000);
    see(f, (const char *[]){"\"a3\"", "\"b1\"", NULL}, 4000);
    assert_true(changed(0));
    look_up(f, "a");
    assert_str_is(seen[0].text, "\"a3\"");
    assert_str_is(seen[0].before, "\"a1\"");
    assert_int_equal(look_up(f, "x"), CS_MISSING);
    /* Back as it was: there is nothing to look at. */
    see(f, (const char *[]){"\"a1\"", NULL}, 5000);
    assert_false(changed(0));
    see(f, (const char *[]){"\"a3\"", NULL}, 6000);
    unsigned char hash[32];
    struct cs_entry entry = f_entry("tool.looked", "");
    cs_sha256(CS_STR("\"a2\""), hash);
    assert_int_equal(F(f, cs_store_tool_look, f_stored, CS_STR("mail"), CS_STR("a"), hash, &entry),
                     CS_CONFLICT);
    cs_sha256(CS_STR("\"a3\""), hash);
    assert_int_equal(F(f, cs_store_tool_look, f_stored, CS_STR("mail"), CS_STR("a"), hash, &entry),
                     CS_OK);
    see(f, (const char *[]){"\"a3\"", NULL}, 7000);
    assert_false(changed(0));
    see(f, (const char *[]){"\"a4\"", NULL}, 8000);
    assert_true(changed(0));
    look_up(f, "a");
    assert_str_is(seen[0].before, "\"a3\"");
}

static void a_list_that_is_known_is_known_as_a_whole(void **state)
{
    struct fixture *f = *state;
    const char *const known[] = {"\"a1\"", "\"b1\"", NULL}, *const other[] = {"\"a2\"", NULL};
    assert_int_equal(see_as(f, ENTRY, known, 1000, true), 2);
    assert_int_equal(see_as(f, ENTRY, known, 2000, true), 0);
    assert_int_equal(see_as(f, ENTRY, known, 2000, false), 2);
    /* Not while something of it changed, nor right after. */
    assert_int_equal(see_as(f, ENTRY, other, 3000, true), 1);
    assert_true(changed(0));
    assert_int_equal(see_as(f, ENTRY, other, 4000, true), 1);
    assert_true(changed(0));
    assert_int_equal(see_as(f, ENTRY, known, 5000, true), 2);
    assert_false(changed(0));
    assert_int_equal(see_as(f, ENTRY, known, 6000, true), 0);
}

static void what_comes_later_is_young_for_a_while(void **state)
{
    struct fixture *f = *state;
    const char *const one[] = {"\"a1\"", NULL}, *const two[] = {"\"a1\"", "\"b1\"", NULL},
                      *const three[] = {"\"a1\"", "\"b1\"", "\"c1\"", NULL};
    see_as(f, ENTRY, one, 1000, true);
    see_as(f, ENTRY, two, 1000 + CS_SEEN_YOUNG, true);
    assert_true(cs_seen_young_until(&seen[1]) == 0); /* it is still being set up */
    int64_t came = 1001 + CS_SEEN_YOUNG;
    assert_int_equal(see_as(f, ENTRY, three, came, true), 3);
    assert_true(cs_seen_young_until(&seen[0]) == 0);
    assert_true(cs_seen_young_until(&seen[2]) == came + CS_SEEN_YOUNG);
    assert_int_equal(see_as(f, ENTRY, three, came + 1, true), 3);
    assert_int_equal(see_as(f, ENTRY, three, came + CS_SEEN_YOUNG, true), 3);
    assert_int_equal(see_as(f, ENTRY, three, came + CS_SEEN_YOUNG + 1, true), 0);
}

static void another_entry_is_another_server(void **state)
{
    struct fixture *f = *state;
    see(f, (const char *[]){"\"a1\"", NULL}, 1000);
    see_as(f, 7, (const char *[]){"\"a2\"", NULL}, 9000, true);
    assert_false(changed(0));
    assert_true(seen[0].since == 9000 && seen[0].server_since == 9000);
    assert_int_equal(see_as(f, 8, (const char *[]){NULL}, 9000, true), 0);
}

static void a_very_long_definition_is_known_by_its_hash(void **state)
{
    struct fixture *f = *state;
    size_t n = CS_SEEN_TEXT + 1;
    char *text = cs_calloc(n + 1, 1);
    memset(text, 'a', n);
    text[0] = text[n - 1] = '"';
    see(f, (const char *[]){text, NULL}, 1000);
    text[n - 2] = 'b';
    see(f, (const char *[]){text, NULL}, 2000);
    assert_true(changed(0));
    look_up(f, "a");
    assert_int_equal(seen[0].text.len, 0);
    free(text);
}

static void what_was_not_seen_for_a_year_is_forgotten(void **state)
{
    struct fixture *f = *state;
    int64_t now = cs_time_ms();
    see_as(f, ENTRY, (const char *[]){"\"a1\"", NULL}, now, true);
    see_as(f, 7, (const char *[]){"\"a1\"", NULL}, 1000, true);
    see_as(f, 8, (const char *[]){"\"a1\"", NULL}, 1000, true);
    see_as(f, 8, (const char *[]){"\"a1\"", NULL}, now, true); /* it is still there */
    assert_int_equal(F(f, cs_store_executions_forget, f_stored, 5000), CS_OK);
    assert_string_equal(f_sql(f, "SELECT count(*) FROM tools_seen WHERE tool = 'a'"), "2");
}

#define WITH(name) CS_TEST_WITH(name, setup, f_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(a_question_comes_back_as_it_was_asked),
        WITH(the_same_question_of_one_execution_is_one),
        WITH(the_first_answer_wins),
        WITH(two_at_once_one_of_them_wins_and_it_is_used_once),
        WITH(what_is_late_cannot_be_approved_any_more),
        WITH(a_tenant_has_so_many_that_wait),
        WITH(lists_are_of_one_tenant_newest_first_in_pages),
        WITH(who_watches_hears_what_is_decided_here),
        WITH(what_a_lost_execution_asked_is_withdrawn_unless_it_is_durable),
        WITH(old_ones_are_forgotten_and_late_ones_put_down),
        WITH(grants_are_found_by_what_they_are_for),
        WITH(grants_are_revoked_and_go_with_their_session),
        WITH(a_changed_definition_stands_out_until_somebody_looks),
        WITH(a_list_that_is_known_is_known_as_a_whole),
        WITH(what_comes_later_is_young_for_a_while),
        WITH(another_entry_is_another_server),
        WITH(a_very_long_definition_is_known_by_its_hash),
        WITH(what_was_not_seen_for_a_year_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
