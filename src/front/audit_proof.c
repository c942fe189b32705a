/*
 * `caisson audit export | verify | checkpoint | key`: the ledger for somebody who does not trust
 * us; and `caisson backup`.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "front/audit.h"
#include "ledger/ledger.h"

#define CHECKPOINT_BYTES (64u << 10)

static int data_file(const char *name, char path[CS_DATA_PATH], struct cs_err *err)
{
    char dir[CS_DATA_PATH];
    if (cs_data_dir(dir, err) < 0)
        return -1;
    if (snprintf(path, CS_DATA_PATH, "%s/%s", dir, name) >= CS_DATA_PATH)
        return cs_fail(err, CS_INVALID, "the path of the data directory is too long");
    return 0;
}

static int open_ledger(struct cs_ledger **ledger, struct cs_err *err)
{
    char dir[CS_DATA_PATH];
    return cs_data_dir(dir, err) < 0 ? -1 : cs_ledger_open(dir, ledger, err);
}

static void ledger_close(struct cs_ledger **ledger)
{
    cs_ledger_close(*ledger);
}

/* --- export --- */

struct export
{
    const struct cs_verb *verb;
    struct cs_ledger_filter range;
    struct cs_words operands;
};

static void export_done(struct export *e)
{
    cs_words_done(&e->operands);
}

static int export_to(struct export *e, FILE *out, bool compress, struct cs_err *err)
{
    CS_AUTO(ledger_close) struct cs_ledger *ledger = NULL;
    char path[CS_DATA_PATH];
    return cs_audit_database(path, err) < 0 || open_ledger(&ledger, err) < 0
               ? -1
               : cs_ledger_export(path, &e->range, ledger, compress, out, err);
}

/* A new file, and only a whole one. */
static int export_file(struct export *e, const char *name, struct cs_err *err)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno == EEXIST ? cs_fail(err, CS_CONFLICT, "'%s' is there already", name)
                               : cs_fail_errno(err, "%s", name);
    FILE *out = fdopen(fd, "w");
    int result = export_to(e, out, cs_str_ends(cs_str(name), ".zst"), err);
    if (result == 0 && (fflush(out) != 0 || fsync(fd) < 0))
        result = cs_fail_errno(err, "%s", name);
    fclose(out);
    if (result < 0)
        unlink(name);
    return result;
}

int cs_verb_audit_export(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO(export_done) struct export e = {.verb = verb};
    struct cs_err err = {0};
    const struct cs_bind binds[] = {{"from", CS_BIND_NUMBER, &e.range.from},
                                    {"to", CS_BIND_NUMBER, &e.range.to},
                                    {NULL, 0, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &e.operands, &err) < 0)
        return cs_usage_error(verb, &err);
    if (e.operands.count > 1) {
        cs_fail(&err, CS_INVALID, "it takes one FILE");
        return cs_usage_error(verb, &err);
    }
    const char *name = e.operands.count ? e.operands.at[0] : "-";
    int result =
        strcmp(name, "-") == 0 ? export_to(&e, stdout, false, &err) : export_file(&e, name, &err);
    return result < 0 ? cs_audit_failed(verb, &err) : CS_EXIT_OK;
}

/* --- verify --- */

struct verify {
    const struct cs_verb *verb;
    const char *key_file, *checkpoint;
    bool json;
    struct cs_words operands;
    unsigned char key[32];
    bool has_key, key_is_ours;
    struct cs_buf until;
    struct cs_ledger_check check;
};

static void verify_done(struct verify *v)
{
    cs_words_done(&v->operands);
    cs_buf_done(&v->until);
}

/* The key that was given; else that of this machine, if it has one. */
static int find_key(struct verify *v, struct cs_err *err)
{
    char path[CS_DATA_PATH];
    struct cs_err said = {0};
    if (v->key_file) {
        v->has_key = true;
        return cs_ledger_read_key(v->key_file, v->key, err);
    }
    if (data_file("ledger.pub", path, err) < 0)
        return -1;
    v->has_key = v->key_is_ours = cs_ledger_read_key(path, v->key, &said) == 0;
    if (v->has_key || said.code == CS_MISSING)
        return 0;
    *err = said;
    return -1;
}

static int find_until(struct verify *v, struct cs_err *err)
{
    if (!v->checkpoint)
        return 0;
    if (v->checkpoint[0] == '@')
        return cs_file_read(v->checkpoint + 1, CHECKPOINT_BYTES, &v->until, err);
    cs_buf_puts(&v->until, v->checkpoint);
    return 0;
}

static const char *trust(const struct verify *v)
{
    return !v->has_key ? "the file itself" : v->key_is_ours ? "this machine" : v->key_file;
}

static void put_hex(struct cs_json_writer *w, const char *name, const unsigned char hash[32])
{
    char hex[65];
    cs_hex(hash, 32, hex);
    cs_json_key(w, name);
    cs_json_put_z(w, hex);
}

static void put_number(struct cs_json_writer *w, const char *name, uint64_t number)
{
    cs_json_key(w, name);
    cs_json_put_u64(w, number);
}

static void print_json(const struct verify *v, const struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf json = {0}, pretty = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    const struct cs_ledger_check *c = &v->check;
    char fingerprint[CS_FINGERPRINT];
    cs_json_open(&w, '{');
    cs_json_key(&w, "ok");
    cs_json_put_bool(&w, err->code == CS_OK);
    if (err->code) {
        cs_json_key(&w, "error");
        cs_json_put_z(&w, err->msg);
    }
    if (c->bad)
        put_number(&w, "first_bad_entry", c->bad);
    put_number(&w, "entries", c->entries);
    put_number(&w, "from", c->from);
    put_number(&w, "to", c->to);
    put_number(&w, "checkpoints", c->checkpoints);
    put_number(&w, "signed_to", c->signed_to);
    put_hex(&w, "head", c->head);
    if (c->signed_to) {
        put_hex(&w, "key", c->key);
        cs_ledger_fingerprint(c->key, fingerprint);
        cs_json_key(&w, "fingerprint");
        cs_json_put_z(&w, fingerprint);
    }
    cs_json_key(&w, "key_from");
    cs_json_put_z(&w, trust(v));
    cs_json_close(&w, '}');
    cs_json_pretty(cs_buf_str(&json), &pretty);
    printf("%s\n", cs_buf_cstr(&pretty));
}

static void print_text(const struct verify *v)
{
    const struct cs_ledger_check *c = &v->check;
    char fingerprint[CS_FINGERPRINT], head[65];
    cs_hex(c->head, 32, head);
    if (!c->entries) {
        printf("The ledger is empty.\n");
        return;
    }
    printf("It fits: %llu entries, %llu to %llu, %llu checkpoints.\n",
           (unsigned long long)c->entries, (unsigned long long)c->from, (unsigned long long)c->to,
           (unsigned long long)c->checkpoints);
    printf("  head    %s\n", head);
    if (!c->signed_to) {
        printf("  signed  nothing: whoever wrote it may have written anything\n");
        return;
    }
    cs_ledger_fingerprint(c->key, fingerprint);
    printf("  signed  up to entry %llu%s\n", (unsigned long long)c->signed_to,
           c->signed_to < c->to ? "; those after it are not signed yet" : "");
    printf("  key     %s (from %s)\n", fingerprint, trust(v));
    if (!v->has_key)
        printf("\nThe key is taken from the file itself: whoever made the file may have made the "
               "key.\nCompare the fingerprint with one that you know, or give the key with "
               "--key.\n");
}

int cs_verb_audit_verify(const struct cs_verb *verb, int argc, char **argv)
{
    CS_AUTO(verify_done) struct verify v = {.verb = verb};
    struct cs_err err = {0};
    char path[CS_DATA_PATH];
    const struct cs_bind binds[] = {{"key", CS_BIND_TEXT, &v.key_file},
                                    {"checkpoint", CS_BIND_TEXT, &v.checkpoint},
                                    {"output", CS_BIND_JSON, &v.json},
                                    {NULL, 0, NULL}};
    if (cs_args_bind(verb, argc, argv, binds, &v.operands, &err) < 0)
        return cs_usage_error(verb, &err);
    if (v.operands.count > 1) {
        cs_fail(&err, CS_INVALID, "it takes one FILE");
        return cs_usage_error(verb, &err);
    }
    if (cs_audit_database(path, &err) < 0 || find_key(&v, &err) < 0 || find_until(&v, &err) < 0)
        return cs_verb_failed(verb, &err);
    const char *file = v.operands.count ? v.operands.at[0] : path;
    int result =
        cs_ledger_verify(file, v.has_key ? v.key : NULL, cs_buf_str(&v.until), &v.check, &err);
    if (result < 0 && err.code != CS_CONFLICT)
        return cs_audit_failed(verb, &err);
    if (v.json)
        print_json(&v, &err);
    else if (result == 0)
        print_text(&v);
    if (result == 0)
        return CS_EXIT_OK;
    if (!v.json)
        fprintf(stderr, "caisson %s: it does NOT fit: %s\n", verb->name, err.msg);
    if (v.key_is_ours && v.operands.count && strstr(err.msg, "foreign key"))
        fprintf(stderr, "If the file is of another machine, give its key with --key.\n");
    return CS_EXIT_PROGRAM;
}

/* --- checkpoint and key --- */

static int no_words(const struct cs_verb *verb, int argc, char **argv, const struct cs_bind *binds,
                    struct cs_err *err)
{
    CS_AUTO_WORDS struct cs_words operands = {0};
    if (cs_args_bind(verb, argc, argv, binds, &operands, err) < 0)
        return -1;
    if (operands.count)
        return cs_fail(err, CS_INVALID, "'%s' is not wanted here", operands.at[0]);
    return 0;
}

int cs_verb_audit_checkpoint(const struct cs_verb *verb, int argc, char **argv)
{
    static const struct cs_bind none[] = {{NULL, 0, NULL}};
    CS_AUTO(ledger_close) struct cs_ledger *ledger = NULL;
    CS_AUTO_BUF struct cs_buf line = {0};
    struct cs_err err = {0};
    char path[CS_DATA_PATH];
    if (no_words(verb, argc, argv, none, &err) < 0)
        return cs_usage_error(verb, &err);
    if (cs_audit_database(path, &err) < 0 || open_ledger(&ledger, &err) < 0 ||
        cs_ledger_checkpoint(path, ledger, &line, &err) < 0)
        return cs_audit_failed(verb, &err);
    printf("%s\n", cs_buf_cstr(&line));
    return CS_EXIT_OK;
}

int cs_verb_audit_key(const struct cs_verb *verb, int argc, char **argv)
{
    bool json = false;
    const struct cs_bind binds[] = {{"output", CS_BIND_JSON, &json}, {NULL, 0, NULL}};
    CS_AUTO(ledger_close) struct cs_ledger *ledger = NULL;
    CS_AUTO_BUF struct cs_buf pem = {0};
    struct cs_err err = {0};
    unsigned char key[32];
    char path[CS_DATA_PATH], hex[65], fingerprint[CS_FINGERPRINT];
    if (no_words(verb, argc, argv, binds, &err) < 0)
        return cs_usage_error(verb, &err);
    if (open_ledger(&ledger, &err) < 0 || data_file("ledger.pub", path, &err) < 0 ||
        cs_file_read(path, CHECKPOINT_BYTES, &pem, &err) < 0)
        return cs_verb_failed(verb, &err);
    cs_ledger_public(ledger, key);
    cs_hex(key, 32, hex);
    cs_ledger_fingerprint(key, fingerprint);
    if (json)
        printf("{\"fingerprint\": \"%s\", \"key\": \"%s\"}\n", fingerprint, hex);
    else
        printf("%.*s\nfingerprint  %s\nkey          %s\n", CS_STR_ARG(cs_buf_str(&pem)),
               fingerprint, hex);
    return CS_EXIT_OK;
}

/* --- backup --- */

struct backup {
    const struct cs_verb *verb;
    struct cs_store *store;
    const char *file;
    bool shown;
    int exit_status;
};

static void on_progress(void *ctx, uint64_t bytes, uint64_t of)
{
    struct backup *b = ctx;
    if (!isatty(STDERR_FILENO) || of == 0)
        return;
    fprintf(stderr, "\r%3u %% of %llu MB ", (unsigned)(100 * bytes / of),
            (unsigned long long)(of >> 20));
    b->shown = true;
}

static void on_backup(void *ctx, const struct cs_err *err)
{
    struct backup *b = ctx;
    if (b->shown)
        fprintf(stderr, "\r                              \r");
    b->exit_status = err->code ? cs_verb_failed(b->verb, err) : CS_EXIT_OK;
    if (!err->code)
        fprintf(stderr, "a copy of all there is: %s\n", b->file);
    cs_store_close(b->store, NULL, NULL);
}

int cs_verb_backup(const struct cs_verb *verb, int argc, char **argv)
{
    static const struct cs_bind none[] = {{NULL, 0, NULL}};
    CS_AUTO_WORDS struct cs_words operands = {0};
    struct backup b = {.verb = verb};
    struct cs_err err = {0};
    char dir[CS_DATA_PATH];
    uv_loop_t loop;
    if (cs_args_bind(verb, argc, argv, none, &operands, &err) < 0)
        return cs_usage_error(verb, &err);
    if (operands.count != 1) {
        cs_fail(&err, CS_INVALID, "it takes one FILE");
        return cs_usage_error(verb, &err);
    }
    if (cs_data_dir(dir, &err) < 0)
        return cs_verb_failed(verb, &err);
    b.file = operands.at[0];
    uv_loop_init(&loop);
    if (cs_store_open(&loop, dir, &b.store, &err) < 0)
        b.exit_status = cs_verb_failed(verb, &err);
    else
        cs_store_backup(b.store, b.file, on_progress, on_backup, &b);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return b.exit_status;
}
