#include "http/http.h"

int cs_http_listen(uv_loop_t *loop, const struct cs_http_options *options,
                   const struct cs_http_handler *handler, void *ctx, struct cs_http **http,
                   struct cs_err *err)
{
    (void)loop, (void)handler, (void)ctx, (void)http;
    return cs_fail(err, CS_SYSTEM, "%s:%u cannot be served", options->host, options->port);
}

uint16_t cs_http_port(const struct cs_http *http)
{
    (void)http;
    return 0;
}

unsigned cs_http_connections(const struct cs_http *http)
{
    (void)http;
    return 0;
}

void cs_http_drain(struct cs_http *http)
{
    (void)http;
}

void cs_http_close(struct cs_http *http, void (*closed)(void *ctx), void *ctx)
{
    (void)http, (void)closed, (void)ctx;
}

struct cs_str cs_exchange_method(const struct cs_exchange *x)
{
    (void)x;
    return CS_STR("GET");
}

struct cs_str cs_exchange_path(const struct cs_exchange *x)
{
    (void)x;
    return CS_STR("/");
}

struct cs_str cs_exchange_query(const struct cs_exchange *x, const char *name)
{
    (void)x, (void)name;
    return cs_strn(NULL, 0);
}

struct cs_str cs_exchange_header(const struct cs_exchange *x, const char *name)
{
    (void)x, (void)name;
    return cs_strn(NULL, 0);
}

unsigned cs_exchange_header_count(const struct cs_exchange *x, const char *name)
{
    (void)x, (void)name;
    return 0;
}

struct cs_str cs_exchange_body(const struct cs_exchange *x)
{
    (void)x;
    return cs_strn(NULL, 0);
}

struct cs_str cs_exchange_peer(const struct cs_exchange *x)
{
    (void)x;
    return cs_strn(NULL, 0);
}

bool cs_exchange_is_loopback(const struct cs_exchange *x)
{
    (void)x;
    return false;
}

bool cs_exchange_is_tls(const struct cs_exchange *x)
{
    (void)x;
    return false;
}

void cs_exchange_expect(struct cs_exchange *x, uint64_t body_bytes)
{
    (void)x, (void)body_bytes;
}

void cs_exchange_on_gone(struct cs_exchange *x, void (*gone)(void *ctx, struct cs_exchange *x),
                         void *ctx)
{
    (void)x, (void)gone, (void)ctx;
}

void cs_exchange_set(struct cs_exchange *x, const char *name, struct cs_str value)
{
    (void)x, (void)name, (void)value;
}

void cs_exchange_reply(struct cs_exchange *x, unsigned status, const char *type, struct cs_str body)
{
    (void)x, (void)status, (void)type, (void)body;
}

void cs_exchange_stream(struct cs_exchange *x, unsigned status, const char *type)
{
    (void)x, (void)status, (void)type;
}

bool cs_exchange_write(struct cs_exchange *x, struct cs_str bytes)
{
    (void)x, (void)bytes;
    return false;
}

void cs_exchange_end(struct cs_exchange *x)
{
    (void)x;
}
