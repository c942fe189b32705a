#include "sandbox/launch_jail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"
#include "sandbox/cage.h"
#include "sandbox/guest.h"
#include "sandbox/jail.h"
#include "sandbox/proxy.h"

/* A jail that is not there by then never will be. */
#define BUILD_MS 20000

/* How often memory is looked at where no control group does. */
#define TICK_MS 100

/* Servers last: what they may use is meant to stop a run-away, not to tune one. */
static const struct cs_limits server_limits = {
    .memory = 2048ull << 20,
    .cpu = 100,
    .cpu_burst = 1ull << 40, /* never used up */
    .processes = 512,
    .open_files = 4096,
    .stack = 8ull << 20,
    .scratch_bytes = 512ull << 20,
    .scratch_files = 50000,
};

struct cs_jailed {
    struct cs_cages *cages;
    struct cs_cage *cage;
    uv_timer_t timer;
    bool ticking;
};

/* ---- paths ---- */

/* True if `path` is `dir` or below it. */
static bool is_beneath(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/' || n == 1);
}

static bool is_beneath_any(const char *path, const char *const *dirs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_beneath(path, dirs[i]))
            return true;
    return false;
}

/* The system that every guest sees. */
static bool is_visible(const char *path)
{
    static const char *const shown[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"};
    static const char *const hidden[] = {"/usr/local", "/usr/src"};
    return is_beneath_any(path, shown, CS_COUNT(shown)) &&
           !is_beneath_any(path, hidden, CS_COUNT(hidden));
}

/* Without "//", "/./" and a slash at the end; NULL if there is a "..", or it is not absolute. */
static const char *normalise(const char *path, struct cs_arena *arena)
{
    const char *home = getenv("HOME");
    if (strncmp(path, "~/", 2) == 0 && home && home[0] == '/')
        path = cs_arena_printf(arena, "%s%s", home, path + 1);
    if (path[0] != '/')
        return NULL;
    char *out = cs_arena_alloc(arena, strlen(path) + 2);
    size_t used = 0;
    for (const char *at = path; *at;) {
        at += strspn(at, "/");
        size_t len = strcspn(at, "/");
        if (len == 2 && memcmp(at, "..", 2) == 0)
            return NULL;
        if (len > 0 && !(len == 1 && *at == '.')) {
            out[used++] = '/';
            memcpy(out + used, at, len);
            used += len;
        }
        at += len;
    }
    if (used == 0)
        out[used++] = '/';
    out[used] = '\0';
    return out;
}

/* Keeps the paths sorted, parents first, and each once: what may be written wins. */
static int add_path(struct cs_server *s, const char *path, bool writable, struct cs_err *err)
{
    size_t at = 0;
    while (at < s->path_count && strcmp(s->paths[at].path, path) < 0)
        at++;
    if (at < s->path_count && strcmp(s->paths[at].path, path) == 0) {
        s->paths[at].writable |= writable;
        return 0;
    }
    if (s->path_count == CS_SERVER_PATHS)
        return cs_fail(err, CS_LIMIT, "a jail shows at most %d paths", CS_SERVER_PATHS);
    memmove(&s->paths[at + 1], &s->paths[at], (s->path_count - at) * sizeof *s->paths);
    s->paths[at] = (struct cs_server_path){.path = path, .writable = writable, .tree = -1};
    s->path_count++;
    return 0;
}

static int add_named(struct cs_server *s, const char *const *list, bool writable,
                     struct cs_arena *arena, struct cs_err *err)
{
    static const char *const never[] = {"/proc", "/sys", "/dev"};
    const char *where = writable ? "write" : "read";
    for (; list && *list; list++) {
        const char *path = normalise(*list, arena);
        struct stat st;
        if (!path)
            return cs_fail(err, CS_INVALID,
                           "\"%s\" of a jail: '%.200s' is not an absolute path without '..'", where,
                           *list);
        if (strcmp(path, "/") == 0 || is_beneath_any(path, never, CS_COUNT(never)))
            return cs_fail(err, CS_INVALID,
                           "\"%s\" of a jail: '%s' would take its walls away; name what is needed",
                           where, path);
        if (stat(path, &st) < 0)
            return cs_fail(err, CS_MISSING, "\"%s\" of a jail: '%.200s': %s", where, path,
                           strerror(errno));
        if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
            return cs_fail(err, CS_INVALID,
                           "\"%s\" of a jail: '%.200s' is neither a directory nor a file", where,
                           path);
        if (add_path(s, path, writable, err) < 0)
            return -1;
    }
    return 0;
}

/*
 * Where the program lies: its directory, or the program alone if that is where everything else lies
 * too.
 */
static int add_program(struct cs_server *s, const char *program, struct cs_arena *arena,
                       struct cs_err *err)
{
    const char *path = normalise(program, arena), *home = getenv("HOME");
    if (!path)
        path = program;
    if (is_visible(path))
        return 0;
    for (size_t i = 0; i < s->path_count; i++)
        if (is_beneath(path, s->paths[i].path))
            return 0;
    const char *slash = strrchr(path, '/');
    const char *dir =
        slash == path ? "/" : cs_arena_printf(arena, "%.*s", (int)(slash - path), path);
    static const char *const common[] = {"/", "/home", "/root", "/tmp", "/var", "/opt", "/srv"};
    bool alone = home && is_beneath(home, dir);
    for (size_t i = 0; i < CS_COUNT(common); i++)
        alone |= strcmp(dir, common[i]) == 0;
    return add_path(s, alone ? path : dir, false, err);
}

int cs_launch_paths(const struct cs_launch *l, const char *program, struct cs_arena *arena,
                    struct cs_server *s, struct cs_err *err)
{
    if (add_named(s, l->read, false, arena, err) < 0 ||
        add_named(s, l->write, true, arena, err) < 0)
        return -1;
    char real[PATH_MAX];
    s->program = program;
    s->real = realpath(program, real) ? cs_arena_printf(arena, "%s", real) : program;
    if (add_program(s, program, arena, err) < 0 || add_program(s, s->real, arena, err) < 0)
        return -1;
    if (!s->network)
        return 0;
    static const char *const certificates[] = {"/etc/ssl/certs", "/etc/pki/tls/certs",
                                               "/etc/pki/ca-trust/extracted"};
    struct stat st;
    for (size_t i = 0; i < CS_COUNT(certificates); i++)
        if (stat(certificates[i], &st) == 0 && add_path(s, certificates[i], false, err) < 0)
            return -1;
    return 0;
}

/* ---- environment ---- */

#define PROXY "http://127.0.0.1:3128"
_Static_assert(CS_SERVER_PROXY_PORT == 3128, "the environment names another port");

static const char *const ours[] = {"HOME=" CS_SERVER_HOME, "TMPDIR=/tmp"};
static const char *const with_proxy[] = {"HTTP_PROXY=" PROXY, "HTTPS_PROXY=" PROXY,
                                         "http_proxy=" PROXY, "https_proxy=" PROXY,
                                         "NODE_USE_ENV_PROXY=1"};

static bool sets_same(const char *a, const char *b)
{
    size_t n = strcspn(a, "=");
    return n == strcspn(b, "=") && memcmp(a, b, n) == 0;
}

static const char *const *make_env(const struct cs_launch *l, struct cs_arena *arena)
{
    size_t given = 0, used = 0, proxies = l->hosts && l->hosts[0] ? CS_COUNT(with_proxy) : 0;
    while (l->env && l->env[given])
        given++;
    const char **env = cs_arena_alloc(arena, (given + CS_COUNT(ours) + proxies + 1) * sizeof *env);
    for (size_t i = 0; i < given; i++) {
        bool replaced = false;
        for (size_t k = 0; k < CS_COUNT(ours); k++)
            replaced |= sets_same(l->env[i], ours[k]);
        for (size_t k = 0; k < proxies; k++)
            replaced |= sets_same(l->env[i], with_proxy[k]);
        if (!replaced)
            env[used++] = l->env[i];
    }
    for (size_t k = 0; k < CS_COUNT(ours); k++)
        env[used++] = ours[k];
    for (size_t k = 0; k < proxies; k++)
        env[used++] = with_proxy[k];
    env[used] = NULL;
    return env;
}

/* ---- limits ---- */

static void on_tick(uv_timer_t *timer)
{
    struct cs_jailed *j = timer->data;
    struct cs_usage usage;
    cs_cage_tick(j->cage, &usage);
}

static void on_timer_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void cs_jailed_free(struct cs_jailed *j)
{
    if (!j)
        return;
    /* The tree is dead; the kernel may need a moment to notice. What is left then is removed with
     * the next start (cgroup.h). */
    for (int tries = 0; j->cage && tries < 100; tries++) {
        if (cs_cage_remove(j->cage))
            j->cage = NULL;
        else
            usleep(1000);
    }
    cs_cages_free(j->cages);
    if (j->ticking)
        uv_close((uv_handle_t *)&j->timer, on_timer_closed);
    else
        free(j);
}

static struct cs_jailed *make_jailed(uv_loop_t *loop, const struct cs_guest_reply *built,
                                     struct cs_err *err)
{
    struct cs_jailed *j = CS_NEW(struct cs_jailed);
    if (cs_cages_open(false, &j->cages, err) < 0 || cs_cage_make(j->cages, &j->cage, err) < 0 ||
        cs_cage_join(j->cage, built->pid, built->pidfd, err) < 0 ||
        cs_cage_set(j->cage, &server_limits, 0, err) < 0) {
        cs_jailed_free(j);
        return NULL;
    }
    if (cs_cages_memory(j->cages) == CS_BY_POLLING && uv_timer_init(loop, &j->timer) == 0) {
        j->timer.data = j;
        j->ticking = true;
        uv_timer_start(&j->timer, on_tick, TICK_MS, TICK_MS);
        uv_unref((uv_handle_t *)&j->timer);
    }
    return j;
}

/* ---- the whole of it ---- */

static int await_reply(struct cs_guest *guest, struct cs_guest_reply *reply, struct cs_err *err)
{
    struct pollfd p = {.fd = guest->control, .events = POLLIN};
    int r;
    do
        r = poll(&p, 1, BUILD_MS);
    while (r < 0 && errno == EINTR);
    if (r == 1)
        r = cs_guest_reply(guest, reply, err);
    if (r == 0)
        return cs_fail(err, CS_SYSTEM, "the jail is not built after %d s", BUILD_MS / 1000);
    if (r < 0)
        return -1;
    if (reply->kind != CS_GUEST_FAILED)
        return 0;
    if (err)
        *err = reply->err;
    return -1;
}

static void bury(const struct cs_guest_reply *built)
{
    siginfo_t info;
    syscall(SYS_pidfd_send_signal, built->pidfd, SIGKILL, NULL, 0);
    while (waitid(P_PIDFD, (id_t)built->pidfd, &info, WEXITED) < 0 && errno == EINTR)
        ;
}

/* The jail stands and nothing runs in it yet: limits, the proxy, and off it goes. */
static int begin(uv_loop_t *loop, const struct cs_launch *l, struct cs_guest *guest,
                 struct cs_guest_reply *built, struct cs_child *child, struct cs_err *err)
{
    struct cs_guest_reply started;
    child->jailed = make_jailed(loop, built, err);
    if (!child->jailed)
        return -1;
    if (built->listener >= 0 &&
        cs_proxy_open(loop, CS_TAKE_FD(built->listener), l->hosts, &child->proxy, err) < 0)
        return -1;
    if (cs_guest_go(guest, err) < 0 || await_reply(guest, &started, err) < 0)
        return -1;
    child->pid = built->pid;
    child->pidfd = CS_TAKE_FD(built->pidfd);
    child->in = CS_TAKE_FD(guest->bridge);
    child->out = CS_TAKE_FD(guest->out);
    child->err = CS_TAKE_FD(guest->err);
    fcntl(child->in, F_SETPIPE_SZ, CS_LAUNCH_PIPE);
    fcntl(child->out, F_SETPIPE_SZ, CS_LAUNCH_PIPE);
    return 0;
}

static int run(uv_loop_t *loop, const struct cs_launch *l, const struct cs_guest_spec *spec,
               struct cs_child *child, struct cs_err *err)
{
    struct cs_guest guest;
    struct cs_guest_reply built = {.pidfd = -1, .workspace = -1, .tmp = -1, .listener = -1};
    if (cs_guest_spawn(spec, &guest, err) < 0)
        return -1;
    int r = await_reply(&guest, &built, err);
    if (r == 0 && begin(loop, l, &guest, &built, child, err) < 0) {
        bury(&built);
        r = -1;
    }
    cs_closep(&built.pidfd);
    cs_closep(&built.workspace);
    cs_closep(&built.tmp);
    cs_closep(&built.listener);
    cs_guest_close(&guest);
    return r;
}

int cs_launch_jailed(uv_loop_t *loop, const struct cs_launch *l, struct cs_child *child,
                     struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    CS_AUTO_BUF struct cs_buf program = {0}, plan = {0};
    static uint32_t numbers; /* as root, every jail is another user */
    struct cs_server server = {.argv = l->argv, .network = l->hosts && l->hosts[0]};
    if (l->cwd && l->cwd[0] != '/')
        return cs_fail(err, CS_INVALID,
                       "the directory of a jailed server, '%.200s', is not an "
                       "absolute path",
                       l->cwd);
    if (cs_proxy_check(l->hosts, err) < 0 || cs_launch_find(l, &program, err) < 0)
        return -1;
    if (cs_launch_paths(l, cs_buf_cstr(&program), &arena, &server, err) < 0)
        return -1;
    server.env = make_env(l, &arena);
    server.cwd = l->cwd ? l->cwd : CS_SERVER_HOME;
    cs_server_put(&server, &plan);
    struct cs_guest_spec spec = {
        .jail = {.host_uid = cs_jail_uid_base() + CS_JAIL_UIDS - 1 - numbers++ % 20},
        .language = CS_GUEST_SERVER,
        .source = cs_buf_str(&plan),
        .limits = server_limits,
        .mcp_servers = -1,
        .skills = -1,
    };
    struct cs_child made = {.pidfd = -1, .in = -1, .out = -1, .err = -1};
    if (run(loop, l, &spec, &made, err) < 0) {
        cs_child_done(&made);
        return -1;
    }
    *child = made;
    return 0;
}
