/*
 * An MCP server over stdio that costs next to nothing, for benchmarks and tests: legacy, one
 * thread, blocking. Its tools: `echo` answers its arguments, as JSON text and as structuredContent;
 * `big` answers a text of `bytes` bytes; `rows` answers `rows` records as structuredContent; `exit`
 * ends the server with `status`; `hang` is never answered; after `freeze` nothing is, and no signal
 * but SIGKILL ends it.
 *
 *     echo_server [N]      and N more tools that do nothing, so that a catalogue can be made large
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"

#define BIG_MAX (256 << 20)

static const char tools[] =
    "[{\"name\":\"echo\",\"description\":\"Answers what it was given.\","
    "\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true}},"
    "{\"name\":\"big\",\"description\":\"Answers a text of so many bytes.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"bytes\":{\"type\":\"integer\"}},"
    "\"required\":[\"bytes\"]},\"annotations\":{\"readOnlyHint\":true}},"
    "{\"name\":\"rows\",\"description\":\"Answers so many records.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"rows\":{\"type\":\"integer\"}},"
    "\"required\":[\"rows\"]},\"annotations\":{\"readOnlyHint\":true}},"
    "{\"name\":\"exit\",\"description\":\"Ends this server.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"status\":{\"type\":\"integer\"}}}},"
    "{\"name\":\"hang\",\"description\":\"Never answers.\","
    "\"inputSchema\":{\"type\":\"object\"}},"
    "{\"name\":\"freeze\",\"description\":\"Never answers anything any more.\","
    "\"inputSchema\":{\"type\":\"object\"}}";

static unsigned long fillers; /* tools that do nothing */

static void put_tools(struct cs_json_writer *w)
{
    cs_json_put_raw(w, cs_str(tools));
    for (unsigned long i = 0; i < fillers; i++)
        cs_buf_printf(w->out,
                      ",{\"name\":\"filler_%lu\",\"description\":\"Number %lu of those that do "
                      "nothing.\",\"inputSchema\":{\"type\":\"object\"}}",
                      i, i);
    cs_buf_putc(w->out, ']');
}

static void send_out(struct cs_buf *out)
{
    cs_buf_putc(out, '\n');
    for (size_t at = 0; at < out->len;) {
        ssize_t n = write(1, out->at + at, out->len - at);
        if (n < 0 && errno != EINTR)
            exit(1);
        at += n > 0 ? (size_t)n : 0;
    }
}

static void put_rows(struct cs_json_writer *w, int64_t rows)
{
    cs_json_key(w, "content");
    cs_json_put_raw(w, CS_STR("[]"));
    cs_json_key(w, "structuredContent");
    cs_json_open(w, '{');
    cs_json_key(w, "rows");
    cs_json_open(w, '[');
    for (int64_t i = 0; i < rows; i++) {
        char text[64];
        cs_json_open(w, '{');
        cs_json_key(w, "id");
        cs_json_put_i64(w, i);
        cs_json_key(w, "name");
        snprintf(text, sizeof text, "record number %lld", (long long)i);
        cs_json_put_z(w, text);
        cs_json_key(w, "ok");
        cs_json_put_bool(w, i % 2 == 0);
        cs_json_close(w, '}');
    }
    cs_json_close(w, ']');
    cs_json_close(w, '}');
}

/* Those of the tools that do not answer. */
static bool silent(struct cs_json_val params)
{
    struct cs_json_val name = cs_json_get(params, "name");
    if (cs_json_is(name, "freeze")) {
        signal(SIGTERM, SIG_IGN);
        for (;;)
            pause();
    }
    return cs_json_is(name, "hang");
}

static void call(struct cs_json_writer *w, struct cs_json_val params)
{
    struct cs_json_val name = cs_json_get(params, "name");
    struct cs_json_val arguments = cs_json_get(params, "arguments");
    struct cs_str raw = cs_json_raw(arguments);
    int64_t n = 0;
    cs_json_key(w, "result");
    cs_json_open(w, '{');
    if (cs_json_is(name, "rows")) {
        cs_json_i64(cs_json_get(arguments, "rows"), &n);
        put_rows(w, n < BIG_MAX / 64 ? n : BIG_MAX / 64);
    } else if (cs_json_is(name, "echo")) {
        cs_json_key(w, "content");
        cs_json_open(w, '[');
        cs_json_open(w, '{');
        cs_json_key(w, "type");
        cs_json_put_z(w, "text");
        cs_json_key(w, "text");
        cs_json_put_str(w, raw.len ? raw : CS_STR("{}"));
        cs_json_close(w, '}');
        cs_json_close(w, ']');
        cs_json_key(w, "structuredContent");
        cs_json_put_raw(w, raw.len ? raw : CS_STR("{}"));
    } else if (cs_json_is(name, "big")) {
        cs_json_i64(cs_json_get(arguments, "bytes"), &n);
        n = n < 0 ? 0 : n > BIG_MAX ? BIG_MAX : n;
        cs_json_put_raw(w, CS_STR("\"content\":[{\"type\":\"text\",\"text\":\""));
        memset(cs_buf_room(w->out, (size_t)n), 'x', (size_t)n);
        cs_buf_added(w->out, (size_t)n);
        cs_buf_puts(w->out, "\"}]");
    } else if (cs_json_is(name, "exit")) {
        cs_json_i64(cs_json_get(arguments, "status"), &n);
        exit((int)n);
    } else {
        cs_json_put_raw(w, CS_STR("\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":"
                                  "\"unknown tool\"}]"));
    }
    cs_json_close(w, '}');
}

static void answer(struct cs_str line, struct cs_buf *out)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    struct cs_err err = {0};
    if (cs_json_parse(line, NULL, &doc, &err) < 0) {
        fprintf(stderr, "echo_server: %s\n", err.msg);
        return;
    }
    struct cs_json_val root = cs_json_root(&doc), method = cs_json_get(root, "method");
    struct cs_json_val id = cs_json_get(root, "id"), params = cs_json_get(root, "params");
    if (cs_json_type(id) == CS_JSON_NONE || (cs_json_is(method, "tools/call") && silent(params)))
        return;
    cs_buf_clear(out);
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "jsonrpc");
    cs_json_put_z(&w, "2.0");
    cs_json_key(&w, "id");
    cs_json_put_raw(&w, cs_json_raw(id));
    if (cs_json_is(method, "tools/call")) {
        call(&w, params);
    } else if (cs_json_is(method, "tools/list")) {
        cs_json_key(&w, "result");
        cs_json_open(&w, '{');
        cs_json_key(&w, "tools");
        put_tools(&w);
        cs_json_close(&w, '}');
    } else if (cs_json_is(method, "initialize")) {
        cs_json_key(&w, "result");
        cs_json_open(&w, '{');
        cs_json_key(&w, "protocolVersion");
        cs_json_put_raw(&w, cs_json_raw(cs_json_get(params, "protocolVersion")));
        cs_json_key(&w, "capabilities");
        cs_json_put_raw(&w, CS_STR("{\"tools\":{}}"));
        cs_json_key(&w, "serverInfo");
        cs_json_put_raw(&w, CS_STR("{\"name\":\"echo\",\"version\":\"1\"}"));
        cs_json_close(&w, '}');
    } else if (cs_json_is(method, "ping")) {
        cs_json_key(&w, "result");
        cs_json_put_raw(&w, CS_STR("{}"));
    } else {
        cs_json_key(&w, "error");
        cs_json_put_raw(&w, CS_STR("{\"code\":-32601,\"message\":\"Method not found\"}"));
    }
    cs_json_close(&w, '}');
    send_out(out);
}

int main(int argc, char **argv)
{
    fillers = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    CS_AUTO_BUF struct cs_buf in = {0}, out = {0};
    for (;;) {
        size_t scanned = in.len;
        ssize_t n = read(0, cs_buf_room(&in, 1 << 20), 1 << 20);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        cs_buf_added(&in, (size_t)n);
        size_t taken = 0;
        char *newline;
        while (scanned < in.len && (newline = memchr(in.at + scanned, '\n', in.len - scanned))) {
            answer(cs_strn(in.at + taken, (size_t)(newline - in.at) - taken), &out);
            taken = scanned = (size_t)(newline - in.at) + 1;
        }
        cs_buf_drop(&in, taken);
    }
}
