#include "sandbox/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"

struct list {
    pid_t pids[CS_TREE_MAX];
    size_t count;
    uint32_t tasks;
};

static ssize_t slurp(const char *path, char *text, size_t size)
{
    CS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    size_t len = 0;
    ssize_t n;
    while (len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    return (ssize_t)len;
}

static void add_children(struct list *list, pid_t pid, long task)
{
    char path[64], text[32768];
    snprintf(path, sizeof path, "/proc/%d/task/%ld/children", (int)pid, task);
    if (slurp(path, text, sizeof text) <= 0)
        return;
    for (char *at = text, *end;; at = end) {
        long child = strtol(at, &end, 10);
        if (end == at || list->count == CS_TREE_MAX)
            break;
        list->pids[list->count++] = (pid_t)child;
    }
}

/* Orphans go to pid 1 of the namespace, which is the root: walking down the children finds all. */
static void walk(struct list *list, pid_t root)
{
    list->pids[0] = root;
    list->count = 1;
    list->tasks = 0;
    for (size_t i = 0; i < list->count; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/task", (int)list->pids[i]);
        DIR *dir = opendir(path);
        if (!dir)
            continue;
        for (struct dirent *e; (e = readdir(dir));) {
            long task = strtol(e->d_name, NULL, 10);
            if (task <= 0)
                continue;
            list->tasks++;
            add_children(list, list->pids[i], task);
        }
        closedir(dir);
    }
}

static uint64_t kib_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, 10) * 1024 : 0;
}

static uint64_t memory_of(pid_t pid)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    if (slurp(path, text, sizeof text) <= 0)
        return 0;
    return kib_of(text, "\nRssAnon:") + kib_of(text, "\nRssShmem:");
}

/* Time of children that ended and were waited for; only in ticks, but there is nothing better. */
static uint64_t waited_us(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (slurp(path, text, sizeof text) <= 0)
        return 0;
    const char *at = strrchr(text, ')'); /* the name may contain anything, also this */
    unsigned long long user = 0, system = 0;
    if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %llu %llu",
                      &user, &system) != 2)
        return 0;
    uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
    return (user + system) * 1000000 / (ticks ? ticks : 100);
}

bool cs_tree_cpu(pid_t pid, uint64_t *cpu_us)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
        return false;
    *cpu_us = (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
    return true;
}

bool cs_tree_measure(pid_t root, struct cs_tree_use *use)
{
    *use = (struct cs_tree_use){0};
    CS_AUTO_FREE struct list *list = CS_NEW(struct list);
    walk(list, root);
    use->tasks = list->tasks;
    for (size_t i = 0; i < list->count; i++) {
        uint64_t own = 0;
        cs_tree_cpu(list->pids[i], &own);
        use->cpu_us += own + waited_us(list->pids[i]);
        use->memory += memory_of(list->pids[i]);
    }
    return list->tasks > 0;
}

uint64_t cs_tree_memory(pid_t root)
{
    CS_AUTO_FREE struct list *list = CS_NEW(struct list);
    uint64_t sum = 0;
    walk(list, root);
    for (size_t i = 0; i < list->count; i++) {
        char path[64], text[4096];
        snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)list->pids[i]);
        if (slurp(path, text, sizeof text) > 0)
            sum += kib_of(text, "\nPss_Anon:") + kib_of(text, "\nPss_Shmem:");
    }
    return sum;
}

void cs_tree_signal(pid_t root, int signal)
{
    CS_AUTO_FREE struct list *list = CS_NEW(struct list);
    walk(list, root);
    for (size_t i = 0; i < list->count; i++)
        kill(list->pids[i], signal);
}
