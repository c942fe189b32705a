/* A cs_tools over a configuration file and a data directory of its own. */
#ifndef CS_TEST_WORLD_H
#define CS_TEST_WORLD_H

#include "offers.h"

#include <inttypes.h>
#include <signal.h>
#include <uv.h>

#include "base/json.h"
#include "tools/tools.h"

/*
 * A server in a few lines of shell: `text` answers a text, `late` never answers, `die` ends it,
 * `wrong` declares an output type. Its tools are those, and the words after the script.
 */
#define SCRIPT                                                                                   \
    "say() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\\n' \"$id\" \"$1\"; }\n"      \
    "while read -r line; do\n"                                                                   \
    "id=${line#*'\"id\":'}; id=${id%%,*}; id=${id%%\\}*}\n"                                      \
    "case $line in\n"                                                                            \
    "*'\"initialize\"'*) say "                                                                   \
    "'{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"                      \
    "\"serverInfo\":{\"name\":\"sh\",\"version\":\"7\"},\"instructions\":\"Says things.\"}';;\n" \
    "*'\"tools/list\"'*) l='{\"name\":\"wrong\",\"inputSchema\":{},\"outputSchema\":"            \
    "{\"type\":\"object\",\"required\":[\"a\"]}}'; for t in text late die \"$@\"; do "           \
    "l=\"$l,{\\\"name\\\":\\\"$t\\\",\\\"inputSchema\\\":{}}\"; done; say "                      \
    "\"{\\\"tools\\\":[$l]}\";;\n"                                                               \
    "*'\"name\":\"text\"'*) say '{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}';;\n"    \
    "*'\"name\":\"die\"'*) exit 3;;\n"                                                           \
    "*'\"name\":\"late\"'*) ;;\n"                                                                \
    "*notifications/*) ;;\n"                                                                     \
    "*) printf "                                                                                 \
    "'{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"no\"}}\\n' "       \
    "\"$id\";;\n"                                                                                \
    "esac; done"

struct world {
    uv_loop_t loop;
    char dir[64], config[96], data[96];
    struct cs_tools *tools;
    bool closed;
};

static inline int make_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    snprintf(w->dir, sizeof w->dir, "/tmp/caisson-it-tools-XXXXXX");
    if (!mkdtemp(w->dir) || uv_loop_init(&w->loop) != 0)
        return -1;
    snprintf(w->config, sizeof w->config, "%s/caisson.json", w->dir);
    snprintf(w->data, sizeof w->data, "%s/data", w->dir);
    char script[96];
    struct cs_err err = {0};
    snprintf(script, sizeof script, "%s/server.sh", w->dir);
    if (cs_file_replace(script, CS_STR(SCRIPT), 0600, &err) < 0)
        return -1;
    signal(SIGPIPE, SIG_IGN);
    *state = w;
    return mkdir(w->data, 0700);
}

static inline void on_world_closed(void *ctx)
{
    struct world *w = ctx;
    w->closed = true;
}

static inline void close_tools(struct world *w)
{
    if (!w->tools)
        return;
    w->closed = false;
    cs_tools_close(w->tools, on_world_closed, w);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_true(w->closed);
    w->tools = NULL;
}

static inline int drop_world(void **state)
{
    struct world *w = *state;
    close_tools(w);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&w->loop) != 0)
        return -1; /* a handle is left */
    cs_dir_remove(AT_FDCWD, w->dir);
    free(w);
    return 0;
}

static inline void put_config(struct world *w, const char *servers)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_err err = {0};
    cs_buf_printf(&text, "{\"mcpServers\":{%s}}", servers);
    assert_int_equal(cs_file_replace(w->config, cs_buf_str(&text), 0600, &err), 0);
}

/* An entry for the server in shell, with one more tool. */
static inline void shell_entry(struct world *w, struct cs_buf *out, const char *name,
                               const char *tool)
{
    cs_buf_printf(out, "%s\"%s\":{\"command\":\"sh\",\"args\":[\"%s/server.sh\",\"%s\"]}",
                  out->len ? "," : "", name, w->dir, tool);
}

static inline void open_tools(struct world *w, bool watch)
{
    struct cs_err err = {0};
    struct cs_tools_options options = {
        .config_path = w->config, .data_dir = w->data, .watch = watch};
    if (cs_tools_new(&w->loop, &options, &w->tools, &err) < 0)
        fail_msg("%s", err.msg);
}

/* As if the server had listed these the last time. */
static inline void remember(struct world *w, const char *server, const char *tools)
{
    struct cs_config config = {0};
    struct cs_err err = {0};
    char hash[20];
    assert_int_equal(cs_config_peek(w->config, &config, &err), 0);
    snprintf(hash, sizeof hash, "%016" PRIx64, cs_config_find(&config, cs_str(server))->hash);
    struct cs_cached cached = {.config = cs_str(hash),
                               .tools = cs_str(tools),
                               .listed_at = 1,
                               .server_version = CS_STR("9")};
    assert_int_equal(cs_cache_write(w->data, cs_str(server), &cached, &err), 0);
    cs_config_done(&config);
}

#endif
