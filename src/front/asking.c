#include "front/asking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "front/form.h"
#include "front/text.h"

#define LINE_MAX_BYTES 65536u

#define DECLINED "{\"action\":\"decline\"}"

struct question {
    struct question *next;
    uint64_t id;
    bool url;
    struct cs_deciding *deciding; /* a question of the guard; NULL: of a server, */
    struct cs_form *form;         /* which has a form */
    struct cs_buf *values;        /* of its fields, JSON; empty: left out */
    size_t at;                    /* the field that is asked now; their number: all are there */
    char server[];
};

struct cs_asking {
    uv_loop_t *loop;
    void (*answer)(void *ctx, uint64_t id, struct cs_str result);
    void *ctx;
    struct question *first; /* the one on the terminal; others wait */
    int fd;                 /* the terminal, a description of our own; -1: not opened yet */
    uv_poll_t poll;
    bool colour;
    bool by_keys; /* each key counts at once, and is not shown; else lines do */
    struct termios usual;
    void (*decided)(void *ctx, struct cs_str id, const struct cs_choice *choice);
    struct cs_buf prompt, line;
};

unsigned cs_asking_kinds(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO) ? 1u << CS_ASK_FORM | 1u << CS_ASK_URL : 0;
}

static void question_free(struct question *q)
{
    for (size_t i = 0; q->values && i < cs_form_count(q->form); i++)
        cs_buf_done(&q->values[i]);
    free(q->values);
    cs_form_free(q->form);
    cs_deciding_free(q->deciding);
    free(q);
}

/* Signals stay as they are: Ctrl-C interrupts in both. */
static void listen_for_keys(struct cs_asking *a, bool keys)
{
    if (a->by_keys == keys || a->fd < 0)
        return;
    struct termios t = a->usual;
    if (keys) {
        if (tcgetattr(a->fd, &a->usual) < 0)
            return;
        t = a->usual;
        t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        t.c_cc[VMIN] = 1;
        t.c_cc[VTIME] = 0;
    }
    tcsetattr(a->fd, TCSANOW, &t);
    a->by_keys = keys;
}

/* --- what is printed --- */

static void show_prompt(struct cs_asking *a)
{
    cs_text_safe(stderr, cs_buf_str(&a->prompt));
    fflush(stderr);
}

static void ask_now(struct cs_asking *a)
{
    const struct question *q = a->first;
    cs_buf_clear(&a->prompt);
    listen_for_keys(a, q->deciding && cs_deciding_wants_key(q->deciding));
    if (q->deciding)
        cs_deciding_prompt(q->deciding, &a->prompt);
    else if (q->url)
        cs_buf_puts(&a->prompt, "accept? [y/N]: ");
    else if (q->at < cs_form_count(q->form))
        cs_form_prompt(q->form, q->at, &a->prompt);
    else
        cs_buf_puts(&a->prompt,
                    q->at ? "accept? [Y/n/decline] (n: answer again): " : "accept? [Y/n]: ");
    show_prompt(a);
}

static void ask_field(struct cs_asking *a)
{
    const struct question *q = a->first;
    if (q->form && !q->url && q->at < cs_form_count(q->form)) {
        CS_AUTO_BUF struct cs_buf details = {0};
        cs_form_details(q->form, q->at, &details);
        cs_text_lines(stderr, "  ", cs_buf_str(&details));
    }
    ask_now(a);
}

/* Further lines of the message are indented, so that none looks like one of ours. */
static void show_message(const struct cs_asking *a, const struct question *q, const char *asks)
{
    struct cs_str message = cs_form_message(q->form);
    const char *end = message.len ? memchr(message.at, '\n', message.len) : NULL;
    size_t first = end ? (size_t)(end - message.at) : message.len;
    fprintf(stderr, "%sserver '%s' %s%s ", cs_text_style(a->colour, "\033[1m"), q->server, asks,
            cs_text_style(a->colour, "\033[0m"));
    cs_text_safe(stderr, cs_strn(message.at, first));
    fputc('\n', stderr);
    if (end)
        cs_text_lines(stderr, "  ", cs_strn(end + 1, message.len - first - 1));
}

static void show_url(const struct cs_asking *a, const struct question *q)
{
    struct cs_str url = cs_form_url(q->form), host = {0};
    struct cs_err err = {0};
    cs_form_host(url, &host, &err);
    show_message(a, q, "asks you to open an address:");
    fputs("  ", stderr);
    cs_text_safe(stderr, url);
    fprintf(stderr, "\n  It is at %s%.*s%s.", cs_text_style(a->colour, "\033[1m"), CS_STR_ARG(host),
            cs_text_style(a->colour, "\033[0m"));
    if (memmem(host.at, host.len, "xn--", 4))
        fputs(" Its name may look like another one in a browser.", stderr);
    fputs(" Nothing is opened for you; open it yourself if you trust it.\n", stderr);
}

/* --- one after the other --- */

static void show_first(struct cs_asking *a);

/* Takes it off the terminal. */
static void next_question(struct cs_asking *a)
{
    struct question *q = a->first;
    a->first = q->next;
    question_free(q);
    cs_buf_clear(&a->line);
    if (a->first) {
        show_first(a);
        return;
    }
    listen_for_keys(a, false);
    uv_poll_stop(&a->poll);
}

static void answer(struct cs_asking *a, struct cs_str result)
{
    uint64_t id = a->first->id;
    /* Whoever gets the answer may withdraw others; this one is over. */
    a->first->id = 0;
    a->answer(a->ctx, id, result);
    next_question(a);
}

static void decline(struct cs_asking *a)
{
    fputs("declined\n", stderr);
    answer(a, CS_STR(DECLINED));
}

static void accept_it(struct cs_asking *a)
{
    struct question *q = a->first;
    CS_AUTO_BUF struct cs_buf result = {0};
    struct cs_err err = {0};
    cs_buf_puts(&result, "{\"action\":\"accept\"");
    if (!q->url) {
        cs_buf_puts(&result, ",\"content\":");
        if (cs_form_content(q->form, q->values, &result, &err) < 0) {
            fputs("  ", stderr);
            cs_text_safe(stderr, cs_str(err.msg));
            fputs("; answer again, or decline with Ctrl-D\n", stderr);
            q->at = 0;
            ask_field(a);
            return;
        }
    }
    cs_buf_putc(&result, '}');
    answer(a, cs_buf_str(&result));
}

/* --- questions of the guard --- */

/* Whoever hears of it may withdraw it; it is off the terminal by then. */
static void decided(struct cs_asking *a, const struct cs_choice *choice)
{
    struct question *q = a->first;
    struct cs_deciding *d = CS_TAKE(q->deciding);
    next_question(a);
    a->decided(a->ctx, cs_deciding_id(d), choice);
    cs_deciding_free(d);
}

static void leave(struct cs_asking *a)
{
    const struct cs_choice choice = {.left = !cs_deciding_denied(a->first->deciding),
                                     .answer = CS_APPROVE_DENY};
    decided(a, &choice);
}

/* What was typed ahead of a prompt is no answer to it: one key, one prompt. */
static void on_key(struct cs_asking *a)
{
    struct cs_choice choice = {0};
    char key = a->line.at[0];
    cs_buf_clear(&a->line);
    if (cs_deciding_key(a->first->deciding, key, &choice))
        decided(a, &choice);
    else
        ask_now(a);
}

/* --- lines --- */

static bool says(struct cs_str line, const char *word)
{
    return line.len > 0 && line.len <= strlen(word) && strncasecmp(line.at, word, line.len) == 0;
}

static void on_verdict(struct cs_asking *a, struct cs_str line)
{
    struct question *q = a->first;
    bool again = !q->url && q->at > 0;
    while (line.len && strchr(" \t\r\n", line.at[line.len - 1]))
        line.len--;
    if (line.len ? says(line, "yes") || says(line, "accept") : !q->url) {
        accept_it(a);
    } else if (!line.len || says(line, "decline") || (says(line, "no") && !again)) {
        decline(a);
    } else if (says(line, "no")) {
        q->at = 0;
        ask_field(a);
    } else {
        ask_now(a);
    }
}

static void on_line(struct cs_asking *a, struct cs_str line)
{
    struct question *q = a->first;
    struct cs_err err = {0};
    if (q->deciding) {
        struct cs_choice choice = {0};
        if (cs_deciding_line(q->deciding, line, &choice))
            decided(a, &choice);
        else
            ask_now(a);
        return;
    }
    if (q->url || q->at == cs_form_count(q->form)) {
        on_verdict(a, line);
        return;
    }
    struct cs_buf *value = &q->values[q->at];
    cs_buf_clear(value);
    if (cs_form_take(q->form, q->at, line, value, &err) != CS_FORM_AGAIN) {
        q->at++;
        ask_field(a);
        return;
    }
    fputs("  ", stderr);
    cs_text_safe(stderr, cs_str(err.msg));
    fputc('\n', stderr);
    ask_now(a);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct cs_asking *a = poll->data;
    (void)events;
    char *room = cs_buf_room(&a->line, 4096);
    ssize_t n = status < 0 ? 0 : read(a->fd, room, 4096);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        cs_buf_added(&a->line, (size_t)n);
    if (n <= 0 || a->line.len > LINE_MAX_BYTES) {
        fputc('\n', stderr);
        if (a->first->deciding)
            leave(a);
        else
            decline(a);
        return;
    }
    if (a->by_keys) {
        on_key(a);
        return;
    }
    const char *end;
    while (a->first && a->line.len && (end = memchr(a->line.at, '\n', a->line.len))) {
        struct cs_buf line = {0};
        size_t len = (size_t)(end - a->line.at) + 1;
        cs_buf_put(&line, a->line.at, len);
        cs_buf_drop(&a->line, len);
        on_line(a, cs_buf_str(&line));
        cs_buf_done(&line);
    }
}

/* A description of our own: that of stdin is shared with whoever started us, and must not become
 * non-blocking. */
static int open_terminal(struct cs_asking *a, struct cs_err *err)
{
    if (a->fd >= 0)
        return 0;
    CS_AUTO_FD int fd = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return cs_fail_errno(err, "the terminal");
    int status = uv_poll_init(a->loop, &a->poll, fd);
    if (status < 0)
        return cs_fail(err, CS_SYSTEM, "the terminal: %s", uv_strerror(status));
    a->poll.data = a;
    a->fd = CS_TAKE_FD(fd);
    return 0;
}

/* The question at the head of the queue comes to the terminal. */
static void show_first(struct cs_asking *a)
{
    struct question *q = a->first;
    if (q->deciding) {
        cs_deciding_show(q->deciding, a->colour);
    } else if (q->url) {
        show_url(a, q);
    } else {
        show_message(a, q, "asks:");
        fputs("  What you answer goes to that server. Ctrl-D declines.\n", stderr);
    }
    /* What was typed before the question was there is no answer to it. */
    tcflush(a->fd, TCIFLUSH);
    uv_poll_start(&a->poll, UV_READABLE, on_readable);
    ask_field(a);
}

static int read_question(struct cs_asking *a, const struct cs_tool_ask *ask, struct cs_form **form,
                         struct cs_err *err)
{
    struct cs_str host;
    struct cs_form *f = NULL;
    if (ask->kind == CS_ASK_SAMPLE)
        return cs_fail(err, CS_MISSING, "there is no language model here");
    if (open_terminal(a, err) < 0 || cs_form_new(ask->params, &f, err) < 0)
        return -1;
    if (ask->kind == CS_ASK_URL && cs_form_host(cs_form_url(f), &host, err) < 0) {
        cs_form_free(f);
        return cs_wrap(err, "the address that it wants you to open");
    }
    *form = f;
    return 0;
}

static void put_last(struct cs_asking *a, struct question *q)
{
    struct question **end = &a->first;
    while (*end)
        end = &(*end)->next;
    *end = q;
    if (q == a->first)
        show_first(a);
}

bool cs_asking_take(struct cs_asking *a, const struct cs_tool_ask *ask)
{
    struct cs_err err = {0};
    struct cs_form *form = NULL;
    if (read_question(a, ask, &form, &err) < 0) {
        cs_asking_aside(a);
        fprintf(stderr, "server '%.*s' asks something that is declined: ", CS_STR_ARG(ask->server));
        cs_text_safe(stderr, cs_str(err.msg));
        fputc('\n', stderr);
        cs_asking_back(a);
        return false;
    }
    struct question *q = cs_calloc(1, sizeof *q + ask->server.len + 1);
    memcpy(q->server, ask->server.at, ask->server.len);
    q->id = ask->id;
    q->url = ask->kind == CS_ASK_URL;
    q->form = form;
    q->values = cs_calloc(cs_form_count(form) + 1, sizeof *q->values);
    put_last(a, q);
    return true;
}

void cs_asking_on_decision(struct cs_asking *a, void (*decided_it)(void *ctx, struct cs_str id,
                                                                   const struct cs_choice *choice))
{
    a->decided = decided_it;
}

int cs_asking_approval(struct cs_asking *a, const struct cs_approval_row *row,
                       const struct cs_choice *given, struct cs_err *err)
{
    if (open_terminal(a, err) < 0)
        return -1;
    struct question *q = cs_calloc(1, sizeof *q + 1);
    q->deciding = cs_deciding_new(row, given);
    put_last(a, q);
    return 0;
}

bool cs_asking_settled(struct cs_asking *a, struct cs_str id)
{
    struct question **at = &a->first;
    while (*at && !((*at)->deciding && cs_str_eq(cs_deciding_id((*at)->deciding), id)))
        at = &(*at)->next;
    struct question *q = *at;
    if (!q)
        return false;
    if (q == a->first) {
        fputc('\n', stderr);
        next_question(a);
    } else {
        *at = q->next;
        question_free(q);
    }
    return true;
}

void cs_asking_withdraw(struct cs_asking *a, uint64_t id)
{
    struct question **at = &a->first;
    while (*at && ((*at)->deciding || (*at)->id != id))
        at = &(*at)->next;
    struct question *q = *at;
    if (!q)
        return;
    if (q == a->first) {
        fputs("\nthe question is withdrawn\n", stderr);
        next_question(a);
        return;
    }
    *at = q->next;
    question_free(q);
}

bool cs_asking_busy(const struct cs_asking *a)
{
    return a && a->first;
}

void cs_asking_aside(struct cs_asking *a)
{
    if (cs_asking_busy(a))
        fputc('\n', stderr);
}

void cs_asking_back(struct cs_asking *a)
{
    if (cs_asking_busy(a))
        show_prompt(a);
}

struct cs_asking *cs_asking_new(uv_loop_t *loop,
                                void (*answer_it)(void *ctx, uint64_t id, struct cs_str result),
                                void *ctx)
{
    struct cs_asking *a = CS_NEW(struct cs_asking);
    a->loop = loop;
    a->answer = answer_it;
    a->ctx = ctx;
    a->fd = -1;
    a->colour = cs_text_colour(stderr);
    return a;
}

static void asking_free(struct cs_asking *a)
{
    if (a->fd >= 0)
        close(a->fd);
    cs_buf_done(&a->prompt);
    cs_buf_done(&a->line);
    free(a);
}

static void on_poll_closed(uv_handle_t *handle)
{
    asking_free(handle->data);
}

void cs_asking_close(struct cs_asking *a)
{
    if (!a)
        return;
    while (a->first) {
        struct question *q = a->first;
        a->first = q->next;
        question_free(q);
    }
    listen_for_keys(a, false);
    if (a->fd >= 0)
        uv_close((uv_handle_t *)&a->poll, on_poll_closed);
    else
        asking_free(a);
}
