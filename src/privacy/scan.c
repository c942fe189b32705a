/* A message is cut into views, and hits of views become spans of the message. */
#include "base/mem.h"
#include "privacy/find.h"

struct cs_page {
    struct cs_spans *spans;
    struct cs_name_memory *names;
};

void cs_spans_done(struct cs_spans *spans)
{
    free(spans->at);
    *spans = (struct cs_spans){0};
}

struct cs_name_memory **cs_page_names(struct cs_page *page)
{
    return &page->names;
}

void cs_hit(struct cs_view *view, enum cs_pii kind, size_t start, size_t end)
{
    struct cs_spans *s = view->page->spans;
    if (s->count == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 16;
        s->at = cs_realloc(s->at, s->cap, sizeof *s->at);
    }
    s->at[s->count++] = (struct cs_span){
        .start = start, .end = end, .kind = kind, .core_start = start, .core_end = end};
}

void cs_hit_core(struct cs_view *view, size_t start, size_t end, size_t core_start, size_t core_end)
{
    (void)core_start;
    (void)core_end;
    cs_hit(view, CS_PII_CONNECTION_STRING, start, end);
}

bool cs_hit_at(const struct cs_view *view, size_t start, size_t end)
{
    (void)view;
    (void)start;
    (void)end;
    return false;
}

void cs_scan(const struct cs_detector *detector, enum cs_privacy_level level, enum cs_form form,
             struct cs_str text, struct cs_spans *spans)
{
    struct cs_page page = {.spans = spans};
    struct cs_view view = {.at = text.at, .len = text.len, .level = level, .page = &page};
    (void)form;
    for (size_t i = 0; i < text.len;)
        i = text.at[i] == '@' ? cs_find_mail(&view, i) : i + 1;
    cs_find_custom(detector, &view);
    cs_find_names(&view);
    cs_name_memory_free(page.names);
}
