/* The proxy of a jailed server: what it reads, whom it lets be reached, and that it works. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "sandbox/proxy.h"
#include "sandbox/proxy_head.h"

/* cmocka wants these first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- pure ---- */

static void hosts_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        uint16_t port;
        bool suffix, address;
    } good[] = {
        {"example.org", "example.org", 0, false, false},
        {"Example.ORG.", "example.org", 0, false, false},
        {"example.org:8443", "example.org", 8443, false, false},
        {"*.example.org", ".example.org", 0, true, false},
        {"*.Example.org:1", ".example.org", 1, true, false},
        {"10.0.0.5", "10.0.0.5", 0, false, true},
        {"127.0.0.1:65535", "127.0.0.1", 65535, false, true},
        {"[::1]", "::1", 0, false, true},
        {"[FD00:0:0::1]:80", "fd00::1", 80, false, true},
    };
    for (size_t i = 0; i < CS_COUNT(good); i++) {
        const char *const list[] = {good[i].text, NULL};
        struct cs_hosts h;
        assert_int_equal(cs_hosts_parse(list, &h, NULL), 0);
        assert_int_equal(h.count, 1);
        assert_string_equal(h.all[0].name, good[i].name);
        assert_int_equal(h.all[0].port, good[i].port);
        assert_int_equal(h.all[0].suffix, good[i].suffix);
        assert_int_equal(h.all[0].address, good[i].address);
        cs_hosts_done(&h);
    }
    static const char *const bad[] = {
        "",       "*",   "*.",        "*example.org", "a.*.org", "https://example.org",
        "a b",    "a:0", "a:65536",   "a:",           "a:x",     "a:80:80",
        "[::1",   "::1", "[::g]",     "[1.2.3.4]",    ".org",    "a..b",
        "a/path", "u@h", "*.1.2.3.4", "[::1]x",       "a:+80",   "[fe80::1%lo]",
    };
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        const char *const list[] = {"fine.org", bad[i], NULL};
        struct cs_hosts h;
        struct cs_err err = {0};
        if (cs_hosts_parse(list, &h, &err) == 0)
            fail_msg("'%s' is taken for a host", bad[i]);
        assert_int_equal(err.code, CS_INVALID);
        assert_int_equal(cs_proxy_check(list, NULL), -1);
    }
    struct cs_hosts h;
    assert_int_equal(cs_hosts_parse(NULL, &h, NULL), 0);
    assert_false(cs_hosts_allow(&h, "example.org", 443));
    cs_hosts_done(&h);
}

static void only_named_hosts_are_allowed(void **state)
{
    (void)state;
    const char *const list[] = {"api.example.org", "*.cdn.net", "git.example.org:22", "10.0.0.5",
                                NULL};
    struct cs_hosts h;
    assert_int_equal(cs_hosts_parse(list, &h, NULL), 0);
    static const struct {
        const char *name;
        uint16_t port;
        bool allowed;
    } cases[] = {
        {"api.example.org", 443, true},   {"api.example.org", 80, true},
        {"api.example.org", 8080, false}, {"example.org", 443, false},
        {"xapi.example.org", 443, false}, {"api.example.org.evil.com", 443, false},
        {"a.cdn.net", 443, true},         {"a.b.cdn.net", 80, true},
        {"cdn.net", 443, false},          {"evilcdn.net", 443, false},
        {"git.example.org", 22, true},    {"git.example.org", 443, false},
        {"10.0.0.5", 80, true},           {"10.0.0.50", 80, false},
        {"localhost", 80, false},         {"127.0.0.1", 80, false},
    };
    for (size_t i = 0; i < CS_COUNT(cases); i++)
        if (cs_hosts_allow(&h, cases[i].name, cases[i].port) != cases[i].allowed)
            fail_msg("%s:%u", cases[i].name, cases[i].port);
    cs_hosts_done(&h);
}

static struct sockaddr_storage address_of(const char *text)
{
    struct sockaddr_storage out = {0};
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        memcpy(&out, &v4, sizeof v4);
    else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1)
        memcpy(&out, &v6, sizeof v6);
    else
        fail_msg("%s", text);
    return out;
}

static void only_public_addresses_are_public(void **state)
{
    (void)state;
    static const char *const private_[] = {
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.255",
        "169.254.169.254",
        "168.63.129.16",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.170",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "fe80::1",
        "febf::1",
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "100::1",
        "3fff:0::1",
        "4000::1",
    };
    static const char *const public_[] = {
        "1.1.1.1",         "8.8.8.8",        "100.63.255.255",       "100.128.0.0",
        "172.15.0.1",      "172.32.0.1",     "192.167.1.1",          "198.17.0.1",
        "223.1.1.1",       "168.63.129.17",  "2606:4700:4700::1111", "2a00:1450::1",
        "2001:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808",     "2002:808:808::1",
    };
    for (size_t i = 0; i < CS_COUNT(private_); i++) {
        struct sockaddr_storage a = address_of(private_[i]);
        if (cs_address_is_public((struct sockaddr *)&a))
            fail_msg("%s is taken for public", private_[i]);
    }
    for (size_t i = 0; i < CS_COUNT(public_); i++) {
        struct sockaddr_storage a = address_of(public_[i]);
        if (!cs_address_is_public((struct sockaddr *)&a))
            fail_msg("%s is not taken for public", public_[i]);
    }
    struct sockaddr local = {.sa_family = AF_UNIX};
    assert_false(cs_address_is_public(&local));
    /* named, and with its port */
    const char *const list[] = {"10.0.0.5:8080", "[fd00::1]", NULL};
    struct cs_hosts h;
    assert_int_equal(cs_hosts_parse(list, &h, NULL), 0);
    struct sockaddr_storage a = address_of("10.0.0.5"), b = address_of("fd00::1"),
                            c = address_of("10.0.0.6"), d = address_of("8.8.8.8");
    assert_true(cs_hosts_allow_address(&h, (struct sockaddr *)&a, 8080));
    assert_false(cs_hosts_allow_address(&h, (struct sockaddr *)&a, 80));
    assert_true(cs_hosts_allow_address(&h, (struct sockaddr *)&b, 443));
    assert_false(cs_hosts_allow_address(&h, (struct sockaddr *)&c, 8080));
    assert_true(cs_hosts_allow_address(&h, (struct sockaddr *)&d, 8080));
    cs_hosts_done(&h);
}

static bool parse(const char *head, struct cs_proxy_request *r)
{
    return cs_proxy_parse(cs_str(head), r);
}

static void heads_are_parsed(void **state)
{
    (void)state;
    struct cs_proxy_request r;
    assert_true(parse("CONNECT API.example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n", &r));
    assert_true(r.tunnel);
    assert_string_equal(r.name, "api.example.org");
    assert_int_equal(r.port, 443);
    assert_true(parse("CONNECT [2606:4700::1111]:8443 HTTP/1.0\r\n\r\n", &r));
    assert_string_equal(r.name, "2606:4700::1111");
    assert_int_equal(r.port, 8443);
    assert_true(parse("POST http://h:81/a?b#c HTTP/1.1\r\nContent-Length: 12\r\n\r\n", &r));
    assert_false(r.tunnel);
    assert_int_equal(r.port, 81);
    assert_true(cs_str_is(r.path, "/a?b"));
    assert_int_equal(r.body, 12);
    assert_true(parse("GET HTTP://h?q HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n", &r));
    assert_true(r.chunked);
    assert_int_equal(r.port, 80);
    assert_true(cs_str_is(r.path, "?q"));

    static const struct {
        const char *head;
        int status;
    } bad[] = {
        {"\r\n\r\n", 400},
        {"CONNECT\r\n\r\n", 400},
        {"CONNECT h HTTP/1.1\r\n\r\n", 400},
        {"CONNECT h:0 HTTP/1.1\r\n\r\n", 400},
        {"CONNECT h:99999 HTTP/1.1\r\n\r\n", 400},
        {"CONNECT :443 HTTP/1.1\r\n\r\n", 400},
        {"CONNECT a@h:443 HTTP/1.1\r\n\r\n", 400},
        {"CONNECT h:443 HTTP/2.0\r\n\r\n", 400},
        {"CONNECT  h:443 HTTP/1.1\r\n\r\n", 400},
        {"CONNECT h:443 HTTP/1.1 \r\n\r\n", 400},
        {"CONNECT h%2e:443 HTTP/1.1\r\n\r\n", 400},
        {"CONNECT h\t:443 HTTP/1.1\r\n\r\n", 400},
        {"CONNECT http://h:443 HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
        {"GET https://h/ HTTP/1.1\r\n\r\n", 400},
        {"GET ftp://h/ HTTP/1.1\r\n\r\n", 400},
        {"GET http:///x HTTP/1.1\r\n\r\n", 400},
        {"GET http://user:pw@h/ HTTP/1.1\r\n\r\n", 400},
        {"GET http://h\\@evil/ HTTP/1.1\r\n\r\n", 400},
        {"GET http://h\xc3\xa9/ HTTP/1.1\r\n\r\n", 400},
        {"TRACE http://h/ HTTP/1.1\r\n\r\n", 405},
        {"get http://h/ HTTP/1.1\r\n\r\n", 405},
        {"G(T http://h/ HTTP/1.1\r\n\r\n", 400},
        {"GET http://h/ HTTP/1.1\nX: y\r\n\r\n", 400},
        {"GET http://h/ HTTP/1.1\r\nX y\r\n\r\n", 400},
        {"GET http://h/ HTTP/1.1\r\nX : y\r\n\r\n", 400},
        {"GET http://h/ HTTP/1.1\r\nX: y\r\n folded: z\r\n\r\n", 400},
        {"GET http://h/ HTTP/1.1\r\nX: y\rZ: q\r\n\r\n", 400},
        {"GET http://h/ HTTP/1.1\r\nX: \x01\r\n\r\n", 400},
        {"POST http://h/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
        {"POST http://h/ HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
        {"POST http://h/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", 400},
        {"POST http://h/ HTTP/1.1\r\nContent-Length: 9999999999999999999\r\n\r\n", 400},
        {"POST http://h/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"POST http://h/ HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
    };
    for (size_t i = 0; i < CS_COUNT(bad); i++)
        if (parse(bad[i].head, &r) || r.status != bad[i].status)
            fail_msg("%d for %s", r.status, bad[i].head);
    static const char nul[] = "GET http://h\0evil/ HTTP/1.1\r\n\r\n";
    assert_false(cs_proxy_parse(cs_strn(nul, sizeof nul - 1), &r));
    /* many fields */
    CS_AUTO_BUF struct cs_buf many = {0};
    cs_buf_puts(&many, "GET http://h/ HTTP/1.1\r\n");
    for (int i = 0; i < 101; i++)
        cs_buf_puts(&many, "A: b\r\n");
    cs_buf_puts(&many, "\r\n");
    assert_false(cs_proxy_parse(cs_buf_str(&many), &r));
}

static void what_is_about_the_proxy_stays_here(void **state)
{
    (void)state;
    struct cs_proxy_request r;
    const char *head =
        "GET http://h:81?q=1 HTTP/1.0\r\nHost: evil\r\nProxy-Authorization: secret\r\n"
        "connection: keep-alive\r\nAccept: */*\r\nKeep-Alive: 5\r\nX-Y:z\r\n\r\n";
    assert_true(parse(head, &r));
    CS_AUTO_BUF struct cs_buf out = {0};
    cs_proxy_rewrite(cs_str(head), &r, &out);
    assert_string_equal(cs_buf_cstr(&out),
                        "GET /?q=1 HTTP/1.1\r\nHost: h:81\r\nConnection: close\r\n"
                        "Accept: */*\r\nX-Y:z\r\n\r\n");
}

/* ---- alive ---- */

struct scene {
    const char *const *hosts;
    const char *request; /* what the client sends; %u is the port of the host */
    size_t piece;        /* at a time; 0: all at once */
    const char *then;    /* what it sends when the first answer has come */
    char answer[8192];   /* what it got */
    char heard[8192];    /* what the host got */
    const char *says;    /* what the host answers */
    bool echo;           /* the host sends back what it hears */
    int proxy_port, host_port;
    int host_listener;
    uv_async_t done;
    struct cs_proxy *proxy;
};

static int listen_here(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

static void *play_host(void *arg)
{
    struct scene *s = arg;
    int fd = accept4(s->host_listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return NULL;
    size_t have = 0;
    bool said = false;
    ssize_t n;
    while ((n = recv(fd, s->heard + have, sizeof s->heard - 1 - have, 0)) > 0) {
        if (s->echo)
            send(fd, s->heard + have, (size_t)n, MSG_NOSIGNAL);
        have += (size_t)n;
        s->heard[have] = '\0';
        const char *end = strstr(s->heard, "\r\n\r\n"), *body = strstr(s->heard, "Length: ");
        size_t want = body ? strtoul(body + 8, NULL, 10) : 0;
        if (!s->echo && !said && end && strlen(end + 4) >= want) {
            send(fd, s->says, strlen(s->says), MSG_NOSIGNAL);
            said = true;
            break;
        }
    }
    close(fd);
    return NULL;
}

static void send_pieces(int fd, const char *text, size_t piece)
{
    size_t len = strlen(text);
    for (size_t at = 0; at < len;) {
        size_t n = piece && piece < len - at ? piece : len - at;
        if (send(fd, text + at, n, MSG_NOSIGNAL) < 0)
            return;
        at += n;
        if (piece)
            usleep(200);
    }
}

static void *play_client(void *arg)
{
    struct scene *s = arg;
    char request[70000];
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)s->proxy_port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {.tv_sec = 15};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0) {
        const char *mark = strstr(s->request, "PORT");
        if (mark)
            snprintf(request, sizeof request, "%.*s%d%s", (int)(mark - s->request), s->request,
                     s->host_port, mark + 4);
        else
            snprintf(request, sizeof request, "%s", s->request);
        send_pieces(fd, request, s->piece);
        size_t have = 0;
        ssize_t n;
        while ((n = recv(fd, s->answer + have, sizeof s->answer - 1 - have, 0)) > 0) {
            have += (size_t)n;
            if (s->then && strstr(s->answer, "\r\n\r\n")) {
                send_pieces(fd, s->then, 0);
                shutdown(fd, SHUT_WR);
                s->then = NULL;
            }
        }
    }
    close(fd);
    uv_async_send(&s->done);
    return NULL;
}

static void on_done(uv_async_t *a)
{
    struct scene *s = a->data;
    cs_proxy_close(s->proxy);
    uv_close((uv_handle_t *)a, NULL);
}

static void play(struct scene *s)
{
    uv_loop_t loop;
    pthread_t host, client;
    struct cs_err err = {0};
    uv_loop_init(&loop);
    s->host_listener = listen_here(&s->host_port);
    char text[3][64];
    const char *list[4] = {0};
    for (size_t i = 0; s->hosts && s->hosts[i]; i++) {
        const char *mark = strstr(s->hosts[i], "PORT");
        snprintf(text[i], sizeof text[i], mark ? "%.*s%d" : "%.*s",
                 mark ? (int)(mark - s->hosts[i]) : (int)strlen(s->hosts[i]), s->hosts[i],
                 s->host_port);
        list[i] = text[i];
    }
    int listener = listen_here(&s->proxy_port);
    if (cs_proxy_open(&loop, listener, list, &s->proxy, &err) < 0)
        fail_msg("%s", err.msg);
    s->done.data = s;
    uv_async_init(&loop, &s->done, on_done);
    pthread_create(&host, NULL, play_host, s);
    pthread_create(&client, NULL, play_client, s);
    uv_run(&loop, UV_RUN_DEFAULT);
    pthread_join(client, NULL);
    shutdown(s->host_listener, SHUT_RDWR);
    pthread_join(host, NULL);
    close(s->host_listener);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static const char *const local[] = {"127.0.0.1:PORT", NULL};

static void a_request_is_passed_on(void **state)
{
    (void)state;
    struct scene s = {.hosts = local,
                      .request = "POST http://127.0.0.1:PORT/x HTTP/1.1\r\nHost: other\r\n"
                                 "Content-Length: 5\r\n\r\nhello and more",
                      .says = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"};
    for (size_t piece = 0; piece < 8; piece += 7) {
        s.piece = piece;
        memset(s.answer, 0, sizeof s.answer);
        play(&s);
        assert_string_equal(s.answer, s.says);
        assert_int_equal(strncmp(s.heard, "POST /x HTTP/1.1\r\nHost: 127.0.0.1:", 34), 0);
        assert_null(strstr(s.heard, "other"));
        assert_true(cs_str_ends(cs_str(s.heard), "\r\n\r\nhello"));
    }
}

static void a_tunnel_carries_bytes_both_ways(void **state)
{
    (void)state;
    struct scene s = {.hosts = local,
                      .request = "CONNECT 127.0.0.1:PORT HTTP/1.1\r\n\r\n",
                      .then = "\x16\x03 hello",
                      .echo = true};
    play(&s);
    assert_string_equal(s.answer, "HTTP/1.1 200 Connection established\r\n\r\n\x16\x03 hello");
    assert_string_equal(s.heard, "\x16\x03 hello");
}

static void expect_refusal(const char *const *hosts, const char *request, const char *status,
                           const char *part)
{
    struct scene s = {.hosts = hosts, .request = request, .says = "HTTP/1.1 200 OK\r\n\r\n"};
    play(&s);
    if (strncmp(s.answer, status, strlen(status)) != 0 || !strstr(s.answer, part))
        fail_msg("%s", s.answer);
    assert_string_equal(s.heard, "");
}

static void what_is_not_named_is_refused(void **state)
{
    (void)state;
    static const char *const example[] = {"api.example.org", NULL};
    expect_refusal(example, "CONNECT evil.example.com:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 403 ",
                   "add \"evil.example.com\" to \"hosts\"");
    expect_refusal(example, "CONNECT api.example.org:22 HTTP/1.1\r\n\r\n", "HTTP/1.1 403 ",
                   "add \"api.example.org:22\" to \"hosts\"");
    expect_refusal(example, "GET http://127.0.0.1:PORT/ HTTP/1.1\r\n\r\n", "HTTP/1.1 403 ",
                   "add \"127.0.0.1:");
    expect_refusal(example, "GET /etc/passwd HTTP/1.1\r\n\r\n", "HTTP/1.1 400 ", "proxy");
    expect_refusal(example, "\x16\x03\x01\r\n\r\n", "HTTP/1.1 400 ", "not HTTP");
    CS_AUTO_BUF struct cs_buf big = {0};
    cs_buf_puts(&big, "GET http://api.example.org/ HTTP/1.1\r\nX: ");
    for (int i = 0; i < 33000; i++)
        cs_buf_putc(&big, 'x');
    expect_refusal(example, cs_buf_cstr(&big), "HTTP/1.1 431 ", "at most");
}

/* A name that leads to this machine: only if the address itself is named. */
static void private_addresses_are_refused(void **state)
{
    (void)state;
    static const char *const by_name[] = {"localhost:PORT", NULL};
    expect_refusal(by_name, "GET http://localhost:PORT/ HTTP/1.1\r\n\r\n", "HTTP/1.1 403 ",
                   "not an address of the public internet");
    static const char *const odd[] = {"127.1:PORT", "0x7f000001:PORT", NULL};
    expect_refusal(odd, "GET http://127.1:PORT/ HTTP/1.1\r\n\r\n", "HTTP/1.1 403 ",
                   "not an address of the public internet");
    static const char *const both[] = {"localhost:PORT", "127.0.0.1:PORT", NULL};
    struct scene s = {.hosts = both,
                      .request = "GET http://localhost:PORT/ HTTP/1.1\r\n\r\n",
                      .says = "HTTP/1.1 204 No Content\r\n\r\n"};
    play(&s);
    assert_string_equal(s.answer, s.says);
    /* nobody listens there */
    static const char *const nobody[] = {"127.0.0.1:9", NULL};
    expect_refusal(nobody, "CONNECT 127.0.0.1:9 HTTP/1.1\r\n\r\n", "HTTP/1.1 502 ",
                   "cannot be reached");
    static const char *const unknown[] = {"no-such-host.invalid", NULL};
    expect_refusal(unknown, "CONNECT no-such-host.invalid:443 HTTP/1.1\r\n\r\n", "HTTP/1.1 502 ",
                   "no-such-host.invalid");
}

/* More connections than there is room for wait; none is lost, and closing ends them all. */
static void connections_are_bounded(void **state)
{
    (void)state;
    uv_loop_t loop;
    struct cs_proxy *proxy;
    int port, fds[80];
    uv_loop_init(&loop);
    int listener = listen_here(&port);
    assert_int_equal(cs_proxy_open(&loop, listener, local + 1, &proxy, NULL), 0);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    for (size_t i = 0; i < CS_COUNT(fds); i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(connect(fds[i], (struct sockaddr *)&at, sizeof at) == 0 ||
                    errno == EINPROGRESS);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    for (int i = 0; i < 50; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    const char *bad = "x\r\n\r\n";
    char answer[64];
    /* The last one waits until the first has gone. */
    assert_true(send(fds[79], bad, strlen(bad), MSG_NOSIGNAL) > 0);
    for (int i = 0; i < 50; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    assert_int_equal(recv(fds[79], answer, sizeof answer, 0), -1);
    for (int i = 0; i < 40; i++)
        close(fds[i]);
    ssize_t n = -1;
    for (int i = 0; i < 60000 && n < 0; i++) {
        uv_run(&loop, UV_RUN_NOWAIT);
        n = recv(fds[79], answer, sizeof answer, 0);
        usleep(1000);
    }
    assert_true(n > 12 && strncmp(answer, "HTTP/1.1 400", 12) == 0);
    cs_proxy_close(proxy);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    for (int i = 40; i < 80; i++)
        close(fds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_are_parsed),
        cmocka_unit_test(only_named_hosts_are_allowed),
        cmocka_unit_test(only_public_addresses_are_public),
        cmocka_unit_test(heads_are_parsed),
        cmocka_unit_test(what_is_about_the_proxy_stays_here),
        cmocka_unit_test(a_request_is_passed_on),
        cmocka_unit_test(a_tunnel_carries_bytes_both_ways),
        cmocka_unit_test(what_is_not_named_is_refused),
        cmocka_unit_test(private_addresses_are_refused),
        cmocka_unit_test(connections_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
