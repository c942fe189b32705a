#include "test.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/own.h"
#include "tools/listener.h"
#include "tools/url.h"

struct fixture {
    uv_loop_t loop;
    struct cs_listener *listener;
    unsigned asked;
    char query[256];
    bool close_inside;
    uint16_t port;
};

static const char *on_answer(void *ctx, struct cs_str query, bool *ok)
{
    struct fixture *f = ctx;
    f->asked++;
    snprintf(f->query, sizeof f->query, "%.*s", CS_STR_ARG(query));
    *ok = strstr(f->query, "good") != NULL;
    if (*ok && f->close_inside) {
        cs_listener_close(f->listener);
        f->listener = NULL;
    }
    return *ok ? "Well done." : "Not that.";
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct cs_url url;
    uv_loop_init(&f->loop);
    if (cs_listener_start(&f->loop, NULL, NULL, on_answer, f, &f->listener, NULL) < 0 ||
        cs_url_parse(cs_str(cs_listener_uri(f->listener)), &url, NULL) < 0)
        return -1;
    f->port = url.port;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    cs_listener_close(f->listener);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    int left = uv_loop_close(&f->loop);
    free(f);
    return left;
}

static int dial(struct fixture *f)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(f->port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect(fd, (struct sockaddr *)&a, sizeof a);
    for (int i = 0; i < 20; i++)
        uv_run(&f->loop, UV_RUN_NOWAIT);
    return fd;
}

/* Turns the loop until the other side is done with the connection; what it said. */
static const char *hear(struct fixture *f, int fd)
{
    static char text[8192];
    size_t n = 0;
    for (int i = 0; i < 120000; i++) {
        uv_run(&f->loop, UV_RUN_NOWAIT);
        ssize_t got = read(fd, text + n, sizeof text - 1 - n);
        if (got == 0)
            break;
        if (got > 0)
            n += (size_t)got;
        else
            usleep(500);
    }
    text[n] = 0;
    close(fd);
    return text;
}

static const char *ask(struct fixture *f, const char *request)
{
    int fd = dial(f);
    assert_int_equal(write(fd, request, strlen(request)), strlen(request));
    return hear(f, fd);
}

static void the_query_reaches_the_owner_and_the_page_the_browser(void **state)
{
    struct fixture *f = *state;
    const char *page = ask(f, "GET /callback?code=good HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_string_equal(f->query, "?code=good");
    assert_contains(page, "HTTP/1.1 200 OK");
    assert_contains(page, "Well done.");
    assert_contains(page, "Cache-Control: no-store");
    assert_null(strstr(page, "code=good"));
    page = ask(f, "GET /callback?<script> HTTP/1.1\r\n\r\n");
    assert_contains(page, "400 Bad Request");
    assert_contains(page, "Not that.");
    assert_null(strstr(page, "script"));
    assert_int_equal(f->asked, 2);
}

static void what_is_not_for_it_never_reaches_the_owner(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *request, *status;
    } rows[] = {
        {"GET / HTTP/1.1\r\n\r\n", "404"},
        {"GET /callback/x?code=good HTTP/1.1\r\n\r\n", "404"},
        {"POST /callback?code=good HTTP/1.1\r\n\r\n", "400"},
        {"GET /callback?code=good\r\n\r\n", "400"},
        {"GET /callback?code=good SMTP\r\n\r\n", "400"},
        {"\r\n\r\n", "400"},
        {"GET http://x/callback?code=good HTTP/1.1\r\n\r\n", "400"},
    };
    for (size_t i = 0; i < CS_COUNT(rows); i++)
        assert_contains(ask(f, rows[i].request), rows[i].status);
    assert_int_equal(f->asked, 0);
}

static void a_request_may_come_in_pieces(void **state)
{
    struct fixture *f = *state;
    const char *request = "GET /callback?good HTTP/1.1\r\nA: b\r\n\r\n";
    int fd = dial(f);
    for (const char *c = request; *c; c++) {
        assert_int_equal(write(fd, c, 1), 1);
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    assert_contains(hear(f, fd), "200 OK");
}

static void a_request_that_is_too_large_is_dropped(void **state)
{
    struct fixture *f = *state;
    int fd = dial(f);
    char part[1024];
    memset(part, 'x', sizeof part);
    for (unsigned i = 0; i < 2 * CS_LISTENER_HEAD / sizeof part; i++) {
        (void)!send(fd, part, sizeof part, MSG_NOSIGNAL);
        uv_run(&f->loop, UV_RUN_NOWAIT);
    }
    assert_string_equal(hear(f, fd), "");
    assert_contains(ask(f, "GET /callback?good HTTP/1.1\r\n\r\n"), "200 OK");
}

static void those_who_only_hold_on_do_not_keep_others_out(void **state)
{
    struct fixture *f = *state;
    int fds[3 * CS_LISTENER_PEERS];
    for (size_t i = 0; i < CS_COUNT(fds); i++)
        fds[i] = dial(f);
    assert_contains(ask(f, "GET /callback?good HTTP/1.1\r\n\r\n"), "200 OK");
    for (size_t i = 0; i < CS_COUNT(fds); i++)
        close(fds[i]);
}

static void the_page_is_shown_when_the_owner_closes_at_the_answer(void **state)
{
    struct fixture *f = *state;
    f->close_inside = true;
    int idle = dial(f);
    assert_contains(ask(f, "GET /callback?good HTTP/1.1\r\n\r\n"), "Well done.");
    assert_string_equal(hear(f, idle), "");
    int late = dial(f);
    assert_string_equal(hear(f, late), "");
    assert_int_equal(f->asked, 1);
}

static void the_port_of_before_is_taken_again_if_it_is_free(void **state)
{
    struct fixture *f = *state;
    struct cs_listener *other = NULL;
    struct cs_err err = {0};
    char before[64];
    snprintf(before, sizeof before, "%s", cs_listener_uri(f->listener));
    assert_int_equal(cs_listener_start(&f->loop, NULL, before, on_answer, f, &other, &err), 0);
    assert_string_not_equal(cs_listener_uri(other), before);
    cs_listener_close(other);
    cs_listener_close(f->listener);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    assert_int_equal(cs_listener_start(&f->loop, NULL, before, on_answer, f, &f->listener, &err),
                     0);
    assert_string_equal(cs_listener_uri(f->listener), before);
}

static void only_an_address_of_this_machine_is_served(void **state)
{
    struct fixture *f = *state;
    struct cs_listener *other = NULL;
    static const char *const bad[] = {"https://localhost:3000/", "http://example.com/cb",
                                      "ftp://x"};
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        struct cs_err err = {0};
        assert_int_equal(cs_listener_start(&f->loop, bad[i], NULL, on_answer, f, &other, &err), -1);
        assert_contains(err.msg, "redirect address");
    }
    struct cs_err err = {0};
    char taken[64];
    snprintf(taken, sizeof taken, "http://localhost:%u/", f->port);
    assert_int_equal(cs_listener_start(&f->loop, taken, NULL, on_answer, f, &other, &err), -1);
    assert_contains(err.msg, "cannot listen");
}

int main(void)
{
#define T(test) CS_TEST_WITH(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(the_query_reaches_the_owner_and_the_page_the_browser),
        T(what_is_not_for_it_never_reaches_the_owner),
        T(a_request_may_come_in_pieces),
        T(a_request_that_is_too_large_is_dropped),
        T(those_who_only_hold_on_do_not_keep_others_out),
        T(the_page_is_shown_when_the_owner_closes_at_the_answer),
        T(the_port_of_before_is_taken_again_if_it_is_free),
        T(only_an_address_of_this_machine_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
