/*
 * libcurl, loaded when the first HTTP server is used: linking it would bring some thirty libraries
 * to every start of the program.
 *
 * Runs in: daemon and command line, loop thread. It stays loaded until the process ends.
 * Failure: CS_MISSING that names the package to install.
 */
#ifndef CS_TOOLS_CURL_H
#define CS_TOOLS_CURL_H

#include <curl/curl.h>

#include "base/err.h"

#define CS_CURL_FUNCTIONS(X) \
    X(global_init)           \
    X(easy_init)             \
    X(easy_cleanup)          \
    X(easy_setopt)           \
    X(easy_getinfo)          \
    X(easy_strerror)         \
    X(multi_init)            \
    X(multi_cleanup)         \
    X(multi_setopt)          \
    X(multi_add_handle)      \
    X(multi_remove_handle)   \
    X(multi_socket_action)   \
    X(multi_info_read)       \
    X(multi_assign)          \
    X(slist_append)          \
    X(slist_free_all)

struct cs_curl {
#define X(name) __typeof__(curl_##name) *name;
    CS_CURL_FUNCTIONS(X)
#undef X
};

/* The same table each time. */
int cs_curl_load(const struct cs_curl **curl, struct cs_err *err);

#endif
