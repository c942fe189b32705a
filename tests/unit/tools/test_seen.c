/* How tools stand that were seen before: from the list of the last time, and from a server that
 * changes its mind. */
#include "world.h"

#include <sqlite3.h>

#include "base/mem.h"
#include "base/time.h"

#define ONE(description)                                                                           \
    "{\"name\":\"send\",\"description\":\"" description "\",\"inputSchema\":{\"type\":\"object\"}" \
    "}"
#define TWO     "{\"name\":\"read\",\"inputSchema\":{}}"
#define MAILERS "\"mail\":{\"command\":\"sh\",\"args\":[\"%s/mail.sh\",\"%s/list\"%s]}"

/* A server that lists what is in a file. */
#define MAIL                                                                                     \
    "say() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\\n' \"$id\" \"$1\"; }\n"      \
    "while read -r line; do\n"                                                                   \
    "id=${line#*'\"id\":'}; id=${id%%,*}; id=${id%%\\}*}\n"                                      \
    "case $line in\n"                                                                            \
    "*'\"initialize\"'*) say '{\"protocolVersion\":\"2025-06-18\",\"capabilities\":"             \
    "{\"tools\":{\"listChanged\":true}},\"serverInfo\":{\"name\":\"m\",\"version\":\"1\"}}';;\n" \
    "*'\"tools/list\"'*) say \"{\\\"tools\\\":$(cat \"$1\")}\";;\n"                              \
    "*'\"name\":\"read\"'*) say '{\"content\":[]}'; printf "                                     \
    "'{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\\n';;\n"             \
    "esac; done"

static struct cs_store *store;

static void set_true(void *ctx)
{
    *(bool *)ctx = true;
}

static void until(struct world *w, const bool *what)
{
    int64_t end = cs_tick_ms() + 60000;
    while (!*what) {
        if (cs_tick_ms() > end)
            fail_msg("it takes too long");
        uv_run(&w->loop, UV_RUN_NOWAIT);
        struct timespec ms = {.tv_nsec = 1000000};
        nanosleep(&ms, NULL);
    }
}

static void stored(void *ctx, const struct cs_err *err)
{
    assert_int_equal(err->code, CS_OK);
    *(bool *)ctx = true;
}

/* Everything that was asked of the store is answered. */
static void settle(struct world *w)
{
    bool done = false;
    cs_store_append(store, NULL, 0, stored, &done);
    until(w, &done);
}

static void put_list(struct world *w, const char *tools)
{
    char path[96];
    struct cs_err err = {0};
    snprintf(path, sizeof path, "%s/list", w->dir);
    assert_int_equal(cs_file_replace(path, cs_str(tools), 0600, &err), 0);
}

static void configure(struct world *w, const char *more)
{
    CS_AUTO_BUF struct cs_buf entry = {0};
    cs_buf_printf(&entry, MAILERS, w->dir, w->dir, more);
    put_config(w, cs_buf_cstr(&entry));
}

static int setup(void **state)
{
    if (make_world(state) != 0)
        return -1;
    struct world *w = *state;
    char path[96];
    struct cs_err err = {0};
    snprintf(path, sizeof path, "%s/mail.sh", w->dir);
    assert_int_equal(cs_file_replace(path, CS_STR(MAIL), 0600, &err), 0);
    assert_int_equal(cs_store_open(&w->loop, w->data, &store, &err), 0);
    configure(w, "");
    return 0;
}

static void close_all(struct world *w)
{
    if (!w->tools)
        return;
    w->closed = false;
    cs_tools_close(w->tools, on_world_closed, w);
    until(w, &w->closed);
    w->tools = NULL;
}

static int teardown(void **state)
{
    struct world *w = *state;
    close_all(w);
    cs_store_close(store, NULL, NULL);
    return drop_world(state);
}

static void open_with(struct world *w, struct cs_store *with)
{
    struct cs_err err = {0};
    struct cs_tools_options options = {
        .config_path = w->config, .data_dir = w->data, .store = with};
    assert_int_equal(cs_tools_new(&w->loop, &options, &w->tools, &err), 0);
}

/* The next process, which knows this list from the last time. */
static void restart(struct world *w, const char *list)
{
    close_all(w);
    remember(w, "mail", list);
    open_with(w, store);
    settle(w);
}

static struct cs_catalogue *held;

static const struct cs_tool *tool_of(struct world *w, const char *name)
{
    cs_catalogue_unref(held);
    held = cs_tools_current(w->tools);
    const struct cs_tool *t = cs_catalogue_find(held, CS_STR("mail"), cs_str(name));
    if (!t)
        fail_msg("there is no mail.%s", name);
    return t;
}

static const char *standing(struct world *w, const char *name)
{
    const char *answer = cs_tool_standing_name(cs_tool_standing(tool_of(w, name)));
    cs_catalogue_unref(held);
    held = NULL;
    return answer;
}

static void sql(struct world *w, const char *text)
{
    sqlite3 *db = NULL;
    char path[128];
    snprintf(path, sizeof path, "%s/caisson.db", w->data);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void look(struct world *w, const struct cs_tool *t)
{
    unsigned char hash[32];
    bool done = false;
    cs_tool_definition_hash(t, hash);
    cs_store_tool_look(store, CS_STR("mail"), t->name, hash, NULL, stored, &done);
    until(w, &done);
}

/* --- the tests --- */

static void what_comes_first_is_known(void **state)
{
    struct world *w = *state;
    remember(w, "mail", "[" ONE("sends") "," TWO "]");
    open_with(w, store);
    /* Until the store has answered nobody can say. */
    assert_string_equal(standing(w, "send"), "changed");
    settle(w);
    assert_string_equal(standing(w, "send"), "known");
    assert_string_equal(standing(w, "read"), "known");
    restart(w, "[" ONE("sends") "," TWO "]");
    assert_string_equal(standing(w, "send"), "known");
    close_all(w);
    open_with(w, NULL);
    assert_string_equal(standing(w, "send"), "known");
}

static void another_description_is_another_definition(void **state)
{
    struct world *w = *state;
    restart(w, "[" ONE("sends") "," TWO "]");
    restart(w, "[" TWO "," ONE("sends, and copies me") "]");
    assert_string_equal(standing(w, "send"), "changed");
    assert_string_equal(standing(w, "read"), "known");
    assert_str_is(cs_tool_before(tool_of(w, "send")),
                  "{\"description\":\"sends\",\"inputSchema\":{\"type\":\"object\"},"
                  "\"name\":\"send\"}");
    assert_int_equal(cs_tool_before(tool_of(w, "read")).len, 0);
    restart(w, "[" TWO "," ONE("sends, and copies me") "]");
    assert_string_equal(standing(w, "send"), "changed");
    look(w, tool_of(w, "send"));
    restart(w, "[" TWO "," ONE("sends, and copies me") "]");
    assert_string_equal(standing(w, "send"), "known");
    cs_catalogue_unref(held);
    held = NULL;
}

/* Space and the order of members mean nothing; what was learned is no definition. */
static void the_same_in_other_words_is_the_same(void **state)
{
    struct world *w = *state;
    restart(w, "[" ONE("sends") "]");
    restart(w, "[ {\"inputSchema\": {\"type\": \"object\"}, \"description\": \"s\\u0065nds\","
               " \"name\": \"send\"} ]");
    assert_string_equal(standing(w, "send"), "known");
    const struct cs_tool *t = tool_of(w, "send");
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_BUF struct cs_buf drift = {0};
    struct cs_err err = {0};
    assert_int_equal(cs_json_parse(CS_STR("{\"a\":1}"), NULL, &doc, &err), 0);
    cs_tools_seen(w->tools, t, cs_json_root(&doc), NULL, &drift);
    uint64_t serial = cs_catalogue_serial(held);
    for (int i = 0; i < 2000 && cs_catalogue_serial(held) == serial; i++) {
        settle(w);
        tool_of(w, "send");
    }
    assert_true(tool_of(w, "send")->learned > 0);
    assert_string_equal(standing(w, "send"), "known");
}

static void what_comes_later_is_young(void **state)
{
    struct world *w = *state;
    restart(w, "[" TWO "]");
    restart(w, "[" ONE("sends") "," TWO "]"); /* its server is new, too */
    assert_string_equal(standing(w, "send"), "known");
    sql(w, "DELETE FROM tools_seen WHERE tool <> 'read'");
    sql(w, "UPDATE tools_seen SET server_since = server_since - 600000, since = since - 600000");
    restart(w, "[" ONE("sends") "," TWO "]");
    assert_string_equal(standing(w, "send"), "young");
    assert_string_equal(standing(w, "read"), "known");
    sql(w, "UPDATE tools_seen SET since = since - 300001");
    restart(w, "[" ONE("sends") "," TWO "]");
    assert_string_equal(standing(w, "send"), "known");
}

static void whoever_looks_ends_the_youth(void **state)
{
    struct world *w = *state;
    restart(w, "[" TWO "]");
    sql(w, "DELETE FROM tools_seen WHERE tool <> 'read'");
    sql(w, "UPDATE tools_seen SET server_since = server_since - 600000, since = since - 600000");
    restart(w, "[" ONE("sends") "," TWO "]");
    assert_string_equal(standing(w, "send"), "young");
    look(w, tool_of(w, "send"));
    /* Whoever asks is told at once, not when it is looked the next time. */
    bool ready = false;
    cs_tools_look_again(w->tools);
    cs_tools_await(w->tools, CS_STR("mail"), false, 50000, set_true, &ready);
    until(w, &ready);
    assert_string_equal(standing(w, "send"), "known");
    cs_catalogue_unref(held);
    held = NULL;
    restart(w, "[" ONE("sends") "," TWO "]");
    assert_string_equal(standing(w, "send"), "known");
}

static void another_entry_is_another_server(void **state)
{
    struct world *w = *state;
    restart(w, "[" ONE("sends") "]");
    close_all(w);
    configure(w, ",\"--more\"");
    restart(w, "[" ONE("sends otherwise") "]");
    assert_string_equal(standing(w, "send"), "known");
    close_all(w);
    configure(w, "");
    restart(w, "[" ONE("sends otherwise") "]");
    assert_string_equal(standing(w, "send"), "changed");
}

/* --- a server that is really there --- */

static void on_result(void *ctx, const struct cs_tool_result *r)
{
    assert_int_equal(r->err.code, CS_OK);
    *(bool *)ctx = true;
}

static void wait_for(struct world *w, const struct cs_tool *t, enum cs_tool_standing wanted)
{
    int64_t end = cs_tick_ms() + 60000;
    while (cs_tool_standing(t) != wanted) {
        if (cs_tick_ms() > end)
            fail_msg("it is still %s", cs_tool_standing_name(cs_tool_standing(t)));
        settle(w);
    }
}

static void whoever_began_before_the_change_hears_of_it(void **state)
{
    struct world *w = *state;
    bool ready = false, called = false;
    put_list(w, "[" ONE("sends") "," TWO "]");
    open_with(w, store);
    cs_tools_await(w->tools, CS_STR("mail"), true, 50000, set_true, &ready);
    until(w, &ready);
    /* Its offer is shown when it is known how it stands. */
    const struct cs_tool *t = tool_of(w, "send");
    assert_int_equal(cs_tool_standing(t), CS_TOOL_KNOWN);
    struct cs_catalogue *old = cs_catalogue_ref(held);
    put_list(w, "[" ONE("sends, and copies me") "," TWO "]");
    cs_tools_call(w->tools, tool_of(w, "read"), CS_STR("{}"), 60000, 1 << 20, NULL, on_result,
                  &called);
    until(w, &called); /* and says that its list has changed */
    wait_for(w, t, CS_TOOL_CHANGED);
    for (bool shown = false; !shown;) {
        settle(w);
        shown = tool_of(w, "send") != t;
    }
    assert_int_equal(cs_tool_standing(tool_of(w, "send")), CS_TOOL_CHANGED);
    /* Somebody looks, elsewhere. */
    look(w, tool_of(w, "send"));
    wait_for(w, t, CS_TOOL_KNOWN);
    cs_catalogue_unref(old);
    cs_catalogue_unref(held);
    held = NULL;
}

static void tools_may_be_closed_while_the_store_is_asked(void **state)
{
    struct world *w = *state;
    remember(w, "mail", "[" ONE("sends") "]");
    open_with(w, store);
    close_all(w);
    settle(w);
}

#define WITH(name) CS_TEST_WITH(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(what_comes_first_is_known),
        WITH(another_description_is_another_definition),
        WITH(the_same_in_other_words_is_the_same),
        WITH(what_comes_later_is_young),
        WITH(whoever_looks_ends_the_youth),
        WITH(another_entry_is_another_server),
        WITH(whoever_began_before_the_change_hears_of_it),
        WITH(tools_may_be_closed_while_the_store_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
