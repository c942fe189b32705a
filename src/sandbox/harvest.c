#include "sandbox/harvest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/utf8.h"
#include "sandbox/folder.h"

#define OUT           "out"
#define ENTRIES_MOST  20000 /* of one directory; more than the scratch can have */
#define NAME_IN_NOTES 80

struct walk {
    struct cs_harvest *found;
    int dir; /* where they go to; -1: not made yet */
    bool move;
    uint64_t bytes_left;
    char path[CS_HARVEST_NAME + 1]; /* below out, of what is looked at */
    size_t path_len;
};

static int open_dir(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* --- what is left out --- */

static void leave_out(struct walk *w, const char *name, const char *why)
{
    struct cs_harvest *h = w->found;
    h->left_out++;
    if (h->note_count == CS_HARVEST_NOTES)
        return;
    CS_AUTO_BUF struct cs_buf note = {0};
    struct cs_str shown = cs_utf8_cut(cs_str(name), NAME_IN_NOTES);
    cs_buf_puts(&note, "'");
    for (size_t i = 0; i < shown.len; i++)
        cs_buf_putc(&note,
                    (unsigned char)shown.at[i] < 0x20 || shown.at[i] == 0x7F ? '?' : shown.at[i]);
    cs_buf_printf(&note, "' %s", why);
    h->notes[h->note_count++] = cs_strdup(cs_buf_cstr(&note));
}

/* UTF-8 without control characters, those after 0x7F included. */
static bool plain(const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < n;) {
        int len = cs_utf8_len(name + i, n - i);
        unsigned char c = (unsigned char)name[i], next = len > 1 ? (unsigned char)name[i + 1] : 0;
        if (len < 0 || c < 0x20 || c == 0x7F || (c == 0xC2 && next < 0xA0))
            return false;
        i += (size_t)len;
    }
    return true;
}

/* --- one file --- */

static int make_dir(struct walk *w)
{
    if (w->dir < 0 && mkdir(w->found->dir, 0700) == 0)
        w->dir = open_dir(AT_FDCWD, w->found->dir);
    return w->dir < 0 ? -1 : 0;
}

static int copy_file(struct walk *w, int in, const char *as, uint64_t size)
{
    CS_AUTO_FD int out = openat(w->dir, as, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out < 0)
        return -1;
    if (cs_folder_copy_bytes(in, out, size) == 0)
        return 0;
    unlinkat(w->dir, as, 0);
    return -1;
}

static int take(struct walk *w, int at, const char *name, int in, uint64_t size)
{
    char as[16];
    snprintf(as, sizeof as, "%u", w->found->count);
    if (make_dir(w) < 0)
        return -1;
    return w->move ? renameat(at, name, w->dir, as) : copy_file(w, in, as, size);
}

/* Whoever made it is dead: what it is now it stays. */
static void take_file(struct walk *w, int at, int before, const char *name)
{
    struct cs_harvest *h = w->found;
    struct stat st;
    CS_AUTO_FD int in = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (in < 0 || fstat(in, &st) < 0) {
        leave_out(w, w->path, "cannot be read");
        return;
    }
    if (before >= 0 && cs_folder_same_file(before, name, &st))
        return;
    uint64_t size = (uint64_t)st.st_size;
    char why[80];
    if (!S_ISREG(st.st_mode) || st.st_nlink != 1) {
        leave_out(w, w->path, "is no file of its own");
    } else if (h->count == CS_HARVEST_FILES) {
        snprintf(why, sizeof why, "is one more than %d files", CS_HARVEST_FILES);
        leave_out(w, w->path, why);
    } else if (size > CS_HARVEST_BYTES) {
        snprintf(why, sizeof why, "has more than %u bytes", CS_HARVEST_BYTES);
        leave_out(w, w->path, why);
    } else if (size > w->bytes_left) {
        leave_out(w, w->path, "is more than all files together may be");
    } else if (take(w, at, name, in, size) < 0) {
        snprintf(why, sizeof why, "cannot be kept: %s", strerror(errno));
        leave_out(w, w->path, why);
    } else {
        h->files[h->count].name = cs_str(cs_strdup(w->path));
        h->files[h->count++].size = size;
        w->bytes_left -= size;
    }
}

/* --- one directory --- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In their order, so that what is left out does not depend on the file system. */
static size_t list(int fd, char ***names)
{
    size_t count = 0, cap = 0;
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again < 0 ? NULL : fdopendir(again);
    *names = NULL;
    if (!d && again >= 0)
        close(again);
    for (struct dirent *e; d && count < ENTRIES_MOST && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (count == cap)
            *names = cs_realloc(*names, cap = cap ? cap * 2 : 16, sizeof **names);
        (*names)[count++] = cs_strdup(e->d_name);
    }
    if (d)
        closedir(d);
    if (count)
        qsort(*names, count, sizeof **names, by_name);
    return count;
}

static void walk(struct walk *w, int at, int before, unsigned depth);

static void look_at(struct walk *w, int at, int before, const char *name, unsigned depth)
{
    struct stat st;
    size_t len = strlen(name), was = w->path_len;
    if (!plain(name)) {
        leave_out(w, name, "has a name that is not plain text");
        return;
    }
    if (was + len + 1 > CS_HARVEST_NAME) {
        leave_out(w, name, "has a path that is too long");
        return;
    }
    w->path_len +=
        (size_t)snprintf(w->path + was, sizeof w->path - was, "%s%s", was ? "/" : "", name);
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        leave_out(w, w->path, "cannot be read");
    } else if (S_ISDIR(st.st_mode) && depth < CS_HARVEST_DEPTH) {
        CS_AUTO_FD int inner = open_dir(at, name), old = before < 0 ? -1 : open_dir(before, name);
        if (inner < 0)
            leave_out(w, w->path, "cannot be read");
        else
            walk(w, inner, old, depth + 1);
    } else if (S_ISREG(st.st_mode)) {
        take_file(w, at, before, name);
    } else {
        leave_out(w, w->path, S_ISDIR(st.st_mode) ? "is nested too deep" : "is no file");
    }
    w->path_len = was;
    w->path[was] = '\0';
}

static void walk(struct walk *w, int at, int before, unsigned depth)
{
    char **names;
    size_t count = list(at, &names);
    for (size_t i = 0; i < count; i++) {
        look_at(w, at, before, names[i], depth);
        free(names[i]);
    }
    free(names);
}

struct cs_harvest *cs_harvest(int workspace, const char *before, const char *dir, bool move,
                              uint64_t bytes_max)
{
    CS_AUTO_FD int out = workspace < 0 ? -1 : open_dir(workspace, OUT);
    if (out < 0)
        return NULL;
    CS_AUTO_FD int top = before ? open_dir(AT_FDCWD, before) : -1;
    CS_AUTO_FD int old = top < 0 ? -1 : open_dir(top, OUT);
    struct cs_harvest *h = CS_NEW(struct cs_harvest);
    struct walk w = {.found = h, .dir = -1, .move = move, .bytes_left = bytes_max};
    h->dir = cs_strdup(dir);
    walk(&w, out, old, 0);
    cs_closep(&w.dir);
    if (h->count || h->left_out)
        return h;
    cs_harvest_free(h);
    return NULL;
}

int cs_harvest_open(const struct cs_harvest *h, uint32_t i)
{
    char as[16];
    CS_AUTO_FD int dir = open_dir(AT_FDCWD, h->dir);
    snprintf(as, sizeof as, "%u", i);
    return dir < 0 ? -1 : openat(dir, as, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

void cs_harvest_free(struct cs_harvest *h)
{
    if (!h)
        return;
    if (h->count)
        cs_folder_remove(AT_FDCWD, h->dir);
    for (uint32_t i = 0; i < h->count; i++)
        free((char *)h->files[i].name.at);
    for (uint32_t i = 0; i < h->note_count; i++)
        free(h->notes[i]);
    free(h->dir);
    free(h);
}
