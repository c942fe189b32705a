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
#include "base/own.h"
#include "sandbox/guest.h"
#include "sandbox/wire.h"

/* Where this program is inside a guest. */
#define SELF "/caisson/bin/caisson"

static const char usage[] =
    "caisson call SERVER TOOL [JSON]        call a tool; prints its value as JSON\n"
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

static int print_result(struct cs_str body)
{
    uint8_t status;
    struct cs_str payload;
    if (!(cs_field_u8(&body, &status) & cs_field_str(&body, &payload))) {
        fprintf(stderr, "caisson: the answer is cut short\n");
        return 1;
    }
    FILE *to = status == CS_ANSWER_OK ? stdout : stderr;
    if (status != CS_ANSWER_OK)
        fputs("caisson: ", to);
    fwrite(payload.at, 1, payload.len, to);
    fputc('\n', to);
    return fflush(to) == 0 && status == CS_ANSWER_OK ? 0 : 1;
}

/* Waits for the answer to `id`. Answers to others, who died waiting, are passed over. */
static int receive(uint64_t id)
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
            r = print_result(frame.body);
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

static int do_call(int argc, char **argv)
{
    CS_AUTO_BUF struct cs_buf text = {0}, out = {0};
    struct cs_str arguments = CS_STR("{}");
    uint64_t id;
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
    if (getrandom(&id, sizeof id, 0) != sizeof id)
        return 1;
    id = id >> 1 | 1;
    size_t mark = cs_frame_begin(&out, CS_MSG_CALL, id, 0);
    cs_put_str(&out, cs_str(argv[2]));
    cs_put_str(&out, cs_str(argv[3]));
    cs_put_str(&out, arguments);
    cs_frame_end(&out, mark);
    CS_AUTO_FD int turn = take_turn();
    return send_all(&out) ? 1 : receive(id);
}

static void put_json_string(struct cs_buf *b, const char *z)
{
    cs_buf_putc(b, '"');
    for (; *z; z++) {
        unsigned char c = (unsigned char)*z;
        if (c == '"' || c == '\\')
            cs_buf_printf(b, "\\%c", c);
        else if (c < 0x20)
            cs_buf_printf(b, "\\u%04x", c);
        else
            cs_buf_putc(b, *z);
    }
    cs_buf_putc(b, '"');
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
        cs_buf_puts(&json, ",\"message\":");
        put_json_string(&json, argv[next]);
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
    } verbs[] = {
        {"call", do_call}, {"progress", do_progress}, {"log", do_log}, {"inputs", do_inputs}};
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
