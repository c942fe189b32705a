/*
 * One question as a page, for whoever is sent to its address: what the card says, and a button for
 * each answer. There is no script in it. A page of somebody else cannot press a button: an answer
 * by form must name the card that it was shown on, and what that is only those know who can see it.
 */
#include <string.h>

#include "base/hash.h"
#include "rest/inside.h"
#include "run/approvals.h"
#include "run/card_lines.h"

#define TEXT_BYTES (256u << 10)
#define FORM_BYTES 4096u

static void put_html(struct cs_buf *out, struct cs_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
            cs_buf_printf(out, "&#%d;", c);
        else
            cs_buf_putc(out, c);
    }
}

static bool is_offered(struct cs_json_val answers, const char *answer)
{
    struct cs_json_iter it = {0};
    struct cs_json_val item;
    while (cs_json_next(answers, &it, NULL, &item))
        if (cs_json_is(item, answer))
            return true;
    return false;
}

static void put_form(const struct cs_approval_row *row, struct cs_buf *out)
{
    CS_AUTO_JSON struct cs_json card = {0};
    struct cs_json_val root = {0};
    if (cs_json_parse(row->card, NULL, &card, NULL) == 0)
        root = cs_json_root(&card);
    struct cs_json_val answers = cs_json_get(root, "answers");
    cs_buf_puts(out, "<form method=\"post\"><input type=\"hidden\" name=\"card_hash\" value=\"");
    cs_hex_put(out, row->card_hash, sizeof row->card_hash);
    cs_buf_puts(out, "\"><p><label>Reason <input name=\"reason\" maxlength=\"500\" size=\"60\">"
                     "</label></p><p>");
    for (int i = 0; i < CS_APPROVE_ANSWERS; i++) {
        enum cs_approval_answer answer = (enum cs_approval_answer)i;
        const char *name = cs_approval_answer_name(answer);
        if (answer == CS_APPROVE_ONCE || answer == CS_APPROVE_DENY || is_offered(answers, name))
            cs_buf_printf(out, "<button name=\"answer\" value=\"%s\">%s</button> ", name,
                          cs_approval_answer_title(answer, cs_card_sent(root)));
    }
    cs_buf_puts(out, "</p></form>");
}

static void put_end(const struct cs_approval_row *row, struct cs_buf *out)
{
    cs_buf_puts(out, "<p>It is <b>");
    put_html(out, row->state);
    cs_buf_puts(out, "</b>");
    if (row->by.len) {
        cs_buf_puts(out, " by ");
        put_html(out, row->by);
    }
    if (row->reason.len) {
        cs_buf_puts(out, ": ");
        put_html(out, row->reason);
    }
    cs_buf_puts(out, "</p>");
}

void cs_visit_approval_page(struct cs_visit *v, const struct cs_approval_row *row)
{
    CS_AUTO_BUF struct cs_buf text = {0}, out = {0};
    cs_approval_text(row, false, TEXT_BYTES, &text);
    cs_buf_puts(&out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                      "<title>Caisson: approval</title><style>body{font:16px sans-serif;margin:2em;"
                      "max-width:60em}pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:1em;"
                      "border:1px solid #999}</style></head><body><h1>Approval ");
    put_html(&out, row->id);
    cs_buf_puts(&out, "</h1><pre>");
    put_html(&out, cs_buf_str(&text));
    cs_buf_puts(&out, "</pre>");
    if (!cs_str_is(row->state, "pending"))
        put_end(row, &out);
    else if (v->caller.role >= CS_KEY_APPROVE)
        put_form(row, &out);
    else
        cs_buf_puts(&out, "<p>It waits for somebody with the role approve.</p>");
    cs_buf_puts(&out, "</body></html>\n");
    cs_visit_set(v, "Content-Security-Policy",
                 CS_STR("default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
                        "frame-ancestors 'none'; base-uri 'none'"));
    cs_visit_set(v, "Referrer-Policy", CS_STR("same-origin"));
    cs_visit_reply(v, 200, "text/html; charset=utf-8", cs_buf_str(&out));
}

/* --- its form --- */

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool decode(struct cs_str text, struct cs_buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i] == '+' ? ' ' : text.at[i];
        if (c == '%') {
            int high = i + 2 < text.len ? digit(text.at[i + 1]) : -1;
            int low = i + 2 < text.len ? digit(text.at[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        }
        cs_buf_putc(out, c);
    }
    return true;
}

/* Each name is followed by '=' and its value, as browsers write them. */
int cs_rest_form_json(struct cs_str form, struct cs_buf *json, struct cs_err *err)
{
    struct cs_json_writer w = CS_JSON_WRITER(json);
    bool hash = false;
    if (form.len > FORM_BYTES)
        return cs_fail(err, CS_LIMIT, "the form has more than %u bytes", FORM_BYTES);
    cs_json_open(&w, '{');
    while (form.len) {
        const char *end = memchr(form.at, '&', form.len);
        struct cs_str part = {form.at, end ? (size_t)(end - form.at) : form.len};
        const char *equal = memchr(part.at, '=', part.len);
        CS_AUTO_BUF struct cs_buf name = {0}, value = {0};
        size_t n = equal ? (size_t)(equal - part.at) : part.len;
        form.at += part.len + (end != NULL);
        form.len -= part.len + (end != NULL);
        if (!decode(cs_strn(part.at, n), &name) ||
            (equal && !decode(cs_strn(equal + 1, part.len - n - 1), &value)))
            return cs_fail(err, CS_INVALID, "the form cannot be read");
        hash |= cs_str_is(cs_buf_str(&name), "card_hash");
        if (!value.len)
            continue;
        cs_json_key_str(&w, cs_buf_str(&name));
        cs_json_put_str(&w, cs_buf_str(&value));
    }
    cs_json_close(&w, '}');
    return hash ? 0 : cs_fail(err, CS_INVALID, "card_hash: a form must say which card was seen");
}
