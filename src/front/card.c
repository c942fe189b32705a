#include "front/card.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/time.h"
#include "base/visible.h"
#include "front/text.h"
#include "run/card_lines.h"
#include "sandbox/limits.h"

#define FINDINGS_SHORT 12
#define ARGUMENTS_WIDE 200 /* columns of a line of code or arguments, without details */

struct view {
    FILE *f;
    bool colour, details, whole; /* whole: nothing was left out */
    struct cs_arena arena;
    struct cs_json doc;
    struct cs_json_val card;
};

/* --- texts --- */

static const char *style(const struct view *v, const char *code)
{
    return cs_text_style(v->colour, code);
}

/* Foreign text in one line; a tab is a tab. */
static void put(const struct view *v, struct cs_str text)
{
    CS_AUTO_BUF struct cs_buf out = {0};
    while (text.len) {
        const char *tab = memchr(text.at, '\t', text.len);
        size_t len = tab ? (size_t)(tab - text.at) : text.len;
        cs_visible(cs_strn(text.at, len), false, &out);
        if (tab)
            cs_buf_puts(&out, "    ");
        len += tab != NULL;
        text = cs_strn(text.at + len, text.len - len);
    }
    if (out.len)
        fwrite(out.at, 1, out.len, v->f);
}

static struct cs_str text_of(struct view *v, struct cs_json_val object, const char *name)
{
    return cs_json_str(cs_json_get(object, name), &v->arena);
}

/* A row of the head: its name in a column of its own. */
static void label(const struct view *v, const char *name)
{
    fprintf(v->f, "  %s%-10s%s ", style(v, "\033[2m"), name, style(v, "\033[0m"));
}

/* "a, b, c" of a list of texts. */
static void put_list(struct view *v, struct cs_json_val list)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    bool more = false;
    while (cs_json_next(list, &it, NULL, &item)) {
        fputs(more ? ", " : "", v->f);
        put(v, cs_json_type(item) == CS_JSON_STRING ? cs_json_str(item, &v->arena)
                                                    : cs_json_raw(item));
        more = true;
    }
}

const char *cs_card_style(struct cs_str level)
{
    if (cs_str_is(level, "CRITICAL"))
        return "\033[1;35m";
    if (cs_str_is(level, "HIGH") || cs_str_is(level, "denied"))
        return "\033[1;31m";
    if (cs_str_is(level, "MEDIUM") || cs_str_is(level, "pending"))
        return "\033[33m";
    return cs_str_is(level, "approved") || cs_str_is(level, "LOW") ? "\033[32m" : "\033[2m";
}

static void put_level(const struct view *v, struct cs_str level)
{
    fputs(style(v, cs_card_style(level)), v->f);
    put(v, level);
    fputs(style(v, "\033[0m"), v->f);
}

const char *cs_card_left(int64_t ms, char text[CS_CARD_LEFT])
{
    int64_t s = ms > 0 ? (ms + 999) / 1000 : 0;
    if (s < 120)
        snprintf(text, CS_CARD_LEFT, "%" PRId64 " s", s);
    else if (s < 7200)
        snprintf(text, CS_CARD_LEFT, "%" PRId64 " min", s / 60);
    else if (s < 172800)
        snprintf(text, CS_CARD_LEFT, "%" PRId64 " h", s / 3600);
    else
        snprintf(text, CS_CARD_LEFT, "%" PRId64 " days", s / 86400);
    return text;
}

/* --- who, what for, why --- */

static void put_head(struct view *v, const struct cs_approval_row *row)
{
    char left[CS_CARD_LEFT], moment[CS_TIME_TEXT];
    put_level(v, row->risk);
    fprintf(v->f, "  %s%s%s  ", style(v, "\033[1m"), cs_card_title(v->card, row->kind),
            style(v, "\033[0m"));
    put(v, row->id);
    if (cs_str_is(row->state, "pending"))
        fprintf(v->f, ", %s left", cs_card_left(row->expires - cs_time_ms(), left));
    fputc('\n', v->f);
    label(v, "asked by");
    put(v, row->principal);
    fputs(row->actor.len ? " (" : "", v->f);
    put(v, row->actor);
    fputs(row->actor.len ? ")" : "", v->f);
    if (!cs_str_is(row->tenant, "default")) {
        fputs(", tenant ", v->f);
        put(v, row->tenant);
    }
    fprintf(v->f, ", %s\n", cs_time_text(row->created, moment));
    label(v, "execution");
    put(v, row->execution);
    fputs(row->session.len ? ", session " : "", v->f);
    put(v, row->session);
    fputc('\n', v->f);
    label(v, "what for");
    struct cs_str intent = text_of(v, v->card, "intent");
    put(v, intent.len ? intent : CS_STR("it does not say"));
    fputc('\n', v->f);
    label(v, "why asked");
    put(v, text_of(v, v->card, "why"));
    struct cs_str rule = text_of(v, v->card, "rule");
    fputs(rule.len ? " (rule " : "", v->f);
    put(v, rule);
    fputs(rule.len ? ")\n" : "\n", v->f);
}

static void put_decision(struct view *v, const struct cs_approval_row *row)
{
    char moment[CS_TIME_TEXT];
    if (cs_str_is(row->state, "pending"))
        return;
    label(v, "state");
    put_level(v, row->state);
    if (row->answer.len && !cs_str_is(row->answer, "deny")) {
        fputs(", ", v->f);
        put(v, row->answer);
    }
    if (row->by.len) {
        fputs(", by ", v->f);
        put(v, row->by);
        fputs(" (", v->f);
        put(v, row->channel);
        fputc(')', v->f);
    }
    fprintf(v->f, "%s%s", row->decided ? ", " : "", cs_time_text(row->decided, moment));
    fputs(row->used ? ", used" : "", v->f);
    fputc('\n', v->f);
    if (row->reason.len) {
        label(v, "reason");
        put(v, row->reason);
        fputc('\n', v->f);
    }
}

/* --- findings --- */

/* "3:14", and the module if it is not the program. */
static void put_place(struct view *v, struct cs_json_val finding)
{
    int64_t line = 0, column = 0;
    struct cs_str module = text_of(v, finding, "module");
    cs_json_i64(cs_json_get(finding, "line"), &line);
    cs_json_i64(cs_json_get(finding, "column"), &column);
    if (module.len) {
        put(v, module);
        fputs(line > 0 ? ":" : " ", v->f);
    }
    if (line > 0)
        fprintf(v->f, "%" PRId64 ":%" PRId64 " ", line, column);
}

static void put_finding(struct view *v, struct cs_json_val finding)
{
    struct cs_str level = text_of(v, finding, "level");
    fputs("    ", v->f);
    put_level(v, level);
    fprintf(v->f, "%*s ", level.len < 8 ? (int)(8 - level.len) : 0, "");
    put_place(v, finding);
    put(v, text_of(v, finding, "reason"));
    struct cs_str what = text_of(v, finding, "what");
    if (what.len) {
        fputs(": ", v->f);
        put(v, what);
    }
    fprintf(v->f, " %s[", style(v, "\033[2m"));
    put(v, text_of(v, finding, "id"));
    fprintf(v->f, "]%s\n", style(v, "\033[0m"));
    struct cs_str mitigation = text_of(v, finding, "mitigation");
    if (mitigation.len && v->details) {
        fputs("             ", v->f);
        put(v, mitigation);
        fputc('\n', v->f);
    }
}

static void put_findings(struct view *v, struct cs_json_val findings)
{
    uint32_t count = cs_json_count(findings), shown = 0;
    struct cs_json_iter it = {0};
    struct cs_json_val finding;
    if (!count)
        return;
    fputs("\n  findings\n", v->f);
    while (cs_json_next(findings, &it, NULL, &finding)) {
        if (!v->details && shown == FINDINGS_SHORT) {
            fprintf(v->f, "    ... and %u more\n", count - shown);
            v->whole = false;
            break;
        }
        put_finding(v, finding);
        shown++;
    }
}

/* --- code --- */

/* A line of foreign text; one that is very long is cut, and says so. */
static void put_line(struct view *v, struct cs_str line)
{
    if (line.len && line.at[line.len - 1] == '\r')
        line.len--;
    size_t len = line.len;
    if (!v->details && len > ARGUMENTS_WIDE) {
        len = ARGUMENTS_WIDE;
        while (len > 0 && ((unsigned char)line.at[len] & 0xC0) == 0x80)
            len--;
    }
    put(v, cs_strn(line.at, len));
    if (len < line.len) {
        fprintf(v->f, "%s ... %zu more bytes in this line%s", style(v, "\033[2m"), line.len - len,
                style(v, "\033[0m"));
        v->whole = false;
    }
    fputc('\n', v->f);
}

static uint32_t lines_of(struct cs_str text)
{
    uint32_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += text.at[i] == '\n';
    return n + (text.len && text.at[text.len - 1] != '\n');
}

static void left_out(struct view *v, uint32_t lines)
{
    if (!lines)
        return;
    fprintf(v->f, "         %s... %u line%s left out ...%s\n", style(v, "\033[2m"), lines,
            lines == 1 ? "" : "s", style(v, "\033[0m"));
    v->whole = false;
}

static void put_bytes(const struct view *v, const char *before, uint64_t bytes, const char *after)
{
    if (bytes)
        fprintf(v->f, "%s%s... %" PRIu64 " bytes ...%s%s", style(v, "\033[2m"), before, bytes,
                after, style(v, "\033[0m"));
}

static void put_code_line(struct view *v, const struct cs_card_line *line)
{
    bool marked = line->mark;
    fprintf(v->f, "  %s%s%5u%s  ", style(v, marked ? "\033[1;31m" : "\033[2m"), marked ? ">" : " ",
            line->number, style(v, "\033[0m"));
    put_bytes(v, "", line->before, " ");
    fputs(style(v, marked ? "\033[1m" : ""), v->f);
    put(v, line->text);
    fputs(style(v, marked ? "\033[0m" : ""), v->f);
    put_bytes(v, " ", line->after, "");
    fputc('\n', v->f);
    v->whole = v->whole && !line->before && !line->after;
}

/* Short programs whole; of long ones what is marked, and what is around it. */
static void put_code(struct view *v, const struct cs_card_lines *lines)
{
    bool all = v->details || lines->total <= CS_CARD_LINES;
    uint32_t last = 0;
    for (size_t i = 0; i < lines->count; i++) {
        const struct cs_card_line *line = &lines->at[i];
        if (!all && !line->near && (lines->marks || line->number > CS_CARD_LINES))
            continue;
        left_out(v, line->number > last + 1 ? line->number - last - 1 : 0);
        put_code_line(v, line);
        last = line->number;
    }
    left_out(v, lines->total - last);
}

/* What was too long for the card: the member beside it says how long it is. */
static void put_cut(struct view *v, struct cs_json_val object, const char *name)
{
    char member[48];
    int64_t bytes = 0;
    snprintf(member, sizeof member, "%s_cut_from_bytes", name);
    if (!cs_json_i64(cs_json_get(object, member), &bytes))
        return;
    fprintf(v->f, "         %s... cut: there are %" PRId64 " bytes of it; the hash is of all%s\n",
            style(v, "\033[1;31m"), bytes, style(v, "\033[0m"));
}

static void put_hash(struct view *v, struct cs_str hash)
{
    if (!hash.len)
        return;
    fputs(", SHA-256 ", v->f);
    put(v, cs_strn(hash.at, v->details || hash.len < 16 ? hash.len : 16));
    fputs(v->details || hash.len <= 16 ? "" : "...", v->f);
}

/* --- what it imports --- */

static void put_file_lines(struct view *v, struct cs_json_val list, struct cs_str file)
{
    struct cs_json_iter it = {0};
    struct cs_json_val one;
    while (cs_json_next(list, &it, NULL, &one)) {
        int64_t number = 0, before = 0, after = 0;
        if (!cs_str_eq(text_of(v, one, "file"), file))
            continue;
        cs_json_i64(cs_json_get(one, "line"), &number);
        cs_json_i64(cs_json_get(one, "bytes_before"), &before);
        cs_json_i64(cs_json_get(one, "bytes_after"), &after);
        bool there = cs_json_type(cs_json_get(one, "text")) == CS_JSON_STRING;
        struct cs_card_line line = {.number = (uint32_t)number,
                                    .text = there ? text_of(v, one, "text")
                                                  : CS_STR("(there was no room for this line)"),
                                    .before = (uint64_t)before,
                                    .after = (uint64_t)after,
                                    .mark = 1};
        put_code_line(v, &line);
    }
}

static void put_files(struct view *v, struct cs_json_val program)
{
    struct cs_json_val files = cs_json_get(program, "files"), file;
    struct cs_json_val lines = cs_json_get(program, "file_lines");
    struct cs_json_iter it = {0};
    int64_t bytes = 0, count = 0, more = 0;
    if (!cs_json_count(files))
        return;
    fputs("\n  files it imports\n", v->f);
    while (cs_json_next(files, &it, NULL, &file)) {
        cs_json_i64(cs_json_get(file, "bytes"), &bytes);
        cs_json_i64(cs_json_get(file, "lines"), &count);
        fputs("    ", v->f);
        put(v, text_of(v, file, "name"));
        fprintf(v->f, ", %" PRId64 " bytes, %" PRId64 " line%s", bytes, count,
                count == 1 ? "" : "s");
        put_hash(v, text_of(v, file, "hash"));
        fputc('\n', v->f);
        put_file_lines(v, lines, text_of(v, file, "name"));
    }
    if (cs_json_i64(cs_json_get(program, "files_more"), &more) && more > 0)
        fprintf(v->f, "    and %" PRId64 " more files\n", more);
}

static void put_program(struct view *v)
{
    struct cs_json_val program = cs_json_get(v->card, "program");
    struct cs_str inputs = text_of(v, program, "inputs_preview");
    struct cs_card_lines lines;
    if (cs_json_type(program) != CS_JSON_OBJECT)
        return;
    cs_card_lines_read(v->card, v->details ? 0 : ARGUMENTS_WIDE, &v->arena, &lines);
    fputs("\n  the program: ", v->f);
    put(v, text_of(v, v->card, "language"));
    fprintf(v->f, ", %u line%s", lines.total, lines.total == 1 ? "" : "s");
    put_hash(v, text_of(v, program, "code_hash"));
    fputc('\n', v->f);
    put_code(v, &lines);
    put_cut(v, program, "code");
    put_files(v, program);
    if (inputs.len && !cs_str_is(inputs, "null")) {
        fputs("  its inputs: ", v->f);
        put_line(v, inputs);
        put_cut(v, program, "inputs_preview");
    }
}

/* --- the call --- */

static void put_json(struct view *v, struct cs_json_val value)
{
    CS_AUTO_BUF struct cs_buf pretty = {0};
    /* Arguments that were too long for the card are a text that says so. */
    if (cs_json_type(value) == CS_JSON_STRING)
        cs_buf_putstr(&pretty, cs_json_str(value, &v->arena));
    else
        cs_json_pretty(cs_json_raw(value), &pretty);
    struct cs_str text = cs_buf_str(&pretty);
    uint32_t shown = 0;
    while (text.len) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t len = end ? (size_t)(end - text.at) : text.len;
        if (!v->details && shown++ == CS_CARD_LINES) {
            left_out(v, lines_of(text));
            return;
        }
        fputs("    ", v->f);
        put_line(v, cs_strn(text.at, len));
        len += end != NULL;
        text = cs_strn(text.at + len, text.len - len);
    }
}

/* What its server says about it, as far as it is true. */
static void put_annotations(struct view *v, struct cs_json_val annotations)
{
    struct cs_json_iter it = {0};
    struct cs_json_val key, item;
    bool more = false, trusted = false, declared = true, is;
    cs_json_bool(cs_json_get(annotations, "trusted"), &trusted);
    cs_json_bool(cs_json_get(annotations, "declared"), &declared);
    if (!declared) {
        fputs("    annotations: it declares none\n", v->f);
        return;
    }
    while (cs_json_next(annotations, &it, &key, &item)) {
        if (cs_json_is(key, "trusted") || cs_json_is(key, "declared") || !cs_json_bool(item, &is) ||
            !is)
            continue;
        fputs(more ? ", " : "    annotations: ", v->f);
        put(v, cs_json_str(key, &v->arena));
        more = true;
    }
    if (more)
        fputs(trusted ? "\n" : " (its server's word)\n", v->f);
}

/* What tokens in the arguments stand for, as far as that is told. */
static void put_values(struct view *v, struct cs_json_val call)
{
    struct cs_json_val values = cs_json_get(call, "values"), value;
    struct cs_json_iter it = {0};
    if (cs_json_count(values))
        fputs("  values that it would be given:\n", v->f);
    while (cs_json_next(values, &it, NULL, &value)) {
        struct cs_str hint = text_of(v, value, "hint");
        fputs("    ", v->f);
        put(v, text_of(v, value, "token"));
        fputs(" in '", v->f);
        put(v, text_of(v, value, "argument"));
        fputs("': ", v->f);
        put(v, text_of(v, value, "what"));
        fputs(" from ", v->f);
        put(v, text_of(v, value, "from"));
        if (hint.len) {
            fprintf(v->f, ", ends in %s", style(v, "\033[1m"));
            put(v, hint);
            fputs(style(v, "\033[0m"), v->f);
        }
        fputc('\n', v->f);
    }
    if (cs_json_type(cs_json_get(call, "values_cut")) != CS_JSON_NONE)
        fputs("    and more\n", v->f);
}

static void put_call(struct view *v)
{
    struct cs_json_val call = cs_json_get(v->card, "call");
    if (cs_json_type(call) != CS_JSON_OBJECT)
        return;
    fprintf(v->f, "\n  the call: %s", style(v, "\033[1m"));
    put(v, text_of(v, call, "server"));
    fputc('/', v->f);
    put(v, text_of(v, call, "tool"));
    fprintf(v->f, "%s\n", style(v, "\033[0m"));
    struct cs_str sent = text_of(v, call, "sent_at");
    if (sent.len) {
        fprintf(v->f, "    %ssent at ", style(v, "\033[1;31m"));
        put(v, sent);
        fprintf(v->f, ", and never answered%s\n", style(v, "\033[0m"));
    }
    struct cs_str says = text_of(v, call, "description");
    if (says.len) {
        fputs("    its server says: ", v->f);
        put_line(v, says);
        put_cut(v, call, "description");
    }
    put_annotations(v, cs_json_get(call, "annotations"));
    if (cs_json_count(cs_json_get(call, "labels"))) {
        fputs("    labels: ", v->f);
        put_list(v, cs_json_get(call, "labels"));
        fputc('\n', v->f);
    }
    struct cs_str standing = text_of(v, call, "standing");
    if (standing.len && !cs_str_is(standing, "known")) {
        fprintf(v->f, "    %sits definition is %s", style(v, "\033[1;31m"),
                cs_str_is(standing, "changed") ? "another one than it was, and nobody has looked"
                                               : "new: ");
        put(v, cs_str_is(standing, "changed") ? (struct cs_str){0} : standing);
        fprintf(v->f, "%s\n", style(v, "\033[0m"));
    }
    struct cs_json_val before = cs_json_get(call, "definition_before");
    if (cs_json_type(before) > CS_JSON_NULL) {
        fputs("    it was:\n", v->f);
        put_json(v, before);
        put_cut(v, call, "definition_before");
    }
    fputs("  with these arguments:\n", v->f);
    put_json(v, cs_json_get(call, "arguments"));
    put_cut(v, call, "arguments");
    put_values(v, call);
}

/* --- flows, reach, limits --- */

static void put_labels(struct view *v, struct cs_json_val labels)
{
    if (cs_json_type(labels) == CS_JSON_STRING || cs_json_count(labels)) {
        fputs(" (", v->f);
        if (cs_json_type(labels) == CS_JSON_STRING)
            put(v, cs_json_str(labels, &v->arena));
        else
            put_list(v, labels);
        fputc(')', v->f);
    }
}

static void put_flow(struct view *v, struct cs_json_val flow)
{
    int64_t call = 0, line = 0;
    struct cs_json_val data = cs_json_get(flow, "data");
    fputs("    ", v->f);
    if (cs_json_count(data)) {
        fputs(style(v, "\033[1m"), v->f);
        put_list(v, data);
        fprintf(v->f, "%s from ", style(v, "\033[0m"));
    }
    put(v, text_of(v, flow, "from"));
    if (cs_json_i64(cs_json_get(flow, "call"), &call) && call > 0)
        fprintf(v->f, ", call %" PRId64, call);
    put_labels(v, cs_json_get(flow, "labels"));
    fprintf(v->f, " %s->%s ", style(v, "\033[1;31m"), style(v, "\033[0m"));
    put(v, text_of(v, flow, "to"));
    put_labels(v, cs_json_get(flow, "labels_to"));
    if (cs_json_i64(cs_json_get(flow, "line"), &line) && line > 0)
        fprintf(v->f, ", line %" PRId64, line);
    fputc('\n', v->f);
}

static void put_flows(struct view *v, struct cs_json_val flows, const char *title)
{
    struct cs_json_iter it = {0};
    struct cs_json_val flow;
    if (!cs_json_count(flows))
        return;
    fprintf(v->f, "\n  %s\n", title);
    while (cs_json_next(flows, &it, NULL, &flow))
        put_flow(v, flow);
}

static void put_tool(struct view *v, struct cs_json_val tool)
{
    struct cs_str name = cs_json_str(tool, &v->arena), server = text_of(v, tool, "server");
    if (!name.len)
        name = text_of(v, tool, "tool");
    put(v, server);
    fputs(server.len ? "/" : "", v->f);
    put(v, name);
    put_labels(v, cs_json_get(tool, "labels"));
}

static void put_reach(struct view *v, struct cs_json_val risk)
{
    struct cs_json_val tools = cs_json_get(risk, "tools"), tool;
    struct cs_json_val permissions = cs_json_get(risk, "permissions");
    struct cs_json_iter it = {0};
    uint32_t shown = 0, count = cs_json_count(tools);
    if (count) {
        fputs("\n  tools it can reach: ", v->f);
        while (cs_json_next(tools, &it, NULL, &tool)) {
            if (!v->details && shown == FINDINGS_SHORT) {
                fprintf(v->f, ", and %u more", count - shown);
                v->whole = false;
                break;
            }
            fputs(shown++ ? ", " : "", v->f);
            put_tool(v, tool);
        }
        fputc('\n', v->f);
    }
    if (cs_json_count(permissions)) {
        fputs("  permissions it asks for: ", v->f);
        put_list(v, permissions);
        fputc('\n', v->f);
    }
}

static void put_limits(struct view *v)
{
    struct cs_json_val limits = cs_json_get(v->card, "limits");
    bool more = false;
    if (cs_json_type(limits) != CS_JSON_OBJECT)
        limits = cs_json_get(cs_json_get(v->card, "risk"), "limits");
    if (!cs_json_count(limits))
        return;
    fputs("\n  limits: ", v->f);
    for (int i = 0; i < CS_LIMIT_COUNT; i++) {
        enum cs_limit limit = (enum cs_limit)i;
        int64_t value = 0;
        bool usual = limit == CS_LIMIT_WALL_CLOCK || limit == CS_LIMIT_MEMORY ||
                     limit == CS_LIMIT_CPU || limit == CS_LIMIT_TOOL_CALLS;
        if ((!usual && !v->details) ||
            !cs_json_i64(cs_json_get(limits, cs_limit_name(limit)), &value))
            continue;
        bool bytes = strcmp(cs_limit_unit(limit), "bytes") == 0 && value >= 1 << 20;
        fprintf(v->f, "%s%s %" PRId64 " %s", more ? ", " : "", cs_limit_name(limit),
                bytes ? value >> 20 : value, bytes ? "MiB" : cs_limit_unit(limit));
        more = true;
    }
    fputc('\n', v->f);
}

/* --- the whole --- */

bool cs_card_print(FILE *f, bool colour, bool details, const struct cs_approval_row *row)
{
    struct view v = {.f = f, .colour = colour, .details = details, .whole = true};
    struct cs_err err = {0};
    const struct cs_json_limits limits = {.depth = 1000, .allow_duplicate = true};
    if (cs_json_parse(row->card, &limits, &v.doc, &err) == 0)
        v.card = cs_json_root(&v.doc);
    struct cs_json_val risk = cs_json_get(v.card, "risk");
    struct cs_json_val findings = cs_json_get(risk, "findings");
    put_head(&v, row);
    put_decision(&v, row);
    if (err.code) {
        fputs("  The card cannot be read: ", f);
        put(&v, cs_str(err.msg));
        fputs(". Do not approve it.\n", f);
    }
    bool call = cs_str_is(row->kind, "call");
    if (call) {
        put_call(&v);
        put_flows(&v, cs_json_get(v.card, "flows"), "which data would go where");
    }
    put_findings(&v, findings);
    put_program(&v);
    if (!call)
        put_flows(&v, cs_json_get(v.card, "flows"), "data can flow, as its text shows");
    put_reach(&v, risk);
    put_limits(&v);
    if (details) {
        char hex[65];
        cs_hex(row->card_hash, 32, hex);
        fprintf(f, "  what you see has the SHA-256 %s\n", hex);
    }
    cs_json_done(&v.doc);
    cs_arena_done(&v.arena);
    return v.whole;
}

bool cs_card_offers(const struct cs_approval_row *row, const char *answer)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    const struct cs_json_limits limits = {.depth = 1000, .allow_duplicate = true};
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    bool call = cs_str_is(row->kind, "call");
    if (strcmp(answer, "once") == 0 || strcmp(answer, "deny") == 0)
        return true;
    if (cs_json_parse(row->card, &limits, &doc, NULL) < 0)
        return false;
    struct cs_json_val answers = cs_json_get(cs_json_root(&doc), "answers");
    if (cs_json_type(answers) != CS_JSON_ARRAY)
        return strcmp(answer, call ? "program" : "tool") != 0;
    while (cs_json_next(answers, &it, NULL, &item))
        if (cs_json_is(item, answer))
            return true;
    return false;
}

void cs_card_member(const struct cs_approval_row *row, const char *name, struct cs_buf *out)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    const struct cs_json_limits limits = {.depth = 1000, .allow_duplicate = true};
    if (cs_json_parse(row->card, &limits, &doc, NULL) == 0)
        cs_visible(cs_json_str(cs_json_get(cs_json_root(&doc), name), &arena), false, out);
}
