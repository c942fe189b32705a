/* Does a condition hold? */
#include <time.h>

#include "base/glob.h"
#include "base/mem.h"
#include "policy/risk.h"

#define PATTERNS_US 50000
#define OFTEN       100 /* texts, then a pattern is worth being compiled for the machine */

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* not what others take */
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

bool cs_globs_fit(const struct cs_patterns *p, struct cs_str text)
{
    bool wanted = false, found = false;
    for (size_t i = 0; i < p->count; i++) {
        struct cs_str glob = p->at[i];
        bool excludes = glob.len && glob.at[0] == '!';
        if (excludes)
            glob = cs_strn(glob.at + 1, glob.len - 1);
        wanted = wanted || !excludes;
        if ((excludes || !found) && cs_glob(glob, text)) {
            if (excludes)
                return false;
            found = true;
        }
    }
    return found || !wanted;
}

/* What cannot be looked at counts as found. Texts that are made to be slow are given up, all of
 * them together after PATTERNS_US, and the program is unreadable. */
static bool like(struct cs_case *k, struct cs_like *l, struct cs_str text)
{
    size_t at = 0, end = 0;
    if (!l->compiled && !l->broken && cs_regex_ours(l->text, &l->compiled, NULL) < 0)
        l->broken = true;
    if (l->broken || k->too_slow)
        return l->broken;
    if (!k->rules->matcher)
        k->rules->matcher = cs_matcher_new();
    if (++l->tried == OFTEN)
        cs_regex_hasten(l->compiled);
    int64_t start = now_us();
    bool found = cs_regex_next(l->compiled, k->rules->matcher, text, &at, &end) == 1;
    k->pattern_us += now_us() - start;
    k->too_slow = k->pattern_us > PATTERNS_US;
    return found;
}

static bool has_word(const struct cs_when *w, const struct cs_fact_seen *f)
{
    for (uint32_t i = 0; f->words && i < w->word_count; i++)
        if (f->words[w->words[i] / 64] >> (w->words[i] % 64) & 1)
            return true;
    return w->word_count == 0;
}

/* --- paths --- */

static struct cs_str next_segment(struct cs_str *rest)
{
    const char *slash = rest->len ? memchr(rest->at, '/', rest->len) : NULL;
    size_t n = slash ? (size_t)(slash - rest->at) : rest->len;
    struct cs_str segment = cs_strn(rest->at, n);
    *rest = slash ? cs_strn(slash + 1, rest->len - n - 1) : cs_strn(rest->at + n, 0);
    return segment;
}

#define PATH_BYTES 2048

/* Appends the segments of `path`. False: it climbs above the top, or is too long. */
static bool walk(char *out, size_t *len, struct cs_str path)
{
    while (path.len > 0) {
        struct cs_str s = next_segment(&path);
        if (s.len == 0 || cs_str_is(s, "."))
            continue;
        if (cs_str_is(s, "..")) {
            if (*len == 0)
                return false;
            while (out[--*len] != '/') {
            }
            continue;
        }
        if (*len + 1 + s.len >= PATH_BYTES)
            return false;
        out[(*len)++] = '/';
        memcpy(out + *len, s.at, s.len);
        *len += s.len;
    }
    return true;
}

static bool beneath(struct cs_str path, struct cs_str root)
{
    return path.len > root.len && memcmp(path.at, root.at, root.len) == 0 &&
           path.at[root.len] == '/';
}

/* An import that is a path, and leads out of all roots. Relative ones count from the module that
 * they are in, those of the program from /workspace. */
static bool is_outside(const struct cs_patterns *roots, const struct cs_fact_seen *f)
{
    char path[PATH_BYTES];
    size_t len = 0;
    struct cs_str spec = f->name;
    bool absolute = cs_str_starts(spec, "/");
    if (cs_str_starts(spec, "file:")) {
        spec = cs_strn(spec.at + 5, spec.len - 5);
        absolute = true;
    }
    if (!absolute && !cs_str_starts(spec, "./") && !cs_str_starts(spec, "../") &&
        !cs_str_is(spec, ".."))
        return false;
    struct cs_str base = f->module.len ? f->module : CS_STR("/workspace/program.ts");
    while (base.len > 0 && base.at[base.len - 1] != '/')
        base.len--;
    if ((!absolute && !walk(path, &len, base)) || !walk(path, &len, spec))
        return true;
    for (size_t i = 0; i < roots->count; i++)
        if (beneath(cs_strn(path, len), roots->at[i]))
            return false;
    return true;
}

/* --- tools --- */

static bool wanted(enum cs_wanted wish, bool is)
{
    return wish == CS_WANTED_EITHER || (wish == CS_WANTED_YES) == is;
}

bool cs_tool_fits(const struct cs_tool_when *w, const struct cs_reached *t)
{
    const struct cs_tool_view *v = &t->tool;
    return (!w->standings || w->standings >> v->standing & 1) &&
           (!w->grants || w->grants >> t->grant & 1) && (t->labels & w->labels) == w->labels &&
           wanted(w->read_only, v->annotated && v->read_only) &&
           wanted(w->destructive, v->annotated && v->destructive) &&
           wanted(w->open_world, v->annotated && v->open_world) && wanted(w->trusted, v->trusted) &&
           wanted(w->annotated, v->annotated);
}

static bool reaches(const struct cs_case *k, const struct cs_tool_when *w,
                    const struct cs_fact_seen *f)
{
    for (uint32_t i = 0; i < f->tool_count; i++)
        if (cs_tool_fits(w, &k->tools[f->tools[i]]))
            return true;
    return !w->is_set;
}

/* --- a condition --- */

/* `like` in one of the forms of its text. */
static bool reads_like(struct cs_case *k, const struct cs_when *w, const struct cs_fact_seen *f)
{
    const struct cs_str forms[] = {f->name, f->plain, w->shell ? f->shell : (struct cs_str){0}};
    for (size_t i = 0; i < CS_COUNT(forms); i++)
        if ((i == 0 || forms[i].len) && like(k, w->like, forms[i]))
            return true;
    return false;
}

static bool fact_fits(struct cs_case *k, const struct cs_when *w, const struct cs_fact_seen *f)
{
    if (!cs_globs_fit(&w->vias, f->via) || !cs_globs_fit(&w->keys, f->key) || !has_word(w, f) ||
        (f->from & w->from) != w->from || (f->to & w->to) != w->to ||
        (f->besides & w->besides) != w->besides || !reaches(k, &w->tool, f))
        return false;
    if ((w->secrets && !(f->secrets & w->secrets)) || (w->looks && !(f->looks & w->looks)))
        return false;
    if (w->outside.count && !is_outside(&w->outside, f))
        return false;
    if (!cs_globs_fit(&w->names, f->name) && (!f->plain.len || !cs_globs_fit(&w->names, f->plain)))
        return false;
    return !w->like || reads_like(k, w, f);
}

static bool circumstances_fit(struct cs_case *k, const struct cs_when *w)
{
    const struct cs_circumstances *c = k->c;
    if (!cs_globs_fit(&w->environments, k->environment) ||
        !cs_globs_fit(&w->languages, cs_str(c->language)) ||
        !cs_globs_fit(&w->principals, c->principal))
        return false;
    if (k->source_bytes < w->source_bytes || k->longest_line < w->longest_line ||
        k->modules < w->modules || !wanted(w->unreadable, k->unreadable) ||
        c->sensitive_inputs < w->sensitive_inputs || c->lately_bad < w->bad ||
        (uint64_t)c->lately_bad * 100 < (uint64_t)c->lately * w->bad_percent)
        return false;
    return !w->unless_intent || (c->intent.len && !like(k, w->unless_intent, c->intent));
}

uint32_t cs_when_holds(struct cs_case *k, const struct cs_when *w, const struct cs_fact_seen **hits,
                       uint32_t most)
{
    uint32_t count = 0;
    if (!circumstances_fit(k, w))
        return 0;
    for (uint32_t kind = 0; w->kinds && kind < CS_FACT_COUNT; kind++) {
        if (!(w->kinds >> kind & 1))
            continue;
        for (uint32_t i = k->start[kind]; i < k->start[kind + 1]; i++) {
            if (!fact_fits(k, w, &k->facts[i]))
                continue;
            /* Of many, those that are no text for people: they weigh more. */
            if (count < most)
                hits[count] = &k->facts[i];
            else if (most && !(k->facts[i].looks & CS_LOOKS_PROSE))
                hits[most - 1] = &k->facts[i];
            count++;
        }
    }
    if (w->kinds && count < (w->at_least ? w->at_least : 1))
        return 0;
    for (uint32_t i = 0; i < w->all_count; i++)
        if (!cs_when_holds(k, &w->all[i], NULL, 0))
            return 0;
    return w->kinds ? count : 1;
}
