/* What a file is, by the end of its name; or, if that says nothing, by its first bytes. */
#include <strings.h>

#include "base/json.h"
#include "base/utf8.h"
#include "run/inside.h"

#define SNIFFED     4096
#define JSON_PARSED (1u << 20)

static const struct {
    const char *ending;
    struct cs_str type;
} types[] = {
#define T(ending, type)            \
    {                              \
        ending,                    \
        {                          \
            type, sizeof(type) - 1 \
        }                          \
    }
    T("json", "application/json"),
    T("jsonl", "application/x-ndjson"),
    T("ndjson", "application/x-ndjson"),
    T("txt", "text/plain"),
    T("log", "text/plain"),
    T("md", "text/markdown"),
    T("csv", "text/csv"),
    T("tsv", "text/tab-separated-values"),
    T("html", "text/html"),
    T("htm", "text/html"),
    T("css", "text/css"),
    T("xml", "application/xml"),
    T("yaml", "application/yaml"),
    T("yml", "application/yaml"),
    T("toml", "application/toml"),
    T("sql", "application/sql"),
    T("js", "text/javascript"),
    T("mjs", "text/javascript"),
    T("ts", "text/plain"),
    T("py", "text/x-python"),
    T("sh", "application/x-sh"),
    T("svg", "image/svg+xml"),
    T("png", "image/png"),
    T("jpg", "image/jpeg"),
    T("jpeg", "image/jpeg"),
    T("gif", "image/gif"),
    T("webp", "image/webp"),
    T("ico", "image/x-icon"),
    T("pdf", "application/pdf"),
    T("zip", "application/zip"),
    T("gz", "application/gzip"),
    T("tar", "application/x-tar"),
    T("zst", "application/zstd"),
    T("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    T("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    T("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    T("parquet", "application/vnd.apache.parquet"),
    T("sqlite", "application/vnd.sqlite3"),
    T("db", "application/vnd.sqlite3"),
    T("wasm", "application/wasm"),
    T("mp3", "audio/mpeg"),
    T("wav", "audio/wav"),
    T("mp4", "video/mp4"),
#undef T
};

bool cs_media_text(struct cs_str content)
{
    size_t n = content.len < SNIFFED ? content.len : SNIFFED;
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)content.at[i];
        int len = cs_utf8_len(content.at + i, content.len - i);
        if (len < 0 || c == 0x7F || (c < 0x20 && !strchr("\t\n\r\f\b\033", c)) || !c)
            return false;
        i += (size_t)len;
    }
    return true;
}

static bool is_json(struct cs_str content)
{
    CS_AUTO_JSON struct cs_json doc = {0};
    if (!content.len || content.len > JSON_PARSED || (content.at[0] != '{' && content.at[0] != '['))
        return false;
    struct cs_json_limits limits = {.allow_duplicate = true};
    return cs_json_parse(content, &limits, &doc, NULL) == 0;
}

struct cs_str cs_media_type(struct cs_str name, struct cs_str content)
{
    const char *dot = name.len ? memrchr(name.at, '.', name.len) : NULL;
    struct cs_str ending = {0};
    if (dot)
        ending = cs_strn(dot + 1, name.len - (size_t)(dot + 1 - name.at));
    for (size_t i = 0; ending.len && i < CS_COUNT(types); i++)
        if (ending.len == strlen(types[i].ending) &&
            strncasecmp(ending.at, types[i].ending, ending.len) == 0)
            return types[i].type;
    if (!cs_media_text(content))
        return CS_STR("application/octet-stream");
    return is_json(content) ? CS_STR("application/json") : CS_STR("text/plain");
}
