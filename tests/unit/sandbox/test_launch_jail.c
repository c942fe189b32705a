/* Jailed servers: what they see, what they cannot do, and that they work. */
#include "launching.h"

#include <arpa/inet.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "sandbox/guest_server.h"
#include "sandbox/launch_jail.h"
#include "sandbox/role.h"
#include "sandbox/walls.h"

static char shown[128], changed[128], secret[128]; /* directories and a file, in `dir` */

static const char *const read_paths[] = {shown, NULL};
static const char *const write_paths[] = {changed, NULL};

static struct cs_launch jailed(const char *const *argv)
{
    return (struct cs_launch){
        .argv = argv, .env = plain_env, .jail = true, .read = read_paths, .write = write_paths};
}

/* What a jailed shell prints; its stderr too. */
static const char *jail_shell(const char *script, struct cs_buf *out)
{
    char text[2048];
    snprintf(text, sizeof text, "exec 2>&1\n%s", script);
    const char *argv[] = {"sh", "-c", text, NULL};
    struct cs_launch l = jailed(argv);
    struct cs_child child = start(&l);
    read_some(child.out, SIZE_MAX, out);
    await_end(&child);
    return cs_buf_cstr(out);
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void get(const char *folder, const char *name, char *text, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    text[0] = '\0';
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    size_t n = fread(text, 1, size - 1, f);
    text[n] = '\0';
    fclose(f);
}

static void test_streams_and_status(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "read x; echo \"out $x\"; echo \"err $x\" >&2; exit 7", NULL};
    struct cs_launch l = jailed(argv);
    struct cs_child child = start(&l);
    CS_AUTO_BUF struct cs_buf out = {0}, err = {0};
    assert_int_equal(write(child.in, "hello\n", 6), 6);
    read_some(child.out, SIZE_MAX, &out);
    read_some(child.err, SIZE_MAX, &err);
    assert_string_equal(cs_buf_cstr(&out), "out hello\n");
    assert_string_equal(cs_buf_cstr(&err), "err hello\n");
    siginfo_t info = await_end(&child);
    assert_int_equal(info.si_code, CLD_EXITED);
    assert_int_equal(info.si_status, 7);
}

/* True but for a root that is none: then its files stay its own, and the jail another's. */
static bool may_map(void)
{
    char line[256];
    unsigned long long caps = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "CapEff:", 7) == 0)
            caps = strtoull(line + 7, NULL, 16);
    if (f)
        fclose(f);
    return geteuid() != 0 || (caps & (1ull << 21));
}

static void test_files(void **state)
{
    (void)state;
    char script[1024], text[64];
    CS_AUTO_BUF struct cs_buf out = {0};
    snprintf(script, sizeof script, "cat %s; ls %s; grep -c . /etc/shadow; ls -a /root /work",
             secret, dir);
    const char *said = jail_shell(script, &out);
    assert_null(strstr(said, "canary"));
    assert_non_null(strstr(said, "No such file"));
    assert_null(strstr(said, "secret.txt\n"));

    cs_buf_clear(&out);
    snprintf(script, sizeof script,
             "cat %s/a.txt; echo x > %s/a.txt; echo x > %s/new; echo changed > %s/b.txt; "
             "cat %s/b.txt; mkdir %s/sub; echo deep > %s/sub/c.txt",
             shown, shown, shown, changed, changed, changed, changed);
    said = jail_shell(script, &out);
    assert_true(strncmp(said, "visible\n", 8) == 0);
    assert_non_null(strstr(said, "Read-only file system"));
    assert_non_null(strstr(said, "changed\n"));
    get(changed, "b.txt", text, sizeof text);
    assert_string_equal(text, "changed\n");
    get(shown, "a.txt", text, sizeof text);
    assert_string_equal(text, "visible\n");
    get(changed, "sub/c.txt", text, sizeof text);
    assert_string_equal(text, "deep\n");
    /* what it made belongs to whom the directory belongs to */
    char path[256];
    struct stat st;
    snprintf(path, sizeof path, "%s/sub/c.txt", changed);
    assert_int_equal(stat(path, &st), 0);
    if (may_map())
        assert_int_equal(st.st_uid, geteuid());
}

/* Where files are mapped, it does not take an open door. */
static void test_private_directories(void **state)
{
    (void)state;
    if (!may_map()) {
        print_message("skip: root without CAP_SYS_ADMIN cannot map files\n");
        return;
    }
    char path[256], text[64];
    snprintf(path, sizeof path, "%s/private", changed);
    assert_int_equal(mkdir(path, 0700), 0);
    put(path, "in.txt", "private");
    const char *const write_private[] = {path, NULL};
    char script[600];
    snprintf(script, sizeof script, "cat %s/in.txt > %s/out.txt", path, path);
    const char *argv[] = {"sh", "-c", script, NULL};
    struct cs_launch l = jailed(argv);
    l.write = write_private;
    struct cs_child child = start(&l);
    assert_int_equal(await_end(&child).si_status, 0);
    get(path, "out.txt", text, sizeof text);
    assert_string_equal(text, "private");
}

static void test_nothing_else_is_writable(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    const char *said =
        jail_shell("for d in / /usr /usr/bin /usr/local /etc /var /home /dev /proc; do "
                   "(echo x > $d/caisson-probe) 2>/dev/null && echo \"wrote $d\"; done; "
                   "echo x > $HOME/f && echo x > $TMPDIR/f && echo $HOME $TMPDIR; "
                   "dd if=/dev/zero of=$HOME/big bs=1M count=600 2>&1 | grep -o 'No space left'",
                   &out);
    assert_string_equal(said, "/home/caisson /tmp\nNo space left\n");
}

static void test_identity_and_processes(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    const char *said =
        jail_shell("id -u; hostname; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' "
                   "/proc/self/status; ls /proc | grep -c '^[0-9]'; ls /proc/$$/fd | tr '\\n' ' '",
                   &out);
    assert_true(strncmp(said, "1000\ncaisson\nCapEff:\t0000000000000000\n", 38) == 0);
    assert_non_null(strstr(said, "NoNewPrivs:\t1\nSeccomp:\t2\n"));
    int processes;
    assert_int_equal(sscanf(strstr(said, "Seccomp:\t2\n") + 11, "%d", &processes), 1);
    assert_in_range(processes, 1, 4);
    assert_non_null(strstr(said, "\n0 1 2 "));
}

static void test_no_network(void **state)
{
    (void)state;
    const char *argv[] = {"python3", "-c",
                          "import socket\n"
                          "for f in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, "
                          "socket.AF_NETLINK, socket.AF_VSOCK):\n"
                          "  for t in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):\n"
                          "    try: socket.socket(f, t); print('made', f, t)\n"
                          "    except PermissionError: pass\n"
                          "print('done')\n",
                          NULL};
    struct cs_launch l = jailed(argv);
    struct cs_child child = start(&l);
    CS_AUTO_BUF struct cs_buf out = {0};
    read_some(child.out, SIZE_MAX, &out);
    await_end(&child);
    assert_string_equal(cs_buf_cstr(&out), "done\n");
}

static void test_environment(void **state)
{
    (void)state;
    const char *const env[] = {"PATH=/usr/bin:/bin", "HOME=/root", "A=1", NULL};
    const char *argv[] = {"env", NULL};
    struct cs_launch l = jailed(argv);
    l.env = env;
    struct cs_child child = start(&l);
    CS_AUTO_BUF struct cs_buf out = {0};
    read_some(child.out, SIZE_MAX, &out);
    await_end(&child);
    assert_string_equal(cs_buf_cstr(&out),
                        "PATH=/usr/bin:/bin\nA=1\nHOME=/home/caisson\nTMPDIR=/tmp\n");
}

static void test_directory(void **state)
{
    (void)state;
    CS_AUTO_BUF struct cs_buf out = {0};
    const char *argv[] = {"pwd", NULL};
    struct cs_launch l = jailed(argv);
    l.cwd = changed;
    struct cs_child child = start(&l);
    read_some(child.out, SIZE_MAX, &out);
    await_end(&child);
    assert_int_equal(strncmp(cs_buf_cstr(&out), changed, strlen(changed)), 0);
    struct cs_err err;
    l.cwd = "/var";
    refuse(&l, &err);
    assert_non_null(strstr(err.msg, "'/var' is not in its jail"));
}

/* Everything inside hears SIGTERM, and nothing survives SIGKILL. */
static void test_signals(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c",
                          "trap 'echo term; exit 3' TERM; (setsid sleep 1000 &); sleep 1000 & "
                          "echo ready; wait",
                          NULL};
    struct cs_launch l = jailed(argv);
    struct cs_child child = start(&l);
    CS_AUTO_BUF struct cs_buf out = {0};
    read_some(child.out, 6, &out);
    assert_string_equal(cs_buf_cstr(&out), "ready\n");
    cs_child_kill(&child, SIGTERM);
    read_some(child.out, SIZE_MAX, &out); /* until all have closed it */
    assert_string_equal(cs_buf_cstr(&out), "ready\nterm\n");
    assert_int_equal(await_end(&child).si_status, 3);

    const char *deaf[] = {"sh", "-c",
                          "trap '' TERM INT HUP; (setsid sleep 1000 &); echo ready; "
                          "while :; do sleep 1; done",
                          NULL};
    l = jailed(deaf);
    child = start(&l);
    cs_buf_clear(&out);
    read_some(child.out, 6, &out);
    cs_child_kill(&child, SIGTERM);
    usleep(100000);
    assert_true(alive(child.pid));
    cs_child_kill(&child, SIGKILL);
    read_some(child.out, SIZE_MAX, &out);
    siginfo_t info = await_end(&child);
    assert_int_equal(info.si_code, CLD_KILLED);
    assert_int_equal(info.si_status, SIGKILL);
}

static void test_ends_by_a_signal(void **state)
{
    (void)state;
    const char *argv[] = {"sh", "-c", "kill -9 $$", NULL};
    struct cs_launch l = jailed(argv);
    struct cs_child child = start(&l);
    assert_int_equal(await_end(&child).si_status, 128 + SIGKILL);
}

static void test_stdin_ends(void **state)
{
    (void)state;
    const char *argv[] = {"cat", NULL};
    struct cs_launch l = jailed(argv);
    struct cs_child child = start(&l);
    close(child.in);
    child.in = -1;
    assert_int_equal(await_end(&child).si_status, 0);
    /* and who closes its stdin is noticed */
    const char *closes[] = {"sh", "-c", "exec <&-; echo ready; sleep 1000", NULL};
    l = jailed(closes);
    child = start(&l);
    CS_AUTO_BUF struct cs_buf out = {0};
    read_some(child.out, 6, &out);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(write(child.in, "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    signal(SIGPIPE, SIG_DFL);
    cs_child_kill(&child, SIGKILL);
    await_end(&child);
}

static void test_dies_with_us(void **state)
{
    (void)state;
    int pair[2];
    assert_int_equal(pipe(pair), 0);
    pid_t helper = fork();
    if (helper == 0) {
        const char *argv[] = {"sleep", "1000", NULL};
        struct cs_launch l = jailed(argv);
        struct cs_child child;
        struct cs_err err;
        if (cs_launch(loop, &l, &child, &err) == 0 &&
            write(pair[1], &child.pid, sizeof child.pid) == sizeof child.pid)
            pause();
        _exit(1);
    }
    pid_t server;
    close(pair[1]);
    assert_int_equal(read(pair[0], &server, sizeof server), sizeof server);
    assert_true(alive(server));
    kill(helper, SIGKILL);
    assert_int_equal(waitpid(helper, NULL, 0), helper);
    assert_true(gone_soon(server));
    close(pair[0]);
}

static void test_refusals(void **state)
{
    (void)state;
    struct cs_err err;
    const char *argv[] = {"no-such-command", NULL};
    struct cs_launch l = jailed(argv);
    refuse(&l, &err);
    assert_int_equal(err.code, CS_MISSING);
    assert_string_equal(err.msg, "there is no command 'no-such-command' (looked in /usr/bin:/bin)");
    argv[0] = "true";
    static const struct {
        const char *path, *part;
        enum cs_code code;
    } bad[] = {
        {"relative/path", "not an absolute path", CS_INVALID},
        {"/usr/../etc", "not an absolute path", CS_INVALID},
        {"/", "walls away", CS_INVALID},
        {"//./", "walls away", CS_INVALID},
        {"/proc/self", "walls away", CS_INVALID},
        {"/dev", "walls away", CS_INVALID},
        {"/no/such/path", "No such file", CS_MISSING},
    };
    for (size_t i = 0; i < CS_COUNT(bad); i++) {
        const char *const list[] = {bad[i].path, NULL};
        l = jailed(argv);
        l.read = list;
        refuse(&l, &err);
        assert_int_equal(err.code, bad[i].code);
        assert_non_null(strstr(err.msg, bad[i].part));
        assert_non_null(strstr(err.msg, "\"read\""));
    }
    char path[256];
    put(changed, "orphan", "#!/opt/no-such-node\n");
    snprintf(path, sizeof path, "%s/orphan", changed);
    chmod(path, 0755);
    argv[0] = path;
    l = jailed(argv);
    refuse(&l, &err);
    if (err.code != CS_MISSING || !strstr(err.msg, "name its directory under \"read\""))
        fail_msg("%s", err.msg);
}

static void test_paths(void **state)
{
    (void)state;
    static const struct {
        const char *program, *expected;
    } cases[] = {
        {"/usr/bin/true", ""},
        {"/bin/sh", ""},
        {"/usr/local/bin/node", "r/usr/local/bin "},
        {"/opt/server/bin/run", "r/opt/server/bin "},
        {"/home/u/server.py", "r/home/u/server.py "}, /* all of a home is too much */
        {"/opt/run", "r/opt/run "},
    };
    const char *before = getenv("HOME");
    CS_AUTO_FREE char *kept = before ? strndup(before, 4096) : NULL;
    setenv("HOME", "/home/u", 1);
    for (size_t i = 0; i < CS_COUNT(cases); i++) {
        CS_AUTO_ARENA struct cs_arena arena = {0};
        struct cs_server server = {0};
        struct cs_launch l = {0};
        char got[512] = "";
        assert_int_equal(cs_launch_paths(&l, cases[i].program, &arena, &server, NULL), 0);
        for (size_t k = 0; k < server.path_count; k++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%c%s ",
                     server.paths[k].writable ? 'w' : 'r', server.paths[k].path);
        assert_string_equal(got, cases[i].expected);
    }
    /* sorted, each once, what may be written wins */
    char inner[160], slashes[160];
    snprintf(inner, sizeof inner, "%s/", changed);
    snprintf(slashes, sizeof slashes, "//%s/.", shown + 1);
    const char *const reads[] = {inner, slashes, shown, NULL};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_server server = {0};
    struct cs_launch l = {.read = reads, .write = write_paths};
    assert_int_equal(cs_launch_paths(&l, "/usr/bin/true", &arena, &server, NULL), 0);
    assert_int_equal(server.path_count, 2);
    assert_string_equal(server.paths[0].path, changed);
    assert_true(server.paths[0].writable);
    assert_string_equal(server.paths[1].path, shown);
    assert_false(server.paths[1].writable);
    if (kept)
        setenv("HOME", kept, 1);
}

/* A host on this machine that answers every request. */
static void *play_host(void *arg)
{
    static const char says[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nworld";
    int listener = *(int *)arg, fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        char head[4096];
        if (recv(fd, head, sizeof head, 0) > 0)
            send(fd, says, sizeof says - 1, MSG_NOSIGNAL);
        close(fd);
    }
    return NULL;
}

static int host_start(int *port, pthread_t *thread, int *listener)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    *listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(*listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(*listener, 16), 0);
    assert_int_equal(getsockname(*listener, (struct sockaddr *)&at, &len), 0);
    *port = ntohs(at.sin_port);
    return pthread_create(thread, NULL, play_host, listener);
}

static void read_with_loop(struct cs_child *child, struct cs_buf *out)
{
    int64_t until = ms_now() + 60000;
    ssize_t n = -1;
    while (n != 0 && ms_now() < until) {
        uv_run(loop, UV_RUN_NOWAIT);
        n = read(child->out, cs_buf_room(out, 65536), 65536);
        if (n > 0)
            cs_buf_added(out, (size_t)n);
        else
            usleep(1000);
    }
}

/* One host can be reached, through the proxy; no other, and nothing without it. */
static void test_hosts(void **state)
{
    (void)state;
    pthread_t thread;
    int port, listener;
    assert_int_equal(host_start(&port, &thread, &listener), 0);
    char allowed[32], script[2048];
    snprintf(allowed, sizeof allowed, "127.0.0.1:%d", port);
    const char *const hosts[] = {allowed, NULL};
    snprintf(script, sizeof script,
             "import urllib.request as u, urllib.error, socket, os\n"
             "def get(url):\n"
             "  try: return u.urlopen(url, timeout=10).read().decode()\n"
             "  except urllib.error.HTTPError as e: return str(e.code)+' '+e.read().decode()\n"
             "print(get('http://127.0.0.1:%d/hello'))\n"
             "print(get('http://evil.example.com/').strip())\n"
             "try: u.urlopen('https://evil.example.com/', timeout=10)\n"
             "except OSError as e: print(str(e))\n"
             "for a in (('127.0.0.1', %d), ('8.8.8.8', 53), ('169.254.169.254', 80)):\n"
             "  try: socket.create_connection(a, timeout=3); print('connected', a)\n"
             "  except OSError: print('no')\n"
             "for f in (socket.AF_UNIX, socket.AF_NETLINK):\n"
             "  try: socket.socket(f); print('made', f)\n"
             "  except OSError: print('no')\n"
             "print(os.environ['HTTPS_PROXY'], os.environ['NODE_USE_ENV_PROXY'])\n",
             port, port);
    const char *argv[] = {"python3", "-c", script, NULL};
    struct cs_launch l = jailed(argv);
    l.hosts = hosts;
    struct cs_child child = start(&l);
    assert_non_null(child.proxy);
    CS_AUTO_BUF struct cs_buf out = {0}, err = {0};
    read_with_loop(&child, &out);
    read_some(child.err, SIZE_MAX, &err);
    await_end(&child);
    uv_run(loop, UV_RUN_DEFAULT); /* the proxy closes */
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
    const char *want = "world\n"
                       "403 caisson: this server may not reach 'evil.example.com' port 80. To let "
                       "it, add \"evil.example.com\" to \"hosts\" of its \"jail\".\n"
                       "<urlopen error Tunnel connection failed: 403 host is not allowed>\n"
                       "no\nno\nno\nno\nno\nhttp://127.0.0.1:3128 1\n";
    if (strcmp(cs_buf_cstr(&out), want) != 0)
        fail_msg("out: %s\nerr: %s", cs_buf_cstr(&out), cs_buf_cstr(&err));

    struct cs_err failure;
    const char *const nonsense[] = {"https://example.org/", NULL};
    l.hosts = nonsense;
    refuse(&l, &failure);
    assert_int_equal(failure.code, CS_INVALID);
    assert_non_null(strstr(failure.msg, "\"hosts\""));
}

/* Node heeds the variables, where it is new enough. */
static void test_fetch_of_node(void **state)
{
    (void)state;
    char here[PATH_MAX / 2], node[PATH_MAX];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(node, sizeof node, "%s/tests/it/peers/node_modules/.bin/node", here);
    if (access(node, X_OK) < 0) {
        print_message("skip: no node in tests/it/peers\n");
        return;
    }
    pthread_t thread;
    int port, listener;
    assert_int_equal(host_start(&port, &thread, &listener), 0);
    char allowed[32], script[1024];
    snprintf(allowed, sizeof allowed, "127.0.0.1:%d", port);
    const char *const hosts[] = {allowed, NULL};
    snprintf(script, sizeof script,
             "(async () => { console.log(await (await fetch('http://127.0.0.1:%d/')).text());"
             "const r = await fetch('http://evil.example.com/');"
             "console.log(r.status, (await r.text()).trim()) })()",
             port);
    const char *argv[] = {node, "-e", script, NULL};
    struct cs_launch l = jailed(argv);
    l.hosts = hosts;
    struct cs_child child = start(&l);
    CS_AUTO_BUF struct cs_buf out = {0}, err = {0};
    read_with_loop(&child, &out);
    read_some(child.err, SIZE_MAX, &err);
    await_end(&child);
    uv_run(loop, UV_RUN_DEFAULT);
    shutdown(listener, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(listener);
    if (strncmp(cs_buf_cstr(&out), "world\n403 caisson: this server may not reach", 44) != 0)
        fail_msg("out: %s\nerr: %s", cs_buf_cstr(&out), cs_buf_cstr(&err));
}

/* A real server from npm, in its jail, asked as a client asks. */
static void test_filesystem_server(void **state)
{
    (void)state;
    char here[PATH_MAX / 2], modules[PATH_MAX], script[PATH_MAX + 80];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(modules, sizeof modules, "%s/tests/it/peers/node_modules", here);
    if (access(modules, R_OK) < 0 || access("/usr/bin/node", X_OK) < 0) {
        print_message("skip: no node, or no node_modules in tests/it/peers\n");
        return;
    }
    snprintf(script, sizeof script, "%s/.bin/mcp-server-filesystem", modules);
    if (access(script, R_OK) < 0) {
        print_message("skip: server-filesystem is not installed\n");
        return;
    }
    const char *argv[] = {"node", script, changed, NULL};
    const char *const reads[] = {modules, NULL};
    struct cs_launch l = jailed(argv);
    l.read = reads;
    struct cs_child child = start(&l);
    char ask[2048];
    put(changed, "note.txt", "from the host\n");
    snprintf(
        ask, sizeof ask,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
        "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\","
        "\"version\":\"1\"}}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"read_text_file\",\"arguments\":{\"path\":\"%s/note.txt\"}}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"write_file\",\"arguments\":{\"path\":\"%s/made.txt\",\"content\":\"inside\"}}}\n",
        changed, changed);
    assert_int_equal(write(child.in, ask, strlen(ask)), (ssize_t)strlen(ask));
    CS_AUTO_BUF struct cs_buf out = {0};
    int64_t until = ms_now() + 30000;
    while (ms_now() < until &&
           !(strstr(cs_buf_cstr(&out), "\"id\":3") && strstr(cs_buf_cstr(&out), "\"id\":2"))) {
        struct pollfd p[] = {{.fd = child.out, .events = POLLIN},
                             {.fd = child.pidfd, .events = POLLIN}};
        poll(p, 2, 1000);
        ssize_t n = read(child.out, cs_buf_room(&out, 65536), 65536);
        if (n > 0)
            cs_buf_added(&out, (size_t)n);
        if (n == 0)
            break;
    }
    CS_AUTO_BUF struct cs_buf err = {0};
    char text[64];
    cs_child_kill(&child, SIGKILL);
    read_some(child.err, SIZE_MAX, &err);
    await_end(&child);
    if (!strstr(cs_buf_cstr(&out), "from the host"))
        fail_msg("out: %s\nerr: %s", out.at, cs_buf_cstr(&err));
    get(changed, "made.txt", text, sizeof text);
    assert_string_equal(text, "inside");
}

static int write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
    close(fd);
    return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* In here, as in many a container, nobody may make user namespaces. */
static int forbid_namespaces(void)
{
    char uid[32], gid[32];
    if (geteuid() == 0 && (setresgid(4242, 4242, 4242) < 0 || setresuid(4242, 4242, 4242) < 0))
        return -1;
    prctl(PR_SET_DUMPABLE, 1);
    snprintf(uid, sizeof uid, "0 %u 1", (unsigned)geteuid());
    snprintf(gid, sizeof gid, "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWUSER) < 0)
        return -1;
    return write_text("/proc/self/setgroups", "deny") < 0 ||
                   write_text("/proc/self/uid_map", uid) < 0 ||
                   write_text("/proc/self/gid_map", gid) < 0 ||
                   write_text("/proc/sys/user/max_user_namespaces", "0") < 0
               ? -1
               : 0;
}

/* Where a wall cannot be built nothing runs, and the message is what `doctor` says. */
static void test_fails_closed(void **state)
{
    (void)state;
    int pair[2];
    struct cs_err err = {0};
    assert_int_equal(pipe(pair), 0);
    pid_t helper = fork();
    if (helper == 0) {
        char mark[160];
        snprintf(mark, sizeof mark, "echo ran > %s/ran", changed);
        const char *argv[] = {"sh", "-c", mark, NULL};
        struct cs_launch l = {.argv = argv, .env = plain_env, .jail = true};
        struct cs_child child;
        if (forbid_namespaces() < 0)
            _exit(77);
        int r = cs_launch(loop, &l, &child, &err);
        _exit(write(pair[1], &err, sizeof err) == sizeof err && r == -1 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(helper, &status, 0), helper);
    close(pair[1]);
    if (WEXITSTATUS(status) == 77) {
        print_message("skip: user namespaces cannot be forbidden here\n");
        close(pair[0]);
        return;
    }
    assert_int_equal(status, 0);
    assert_int_equal(read(pair[0], &err, sizeof err), sizeof err);
    close(pair[0]);
    assert_int_equal(err.code, CS_DENIED);
    assert_non_null(strstr(err.msg, "the wall 'user-namespace' cannot be built"));
    assert_non_null(strstr(err.msg, cs_wall_remedy(CS_WALL_USERNS, ENOSPC)));
    char text[8];
    get(changed, "ran", text, sizeof text);
    assert_string_equal(text, "");
}

/* Threads, child processes and a watcher: what servers do. */
static void test_node_lives(void **state)
{
    (void)state;
    if (access("/usr/bin/node", X_OK) < 0) {
        print_message("skip: no node\n");
        return;
    }
    const char *argv[] = {
        "node", "-e",
        "const {Worker}=require('worker_threads'),fs=require('fs'),cp=require('child_process');"
        "fs.watch(process.env.HOME,()=>{}).close();"
        "const a=cp.execFileSync('sh',['-c','echo child']).toString().trim();"
        "new Worker(\"require('worker_threads').parentPort.postMessage('thread')\",{eval:true})"
        ".on('message',m=>{console.log(a,m);process.exit(0)});",
        NULL};
    struct cs_launch l = jailed(argv);
    struct cs_child child = start(&l);
    CS_AUTO_BUF struct cs_buf out = {0}, err = {0};
    read_some(child.out, SIZE_MAX, &out);
    read_some(child.err, SIZE_MAX, &err);
    await_end(&child);
    if (strcmp(cs_buf_cstr(&out), "child thread\n") != 0)
        fail_msg("out: %s\nerr: %s", cs_buf_cstr(&out), cs_buf_cstr(&err));
}

static void test_process_limit(void **state)
{
    (void)state;
    const char *argv[] = {"python3", "-c",
                          "import os,time\n"
                          "n=0\n"
                          "try:\n"
                          "  while n<2000:\n"
                          "    if os.fork()==0: time.sleep(1000)\n"
                          "    n+=1\n"
                          "except OSError: pass\n"
                          "print(n)\n",
                          NULL};
    struct cs_launch l = jailed(argv);
    struct cs_child child = start(&l);
    CS_AUTO_BUF struct cs_buf out = {0};
    read_some(child.out, 2, &out);
    cs_child_kill(&child, SIGKILL);
    read_some(child.out, SIZE_MAX, &out);
    await_end(&child);
    assert_in_range(strtol(cs_buf_cstr(&out), NULL, 10), 100, 520);
}

static void test_nothing_is_left(void **state)
{
    (void)state;
    const char *good[] = {"true", NULL};
    struct cs_launch l = jailed(good);
    struct cs_child child = start(&l); /* what is opened once and for all */
    await_end(&child);
    int before = count_fds();
    for (int i = 0; i < 5; i++) {
        child = start(&l);
        await_end(&child);
        struct cs_err err;
        struct cs_launch bad = jailed(good);
        bad.cwd = "/var";
        refuse(&bad, &err);
    }
    uv_run(loop, UV_RUN_DEFAULT);
    assert_int_equal(count_fds(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void make_dirs(void)
{
    snprintf(dir, sizeof dir,
             "/tmp/caisson-jail-XX"
             "XXXX");
    if (!mkdtemp(dir))
        abort();
    snprintf(shown, sizeof shown, "%s/shown", dir);
    snprintf(changed, sizeof changed, "%s/changed", dir);
    snprintf(secret, sizeof secret, "%s/secret.txt", dir);
    if (mkdir(shown, 0755) < 0 || mkdir(changed, 0755) < 0 || chmod(dir, 0755) < 0 ||
        chmod(changed, 0777) < 0)
        abort();
    put(shown, "a.txt", "visible\n");
    put(dir, "secret.txt", "canary\n");
}

int main(int argc, char **argv)
{
    int role = cs_role_main(argc, argv, NULL);
    if (role >= 0)
        return role;
    make_dirs();
    loop = uv_default_loop();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams_and_status),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_private_directories),
        cmocka_unit_test(test_nothing_else_is_writable),
        cmocka_unit_test(test_identity_and_processes),
        cmocka_unit_test(test_no_network),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_directory),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_ends_by_a_signal),
        cmocka_unit_test(test_stdin_ends),
        cmocka_unit_test(test_dies_with_us),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_fetch_of_node),
        cmocka_unit_test(test_filesystem_server),
        cmocka_unit_test(test_fails_closed),
        cmocka_unit_test(test_node_lives),
        cmocka_unit_test(test_process_limit),
        cmocka_unit_test(test_nothing_is_left),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    const char *rm[] = {"rm", "-rf", dir, NULL};
    struct cs_launch l = {.argv = rm, .env = plain_env};
    struct cs_child child = start(&l);
    await_end(&child);
    return failed;
}
