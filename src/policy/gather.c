/* What the worker says about a program, unchecked, becomes a case. */
#include <ctype.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "policy/risk.h"
#include "privacy/privacy.h"

#define GUEST_TEXTS  4000u
#define JOINED_BYTES 4000u

static const char *const kind_names[] = {
#define X(id, word) word,
    CS_FACTS(X)
#undef X
};

static int kind_of(struct cs_json_val v)
{
    for (int i = 0; i < CS_FACT_COUNT; i++)
        if (cs_json_is(v, kind_names[i]))
            return i;
    return -1;
}

static uint32_t number(struct cs_json_val v)
{
    int64_t n = 0;
    return cs_json_i64(v, &n) && n > 0 && n <= INT32_MAX ? (uint32_t)n : 0;
}

/* --- reading --- */

static int read_fact(struct cs_case *k, struct cs_json_val from, struct cs_fact_seen *f)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    int kind = -1;
    bool named = false;
    while (cs_json_next(from, &it, &key, &item)) {
        if (cs_json_is(key, "kind")) {
            kind = kind_of(item);
        } else if (cs_json_is(key, "name")) {
            named = cs_json_type(item) == CS_JSON_STRING;
            f->name = cs_arena_dup(k->arena, cs_json_str(item, k->arena));
        } else if (cs_json_is(key, "via")) {
            f->via = cs_arena_dup(k->arena, cs_json_str(item, k->arena));
        } else if (cs_json_is(key, "key")) {
            f->key = cs_arena_dup(k->arena, cs_json_str(item, k->arena));
        } else if (cs_json_is(key, "module")) {
            f->module = cs_arena_dup(k->arena, cs_json_str(item, k->arena));
        } else if (cs_json_is(key, "late")) {
            cs_json_bool(item, &f->late);
        } else if (cs_json_is(key, "line")) {
            f->line = number(item);
        } else if (cs_json_is(key, "column")) {
            f->column = number(item);
        }
    }
    if (kind < 0 || !named)
        return -1;
    f->kind = (enum cs_fact_kind)kind;
    if (cs_str_ends(f->via, "+cut")) {
        f->via.len -= 4;
        f->cut = true;
    }
    return 0;
}

/* Comments on lines that follow each other are read as one too: a sentence goes on in the next
 * line. `all` has room for twice as many. */
static void join_comments(struct cs_case *k, struct cs_fact_seen *all)
{
    uint32_t count = k->fact_count;
    struct cs_fact_seen *open = NULL;
    uint32_t last = 0;
    CS_AUTO_BUF struct cs_buf text = {0};
    for (uint32_t i = 0; i <= count; i++) {
        const struct cs_fact_seen *f = &all[i];
        if (i < count && f->kind != CS_FACT_COMMENT)
            continue;
        bool follows = i < count && open && f->line == last + 1 && !f->cut &&
                       cs_str_eq(f->module, open->module) && text.len < JOINED_BYTES;
        if (open && !follows && last > open->line) {
            struct cs_fact_seen *joined = &all[k->fact_count++];
            *joined = *open;
            joined->via = CS_STR(CS_VIA_JOINED);
            joined->name = cs_arena_dup(k->arena, cs_buf_str(&text));
        }
        if (i == count)
            break;
        if (!follows) {
            open = &all[i];
            cs_buf_clear(&text);
        }
        cs_buf_putstr(&text, f->name);
        cs_buf_putc(&text, '\n');
        last = f->line;
    }
}

/* By kind, and those of one kind in the order of the text. */
static void group(struct cs_case *k, struct cs_fact_seen *from)
{
    uint32_t at[CS_FACT_COUNT] = {0};
    for (uint32_t i = 0; i < k->fact_count; i++)
        k->start[from[i].kind + 1]++;
    for (int kind = 0; kind < CS_FACT_COUNT; kind++) {
        k->start[kind + 1] += k->start[kind];
        at[kind] = k->start[kind];
    }
    k->facts = cs_arena_alloc(k->arena, (k->fact_count + 1) * sizeof *k->facts);
    for (uint32_t i = 0; i < k->fact_count; i++)
        k->facts[at[from[i].kind]++] = from[i];
}

static void take_hash(struct cs_json_val from, struct cs_verdict *v)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_str hex = cs_json_str(from, &arena);
    if (hex.len != sizeof v->modules_hash - 1)
        return;
    for (size_t i = 0; i < hex.len; i++)
        if (!isxdigit((unsigned char)hex.at[i]))
            return;
    memcpy(v->modules_hash, hex.at, hex.len);
}

static uint64_t amount(struct cs_json_val object, const char *key)
{
    int64_t n = 0;
    return cs_json_i64(cs_json_get(object, key), &n) && n > 0 ? (uint64_t)n : 0;
}

static struct cs_str text_of(struct cs_case *k, struct cs_json_val object, const char *key)
{
    return cs_arena_dup(k->arena, cs_json_str(cs_json_get(object, key), k->arena));
}

static void take_imports(struct cs_case *k, struct cs_json_val root, struct cs_verdict *v)
{
    struct cs_json_val files = cs_json_get(root, "files"), lines = cs_json_get(root, "places"), one;
    struct cs_imported *f = cs_arena_alloc(k->arena, (cs_json_count(files) + 1) * sizeof *f);
    struct cs_imported_line *l = cs_arena_alloc(k->arena, (cs_json_count(lines) + 1) * sizeof *l);
    struct cs_json_iter it = {0};
    v->files = f;
    v->lines = l;
    v->files_more = number(cs_json_get(root, "files_more"));
    while (cs_json_next(files, &it, NULL, &one))
        f[v->file_count++] = (struct cs_imported){text_of(k, one, "name"), text_of(k, one, "hash"),
                                                  amount(one, "bytes"), amount(one, "lines")};
    it = (struct cs_json_iter){0};
    while (cs_json_next(lines, &it, NULL, &one))
        l[v->line_count++] = (struct cs_imported_line){
            text_of(k, one, "module"),        text_of(k, one, "text"),
            number(cs_json_get(one, "line")), number(cs_json_get(one, "column")),
            amount(one, "bytes_before"),      amount(one, "bytes_after"),
        };
}

int cs_case_facts(struct cs_case *k, struct cs_str facts, struct cs_verdict *v, struct cs_err *err)
{
    static const struct cs_json_limits bounds = {.bytes = 2 * CS_FACTS_BYTES, .depth = 8};
    CS_AUTO_JSON struct cs_json doc = {0};
    if (cs_json_parse(facts, &bounds, &doc, err) < 0)
        return -1;
    struct cs_json_val root = cs_json_root(&doc), list = cs_json_get(root, "facts"), item;
    if (cs_json_type(list) != CS_JSON_ARRAY)
        return cs_fail(err, CS_INVALID, "there is no list of facts");
    if (cs_json_count(list) > CS_FACTS_MOST)
        return cs_fail(err, CS_LIMIT, "there are more than %d facts", CS_FACTS_MOST);
    struct cs_fact_seen *all =
        cs_arena_alloc(k->arena, (2 * (size_t)cs_json_count(list) + 1) * sizeof *all);
    struct cs_json_iter it = {0};
    while (cs_json_next(list, &it, NULL, &item))
        if (read_fact(k, item, &all[k->fact_count++]) < 0)
            return cs_fail(err, CS_INVALID, "fact %u is none", k->fact_count);
    join_comments(k, all);
    group(k, all);
    int64_t n;
    k->source_bytes = cs_json_i64(cs_json_get(root, "source_bytes"), &n) && n > 0 ? (uint64_t)n : 0;
    k->longest_line = cs_json_i64(cs_json_get(root, "longest_line"), &n) && n > 0 ? (uint64_t)n : 0;
    k->modules = cs_json_i64(cs_json_get(root, "modules"), &n) && n > 0 ? (uint64_t)n : 0;
    take_hash(cs_json_get(root, "modules_hash"), v);
    take_imports(k, root, v);
    bool truncated = false;
    cs_json_bool(cs_json_get(root, "truncated"), &truncated);
    return truncated ? 1 : 0;
}

/* --- a guest: nobody has parsed it, but it can be looked at --- */

/* The first character of a line that is not seen. */
static uint32_t unseen(struct cs_str line, uint32_t *column)
{
    *column = 0;
    for (size_t i = 0; i < line.len;) {
        int len = cs_utf8_len(line.at + i, line.len - i);
        ++*column;
        if (len > 1 && cs_hidden(line, i))
            return cs_utf8_get(line.at + i, len);
        i += (size_t)(len < 0 ? -len : len);
    }
    return 0;
}

static struct cs_str take_lines(struct cs_str *rest, uint32_t count)
{
    const char *start = rest->at;
    for (uint32_t i = 0; i < count && rest->len; i++) {
        const char *end = memchr(rest->at, '\n', rest->len);
        size_t len = end ? (size_t)(end - rest->at) + 1 : rest->len;
        *rest = cs_strn(rest->at + len, rest->len - len);
    }
    size_t len = (size_t)(rest->at - start);
    return cs_strn(start, len && start[len - 1] == '\n' ? len - 1 : len);
}

/* Each line is a text that may hold instructions and secrets; of a long program, several together.
 */
void cs_case_guest(struct cs_case *k)
{
    struct cs_str rest = k->c->source;
    uint32_t lines = 1, line = 1;
    for (size_t i = 0; i < rest.len; i++)
        lines += rest.at[i] == '\n';
    uint32_t together = lines / GUEST_TEXTS + 1, most = lines / together + 1;
    struct cs_fact_seen *all = cs_arena_alloc(k->arena, ((size_t)4 * most + 4) * sizeof *all);
    k->source_bytes = rest.len;
    for (; rest.len && k->fact_count < 2 * most; line += together) {
        struct cs_str text = take_lines(&rest, together);
        if (together == 1 && k->longest_line < text.len)
            k->longest_line = text.len;
        uint32_t column = 0, c = text.len ? unseen(text, &column) : 0;
        if (c)
            all[k->fact_count++] =
                (struct cs_fact_seen){.kind = CS_FACT_INVISIBLE,
                                      .name = cs_str(cs_arena_printf(k->arena, "U+%04X", c)),
                                      .via = CS_STR("code"),
                                      .line = line,
                                      .column = column};
        if (text.len >= 3)
            all[k->fact_count++] = (struct cs_fact_seen){.kind = CS_FACT_COMMENT,
                                                         .name = text,
                                                         .via = CS_STR("guest"),
                                                         .line = line,
                                                         .column = 1};
    }
    join_comments(k, all);
    group(k, all);
}

/* --- tools --- */

static bool same(struct cs_str a, struct cs_str b, struct cs_str name)
{
    return cs_str_eq(name, a) || cs_str_eq(name, b);
}

/* Does "server.tool", "server.*" or "*" mean this one? */
static bool means(struct cs_str name, const struct cs_target *t)
{
    if (cs_str_is(name, "*"))
        return true;
    const char *dot = name.len ? memchr(name.at, '.', name.len) : NULL;
    while (dot) {
        struct cs_str server = cs_strn(name.at, (size_t)(dot - name.at));
        struct cs_str tool = cs_strn(dot + 1, name.len - server.len - 1);
        if (same(t->server, t->server_ident, server) || cs_str_is(server, "*"))
            if (cs_str_is(tool, "*") || same(t->tool, t->ident, tool))
                return true;
        dot = tool.len ? memchr(tool.at, '.', tool.len) : NULL;
    }
    return false;
}

static struct cs_str trimmed(struct cs_str s)
{
    while (s.len && s.at[0] == ' ')
        s = cs_strn(s.at + 1, s.len - 1);
    while (s.len && s.at[s.len - 1] == ' ')
        s.len--;
    return s;
}

/* "crm.find > mail.send" */
static bool ends_of(struct cs_str name, struct cs_str *from, struct cs_str *to)
{
    const char *arrow = name.len ? memchr(name.at, '>', name.len) : NULL;
    if (!arrow)
        return false;
    *from = trimmed(cs_strn(name.at, (size_t)(arrow - name.at)));
    *to = trimmed(cs_strn(arrow + 1, (size_t)(name.at + name.len - arrow - 1)));
    return true;
}

static bool is_meant(const struct cs_case *k, const struct cs_target *t)
{
    struct cs_str from, to;
    for (uint32_t i = k->start[CS_FACT_TOOL]; i < k->start[CS_FACT_TOOL + 1]; i++)
        if (means(k->facts[i].name, t))
            return true;
    for (uint32_t i = k->start[CS_FACT_FLOW]; i < k->start[CS_FACT_FLOW + 1]; i++)
        if (ends_of(k->facts[i].name, &from, &to) && (means(from, t) || means(to, t)))
            return true;
    return false;
}

/* Those that the program means, with what policy says of them. */
static void gather_tools(struct cs_case *k)
{
    const struct cs_circumstances *c = k->c;
    uint32_t cap = 0;
    struct cs_tool_view view;
    if (k->start[CS_FACT_TOOL] == k->start[CS_FACT_TOOL + 1] &&
        k->start[CS_FACT_FLOW] == k->start[CS_FACT_FLOW + 1])
        return;
    for (size_t i = 0; c->tool && c->tool(c->ctx, i, &view); i++) {
        if (!is_meant(k, &view.target))
            continue;
        if (k->tool_count == cap) {
            cap = cap ? 2 * cap : 64;
            struct cs_reached *more = cs_arena_alloc(k->arena, cap * sizeof *more);
            if (k->tool_count)
                memcpy(more, k->tools, k->tool_count * sizeof *more);
            k->tools = more;
        }
        k->tools[k->tool_count++] = (struct cs_reached){
            .tool = view,
            .labels = cs_policy_labels(k->policy, &view, NULL),
            .grant = cs_policy_grant(k->policy, c->principal, &view.target, NULL),
        };
    }
}

static void reach(struct cs_case *k, struct cs_fact_seen *f, bool *reached)
{
    f->tools = cs_arena_alloc(k->arena, (k->tool_count + 1) * sizeof *f->tools);
    for (uint32_t i = 0; i < k->tool_count; i++) {
        if (!means(f->name, &k->tools[i].tool.target))
            continue;
        f->tools[f->tool_count++] = i;
        reached[i] = true;
    }
}

static unsigned labels_of(const struct cs_case *k, struct cs_str name)
{
    unsigned labels = 0;
    for (uint32_t i = 0; i < k->tool_count; i++)
        if (means(name, &k->tools[i].tool.target))
            labels |= k->tools[i].labels;
    return labels;
}

/* Of everything that is reached but this. */
static unsigned labels_besides(const struct cs_case *k, struct cs_str name)
{
    unsigned labels = 0;
    for (uint32_t i = 0; i < k->tool_count; i++)
        if (!means(name, &k->tools[i].tool.target))
            labels |= k->tools[i].labels;
    return labels;
}

static void read_flows(struct cs_case *k, struct cs_verdict *v)
{
    uint32_t first = k->start[CS_FACT_FLOW], end = k->start[CS_FACT_FLOW + 1];
    struct cs_evident_flow *flows = cs_arena_alloc(k->arena, (end - first + 1) * sizeof *flows);
    v->flows = flows;
    for (uint32_t i = first; i < end; i++) {
        struct cs_fact_seen *f = &k->facts[i];
        struct cs_str from, to;
        if (!ends_of(f->name, &from, &to))
            continue;
        f->from = labels_of(k, from);
        f->to = labels_of(k, to);
        f->besides = labels_besides(k, from);
        flows[v->flow_count++] = (struct cs_evident_flow){from, to, f->line, f->column};
    }
}

static void list_tools(struct cs_case *k, struct cs_verdict *v)
{
    uint32_t first = k->start[CS_FACT_TOOL], end = k->start[CS_FACT_TOOL + 1];
    bool *reached = cs_arena_alloc(k->arena, k->tool_count + 1);
    for (uint32_t i = first; i < end; i++) {
        reach(k, &k->facts[i], reached);
        v->any_tool = v->any_tool || cs_str_is(k->facts[i].name, "*");
    }
    struct cs_reached *tools = cs_arena_alloc(k->arena, (k->tool_count + 1) * sizeof *tools);
    for (uint32_t i = 0; i < k->tool_count; i++)
        if (reached[i])
            tools[v->tool_count++] = k->tools[i];
    v->tools = tools;
}

static void list_permissions(struct cs_case *k, struct cs_verdict *v)
{
    uint32_t first = k->start[CS_FACT_PERMISSION], end = k->start[CS_FACT_PERMISSION + 1];
    struct cs_str *list = cs_arena_alloc(k->arena, (end - first + 1) * sizeof *list);
    v->permissions = list;
    for (uint32_t i = first; i < end; i++) {
        uint32_t n = 0;
        while (n < v->permission_count && !cs_str_eq(list[n], k->facts[i].name))
            n++;
        if (n == v->permission_count)
            list[v->permission_count++] = k->facts[i].name;
    }
}

/* --- texts --- */

static bool is_text(enum cs_fact_kind kind)
{
    return kind == CS_FACT_STRING || kind == CS_FACT_COMMENT;
}

static void find_words(struct cs_case *k, struct cs_fact_seen *f, struct cs_buf *lower)
{
    uint64_t found[CS_WORDS_ROOM] = {0};
    struct cs_str texts[] = {f->name, f->plain, f->shell};
    bool any = false;
    for (size_t n = 0; n < CS_COUNT(texts); n++) {
        if (!texts[n].len)
            continue;
        cs_buf_clear(lower);
        char *to = cs_buf_room(lower, texts[n].len);
        for (size_t i = 0; i < texts[n].len; i++) {
            char c = texts[n].at[i];
            to[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
        }
        any = cs_words_find(&k->rules->words, cs_strn(to, texts[n].len), found) || any;
    }
    if (!any)
        return;
    f->words = cs_arena_alloc(k->arena, sizeof found);
    memcpy(f->words, found, sizeof found);
}

/* Names that end in key or token and are of things that are no secrets. What has the form of a
 * secret is one under these names too. */
static bool harmless_name(struct cs_str name)
{
    static const char *const names[] = {
        "filekey",    "sortkey",    "partitionkey", "cachekey",      "projectkey",
        "issuekey",   "spacekey",   "groupkey",     "rowkey",        "objectkey",
        "storagekey", "flagkey",    "pagetoken",    "nexttoken",     "synctoken",
        "nextkey",    "primarykey", "foreignkey",   "nextpagetoken", "idempotencykey"};
    char plain[24];
    size_t len = 0;
    for (size_t i = 0; i < name.len && len < sizeof plain; i++)
        if (name.at[i] != '_' && name.at[i] != '-')
            plain[len++] = (char)tolower((unsigned char)name.at[i]);
    for (size_t i = 0; i < CS_COUNT(names); i++)
        if (cs_str_is(cs_strn(plain, len), names[i]))
            return true;
    return false;
}

/* All constants as one document, each under the name it is assigned to, since that is what tells a
 * password from a word. */
static void find_secrets(struct cs_case *k)
{
    CS_AUTO_BUF struct cs_buf text = {0};
    struct cs_json_writer w = CS_JSON_WRITER(&text);
    uint32_t *order = cs_calloc(k->fact_count + 1, sizeof *order);
    size_t *ends = cs_calloc(k->fact_count + 1, sizeof *ends);
    uint32_t count = 0;
    cs_json_open(&w, '[');
    for (uint32_t i = 0; i < k->fact_count; i++) {
        const struct cs_fact_seen *f = &k->facts[i];
        if (!is_text(f->kind))
            continue;
        if (f->key.len && !harmless_name(f->key)) {
            cs_json_open(&w, '{');
            cs_json_key_str(&w, f->key);
            cs_json_put_str(&w, f->name);
            cs_json_close(&w, '}');
        } else {
            cs_json_put_str(&w, f->name);
        }
        order[count] = i;
        ends[count++] = text.len;
    }
    cs_json_close(&w, ']');
    struct cs_spans spans = {0};
    if (count)
        cs_scan(k->c->detector, CS_PRIVACY_MEDIUM, CS_FORM_JSON, cs_buf_str(&text), &spans);
    for (size_t i = 0, at = 0; i < spans.count && at < count; i++) {
        while (at < count && ends[at] <= spans.at[i].start)
            at++;
        if (at < count)
            k->facts[order[at]].secrets |= 1u << spans.at[i].kind;
    }
    cs_spans_done(&spans);
    free(order);
    free(ends);
}

/* The forms that rules look at. */
static void read_text(struct cs_case *k, struct cs_fact_seen *f)
{
    static const char *const hides[] = {"base64", "charcode", "reverse"};
    f->plain = cs_words_plain(f->name, k->arena);
    f->looks = cs_words_looks(f->name);
    for (size_t i = 0; i < CS_COUNT(hides); i++)
        if (f->via.len && memmem(f->via.at, f->via.len, hides[i], strlen(hides[i])))
            f->looks &= ~(unsigned)CS_LOOKS_PROSE; /* people do not read that */
    if (f->kind == CS_FACT_STRING)
        f->shell = cs_words_shell(f->plain.len ? f->plain : f->name, k->arena);
}

static bool runs_commands(const struct cs_case *k)
{
    for (uint32_t i = k->start[CS_FACT_TOOL]; i < k->start[CS_FACT_TOOL + 1]; i++)
        if (cs_words_runs(k->facts[i].name))
            return true;
    return false;
}

void cs_case_prepare(struct cs_case *k, struct cs_verdict *v)
{
    CS_AUTO_BUF struct cs_buf lower = {0};
    if (!k->facts)
        k->facts = cs_arena_alloc(k->arena, sizeof *k->facts);
    gather_tools(k);
    list_tools(k, v);
    read_flows(k, v);
    list_permissions(k, v);
    k->runs = runs_commands(k);
    for (uint32_t i = 0; i < k->fact_count; i++) {
        read_text(k, &k->facts[i]);
        find_words(k, &k->facts[i], &lower);
    }
    if (k->c->detector && k->rules->wants_secrets)
        find_secrets(k);
}
