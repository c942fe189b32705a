/* `caisson login` and `logout`: a person, a browser, and a server that wants to know who it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <uv.h>

#include "front/errand.h"
#include "front/text.h"
#include "sandbox/launch.h"
#include "tools/oauth.h"

#define LOGIN_MS (5u * 60 * 1000)

extern char **environ;

struct login {
    struct cs_errand session; /* for what it reads; its loop is ours */
    struct cs_words operands;
    const char *redirect, *client_document;
    bool no_browser;
    uint32_t timeout_ms;
    struct cs_config config;
    struct cs_fetcher *http;
    struct cs_oauth *oauth;
    uv_timer_t timer;
    uv_signal_t interrupt;
    struct cs_child browser;
    bool has_browser, ended;
    int exit_status;
    struct cs_err err;
};

static void finish(struct login *l, int exit_status)
{
    if (l->ended)
        return;
    l->ended = true;
    l->exit_status = exit_status;
    uv_stop(l->session.loop);
}

/* Programs that open an address in whatever browser the person has. */
static bool open_browser(struct login *l, const char *url)
{
    static const char *const openers[] = {"xdg-open", "wslview", "open", "sensible-browser"};
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY") && !getenv("WSL_DISTRO_NAME"))
        return false;
    for (size_t i = 0; i < CS_COUNT(openers); i++) {
        const char *argv[] = {openers[i], url, NULL};
        struct cs_launch launch = {.argv = argv, .env = (const char *const *)environ};
        struct cs_err err = {0};
        if (cs_launch(l->session.loop, &launch, &l->browser, &err) == 0)
            return true;
    }
    return false;
}

static void on_open(void *ctx, const char *url)
{
    struct login *l = ctx;
    l->has_browser = !l->no_browser && !l->has_browser && open_browser(l, url);
    fprintf(stderr, l->has_browser ? "A browser was opened; if none is there, visit:\n"
                                   : "Visit this address to log in:\n");
    fflush(stderr);
    cs_text_safe(stdout, cs_str(url));
    putchar('\n');
    fflush(stdout);
}

static void on_done(void *ctx, const struct cs_err *err)
{
    struct login *l = ctx;
    if (err->code) {
        finish(l, cs_verb_failed(l->session.verb, err));
        return;
    }
    printf("logged in to '%s'\n", l->operands.at[0]);
    finish(l, CS_EXIT_OK);
}

static void on_time(uv_timer_t *timer)
{
    struct login *l = timer->data;
    fprintf(stderr, "caisson login: nobody came back from the browser in time\n");
    finish(l, CS_EXIT_LIMIT);
}

static void on_interrupt(uv_signal_t *handle, int number)
{
    (void)number;
    finish(handle->data, 130);
}

static void on_stopped(void *ctx)
{
    (void)ctx;
}

/* The server with its values, and the keeper of the tokens. */
static const struct cs_server_config *begin(struct login *l, const struct cs_verb *verb,
                                            struct cs_err *err)
{
    const char *name = l->operands.at[0];
    l->session.server = name;
    l->session.loop = uv_default_loop();
    if (cs_errand_open(verb, &l->session, err) < 0 ||
        cs_config_load(l->session.path, &l->config, err) < 0)
        return NULL;
    const struct cs_server_config *server = cs_config_find(&l->config, cs_str(name));
    if (!server || server->problem.code) {
        *err = server ? server->problem : (struct cs_err){0};
        if (!server)
            cs_fail(err, CS_MISSING, "there is no server '%s'", name);
        return NULL;
    }
    if (!server->is_http) {
        cs_fail(err, CS_INVALID,
                "'%s' is started by a command; only servers with a URL want a login", name);
        return NULL;
    }
    if (cs_fetcher_start(l->session.loop, &l->http, err) < 0 ||
        cs_oauth_new(l->http, l->session.data, &l->oauth, err) < 0)
        return NULL;
    return server;
}

static void end(struct login *l)
{
    cs_oauth_free(l->oauth);
    if (l->http)
        cs_fetcher_stop(l->http, on_stopped, NULL);
    uv_run(l->session.loop, UV_RUN_DEFAULT);
    if (l->has_browser) {
        /* The person may go on reading in it, so it is not ended with us. */
        siginfo_t info;
        waitid(P_PIDFD, (id_t)l->browser.pidfd, &info, WEXITED | WNOHANG);
        cs_child_done(&l->browser);
    }
    uv_loop_close(l->session.loop);
    cs_config_done(&l->config);
    cs_errand_close(&l->session);
    cs_words_done(&l->operands);
}

static void run_login(struct login *l, const struct cs_server_config *server)
{
    uv_loop_t *loop = l->session.loop;
    uv_timer_init(loop, &l->timer);
    uv_signal_init(loop, &l->interrupt);
    l->timer.data = l->interrupt.data = l;
    uv_timer_start(&l->timer, on_time, l->timeout_ms ? l->timeout_ms : LOGIN_MS, 0);
    uv_signal_start(&l->interrupt, on_interrupt, SIGINT);
    struct cs_login login = {.server = server,
                             .redirect = l->redirect,
                             .client_document = l->client_document,
                             .open = on_open,
                             .done = on_done,
                             .ctx = l};
    cs_oauth_login(l->oauth, &login);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&l->timer, NULL);
    uv_close((uv_handle_t *)&l->interrupt, NULL);
}

static int take(const struct cs_verb *verb, int argc, char **argv, struct login *l,
                struct cs_err *err)
{
    const struct cs_bind binds[] = {
        {"no-browser", CS_BIND_FLAG, &l->no_browser},
        {"redirect", CS_BIND_TEXT, &l->redirect},
        {"client-document", CS_BIND_TEXT, &l->client_document},
        {"timeout", CS_BIND_TIME, &l->timeout_ms},
        {"config", CS_BIND_TEXT, &l->session.config},
        {NULL, 0, NULL},
    };
    if (cs_args_bind(verb, argc, argv, binds, &l->operands, err) < 0)
        return -1;
    if (l->operands.count != 1)
        return cs_fail(err, CS_INVALID, "it takes one NAME");
    return 0;
}

int cs_verb_login(const struct cs_verb *verb, int argc, char **argv)
{
    struct login l = {.exit_status = CS_EXIT_OURS};
    struct cs_err err = {0};
    if (take(verb, argc, argv, &l, &err) < 0) {
        cs_words_done(&l.operands);
        return cs_usage_error(verb, &err);
    }
    const struct cs_server_config *server = begin(&l, verb, &err);
    if (server)
        run_login(&l, server);
    else
        l.exit_status = cs_verb_failed(verb, &err);
    end(&l);
    return l.exit_status;
}

int cs_verb_logout(const struct cs_verb *verb, int argc, char **argv)
{
    struct login l = {.exit_status = CS_EXIT_OK};
    struct cs_err err = {0};
    if (take(verb, argc, argv, &l, &err) < 0) {
        cs_words_done(&l.operands);
        return cs_usage_error(verb, &err);
    }
    const struct cs_server_config *server = begin(&l, verb, &err);
    if (server && cs_oauth_logout(l.oauth, server, &err) == 0)
        printf("logged out of '%s'\n", l.operands.at[0]);
    else
        l.exit_status = cs_verb_failed(verb, &err);
    end(&l);
    return l.exit_status;
}
