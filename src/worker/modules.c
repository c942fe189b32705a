/*
 * Modules: asked for, compiled, linked, and run in the order of the language.
 *
 * A module is evaluated after what it imports, in the order of the import statements, each once; in
 * a cycle whoever is reached first waits for nobody behind it. A body that waits for an event does
 * not hold up modules that do not depend on it.
 */
#include "worker/modules.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "worker/text.h"

struct cs_modules cs_modules;

static struct cs_modules *const g = &cs_modules;

/* ---- loading ---- */

static uint32_t request(struct cs_str from, struct cs_str specifier)
{
    char path[CS_RESOLVE_MAX];
    enum cs_resolved kind = cs_module_resolve(from, specifier, path);
    struct cs_str p = cs_str(path);
    for (uint32_t i = 0; i < g->request_count; i++) {
        if (g->requests[i].kind == kind && cs_str_eq(g->requests[i].path, p))
            return i;
    }
    if (g->request_count == g->request_cap) {
        g->request_cap = g->request_cap ? g->request_cap * 2 : 16;
        g->requests = cs_realloc(g->requests, g->request_cap, sizeof *g->requests);
    }
    struct cs_request r = {.kind = kind,
                           .path = cs_arena_dup(&cs_worker.arena, p),
                           .module = -1,
                           .status = CS_ANSWER_DENIED};
    if (kind == CS_RESOLVED_REFUSED)
        r.message = r.path;
    g->requests[g->request_count] = r;
    return g->request_count++;
}

static struct cs_module *add_module(struct cs_str path, struct cs_str name)
{
    if (!g->modules)
        g->modules = cs_calloc(CS_MODULES_MAX, sizeof *g->modules);
    if (g->count == CS_MODULES_MAX)
        return NULL;
    struct cs_module *m = &g->modules[g->count++];
    m->path = path;
    m->name = name;
    return m;
}

/* Sends what is needed for a request that nobody has made before. */
static void ask(uint32_t index)
{
    struct cs_request *r = &g->requests[index];
    if (r->module >= 0 || r->pending || r->kind == CS_RESOLVED_REFUSED || r->message.len)
        return;
    if (r->kind == CS_RESOLVED_BUILTIN) {
        struct cs_module *m = add_module(r->path, r->path);
        if (!m)
            return;
        m->builtin = true;
        r->module = (int32_t)(m - g->modules);
        return;
    }
    r->pending = true;
    g->outstanding++;
    cs_bridge_ask(index + 1, r->path);
}

/* The engine would take a file name from such a comment; ours are chosen by us (attack R08). */
static void blank_directives(struct cs_buf *js)
{
    static const char *const words[] = {"sourceURL=", "sourceMappingURL="};
    for (size_t k = 0; k < CS_COUNT(words); k++) {
        size_t n = strlen(words[k]);
        char *at = js->at, *end = js->at + js->len;
        while ((at = memmem(at, (size_t)(end - at), words[k], n))) {
            char *p = at;
            while (p > js->at && (p[-1] == ' ' || p[-1] == '\t'))
                p--;
            if (p - js->at >= 3 && (p[-1] == '#' || p[-1] == '@') && p[-2] == '/' && p[-3] == '/')
                p[-1] = ' ';
            at += n;
        }
    }
}

static void compile(struct cs_module *m, enum cs_compile_kind kind)
{
    if (cs_compile(kind, m->text, &m->compiled, &m->diag) < 0) {
        if (m->diag.line == 0)
            m->diag.line = m->diag.column = 1;
        return;
    }
    blank_directives(&m->compiled.js);
    cs_servers_offer(m->text);
    const struct cs_compiled *c = &m->compiled;
    m->requests = cs_calloc(c->import_count + 1, sizeof *m->requests);
    for (uint32_t i = 0; i < c->import_count; i++) {
        m->requests[i] = request(m->path, c->imports[i].specifier);
        if (i < c->static_count)
            ask(m->requests[i]);
    }
}

static void flush(void)
{
    if (cs_worker.out.len)
        cs_bridge_send(&cs_worker.out);
}

void cs_modules_start(struct cs_str source)
{
    struct cs_module *m = add_module(CS_STR(CS_PROGRAM_PATH), CS_STR(CS_PROGRAM_NAME));
    m->text = source;
    g->text_bytes = source.len;
    compile(m, CS_COMPILE_PROGRAM);
    flush();
}

bool cs_modules_loading(void)
{
    return g->outstanding > 0;
}

static struct cs_module *by_path(struct cs_str path)
{
    for (uint32_t i = 1; i < g->count; i++) {
        if (!g->modules[i].builtin && cs_str_eq(g->modules[i].path, path))
            return &g->modules[i];
    }
    return NULL;
}

static void refuse(struct cs_request *r, uint8_t status, struct cs_str message)
{
    r->status = status;
    r->message = cs_arena_dup(&cs_worker.arena, message.len ? message : CS_STR("not found"));
}

static void loaded(uint32_t index, struct cs_str path, struct cs_str text)
{
    struct cs_request *r = &g->requests[index];
    if (path.len == 0)
        path = r->path;
    struct cs_module *m = by_path(path);
    if (m) {
        r->module = (int32_t)(m - g->modules);
        return;
    }
    if (g->text_bytes + text.len > CS_MODULES_TEXT_MAX || g->count == CS_MODULES_MAX) {
        refuse(r, CS_ANSWER_LIMIT, CS_STR("a program may import 4000 modules and 64 MiB of text"));
        return;
    }
    path = cs_arena_dup(&cs_worker.arena, path);
    m = add_module(path, path);
    m->text = cs_arena_dup(&cs_worker.arena, text);
    g->text_bytes += text.len;
    r->module = (int32_t)(m - g->modules);
    if (!cs_wrapper_read(m->path, m->text, &m->wrapper))
        compile(m, CS_COMPILE_MODULE);
}

static void complete_jobs(void);

void cs_modules_answer(const struct cs_frame *frame)
{
    struct cs_str body = frame->body, path, text;
    uint8_t status;
    if (frame->id == 0 || frame->id > g->request_count || !g->requests[frame->id - 1].pending)
        return;
    if (!cs_field_u8(&body, &status) || !cs_field_str(&body, &path) || !cs_field_str(&body, &text))
        return;
    uint32_t index = (uint32_t)frame->id - 1;
    g->requests[index].pending = false;
    g->outstanding--;
    if (status == CS_ANSWER_OK)
        loaded(index, path, text);
    else
        refuse(&g->requests[index], status, text);
    flush();
    if (g->outstanding == 0)
        complete_jobs();
}

/* ---- what is wrong with a graph ---- */

struct fault {
    const struct cs_module *module; /* that does not compile, or whose import fails */
    const struct cs_import *import; /* NULL: the module itself is wrong */
    const struct cs_request *request;
};

/* Depth first, in the order of the imports, so that the first fault in reading order is told. */
static bool find_fault(uint32_t index, bool *seen, struct fault *fault)
{
    const struct cs_module *m = &g->modules[index];
    if (seen[index] || m->state != CS_MODULE_LOADED || m->builtin)
        return false;
    seen[index] = true;
    if (m->diag.line) {
        *fault = (struct fault){.module = m};
        return true;
    }
    for (uint32_t i = 0; i < m->compiled.static_count; i++) {
        const struct cs_request *r = &g->requests[m->requests[i]];
        if (r->module < 0) {
            *fault = (struct fault){m, &m->compiled.imports[i], r};
            return true;
        }
        if (find_fault((uint32_t)r->module, seen, fault))
            return true;
    }
    return false;
}

static const char *type_of(const struct cs_request *r)
{
    if (r->kind == CS_RESOLVED_REFUSED || r->status == CS_ANSWER_DENIED)
        return "permission_error";
    return r->status == CS_ANSWER_LIMIT ? "resource_error" : "runtime_error";
}

static void describe_request(const struct cs_request *r, struct cs_str specifier, char *out,
                             size_t size)
{
    if (r->kind == CS_RESOLVED_REFUSED)
        snprintf(out, size, "%.*s", CS_STR_ARG(r->message));
    else if (r->status == CS_ANSWER_MISSING)
        snprintf(out, size, "there is no module '%.*s' (looked for %.*s)%s%.*s",
                 CS_STR_ARG(specifier), CS_STR_ARG(r->path), r->message.len ? ": " : "",
                 CS_STR_ARG(r->message));
    else
        snprintf(out, size, "the module '%.*s' cannot be loaded: %.*s", CS_STR_ARG(specifier),
                 CS_STR_ARG(r->message));
}

static struct cs_source source_of(const struct cs_module *m)
{
    return (struct cs_source){m->name, m->text, m->diag.line ? NULL : &m->compiled};
}

/* What to do about it, apart from what is wrong: the resolver says both in one text. */
static void advise(const struct cs_request *r, struct cs_diag *diag)
{
    static const char turn[] = "'. ";
    char *at = r->kind == CS_RESOLVED_REFUSED ? strstr(diag->message, turn) : NULL;
    if (at) {
        snprintf(diag->suggestion, sizeof diag->suggestion, "%s", at + sizeof turn - 1);
        at[1] = '\0';
    } else if (r->status == CS_ANSWER_MISSING && cs_str_starts(r->path, "/mcp-servers/")) {
        snprintf(diag->suggestion, sizeof diag->suggestion,
                 "Tools are in /mcp-servers/<server>/<tool>.ts; `await searchTools('...')` finds "
                 "them, and Object.keys(tools) names the servers.");
    } else if (r->status == CS_ANSWER_MISSING) {
        snprintf(diag->suggestion, sizeof diag->suggestion,
                 "Check the path: './name.ts' is a file of /workspace; tools are in "
                 "/mcp-servers/<server>/<tool>.ts, skills in /skills.");
    }
}

int cs_modules_check(struct cs_buf *error)
{
    CS_AUTO_FREE bool *seen = cs_calloc(CS_MODULES_MAX, sizeof *seen);
    struct fault fault;
    if (!find_fault(0, seen, &fault))
        return 0;
    struct cs_source source = source_of(fault.module);
    if (!fault.import) {
        cs_report_diag("syntax_error", &fault.module->diag, &source, error);
        return -1;
    }
    struct cs_diag diag = {.line = fault.import->line, .column = fault.import->column};
    describe_request(fault.request, fault.import->specifier, diag.message, sizeof diag.message);
    advise(fault.request, &diag);
    cs_report_diag(type_of(fault.request), &diag, &source, error);
    return -1;
}

/* ---- linking ---- */

static JSValueRef index_value(uint32_t i)
{
    return cs_host_number(i);
}

static void visit(uint32_t index, bool *seen)
{
    struct cs_module *m = &g->modules[index];
    if (seen[index] || m->state != CS_MODULE_LOADED)
        return;
    seen[index] = true;
    for (uint32_t i = 0; !m->builtin && i < m->compiled.static_count; i++)
        visit((uint32_t)g->requests[m->requests[i]].module, seen);
    m->order = g->order_count;
    g->order[g->order_count++] = index;
}

static void fail(struct cs_module *m, JSValueRef error)
{
    if (!error)
        error = JSValueMakeUndefined(cs_worker.ctx);
    JSValueProtect(cs_worker.ctx, error);
    m->error = error;
    m->state = CS_MODULE_FAILED;
}

static void instantiate(uint32_t index)
{
    struct cs_module *m = &g->modules[index];
    JSContextRef ctx = cs_worker.ctx;
    JSValueRef exception = NULL;
    m->state = CS_MODULE_LINKED;
    if (m->builtin) {
        JSValueRef argv[] = {index_value(index), cs_host_string(m->path)};
        cs_host_call(CS_ENTRY_builtin, CS_COUNT(argv), argv, &exception);
        m->state = CS_MODULE_DONE;
        if (exception)
            fail(m, exception);
        return;
    }
    if (m->wrapper.tool.len) {
        JSValueRef argv[] = {index_value(index), cs_host_string(m->wrapper.name),
                             cs_host_string(m->wrapper.server), cs_host_string(m->wrapper.tool)};
        cs_host_call(CS_ENTRY_wrapper, CS_COUNT(argv), argv, &exception);
        m->state = CS_MODULE_DONE;
        if (exception)
            fail(m, exception);
        return;
    }
    JSValueRef fn = cs_host_eval(cs_buf_str(&m->compiled.js), m->name.at, &exception);
    if (!fn || exception) {
        /* A syntax error that only the engine saw. It has no stack, so the type is given here. */
        JSValueRef argv[] = {cs_host_string(CS_STR("syntax_error")), exception,
                             cs_host_string(m->name)};
        JSValueRef e = cs_host_call(CS_ENTRY_makeError, CS_COUNT(argv), argv, NULL);
        fail(m, e);
        return;
    }
    uint32_t n = m->compiled.static_count;
    CS_AUTO_FREE JSValueRef *deps = cs_calloc(n + 1, sizeof *deps);
    for (uint32_t i = 0; i < n; i++)
        deps[i] = index_value((uint32_t)g->requests[m->requests[i]].module);
    JSValueRef argv[] = {index_value(index), cs_host_string(m->name), fn,
                         JSObjectMakeArray(ctx, n, deps, NULL),
                         JSValueMakeBoolean(ctx, m->compiled.value == CS_VALUE_CALLABLE)};
    cs_host_call(CS_ENTRY_instantiate, CS_COUNT(argv), argv, &exception);
    if (exception)
        fail(m, exception);
}

/* Everything that `root` needs and that is not linked yet. */
static void link_graph(uint32_t root)
{
    CS_AUTO_FREE bool *seen = cs_calloc(CS_MODULES_MAX, sizeof *seen);
    uint32_t first = g->order_count;
    visit(root, seen);
    uint32_t n = g->order_count - first;
    if (n == 0)
        return;
    /* A program without imports starts to run in here, so this is also the fast path. */
    CS_AUTO_FREE JSValueRef *indices = cs_calloc(n, sizeof *indices);
    JSLock(cs_worker.ctx);
    for (uint32_t i = 0; i < n; i++) {
        indices[i] = index_value(g->order[first + i]);
        instantiate(g->order[first + i]);
    }
    if (root != 0 || n > 1) { /* nobody reads the exports of a program that stands alone */
        JSValueRef list = JSObjectMakeArray(cs_worker.ctx, n, indices, NULL);
        cs_host_call(CS_ENTRY_link, 1, &list, NULL);
    }
    JSUnlock(cs_worker.ctx);
}

static bool listed(struct cs_str names, struct cs_str name)
{
    while (names.len > 0) {
        const char *comma = memmem(names.at, names.len, ", ", 2);
        size_t n = comma ? (size_t)(comma - names.at) : names.len;
        if (cs_str_eq(cs_strn(names.at, n), name))
            return true;
        size_t skip = comma ? n + 2 : n;
        names = cs_strn(names.at + skip, names.len - skip);
    }
    return false;
}

/* True, with what is wrong, if a name that `m` imports is not among the exports of its module. */
static bool lacks_name(const struct cs_module *m, struct cs_diag *diag)
{
    CS_AUTO_BUF struct cs_buf names = {0};
    int32_t listed_of = -1;
    for (uint32_t i = 0; !m->builtin && i < m->compiled.wanted_count; i++) {
        const struct cs_wanted *want = &m->compiled.wanted[i];
        int32_t from = g->requests[m->requests[want->import]].module;
        if (from != listed_of) {
            JSValueRef at = index_value((uint32_t)from);
            cs_buf_clear(&names);
            cs_text_put_value(cs_worker.ctx, &names,
                              cs_host_call(CS_ENTRY_exportsOf, 1, &at, NULL));
            listed_of = from;
        }
        if (listed(cs_buf_str(&names), want->name))
            continue;
        *diag = (struct cs_diag){.line = want->line, .column = want->column};
        snprintf(diag->message, sizeof diag->message, "%.*s does not export '%.*s'",
                 CS_STR_ARG(g->modules[from].name), CS_STR_ARG(want->name));
        snprintf(diag->suggestion, sizeof diag->suggestion, "It exports: %.*s.",
                 (int)(names.len < 200 ? names.len : 200), names.len ? names.at : "nothing");
        return true;
    }
    return false;
}

/* The first module of those just linked that imports what is not there. */
static const struct cs_module *find_lack(uint32_t first, struct cs_diag *diag)
{
    for (uint32_t i = first; i < g->order_count; i++) {
        const struct cs_module *m = &g->modules[g->order[i]];
        if (m->state == CS_MODULE_LINKED && lacks_name(m, diag))
            return m;
    }
    return NULL;
}

void cs_modules_run(void)
{
    link_graph(0);
    struct cs_diag diag;
    const struct cs_module *m = g->count > 1 ? find_lack(0, &diag) : NULL;
    if (m) {
        CS_AUTO_BUF struct cs_buf json = {0};
        struct cs_source source = source_of(m);
        cs_report_diag("syntax_error", &diag, &source, &json);
        cs_serve_done(CS_OUTCOME_ERROR, cs_buf_str(&json));
    }
    cs_modules_pump(true);
}

/* ---- running ---- */

/* The dependencies that have to end before `m` may start; false while one has not. */
static bool ready(struct cs_module *m)
{
    for (uint32_t i = 0; i < m->compiled.static_count; i++) {
        struct cs_module *d = &g->modules[g->requests[m->requests[i]].module];
        if (d->builtin || d->order >= m->order)
            continue;
        if (d->state == CS_MODULE_FAILED) {
            fail(m, d->error);
            return false;
        }
        if (d->state != CS_MODULE_DONE)
            return false;
    }
    return true;
}

static void settle_jobs(void)
{
    for (uint32_t i = 0; i < g->job_count;) {
        struct cs_import_job job = g->jobs[i];
        int32_t index = g->requests[job.request].module;
        struct cs_module *m = index < 0 ? NULL : &g->modules[index];
        if (!job.linked || !m || (m->state != CS_MODULE_DONE && m->state != CS_MODULE_FAILED)) {
            i++;
            continue;
        }
        g->jobs[i] = g->jobs[--g->job_count];
        bool ok = m->state == CS_MODULE_DONE;
        JSValueRef at = index_value((uint32_t)index);
        JSValueRef v = ok ? cs_host_call(CS_ENTRY_namespaceOf, 1, &at, NULL) : m->error;
        JSObjectCallAsFunction(cs_worker.ctx, ok ? job.resolve : job.reject, NULL, 1, &v, NULL);
        JSValueUnprotect(cs_worker.ctx, job.resolve);
        JSValueUnprotect(cs_worker.ctx, job.reject);
    }
}

void cs_modules_pump(bool drained)
{
    for (uint32_t i = g->order_done; i < g->order_count; i++) {
        struct cs_module *m = &g->modules[g->order[i]];
        if (m->state == CS_MODULE_LINKED && ready(m)) {
            m->state = CS_MODULE_STARTED;
            JSValueRef at = index_value(g->order[i]);
            cs_host_call(CS_ENTRY_go, 1, &at, NULL);
        }
        if (m->state == CS_MODULE_STARTED && !drained)
            break;
        if (m->state >= CS_MODULE_DONE && i == g->order_done)
            g->order_done++;
        if (m->state == CS_MODULE_FAILED && g->order[i] == 0)
            cs_serve_settled(false, m->error);
    }
    if (g->job_count)
        settle_jobs();
}

void cs_modules_settled(uint32_t index, bool ok, JSValueRef value)
{
    if (index >= g->count)
        return;
    struct cs_module *m = &g->modules[index];
    if (m->state >= CS_MODULE_DONE)
        return;
    if (ok)
        m->state = CS_MODULE_DONE;
    else
        fail(m, value);
    if (index == 0)
        cs_serve_settled(ok, value);
    else
        cs_modules_pump(false);
}

/* ---- import() ---- */

static void reject_job(struct cs_import_job *job, const char *type, const char *message,
                       struct cs_str advice)
{
    JSValueRef argv[] = {cs_host_string(cs_str(type)), cs_host_string(cs_str(message)),
                         cs_host_string(advice)};
    JSValueRef e = cs_host_call(CS_ENTRY_makeError, advice.len ? 3 : 2, argv, NULL);
    if (!e)
        e = JSValueMakeUndefined(cs_worker.ctx);
    JSObjectCallAsFunction(cs_worker.ctx, job->reject, NULL, 1, &e, NULL);
}

static bool job_fails(struct cs_import_job *job)
{
    char message[512];
    const struct cs_request *r = &g->requests[job->request];
    if (r->module < 0) {
        describe_request(r, r->path, message, sizeof message);
        reject_job(job, type_of(r), message, (struct cs_str){0});
        return true;
    }
    CS_AUTO_FREE bool *seen = cs_calloc(CS_MODULES_MAX, sizeof *seen);
    struct fault fault;
    if (!find_fault((uint32_t)r->module, seen, &fault))
        return false;
    const struct cs_module *m = fault.module;
    if (!fault.import) {
        snprintf(message, sizeof message, "%.*s:%u:%u: %s", CS_STR_ARG(m->name), m->diag.line,
                 m->diag.column, m->diag.message);
        reject_job(job, "syntax_error", message, (struct cs_str){0});
        return true;
    }
    char why[400];
    describe_request(fault.request, fault.import->specifier, why, sizeof why);
    snprintf(message, sizeof message, "%.*s:%u:%u: %s", CS_STR_ARG(m->name), fault.import->line,
             fault.import->column, why);
    reject_job(job, type_of(fault.request), message, (struct cs_str){0});
    return true;
}

/* Modules of an import() that lack a name fail, and with them what depends on them. */
static void fail_lacking(uint32_t first)
{
    struct cs_diag diag;
    const struct cs_module *lacking = find_lack(first, &diag);
    if (!lacking)
        return;
    char message[600];
    snprintf(message, sizeof message, "%.*s:%u:%u: %s", CS_STR_ARG(lacking->name), diag.line,
             diag.column, diag.message);
    JSValueRef argv[] = {cs_host_string(CS_STR("syntax_error")), cs_host_string(cs_str(message))};
    fail(&g->modules[lacking - g->modules],
         cs_host_call(CS_ENTRY_makeError, CS_COUNT(argv), argv, NULL));
}

/* May what it imports run? If it is refused, the job is over. */
static enum cs_late job_judged(struct cs_import_job *job)
{
    struct cs_late_refusal no;
    enum cs_late late = cs_late_import((uint32_t)g->requests[job->request].module, &no);
    if (late != CS_LATE_REFUSED)
        return late;
    CS_AUTO_BUF struct cs_buf message = {0};
    cs_buf_printf(&message, "the module '%.*s' may not be imported: %.*s", CS_STR_ARG(no.module),
                  CS_STR_ARG(no.why));
    reject_job(job, "permission_error", cs_buf_cstr(&message), no.advice);
    return late;
}

static void complete_jobs(void)
{
    for (uint32_t i = 0; i < g->job_count;) {
        if (g->jobs[i].linked) {
            i++;
            continue;
        }
        struct cs_import_job job = g->jobs[i];
        enum cs_late late = job_fails(&job) ? CS_LATE_REFUSED : job_judged(&job);
        if (late == CS_LATE_REFUSED) {
            g->jobs[i] = g->jobs[--g->job_count];
            continue;
        }
        if (late == CS_LATE_WAITS) {
            i++;
            continue;
        }
        g->jobs[i].linked = true;
        uint32_t first = g->order_count;
        link_graph((uint32_t)g->requests[job.request].module);
        fail_lacking(first);
        i++;
    }
    cs_modules_pump(false);
}

void cs_modules_judged(void)
{
    if (g->outstanding == 0)
        complete_jobs();
}

void cs_modules_import(uint32_t from, JSStringRef specifier, JSObjectRef resolve,
                       JSObjectRef reject)
{
    if (!cs_worker.running || from >= g->count)
        return;
    CS_AUTO_BUF struct cs_buf text = {0};
    if (JSStringGetLength(specifier) <= CS_RESOLVE_MAX)
        cs_text_put(&text, specifier);
    uint32_t r = request(g->modules[from].path, cs_buf_str(&text));
    ask(r);
    if (g->job_count == g->job_cap) {
        g->job_cap = g->job_cap ? g->job_cap * 2 : 8;
        g->jobs = cs_realloc(g->jobs, g->job_cap, sizeof *g->jobs);
    }
    JSValueProtect(cs_worker.ctx, resolve);
    JSValueProtect(cs_worker.ctx, reject);
    g->jobs[g->job_count++] =
        (struct cs_import_job){.request = r, .resolve = resolve, .reject = reject};
    flush();
    if (g->outstanding == 0)
        complete_jobs();
}

bool cs_modules_source(struct cs_str name, struct cs_source *source)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (!g->modules[i].builtin && cs_str_eq(g->modules[i].name, name)) {
            *source = source_of(&g->modules[i]);
            return true;
        }
    }
    return false;
}
