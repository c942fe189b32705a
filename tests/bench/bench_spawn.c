/*
 * Starts other programs and measures them, from before the spawn until they are reaped: the peers
 * of bench_run.c, which does the same to us. Both are in C, so that neither side pays for the
 * interpreter that conducts the benchmark (tests/bench/run).
 *
 * One command per line on stdin, one answer per line on stdout; words are separated by blanks:
 *
 *     seq STDIN EXPECT N ARGV...           -> times T1 T2 ...   microseconds each
 *     load STDIN EXPECT SECONDS P ARGV...  -> count N SECONDS   P of them at any time
 *
 * STDIN is a file, or - for nothing. EXPECT is a file with what must come out of stdout; anything
 * else is the answer `wrong ...`, since a fast wrong answer is not worth a figure.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"

#define WORDS_MAX    64
#define PARALLEL_MAX 64

extern char **environ;

struct child {
    pid_t pid;
    int out;
    struct cs_buf text;
};

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void read_all(const char *path, struct cs_buf *to)
{
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    while (fd >= 0 && (n = read(fd, cs_buf_room(to, 65536), 65536)) > 0)
        cs_buf_added(to, (size_t)n);
}

static bool start(struct child *c, const char *in, char **argv)
{
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC) < 0)
        return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, strcmp(in, "-") ? in : "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
    int failed = posix_spawn(&c->pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[1]);
    c->out = pipes[0];
    cs_buf_clear(&c->text);
    if (failed)
        cs_closep(&c->out);
    return !failed;
}

/* False once it has said everything. */
static bool hear(struct child *c)
{
    ssize_t n = read(c->out, cs_buf_room(&c->text, 65536), 65536);
    if (n > 0)
        cs_buf_added(&c->text, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Reaps it; true if it was right. */
static bool end(struct child *c, struct cs_str expect)
{
    int status = -1;
    cs_closep(&c->out);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    struct cs_str got = cs_buf_str(&c->text);
    while (got.len && got.at[got.len - 1] == '\n')
        got.len--;
    if (status == 0 && cs_str_eq(got, expect))
        return true;
    printf("wrong status %d, output %.*s\n", status, (int)(got.len < 200 ? got.len : 200), got.at);
    return false;
}

static void seq(const char *in, struct cs_str expect, int n, char **argv)
{
    CS_AUTO_BUF struct cs_buf line = {0};
    struct child c = {.out = -1};
    for (int i = 0; i < n; i++) {
        double from = now_us();
        if (!start(&c, in, argv)) {
            printf("wrong cannot start %s\n", argv[0]);
            return;
        }
        while (hear(&c))
            ;
        if (!end(&c, expect))
            return;
        cs_buf_printf(&line, " %.1f", now_us() - from);
    }
    printf("times%.*s\n", CS_STR_ARG(cs_buf_str(&line)));
    cs_buf_done(&c.text);
}

static void load(const char *in, struct cs_str expect, double seconds, int parallel, char **argv)
{
    struct child children[PARALLEL_MAX] = {0};
    struct pollfd polls[PARALLEL_MAX];
    double from = now_us(), until = from + seconds * 1e6;
    int count = 0, running = 0;
    for (int i = 0; i < parallel; i++, running++) {
        if (!start(&children[i], in, argv))
            return;
        polls[i] = (struct pollfd){.fd = children[i].out, .events = POLLIN};
    }
    while (running) {
        poll(polls, (nfds_t)parallel, -1);
        for (int i = 0; i < parallel; i++) {
            if (polls[i].fd < 0 || !polls[i].revents || hear(&children[i]))
                continue;
            if (!end(&children[i], expect))
                return;
            count++;
            running--;
            polls[i].fd = -1;
            if (now_us() < until && start(&children[i], in, argv)) {
                polls[i].fd = children[i].out;
                running++;
            }
        }
    }
    printf("count %d %.6f\n", count, (now_us() - from) / 1e6);
    for (int i = 0; i < parallel; i++)
        cs_buf_done(&children[i].text);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, stdin) > 0) {
        char *words[WORDS_MAX] = {0}, *save = NULL;
        int count = 0;
        for (char *w = strtok_r(line, " \n", &save); w && count < WORDS_MAX - 1;
             w = strtok_r(NULL, " \n", &save))
            words[count++] = w;
        CS_AUTO_BUF struct cs_buf expect = {0};
        if (count >= 5)
            read_all(words[2], &expect);
        if (count >= 5 && strcmp(words[0], "seq") == 0)
            seq(words[1], cs_buf_str(&expect), (int)strtol(words[3], NULL, 10), words + 4);
        else if (count >= 6 && strcmp(words[0], "load") == 0)
            load(words[1], cs_buf_str(&expect), strtod(words[3], NULL),
                 (int)(strtol(words[4], NULL, 10) % PARALLEL_MAX), words + 5);
        else
            printf("wrong command\n");
        fflush(stdout);
    }
    free(line);
    return 0;
}
