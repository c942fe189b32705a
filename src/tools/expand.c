#include "tools/expand.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <uv.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/time.h"
#include "sandbox/launch.h"
#include "tools/tools.h"

#define COMMAND_MS   10000
#define COMMAND_ARGS 64
#define STDERR_KEPT  300
#define NESTED_MAX   4

extern char **environ;

struct cs_expansion {
    struct cs_expansion *next;
    struct cs_str command, value;
};

const char *cs_expand_home(struct cs_arena *arena, const char *path)
{
    const char *home = getenv("HOME");
    if (path[0] != '~' || (path[1] && path[1] != '/') || !home || !*home)
        return path;
    return cs_arena_printf(arena, "%s%s", home, path + 1);
}

static int append(struct cs_buf *out, struct cs_str value, struct cs_err *err)
{
    if (out->len + value.len > CS_EXPAND_BYTES)
        return cs_fail(err, CS_LIMIT, "the value is longer than %u KiB", CS_EXPAND_BYTES >> 10);
    cs_buf_putstr(out, value);
    return 0;
}

/* Without the line ends at its end, as a shell does it. Nothing left is a failure. */
static int trimmed(struct cs_str *value, const char *what, struct cs_str name, struct cs_err *err)
{
    while (value->len && (value->at[value->len - 1] == '\n' || value->at[value->len - 1] == '\r'))
        value->len--;
    if (!value->len)
        return cs_fail(err, CS_MISSING, "the %s '%.*s' has nothing in it", what, CS_STR_ARG(name));
    if (memchr(value->at, 0, value->len))
        return cs_fail(err, CS_INVALID, "the %s '%.*s' has a NUL in it", what, CS_STR_ARG(name));
    return 0;
}

/* --- commands --- */

/* Words are separated by spaces; quotes keep them together. There is no other meaning in them. */
static int split(struct cs_arena *arena, struct cs_str text, const char *argv[COMMAND_ARGS + 1],
                 struct cs_err *err)
{
    size_t count = 0, at = 0;
    for (;;) {
        while (at < text.len && strchr(" \t\r\n", text.at[at]))
            at++;
        if (at >= text.len)
            break;
        if (count == COMMAND_ARGS)
            return cs_fail(err, CS_INVALID, "the command has more than %d words", COMMAND_ARGS);
        CS_AUTO_BUF struct cs_buf word = {0};
        char quote = '\0';
        for (; at < text.len && (quote || !strchr(" \t\r\n", text.at[at])); at++) {
            char c = text.at[at];
            if (c == quote)
                quote = '\0';
            else if (!quote && (c == '"' || c == '\''))
                quote = c;
            else
                cs_buf_putc(&word, c);
        }
        if (quote)
            return cs_fail(err, CS_INVALID, "a quote in ${command:...} is not closed");
        argv[count++] = cs_arena_dup(arena, cs_buf_str(&word)).at;
    }
    argv[count] = NULL;
    return count ? 0 : cs_fail(err, CS_INVALID, "${command:} names no command");
}

struct talk {
    struct cs_buf out, err;
    bool too_long, too_slow;
};

/* One of the two streams has something to say: false at its end. */
static bool drain(int fd, struct cs_buf *into, size_t max, bool keep_last)
{
    char chunk[4096];
    ssize_t n = read(fd, chunk, sizeof chunk);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    if (keep_last && into->len + (size_t)n > max)
        cs_buf_drop(into, into->len + (size_t)n - max < into->len ? into->len + (size_t)n - max
                                                                  : into->len);
    cs_buf_put(into, chunk, (size_t)n);
    return true;
}

/* Hears the child to the end of both streams, and of itself. */
static void listen_to(const struct cs_child *child, uint64_t deadline, struct talk *talk)
{
    struct pollfd fds[] = {
        {child->out, POLLIN, 0}, {child->err, POLLIN, 0}, {child->pidfd, POLLIN, 0}};
    while (fds[2].fd >= 0 || fds[0].fd >= 0) {
        uint64_t now = (uint64_t)cs_tick_ms();
        talk->too_slow = now >= deadline;
        talk->too_long = talk->out.len > CS_EXPAND_BYTES;
        if (talk->too_slow || talk->too_long)
            return;
        if (poll(fds, 3, (int)(deadline - now)) < 0 && errno != EINTR)
            return;
        if (fds[0].revents && !drain(child->out, &talk->out, 0, false))
            fds[0].fd = -1;
        if (fds[1].revents && !drain(child->err, &talk->err, STDERR_KEPT, true))
            fds[1].fd = -1;
        if (fds[2].revents)
            fds[2].fd = -1;
        fds[0].revents = fds[1].revents = fds[2].revents = 0;
    }
}

static int judge(struct cs_str command, const struct talk *talk, const siginfo_t *end,
                 struct cs_err *err)
{
    if (talk->too_slow)
        return cs_fail(err, CS_LIMIT, "the command '%.*s' took longer than %d s",
                       CS_STR_ARG(command), COMMAND_MS / 1000);
    if (talk->too_long)
        return cs_fail(err, CS_LIMIT, "the command '%.*s' printed more than %u KiB",
                       CS_STR_ARG(command), CS_EXPAND_BYTES >> 10);
    if (end->si_code == CLD_EXITED && end->si_status == 0)
        return 0;
    struct cs_str said = cs_buf_str(&talk->err);
    while (said.len && strchr("\r\n ", said.at[said.len - 1]))
        said.len--;
    return cs_fail(err, CS_SYSTEM, "the command '%.*s' ended with %s %d%s%.*s", CS_STR_ARG(command),
                   end->si_code == CLD_EXITED ? "status" : "signal", end->si_status,
                   said.len ? ": " : "", CS_STR_ARG(said));
}

/* `shown` is the command as it is written in the file: messages have no values in them. */
static int run(struct cs_expand *x, struct cs_str command, struct cs_str shown,
               struct cs_buf *output, struct cs_err *err)
{
    const char *argv[COMMAND_ARGS + 1];
    if (split(x->arena, command, argv, err) < 0)
        return -1;
    if (x->spent_ms >= CS_EXPAND_MS)
        return cs_fail(err, CS_LIMIT, "the commands of this file took longer than %u s",
                       CS_EXPAND_MS / 1000);
    uint64_t start = (uint64_t)cs_tick_ms();
    uv_loop_t loop;
    if (uv_loop_init(&loop) < 0)
        return cs_fail(err, CS_SYSTEM, "no loop for a command");
    struct cs_launch launch = {.argv = argv, .env = (const char *const *)environ};
    struct cs_child child;
    if (cs_launch(&loop, &launch, &child, err) < 0) {
        uv_loop_close(&loop);
        return cs_wrap(err, "the command '%.*s'", CS_STR_ARG(shown));
    }
    cs_closep(&child.in);
    struct talk talk = {0};
    listen_to(&child, start + COMMAND_MS, &talk);
    /* What it left behind is in its group, and the group is there until it is reaped. */
    cs_child_kill(&child, SIGKILL);
    siginfo_t end = {0};
    while (waitid(P_PIDFD, (id_t)child.pidfd, &end, WEXITED) < 0 && errno == EINTR)
        ;
    cs_child_done(&child);
    uv_loop_close(&loop);
    x->spent_ms += (uint64_t)cs_tick_ms() - start;
    int status = judge(shown, &talk, &end, err);
    if (status == 0)
        cs_buf_putstr(output, cs_buf_str(&talk.out));
    cs_buf_done(&talk.out);
    cs_buf_done(&talk.err);
    return status;
}

int cs_tools_command(const char *command, struct cs_buf *printed, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_expand x = {.arena = &arena};
    return run(&x, cs_str(command), cs_str(command), printed, err);
}

/* A command that stands in several values runs once. */
static int of_command(struct cs_expand *x, struct cs_str command, struct cs_str shown,
                      struct cs_str *value, struct cs_err *err)
{
    for (struct cs_expansion *k = x->known; k; k = k->next) {
        if (cs_str_eq(k->command, command)) {
            *value = k->value;
            return 0;
        }
    }
    CS_AUTO_BUF struct cs_buf output = {0};
    if (run(x, command, shown, &output, err) < 0)
        return -1;
    struct cs_str said = cs_buf_str(&output);
    if (trimmed(&said, "output of the command", shown, err) < 0)
        return -1;
    struct cs_expansion *k = cs_arena_alloc(x->arena, sizeof *k);
    k->command = cs_arena_dup(x->arena, command);
    k->value = cs_arena_dup(x->arena, said);
    k->next = x->known;
    x->known = k;
    *value = k->value;
    return 0;
}

/* --- the other kinds --- */

/* Only a regular file: opening a pipe might take forever. */
static int of_file(struct cs_expand *x, struct cs_str name, struct cs_str shown,
                   struct cs_str *value, struct cs_err *err)
{
    const char *path = cs_expand_home(x->arena, cs_arena_dup(x->arena, name).at);
    CS_AUTO_BUF struct cs_buf bytes = {0};
    struct cs_err why = {0};
    struct stat st;
    if (path[0] != '/')
        path = cs_arena_printf(x->arena, "%s/%s", x->folder, path);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return cs_fail(err, CS_INVALID, "${file:%.*s} is not a regular file", CS_STR_ARG(shown));
    if (cs_file_read(path, CS_EXPAND_BYTES, &bytes, &why) < 0)
        return cs_fail(err, why.code, "${file:%.*s}: %s", CS_STR_ARG(shown),
                       why.sys ? strerror(why.sys) : "it is too large");
    struct cs_str content = cs_buf_str(&bytes);
    if (trimmed(&content, "file", shown, err) < 0)
        return -1;
    *value = cs_arena_dup(x->arena, content);
    return 0;
}

static int of_variable(struct cs_expand *x, struct cs_str name, struct cs_str *value,
                       struct cs_err *err)
{
    bool word = name.len > 0;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];
        word &= c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    }
    if (!word)
        return cs_fail(err, CS_INVALID,
                       "${%.*s} is not understood; there are ${env:NAME}, ${NAME}, "
                       "${NAME:-default}, ${file:PATH}, ${command:CMD ARGS}, ${workspaceFolder} "
                       "and ${userHome}",
                       CS_STR_ARG(name));
    const char *set = getenv(cs_arena_dup(x->arena, name).at);
    if (!set || !*set)
        return cs_fail(err, CS_MISSING, "the environment variable %.*s is %s", CS_STR_ARG(name),
                       set ? "empty" : "not set");
    *value = cs_str(set);
    return 0;
}

static bool of_place(const struct cs_expand *x, struct cs_str name, struct cs_str *value)
{
    const char *slash = strrchr(x->folder, '/'), *home = getenv("HOME");
    if (cs_str_is(name, "workspaceFolder"))
        *value = cs_str(x->folder);
    else if (cs_str_is(name, "workspaceFolderBasename"))
        *value = cs_str(slash ? slash + 1 : x->folder);
    else if (cs_str_is(name, "userHome") && home && *home)
        *value = cs_str(home);
    else if (cs_str_is(name, "pathSeparator") || cs_str_is(name, "/"))
        *value = CS_STR("/");
    else
        return false;
    return true;
}

static int expand_into(struct cs_expand *x, struct cs_str text, unsigned depth, struct cs_buf *out,
                       struct cs_err *err);

static struct cs_str after(struct cs_str s, size_t n)
{
    return cs_strn(s.at + n, s.len - n);
}

/* What stands between the braces. */
static int one(struct cs_expand *x, struct cs_str name, unsigned depth, struct cs_buf *out,
               struct cs_err *err)
{
    struct cs_str value = {0};
    CS_AUTO_BUF struct cs_buf inner = {0};
    bool is_file = cs_str_starts(name, "file:"), is_command = cs_str_starts(name, "command:");
    if (is_file || is_command) {
        struct cs_str shown = after(name, is_file ? 5 : 8);
        if (expand_into(x, shown, depth + 1, &inner, err) < 0 ||
            (is_file ? of_file : of_command)(x, cs_buf_str(&inner), shown, &value, err) < 0)
            return -1;
        return append(out, value, err);
    }
    if (of_place(x, name, &value))
        return append(out, value, err);
    if (cs_str_starts(name, "input:"))
        return cs_fail(err, CS_MISSING,
                       "${%.*s} is asked for by VS Code alone: write ${env:NAME}, ${file:PATH} or "
                       "${command:CMD ARGS} in its place",
                       CS_STR_ARG(name));
    if (cs_str_starts(name, "env:"))
        name = after(name, 4);
    const char *def = name.len ? memmem(name.at, name.len, ":-", 2) : NULL;
    if (!def)
        return of_variable(x, name, &value, err) < 0 ? -1 : append(out, value, err);
    struct cs_err missing = {0};
    size_t len = (size_t)(def - name.at);
    if (of_variable(x, cs_strn(name.at, len), &value, &missing) == 0)
        return append(out, value, err);
    if (missing.code != CS_MISSING)
        return cs_fail(err, missing.code, "%s", missing.msg);
    return expand_into(x, after(name, len + 2), depth + 1, out, err);
}

/* Where the brace that is open at `at` closes; the length if it does not. */
static size_t closing(struct cs_str text, size_t at)
{
    unsigned open = 1;
    for (; at < text.len; at++) {
        if (text.at[at] == '$' && at + 1 < text.len && text.at[at + 1] == '{') {
            open++;
            at++;
        } else if (text.at[at] == '}' && --open == 0) {
            return at;
        }
    }
    return text.len;
}

static int expand_into(struct cs_expand *x, struct cs_str text, unsigned depth, struct cs_buf *out,
                       struct cs_err *err)
{
    if (depth > NESTED_MAX)
        return cs_fail(err, CS_LIMIT, "${...} stands inside itself more than %d times", NESTED_MAX);
    while (text.len) {
        const char *dollar = memmem(text.at, text.len, "${", 2);
        size_t plain = dollar ? (size_t)(dollar - text.at) : text.len;
        if (append(out, cs_strn(text.at, plain), err) < 0)
            return -1;
        text = after(text, plain);
        if (!dollar)
            return 0;
        size_t end = closing(text, 2);
        if (end == text.len)
            return cs_fail(err, CS_INVALID, "a ${ is not closed");
        if (one(x, cs_strn(text.at + 2, end - 2), depth, out, err) < 0)
            return -1;
        text = after(text, end + 1);
    }
    return 0;
}

int cs_expand(struct cs_expand *x, struct cs_str text, const char **value, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    if (text.len > CS_EXPAND_BYTES)
        return cs_fail(err, CS_LIMIT, "the value is longer than %u KiB", CS_EXPAND_BYTES >> 10);
    if (text.len && memchr(text.at, 0, text.len))
        return cs_fail(err, CS_INVALID, "a NUL in it");
    if (expand_into(x, text, 0, &out, err) < 0)
        return -1;
    x->total += out.len;
    if (x->total > CS_EXPAND_TOTAL)
        return cs_fail(err, CS_LIMIT, "the values of this file are more than %u MiB",
                       CS_EXPAND_TOTAL >> 20);
    *value = cs_arena_dup(x->arena, cs_buf_str(&out)).at;
    return 0;
}

int cs_tools_expand(struct cs_str text, const char *folder, struct cs_buf *value,
                    struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_expand x = {.arena = &arena, .folder = folder};
    const char *expanded = NULL;
    if (cs_expand(&x, text, &expanded, err) < 0)
        return -1;
    cs_buf_puts(value, expanded);
    return 0;
}
