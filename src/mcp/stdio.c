/*
 * MCP over two descriptors: one message per line, both ways, neither of which ever waits.
 *
 * A client that does not read what we write is not read from either, until it does; what is of no
 * importance is left out meanwhile, and at UNSENT_MAX it is given up.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "mcp/proto.h"

#define READ_SIZE   (64u << 10)
#define TURN_LINES  64u         /* handed on in one turn of the loop, so that others have theirs */
#define KEEP_BUFFER (1u << 20)  /* a larger one is given back after use */
#define UNSENT_STOP (1u << 20)  /* then we stop reading */
#define UNSENT_MAX  (64u << 20) /* then it is over */
#define GRACE_MS    2000u       /* for what is unsent when the client has closed its end */

struct stdio {
    struct cs_peer *peer; /* NULL: the client is forgotten */
    int in, out, in_flags, out_flags;
    uv_poll_t reading, writing;
    uv_idle_t more; /* lines are left over, or the descriptor is of the kind that never waits */
    uv_timer_t grace;
    unsigned handles;
    bool in_polls, out_polls; /* files and /dev/null do not */
    bool eof, broken, closing, paused;

    struct cs_buf input; /* [taken, len) is not handed on; no newline before `scanned` */
    size_t taken, scanned;
    bool skipping; /* the rest of a line that is too long */
    struct cs_buf unsent;
    size_t sent; /* of it */
    void (*ended)(void *ctx);
    void *ctx;
};

/* --- the end --- */

static void give_back(int fd, int flags)
{
    /* Others may have the same terminal. */
    fcntl(fd, F_SETFL, flags);
    close(fd);
}

static void on_handle_closed(uv_handle_t *h)
{
    struct stdio *s = h->data;
    if (--s->handles > 0)
        return;
    void (*ended)(void *ctx) = s->ended;
    void *ctx = s->ctx;
    give_back(s->in, s->in_flags);
    if (s->out != s->in)
        give_back(s->out, s->out_flags);
    cs_buf_done(&s->input);
    cs_buf_done(&s->unsent);
    free(s);
    if (ended)
        ended(ctx);
}

static void close_all(struct stdio *s)
{
    if (s->closing)
        return;
    s->closing = true;
    uv_close((uv_handle_t *)&s->more, on_handle_closed);
    uv_close((uv_handle_t *)&s->grace, on_handle_closed);
    if (s->in_polls)
        uv_close((uv_handle_t *)&s->reading, on_handle_closed);
    if (s->out_polls)
        uv_close((uv_handle_t *)&s->writing, on_handle_closed);
}

/* Everything it asked for is cancelled. */
static void forget(struct stdio *s)
{
    struct cs_peer *peer = s->peer;
    s->peer = NULL;
    if (peer)
        cs_peer_close(peer);
}

void cs_stdio_close(struct cs_peer *peer)
{
    struct stdio *s = peer->line;
    s->ended = NULL;
    forget(s);
    close_all(s);
}

/* --- out --- */

static void on_more(uv_idle_t *h);
static void on_writable(uv_poll_t *h, int status, int events);

static void flush(struct stdio *s)
{
    while (!s->broken && s->sent < s->unsent.len) {
        ssize_t n = write(s->out, s->unsent.at + s->sent, s->unsent.len - s->sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0)
            s->broken = true;
        else
            s->sent += (size_t)n;
    }
    if (s->broken || s->sent == s->unsent.len) {
        s->sent = 0;
        cs_buf_clear(&s->unsent);
        if (s->unsent.cap > KEEP_BUFFER)
            cs_buf_done(&s->unsent);
    } else if (s->sent > s->unsent.len / 2) {
        cs_buf_drop(&s->unsent, s->sent);
        s->sent = 0;
    }
    s->paused = s->unsent.len - s->sent > UNSENT_STOP;
}

/* Ends nothing by itself: whoever says something is in the middle of it. */
static void send_line(struct cs_peer *peer, struct cs_str json, bool minor)
{
    struct stdio *s = peer->line;
    size_t waiting = s->unsent.len - s->sent;
    if (s->broken || s->closing || (minor && waiting > UNSENT_STOP))
        return;
    cs_json_line(&s->unsent, json);
    cs_buf_putc(&s->unsent, '\n');
    flush(s);
    s->broken = s->broken || s->unsent.len - s->sent > UNSENT_MAX;
    if (s->broken)
        uv_idle_start(&s->more, on_more);
    else if (s->unsent.len > 0 && s->out_polls)
        uv_poll_start(&s->writing, UV_WRITABLE, on_writable);
}

/* --- in --- */

static void refuse_long(struct stdio *s)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_rpc_put_error(&out, (struct cs_str){0}, CS_RPC_INVALID,
                     CS_STR("the message is too large: at most 16 MiB are taken"),
                     (struct cs_str){0});
    send_line(s->peer, cs_buf_str(&out), false);
}

static void hand_on_line(struct stdio *s, struct cs_str line)
{
    if (line.len > 0 && line.at[line.len - 1] == '\r')
        line.len--;
    if (s->skipping)
        s->skipping = false;
    else if (line.len > CS_MCP_MESSAGE)
        refuse_long(s);
    else if (line.len > 0)
        cs_rpc_line(s->peer, line);
}

/* Hands on what is complete, up to a turn's worth. */
static void hand_on(struct stdio *s)
{
    unsigned lines = 0;
    while (s->peer && !s->broken && lines++ < TURN_LINES && !s->paused) {
        char *at = s->input.at + s->scanned;
        char *newline =
            s->scanned < s->input.len ? memchr(at, '\n', s->input.len - s->scanned) : NULL;
        if (!newline) {
            s->scanned = s->input.len;
            break;
        }
        struct cs_str line = {s->input.at + s->taken, (size_t)(newline - s->input.at) - s->taken};
        s->taken = s->scanned = (size_t)(newline - s->input.at) + 1;
        hand_on_line(s, line);
    }
    if (s->taken == s->input.len) {
        cs_buf_clear(&s->input);
        s->taken = s->scanned = 0;
        if (s->input.cap > KEEP_BUFFER)
            cs_buf_done(&s->input);
    }
}

/* A last line may lack its end. */
static void hand_on_rest(struct stdio *s)
{
    if (s->peer && s->taken < s->input.len)
        hand_on_line(s, cs_strn(s->input.at + s->taken, s->input.len - s->taken));
    cs_buf_clear(&s->input);
    s->taken = s->scanned = 0;
}

static void read_some(struct stdio *s)
{
    if (s->taken > 0) {
        cs_buf_drop(&s->input, s->taken);
        s->scanned -= s->taken;
        s->taken = 0;
    }
    if (s->input.len > CS_MCP_MESSAGE) {
        if (!s->skipping)
            refuse_long(s);
        s->skipping = true;
        cs_buf_done(&s->input);
        s->scanned = 0;
    }
    ssize_t n;
    do
        n = read(s->in, cs_buf_room(&s->input, READ_SIZE), READ_SIZE);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        cs_buf_added(&s->input, (size_t)n);
    else if (n == 0 || errno != EAGAIN)
        s->eof = true;
}

static bool lines_left(const struct stdio *s)
{
    return s->scanned < s->input.len;
}

static void on_grace(uv_timer_t *timer)
{
    close_all(timer->data);
}

static void on_readable(uv_poll_t *h, int status, int events);

/* What is waited for now. */
static void arrange(struct stdio *s)
{
    bool listens = s->peer && !s->paused;
    if (listens && (lines_left(s) || s->eof || !s->in_polls))
        uv_idle_start(&s->more, on_more);
    else
        uv_idle_stop(&s->more);
    if (s->in_polls && listens && !lines_left(s) && !s->eof)
        uv_poll_start(&s->reading, UV_READABLE, on_readable);
    else if (s->in_polls)
        uv_poll_stop(&s->reading);
    if (s->out_polls && s->unsent.len == 0)
        uv_poll_stop(&s->writing);
}

/* The end is reached from here alone, which the loop calls, and nobody else. */
static void step(struct stdio *s)
{
    if (s->peer && !s->broken && !s->paused && !s->eof && !lines_left(s))
        read_some(s);
    hand_on(s);
    if (s->peer && s->eof && !lines_left(s) && !s->paused && !s->broken) {
        hand_on_rest(s);
        forget(s);
        uv_timer_start(&s->grace, on_grace, GRACE_MS, 0);
    }
    if (s->broken)
        forget(s);
    if (s->broken || (!s->peer && s->unsent.len == 0))
        close_all(s);
    else
        arrange(s);
}

static void on_readable(uv_poll_t *h, int status, int events)
{
    struct stdio *s = h->data;
    (void)events;
    if (status < 0)
        s->eof = true;
    step(s);
}

static void on_writable(uv_poll_t *h, int status, int events)
{
    struct stdio *s = h->data;
    (void)events;
    if (status < 0)
        s->broken = true;
    flush(s);
    step(s);
}

static void on_more(uv_idle_t *h)
{
    step(h->data);
}

/* --- the beginning --- */

static int make_nonblocking(int fd, int *flags, struct cs_err *err)
{
    *flags = fcntl(fd, F_GETFL);
    if (*flags < 0 || fcntl(fd, F_SETFL, *flags | O_NONBLOCK) < 0)
        return cs_fail_errno(err, "descriptor %d", fd);
    return 0;
}

int cs_mcp_stdio(struct cs_mcp *m, int in, int out, const struct cs_caller *caller,
                 void (*ended)(void *ctx), void *ctx, struct cs_err *err)
{
    int in_flags, out_flags;
    if (make_nonblocking(in, &in_flags, err) < 0)
        return -1;
    if (make_nonblocking(out, &out_flags, err) < 0) {
        fcntl(in, F_SETFL, in_flags);
        return -1;
    }
    struct stdio *s = CS_NEW(struct stdio);
    s->in = in;
    s->out = out;
    s->in_flags = in_flags;
    s->out_flags = out_flags;
    s->ended = ended;
    s->ctx = ctx;
    s->peer = cs_peer_new(m, CS_PEER_LINES, caller);
    s->peer->line = s;
    s->peer->send = send_line;
    s->in_polls = uv_poll_init(m->loop, &s->reading, in) == 0;
    s->out_polls = uv_poll_init(m->loop, &s->writing, out) == 0;
    uv_idle_init(m->loop, &s->more);
    uv_timer_init(m->loop, &s->grace);
    s->handles = 2u + s->in_polls + s->out_polls;
    s->reading.data = s->writing.data = s->more.data = s->grace.data = s;
    arrange(s);
    return 0;
}
