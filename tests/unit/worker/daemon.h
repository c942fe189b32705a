/*
 * A stand-in for the daemon: forks a worker from this warm process, speaks frames with it, answers
 * its modules, files and tools from memory, and keeps what it said.
 */
#ifndef TESTS_WORKER_DAEMON_H
#define TESTS_WORKER_DAEMON_H

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/facts.h"
#include "base/json.h"
#include "base/mem.h"
#include "sandbox/wire.h"
#include "worker/worker.h"

#define START_US 1700000000000000ll /* 2023-11-14T22:13:20Z */

struct file {
    const char *path, *text;
};

struct talk {
    /* in */
    const char *source, *inputs, *state, *globals;
    const struct file *files; /* ends with a NULL path */
    const char *refuse;       /* the verdict's message */
    const char *refuse_late;  /* the same, of what is imported while it runs */
    uint64_t seed;
    uint32_t log_bytes, log_lines, result_bytes, json_depth;
    uint32_t argument_bytes, calls_at_once, wall_ms, state_bytes;
    int limit_ms;     /* 0: a minute */
    size_t memory_mb; /* RLIMIT_AS above what is mapped now; 0: none */
    int64_t step_us;  /* what the clock gains with every frame */
    enum cs_clock clock;

    /* out */
    int outcome; /* enum cs_outcome; -1 no DONE, -2 the time was up */
    struct cs_buf answer, logs, facts, calls, progress, kept;
    struct cs_buf late; /* facts of what was imported, each in a line */
    uint32_t log_count, refused, sleeps;
    int status; /* of the process */

    /* inner life */
    int sock;
    struct cs_wire_reader reader;
    struct cs_buf out;
    int64_t now_us;
    struct {
        char path[256];
        struct cs_buf data;
        bool used, directory;
    } disk[64];
};

static inline void talk_send(struct talk *t)
{
    size_t at = 0;
    while (at < t->out.len) {
        ssize_t n = send(t->sock, t->out.at + at, t->out.len - at, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    cs_buf_clear(&t->out);
}

static inline size_t talk_begin(struct talk *t, enum cs_msg type, uint64_t id)
{
    t->now_us += t->step_us;
    return cs_frame_begin(&t->out, type, id, t->now_us);
}

static inline void talk_end(struct talk *t, size_t mark)
{
    cs_frame_end(&t->out, mark);
    talk_send(t);
}

static inline void talk_result(struct talk *t, uint64_t id, enum cs_answer status, struct cs_str s)
{
    size_t mark = talk_begin(t, CS_MSG_RESULT, id);
    cs_put_u8(&t->out, (uint8_t)status);
    cs_put_str(&t->out, s);
    talk_end(t, mark);
}

static inline int talk_find(struct talk *t, const char *path)
{
    for (size_t i = 0; i < CS_COUNT(t->disk); i++) {
        if (t->disk[i].used && strcmp(t->disk[i].path, path) == 0)
            return (int)i;
    }
    return -1;
}

static inline int talk_create(struct talk *t, const char *path, bool directory)
{
    int i = talk_find(t, path);
    for (size_t k = 0; i < 0 && k < CS_COUNT(t->disk); k++) {
        if (!t->disk[k].used)
            i = (int)k;
    }
    t->disk[i].used = true;
    t->disk[i].directory = directory;
    snprintf(t->disk[i].path, sizeof t->disk[i].path, "%s", path);
    return i;
}

/* Is `path` directly (or, with `deep`, anywhere) beneath `dir`? Returns what follows. */
static inline const char *talk_beneath(const char *path, const char *dir, bool deep)
{
    size_t n = strlen(dir);
    if (strncmp(path, dir, n) != 0 || path[n] != '/')
        return NULL;
    return deep || !strchr(path + n + 1, '/') ? path + n + 1 : NULL;
}

static inline void talk_list(struct talk *t, uint64_t id, const char *dir)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '[');
    for (size_t i = 0; i < CS_COUNT(t->disk); i++) {
        const char *name = t->disk[i].used ? talk_beneath(t->disk[i].path, dir, false) : NULL;
        if (!name)
            continue;
        cs_json_open(&w, '{');
        cs_json_key(&w, "name");
        cs_json_put_z(&w, name);
        cs_json_key(&w, "type");
        cs_json_put_z(&w, t->disk[i].directory ? "directory" : "file");
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    talk_result(t, id, CS_ANSWER_OK, cs_buf_str(&json));
}

/* A disk of 64 files without rights: enough to see what the worker asks for. */
static inline void talk_file(struct talk *t, const struct cs_frame *f)
{
    struct cs_str body = f->body, p, data;
    uint8_t op;
    uint32_t flags;
    cs_field_u8(&body, &op);
    cs_field_str(&body, &p);
    cs_field_str(&body, &data);
    cs_field_u32(&body, &flags);
    char path[256], to[256];
    snprintf(path, sizeof path, "%s%.*s", p.len && p.at[0] == '/' ? "" : "/workspace/",
             CS_STR_ARG(p));
    snprintf(to, sizeof to, "%.*s", CS_STR_ARG(data));
    int i = talk_find(t, path);
    bool writes = op != CS_FILE_READ && op != CS_FILE_STAT && op != CS_FILE_LIST;
    if (writes && strncmp(path, "/workspace/", 11) != 0 && strncmp(path, "/tmp/", 5) != 0) {
        talk_result(t, f->id, CS_ANSWER_DENIED, CS_STR("EROFS: read-only file system"));
        return;
    }
    bool makes = op == CS_FILE_WRITE || op == CS_FILE_APPEND || op == CS_FILE_MKDIR;
    if (i < 0 && !makes && op != CS_FILE_LIST && !(op == CS_FILE_REMOVE && (flags & 2))) {
        talk_result(t, f->id, CS_ANSWER_MISSING, CS_STR("no such file"));
        return;
    }
    CS_AUTO_BUF struct cs_buf json = {0};
    switch ((enum cs_file_op)op) {
    case CS_FILE_READ:
        if (t->disk[i].directory)
            talk_result(t, f->id, CS_ANSWER_INVALID, CS_STR("EISDIR"));
        else
            talk_result(t, f->id, CS_ANSWER_OK, cs_buf_str(&t->disk[i].data));
        return;
    case CS_FILE_WRITE:
        if (i >= 0 && (flags & 1)) {
            talk_result(t, f->id, CS_ANSWER_INVALID, CS_STR("EEXIST"));
            return;
        }
        i = talk_create(t, path, false);
        cs_buf_clear(&t->disk[i].data);
        cs_buf_putstr(&t->disk[i].data, data);
        break;
    case CS_FILE_APPEND:
        i = talk_create(t, path, false);
        cs_buf_putstr(&t->disk[i].data, data);
        break;
    case CS_FILE_STAT:
        cs_buf_printf(&json, "{\"type\":\"%s\",\"size\":%zu,\"mtimeMs\":1000}",
                      t->disk[i].directory ? "directory" : "file", t->disk[i].data.len);
        talk_result(t, f->id, CS_ANSWER_OK, cs_buf_str(&json));
        return;
    case CS_FILE_LIST:
        talk_list(t, f->id, path);
        return;
    case CS_FILE_MKDIR:
        if (i >= 0 && !(flags & 1)) {
            talk_result(t, f->id, CS_ANSWER_INVALID, CS_STR("EEXIST"));
            return;
        }
        talk_create(t, path, true);
        break;
    case CS_FILE_REMOVE:
        if (i >= 0)
            t->disk[i].used = false;
        break;
    case CS_FILE_RENAME:
        snprintf(t->disk[i].path, sizeof t->disk[i].path, "%s", to);
        break;
    case CS_FILE_COPY: {
        int k = talk_create(t, to, false);
        cs_buf_clear(&t->disk[k].data);
        cs_buf_putstr(&t->disk[k].data, cs_buf_str(&t->disk[i].data));
        break;
    }
    }
    talk_result(t, f->id, CS_ANSWER_OK, cs_str(""));
}

static inline void talk_call(struct talk *t, const struct cs_frame *f)
{
    struct cs_str body = f->body, server, tool, json;
    cs_field_str(&body, &server);
    cs_field_str(&body, &tool);
    cs_field_str(&body, &json);
    if (cs_str_is(server, "caisson") && cs_str_is(tool, CS_LATE_TOOL)) {
        cs_buf_printf(&t->late, "%.*s\n", CS_STR_ARG(json));
        talk_result(t, f->id, t->refuse_late ? CS_ANSWER_DENIED : CS_ANSWER_OK,
                    cs_str(t->refuse_late ? t->refuse_late : "true"));
        return;
    }
    cs_buf_printf(&t->calls, "%.*s.%.*s(%.*s)\n", CS_STR_ARG(server), CS_STR_ARG(tool),
                  CS_STR_ARG(cs_strn(json.at, json.len > 300 ? 300 : json.len)));
    static const struct {
        const char *tool;
        enum cs_answer status;
        const char *text;
    } fixed[] = {
        {"denied", CS_ANSWER_DENIED, "policy says no"},
        {"fails", CS_ANSWER_FAILED, "the service is down"},
        {"strict", CS_ANSWER_INVALID, "code must have three letters"},
        {"busy", CS_ANSWER_LIMIT, "too many calls"},
        {"list", CS_ANSWER_OK, "[{\"id\":1},{\"id\":2}]"},
        {"broken", CS_ANSWER_OK, "{not json"},
        {"silent", CS_ANSWER_OK, ""},
        {"json", CS_ANSWER_FAILED,
         "{\"message\":\"rate limited\",\"retryable\":true,\"suggestion\":\"Wait a minute.\"}"},
        {"typed", CS_ANSWER_FAILED, "{\"message\":\"too slow\",\"type\":\"timeout_error\"}"},
        {"odd", CS_ANSWER_FAILED, "{\"message\":\"x\",\"type\":\"__proto__\"}"},
    };
    if (cs_str_is(server, "caisson") && cs_str_is(tool, "searchTools")) {
        talk_result(t, f->id, CS_ANSWER_OK,
                    CS_STR("{\"tools\":[{\"tool\":\"github.listCommits\",\"path\":\"/a\"},"
                           "{\"tool\":\"github.getCommit\",\"path\":\"/b\"}],\"total\":212}"));
        return;
    }
    if (cs_str_is(server, "caisson") && cs_str_is(tool, "readToolDefinition")) {
        CS_AUTO_BUF struct cs_buf text = {0};
        cs_buf_printf(&text, "\"export async function %.*s\"", (int)json.len - 11, json.at + 9);
        talk_result(t, f->id, CS_ANSWER_OK, cs_buf_str(&text));
        return;
    }
    if (cs_str_is(server, "fixture")) {
        if (cs_str_is(tool, "never"))
            return;
        if (cs_str_is(tool, "echo")) {
            talk_result(t, f->id, CS_ANSWER_OK, json);
            return;
        }
        for (size_t i = 0; i < CS_COUNT(fixed); i++) {
            if (cs_str_is(tool, fixed[i].tool)) {
                talk_result(t, f->id, fixed[i].status, cs_str(fixed[i].text));
                return;
            }
        }
    }
    talk_result(t, f->id, CS_ANSWER_MISSING, CS_STR("no tool servers are configured"));
}

static inline void talk_module(struct talk *t, const struct cs_frame *f)
{
    struct cs_str body = f->body, path;
    cs_field_str(&body, &path);
    const struct file *found = NULL;
    char canonical[300];
    static const char *const ends[] = {"", ".ts", ".js", "/index.ts"};
    for (size_t e = 0; e < CS_COUNT(ends) && !found; e++) {
        snprintf(canonical, sizeof canonical, "%.*s%s", CS_STR_ARG(path), ends[e]);
        for (const struct file *m = t->files; m && m->path && !found; m++)
            found = strcmp(m->path, canonical) == 0 ? m : NULL;
    }
    size_t mark = talk_begin(t, CS_MSG_MODULE, f->id);
    cs_put_u8(&t->out, found ? CS_ANSWER_OK : CS_ANSWER_MISSING);
    cs_put_str(&t->out, cs_str(found ? canonical : ""));
    cs_put_str(&t->out, cs_str(found ? found->text : "no such file"));
    talk_end(t, mark);
}

static inline pid_t talk_fork(struct talk *t)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        abort();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        if (t->memory_mb) {
            char line[256];
            unsigned long pages = 0;
            FILE *f = fopen("/proc/self/statm", "r");
            if (!f || !fgets(line, sizeof line, f) || sscanf(line, "%lu", &pages) != 1)
                _exit(99);
            fclose(f);
            rlim_t bytes = pages * 4096ul + t->memory_mb * CS_MIB;
            setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
        }
        cs_worker_serve(pair[1]);
    }
    close(pair[1]);
    t->sock = pair[0];
    t->now_us = START_US;
    cs_wire_reader_init(&t->reader, CS_SIDE_WORKER, CS_PHASE_BOOT);
    return pid;
}

/* 1: a frame; 0: the worker closed; -1: the time was up; -2: it broke the rules. */
static inline int talk_frame(struct talk *t, struct cs_frame *frame, int limit_ms)
{
    for (;;) {
        struct cs_err err;
        int got = cs_wire_next(&t->reader, frame, &err);
        if (got < 0) {
            fprintf(stderr, "worker broke the rules: %s\n", err.msg);
            return -2;
        }
        if (got > 0)
            return 1;
        struct pollfd p = {.fd = t->sock, .events = POLLIN};
        if (poll(&p, 1, limit_ms) == 0)
            return -1;
        size_t room, missing = cs_wire_missing(&t->reader);
        char *at = cs_wire_room(&t->reader, missing > 65536 ? missing : 65536, &room);
        ssize_t n = recv(t->sock, at, room, 0);
        if (n <= 0)
            return 0;
        cs_wire_added(&t->reader, (size_t)n);
    }
}

static inline void talk_program(struct talk *t)
{
    struct cs_program p = {
        .seed = {t->seed, 7},
        .source = cs_str(t->source),
        .inputs = cs_str(t->inputs ? t->inputs : ""),
        .state = cs_str(t->state ? t->state : ""),
        .log_bytes = t->log_bytes ? t->log_bytes : CS_MIB,
        .log_lines = t->log_lines ? t->log_lines : 10000,
        .result_bytes = t->result_bytes ? t->result_bytes : CS_MIB,
        .state_bytes = t->state_bytes,
        .json_depth = t->json_depth ? t->json_depth : 64,
        .globals = cs_str(t->globals ? t->globals : ""),
        .argument_bytes = t->argument_bytes ? t->argument_bytes : 10 * CS_MIB,
        .calls_at_once = t->calls_at_once ? t->calls_at_once : 8,
        .wall_ms = t->wall_ms ? t->wall_ms : 30000,
        .clock = (uint32_t)t->clock,
    };
    size_t mark = talk_begin(t, CS_MSG_PROGRAM, 0);
    cs_put_program(&t->out, &p);
    cs_frame_end(&t->out, mark);
    cs_wire_sent(&t->reader, CS_MSG_PROGRAM, NULL);
    talk_send(t);
}

static inline void talk_verdict(struct talk *t)
{
    size_t mark = talk_begin(t, CS_MSG_VERDICT, 0);
    cs_put_u8(&t->out, t->refuse == NULL);
    cs_put_str(&t->out, cs_str(t->refuse ? t->refuse : ""));
    cs_wire_sent(&t->reader, CS_MSG_VERDICT, NULL);
    talk_end(t, mark);
}

static inline void talk_log(struct talk *t, const struct cs_frame *f)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    struct cs_str body = f->body, text;
    uint8_t level;
    cs_field_u8(&body, &level);
    cs_field_str(&body, &text);
    cs_buf_printf(&t->logs, "%s: ", level < 4 ? levels[level] : "?");
    cs_buf_putstr(&t->logs, text);
    cs_buf_putc(&t->logs, '\n');
    t->log_count++;
}

/* Nobody has to wait here: it is at once what time the worker waits for. */
static inline void talk_wake(struct talk *t, const struct cs_frame *f)
{
    struct cs_str body = f->body;
    uint64_t due;
    t->sleeps++;
    if (!cs_field_u64(&body, &due) || due == INT64_MAX)
        return;
    if (t->now_us < (int64_t)due)
        t->now_us = (int64_t)due;
    talk_end(t, talk_begin(t, CS_MSG_WAKE, 0));
}

static inline bool talk_handle(struct talk *t, const struct cs_frame *f)
{
    struct cs_str body = f->body, s;
    uint8_t outcome;
    switch (f->type) {
    case CS_MSG_READY:
        talk_program(t);
        return true;
    case CS_MSG_ASK:
        talk_module(t, f);
        return true;
    case CS_MSG_FACTS:
        cs_field_str(&body, &s);
        cs_buf_putstr(&t->facts, s);
        talk_verdict(t);
        return true;
    case CS_MSG_CALL:
        talk_call(t, f);
        return true;
    case CS_MSG_FILE:
        talk_file(t, f);
        return true;
    case CS_MSG_LOG:
        talk_log(t, f);
        return true;
    case CS_MSG_PROGRESS:
        cs_field_str(&body, &s);
        cs_buf_putstr(&t->progress, s);
        return true;
    case CS_MSG_SLEEP:
        talk_wake(t, f);
        return true;
    case CS_MSG_DONE:
        cs_field_u8(&body, &outcome);
        cs_field_str(&body, &s);
        t->outcome = outcome;
        cs_buf_putstr(&t->answer, s);
        cs_field_u32(&body, &t->refused);
        cs_field_str(&body, &s);
        cs_buf_putstr(&t->kept, s);
        return false;
    case CS_MSG_NONE:
    case CS_MSG_PROGRAM:
    case CS_MSG_MODULE:
    case CS_MSG_VERDICT:
    case CS_MSG_RESULT:
    case CS_MSG_CANCEL:
    case CS_MSG_WAKE:
        break;
    }
    return false;
}

static inline void talk_run(struct talk *t)
{
    pid_t pid = talk_fork(t);
    for (const struct file *m = t->files; m && m->path; m++) {
        int i = talk_create(t, m->path, false);
        cs_buf_puts(&t->disk[i].data, m->text);
    }
    t->outcome = -1;
    int limit = t->limit_ms ? t->limit_ms : 60000;
    for (;;) {
        struct cs_frame f;
        int got = talk_frame(t, &f, limit);
        if (got < 0)
            t->outcome = -2;
        if (got <= 0 || !talk_handle(t, &f))
            break;
    }
    if (t->outcome == -2)
        kill(pid, SIGKILL);
    waitpid(pid, &t->status, 0);
    close(t->sock);
}

static inline void talk_done(struct talk *t)
{
    for (size_t i = 0; i < CS_COUNT(t->disk); i++)
        cs_buf_done(&t->disk[i].data);
    struct cs_buf *all[] = {&t->answer,   &t->logs, &t->facts, &t->calls,
                            &t->progress, &t->out,  &t->kept,  &t->late};
    for (size_t i = 0; i < CS_COUNT(all); i++)
        cs_buf_done(all[i]);
    cs_wire_reader_done(&t->reader);
}

#endif
