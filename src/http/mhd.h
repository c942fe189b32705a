/*
 * libmicrohttpd, loaded when the first server is made: linking it would bring GnuTLS and its
 * libraries to every start of the program.
 *
 * Runs in: daemon, loop thread. It stays loaded until the process ends.
 * Failure: CS_MISSING that names the package to install.
 */
#ifndef CS_HTTP_MHD_H
#define CS_HTTP_MHD_H

#include <microhttpd.h>

#include "base/err.h"

#define CS_MHD_FUNCTIONS(X)          \
    X(start_daemon)                  \
    X(stop_daemon)                   \
    X(run)                           \
    X(get_timeout)                   \
    X(get_daemon_info)               \
    X(get_connection_info)           \
    X(add_connection)                \
    X(suspend_connection)            \
    X(resume_connection)             \
    X(get_connection_values)         \
    X(lookup_connection_value)       \
    X(queue_response)                \
    X(destroy_response)              \
    X(add_response_header)           \
    X(create_response_from_callback) \
    X(create_response_from_buffer_with_free_callback)

struct cs_mhd {
#define X(name) __typeof__(MHD_##name) *name;
    CS_MHD_FUNCTIONS(X)
#undef X
};

/* The same table each time. */
int cs_mhd_load(const struct cs_mhd **mhd, struct cs_err *err);

#endif
