/*
 * The `caisson` command inside a guest: a shell's way to the bridge.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "sandbox/guest.h"
#include "sandbox/wire.h"

/* Where this program is inside a guest. */
#define SELF "/caisson/bin/caisson"

static const char usage[] =
    "caisson call SERVER TOOL [JSON]        call a tool; prints its value as JSON\n"
    "caisson search TEXT [OPTION...]        find tools: a line each, name, path, what it does\n"
    "    --server NAME, --limit N, --offset N, --detail name|summary|full, --json\n"
    "caisson show TOOL                      the declaration of a tool: server/tool, or its path\n"
    "caisson progress N [TOTAL] [MESSAGE]   tell how far the work is\n"
    "caisson log LEVEL TEXT                 debug, info, warn or error\n"
    "caisson inputs                         print the inputs as JSON\n"
    "With - instead of JSON the arguments are read from standard input.\n";

/* One speaker at a time: the lock that the other SDKs take too. */
static int take_turn(void)
{
    int fd = open(SELF, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) /* not inside: a test */
        fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX) < 0) {
        fprintf(stderr, "caisson: lock: %s\n", strerror(errno));
        exit(1);
    }
    return fd;
}

static int bridge(void)
{
    const char *text = getenv("CAISSON_BRIDGE");
    return text ? (int)strtol(text, NULL, 10) : 3;
}

static int send_all(struct cs_buf *b)
{
    for (size_t at = 0; at < b->len;) {
        ssize_t n = write(bridge(), b->at + at, b->len - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            fprintf(stderr, "caisson: bridge: %s\n", strerror(errno));
            return 1;
        }
        at += (size_t)n;
    }
    return 0;
}

/* "what went wrong", then what to do about it. */
static void print_failure(struct cs_str payload)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str message = payload, suggestion = {0};
    if (cs_json_parse(payload, NULL, &doc, NULL) == 0) {
        struct cs_json_val said = cs_json_root(&doc);
        if (cs_json_type(cs_json_get(said, "message")) == CS_JSON_STRING)
            message = cs_json_str(cs_json_get(said, "message"), &arena);
        suggestion = cs_json_str(cs_json_get(said, "suggestion"), &arena);
    }
    fprintf(stderr, "caisson: %.*s\n", CS_STR_ARG(message));
    if (suggestion.len)
        fprintf(stderr, "%.*s\n", CS_STR_ARG(suggestion));
}

static void print_json(struct cs_str payload)
{
    fwrite(payload.at, 1, payload.len, stdout);
    putchar('\n');
}

/* A value that is a text, as that text. */
static void print_text(struct cs_str payload)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (cs_json_parse(payload, NULL, &doc, NULL) < 0 ||
        cs_json_type(cs_json_root(&doc)) != CS_JSON_STRING) {
        print_json(payload);
        return;
    }
    struct cs_str text = cs_json_str(cs_json_root(&doc), &arena);
    fwrite(text.at, 1, text.len, stdout);
    if (!cs_str_ends(text, "\n"))
        putchar('\n');
}

static void print_found(struct cs_str payload)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    if (cs_json_parse(payload, NULL, &doc, NULL) < 0) {
        print_json(payload);
        return;
    }
    static const char *const keys[] = {"tool", "path", "summary", "definition"};
    struct cs_json_val tools = cs_json_get(cs_json_root(&doc), "tools"), tool;
    struct cs_json_iter it = {0};
    while (cs_json_next(tools, &it, NULL, &tool)) {
        for (size_t i = 0; i < CS_COUNT(keys); i++) {
            struct cs_str text = cs_json_str(cs_json_get(tool, keys[i]), &arena);
            if (text.len)
                printf("%s%.*s", i ? "\t" : "", CS_STR_ARG(text));
        }
        putchar('\n');
    }
}

static int print_result(struct cs_str body, void (*print)(struct cs_str payload))
{
    uint8_t status;
    struct cs_str payload;
    if (!(cs_field_u8(&body, &status) & cs_field_str(&body, &payload))) {
        fprintf(stderr, "caisson: the answer is cut short\n");
        return 1;
    }
    if (status != CS_ANSWER_OK) {
        print_failure(payload);
        return 1;
    }
    print(payload);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* Waits for the answer to `id`. Answers to others, who died waiting, are passed over. */
static int receive(uint64_t id, void (*print)(struct cs_str payload))
{
    struct cs_wire_reader reader;
    struct cs_frame frame;
    struct cs_err err = {0};
    cs_wire_reader_init(&reader, CS_SIDE_DAEMON, CS_PHASE_EXECUTE);
    int r = -1;
    for (;;) {
        int got = cs_wire_next(&reader, &frame, &err);
        if (got < 0)
            break;
        if (got == 1) {
            if (frame.type != CS_MSG_RESULT || frame.id != id)
                continue;
            r = print_result(frame.body, print);
            break;
        }
        /* Never more than this frame needs: what follows may be for another process. */
        size_t room, want = cs_wire_missing(&reader);
        if (want == 0)
            want = sizeof(struct cs_frame_head) - (reader.buf.len - reader.used);
        char *at = cs_wire_room(&reader, want, &room);
        ssize_t n = read(bridge(), at, want);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            cs_fail(&err, CS_SYSTEM, "the bridge is closed");
            break;
        }
        cs_wire_added(&reader, (size_t)n);
    }
    if (r < 0)
        fprintf(stderr, "caisson: %s\n", err.msg);
    cs_wire_reader_done(&reader);
    return r < 0 ? 1 : r;
}

static int read_stdin(struct cs_buf *b)
{
    for (;;) {
        ssize_t n = read(0, cs_buf_room(b, 65536), 65536);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            return 0;
        cs_buf_added(b, (size_t)n);
        if (b->len > CS_CALL_MAX) {
            errno = E2BIG;
            return -1;
        }
    }
}

static int call(struct cs_str server, struct cs_str tool, struct cs_str arguments,
                void (*print)(struct cs_str payload))
{
    CS_AUTO_BUF struct cs_buf out = {0};
    uint64_t id;
    if (getrandom(&id, sizeof id, 0) != sizeof id)
        return 1;
    id = id >> 1 | 1;
    size_t mark = cs_frame_begin(&out, CS_MSG_CALL, id, 0);
    cs_put_str(&out, server);
    cs_put_str(&out, tool);
    cs_put_str(&out, arguments);
    cs_frame_end(&out, mark);
    CS_AUTO_FD int turn = take_turn();
    return send_all(&out) ? 1 : receive(id, print);
}

static int do_call(int argc, char **argv)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_str arguments = CS_STR("{}");
    if (argc < 4 || argc > 5)
        return -1;
    if (argc == 5)
        arguments = cs_str(argv[4]);
    if (cs_str_is(arguments, "-")) {
        if (read_stdin(&text) < 0) {
            fprintf(stderr, "caisson: standard input: %s\n", strerror(errno));
            return 1;
        }
        arguments = cs_buf_str(&text);
        while (arguments.len > 0 && strchr(" \t\r\n", arguments.at[arguments.len - 1]))
            arguments.len--;
    }
    return call(cs_str(argv[2]), cs_str(argv[3]), arguments, print_json);
}

static bool is_number(const char *z);

static int do_search(int argc, char **argv)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    static const char *const options[] = {"--server", "--limit", "--offset", "--detail"};
    void (*print)(struct cs_str) = print_found;
    if (argc < 3)
        return -1;
    cs_json_open(&w, '{');
    cs_json_key(&w, "query");
    cs_json_put_z(&w, argv[2]);
    for (int i = 3; i < argc; i++) {
        size_t k = 0;
        if (strcmp(argv[i], "--json") == 0) {
            print = print_json;
            continue;
        }
        while (k < CS_COUNT(options) && strcmp(argv[i], options[k]) != 0)
            k++;
        if (k == CS_COUNT(options) || ++i == argc)
            return -1;
        cs_json_key(&w, options[k] + 2);
        if ((k == 1 || k == 2) && is_number(argv[i]))
            cs_json_put_raw(&w, cs_str(argv[i]));
        else
            cs_json_put_z(&w, argv[i]);
    }
    cs_json_close(&w, '}');
    return call(CS_STR("caisson"), CS_STR("searchTools"), cs_buf_str(&json), print);
}

static int do_show(int argc, char **argv)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    if (argc != 3)
        return -1;
    cs_json_open(&w, '{');
    cs_json_key(&w, "path");
    cs_json_put_z(&w, argv[2]);
    cs_json_close(&w, '}');
    return call(CS_STR("caisson"), CS_STR("readToolDefinition"), cs_buf_str(&json), print_text);
}

static bool is_number(const char *z)
{
    char *end;
    strtod(z, &end);
    return end != z && !*end && strspn(z, "+-.0123456789eE") == strlen(z) && z[0] != '+';
}

static int do_progress(int argc, char **argv)
{
    CS_AUTO_BUF struct cs_buf json = {0}, out = {0};
    if (argc < 3 || argc > 5 || !is_number(argv[2]))
        return -1;
    cs_buf_printf(&json, "{\"progress\":%s", argv[2]);
    int next = 3;
    if (next < argc && is_number(argv[next]))
        cs_buf_printf(&json, ",\"total\":%s", argv[next++]);
    if (next < argc) {
        struct cs_json_writer w = CS_JSON_WRITER(&json);
        cs_buf_puts(&json, ",\"message\":");
        cs_json_put_z(&w, argv[next]);
    }
    cs_buf_putc(&json, '}');
    size_t mark = cs_frame_begin(&out, CS_MSG_PROGRESS, 0, 0);
    cs_put_str(&out, cs_buf_str(&json));
    cs_frame_end(&out, mark);
    CS_AUTO_FD int turn = take_turn();
    return send_all(&out);
}

static int do_log(int argc, char **argv)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    CS_AUTO_BUF struct cs_buf out = {0};
    if (argc != 4)
        return -1;
    uint8_t level = 0;
    while (level < CS_COUNT(levels) && strcmp(levels[level], argv[2]) != 0)
        level++;
    if (level == CS_COUNT(levels))
        return -1;
    size_t mark = cs_frame_begin(&out, CS_MSG_LOG, 0, 0);
    cs_put_u8(&out, level);
    cs_put_str(&out, cs_str(argv[3]));
    cs_frame_end(&out, mark);
    CS_AUTO_FD int turn = take_turn();
    return send_all(&out);
}

static int do_inputs(int argc, char **argv)
{
    (void)argv;
    char bytes[65536];
    CS_AUTO_FD int fd = open("/caisson/inputs.json", O_RDONLY | O_CLOEXEC);
    if (argc != 2 || fd < 0)
        return -1;
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
        fwrite(bytes, 1, (size_t)n, stdout);
    putchar('\n');
    return fflush(stdout) == 0 ? 0 : 1;
}

static int run(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } verbs[] = {{"call", do_call},         {"search", do_search}, {"show", do_show},
                 {"progress", do_progress}, {"log", do_log},       {"inputs", do_inputs}};
    for (size_t i = 0; argc >= 2 && i < CS_COUNT(verbs); i++)
        if (strcmp(argv[1], verbs[i].name) == 0) {
            int status = verbs[i].run(argc, argv);
            if (status >= 0)
                return status;
        }
    fputs(usage, stderr);
    return 2;
}

int cs_guest_call_main(int argc, char **argv)
{
    int status = run(argc, argv);
    if (access(SELF, F_OK) == 0)
        _exit(status); /* everything is flushed; exit handlers may want what is refused inside */
    return status;
}
