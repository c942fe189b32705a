/*
 * MCP over the pipes of a child: one message per line.
 *
 * A connection ends in one way, whoever wanted it: its stdin is closed, it gets time, then SIGTERM,
 * then SIGKILL, each to its whole group; when the child has ended, what it left in its pipe is
 * read, the group is killed, and only then is the child reaped.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/launch.h"
#include "tools/transport.h"

#define READ_SIZE   (256u << 10)
#define TURN_BYTES  (1u << 20)  /* read in one turn of the loop, so that others have theirs */
#define TURN_LINES  256u        /* and handed on: a flood of small ones costs as much */
#define KEEP_BUFFER (4u << 20)  /* a larger one is given back after use */
#define UNSENT_MAX  (16u << 20) /* besides one message that may be larger */
#define GRACE_MS    2000u

extern char **environ;

enum stage { RUNNING, EOF_SENT, TERM_SENT, KILL_SENT };

struct stdio {
    struct cs_transport base;
    const struct cs_server_config *server;
    struct cs_child child;
    uv_poll_t out, err, in, pid;
    uv_timer_t timer;
    uv_idle_t more; /* lines are left over from the last turn */
    unsigned handles;
    bool out_over, ended, closing;

    struct cs_buf input; /* [taken, len) is not handed on; no newline before `scanned` */
    size_t taken, scanned;
    struct cs_buf unsent;
    size_t sent; /* of it */
    struct cs_buf errors;

    enum stage stage;
    bool deaf;           /* nobody wants to hear more from it */
    bool ours;           /* we were asked to close: no error */
    const char *suspect; /* what looked like its end, if no end follows */
    struct cs_err why;
};

/* --- the end --- */

static void on_handle_closed(uv_handle_t *h)
{
    struct stdio *s = h->data;
    if (--s->handles > 0)
        return;
    cs_child_done(&s->child);
    static const struct cs_err none;
    s->base.events->closed(s->base.ctx, s->ours ? &none : &s->why);
    cs_buf_done(&s->input);
    cs_buf_done(&s->unsent);
    cs_buf_done(&s->errors);
    free(s);
}

static void close_handle(void *h)
{
    if (!uv_is_closing(h))
        uv_close(h, on_handle_closed);
}

static void close_all(struct stdio *s)
{
    s->closing = true;
    close_handle(&s->out);
    close_handle(&s->err);
    close_handle(&s->in);
    close_handle(&s->pid);
    close_handle(&s->timer);
    close_handle(&s->more);
}

/* The handle goes with the fd, whose number may be another's soon. */
static void stop_input(struct stdio *s)
{
    close_handle(&s->in);
    cs_closep(&s->child.in);
}

static void on_timer(uv_timer_t *timer)
{
    struct stdio *s = timer->data;
    if (s->stage == EOF_SENT) {
        s->stage = TERM_SENT;
        cs_child_kill(&s->child, SIGTERM);
        uv_timer_start(timer, on_timer, GRACE_MS, 0);
    } else if (s->stage == TERM_SENT) {
        s->stage = KILL_SENT;
        cs_child_kill(&s->child, SIGKILL);
    }
}

static void begin_end(struct stdio *s)
{
    if (s->stage != RUNNING || s->closing)
        return;
    s->stage = EOF_SENT;
    stop_input(s);
    cs_buf_done(&s->unsent);
    uv_timer_start(&s->timer, on_timer, GRACE_MS, 0);
}

/* The connection is broken, for a reason that is kept unless there is one already. */
__attribute__((format(printf, 3, 4))) static void break_off(struct stdio *s, enum cs_code code,
                                                            const char *fmt, ...)
{
    va_list ap;
    if (s->why.code == CS_OK) {
        va_start(ap, fmt);
        cs_vfail(&s->why, code, fmt, ap);
        va_end(ap);
    }
    s->deaf = true;
    begin_end(s);
}

/* It seems to be over: what it has still to say is heard, and its end says why. */
static void seems_over(struct stdio *s, const char *how)
{
    s->suspect = s->suspect ? s->suspect : how;
    begin_end(s);
}

/* --- in --- */

/* Hands on what is complete, up to a turn's worth. */
static void hand_on(struct stdio *s)
{
    unsigned lines = 0;
    while (!s->deaf && lines < TURN_LINES) {
        char *at = s->input.at + s->scanned;
        char *newline =
            s->scanned < s->input.len ? memchr(at, '\n', s->input.len - s->scanned) : NULL;
        if (!newline) {
            s->scanned = s->input.len;
            break;
        }
        struct cs_str line = {s->input.at + s->taken, (size_t)(newline - s->input.at) - s->taken};
        s->taken = s->scanned = (size_t)(newline - s->input.at) + 1;
        if (line.len > 0 && line.at[line.len - 1] == '\r')
            line.len--;
        lines++;
        if (line.len > CS_MESSAGE_MAX)
            break_off(s, CS_LIMIT, "it sent a message of %zu bytes, at most %u are taken", line.len,
                      CS_MESSAGE_MAX);
        else if (line.len > 0)
            s->base.events->message(s->base.ctx, line, 0);
    }
    if (s->deaf || s->taken == s->input.len) {
        cs_buf_clear(&s->input);
        s->taken = s->scanned = 0;
        if (s->input.cap > KEEP_BUFFER)
            cs_buf_done(&s->input);
    }
}

static bool lines_left(const struct stdio *s)
{
    return !s->deaf && s->scanned < s->input.len;
}

static void on_out(uv_poll_t *h, int status, int events);

static void on_more(uv_idle_t *h)
{
    struct stdio *s = h->data;
    hand_on(s);
    if (lines_left(s) || s->closing)
        return;
    uv_idle_stop(h);
    if (!s->out_over)
        uv_poll_start(&s->out, UV_READABLE, on_out);
}

/* One read: how much came. */
static size_t read_some(struct stdio *s)
{
    if (s->taken > 0) {
        cs_buf_drop(&s->input, s->taken);
        s->scanned -= s->taken;
        s->taken = 0;
    }
    if (s->input.len > CS_MESSAGE_MAX) {
        break_off(s, CS_LIMIT, "it sent a message of more than %u bytes", CS_MESSAGE_MAX);
        cs_buf_done(&s->input);
        s->scanned = 0;
    }
    ssize_t n;
    do
        n = read(s->child.out, cs_buf_room(&s->input, READ_SIZE), READ_SIZE);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0) {
        s->out_over = true;
        uv_poll_stop(&s->out);
        return 0;
    }
    if (!s->deaf)
        cs_buf_added(&s->input, (size_t)n);
    return (size_t)n;
}

static void on_out(uv_poll_t *h, int status, int events)
{
    struct stdio *s = h->data;
    (void)events;
    size_t n = READ_SIZE;
    /* Less than was asked for: the pipe is empty, and the loop says when it is not. */
    for (size_t turn = 0; n == READ_SIZE && turn < TURN_BYTES; turn += n) {
        n = read_some(s);
        hand_on(s);
        if (lines_left(s)) {
            uv_poll_stop(h);
            uv_idle_start(&s->more, on_more);
            return;
        }
    }
    if (status < 0 && !s->out_over) {
        s->out_over = true;
        uv_poll_stop(h);
    }
    if (s->out_over && !s->ended)
        seems_over(s, "it closed its output");
}

static void read_errors(struct stdio *s, size_t budget)
{
    while (budget > 0) {
        if (s->errors.len >= 2 * CS_STDERR_KEPT)
            cs_buf_drop(&s->errors, s->errors.len - CS_STDERR_KEPT);
        size_t room = CS_STDERR_KEPT / 4;
        ssize_t n = read(s->child.err, cs_buf_room(&s->errors, room), room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0 || errno != EAGAIN)
                uv_poll_stop(&s->err);
            return;
        }
        cs_buf_added(&s->errors, (size_t)n);
        budget = (size_t)n < budget ? budget - (size_t)n : 0;
    }
}

static void on_err(uv_poll_t *h, int status, int events)
{
    struct stdio *s = h->data;
    (void)events;
    read_errors(s, TURN_BYTES / 4);
    if (status < 0)
        uv_poll_stop(h);
}

static struct cs_str stdio_stderr(struct cs_transport *t)
{
    struct stdio *s = (struct stdio *)t;
    size_t n = s->errors.len < CS_STDERR_KEPT ? s->errors.len : CS_STDERR_KEPT;
    return n ? cs_strn(s->errors.at + (s->errors.len - n), n) : (struct cs_str){0};
}

/* --- out --- */

static void flush(struct stdio *s)
{
    while (s->sent < s->unsent.len) {
        ssize_t n = write(s->child.in, s->unsent.at + s->sent, s->unsent.len - s->sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            seems_over(s, "it does not take input any more");
            return;
        }
        s->sent += (size_t)n;
    }
    if (s->sent == s->unsent.len) {
        uv_poll_stop(&s->in);
        s->sent = 0;
        cs_buf_clear(&s->unsent);
        if (s->unsent.cap > KEEP_BUFFER)
            cs_buf_done(&s->unsent);
    } else if (s->sent > s->unsent.len / 2) {
        cs_buf_drop(&s->unsent, s->sent);
        s->sent = 0;
    }
}

static void on_in(uv_poll_t *h, int status, int events)
{
    struct stdio *s = h->data;
    (void)events;
    if (status < 0)
        seems_over(s, "it does not take input any more");
    else
        flush(s);
}

/* Nothing is reported from in here: the end comes as an event. */
static void stdio_send(struct cs_transport *t, const struct cs_outgoing *message)
{
    struct stdio *s = (struct stdio *)t;
    struct cs_str json = message->json;
    if (s->stage != RUNNING)
        return;
    size_t waiting = s->unsent.len - s->sent, done = 0;
    if (waiting > 0 && waiting + json.len > UNSENT_MAX) {
        break_off(s, CS_UPSTREAM, "it does not read its input: %zu bytes wait", waiting);
        return;
    }
    if (waiting == 0) {
        struct iovec parts[] = {{(void *)(uintptr_t)json.at, json.len}, {"\n", 1}};
        ssize_t n;
        do
            n = writev(s->child.in, parts, 2);
        while (n < 0 && errno == EINTR);
        if (n < 0 && errno != EAGAIN) {
            seems_over(s, "it does not take input any more");
            return;
        }
        done = n < 0 ? 0 : (size_t)n;
        if (done == json.len + 1)
            return;
    }
    if (done < json.len)
        cs_buf_put(&s->unsent, json.at + done, json.len - done);
    cs_buf_putc(&s->unsent, '\n');
    uv_poll_start(&s->in, UV_WRITABLE, on_in);
}

/* --- the child's end --- */

/* The line of stderr that most likely says why: the last one with an error in it, or the last. */
static const char *last_words(struct stdio *s, char *to, size_t size)
{
    struct cs_str tail = stdio_stderr(&s->base), best = {0};
    if (tail.len > 4096)
        tail = cs_strn(tail.at + tail.len - 4096, 4096);
    while (tail.len > 0) {
        const char *newline = memrchr(tail.at, '\n', tail.len);
        struct cs_str line = tail;
        if (newline)
            line = cs_strn(newline + 1, (size_t)(tail.at + tail.len - newline) - 1);
        tail.len = newline ? (size_t)(newline - tail.at) : 0;
        while (line.len > 0 && strchr(" \t\r", line.at[line.len - 1]))
            line.len--;
        bool error = line.len > 0 && memmem(line.at, line.len, "rror", 4);
        if (error || best.len == 0)
            best = line;
        if (error)
            break;
    }
    size_t n = best.len < size - 1 ? best.len : size - 1;
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)best.at[i] < 0x20 || best.at[i] == 0x7F ? ' ' : best.at[i];
    to[n] = '\0';
    return to;
}

static void say_end(struct stdio *s, const siginfo_t *info)
{
    if (s->why.code != CS_OK)
        return;
    if (s->suspect && s->stage > EOF_SENT) {
        cs_fail(&s->why, CS_UPSTREAM, "%s", s->suspect);
        return;
    }
    char words[200];
    last_words(s, words, sizeof words);
    const char *colon = *words ? ": " : "";
    bool half = s->input.len > s->taken;
    if (info->si_code == CLD_EXITED)
        cs_fail(&s->why, CS_UPSTREAM, "it ended with status %d%s%s%s", info->si_status,
                half ? " in the middle of a message" : "", colon, words);
    else
        cs_fail(&s->why, CS_UPSTREAM, "it was ended by signal %d (%s)%s%s", info->si_status,
                strsignal(info->si_status), colon, words);
}

static void on_pid(uv_poll_t *h, int status, int events)
{
    struct stdio *s = h->data;
    siginfo_t info = {0};
    (void)events;
    (void)status;
    s->ended = true;
    uv_poll_stop(h);
    /* It is a zombie still, so the number of its group is nobody else's. */
    cs_child_kill(&s->child, SIGKILL);
    uv_idle_stop(&s->more);
    while (!s->out_over && read_some(s) > 0)
        hand_on(s);
    while (lines_left(s))
        hand_on(s);
    read_errors(s, 2 * CS_STDERR_KEPT);
    while (waitid(P_PIDFD, (id_t)s->child.pidfd, &info, WEXITED) < 0 && errno == EINTR)
        continue;
    say_end(s, &info);
    stop_input(s);
    close_all(s);
}

/* --- life --- */

static void stdio_forget(struct cs_transport *t, uint64_t id)
{
    (void)t;
    (void)id;
}

static void stdio_listen(struct cs_transport *t, const char *version)
{
    (void)t;
    (void)version;
}

static void stdio_close(struct cs_transport *t)
{
    struct stdio *s = (struct stdio *)t;
    s->ours = s->deaf = true;
    begin_end(s);
}

static const struct cs_transport_ops stdio_ops = {.send = stdio_send,
                                                  .forget = stdio_forget,
                                                  .listen = stdio_listen,
                                                  .stderr_tail = stdio_stderr,
                                                  .close = stdio_close};

/* What a server inherits: enough to find programs, files and the network, and no secret of ours. */
static bool inherited(const char *variable, bool jail)
{
    static const char *const names[] = {"PATH=", "HOME=",    "LANG=",   "LC_", "TERM=", "SHELL=",
                                        "USER=", "LOGNAME=", "TMPDIR=", "TZ=", "XDG_"};
    static const char *const network[] = {
        "http_proxy=",    "https_proxy=",  "no_proxy=",           "all_proxy=",
        "HTTP_PROXY=",    "HTTPS_PROXY=",  "NO_PROXY=",           "ALL_PROXY=",
        "SSL_CERT_FILE=", "SSL_CERT_DIR=", "NODE_EXTRA_CA_CERTS="};
    for (size_t i = 0; i < CS_COUNT(names); i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    for (size_t i = 0; i < CS_COUNT(network) && !jail; i++)
        if (strncmp(variable, network[i], strlen(network[i])) == 0)
            return true;
    return false;
}

static bool overridden(const struct cs_server_config *server, const char *variable)
{
    for (const struct cs_pair *p = server->env; p && p->name; p++) {
        size_t n = strlen(p->name);
        if (strncmp(variable, p->name, n) == 0 && variable[n] == '=')
            return true;
    }
    return false;
}

static const char **make_env(const struct cs_server_config *server, struct cs_arena *arena)
{
    size_t n = 0, count = 1;
    for (char **e = environ; *e; e++)
        count++;
    for (const struct cs_pair *p = server->env; p && p->name; p++)
        count++;
    const char **env = cs_arena_alloc(arena, count * sizeof *env);
    for (char **e = environ; *e; e++)
        if (inherited(*e, server->jail) && !overridden(server, *e))
            env[n++] = *e;
    for (const struct cs_pair *p = server->env; p && p->name; p++)
        env[n++] = cs_arena_printf(arena, "%s=%s", p->name, p->value ? p->value : "");
    return env;
}

static int start_child(struct stdio *s, uv_loop_t *loop, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    const struct cs_server_config *server = s->server;
    size_t n = 0;
    while (server->args && server->args[n])
        n++;
    const char **argv = cs_arena_alloc(&arena, (n + 2) * sizeof *argv);
    argv[0] = server->command;
    for (size_t i = 0; i < n; i++)
        argv[i + 1] = server->args[i];
    struct cs_launch launch = {
        .argv = argv,
        .env = make_env(server, &arena),
        .cwd = server->cwd,
        .jail = server->jail,
        .read = server->jail_read,
        .write = server->jail_write,
        .hosts = server->jail_hosts,
    };
    return cs_launch(loop, &launch, &s->child, err);
}

static void watch(struct stdio *s, uv_loop_t *loop, uv_poll_t *h, int fd)
{
    /* Only a closed fd, or one that epoll cannot take, makes this fail; ours are neither. */
    if (uv_poll_init(loop, h, fd) != 0)
        abort();
    h->data = s;
    s->handles++;
}

int cs_stdio_new(uv_loop_t *loop, const struct cs_server_config *server,
                 const struct cs_transport_events *events, void *ctx,
                 struct cs_transport **transport, struct cs_err *err)
{
    /* A server that ends while we write to it is an error like others, not the end of us. */
    struct sigaction pipe_action;
    if (sigaction(SIGPIPE, NULL, &pipe_action) == 0 && pipe_action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);

    struct stdio *s = CS_NEW(struct stdio);
    s->base = (struct cs_transport){.ops = &stdio_ops, .events = events, .ctx = ctx};
    s->server = server;
    if (start_child(s, loop, err) < 0) {
        free(s);
        return -1;
    }
    watch(s, loop, &s->out, s->child.out);
    watch(s, loop, &s->err, s->child.err);
    watch(s, loop, &s->in, s->child.in);
    watch(s, loop, &s->pid, s->child.pidfd);
    uv_timer_init(loop, &s->timer);
    uv_idle_init(loop, &s->more);
    s->timer.data = s->more.data = s;
    s->handles += 2;
    s->base.pid = (uint32_t)s->child.pid;
    uv_poll_start(&s->out, UV_READABLE, on_out);
    uv_poll_start(&s->err, UV_READABLE, on_err);
    uv_poll_start(&s->pid, UV_READABLE, on_pid);
    *transport = &s->base;
    return 0;
}
