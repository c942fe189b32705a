/* Results as text. */
#include "front/print.h"

#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "front/text.h"
#include "front/verbs.h"

static void print_value(const struct cs_result *r)
{
    if (!r->value.len || cs_str_is(r->value, "null"))
        return;
    CS_AUTO_JSON struct cs_json doc = {0};
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_json_limits deep = {.bytes = r->value.len, .depth = 2000, .allow_duplicate = true};
    if (r->value.at[0] == '"' && cs_json_parse(r->value, &deep, &doc, NULL) == 0) {
        struct cs_str text = cs_json_str(cs_json_root(&doc), &arena);
        if (isatty(STDOUT_FILENO))
            cs_text_safe(stdout, text);
        else
            fwrite(text.at, 1, text.len, stdout);
        if (!text.len || text.at[text.len - 1] != '\n')
            putchar('\n');
        return;
    }
    CS_AUTO_BUF struct cs_buf pretty = {0};
    cs_json_pretty(r->value, &pretty);
    cs_text_safe(stdout, cs_buf_str(&pretty));
    putchar('\n');
}

static void print_error(const struct cs_print *p, const struct cs_result *r)
{
    const struct cs_error *e = &r->error;
    fprintf(stderr, "%s%s%s: ", cs_text_style(p->colour, "\033[1;31m"), cs_error_type_name(e->type),
            cs_text_style(p->colour, "\033[0m"));
    cs_text_safe(stderr, e->message);
    fputc('\n', stderr);
    if (e->line && !p->no_place) {
        fputs("  at ", stderr);
        cs_text_safe(stderr, e->file);
        fprintf(stderr, "%sline %u%s%.0u\n", e->file.len ? ", " : "", e->line,
                e->column ? ", column " : "", e->column);
    }
    if (!p->no_place)
        cs_text_lines(stderr, "  ", e->snippet);
    if (p->verbose && e->stack.len)
        cs_text_lines(stderr, "  ", e->stack);
    if (e->suggestion.len) {
        fprintf(stderr, "%shint:%s ", cs_text_style(p->colour, "\033[36m"),
                cs_text_style(p->colour, "\033[0m"));
        cs_text_safe(stderr, e->suggestion);
        fputc('\n', stderr);
    }
}

/* "privacy: medium, 2 EMAIL, 1 PERSON masked" */
static void print_protection(const struct cs_protection *p)
{
    struct cs_masked all = p->inputs;
    if (!p->is_known)
        return;
    if (!p->is_protected) {
        fprintf(stderr, "privacy: not protected (%s)\n", p->why);
        return;
    }
    cs_masked_add(&all, &p->results);
    cs_masked_add(&all, &p->outputs);
    fprintf(stderr, "privacy: %s", cs_privacy_level_name(p->level));
    for (unsigned k = 0; k < CS_PII_COUNT; k++)
        if (all.found[k])
            fprintf(stderr, ", %u %s", all.found[k], cs_pii_name((enum cs_pii)k));
    fprintf(stderr, all.total ? " masked\n" : ", nothing masked\n");
}

static void print_figures(const struct cs_result *r)
{
    fprintf(stderr, "%s %s: %.1f ms, %.1f ms of processor time, %.1f MB at most, risk %s\n",
            r->execution_id, cs_status_name(r->status), (double)r->wall_us / 1000,
            (double)r->cpu_us / 1000, (double)r->memory_peak / (1 << 20),
            cs_risk_name(r->verdict.risk));
    for (uint32_t i = 0; i < r->verdict.reason_count; i++)
        fprintf(stderr, "  %.*s\n", CS_STR_ARG(r->verdict.reasons[i]));
}

void cs_print_result(const struct cs_print *p, const struct cs_result *r)
{
    if (p->json) {
        CS_AUTO_BUF struct cs_buf line = {0}, pretty = {0};
        cs_envelope(r, &line);
        cs_json_pretty(cs_buf_str(&line), &pretty);
        fwrite(pretty.at, 1, pretty.len, stdout);
        putchar('\n');
        return;
    }
    fflush(stderr);
    if (!r->failed)
        print_value(r);
    else if (r->is_guest && r->language == CS_BASH && r->out.len)
        cs_text_safe(stdout, r->out); /* what a failed script printed is worth having */
    fflush(stdout);
    if (r->failed)
        print_error(p, r);
    if (r->output_cut && !p->quiet)
        fprintf(
            stderr,
            "%llu bytes of output were cut; --limit output=N and --limit log_lines=N raise it\n",
            (unsigned long long)r->output_cut);
    if (p->verbose)
        print_figures(r);
    if (p->verbose)
        print_protection(&r->protection);
}

int cs_exit_of(const struct cs_result *r)
{
    if (!r->failed)
        return CS_EXIT_OK;
    if (r->status == CS_STATUS_DENIED)
        return CS_EXIT_DENIED;
    if (r->error.type == CS_ERROR_INTERNAL)
        return CS_EXIT_OURS;
    return r->error.has_limit ? CS_EXIT_LIMIT : CS_EXIT_PROGRAM;
}
