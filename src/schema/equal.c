#include <stdlib.h>

#include "schema/run.h"

#define EQUAL_DEPTH 300

static bool equal(struct run *r, struct cs_json_val a, struct cs_json_val b, int depth);

static bool equal_numbers(struct run *r, struct cs_json_val a, struct cs_json_val b)
{
    struct cs_str x = cs_json_raw(a), y = cs_json_raw(b);
    if (cs_str_eq(x, y))
        return true;
    if (!pay(r, (x.len + y.len) / 32))
        return false;
    struct cs_num n = cs_num_read(x), m = cs_num_read(y);
    return cs_num_compare(&n, &m) == 0;
}

static bool equal_arrays(struct run *r, struct cs_json_val a, struct cs_json_val b, int depth)
{
    struct cs_json_iter i = {0}, j = {0};
    struct cs_json_val x, y;
    while (cs_json_next(a, &i, NULL, &x))
        if (!cs_json_next(b, &j, NULL, &y) || !equal(r, x, y, depth + 1))
            return false;
    return true;
}

static bool find_member(struct run *r, struct cs_json_val object, struct cs_str name,
                        struct cs_json_iter *it, struct cs_json_val *item)
{
    struct cs_json_val key;
    while (cs_json_next(object, it, &key, item))
        if (!pay(r, 1) || cs_str_eq(cs_run_text(r, key), name))
            return !r->stopped;
    return false;
}

/* Members mostly come in the same order, so the search starts where the last one ended. */
static bool equal_objects(struct run *r, struct cs_json_val a, struct cs_json_val b, int depth)
{
    struct cs_json_iter i = {0}, j = {0};
    struct cs_json_val key, x, y;
    while (cs_json_next(a, &i, &key, &x)) {
        struct cs_str name = cs_run_text(r, key);
        struct cs_json_iter start = {0};
        if (!find_member(r, b, name, &j, &y)) {
            if (!find_member(r, b, name, &start, &y))
                return false;
            j = start;
        }
        if (!equal(r, x, y, depth + 1))
            return false;
    }
    return true;
}

/* Could what hides so be a value of this type? */
static bool may_equal(enum cs_hiding hiding, enum cs_json_type type)
{
    return type == CS_JSON_STRING ||
           (hiding == CS_HIDES_ALL &&
            (type == CS_JSON_NUMBER || type == CS_JSON_TRUE || type == CS_JSON_FALSE));
}

static bool equal(struct run *r, struct cs_json_val a, struct cs_json_val b, int depth)
{
    enum cs_json_type type = cs_json_type(a);
    enum cs_hiding hiding = type == CS_JSON_STRING ? cs_run_hiding(r, a) : CS_HIDES_NOTHING;
    if (hiding && may_equal(hiding, cs_json_type(b)))
        return cs_run_unsure(r);
    if (type != cs_json_type(b) || cs_json_count(a) != cs_json_count(b) || !pay(r, 1))
        return false;
    if (depth > EQUAL_DEPTH) {
        r->stopped = true;
        return false;
    }
    if (type == CS_JSON_NUMBER)
        return equal_numbers(r, a, b);
    if (type == CS_JSON_STRING) {
        struct cs_str x = cs_run_text(r, a), y = cs_run_text(r, b);
        return pay(r, (x.len == y.len ? x.len : 0) / 32) && cs_str_eq(x, y);
    }
    if (type == CS_JSON_ARRAY)
        return equal_arrays(r, a, b, depth);
    return type != CS_JSON_OBJECT || equal_objects(r, a, b, depth);
}

bool cs_run_equal(struct run *r, struct cs_json_val a, struct cs_json_val b)
{
    return equal(r, a, b, 0) && !r->stopped;
}

/* Equal values have equal hashes, whatever the order of their members. */
static uint64_t hash(struct run *r, struct cs_json_val v, int depth)
{
    enum cs_json_type type = cs_json_type(v);
    uint64_t seed = r->schema->seed ^ type, h = seed;
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    if (!pay(r, 1))
        return 0;
    if (depth > EQUAL_DEPTH) {
        r->stopped = true;
        return 0;
    }
    if (type == CS_JSON_NUMBER) {
        struct cs_str raw = cs_json_raw(v);
        pay(r, raw.len / 16);
        struct cs_num n = cs_num_read(raw);
        return cs_num_hash(&n, seed);
    }
    if (type == CS_JSON_STRING) {
        struct cs_str s = cs_run_text(r, v);
        pay(r, s.len / 64);
        return cs_names_hash(seed, s);
    }
    while (cs_json_next(v, &it, &key, &item)) {
        uint64_t inner = hash(r, item, depth + 1);
        if (type == CS_JSON_OBJECT)
            h += cs_names_mix(inner, cs_names_hash(seed, cs_run_text(r, key)) | 1);
        else
            h = cs_names_mix(h ^ inner, 0x9E3779B97F4A7C15u);
        if (r->stopped)
            break;
    }
    return h;
}

struct hashed {
    uint64_t hash;
    struct cs_json_val value;
    uint32_t index;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->index == y->index ? 0 : x->index < y->index ? -1 : 1;
}

bool cs_run_twice(struct run *r, struct cs_json_val array, uint32_t *first, uint32_t *second)
{
    uint32_t count = cs_json_count(array), n = 0;
    if (count < 2 || !pay(r, (uint64_t)count * 4))
        return false;
    struct hashed *all = cs_arena_alloc(&r->scratch, count * sizeof *all);
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(array, &it, NULL, &item) && !r->stopped) {
        all[n] = (struct hashed){hash(r, item, 0), item, n};
        n++;
    }
    qsort(all, n, sizeof *all, by_hash);
    for (uint32_t i = 1; i < n && !r->stopped; i++)
        if (all[i].hash == all[i - 1].hash && cs_run_equal(r, all[i].value, all[i - 1].value)) {
            *first = all[i - 1].index;
            *second = all[i].index;
            return true;
        }
    return false;
}
