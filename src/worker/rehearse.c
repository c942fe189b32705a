#include "worker/rehearse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sandbox/wire.h"
#include "worker/worker.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

#define MAPPINGS_MAX 512
#define RUNS_MAX     2048

/* Of a mapping only the beginning is looked at: beyond are gigabytes of reserved addresses. */
#define LOOKED_AT (256ul << 20)

/* Clean pages of files come back in clusters of this many; smaller gaps are not worth a call. */
#define CLUSTER 16

/* Bits of /proc/self/pagemap. */
#define PRESENT   (1ull << 63)
#define FILE_PAGE (1ull << 61)
#define EXCLUSIVE (1ull << 56)

struct run {
    uintptr_t at;
    uint32_t pages;
    uint32_t advice; /* MADV_POPULATE_READ or _WRITE */
};

struct mapping {
    uintptr_t from, to;
    bool writable;
};

/* In the child that rehearses; a mapping of its own, so that it does not show in the list. */
struct stage {
    int out;
    size_t page;
    struct mapping mappings[MAPPINGS_MAX];
    size_t mapping_count;
    struct run runs[RUNS_MAX];
    size_t run_count;
};

static struct {
    struct run *runs;
    size_t count;
    struct stage *stage; /* NULL: not the child that rehearses */
} rehearsal;

/* ---- the worker ---- */

void cs_rehearsal_touch(void)
{
    /* If the kernel does not know this, or a page is gone, the engine faults it in when it must. */
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < rehearsal.count; i++) {
        const struct run *r = &rehearsal.runs[i];
        madvise((void *)r->at, r->pages * page, (int)r->advice);
    }
}

/* ---- the child that rehearses ---- */

/* What is mapped before the program runs. What it maps itself no worker has beforehand. */
static void note_mappings(struct stage *s)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && s->mapping_count < MAPPINGS_MAX && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char rights[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3 || strstr(line, "[v"))
            continue;
        if (from <= (uintptr_t)s && (uintptr_t)s < to)
            continue;
        s->mappings[s->mapping_count++] = (struct mapping){from, to, rights[1] == 'w'};
    }
    if (maps)
        fclose(maps);
}

static void add_page(struct stage *s, uintptr_t at, uint32_t advice, uint32_t gap)
{
    struct run *last = s->run_count ? &s->runs[s->run_count - 1] : NULL;
    if (last && last->advice == advice && at >= last->at) {
        size_t pages = (at - last->at) / s->page + 1;
        if (pages <= last->pages + gap + 1) {
            last->pages = (uint32_t)pages;
            return;
        }
    }
    if (s->run_count < RUNS_MAX)
        s->runs[s->run_count++] = (struct run){at, 1, advice};
}

static void note_pages(struct stage *s, const struct mapping *m, int pagemap)
{
    static uint64_t entries[8192];
    uintptr_t to = m->to - m->from > LOOKED_AT ? m->from + LOOKED_AT : m->to;
    for (uintptr_t at = m->from; at < to; at += sizeof entries / sizeof *entries * s->page) {
        size_t want = (to - at) / s->page;
        if (want > CS_COUNT(entries))
            want = CS_COUNT(entries);
        ssize_t got = pread(pagemap, entries, want * sizeof *entries,
                            (off_t)(at / s->page * sizeof *entries));
        for (ssize_t i = 0; i < got / (ssize_t)sizeof *entries; i++) {
            uint64_t e = entries[i];
            uintptr_t page = at + (uintptr_t)i * s->page;
            if (!(e & PRESENT) || page == (uintptr_t)entries / s->page * s->page)
                continue;
            if (e & FILE_PAGE)
                add_page(s, page, MADV_POPULATE_READ, CLUSTER);
            else if ((e & EXCLUSIVE) && m->writable)
                add_page(s, page, MADV_POPULATE_WRITE, 0);
        }
    }
}

void cs_rehearsal_report(void)
{
    struct stage *s = rehearsal.stage;
    if (!s)
        return;
    /* Since it changed its user, this process may not read about itself. It holds nothing that is
     * not in the program file, and ends here. */
    prctl(PR_SET_DUMPABLE, 1);
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; pagemap >= 0 && i < s->mapping_count; i++)
        note_pages(s, &s->mappings[i], pagemap);
    const char *at = (const char *)s->runs;
    size_t left = s->run_count * sizeof *s->runs;
    while (left > 0) {
        ssize_t n = write(s->out, at, left);
        if (n <= 0)
            return; /* the zygote has gone, and will not miss it */
        at += n;
        left -= (size_t)n;
    }
}

/* The daemon's part of the conversation, said in advance. */
static void put_script(struct cs_buf *b)
{
    /* What many programs do. Every page it writes to is memory that each waiting worker has. */
    static const char source[] =
        "interface Row { id: number; name: string }\n"
        "const rows: Row[] = [3, 1, 2].map((id: number): Row => ({ id, name: `row ${id}` }));\n"
        "await 0;\n"
        "return JSON.parse(JSON.stringify(rows.filter((r) => r.id > 1)));\n";
    struct cs_program program = {.seed = {1, 2},
                                 .source = cs_str(source),
                                 .log_bytes = 1024,
                                 .log_lines = 10,
                                 .result_bytes = 1024,
                                 .json_depth = 8};
    size_t mark = cs_frame_begin(b, CS_MSG_PROGRAM, 0, 1);
    cs_put_program(b, &program);
    cs_frame_end(b, mark);
    mark = cs_frame_begin(b, CS_MSG_VERDICT, 0, 2);
    cs_put_u8(b, true);
    cs_put_str(b, CS_STR(""));
    cs_frame_end(b, mark);
}

void cs_worker_rehearse(int out)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    _exit(0); /* most of the pages would be the sanitizer's */
#endif
    struct stage *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int pair[2];
    struct cs_buf script = {0};
    put_script(&script);
    if (s == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
        send(pair[1], script.at, script.len, 0) != (ssize_t)script.len)
        _exit(1);
    cs_buf_done(&script);
    s->out = out;
    s->page = (size_t)sysconf(_SC_PAGESIZE);
    note_mappings(s);
    rehearsal.stage = s;
    cs_worker_serve(pair[0]);
}

/* ---- the zygote ---- */

void cs_worker_learn(int in)
{
    CS_AUTO_BUF struct cs_buf list = {0};
    ssize_t n;
    while ((n = read(in, cs_buf_room(&list, 65536), 65536)) > 0 || (n < 0 && errno == EINTR)) {
        if (n > 0)
            cs_buf_added(&list, (size_t)n);
    }
    rehearsal.count = list.len / sizeof *rehearsal.runs;
    rehearsal.runs = cs_calloc(rehearsal.count + 1, sizeof *rehearsal.runs);
    memcpy(rehearsal.runs, list.at ? list.at : "", rehearsal.count * sizeof *rehearsal.runs);
}
