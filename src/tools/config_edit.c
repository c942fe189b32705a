/*
 * Changes of a configuration file.
 *
 * Two of us do not work on one file at once: the directory is locked meanwhile. Others (an editor,
 * another client) know nothing of that lock, so the file is compared with what the change was made
 * from in the last moment before it is replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/jsonc.h"
#include "base/near.h"
#include "tools/config.h"
#include "tools/config_doc.h"

#define TRIES   5
#define LOCK_MS 20000

/* Makes the new text of `doc`; 1: nothing is to be done. */
typedef int make_fn(void *ctx, const struct cs_jsonc *doc, struct cs_buf *out, struct cs_err *err);

struct target {
    char path[PATH_MAX]; /* of the file itself, links followed */
    char dir[PATH_MAX];
    bool exists;
    struct stat st;
    struct cs_buf text;
};

static int locate(const char *path, struct target *t, struct cs_err *err)
{
    struct stat link;
    if (realpath(path, t->path))
        t->exists = true;
    else if (errno != ENOENT)
        return cs_fail_errno(err, "%s", path);
    else if (lstat(path, &link) == 0)
        return cs_fail(err, CS_MISSING, "%s is a link that leads nowhere", path);
    else if (snprintf(t->path, sizeof t->path, "%s%s", path[0] == '/' ? "" : "./", path) >=
             (int)sizeof t->path)
        return cs_fail(err, CS_INVALID, "the path is too long");
    snprintf(t->dir, sizeof t->dir, "%s", t->path);
    char *slash = strrchr(t->dir, '/');
    slash[slash == t->dir] = '\0';
    return t->exists ? 0 : cs_dir_make(t->dir, 0700, err);
}

static int lock(const char *dir, struct cs_err *err)
{
    CS_AUTO_FD int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return cs_fail_errno(err, "%s", dir);
    for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; waited += 10) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            break; /* a file system without locks: the comparison has to do */
        if (waited >= LOCK_MS)
            return cs_fail(err, CS_SYSTEM, "%s is locked by another program", dir);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return CS_TAKE_FD(fd);
}

static int read_target(struct target *t, struct cs_err *err)
{
    cs_buf_clear(&t->text);
    t->exists = stat(t->path, &t->st) == 0;
    if (!t->exists)
        return errno == ENOENT ? 0 : cs_fail_errno(err, "%s", t->path);
    if (!S_ISREG(t->st.st_mode))
        return cs_fail(err, CS_INVALID, "%s is not a regular file", t->path);
    if (access(t->path, W_OK) < 0)
        return cs_fail_errno(err, "%s cannot be changed", t->path);
    return cs_file_read(t->path, CS_CONFIG_BYTES, &t->text, err);
}

static bool still_the_same(const struct target *t)
{
    CS_AUTO_BUF struct cs_buf now = {0};
    struct cs_err err = {0};
    if (cs_file_read(t->path, CS_CONFIG_BYTES, &now, &err) < 0)
        return err.code == CS_MISSING && !t->exists;
    return t->exists && cs_str_eq(cs_buf_str(&now), cs_buf_str(&t->text));
}

static int write_all(int fd, struct cs_str bytes)
{
    while (bytes.len) {
        ssize_t n = write(fd, bytes.at, bytes.len);
        if (n < 0 && errno != EINTR)
            return -1;
        bytes.at += n > 0 ? n : 0;
        bytes.len -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int rename_new(const struct target *t, const char *temp)
{
    if (t->exists)
        return rename(temp, t->path);
    int done = renameat2(AT_FDCWD, temp, AT_FDCWD, t->path, RENAME_NOREPLACE);
    return done < 0 && (errno == EINVAL || errno == ENOSYS) ? rename(temp, t->path) : done;
}

/* 1: the file is not what it was, so the change has to be made anew. */
static int replace(const struct target *t, int dir, struct cs_str text, struct cs_err *err)
{
    char temp[PATH_MAX + 16];
    snprintf(temp, sizeof temp, "%s.XXXXXX", t->path);
    CS_AUTO_FD int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0)
        return cs_fail_errno(err, "%s", t->dir);
    int status = -1;
    bool ready = !t->exists || fchmod(fd, t->st.st_mode & 07777) == 0;
    /* Only root can give a file away, and for others it is their own already. */
    if (t->exists && fchown(fd, t->st.st_uid, t->st.st_gid) < 0 && errno != EPERM)
        ready = false;
    if (!ready || write_all(fd, text) < 0 || fsync(fd) < 0)
        cs_fail_errno(err, "%s", temp);
    else if (!still_the_same(t))
        status = 1;
    else if (rename_new(t, temp) == 0)
        status = 0;
    else if (errno == EEXIST)
        status = 1;
    else
        cs_fail_errno(err, "%s", t->path);
    if (status != 0)
        unlink(temp);
    else
        fsync(dir);
    return status;
}

/* An empty file is as good as none. */
static bool is_empty(struct cs_str text)
{
    size_t i = cs_str_starts(text, "\xEF\xBB\xBF") ? 3 : 0;
    while (i < text.len && text.at[i] && strchr(" \t\r\n", text.at[i]))
        i++;
    return i >= text.len;
}

static int change_once(struct target *t, int dir, make_fn *make, void *ctx, struct cs_err *err)
{
    CS_AUTO_JSONC struct cs_jsonc doc = {0};
    CS_AUTO_BUF struct cs_buf out = {0};
    if (read_target(t, err) < 0)
        return -1;
    struct cs_str text = cs_buf_str(&t->text);
    bool empty = !t->exists || is_empty(text);
    if (!empty && cs_jsonc_parse(text, &doc, err) < 0)
        return cs_wrap(err, "%s", t->path);
    int made = make(ctx, empty ? NULL : &doc, &out, err);
    if (made)
        return made < 0 ? cs_wrap(err, "%s", t->path) : 0;
    return replace(t, dir, cs_buf_str(&out), err);
}

static int change(const char *path, make_fn *make, void *ctx, struct cs_err *err)
{
    struct target t = {0};
    if (locate(path, &t, err) < 0)
        return -1;
    CS_AUTO_FD int dir = lock(t.dir, err);
    int status = dir < 0 ? -1 : 1;
    for (int i = 0; status == 1 && i < TRIES; i++)
        status = change_once(&t, dir, make, ctx, err);
    cs_buf_done(&t.text);
    if (status == 1)
        return cs_fail(err, CS_SYSTEM, "%s is being changed by somebody else all the time", path);
    return status;
}

/* --- names --- */

static int no_such(const struct cs_places *places, struct cs_str name, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    const char **names = cs_arena_alloc(&arena, CS_CONFIG_SERVERS * sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < places->count; i++) {
        struct cs_json_iter it = {0};
        struct cs_json_val key, item;
        while (count < CS_CONFIG_SERVERS && cs_json_next(places->at[i], &it, &key, &item))
            names[count++] = cs_arena_dup(&arena, cs_json_str(key, &arena)).at;
    }
    const char *near = cs_nearest(cs_arena_dup(&arena, name).at, names, count);
    if (near)
        return cs_fail(err, CS_MISSING, "there is no server '%.*s'; did you mean '%s'?",
                       CS_STR_ARG(name), near);
    return cs_fail(err, CS_MISSING, "there is no server '%.*s'%s", CS_STR_ARG(name),
                   count ? "" : ", nor any other");
}

struct found {
    struct cs_places places;
    size_t place;
    struct cs_json_val object, key, entry;
};

static int find(const struct cs_jsonc *doc, struct cs_str name, struct found *f, struct cs_err *err)
{
    f->places = (struct cs_places){0};
    if (doc && cs_places_find(cs_json_root(&doc->doc), &f->places, err) < 0)
        return -1;
    if (!cs_places_get(&f->places, name, &f->place, &f->key, &f->entry))
        return no_such(&f->places, name, err);
    f->object = f->places.at[f->place];
    return 0;
}

/* --- add --- */

struct adding {
    const char *section; /* for a file that has none yet */
    struct cs_str name;
    struct cs_json_val entry;
    bool replace;
};

/* VS Code has a word of its own. */
static const char *section_of(const char *path)
{
    struct cs_str p = cs_str(path);
    return cs_str_ends(p, ".vscode/mcp.json") ? "servers" : "mcpServers";
}

static int put_section(const struct cs_jsonc *doc, const struct adding *a, struct cs_buf *out,
                       struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf json = {0};
    CS_AUTO_JSON struct cs_json section = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&json);
    cs_json_open(&w, '{');
    cs_json_key_str(&w, a->name);
    cs_json_put_raw(&w, cs_json_raw(a->entry));
    cs_json_close(&w, '}');
    if (cs_json_parse(cs_buf_str(&json), NULL, &section, err) < 0)
        return -1;
    cs_jsonc_add(doc, cs_json_root(&doc->doc), cs_str(a->section), cs_json_root(&section), out);
    return 0;
}

static int make_add(void *ctx, const struct cs_jsonc *doc, struct cs_buf *out, struct cs_err *err)
{
    const struct adding *a = ctx;
    struct found f = {0};
    if (!doc) {
        cs_jsonc_new(cs_str(a->section), a->name, a->entry, out);
        return 0;
    }
    if (cs_places_find(cs_json_root(&doc->doc), &f.places, err) < 0)
        return -1;
    if (cs_places_get(&f.places, a->name, &f.place, &f.key, &f.entry)) {
        if (!a->replace)
            return cs_fail(err, CS_INVALID, "there is a server '%.*s' already",
                           CS_STR_ARG(a->name));
        cs_jsonc_set(doc, f.places.at[f.place], f.key, f.entry, a->entry, out);
        return 0;
    }
    if (!f.places.top)
        return put_section(doc, a, out, err);
    cs_jsonc_add(doc, f.places.at[0], a->name, a->entry, out);
    return 0;
}

int cs_config_add(const char *path, struct cs_str name, struct cs_str entry, bool replace_it,
                  struct cs_err *err)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (!cs_server_name_ok(name))
        return cs_fail(err, CS_INVALID,
                       "'%.*s' cannot be a server's name: letters, digits, '.', '_' and '-', at "
                       "most 64, and none that programs have already",
                       CS_STR_ARG(name));
    if (cs_json_parse(entry, NULL, &doc, err) < 0)
        return -1;
    struct adding a = {section_of(path), name, cs_json_root(&doc), replace_it};
    return change(path, make_add, &a, err);
}

/* --- remove, enable --- */

static int make_remove(void *ctx, const struct cs_jsonc *doc, struct cs_buf *out,
                       struct cs_err *err)
{
    struct found f;
    if (find(doc, *(struct cs_str *)ctx, &f, err) < 0)
        return -1;
    cs_jsonc_remove(doc, f.object, f.key, out);
    return 0;
}

int cs_config_remove(const char *path, struct cs_str name, struct cs_err *err)
{
    return change(path, make_remove, &name, err);
}

struct enabling {
    struct cs_str name;
    bool enabled, changed;
};

/* The last member of that name. */
static bool member(struct cs_json_val object, const char *name, struct cs_json_val *key,
                   struct cs_json_val *item)
{
    struct cs_json_iter it = {0};
    struct cs_json_val k, v;
    bool found = false;
    while (cs_json_next(object, &it, &k, &v)) {
        if (cs_json_is(k, name)) {
            *key = k;
            *item = v;
            found = true;
        }
    }
    return found;
}

/* Sets one of the two words where it stands with the other meaning; false: nothing is to be done.
 */
static bool toggle(const struct cs_jsonc *doc, struct cs_json_val entry, const char *word,
                   bool wanted, struct cs_buf *out)
{
    struct cs_json_val key, item;
    CS_AUTO_JSON struct cs_json value = {0};
    bool is;
    if (!member(entry, word, &key, &item) || (cs_json_bool(item, &is) && is == wanted))
        return false;
    if (cs_json_parse(wanted ? CS_STR("true") : CS_STR("false"), NULL, &value, NULL) < 0)
        return false;
    cs_jsonc_set(doc, entry, key, item, cs_json_root(&value), out);
    return true;
}

/* Both words may be there, so this makes one change at a time and is asked until there is none. */
static int enable_step(const struct enabling *e, const struct cs_jsonc *doc, struct cs_buf *out,
                       struct cs_err *err)
{
    struct found f;
    struct cs_json_val key, item;
    if (find(doc, e->name, &f, err) < 0)
        return -1;
    if (cs_json_type(f.entry) != CS_JSON_OBJECT)
        return cs_fail(err, CS_INVALID, "the entry of '%.*s' is not an object",
                       CS_STR_ARG(e->name));
    if (toggle(doc, f.entry, "enabled", e->enabled, out) ||
        toggle(doc, f.entry, "disabled", !e->enabled, out))
        return 0;
    bool known =
        member(f.entry, "enabled", &key, &item) || member(f.entry, "disabled", &key, &item);
    if (known || e->enabled)
        return 1;
    CS_AUTO_JSON struct cs_json no = {0};
    if (cs_json_parse(CS_STR("false"), NULL, &no, err) < 0)
        return -1;
    cs_jsonc_add(doc, f.entry, CS_STR("enabled"), cs_json_root(&no), out);
    return 0;
}

static int make_enable(void *ctx, const struct cs_jsonc *doc, struct cs_buf *out,
                       struct cs_err *err)
{
    struct enabling *e = ctx;
    e->changed = false;
    int step = enable_step(e, doc, out, err);
    while (step == 0) {
        e->changed = true;
        CS_AUTO_JSONC struct cs_jsonc again = {0};
        CS_AUTO_BUF struct cs_buf next = {0};
        if (cs_jsonc_parse(cs_buf_str(out), &again, err) < 0)
            return -1;
        step = enable_step(e, &again, &next, err);
        if (step == 0) {
            cs_buf_clear(out);
            cs_buf_putstr(out, cs_buf_str(&next));
        }
    }
    if (step < 0)
        return -1;
    return e->changed ? 0 : 1;
}

int cs_config_enable(const char *path, struct cs_str name, bool enabled, bool *changed,
                     struct cs_err *err)
{
    struct enabling e = {name, enabled, false};
    if (change(path, make_enable, &e, err) < 0)
        return -1;
    *changed = e.changed;
    return 0;
}

/* --- import --- */

struct importing {
    const char *section;
    const struct cs_places *from;
    struct cs_buf *said;
};

/* A name that we can have, made from one that others can have. */
static void tame(struct cs_str name, char to[65])
{
    size_t n = 0;
    for (size_t i = 0; i < name.len && n < 57; i++) {
        char c = name.at[i], lower = (char)(c | 0x20);
        bool fine =
            (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_' || (n && c == '.');
        if (fine)
            to[n++] = c;
        else if (n && to[n - 1] != '-')
            to[n++] = '-';
    }
    while (n && to[n - 1] == '-')
        n--;
    snprintf(to + n, 65 - n, "%s", n ? "" : "server");
    if (!cs_server_name_ok(cs_str(to)))
        snprintf(to + n, 65 - n, "-server");
}

static bool entry_is_self(struct cs_json_val entry, struct cs_arena *arena)
{
    struct cs_json_val command = cs_json_get(entry, "command"), first = {0};
    struct cs_json_iter it = {0};
    if (cs_json_type(command) != CS_JSON_STRING)
        return false;
    const char *args[2] = {NULL, NULL};
    if (cs_json_next(cs_json_get(entry, "args"), &it, NULL, &first))
        args[0] = cs_arena_dup(arena, cs_json_str(first, arena)).at;
    return cs_is_self(cs_arena_dup(arena, cs_json_str(command, arena)).at, args);
}

static void say_notes(struct cs_buf *said, struct cs_json_val entry)
{
    struct cs_str raw = cs_json_raw(entry);
    if (memmem(raw.at, raw.len, "${input:", 8))
        cs_buf_puts(said, "; it has ${input:...} in it, which only VS Code can ask for: write "
                          "${env:NAME} in its place");
    if (memmem(raw.at, raw.len, "${workspaceFolder", 17))
        cs_buf_puts(said, "; ${workspaceFolder} in it is now the folder you are in");
}

/* Adds one; 1: it was left out. */
static int import_one(const struct importing *im, struct cs_json_val key, struct cs_json_val entry,
                      const struct cs_jsonc *doc, struct cs_buf *out, struct cs_err *err)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str name = cs_json_str(key, &arena);
    char tamed[65];
    cs_buf_printf(im->said, "%.*s: ", CS_STR_ARG(name));
    if (cs_json_type(entry) != CS_JSON_OBJECT) {
        cs_buf_puts(im->said, "left out, it is not an object\n");
        return 1;
    }
    if (entry_is_self(entry, &arena)) {
        cs_buf_puts(im->said, "left out, it is Caisson itself\n");
        return 1;
    }
    bool renamed = !cs_server_name_ok(name);
    if (renamed)
        tame(name, tamed);
    struct adding a = {im->section, renamed ? cs_str(tamed) : name, entry, false};
    struct cs_err why = {0};
    if (make_add(&a, doc, out, &why) < 0) {
        if (why.code != CS_INVALID)
            return cs_fail(err, why.code, "%s", why.msg);
        cs_buf_printf(im->said, "left as it is, %s\n", why.msg);
        return 1;
    }
    cs_buf_puts(im->said, "added");
    if (renamed)
        cs_buf_printf(im->said, " as '%s'", tamed);
    say_notes(im->said, entry);
    cs_buf_putc(im->said, '\n');
    return 0;
}

static int make_import(void *ctx, const struct cs_jsonc *doc, struct cs_buf *out,
                       struct cs_err *err)
{
    const struct importing *im = ctx;
    CS_AUTO_BUF struct cs_buf text = {0};
    bool any = false;
    cs_buf_clear(im->said);
    for (size_t i = 0; i < im->from->count; i++) {
        struct cs_json_iter it = {0};
        struct cs_json_val key, entry;
        while (cs_json_next(im->from->at[i], &it, &key, &entry)) {
            CS_AUTO_JSONC struct cs_jsonc now = {0};
            if (any && cs_jsonc_parse(cs_buf_str(&text), &now, err) < 0)
                return -1;
            cs_buf_clear(out);
            int left = import_one(im, key, entry, any ? &now : doc, out, err);
            if (left < 0)
                return -1;
            if (left)
                continue;
            any = true;
            cs_buf_clear(&text);
            cs_buf_putstr(&text, cs_buf_str(out));
        }
    }
    cs_buf_clear(out);
    cs_buf_putstr(out, cs_buf_str(&text));
    return any ? 0 : 1;
}

int cs_config_import(const char *path, const char *from, struct cs_buf *said, struct cs_err *err)
{
    CS_AUTO_BUF struct cs_buf bytes = {0}, lines = {0};
    CS_AUTO_JSONC struct cs_jsonc doc = {0};
    struct cs_places places;
    if (cs_file_read(from, CS_CONFIG_BYTES, &bytes, err) < 0)
        return -1;
    if (cs_jsonc_parse(cs_buf_str(&bytes), &doc, err) < 0 ||
        cs_places_find(cs_json_root(&doc.doc), &places, err) < 0)
        return cs_wrap(err, "%s", from);
    if (!places.count)
        return cs_fail(err, CS_INVALID, "%s has neither 'mcpServers' nor 'servers' in it", from);
    struct importing im = {section_of(path), &places, &lines};
    if (change(path, make_import, &im, err) < 0)
        return -1;
    cs_buf_putstr(said, cs_buf_str(&lines));
    if (places.elsewhere)
        cs_buf_printf(said, "%zu more belong to other folders; import it there to have those\n",
                      places.elsewhere);
    return 0;
}
