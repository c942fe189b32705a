/*
 * What servers say about authorization: headers, addresses and JSON. Whatever is accepted keeps the
 * promises of the headers; what is refused comes with an error. The first byte picks the reader.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/headers.h"
#include "tools/metadata.h"
#include "tools/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SERVER "https://mcp.example.com/v1/mcp"

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void bounded(const char *z)
{
    must(!z || strlen(z) <= CS_META_TEXT);
}

static void url(struct cs_str text)
{
    struct cs_url u, again;
    struct cs_err err = {0};
    if (cs_url_parse(text, &u, &err) < 0) {
        must(err.code != CS_OK);
        return;
    }
    CS_AUTO_BUF struct cs_buf origin = {0};
    cs_url_origin(&u, &origin);
    must(cs_url_parse(cs_buf_str(&origin), &again, NULL) == 0);
    must(cs_url_same_origin(&u, &again) && cs_url_loopback(&u) == cs_url_loopback(&again));
    must(again.path.len == 0);
}

static void query(struct cs_str text)
{
    CS_AUTO_BUF struct cs_buf value = {0};
    CS_AUTO_BUF struct cs_buf coded = {0};
    CS_AUTO_BUF struct cs_buf back = {0};
    cs_url_param(text, "code", &value);
    cs_buf_puts(&coded, "code=");
    cs_url_encode(text, &coded);
    must(cs_url_param(cs_buf_str(&coded), "code", &back));
    must(cs_str_eq(cs_buf_str(&back), text));
}

static void challenge(struct cs_str text)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_challenge c;
    cs_challenge_parse(text, &arena, &c);
    bounded(c.resource_metadata);
    bounded(c.scope);
    bounded(c.error);
    CS_AUTO_BUF struct cs_buf scopes = {0};
    cs_scope_add(&scopes, c.scope);
    size_t once = scopes.len;
    cs_scope_add(&scopes, c.scope);
    must(scopes.len == once);
}

static void json(struct cs_str text)
{
    CS_AUTO_ARENA struct cs_arena arena = {0};
    struct cs_resource_meta r;
    struct cs_issuer_meta i;
    struct cs_registration g;
    struct cs_tokens t;
    struct cs_err err = {0};
    char code[64], said[208];
    if (cs_resource_meta_parse(text, SERVER, &arena, &r, &err) == 0) {
        must(r.count > 0 && r.count <= CS_META_SERVERS);
        must(strncasecmp(r.resource, "https://mcp.example.com", 23) == 0);
        for (size_t k = 0; k < r.count; k++) {
            const char *urls[3];
            must(cs_issuer_meta_urls(r.issuers[k], &arena, urls) >= 2);
        }
        bounded(r.scopes);
    } else {
        must(err.code != CS_OK);
    }
    if (cs_issuer_meta_parse(text, "https://as", &arena, &i, NULL) == 0)
        must(i.token && strncmp(i.issuer, "https://as", 10) == 0);
    if (cs_registration_parse(text, &arena, &g, NULL) == 0)
        must(g.client_id[0]);
    if (cs_tokens_parse(text, &arena, &t, NULL) == 0)
        must(t.access[0] && !strpbrk(t.access, "\r\n ") && t.expires_in >= 0);
    cs_oauth_error(text, 400, code, &err);
    cs_body_text(text, said, sizeof said);
    must(strlen(said) <= 200);
    cs_is_response(text);
    cs_is_rpc_error(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(struct cs_str) = {url, query, challenge, json};
    if (size == 0 || size > 1 << 16)
        return 0;
    readers[data[0] % CS_COUNT(readers)](cs_strn((const char *)data + 1, size - 1));
    return 0;
}
