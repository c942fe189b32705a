/*
 * Learns src/privacy/names.model: an averaged perceptron over the words of labelled texts. It reads
 * them through the program's own eyes (cs_names_read), so that nothing can differ.
 *
 *     train_names TEXTS LISTS MODEL [name=value ...]
 *
 * scripts/train-names makes TEXTS:  R source weight split views
 *                                   V key-length text-length is-value spans, then key, text
 *                                   start end kind                     (1 a name, 2 do not care)
 * LISTS are names to put in the place of those that are there, of scripts/names/gazetteer.
 * The same arguments give the same bytes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "privacy/names.h"

struct span {
    size_t start, end;
    int kind;
    bool hit;
};

struct view {
    struct cs_str key, text;
    bool is_value;
    struct span *spans;
    size_t count;
};

struct record {
    char source[40];
    double weight;
    int split; /* 0: learn, 1: test, 2: both */
    struct view *views;
    size_t count;
};

struct entry {
    struct cs_name_word word;
};

struct options {
    int epochs, strange, swap, medium, high, seed, least, sweep;
    double margin;
};

struct trainer {
    struct options o;
    struct record *records;
    size_t count;
    struct entry *names[2]; /* first, last */
    size_t named[2];
    double *weights, *sums; /* 3 per slot */
    uint32_t *uses;         /* of each slot, while learning */
    double step;
    uint64_t random;
    /* while a text is read */
    const struct record *record;
    const struct view *view;
    uint64_t swap_seed;
    bool learning;
    int8_t *model;
    int lean;
    struct span *found;
    size_t found_count, found_cap;
};

static uint64_t next(struct trainer *t)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return t->random >> 33;
}

/* --- reading what there is to learn from --- */

static char *slurp(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n, cap = 0;
    *len = 0;
    if (!f) {
        fprintf(stderr, "train_names: %s cannot be read\n", path);
        exit(1);
    }
    do {
        if (*len + 65536 > cap)
            text = cs_realloc(text, cap = cap ? cap * 2 : 1 << 20, 1);
        n = fread(text + *len, 1, 65535, f);
        *len += n;
    } while (n > 0);
    text[*len] = '\0';
    fclose(f);
    return text;
}

static char *read_view(char *at, struct view *v)
{
    size_t key, text, spans;
    int is_value, used;
    if (sscanf(at, "V %zu %zu %d %zu\n%n", &key, &text, &is_value, &spans, &used) != 4)
        exit(1);
    at = strchr(at, '\n') + 1;
    v->key = cs_strn(at, key);
    v->text = cs_strn(at + key, text);
    v->is_value = is_value;
    v->count = spans;
    v->spans = cs_calloc(spans + 1, sizeof *v->spans);
    at += key + text + 1;
    for (size_t i = 0; i < spans; i++) {
        struct span *s = &v->spans[i];
        s->start = strtoul(at, &at, 10);
        s->end = strtoul(at, &at, 10);
        s->kind = (int)strtoul(at, &at, 10);
        at++;
    }
    return at;
}

static void read_texts(struct trainer *t, const char *path)
{
    size_t len, cap = 0;
    char *at = slurp(path, &len);
    while (*at == 'R') {
        struct record *r;
        if (t->count == cap)
            t->records = cs_realloc(t->records, cap = cap ? cap * 2 : 1024, sizeof *t->records);
        r = &t->records[t->count++];
        if (sscanf(at, "R %39s %lf %d %zu", r->source, &r->weight, &r->split, &r->count) != 4)
            exit(1);
        at = strchr(at, '\n') + 1;
        r->views = cs_calloc(r->count + 1, sizeof *r->views);
        for (size_t i = 0; i < r->count; i++)
            at = read_view(at, &r->views[i]);
    }
}

static void read_lists(struct trainer *t, const char *path)
{
    size_t len, cap[2] = {0, 0};
    char *at = slurp(path, &len);
    for (char *line = strtok_r(at, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
        char kind[16], name[120];
        struct cs_name_words words;
        int which;
        if (sscanf(line, "%15s %*d %119[^\t]", kind, name) != 2)
            continue;
        if (strcmp(kind, "first") != 0 && strcmp(kind, "last") != 0)
            continue;
        which = kind[0] == 'l';
        if (t->named[which] == cap[which])
            t->names[which] = cs_realloc(t->names[which], cap[which] = cap[which] * 2 + 1024,
                                         sizeof *t->names[which]);
        cs_name_words_begin(&words, cs_str(name), cs_str(""));
        if (cs_name_words_next(&words, &t->names[which][t->named[which]].word) &&
            words.next == words.len)
            t->named[which]++;
    }
}

/* --- learning --- */

static const struct span *span_at(const struct view *v, const struct cs_name_word *w)
{
    for (size_t i = 0; i < v->count; i++)
        if (w->start < v->spans[i].end && w->end > v->spans[i].start)
            return &v->spans[i];
    return NULL;
}

/* Other names in the place of those that are there; the same one for the same one. */
static void on_read(void *ctx, struct cs_name_word *w)
{
    struct trainer *t = ctx;
    const struct span *s;
    const struct entry *e;
    uint64_t h;
    bool last;
    double u;
    if (!t->learning || (w->shape != CS_SHAPE_CAP && w->shape != CS_SHAPE_UPPER) || w->letters < 3)
        return;
    h = (w->hash ^ t->swap_seed) * 0x9E3779B97F4A7C15u;
    if ((int)(h >> 40) % 100 >= t->o.swap)
        return;
    s = span_at(t->view, w);
    if (!s || s->kind != 1)
        return;
    last = w->start > s->start && w->end >= s->end;
    if (w->start == s->start && w->end < s->end && t->view->text.at[w->end] == ',')
        last = true;
    u = (double)(h >> 20 & 0xFFFFF) / 0x100000;
    e = &t->names[last][(size_t)(u * u * (double)t->named[last])];
    w->hash = e->word.hash;
    w->begins = e->word.begins;
    w->ends = e->word.ends;
    w->letters = e->word.letters;
    w->looked = false;
}

static enum cs_name_tag gold(struct trainer *t, struct cs_around *a, bool *care)
{
    const struct span *s = span_at(t->view, a->w[2]);
    *care = true;
    if (!s)
        return CS_TAG_O;
    if (s->kind == 2) {
        *care = false;
        return CS_TAG_O;
    }
    if (cs_name_goes_on(a->w[1], a->w[2]) && a->w[1]->start >= s->start)
        return CS_TAG_I;
    return CS_TAG_B;
}

static void add(struct trainer *t, const uint32_t *f, size_t n, int tag, double by)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 3 * (size_t)f[i] + (size_t)tag;
        t->weights[k] += by;
        t->sums[k] += t->step * by;
    }
}

static enum cs_name_tag learn(struct trainer *t, struct cs_around *a)
{
    uint32_t f[CS_NAME_FEATURES];
    double score[3] = {0};
    bool care, on = cs_name_goes_on(a->w[1], a->w[2]);
    int best = CS_TAG_O, rival = -1, right;
    size_t n, kept = 0;
    a->strange = (int)(next(t) % 100) < t->o.strange;
    n = cs_name_features(a, f);
    right = gold(t, a, &care);
    for (size_t i = 0; i < n; i++)
        if (!t->uses || t->uses[f[i]] >= (uint32_t)t->o.least)
            f[kept++] = f[i];
    for (size_t i = 0; i < kept; i++)
        for (int k = 0; k < 3; k++)
            score[k] += t->weights[3 * (size_t)f[i] + (size_t)k];
    for (int k = 0; k < (on ? 3 : 2); k++) {
        if (score[k] > score[best])
            best = k;
        if (k != right && (rival < 0 || score[k] > score[rival]))
            rival = k;
    }
    t->step++;
    if (care && score[right] - score[rival] <= t->o.margin) {
        add(t, f, kept, right, t->record->weight);
        add(t, f, kept, rival, -t->record->weight);
    }
    return care ? (enum cs_name_tag)best : CS_TAG_O;
}

static enum cs_name_tag count_uses(struct trainer *t, struct cs_around *a)
{
    uint32_t f[CS_NAME_FEATURES];
    bool care;
    size_t n = cs_name_features(a, f);
    for (size_t i = 0; i < n; i++)
        t->uses[f[i]]++;
    return gold(t, a, &care);
}

static enum cs_name_tag use(struct trainer *t, struct cs_around *a)
{
    uint32_t f[CS_NAME_FEATURES];
    size_t n = cs_name_features(a, f);
    int b = t->lean, i = t->lean;
    for (size_t k = 0; k < n; k++) {
        b += t->model[2 * f[k]];
        i += t->model[2 * f[k] + 1];
    }
    if (!cs_name_goes_on(a->w[1], a->w[2]))
        return b > 0 ? CS_TAG_B : CS_TAG_O;
    return b > 0 || i > 0 ? (i >= b ? CS_TAG_I : CS_TAG_B) : CS_TAG_O;
}

static enum cs_name_tag on_judge(void *ctx, struct cs_around *a)
{
    struct trainer *t = ctx;
    if (t->learning)
        return learn(t, a);
    return t->model ? use(t, a) : count_uses(t, a);
}

static void on_found(void *ctx, size_t start, size_t end)
{
    struct trainer *t = ctx;
    if (t->found_count == t->found_cap)
        t->found = cs_realloc(t->found, t->found_cap = t->found_cap * 2 + 64, sizeof *t->found);
    t->found[t->found_count++] = (struct span){start, end, 0, false};
}

static void read_view_of(struct trainer *t, const struct view *v, struct cs_name_memory *memory,
                         bool high)
{
    struct cs_name_eye eye = {on_read, on_judge, on_found, t};
    t->view = v;
    t->found_count = 0;
    cs_names_read(v->text, v->key, v->is_value, high, memory, &eye);
}

static void read_record(struct trainer *t, const struct record *r)
{
    struct cs_name_memory *memory = cs_name_memory_new();
    t->record = r;
    t->swap_seed = next(t);
    for (size_t i = 0; i < r->count; i++)
        read_view_of(t, &r->views[i], memory, false);
    cs_name_memory_free(memory);
}

static void train(struct trainer *t)
{
    size_t *order = cs_calloc(t->count + 1, sizeof *order), n = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->records[i].split != 1)
            order[n++] = i;
    t->uses = cs_calloc(CS_NAME_SLOTS, sizeof *t->uses);
    for (size_t i = 0; i < n; i++)
        read_record(t, &t->records[order[i]]);
    t->learning = true;
    for (int e = 0; e < t->o.epochs; e++) {
        for (size_t i = n; i > 1; i--) {
            size_t j = next(t) % i, x = order[i - 1];
            order[i - 1] = order[j];
            order[j] = x;
        }
        for (size_t i = 0; i < n; i++)
            read_record(t, &t->records[order[i]]);
    }
    t->learning = false;
    free(order);
}

/* --- the model --- */

static void put16(FILE *f, int v)
{
    fputc(v & 255, f);
    fputc(v >> 8 & 255, f);
}

static void make_model(struct trainer *t)
{
    size_t used = 0, n = 2 * (size_t)CS_NAME_SLOTS;
    double *w = cs_calloc(n, sizeof *w), most = 0, scale;
    for (size_t i = 0; i < CS_NAME_SLOTS; i++) {
        double avg[3];
        for (size_t k = 0; k < 3; k++)
            avg[k] = t->weights[3 * i + k] - t->sums[3 * i + k] / (t->step + 1);
        w[2 * i] = avg[1] - avg[0];
        w[2 * i + 1] = avg[2] - avg[0];
        for (size_t k = 0; k < 2; k++)
            if (w[2 * i + k] > most || -w[2 * i + k] > most)
                most = w[2 * i + k] > 0 ? w[2 * i + k] : -w[2 * i + k];
    }
    scale = 127 / most * 1.6; /* the few largest are cut off */
    t->model = cs_calloc(n, 1);
    for (size_t i = 0; i < n; i++) {
        double v = w[i] * scale;
        t->model[i] = (int8_t)(v > 127 ? 127 : v < -127 ? -127 : v + (v < 0 ? -.5 : .5));
        used += t->model[i] != 0;
    }
    fprintf(stderr, "scale %.2f, %zu weights\n", scale, used);
    free(w);
}

static void write_model(const struct trainer *t, const char *path)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        exit(1);
    fwrite("CSNAMES1", 1, 8, f);
    put16(f, 0);
    put16(f, 0);
    put16(f, t->o.medium);
    put16(f, t->o.high);
    fwrite(t->model, 2, CS_NAME_SLOTS, f);
    if (fclose(f) != 0)
        exit(1);
}

/* --- how good is it? --- */

struct score {
    char source[40];
    size_t gold, found, predicted, right, bytes, alarms;
};

static size_t within(size_t start, size_t end, const struct span *s, size_t n, int kinds)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i].kind & kinds && s[i].start < end && s[i].end > start)
            sum += (s[i].end < end ? s[i].end : end) - (s[i].start > start ? s[i].start : start);
    return sum;
}

static void score_view(struct trainer *t, const struct view *v, struct score *s, bool clean,
                       bool show)
{
    for (size_t i = 0; i < t->found_count; i++)
        t->found[i].kind = 1;
    for (size_t i = 0; i < v->count; i++) {
        const struct span *g = &v->spans[i];
        bool ok = 2 * within(g->start, g->end, t->found, t->found_count, 1) >= g->end - g->start;
        if (g->kind != 1)
            continue;
        s->gold++;
        s->found += ok;
        if (!ok && show)
            printf("MISS %s: %.*s [%.*s] %.*s\n", s->source, (int)(g->start < 30 ? g->start : 30),
                   v->text.at + (g->start < 30 ? 0 : g->start - 30), (int)(g->end - g->start),
                   v->text.at + g->start,
                   (int)(v->text.len - g->end < 30 ? v->text.len - g->end : 30),
                   v->text.at + g->end);
    }
    for (size_t i = 0; i < t->found_count; i++) {
        struct span *p = &t->found[i];
        bool right = 2 * within(p->start, p->end, v->spans, v->count, 1) >= p->end - p->start;
        if (!right && 2 * within(p->start, p->end, v->spans, v->count, 3) >= p->end - p->start)
            continue;
        s->predicted++;
        s->right += right;
        s->alarms += clean;
        if (!right && show)
            printf("ALARM %s: (%.*s) %.*s [%.*s] %.*s\n", s->source, (int)v->key.len, v->key.at,
                   (int)(p->start < 30 ? p->start : 30),
                   v->text.at + (p->start < 30 ? 0 : p->start - 30), (int)(p->end - p->start),
                   v->text.at + p->start,
                   (int)(v->text.len - p->end < 30 ? v->text.len - p->end : 30),
                   v->text.at + p->end);
    }
}

static double f1_of(const struct score *s)
{
    double p = s->predicted ? (double)s->right / (double)s->predicted : 1;
    double r = s->gold ? (double)s->found / (double)s->gold : 1;
    return p + r > 0 ? 2 * p * r / (p + r) : 0;
}

static struct score *score_of(struct score *scores, size_t *n, const char *source)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(scores[i].source, source) == 0)
            return &scores[i];
    snprintf(scores[*n].source, sizeof scores->source, "%s", source);
    return &scores[(*n)++];
}

static void print_score(const struct score *s)
{
    printf("%-24s gold %5zu  P %.3f R %.3f F1 %.3f   alarms/MB %.0f (%zu)\n", s->source, s->gold,
           s->predicted ? (double)s->right / (double)s->predicted : 1,
           s->gold ? (double)s->found / (double)s->gold : 1, f1_of(s),
           s->bytes ? (double)s->alarms * 1e6 / (double)s->bytes : 0, s->alarms);
}

static void test(struct trainer *t, int lean, bool high, bool by_source, bool show)
{
    struct score scores[128] = {0}, all = {.source = "all"};
    size_t n = 0;
    t->lean = lean;
    for (size_t i = 0; i < t->count; i++) {
        const struct record *r = &t->records[i];
        struct cs_name_memory *memory;
        struct score *s;
        bool clean = true;
        if (r->split == 0)
            continue;
        memory = cs_name_memory_new();
        s = score_of(scores, &n, r->source);
        for (size_t k = 0; k < r->count; k++)
            for (size_t j = 0; j < r->views[k].count; j++)
                clean &= r->views[k].spans[j].kind != 1;
        for (size_t k = 0; k < r->count; k++) {
            read_view_of(t, &r->views[k], memory, high);
            score_view(t, &r->views[k], s, clean, show);
            s->bytes += clean ? r->views[k].text.len : 0;
        }
        cs_name_memory_free(memory);
    }
    for (size_t i = 0; i < n; i++) {
        all.gold += scores[i].gold;
        all.found += scores[i].found;
        all.predicted += scores[i].predicted;
        all.right += scores[i].right;
        all.bytes += scores[i].bytes;
        all.alarms += scores[i].alarms;
        if (by_source)
            print_score(&scores[i]);
    }
    snprintf(all.source, sizeof all.source, "all, lean %d%s", lean, high ? ", high" : "");
    print_score(&all);
}

static void option(struct options *o, const char *arg)
{
    struct {
        const char *name;
        int *at;
    } known[] = {{"epochs", &o->epochs}, {"strange", &o->strange}, {"swap", &o->swap},
                 {"medium", &o->medium}, {"high", &o->high},       {"seed", &o->seed},
                 {"least", &o->least},   {"sweep", &o->sweep}};
    const char *value = strchr(arg, '=');
    for (size_t i = 0; value && i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == (size_t)(value - arg) &&
            strncmp(arg, known[i].name, (size_t)(value - arg)) == 0)
            *known[i].at = (int)strtol(value + 1, NULL, 10);
    if (strncmp(arg, "margin=", 7) == 0)
        o->margin = strtod(arg + 7, NULL);
}

int main(int argc, char **argv)
{
    struct trainer t = {.o = {.epochs = 6,
                              .strange = 35,
                              .swap = 40,
                              .least = 2,
                              .seed = 1,
                              .margin = 1,
                              .medium = 0,
                              .high = 60}};
    bool show = false;
    if (argc < 4) {
        fprintf(stderr, "usage: train_names TEXTS LISTS MODEL [name=value ...]\n");
        return 2;
    }
    for (int i = 4; i < argc; i++) {
        option(&t.o, argv[i]);
        show |= strcmp(argv[i], "show") == 0;
    }
    t.random = (uint64_t)t.o.seed * 0x9E3779B97F4A7C15u;
    t.weights = cs_calloc(3 * (size_t)CS_NAME_SLOTS, sizeof *t.weights);
    t.sums = cs_calloc(3 * (size_t)CS_NAME_SLOTS, sizeof *t.sums);
    read_texts(&t, argv[1]);
    read_lists(&t, argv[2]);
    fprintf(stderr, "%zu records, %zu first names, %zu last names\n", t.count, t.named[0],
            t.named[1]);
    train(&t);
    make_model(&t);
    write_model(&t, argv[3]);
    for (int k = -t.o.sweep; k <= t.o.sweep; k++)
        test(&t, t.o.medium + k * 20, false, k == 0, show && k == 0);
    return 0;
}
