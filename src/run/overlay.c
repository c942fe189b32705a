/*
 * Files that a changed program writes while it is replayed. They are kept in memory, beside the
 * recorded world: what it reads is what it wrote, else what was recorded, else not there.
 */
#include "base/json.h"
#include "base/mem.h"
#include "run/journal.h"

#define FILES_MOST 10000
#define BYTES_MOST (64u << 20)

struct file {
    struct file *next;
    char *path;
    bool is_directory;
    bool is_new; /* nothing like it was recorded */
    struct cs_buf content;
};

struct cs_overlay {
    struct file *files;
    size_t count, bytes;
};

void cs_overlay_free(struct cs_overlay *o)
{
    if (!o)
        return;
    while (o->files) {
        struct file *f = o->files;
        o->files = f->next;
        cs_buf_done(&f->content);
        free(f->path);
        free(f);
    }
    free(o);
}

/* "/workspace/a/" and "./a" are "a". */
static struct cs_str plain(struct cs_str path)
{
    static const char *const heads[] = {"/workspace/", "./"};
    for (size_t i = 0; i < CS_COUNT(heads); i++)
        if (cs_str_starts(path, heads[i])) {
            path.at += strlen(heads[i]);
            path.len -= strlen(heads[i]);
        }
    if (cs_str_is(path, "/workspace") || cs_str_is(path, "."))
        path.len = 0;
    while (path.len && path.at[path.len - 1] == '/')
        path.len--;
    return path;
}

static struct file **find(struct cs_overlay *o, struct cs_str path)
{
    struct file **at = &o->files;
    while (*at && !cs_str_is(path, (*at)->path))
        at = &(*at)->next;
    return at;
}

static struct file *make(struct cs_overlay *o, struct cs_str path)
{
    struct file **at = find(o, path);
    if (*at || o->count >= FILES_MOST)
        return *at;
    *at = CS_NEW(struct file);
    (*at)->path = cs_strndup(path.at ? path.at : "", path.len);
    o->count++;
    return *at;
}

static void drop(struct cs_overlay *o, struct file **at)
{
    struct file *f = *at;
    *at = f->next;
    o->count--;
    o->bytes -= f->content.len;
    cs_buf_done(&f->content);
    free(f->path);
    free(f);
}

static enum cs_answer put(struct cs_overlay *o, struct cs_str path, struct cs_str data, bool append,
                          bool known)
{
    struct file *f = o->bytes + data.len > BYTES_MOST ? NULL : make(o, path);
    if (!f)
        return CS_ANSWER_LIMIT;
    if (!append) {
        o->bytes -= f->content.len;
        cs_buf_clear(&f->content);
    }
    cs_buf_putstr(&f->content, data);
    o->bytes += data.len;
    f->is_new = f->is_new || !known;
    return CS_ANSWER_OK;
}

static enum cs_answer list(const struct cs_overlay *o, struct cs_str dir, struct cs_buf *payload)
{
    struct cs_json_writer w = CS_JSON_WRITER(payload);
    bool there = dir.len == 0;
    cs_json_open(&w, '[');
    for (const struct file *f = o->files; f; f = f->next) {
        struct cs_str path = cs_str(f->path);
        there = there || (f->is_directory && cs_str_eq(path, dir));
        bool below = path.len > dir.len && memcmp(path.at, dir.at ? dir.at : "", dir.len) == 0 &&
                     (!dir.len || path.at[dir.len] == '/');
        size_t skip = dir.len ? dir.len + 1 : 0;
        if (!below || memchr(path.at + skip, '/', path.len - skip))
            continue;
        there = true;
        cs_json_open(&w, '{');
        cs_json_key(&w, "name");
        cs_json_put_str(&w, cs_strn(path.at + skip, path.len - skip));
        cs_json_key(&w, "type");
        cs_json_put_z(&w, f->is_directory ? "directory" : "file");
        cs_json_close(&w, '}');
    }
    cs_json_close(&w, ']');
    return there ? CS_ANSWER_OK : CS_ANSWER_MISSING;
}

static void put_stat(const struct file *f, int64_t time_us, struct cs_buf *payload)
{
    struct cs_json_writer w = CS_JSON_WRITER(payload);
    cs_json_open(&w, '{');
    cs_json_key(&w, "type");
    cs_json_put_z(&w, f->is_directory ? "directory" : "file");
    cs_json_key(&w, "size");
    cs_json_put_u64(&w, f->content.len);
    cs_json_key(&w, "mtimeMs");
    cs_json_put_i64(&w, time_us / 1000);
    cs_json_close(&w, '}');
}

static enum cs_answer copy(struct cs_overlay *o, const struct cs_wish *wish, struct file **from)
{
    if (!*from || (*from)->is_directory)
        return CS_ANSWER_MISSING;
    CS_AUTO_BUF struct cs_buf content = {0};
    cs_buf_putstr(&content, cs_buf_str(&(*from)->content));
    enum cs_answer answer = put(o, plain(wish->data), cs_buf_str(&content), false, false);
    if (answer == CS_ANSWER_OK && wish->op == CS_FILE_RENAME) {
        struct file **at = find(o, plain(wish->path));
        if (*at)
            drop(o, at);
    }
    return answer;
}

static enum cs_answer remove_file(struct cs_overlay *o, const struct cs_wish *wish,
                                  struct file **at)
{
    if (!*at)
        return wish->flags & 2 ? CS_ANSWER_OK : CS_ANSWER_MISSING;
    drop(o, at);
    return CS_ANSWER_OK;
}

/* What nothing was recorded for. */
static enum cs_answer act(struct cs_overlay *o, const struct cs_wish *wish, int64_t time_us,
                          struct cs_buf *payload)
{
    struct cs_str path = plain(wish->path);
    struct file **at = find(o, path), *f = *at;
    switch (wish->op) {
    case CS_FILE_WRITE:
    case CS_FILE_APPEND:
        return put(o, path, wish->data, wish->op == CS_FILE_APPEND, false);
    case CS_FILE_READ:
        if (f && !f->is_directory)
            cs_buf_putstr(payload, cs_buf_str(&f->content));
        return f && !f->is_directory ? CS_ANSWER_OK : CS_ANSWER_MISSING;
    case CS_FILE_STAT:
        if (f)
            put_stat(f, time_us, payload);
        return f ? CS_ANSWER_OK : CS_ANSWER_MISSING;
    case CS_FILE_LIST:
        return list(o, path, payload);
    case CS_FILE_MKDIR:
        f = make(o, path);
        if (f)
            f->is_directory = f->is_new = true;
        return f ? CS_ANSWER_OK : CS_ANSWER_LIMIT;
    case CS_FILE_REMOVE:
        return remove_file(o, wish, at);
    case CS_FILE_RENAME:
    case CS_FILE_COPY:
        return copy(o, wish, at);
    }
    return CS_ANSWER_FAILED;
}

bool cs_overlay_answer(struct cs_overlay **overlay, const struct cs_wish *wish, bool known,
                       int64_t time_us, enum cs_answer *answer, struct cs_buf *payload)
{
    if (!*overlay)
        *overlay = CS_NEW(struct cs_overlay);
    struct cs_overlay *o = *overlay;
    if (!known) {
        *answer = act(o, wish, time_us, payload);
        if (*answer != CS_ANSWER_OK) {
            cs_buf_clear(payload);
            cs_buf_printf(payload, "the recorded world has no '%.*s'",
                          (int)(wish->path.len < 200 ? wish->path.len : 200), wish->path.at);
        }
        return true;
    }
    /* It goes as it went, but a file with new content has that. */
    if (wish->op == CS_FILE_WRITE)
        put(o, plain(wish->path), wish->data, false, true);
    struct file *f = *find(o, plain(wish->path));
    if (!f || !f->is_new || (wish->op != CS_FILE_READ && wish->op != CS_FILE_STAT))
        return false;
    *answer = act(o, wish, time_us, payload);
    return true;
}
