/* `caisson keys create | list | revoke | rotate`: who may use the doors of this data directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/time.h"
#include "front/data.h"
#include "front/events.h"
#include "front/table.h"
#include "front/text.h"
#include "front/verbs.h"
#include "ledger/ledger.h"
#include "policy/keys.h"
#include "store/store.h"

#define EXPIRES_MOST 3.1536e12 /* a hundred years, in ms */

/* One verb: it opens the store, asks for one thing after the other, and the last answer closes it.
 */
struct keys {
    const struct cs_verb *verb;
    struct cs_words operands;
    const char *role_name, *tenant, *expires;
    bool json, reveal;
    enum cs_key_role role;
    bool has_lifetime; /* --expires was given */
    int64_t lifetime_ms;
    uv_loop_t loop;
    struct cs_ledger *ledger;
    struct cs_store *store;
    char text[CS_KEY_TEXT]; /* the new key */
    struct cs_key_row row;  /* ... its texts are in `names`, and in `text` */
    char names[2][65];
    int exit_status;
};

static void keys_done(struct keys *k)
{
    explicit_bzero(k->text, sizeof k->text);
    cs_words_done(&k->operands);
}

#define AUTO_KEYS CS_AUTO(keys_done) struct keys

/* --- arguments --- */

static int parse_expires(struct keys *k, struct cs_err *err)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"s", 1e3},    {"m", 6e4},     {"h", 3.6e6},
                 {"d", 8.64e7}, {"w", 6.048e8}, {"y", 3.1536e10}};
    const char *text = k->expires;
    if (!text)
        return 0;
    k->has_lifetime = true;
    if (strcmp(text, "never") == 0)
        return 0;
    char *end;
    double number = text[0] >= '0' && text[0] <= '9' ? strtod(text, &end) : (end = (char *)text, 0);
    for (size_t i = 0; i < CS_COUNT(units); i++) {
        double ms = number * units[i].ms;
        if (strcmp(end, units[i].name) != 0 || !(ms >= 1000 && ms <= EXPIRES_MOST))
            continue;
        k->lifetime_ms = (int64_t)ms;
        return 0;
    }
    return cs_fail(err, CS_INVALID,
                   "--expires: '%s' is no time like 12h, 30d, 1y (at most 100 years), or never",
                   text);
}

/* `operands`: how many there must be. */
static int take(struct keys *k, int argc, char **argv, size_t operands, struct cs_err *err)
{
    const struct cs_bind binds[] = {
        {"role", CS_BIND_TEXT, &k->role_name},  {"tenant", CS_BIND_TEXT, &k->tenant},
        {"expires", CS_BIND_TEXT, &k->expires}, {"reveal", CS_BIND_FLAG, &k->reveal},
        {"output", CS_BIND_JSON, &k->json},     {NULL, 0, NULL}};
    if (cs_args_bind(k->verb, argc, argv, binds, &k->operands, err) < 0)
        return -1;
    if (k->operands.count != operands)
        return cs_fail(err, CS_INVALID, operands ? "it takes one NAME" : "it takes no NAME");
    if (k->role_name && cs_key_role_parse(cs_str(k->role_name), &k->role, err) < 0)
        return -1;
    return parse_expires(k, err);
}

/* --- the store, for as long as it takes --- */

static void end(struct keys *k, int exit_status)
{
    k->exit_status = exit_status;
    cs_store_close(k->store, NULL, NULL);
}

static int run(struct keys *k, int argc, char **argv, size_t operands,
               void (*start)(struct keys *k))
{
    char dir[CS_DATA_PATH];
    struct cs_err err = {0};
    if (take(k, argc, argv, operands, &err) < 0)
        return cs_usage_error(k->verb, &err);
    if (cs_data_dir(dir, &err) < 0)
        return cs_verb_failed(k->verb, &err);
    uv_loop_init(&k->loop);
    if (cs_ledger_open(dir, &k->ledger, &err) < 0 ||
        cs_store_open(&k->loop, dir, &k->store, &err) < 0) {
        k->exit_status = cs_verb_failed(k->verb, &err);
    } else {
        cs_store_set_chain(k->store, cs_ledger_chain(k->ledger));
        start(k);
    }
    uv_run(&k->loop, UV_RUN_DEFAULT);
    uv_loop_close(&k->loop);
    cs_ledger_close(k->ledger);
    return k->exit_status;
}

/* Puts it on record, and only then `done` tells the person. */
static void record(struct keys *k, const char *event, cs_stored *done)
{
    CS_AUTO_BUF struct cs_buf data = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&data);
    struct cs_caller caller = cs_caller_local();
    const struct cs_key_row *r = &k->row;
    cs_json_open(&w, '{');
    if (r->id.len) {
        cs_json_key(&w, "expires");
        cs_json_put_i64(&w, r->expires);
        cs_json_key(&w, "id");
        cs_json_put_str(&w, r->id);
        cs_json_key(&w, "reveal");
        cs_json_put_bool(&w, r->reveal);
        cs_json_key(&w, "role");
        cs_json_put_str(&w, r->role);
        snprintf(caller.tenant, sizeof caller.tenant, "%.*s", CS_STR_ARG(r->tenant));
    }
    cs_json_key(&w, "name");
    cs_json_put_z(&w, k->operands.at[0]);
    cs_json_close(&w, '}');
    cs_event_note(k->store, event, &caller, cs_buf_str(&data), done, k);
}

/* --- printing --- */

static void put_moment(struct cs_json_writer *w, const char *key, int64_t ms)
{
    char text[CS_TIME_TEXT];
    cs_json_key(w, key);
    cs_json_put_z(w, *cs_time_text(ms, text) ? text : NULL);
}

static void put_text(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static const char *state_of(const struct cs_key_row *row)
{
    if (row->revoked)
        return "revoked";
    return row->expires && row->expires <= cs_time_ms() ? "expired" : "active";
}

static void put_row(struct cs_json_writer *w, const struct cs_key_row *row, const char *key)
{
    cs_json_open(w, '{');
    put_text(w, "name", row->name);
    put_text(w, "id", row->id);
    if (key)
        put_text(w, "key", cs_str(key));
    put_text(w, "role", row->role);
    put_text(w, "tenant", row->tenant);
    cs_json_key(w, "reveal");
    cs_json_put_bool(w, row->reveal);
    put_moment(w, "created", row->created);
    put_moment(w, "expires", row->expires);
    put_moment(w, "last_used", row->used);
    put_moment(w, "revoked", row->revoked);
    put_text(w, "state", cs_str(state_of(row)));
    cs_json_close(w, '}');
}

static void print_json(struct cs_buf *json)
{
    CS_AUTO_BUF struct cs_buf pretty = {0};
    cs_json_pretty(cs_buf_str(json), &pretty);
    printf("%s\n", cs_buf_cstr(&pretty));
    explicit_bzero(pretty.at, pretty.len);
    explicit_bzero(json->at, json->len);
}

/* The key itself is all that goes to stdout, so that a script can take it. */
static void print_key(const struct keys *k, const char *done)
{
    const struct cs_key_row *r = &k->row;
    char expires[CS_TIME_TEXT];
    if (k->json) {
        CS_AUTO_BUF struct cs_buf json = {0};
        struct cs_json_writer w = CS_JSON_WRITER(&json);
        put_row(&w, r, k->text);
        print_json(&json);
        return;
    }
    printf("%s\n", k->text);
    fflush(stdout);
    fprintf(stderr,
            "\nThe key '%.*s' is %s: role %.*s, tenant %.*s,%s %s%s. This is the only time it is "
            "shown.\nWith the key in $KEY:\n"
            "  curl http://127.0.0.1:8002/executions -H \"Authorization: Bearer $KEY\" \\\n"
            "      -H 'Content-Type: application/json' -d '{\"code\": \"return 6 * 7\"}'\n",
            CS_STR_ARG(r->name), done, CS_STR_ARG(r->role), CS_STR_ARG(r->tenant),
            r->reveal ? " with the right to reveal values," : "",
            r->expires ? "valid until " : "without an end", cs_time_text(r->expires, expires));
}

/* --- create --- */

static void on_create_noted(void *ctx, const struct cs_err *err)
{
    struct keys *k = ctx;
    if (!err->code)
        print_key(k, "made");
    end(k, err->code ? cs_verb_failed(k->verb, err) : CS_EXIT_OK);
}

static void on_created(void *ctx, const struct cs_err *err)
{
    struct keys *k = ctx;
    if (err->code == CS_OK) {
        record(k, "key.created", on_create_noted);
        return;
    }
    struct cs_err said = *err;
    if (err->code == CS_CONFLICT)
        cs_fail(&said, CS_CONFLICT, "%s; 'caisson keys rotate %s' gives it another secret",
                err->msg, k->operands.at[0]);
    end(k, cs_verb_failed(k->verb, &said));
}

static void create(struct keys *k)
{
    struct cs_str tenant = k->tenant ? cs_str(k->tenant) : CS_STR(CS_TENANT_DEFAULT);
    struct cs_err err = {0};
    if (cs_key_make(cs_str(k->operands.at[0]), tenant, k->role, k->lifetime_ms, k->text, &k->row,
                    &err) < 0)
        end(k, cs_verb_failed(k->verb, &err));
    k->row.reveal = k->reveal;
    if (!err.code)
        cs_store_key_add(k->store, &k->row, on_created, k);
}

int cs_verb_keys_create(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_KEYS k = {.verb = verb};
    return run(&k, argc, argv, 1, create);
}

/* --- list --- */

static void print_table(const struct cs_key_row *rows, size_t count)
{
    static const struct cs_str heads[] = {{"name", 4},    {"state", 5},    {"id", 2},
                                          {"role", 4},    {"tenant", 6},   {"created", 7},
                                          {"expires", 7}, {"last used", 9}};
    CS_AUTO_TABLE struct cs_table table = {.columns = CS_COUNT(heads)};
    if (!count) {
        printf("There are no keys yet; 'caisson keys create NAME' makes one.\n");
        return;
    }
    cs_table_add(&table, heads, "");
    for (size_t i = 0; i < count; i++) {
        const struct cs_key_row *r = &rows[i];
        char created[CS_TIME_TEXT], expires[CS_TIME_TEXT], used[CS_TIME_TEXT], role[40];
        const char *state = state_of(r);
        snprintf(role, sizeof role, "%.*s%s", CS_STR_ARG(r->role), r->reveal ? ", reveal" : "");
        struct cs_str cells[] = {r->name,
                                 cs_str(state),
                                 r->id,
                                 cs_str(role),
                                 r->tenant,
                                 cs_str(cs_time_text(r->created, created)),
                                 cs_str(r->expires ? cs_time_text(r->expires, expires) : "never"),
                                 cs_str(r->used ? cs_time_text(r->used, used) : "never")};
        cs_table_add(&table, cells, state[0] == 'a' ? "\033[32m" : "\033[2m");
    }
    cs_table_print(&table, stdout, cs_table_width(stdout));
}

static void on_listed(void *ctx, const struct cs_err *err, const struct cs_key_row *rows,
                      size_t count)
{
    struct keys *k = ctx;
    if (err->code) {
        end(k, cs_verb_failed(k->verb, err));
        return;
    }
    if (k->json) {
        CS_AUTO_BUF struct cs_buf json = {0};
        struct cs_json_writer w = CS_JSON_WRITER(&json);
        cs_json_open(&w, '{');
        cs_json_key(&w, "keys");
        cs_json_open(&w, '[');
        for (size_t i = 0; i < count; i++)
            put_row(&w, &rows[i], NULL);
        cs_json_close(&w, ']');
        cs_json_close(&w, '}');
        print_json(&json);
    } else {
        print_table(rows, count);
    }
    end(k, CS_EXIT_OK);
}

static void list(struct keys *k)
{
    cs_store_keys(k->store, on_listed, k);
}

int cs_verb_keys_list(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_KEYS k = {.verb = verb};
    return run(&k, argc, argv, 0, list);
}

/* --- revoke --- */

static void on_revoke_noted(void *ctx, const struct cs_err *err)
{
    struct keys *k = ctx;
    if (!err->code)
        printf("revoked '%s'\n", k->operands.at[0]);
    end(k, err->code ? cs_verb_failed(k->verb, err) : CS_EXIT_OK);
}

static void on_revoked(void *ctx, const struct cs_err *err)
{
    struct keys *k = ctx;
    if (err->code)
        end(k, cs_verb_failed(k->verb, err));
    else
        record(k, "key.revoked", on_revoke_noted);
}

static void revoke_it(struct keys *k)
{
    cs_store_key_revoke(k->store, cs_str(k->operands.at[0]), 0, on_revoked, k);
}

int cs_verb_keys_revoke(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_KEYS k = {.verb = verb};
    return run(&k, argc, argv, 1, revoke_it);
}

/* --- rotate --- */

static void on_rotate_noted(void *ctx, const struct cs_err *err)
{
    struct keys *k = ctx;
    if (!err->code)
        print_key(k, "new, and the one before it is not valid any more");
    end(k, err->code ? cs_verb_failed(k->verb, err) : CS_EXIT_OK);
}

static void on_rotated(void *ctx, const struct cs_err *err)
{
    struct keys *k = ctx;
    if (err->code)
        end(k, cs_verb_failed(k->verb, err));
    else
        record(k, "key.rotated", on_rotate_noted);
}

/* By name first, as the store does. */
static const struct cs_key_row *find(const struct cs_key_row *rows, size_t count,
                                     struct cs_str word)
{
    const struct cs_key_row *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].revoked)
            continue;
        if (cs_str_eq(rows[i].name, word))
            return &rows[i];
        if (cs_str_eq(rows[i].id, word))
            found = &rows[i];
    }
    return found;
}

/* The new one lives as long as the old one was meant to, unless something else is asked for. */
static int make_next(struct keys *k, const struct cs_key_row *old, struct cs_err *err)
{
    if (!old)
        return cs_fail(err, CS_MISSING,
                       "there is no key '%s' in use; 'caisson keys list' shows all",
                       k->operands.at[0]);
    if (!k->has_lifetime && old->expires)
        k->lifetime_ms = old->expires - old->created;
    snprintf(k->names[0], sizeof k->names[0], "%.*s", CS_STR_ARG(old->name));
    snprintf(k->names[1], sizeof k->names[1], "%.*s", CS_STR_ARG(old->tenant));
    if (cs_key_role_parse(old->role, &k->role, err) < 0)
        return -1;
    if (cs_key_make(cs_str(k->names[0]), cs_str(k->names[1]), k->role, k->lifetime_ms, k->text,
                    &k->row, err) < 0)
        return -1;
    k->row.reveal = old->reveal;
    return 0;
}

static void on_found(void *ctx, const struct cs_err *found, const struct cs_key_row *rows,
                     size_t count)
{
    struct keys *k = ctx;
    struct cs_err err = *found;
    const struct cs_key_row *old = find(rows, count, cs_str(k->operands.at[0]));
    if (err.code || make_next(k, old, &err) < 0)
        end(k, cs_verb_failed(k->verb, &err));
    else
        cs_store_key_rotate(k->store, old->id, k->row.id, k->row.hash, k->row.expires, on_rotated,
                            k);
}

static void rotate(struct keys *k)
{
    cs_store_keys(k->store, on_found, k);
}

int cs_verb_keys_rotate(const struct cs_verb *verb, int argc, char **argv)
{
    AUTO_KEYS k = {.verb = verb};
    return run(&k, argc, argv, 1, rotate);
}
