/* /metrics: the text format of Prometheus, by its conventions for names and units. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rest/inside.h"

static void head(struct cs_buf *out, const char *name, const char *type, const char *help)
{
    cs_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void gauge(struct cs_buf *out, const char *name, const char *help, uint64_t value)
{
    head(out, name, "gauge", help);
    cs_buf_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

static void counter(struct cs_buf *out, const char *name, const char *help, uint64_t value)
{
    head(out, name, "counter", help);
    cs_buf_printf(out, "%s %llu\n", name, (unsigned long long)value);
}

static void put_executions(struct cs_buf *out, const struct cs_figures *f)
{
    head(out, "caisson_executions_total", "counter", "Executions that ended, by how.");
    for (int i = 0; i < 4; i++)
        cs_buf_printf(out, "caisson_executions_total{status=\"%s\"} %llu\n",
                      cs_status_name((enum cs_status)i), (unsigned long long)f->by_status[i]);
    head(out, "caisson_execution_errors_total", "counter",
         "Executions that ended with an error, by its type.");
    for (int i = 0; i < CS_ERROR_COUNT; i++)
        cs_buf_printf(out, "caisson_execution_errors_total{type=\"%s\"} %llu\n",
                      cs_error_type_name((enum cs_error_type)i),
                      (unsigned long long)f->by_error[i]);
    counter(out, "caisson_executions_refused_total", "Requests that were not even begun.",
            f->refused);
}

static void put_times(struct cs_buf *out, const struct cs_figures *f)
{
    static const char name[] = "caisson_execution_duration_seconds";
    uint64_t count = 0;
    head(out, name, "histogram", "Wall clock time of executions.");
    for (unsigned i = 0; i < CS_RUN_BUCKETS; i++) {
        count += f->seconds_count[i];
        if (i + 1 < CS_RUN_BUCKETS)
            cs_buf_printf(out, "%s_bucket{le=\"%g\"} %llu\n", name, cs_run_bucket(i),
                          (unsigned long long)count);
    }
    cs_buf_printf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.9g\n%s_count %llu\n", name,
                  (unsigned long long)count, name, f->seconds_sum, name, (unsigned long long)count);
}

static void put_calls(struct cs_buf *out, const struct cs_figures *f)
{
    static const char name[] = "caisson_tool_calls_total";
    head(out, name, "counter", "Calls of tools, by how they ended.");
    cs_buf_printf(out, "%s{status=\"ok\"} %llu\n%s{status=\"failed\"} %llu\n", name,
                  (unsigned long long)(f->calls - f->calls_failed), name,
                  (unsigned long long)f->calls_failed);
}

struct states {
    uint64_t total, ready, failed;
};

static void count_server(void *ctx, const struct cs_server_state *state)
{
    struct states *s = ctx;
    s->total++;
    s->ready += strcmp(state->state, "ready") == 0;
    s->failed += strcmp(state->state, "failed") == 0;
}

static void put_servers(struct cs_buf *out, struct cs_tools *tools)
{
    static const char name[] = "caisson_tool_servers";
    struct states s = {0};
    if (tools)
        cs_tools_servers(tools, count_server, &s);
    head(out, name, "gauge", "Tool servers that are configured, by their state.");
    cs_buf_printf(out,
                  "%s{state=\"ready\"} %llu\n%s{state=\"failed\"} %llu\n%s{state=\"other\"} %llu\n",
                  name, (unsigned long long)s.ready, name, (unsigned long long)s.failed, name,
                  (unsigned long long)(s.total - s.ready - s.failed));
}

static uint64_t open_files(void)
{
    uint64_t count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count > 3 ? count - 3 : 0; /* ".", ".." and the directory itself */
}

static void put_process(struct cs_buf *out, int64_t started)
{
    struct rusage used;
    struct rlimit files;
    unsigned long long size = 0, resident = 0;
    if (getrusage(RUSAGE_SELF, &used) == 0) {
        head(out, "process_cpu_seconds_total", "counter", "Processor time, user and system.");
        cs_buf_printf(out, "process_cpu_seconds_total %.6f\n",
                      (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                          (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
    }
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%llu %llu", &size, &resident) == 2) {
        unsigned long long page = (unsigned long long)sysconf(_SC_PAGESIZE);
        gauge(out, "process_resident_memory_bytes", "Memory in use.", resident * page);
        gauge(out, "process_virtual_memory_bytes", "Memory that is mapped.", size * page);
    }
    if (f)
        fclose(f);
    gauge(out, "process_open_fds", "Open file descriptors.", open_files());
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        gauge(out, "process_max_fds", "Most open file descriptors.", files.rlim_cur);
    head(out, "process_start_time_seconds", "gauge", "When it was started, since 1970.");
    cs_buf_printf(out, "process_start_time_seconds %.3f\n", (double)started / 1000);
}

void cs_rest_get_metrics(struct cs_visit *v)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    struct cs_figures f = {0};
    cs_runner_figures(v->rest->o.runner, &f);
    put_executions(&out, &f);
    put_times(&out, &f);
    put_calls(&out, &f);
    put_servers(&out, v->rest->o.tools);
    gauge(&out, "caisson_executions_running", "Executions under way.", f.running);
    gauge(&out, "caisson_queue_waiting", "Executions that wait for their turn.", f.waiting);
    gauge(&out, "caisson_workers_ready", "Warm workers.", f.ready);
    head(&out, "caisson_build_info", "gauge", "Which version it is.");
    cs_buf_printf(&out, "caisson_build_info{version=\"%s\"} 1\n", CS_VERSION);
    put_process(&out, v->rest->started);
    if (v->rest->o.watch)
        cs_watch_metrics(v->rest->o.watch, &out);
    if (v->rest->o.metrics)
        v->rest->o.metrics(v->rest->o.ctx, &out);
    cs_visit_reply(v, 200, "text/plain; version=0.0.4; charset=utf-8", cs_buf_str(&out));
}
