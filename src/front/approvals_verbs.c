/*
 * `caisson approvals [list | show | grants | revoke]`, `caisson approve`, `caisson deny`: what
 * persons are asked, and their answers. They work on the store of the data directory, beside
 * whatever waits for the answer, which looks there several times a second.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/time.h"
#include "front/approving.h"
#include "front/card.h"
#include "front/policy_place.h"
#include "front/table.h"
#include "front/text.h"
#include "front/verbs.h"
#include "ledger/ledger.h"
#include "policy/keys.h"
#include "store/store.h"

#define LIST_DEFAULT 50
#define LIST_MOST    1000
#define PAGE         100 /* the store gives no more at once that have cards */
#define LOOK_MS      250 /* whether somebody else has answered what is on the terminal */

struct approvals {
    const struct cs_verb *verb;
    const char *tenant, *config, *policy_file, *reason, *until, *arguments;
    uint64_t limit;
    bool json, all, yes, session, always, tool, deny;
    bool approves; /* it is about a yes */
    struct cs_words operands;
    struct cs_choice given;
    struct cs_policy *policy;
    struct cs_approval_rules rules;
    struct cs_asking *asking;
    uv_loop_t loop;
    struct cs_ledger *ledger;
    struct cs_store *store;
    bool listed;    /* the pending ones are printed; the others follow */
    bool more;      /* than were asked for */
    uint64_t shown; /* of these, or of the others */
    char last[80];  /* id, where the next page begins */
    struct cs_buf rows;
    struct cs_table table;
    uv_signal_t interrupts[2];
    uv_timer_t look;
    bool looks;    /* it is open, */
    bool answered; /* and nothing has to be looked for any more */
    int exit_status;
};

static void approvals_done(struct approvals *a)
{
    cs_words_done(&a->operands);
    cs_policy_unref(a->policy);
    cs_buf_done(&a->rows);
    cs_table_done(&a->table);
}

#define AUTO_APPROVALS CS_AUTO(approvals_done) struct approvals

static void end(struct approvals *a, int exit_status)
{
    a->exit_status = exit_status;
    a->answered = true;
    if (a->looks && !uv_is_closing((uv_handle_t *)&a->look))
        uv_close((uv_handle_t *)&a->look, NULL);
    cs_asking_close(a->asking);
    a->asking = NULL;
    for (size_t i = 0; i < CS_COUNT(a->interrupts); i++)
        if (!uv_is_closing((uv_handle_t *)&a->interrupts[i]))
            uv_close((uv_handle_t *)&a->interrupts[i], NULL);
    cs_store_close(a->store, NULL, NULL);
}

static struct cs_str id_of(const struct approvals *a)
{
    return cs_str(a->operands.at[0]);
}

/* --- words --- */

static int take_answer(struct approvals *a, struct cs_err *err)
{
    if (a->session + a->always + a->tool > 1)
        return cs_fail(err, CS_INVALID, "one of --session, --always and --tool");
    if ((a->until || a->arguments) && !a->tool)
        return cs_fail(err, CS_INVALID, "--until and --arguments are of --tool");
    a->given.answer = a->deny      ? CS_APPROVE_DENY
                      : a->session ? CS_APPROVE_SESSION
                      : a->always  ? CS_APPROVE_PROGRAM
                      : a->tool    ? CS_APPROVE_TOOL
                                   : CS_APPROVE_ONCE;
    a->given.reason = cs_str(a->reason);
    a->given.arguments = cs_str(a->arguments);
    if (a->until && cs_deciding_until(a->until, &a->given.until, err) < 0)
        return cs_wrap(err, "--until");
    if (cs_deciding_arguments(a->given.arguments, err) < 0)
        return cs_wrap(err, "--arguments");
    return 0;
}

static int take(struct approvals *a, int argc, char **argv, size_t operands, struct cs_err *err)
{
    const struct cs_bind binds[] = {{"tenant", CS_BIND_TEXT, &a->tenant},
                                    {"limit", CS_BIND_NUMBER, &a->limit},
                                    {"all", CS_BIND_FLAG, &a->all},
                                    {"output", CS_BIND_JSON, &a->json},
                                    {"yes", CS_BIND_FLAG, &a->yes},
                                    {"session", CS_BIND_FLAG, &a->session},
                                    {"always", CS_BIND_FLAG, &a->always},
                                    {"tool", CS_BIND_FLAG, &a->tool},
                                    {"until", CS_BIND_TEXT, &a->until},
                                    {"arguments", CS_BIND_TEXT, &a->arguments},
                                    {"reason", CS_BIND_TEXT, &a->reason},
                                    {"config", CS_BIND_TEXT, &a->config},
                                    {"policy", CS_BIND_TEXT, &a->policy_file},
                                    {NULL, 0, NULL}};
    if (cs_args_bind(a->verb, argc, argv, binds, &a->operands, err) < 0)
        return -1;
    if (a->operands.count != operands)
        return cs_fail(err, CS_INVALID, operands ? "it takes one ID" : "it takes no ID");
    if (a->limit == 0 || a->limit > LIST_MOST)
        return cs_fail(err, CS_INVALID, "--limit is from 1 to %d", LIST_MOST);
    return take_answer(a, err);
}

/* Who may approve what is a matter of the policy. One that cannot be read must not keep anybody
 * from seeing what waits, or from saying no. */
static int load_rules(struct approvals *a, struct cs_err *err)
{
    char config[CS_DATA_PATH];
    struct cs_policy_place place;
    bool read = cs_data_config(a->config, config, err) == 0 &&
                cs_policy_place_find(a->policy_file, config, &place, err) == 0 &&
                cs_policy_place_load(&place, &a->policy, err) == 0;
    a->rules = cs_policy_approvals(a->policy);
    if (read)
        return 0;
    fprintf(stderr, "caisson %s: the policy cannot be read%s: ", a->verb->name,
            a->approves ? ", and who may approve is in it; showing and denying work without" : "");
    cs_text_safe(stderr, cs_str(err->msg));
    fputc('\n', stderr);
    return a->approves ? -1 : 0;
}

static void on_interrupt(uv_signal_t *h, int number)
{
    end(h->data, 128 + number);
}

static int run(struct approvals *a, int argc, char **argv, size_t operands,
               void (*start)(struct approvals *a))
{
    static const int numbers[] = {SIGINT, SIGTERM};
    char dir[CS_DATA_PATH];
    struct cs_err err = {0};
    a->tenant = CS_TENANT_DEFAULT;
    a->limit = LIST_DEFAULT;
    if (take(a, argc, argv, operands, &err) < 0)
        return cs_usage_error(a->verb, &err);
    if (cs_data_dir(dir, &err) < 0)
        return cs_verb_failed(a->verb, &err);
    if (load_rules(a, &err) < 0)
        return CS_EXIT_USAGE;
    err = (struct cs_err){0};
    uv_loop_init(&a->loop);
    if (cs_ledger_open(dir, &a->ledger, &err) < 0 ||
        cs_store_open(&a->loop, dir, &a->store, &err) < 0) {
        a->exit_status = cs_verb_failed(a->verb, &err);
    } else {
        cs_store_set_chain(a->store, cs_ledger_chain(a->ledger));
        for (size_t i = 0; i < CS_COUNT(numbers); i++) {
            uv_signal_init(&a->loop, &a->interrupts[i]);
            a->interrupts[i].data = a;
            uv_signal_start(&a->interrupts[i], on_interrupt, numbers[i]);
            uv_unref((uv_handle_t *)&a->interrupts[i]);
        }
        start(a);
    }
    uv_run(&a->loop, UV_RUN_DEFAULT);
    uv_loop_close(&a->loop);
    cs_ledger_close(a->ledger);
    return a->exit_status;
}

/* --- list --- */

static void print_json(struct cs_buf *json)
{
    CS_AUTO_BUF struct cs_buf pretty = {0};
    cs_json_pretty(cs_buf_str(json), &pretty);
    printf("%s\n", cs_buf_cstr(&pretty));
}

static void add_row(struct approvals *a, const struct cs_approval_row *r)
{
    CS_AUTO_BUF struct cs_buf why = {0};
    char left[CS_CARD_LEFT] = "";
    if (a->json) {
        cs_buf_puts(&a->rows, a->rows.len ? "," : "");
        cs_approval_json(r, false, &a->rows);
        return;
    }
    if (cs_str_is(r->state, "pending"))
        cs_card_left(r->expires - cs_time_ms(), left);
    cs_card_member(r, "why", &why);
    struct cs_str cells[] = {r->id,        r->risk, r->state,        cs_str(left),
                             r->principal, r->kind, cs_buf_str(&why)};
    cs_table_add(&a->table, cells, cs_card_style(r->risk));
}

static void say_more(const struct approvals *a)
{
    if (a->more)
        fprintf(stderr, "There are more than these %" PRIu64 "; -n shows up to %d.\n", a->limit,
                LIST_MOST);
}

static void print_list(struct approvals *a)
{
    if (a->json) {
        CS_AUTO_BUF struct cs_buf json = {0};
        cs_buf_puts(&json, "{\"approvals\":[");
        cs_buf_putstr(&json, cs_buf_str(&a->rows));
        cs_buf_printf(&json, "],\"complete\":%s}", a->more ? "false" : "true");
        print_json(&json);
        return;
    }
    if (a->table.rows > 1)
        cs_table_print(&a->table, stdout, cs_table_width(stdout));
    else if (!a->all)
        printf("Nothing waits for a person.\n");
    say_more(a);
}

static void read_page(struct approvals *a);

/* First those that wait, then the others, if they are wanted; of each as many as --limit says. */
static void on_page(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                    size_t count)
{
    struct approvals *a = ctx;
    bool full = false;
    if (err->code) {
        end(a, cs_verb_failed(a->verb, err));
        return;
    }
    for (size_t i = 0; i < count && !full; i++) {
        if (a->listed && cs_str_is(rows[i].state, "pending"))
            continue;
        full = a->shown == a->limit;
        if (full)
            break;
        add_row(a, &rows[i]);
        a->shown++;
    }
    a->more = a->more || full;
    if (count == PAGE && !full) {
        snprintf(a->last, sizeof a->last, "%.*s", CS_STR_ARG(rows[count - 1].id));
        read_page(a);
    } else if (a->all && !a->listed) {
        a->listed = true;
        a->shown = 0;
        a->last[0] = '\0';
        read_page(a);
    } else {
        print_list(a);
        end(a, CS_EXIT_OK);
    }
}

static void read_page(struct approvals *a)
{
    cs_store_approvals(a->store, cs_str(a->tenant), cs_str(a->listed ? NULL : "pending"), PAGE,
                       cs_str(a->last), true, on_page, a);
}

static void list(struct approvals *a)
{
    static const struct cs_str heads[] = {{"approval", 8}, {"risk", 4}, {"state", 5}, {"left", 4},
                                          {"who", 3},      {"what", 4}, {"why", 3}};
    a->table.columns = CS_COUNT(heads);
    cs_table_add(&a->table, heads, "");
    read_page(a);
}

int cs_verb_approvals(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_APPROVALS a = {.verb = verb};
    if (verb->subs && argc > 1 && argv[1][0] != '-')
        return cs_verb_tools(verb, argc, argv); /* there is no such verb */
    return run(&a, argc, argv, 0, list);
}

/* --- one of them --- */

/* The row, or why there is none. */
static const struct cs_approval_row *found(struct approvals *a, const struct cs_err *err,
                                           const struct cs_approval_row *rows, size_t count)
{
    struct cs_err said = *err;
    if (err->code == CS_MISSING || (!err->code && !count))
        cs_fail(&said, CS_MISSING,
                "tenant '%s' has no approval '%s'; 'caisson approvals --all' lists them", a->tenant,
                a->operands.at[0]);
    if (!said.code)
        return rows;
    end(a, cs_verb_failed(a->verb, &said));
    return NULL;
}

static void on_shown(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                     size_t count)
{
    struct approvals *a = ctx;
    const struct cs_approval_row *row = found(a, err, rows, count);
    if (!row)
        return;
    if (a->json) {
        CS_AUTO_BUF struct cs_buf json = {0};
        cs_approval_json(row, true, &json);
        print_json(&json);
    } else {
        cs_card_print(stdout, cs_text_colour(stdout), true, row);
    }
    end(a, CS_EXIT_OK);
}

static void show(struct approvals *a)
{
    cs_store_approval_get(a->store, cs_str(a->tenant), id_of(a), on_shown, a);
}

int cs_verb_approvals_show(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_APPROVALS a = {.verb = verb};
    return run(&a, argc, argv, 1, show);
}

/* --- grants --- */

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    if (!text.len)
        return;
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

/* In the words of GET /grants. */
static void put_grant(struct cs_json_writer *w, const struct cs_grant_row *g)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    char moment[CS_TIME_TEXT];
    cs_json_open(w, '{');
    put_text(w, "id", g->id);
    put_text(w, "scope", g->scope);
    put_text(w, "principal", g->principal);
    put_text(w, "actor_type", g->actor);
    put_text(w, "session_id", g->session);
    put_text(w, "server", g->server);
    put_text(w, "tool", g->tool);
    if (g->arguments.len) {
        cs_json_key(w, "arguments");
        cs_json_put_raw(w, g->arguments);
    }
    put_text(w, "match", cs_grant_match(g, &arena));
    put_text(w, "by", g->by);
    put_text(w, "approval_id", g->approval);
    put_text(w, "created_at", cs_str(cs_time_text_ms(g->created, moment)));
    put_text(w, "expires_at", cs_str(cs_time_text_ms(g->expires, moment)));
    cs_json_close(w, '}');
}

/* "mail/send {"to":"a"} and whatever else" */
static void put_what(const struct cs_grant_row *g, struct cs_buf *what)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str match = cs_grant_match(g, &arena);
    if (!g->tool.len) {
        cs_buf_printf(what, "%s%.*s",
                      g->session.len ? "session " : "exactly the program of its approval",
                      CS_STR_ARG(g->session));
        return;
    }
    cs_buf_printf(what, "%.*s/%.*s ", CS_STR_ARG(g->server), CS_STR_ARG(g->tool));
    if (cs_str_is(match, "any"))
        cs_buf_puts(what, "with any arguments");
    else
        cs_buf_printf(what, "%.*s%s", CS_STR_ARG(g->arguments),
                      cs_str_is(match, "these") ? " and whatever else" : "");
}

static void print_grants(const struct cs_grant_row *rows, size_t count)
{
    static const struct cs_str heads[] = {{"grant", 5}, {"scope", 5},    {"of", 2},  {"by", 2},
                                          {"until", 5}, {"approval", 8}, {"what", 4}};
    CS_AUTO_TABLE struct cs_table table = {.columns = CS_COUNT(heads)};
    cs_table_add(&table, heads, "");
    for (size_t i = 0; i < count; i++) {
        const struct cs_grant_row *g = &rows[i];
        CS_AUTO_BUF struct cs_buf what = {0};
        char until[CS_TIME_TEXT];
        put_what(g, &what);
        struct cs_str cells[] = {
            g->id,
            g->scope,
            g->principal,
            g->by,
            cs_str(g->expires ? cs_time_text(g->expires, until) : "it is revoked"),
            g->approval,
            cs_buf_str(&what)};
        cs_table_add(&table, cells, "");
    }
    cs_table_print(&table, stdout, cs_table_width(stdout));
}

static void on_grants(void *ctx, const struct cs_err *err, const struct cs_grant_row *rows,
                      size_t count)
{
    struct approvals *a = ctx;
    if (err->code) {
        end(a, cs_verb_failed(a->verb, err));
        return;
    }
    a->more = count > a->limit; /* one more was asked for, to know */
    count = a->more ? (size_t)a->limit : count;
    if (a->json) {
        CS_AUTO_BUF struct cs_buf json = {0};
        struct cs_json_writer w = CS_JSON_WRITER(&json);
        cs_json_open(&w, '{');
        cs_json_key(&w, "grants");
        cs_json_open(&w, '[');
        for (size_t i = 0; i < count; i++)
            put_grant(&w, &rows[i]);
        cs_json_close(&w, ']');
        cs_json_key(&w, "complete");
        cs_json_put_bool(&w, !a->more);
        cs_json_close(&w, '}');
        print_json(&json);
    } else if (count) {
        print_grants(rows, count);
        say_more(a);
    } else {
        printf("Nobody has allowed more than once at a time.\n");
    }
    end(a, CS_EXIT_OK);
}

static void grants(struct approvals *a)
{
    cs_store_grants(a->store, cs_str(a->tenant), a->limit + 1, on_grants, a);
}

int cs_verb_approvals_grants(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_APPROVALS a = {.verb = verb};
    return run(&a, argc, argv, 0, grants);
}

static void on_revoked(void *ctx, const struct cs_err *err)
{
    struct approvals *a = ctx;
    if (!err->code)
        printf("revoked %s: it is asked again from now on\n", a->operands.at[0]);
    end(a, err->code ? cs_verb_failed(a->verb, err) : CS_EXIT_OK);
}

static void revoke_it(struct approvals *a)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    struct cs_caller caller = cs_caller_local();
    /* Canonical: no space, names sorted. */
    cs_json_open(&w, '{');
    put_text(&w, "channel", CS_STR("terminal"));
    put_text(&w, "grant", id_of(a));
    cs_json_close(&w, '}');
    const struct cs_entry entry = {.event = CS_STR("grant.revoked"),
                                   .tenant = cs_str(a->tenant),
                                   .principal = cs_str(caller.principal),
                                   .data = cs_buf_str(&data)};
    cs_store_grant_revoke(a->store, cs_str(a->tenant), id_of(a), &entry, on_revoked, a);
}

int cs_verb_approvals_revoke(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_APPROVALS a = {.verb = verb};
    return run(&a, argc, argv, 1, revoke_it);
}

/* --- approve, deny --- */

static void on_done(void *ctx, const struct cs_err *err, const struct cs_approval_row *row)
{
    struct approvals *a = ctx;
    struct cs_err said = *err;
    if (err->code == CS_CONFLICT && row && row->by.len)
        cs_fail(&said, CS_CONFLICT, "it is %.*s already, by %.*s (%.*s)", CS_STR_ARG(row->state),
                CS_STR_ARG(row->by), CS_STR_ARG(row->channel));
    if (said.code) {
        end(a, cs_verb_failed(a->verb, &said));
        return;
    }
    if (a->json) {
        CS_AUTO_BUF struct cs_buf json = {0};
        cs_approval_json(row, false, &json);
        print_json(&json);
    } else {
        printf("%.*s %.*s\n", CS_STR_ARG(row->state), CS_STR_ARG(row->id));
    }
    end(a, CS_EXIT_OK);
}

static void decide(struct approvals *a, const struct cs_choice *choice, bool person)
{
    struct cs_decision decision = {
        .answer = choice->answer,
        .arguments = choice->arguments,
        .until = choice->until,
        .reason = choice->reason,
        .who = cs_caller_local(),
        .channel = "terminal",
        .person = person,
    };
    snprintf(decision.who.tenant, sizeof decision.who.tenant, "%s", a->tenant);
    cs_approval_decide(a->store, &a->rules, id_of(a), &decision, on_done, a);
}

static void on_pressed(void *ctx, struct cs_str id, const struct cs_choice *choice)
{
    struct approvals *a = ctx;
    (void)id;
    a->answered = true;
    if (choice->left)
        end(a, CS_EXIT_OK);
    else
        decide(a, choice, true);
}

/* --- somebody else may be first, or nobody in time --- */

static void over(struct approvals *a, const struct cs_approval_row *row)
{
    CS_AUTO_BUF struct cs_buf how = {0};
    struct cs_err err = {0};
    bool expired = cs_str_is(row->state, "pending") || cs_str_is(row->state, "expired");
    if (expired)
        cs_buf_puts(&how, "it is expired: nobody answered in time");
    else
        cs_buf_printf(&how, "it is %.*s already", CS_STR_ARG(row->state));
    if (!expired && row->by.len)
        cs_buf_printf(&how, ", by %.*s (%.*s)", CS_STR_ARG(row->by), CS_STR_ARG(row->channel));
    if (!expired && row->reason.len)
        cs_buf_printf(&how, ": %.*s", CS_STR_ARG(row->reason));
    cs_asking_settled(a->asking, row->id);
    cs_fail(&err, CS_CONFLICT, "%s", cs_buf_cstr(&how));
    end(a, cs_verb_failed(a->verb, &err));
}

static void on_looked(void *ctx, const struct cs_err *err, const struct cs_approval_row *rows,
                      size_t count)
{
    struct approvals *a = ctx;
    if (a->answered || err->code || !count) /* the next look, or the answer, will show */
        return;
    if (!cs_str_is(rows->state, "pending") || rows->expires <= cs_time_ms())
        over(a, rows);
}

static void on_look(uv_timer_t *timer)
{
    struct approvals *a = timer->data;
    if (!a->answered)
        cs_store_approval_get(a->store, cs_str(a->tenant), id_of(a), on_looked, a);
}

static void on_to_decide(void *ctx, const struct cs_err *error, const struct cs_approval_row *rows,
                         size_t count)
{
    struct approvals *a = ctx;
    struct cs_err err = {0};
    const struct cs_approval_row *row = found(a, error, rows, count);
    if (!row)
        return;
    if (!cs_str_is(row->state, "pending")) {
        cs_card_print(stderr, cs_text_colour(stderr), false, row);
        cs_fail(&err, CS_CONFLICT, "it is %.*s already", CS_STR_ARG(row->state));
        end(a, cs_verb_failed(a->verb, &err));
        return;
    }
    if (!cs_asking_kinds()) {
        cs_fail(&err, CS_INVALID,
                "nobody is at a terminal to see what it is; look at 'caisson approvals show %s', "
                "then say --yes",
                a->operands.at[0]);
        end(a, cs_verb_failed(a->verb, &err));
        return;
    }
    a->asking = cs_asking_new(&a->loop, NULL, a);
    cs_asking_on_decision(a->asking, on_pressed);
    if (cs_asking_approval(a->asking, row, &a->given, &err) < 0) {
        end(a, cs_verb_failed(a->verb, &err));
        return;
    }
    uv_timer_init(&a->loop, &a->look);
    a->look.data = a;
    a->looks = true;
    uv_timer_start(&a->look, on_look, LOOK_MS, LOOK_MS);
}

static void approve(struct approvals *a)
{
    if (a->yes || a->deny)
        decide(a, &a->given, false);
    else
        cs_store_approval_get(a->store, cs_str(a->tenant), id_of(a), on_to_decide, a);
}

int cs_verb_approve(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_APPROVALS a = {.verb = verb, .approves = true};
    return run(&a, argc, argv, 1, approve);
}

int cs_verb_deny(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_APPROVALS a = {.verb = verb, .deny = true};
    return run(&a, argc, argv, 1, approve);
}

/* --- rows --- */

#define END                              \
    {                                    \
        NULL, 0, NULL, NULL, NULL, false \
    }
#define OUTPUT                                                                \
    {                                                                         \
        "output", 'o', "FORMAT", "text (default) or json", "text json", false \
    }
#define ASKERS                                                                              \
    {                                                                                       \
        "tenant", 0, "NAME", "whose execution asks or asked (default default)", NULL, false \
    }

const struct cs_option cs_approvals_options[] = {
    {"all", 'a', NULL, "also those that are over, after the ones that wait", NULL, false},
    {"limit", 'n', "N", "how many (default 50)", NULL, false},
    ASKERS,
    OUTPUT,
    END,
};

static const struct cs_option show_options[] = {ASKERS, OUTPUT, END};
static const struct cs_option grants_options[] = {
    {"limit", 'n', "N", "how many, the newest first (default 50)", NULL, false},
    ASKERS,
    OUTPUT,
    END};

const struct cs_verb cs_approvals_verbs[] = {
    {"approvals list", "", "what waits for a person, and how long it still does",
     "Examples:\n"
     "  caisson approvals\n"
     "  caisson approvals list --all -o json\n",
     cs_approvals_options, cs_verb_approvals, NULL, NULL},
    {"approvals show", "ID", "all of one: code, findings, call, flows, limits, answer", "",
     show_options, cs_verb_approvals_show, NULL, NULL},
    {"approvals grants", "", "what was allowed for longer than once", "", grants_options,
     cs_verb_approvals_grants, NULL, NULL},
    {"approvals revoke", "GRANT", "take a grant back: it is asked again from now on", "",
     show_options, cs_verb_approvals_revoke, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
};
