/* Who gives out tokens for a server, and how: RFC 9728, then RFC 8414 or OpenID discovery. */
#include "tools/flow.h"
#include "tools/url.h"

static void find_issuer(struct cs_flow *f);
static void next_resource(struct cs_flow *f);
static void next_issuer(struct cs_flow *f);

static void fail(struct cs_flow *f, const struct cs_err *err)
{
    cs_flow_end(f, false, err);
}

static void got_resource(struct cs_flow *f, int status, struct cs_str body)
{
    struct cs_err err = {0};
    if (status != 200)
        next_resource(f);
    else if (cs_resource_meta_parse(body, f->url, &f->arena, &f->resource, &err) == 0)
        find_issuer(f);
    else if (err.code == CS_DENIED)
        fail(f, &err);
    else if (f->url_at < f->url_count)
        next_resource(f);
    else
        fail(f, &err);
}

static void next_resource(struct cs_flow *f)
{
    struct cs_url server;
    if (f->url_at < f->url_count) {
        cs_flow_get(f, f->urls[f->url_at++], got_resource);
        return;
    }
    /* As before RFC 9728: the server's own host is its authorization server. */
    cs_url_parse(cs_str(f->url), &server, NULL);
    CS_AUTO_BUF struct cs_buf origin = {0};
    cs_url_origin(&server, &origin);
    f->resource = (struct cs_resource_meta){.resource = f->url, .count = 1};
    f->resource.issuers[0] = cs_arena_dup(&f->arena, cs_buf_str(&origin)).at;
    find_issuer(f);
}

static void got_issuer(struct cs_flow *f, int status, struct cs_str body)
{
    struct cs_err err = {0};
    if (status != 200) {
        next_issuer(f);
    } else if (cs_issuer_meta_parse(body, f->resource.issuers[0], &f->arena, &f->issuer, &err) <
               0) {
        if (err.code == CS_DENIED || f->url_at == f->url_count)
            fail(f, &err);
        else
            next_issuer(f);
    } else if (cs_endpoint_check(f->issuer.token, f->url, "token endpoint", &err) < 0) {
        fail(f, &err);
    } else {
        f->discovered(f);
    }
}

static void next_issuer(struct cs_flow *f)
{
    struct cs_err err = {0};
    if (f->url_at < f->url_count) {
        cs_flow_get(f, f->urls[f->url_at++], got_issuer);
        return;
    }
    if (f->fetch_err.code != CS_OK)
        err = f->fetch_err;
    else
        cs_fail(
            &err, CS_UPSTREAM,
            "the authorization server %.150s publishes no metadata, so a login is not possible; "
            "if it has API keys, put one into the headers of the server's entry",
            f->resource.issuers[0]);
    fail(f, &err);
}

static void find_issuer(struct cs_flow *f)
{
    struct cs_err err = {0};
    const char *issuer = f->resource.issuers[0];
    if (cs_endpoint_check(issuer, f->url, "authorization server", &err) < 0) {
        fail(f, &err);
        return;
    }
    f->url_at = 0;
    f->url_count = cs_issuer_meta_urls(issuer, &f->arena, f->urls);
    next_issuer(f);
}

void cs_flow_discover(struct cs_flow *f, void (*then)(struct cs_flow *f))
{
    f->discovered = then;
    f->url_at = f->url_count = 0;
    const char *told = f->challenge.resource_metadata;
    if (told && cs_endpoint_check(told, f->url, "resource metadata", NULL) == 0)
        f->urls[f->url_count++] = told;
    f->url_count += cs_resource_meta_urls(f->url, &f->arena, f->urls + f->url_count);
    next_resource(f);
}
