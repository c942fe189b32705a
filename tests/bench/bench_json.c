/*
 * How fast base/json reads, beside jansson in the same run: a document of 2 MB, like the answer of
 * an API that lists a few thousand records. One core; the best of several rounds, taken in turns,
 * so that a noisy machine is equally unkind to both.
 *
 * Prints `name value unit` lines. Exits 1 if the ratio is missed; the absolute figure is a note,
 * since it says as much about the machine.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "base/json.h"

#define DOCUMENT_BYTES (2u << 20)
#define ROUNDS         15
#define OURS_PER_ROUND 5
#define TARGET_RATIO   5.0
#define TARGET_MB_S    400.0

static uint32_t random_state = 42;

/* A fixed sequence, so that every run reads the same document. */
static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static const char *pick(const char *const *from, size_t n)
{
    return from[random_below((uint32_t)n)];
}

static void put_record(struct cs_json_writer *w, uint32_t id)
{
    static const char *const names[] = {"Ada Lovelace",    "Jos\xC3\xA9 Mart\xC3\xADnez",
                                        "Grace Hopper",    "\xE6\x9D\x8E\xE5\xB0\x8F\xE9\xBE\x8D",
                                        "Edsger Dijkstra", "Zo\xC3\xAB Bl\xC3\xBCm"};
    static const char *const cities[] = {"Berlin", "Z\xC3\xBCrich", "New York", "S\xC3\xA3o Paulo",
                                         "Reykjavik"};
    static const char *const bios[] = {
        "Writes about compilers, type systems and the history of computing since 1999.",
        "Likes \"quoted\" words,\nnew lines and C:\\paths.",
        "Maintains a handful of small libraries that a surprising number of people depend on; "
        "answers mail within a day, usually with a patch.",
        ""};
    static const char *const tags[] = {"alpha", "beta", "vip", "internal", "trial", "eu-west-1"};
    cs_json_open(w, '{');
    cs_json_key(w, "id");
    cs_json_put_u64(w, 100000 + id);
    cs_json_key(w, "uuid");
    char uuid[40];
    snprintf(uuid, sizeof uuid, "%08x-%04x-4%03x-a%03x-%012" PRIx64, random_below(1u << 24),
             random_below(1u << 16), random_below(1u << 12), random_below(1u << 12),
             (uint64_t)id * 7919);
    cs_json_put_z(w, uuid);
    cs_json_key(w, "name");
    cs_json_put_z(w, pick(names, CS_COUNT(names)));
    cs_json_key(w, "email");
    char email[64];
    snprintf(email, sizeof email, "user%u@example.com", id);
    cs_json_put_z(w, email);
    cs_json_key(w, "active");
    cs_json_put_bool(w, random_below(4) != 0);
    cs_json_key(w, "score");
    cs_json_put_f64(w, random_below(100000) / 100.0);
    cs_json_key(w, "createdAt");
    char when[32];
    snprintf(when, sizeof when, "20%02u-%02u-%02uT%02u:%02u:%02uZ", random_below(26),
             random_below(12) + 1, random_below(28) + 1, random_below(24), random_below(60),
             random_below(60));
    cs_json_put_z(w, when);
    cs_json_key(w, "bio");
    cs_json_put_z(w, pick(bios, CS_COUNT(bios)));
    cs_json_key(w, "address");
    cs_json_open(w, '{');
    cs_json_key(w, "city");
    cs_json_put_z(w, pick(cities, CS_COUNT(cities)));
    cs_json_key(w, "zip");
    cs_json_put_u64(w, 10000 + random_below(89999));
    cs_json_key(w, "geo");
    cs_json_open(w, '[');
    cs_json_put_f64(w, random_below(1800000) / 10000.0 - 90);
    cs_json_put_f64(w, random_below(3600000) / 10000.0 - 180);
    cs_json_close(w, ']');
    cs_json_close(w, '}');
    cs_json_key(w, "tags");
    cs_json_open(w, '[');
    for (uint32_t n = random_below(4); n > 0; n--)
        cs_json_put_z(w, pick(tags, CS_COUNT(tags)));
    cs_json_close(w, ']');
    cs_json_key(w, "manager");
    cs_json_put_null(w);
    cs_json_close(w, '}');
}

static void make_document(struct cs_buf *out)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    cs_json_key(&w, "items");
    cs_json_open(&w, '[');
    uint32_t n = 0;
    while (out->len < DOCUMENT_BYTES)
        put_record(&w, n++);
    cs_json_close(&w, ']');
    cs_json_key(&w, "total");
    cs_json_put_u64(&w, n);
    cs_json_close(&w, '}');
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double time_ours(struct cs_str text, uint32_t *records)
{
    double start = now();
    for (int i = 0; i < OURS_PER_ROUND; i++) {
        CS_AUTO_JSON struct cs_json doc = {0};
        struct cs_err err = {0};
        if (cs_json_parse(text, NULL, &doc, &err) < 0) {
            fprintf(stderr, "%s\n", err.msg);
            exit(2);
        }
        *records = cs_json_count(cs_json_get(cs_json_root(&doc), "items"));
    }
    return (now() - start) / OURS_PER_ROUND;
}

/* With duplicates refused, as ours does. */
static double time_jansson(struct cs_str text, uint32_t *records)
{
    double start = now();
    json_error_t error;
    json_t *root = json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        fprintf(stderr, "jansson: %s\n", error.text);
        exit(2);
    }
    *records = (uint32_t)json_array_size(json_object_get(root, "items"));
    json_decref(root);
    return now() - start;
}

/* Returns the ratio. */
static double compare(const char *name, struct cs_str text)
{
    double ours = 1e9, theirs = 1e9;
    uint32_t a = 0, b = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double t = time_ours(text, &a);
        ours = t < ours ? t : ours;
        t = time_jansson(text, &b);
        theirs = t < theirs ? t : theirs;
    }
    if (a != b || a == 0) {
        fprintf(stderr, "the two readers disagree: %u and %u records\n", a, b);
        exit(2);
    }
    double megabytes = (double)text.len / 1e6;
    printf("json_%s_size %.2f MB\n", name, megabytes);
    printf("json_%s_caisson %.0f MB/s\n", name, megabytes / ours);
    printf("json_%s_jansson %.0f MB/s\n", name, megabytes / theirs);
    printf("json_%s_ratio %.1f x\n", name, theirs / ours);
    if (megabytes / ours < TARGET_MB_S)
        printf("note: %s: below %.0f MB/s on this machine, now\n", name, TARGET_MB_S);
    return theirs / ours;
}

int main(void)
{
    CS_AUTO_BUF struct cs_buf compact = {0};
    CS_AUTO_BUF struct cs_buf pretty = {0};
    make_document(&compact);
    cs_json_pretty(cs_buf_str(&compact), &pretty);
    double ratio = compare("read", cs_buf_str(&compact));
    compare("read_indented", cs_buf_str(&pretty));
    if (ratio < TARGET_RATIO) {
        printf("missed: the ratio is below %.1f\n", TARGET_RATIO);
        return 1;
    }
    return 0;
}
