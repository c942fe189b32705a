#include "tools/grants.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/own.h"
#include "tools/secret.h"

/* The texts of a grant, as they are named in the file. */
#define GRANT_TEXTS(X)                  \
    X(server, "server")                 \
    X(issuer, "issuer")                 \
    X(client_id, "client_id")           \
    X(client_secret, "client_secret")   \
    X(redirect, "redirect_uri")         \
    X(token_endpoint, "token_endpoint") \
    X(resource, "resource")             \
    X(access, "access_token")           \
    X(refresh, "refresh_token")         \
    X(scope, "scope")

void cs_grant_set(char **slot, const char *value)
{
    char *copy = value ? cs_strdup(value) : NULL;
    cs_secret_free(*slot);
    *slot = copy;
}

static void grant_free(struct cs_grant *g)
{
#define X(field, name) cs_secret_free(g->field);
    GRANT_TEXTS(X)
#undef X
    free(g);
}

static void want_free(struct cs_want *w)
{
    free(w->server);
    free(w->resource_metadata);
    free(w->scope);
    free(w);
}

static void empty(struct cs_grants *g)
{
    for (struct cs_grant *i; (i = g->all);) {
        g->all = i->next;
        grant_free(i);
    }
    for (struct cs_want *i; (i = g->wants);) {
        g->wants = i->next;
        want_free(i);
    }
}

void cs_grants_free(struct cs_grants *g)
{
    if (!g)
        return;
    cs_grants_abandon(g);
    empty(g);
    free(g->dir);
    free(g->path);
    free(g);
}

static char *text(struct cs_json_val object, const char *key)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_val v = cs_json_get(object, key);
    if (cs_json_type(v) != CS_JSON_STRING)
        return NULL;
    struct cs_str s = cs_json_str(v, &arena);
    return cs_strndup(s.at, s.len);
}

static void load_grant(struct cs_json_val v, struct cs_grant ***tail)
{
    struct cs_grant *n = CS_NEW(struct cs_grant);
    int64_t method = 0;
#define X(field, name) n->field = text(v, name);
    GRANT_TEXTS(X)
#undef X
    cs_json_i64(cs_json_get(v, "expires_at"), &n->expires_at);
    cs_json_i64(cs_json_get(v, "obtained_at"), &n->obtained_at);
    cs_json_i64(cs_json_get(v, "auth_method"), &method);
    cs_json_bool(cs_json_get(v, "registered"), &n->registered);
    n->auth_method = (unsigned)method & 7u;
    if (!n->server || !n->issuer) {
        grant_free(n);
        return;
    }
    **tail = n;
    *tail = &n->next;
}

static void load(struct cs_grants *g, struct cs_json_val root)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    struct cs_grant **tail = &g->all;
    struct cs_want **wants = &g->wants;
    while (cs_json_next(cs_json_get(root, "grants"), &it, NULL, &item))
        load_grant(item, &tail);
    it = (struct cs_json_iter){0};
    while (cs_json_next(cs_json_get(root, "challenges"), &it, NULL, &item)) {
        struct cs_want *w = CS_NEW(struct cs_want);
        w->server = text(item, "server");
        w->resource_metadata = text(item, "resource_metadata");
        w->scope = text(item, "scope");
        if (!w->server) {
            want_free(w);
            continue;
        }
        *wants = w;
        wants = &w->next;
    }
}

static int read_file(struct cs_grants *g, int fd, size_t size, struct cs_err *err)
{
    CS_AUTO(cs_buf_wipe) struct cs_buf bytes = {0};
    if (size > CS_GRANTS_BYTES)
        return cs_fail(err, CS_LIMIT, "%s is larger than %u bytes", g->path, CS_GRANTS_BYTES);
    for (;;) {
        char *room = cs_buf_room(&bytes, 16384);
        ssize_t n = read(fd, room, 16384);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cs_fail_errno(err, "%s", g->path);
        if (n == 0)
            break;
        cs_buf_added(&bytes, (size_t)n);
        if (bytes.len > CS_GRANTS_BYTES)
            return cs_fail(err, CS_LIMIT, "%s grows while it is read", g->path);
    }
    CS_AUTO_JSON struct cs_json doc = {0};
    if (cs_json_parse(cs_buf_str(&bytes), NULL, &doc, err) < 0)
        return cs_wrap(err, "%s (repair or remove it; then log in again)", g->path);
    empty(g);
    load(g, cs_json_root(&doc));
    return 0;
}

int cs_grants_refresh(struct cs_grants *g, struct cs_err *err)
{
    struct stat st;
    if (stat(g->path, &st) < 0) {
        if (errno != ENOENT)
            return cs_fail_errno(err, "%s", g->path);
        empty(g);
        memset(g->seen, 0, sizeof g->seen);
        return 0;
    }
    const uint64_t now[4] = {(uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size,
                             (uint64_t)st.st_mtim.tv_sec * 1000000000u +
                                 (uint64_t)st.st_mtim.tv_nsec};
    if (memcmp(now, g->seen, sizeof now) == 0)
        return 0;
    CS_AUTO_FD int fd = open(g->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return cs_fail_errno(err, "%s", g->path);
    if (read_file(g, fd, (size_t)st.st_size, err) < 0)
        return -1;
    memcpy(g->seen, now, sizeof now);
    return 0;
}

int cs_grants_open(const char *dir, struct cs_grants **grants, struct cs_err *err)
{
    struct cs_grants *g = CS_NEW(struct cs_grants);
    CS_AUTO_BUF struct cs_buf path = {0};
    cs_buf_printf(&path, "%s/oauth.json", dir);
    g->dir = cs_strdup(dir);
    g->path = cs_strdup(cs_buf_cstr(&path));
    g->lock = -1;
    if (cs_grants_refresh(g, err) < 0) {
        cs_grants_free(g);
        return -1;
    }
    *grants = g;
    return 0;
}

void cs_grants_abandon(struct cs_grants *g)
{
    cs_closep(&g->lock);
}

int cs_grants_begin(struct cs_grants *g, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf name = {0};
    cs_buf_printf(&name, "%s.lock", g->path);
    mkdir(g->dir, 0700); /* usually there; if it cannot be made, opening says why */
    CS_AUTO_FD int fd = open(cs_buf_cstr(&name), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return cs_fail_errno(err, "%s", cs_buf_cstr(&name));
    /* Held for the writing of one small file. */
    while (flock(fd, LOCK_EX) < 0)
        if (errno != EINTR)
            return cs_fail_errno(err, "%s", cs_buf_cstr(&name));
    if (cs_grants_refresh(g, err) < 0)
        return -1;
    g->lock = CS_TAKE_FD(fd);
    return 0;
}

static void put_text(struct cs_json_writer *w, const char *key, const char *z)
{
    if (!z)
        return;
    cs_json_key(w, key);
    cs_json_put_z(w, z);
}

static void write_json(const struct cs_grants *g, struct cs_buf *out)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "grants");
    cs_json_open(&w, '[');
    for (const struct cs_grant *i = g->all; i; i = i->next) {
        cs_json_open(&w, '{');
#define X(field, name) put_text(&w, name, i->field);
        GRANT_TEXTS(X)
#undef X
        cs_json_key(&w, "auth_method");
        cs_json_put_u64(&w, i->auth_method);
        cs_json_key(&w, "registered");
        cs_json_put_bool(&w, i->registered);
        cs_json_key(&w, "expires_at");
        cs_json_put_i64(&w, i->expires_at);
        cs_json_key(&w, "obtained_at");
        cs_json_put_i64(&w, i->obtained_at);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    cs_json_key(&w, "challenges");
    cs_json_open(&w, '[');
    for (const struct cs_want *i = g->wants; i; i = i->next) {
        cs_json_open(&w, '{');
        put_text(&w, "server", i->server);
        put_text(&w, "resource_metadata", i->resource_metadata);
        put_text(&w, "scope", i->scope);
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
}

static int write_all(int fd, struct cs_str bytes)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.at, bytes.len);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0)
            bytes = cs_strn(bytes.at + n, bytes.len - (size_t)n);
    }
    return 0;
}

int cs_grants_commit(struct cs_grants *g, struct cs_err *err)
{
    CS_AUTO(cs_buf_wipe) struct cs_buf json = {0};
    CS_AUTO(cs_buf_wipe) struct cs_buf bytes = {0};
    CS_AUTO_BUF struct cs_buf name = {0};
    write_json(g, &json);
    cs_json_pretty(cs_buf_str(&json), &bytes);
    cs_buf_putc(&bytes, '\n');
    cs_buf_printf(&name, "%s.new", g->path);
    const char *fresh = cs_buf_cstr(&name);
    unlink(fresh); /* of a writer that died; we hold the lock */
    CS_AUTO_FD int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int status = 0;
    if (fd < 0 || write_all(fd, cs_buf_str(&bytes)) < 0 || fsync(fd) < 0 ||
        rename(fresh, g->path) < 0)
        status = cs_fail_errno(err, "%s", g->path);
    memset(g->seen, 0, sizeof g->seen); /* read it again next time, and never guess */
    cs_grants_abandon(g);
    return status;
}

struct cs_grant *cs_grants_current(struct cs_grants *g, const char *server)
{
    for (struct cs_grant *i = g->all; i; i = i->next)
        if (i->access && strcmp(i->server, server) == 0)
            return i;
    return NULL;
}

struct cs_grant *cs_grants_find(struct cs_grants *g, const char *server, const char *issuer)
{
    for (struct cs_grant *i = g->all; i; i = i->next)
        if (strcmp(i->server, server) == 0 && strcmp(i->issuer, issuer) == 0)
            return i;
    return NULL;
}

struct cs_grant *cs_grants_make(struct cs_grants *g, const char *server, const char *issuer)
{
    struct cs_grant *made = cs_grants_find(g, server, issuer);
    if (made) {
        struct cs_grant **at = &g->all;
        while (*at != made)
            at = &(*at)->next;
        *at = made->next;
    } else {
        made = CS_NEW(struct cs_grant);
        made->server = cs_strdup(server);
        made->issuer = cs_strdup(issuer);
    }
    for (struct cs_grant *i = g->all; i; i = i->next)
        if (strcmp(i->server, server) == 0) {
            cs_grant_set(&i->access, NULL);
            cs_grant_set(&i->refresh, NULL);
        }
    made->next = g->all;
    g->all = made;
    return made;
}

unsigned cs_grants_remove(struct cs_grants *g, const char *server)
{
    unsigned n = 0;
    for (struct cs_grant **at = &g->all; *at;) {
        struct cs_grant *i = *at;
        if (strcmp(i->server, server) != 0) {
            at = &i->next;
            continue;
        }
        *at = i->next;
        grant_free(i);
        n++;
    }
    for (struct cs_want **at = &g->wants; *at;) {
        struct cs_want *i = *at;
        if (strcmp(i->server, server) != 0) {
            at = &i->next;
            continue;
        }
        *at = i->next;
        want_free(i);
    }
    return n;
}

struct cs_want *cs_grants_want(struct cs_grants *g, const char *server, bool make)
{
    for (struct cs_want *i = g->wants; i; i = i->next)
        if (strcmp(i->server, server) == 0)
            return i;
    if (!make)
        return NULL;
    struct cs_want *w = CS_NEW(struct cs_want);
    w->server = cs_strdup(server);
    w->next = g->wants;
    g->wants = w;
    return w;
}
