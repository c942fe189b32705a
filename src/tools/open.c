/* A client over the transport that its server's entry asks for. */
#include "tools/client_in.h"

static int open_transport(void *ctx, uv_loop_t *loop, const struct cs_server_config *server,
                          const struct cs_client_options *options,
                          const struct cs_transport_events *events, void *events_ctx,
                          struct cs_transport **transport, struct cs_err *err)
{
    (void)ctx;
    if (!server->is_http)
        return cs_stdio_new(loop, server, events, events_ctx, transport, err);
    if (!options->http)
        return cs_fail(err, CS_BUG, "there is no HTTP here");
    return cs_http_new(options->http, server, options->oauth, events, events_ctx, transport, err);
}

struct cs_client *cs_client_new(uv_loop_t *loop, const struct cs_server_config *server,
                                const struct cs_client_options *options,
                                const struct cs_client_events *events, void *ctx)
{
    struct cs_client_parts parts = cs_client_parts_default;
    parts.open = open_transport;
    return cs_client_new_with(loop, server, options, events, ctx, &parts);
}
