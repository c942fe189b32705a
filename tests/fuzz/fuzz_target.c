/*
 * A request target that is accepted gives a path without control characters and pairs that are
 * whole, all of it UTF-8; decoding what needs no decoding changes nothing. The other decoders of a
 * head read within what they are given.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "http/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void must_be_utf8(struct cs_str s)
{
    for (size_t i = 0; i < s.len;) {
        int n = cs_utf8_len(s.at + i, s.len - i);
        must(n > 0);
        i += (size_t)n;
    }
}

static bool is_plain(struct cs_str s)
{
    return s.len > 0 && s.at[0] == '/' && !memchr(s.at, '%', s.len) && !memchr(s.at, '?', s.len) &&
           !memchr(s.at, '#', s.len);
}

static void check_target(struct cs_str raw)
{
    CS_AUTO_BUF struct cs_buf path = {0}, query = {0}, again = {0}, none = {0};
    if (cs_http_target(raw, &path, &query))
        return;
    must(path.len > 0 && (path.at[0] == '/' || cs_str_is(cs_buf_str(&path), "*")));
    must(path.len <= raw.len + 1 && query.len <= 2 * raw.len + 2);
    must_be_utf8(cs_buf_str(&path));
    must_be_utf8(cs_buf_str(&query));
    for (size_t i = 0; i < path.len; i++)
        must((unsigned char)path.at[i] >= 0x20);
    size_t ends = 0;
    for (size_t i = 0; i < query.len; i++)
        ends += query.at[i] == 0;
    must(ends % 2 == 0 && (query.len == 0 || query.at[query.len - 1] == 0));
    struct cs_str found = cs_http_pair(cs_buf_str(&query), "q");
    must(!found.at || (found.at > query.at && found.at + found.len < query.at + query.len));
    if (is_plain(cs_buf_str(&path))) {
        must(!cs_http_target(cs_buf_str(&path), &again, &none));
        must(cs_str_eq(cs_buf_str(&path), cs_buf_str(&again)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cs_str text = {(const char *)data, size};
    uint64_t number = 0;
    check_target(text);
    cs_http_takes_gzip(text);
    cs_http_is_texty(text);
    must(!cs_http_number(text, &number) || number <= INT64_MAX);
    struct cs_str trimmed = cs_http_trim(text);
    must(trimmed.len <= size && (trimmed.len == 0 || trimmed.at >= text.at));
    must(!cs_http_is_token(text) || cs_http_is_value(text));
    return 0;
}
