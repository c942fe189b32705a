/*
 * The lineage of an artifact as a graph, in JSON or for Graphviz. Edges go the way that the data
 * went: from what was read to the execution, from there to what it made.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/time.h"
#include "base/utf8.h"
#include "run/run.h"

#define LABEL_BYTES 80

static bool is_zero(const unsigned char hash[32])
{
    static const unsigned char none[32];
    return memcmp(hash, none, sizeof none) == 0;
}

static bool is_kind(const struct cs_lineage_source *s, const char *kind)
{
    return cs_str_is(s->source.kind, kind);
}

static bool has_artifact(const struct cs_lineage_found *f, struct cs_str id)
{
    for (size_t i = 0; i < f->artifact_count; i++)
        if (cs_str_eq(f->artifacts[i].id, id))
            return true;
    return false;
}

static bool has_execution(const struct cs_lineage_found *f, struct cs_str id)
{
    for (size_t i = 0; i < f->execution_count; i++)
        if (cs_str_eq(f->executions[i].id, id))
            return true;
    return false;
}

/* Artifacts and sessions are the same ones for all who read them; inputs and calls are an
 * execution's own. */
static void name_of(const struct cs_lineage_found *f, const struct cs_lineage_source *s,
                    struct cs_buf *name)
{
    if (!is_kind(s, "artifact") && !is_kind(s, "session")) {
        cs_buf_putstr(name, f->executions[s->execution].id);
        cs_buf_putc(name, '/');
    }
    cs_buf_putstr(name, s->source.name);
}

/* Is it a node that was not shown before? */
static bool is_first(const struct cs_lineage_found *f, size_t at)
{
    const struct cs_lineage_source *s = &f->sources[at];
    if (!is_kind(s, "artifact") && !is_kind(s, "session"))
        return true;
    if (is_kind(s, "artifact") && has_artifact(f, s->source.name))
        return false;
    for (size_t i = 0; i < at; i++)
        if (cs_str_eq(f->sources[i].source.name, s->source.name) &&
            cs_str_eq(f->sources[i].source.kind, s->source.kind))
            return false;
    return true;
}

/* --- JSON --- */

static void member(struct cs_json_writer *w, const char *key, struct cs_str text)
{
    if (!text.len)
        return;
    cs_json_key(w, key);
    cs_json_put_str(w, text);
}

static void put_hash(struct cs_json_writer *w, const char *key, const unsigned char hash[32])
{
    char hex[65];
    if (is_zero(hash))
        return;
    cs_hex(hash, 32, hex);
    member(w, key, cs_str(hex));
}

static void put_time(struct cs_json_writer *w, const char *key, int64_t ms)
{
    char text[CS_TIME_TEXT];
    if (*cs_time_text_ms(ms, text))
        member(w, key, cs_str(text));
}

static void node_json(struct cs_json_writer *w, struct cs_str id, const char *type)
{
    cs_json_open(w, '{');
    member(w, "id", id);
    member(w, "type", cs_str(type));
}

static void artifact_json(struct cs_json_writer *w, const struct cs_artifact_row *a)
{
    node_json(w, a->id, "artifact");
    member(w, "name", a->name);
    member(w, "kind", a->kind);
    member(w, "media_type", a->media_type);
    cs_json_key(w, "size");
    cs_json_put_u64(w, a->size);
    put_hash(w, "sha256", a->hash);
    put_time(w, "created_at", a->created);
    if (a->gone) {
        cs_json_key(w, "removed");
        cs_json_put_bool(w, true);
    }
    cs_json_close(w, '}');
}

static void execution_json(struct cs_json_writer *w, const struct cs_execution_row *e)
{
    node_json(w, e->id, "execution");
    member(w, "status", e->status);
    member(w, "language", e->language);
    member(w, "principal", e->principal);
    put_time(w, "created_at", e->created);
    put_time(w, "finished_at", e->finished);
    if (!e->created) {
        cs_json_key(w, "removed");
        cs_json_put_bool(w, true);
    }
    cs_json_close(w, '}');
}

static void source_json(struct cs_json_writer *w, const struct cs_lineage_found *f,
                        const struct cs_lineage_source *s)
{
    CS_AUTO_BUF struct cs_buf name = {0};
    name_of(f, s, &name);
    cs_json_open(w, '{');
    member(w, "id", cs_buf_str(&name));
    member(w, "type", s->source.kind);
    member(w, "name", s->source.name);
    if (is_kind(s, "call")) {
        put_hash(w, "arguments_sha256", s->source.arguments);
        put_hash(w, "result_sha256", s->source.hash);
    } else {
        put_hash(w, "sha256", s->source.hash);
    }
    cs_json_close(w, '}');
}

static void edge_json(struct cs_json_writer *w, struct cs_str from, struct cs_str to,
                      const char *relation)
{
    cs_json_open(w, '{');
    member(w, "from", from);
    member(w, "to", to);
    member(w, "relation", cs_str(relation));
    cs_json_close(w, '}');
}

static void edges_json(struct cs_json_writer *w, const struct cs_lineage_found *f)
{
    for (size_t i = 0; i < f->source_count; i++) {
        CS_AUTO_BUF struct cs_buf name = {0};
        name_of(f, &f->sources[i], &name);
        edge_json(w, cs_buf_str(&name), f->executions[f->sources[i].execution].id, "read");
    }
    for (size_t i = 0; i < f->artifact_count; i++)
        if (has_execution(f, f->artifacts[i].execution))
            edge_json(w, f->artifacts[i].execution, f->artifacts[i].id, "made");
}

void cs_lineage_json(const struct cs_lineage_found *f, struct cs_buf *out)
{
    struct cs_json_writer w = CS_JSON_WRITER(out);
    cs_json_open(&w, '{');
    member(&w, "artifact_id", f->artifacts[0].id);
    cs_json_key(&w, "complete");
    cs_json_put_bool(&w, !f->cut);
    cs_json_key(&w, "nodes");
    cs_json_open(&w, '[');
    for (size_t i = 0; i < f->artifact_count; i++)
        artifact_json(&w, &f->artifacts[i]);
    for (size_t i = 0; i < f->execution_count; i++)
        execution_json(&w, &f->executions[i]);
    for (size_t i = 0; i < f->source_count; i++)
        if (is_first(f, i))
            source_json(&w, f, &f->sources[i]);
    cs_json_close(&w, ']');
    cs_json_key(&w, "edges");
    cs_json_open(&w, '[');
    edges_json(&w, f);
    cs_json_close(&w, ']');
    cs_json_close(&w, '}');
}

/* --- DOT --- */

/* A quoted string: all that has a meaning in one is escaped, and what cannot be seen is gone.
 * Names are a program's. */
static void put_quoted(struct cs_buf *out, struct cs_str text)
{
    for (size_t i = 0; i < text.len;) {
        int n = cs_utf8_len(text.at + i, text.len - i);
        unsigned char c = (unsigned char)text.at[i];
        if (n < 0 || c < 0x20 || c == 0x7F) {
            cs_buf_putc(out, '?');
            i += n < 0 ? (size_t)-n : 1;
            continue;
        }
        if (c == '"' || c == '\\')
            cs_buf_putc(out, '\\');
        cs_buf_put(out, text.at + i, (size_t)n);
        i += (size_t)n;
    }
}

static void node_dot(struct cs_buf *out, struct cs_str id, const char *shape, struct cs_str first,
                     struct cs_str second, bool gone)
{
    cs_buf_puts(out, "  \"");
    put_quoted(out, id);
    cs_buf_printf(out, "\" [shape=%s%s, label=\"", shape, gone ? ", style=dashed" : "");
    put_quoted(out, cs_utf8_cut(first, LABEL_BYTES));
    if (second.len) {
        cs_buf_puts(out, "\\n");
        put_quoted(out, cs_utf8_cut(second, LABEL_BYTES));
    }
    cs_buf_puts(out, "\"];\n");
}

static void edge_dot(struct cs_buf *out, struct cs_str from, struct cs_str to)
{
    cs_buf_puts(out, "  \"");
    put_quoted(out, from);
    cs_buf_puts(out, "\" -> \"");
    put_quoted(out, to);
    cs_buf_puts(out, "\";\n");
}

static void source_dot(struct cs_buf *out, const struct cs_lineage_found *f,
                       const struct cs_lineage_source *s)
{
    CS_AUTO_BUF struct cs_buf name = {0}, hash = {0};
    const char *shape = is_kind(s, "call")      ? "cds"
                        : is_kind(s, "input")   ? "parallelogram"
                        : is_kind(s, "session") ? "folder"
                                                : "note";
    name_of(f, s, &name);
    if (!is_zero(s->source.hash))
        cs_hex_put(&hash, s->source.hash, 6);
    node_dot(out, cs_buf_str(&name), shape, s->source.name, cs_buf_str(&hash), false);
}

void cs_lineage_dot(const struct cs_lineage_found *f, struct cs_buf *out)
{
    cs_buf_puts(out, "digraph lineage {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n");
    for (size_t i = 0; i < f->artifact_count; i++) {
        const struct cs_artifact_row *a = &f->artifacts[i];
        node_dot(out, a->id, i ? "note" : "note, penwidth=2", a->name, a->id, a->gone);
    }
    for (size_t i = 0; i < f->execution_count; i++) {
        const struct cs_execution_row *e = &f->executions[i];
        node_dot(out, e->id, "box", e->id, e->status, !e->created);
    }
    for (size_t i = 0; i < f->source_count; i++)
        if (is_first(f, i))
            source_dot(out, f, &f->sources[i]);
    for (size_t i = 0; i < f->source_count; i++) {
        CS_AUTO_BUF struct cs_buf name = {0};
        name_of(f, &f->sources[i], &name);
        edge_dot(out, cs_buf_str(&name), f->executions[f->sources[i].execution].id);
    }
    for (size_t i = 0; i < f->artifact_count; i++)
        if (has_execution(f, f->artifacts[i].execution))
            edge_dot(out, f->artifacts[i].execution, f->artifacts[i].id);
    cs_buf_puts(out, f->cut ? "  /* there is more */\n}\n" : "}\n");
}
