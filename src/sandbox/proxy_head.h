/*
 * What the proxy of a jailed server understands, and whom it lets be reached. Pure functions.
 *
 *     CONNECT host:port HTTP/1.1          a tunnel
 *     GET http://host[:port]/path HTTP/1.1    and the other usual methods: one request
 *
 * Runs in: daemon, loop thread. The bytes are the jailed server's, so hostile: a head has at most
 * CS_PROXY_HEAD bytes and 100 fields, and is read in one pass.
 */
#ifndef CS_SANDBOX_PROXY_HEAD_H
#define CS_SANDBOX_PROXY_HEAD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define CS_PROXY_HEAD  (32u << 10)
#define CS_PROXY_NAME  256 /* a host name, with its NUL */
#define CS_PROXY_HOSTS 256 /* entries in `hosts` */

/* One entry: "example.org", "*.example.org", "10.0.0.5:8080", "[fd00::1]:80". */
struct cs_host {
    char name[CS_PROXY_NAME]; /* lower case; of "*.x" the ".x"; of an address its usual form */
    uint16_t port;            /* 0: 443 and 80 */
    bool suffix;
    bool address;
};

struct cs_hosts {
    struct cs_host *all;
    size_t count;
};

/* From a list with NULL at the end (or NULL). CS_INVALID names the entry and what is allowed. */
int cs_hosts_parse(const char *const *list, struct cs_hosts *hosts, struct cs_err *err);
void cs_hosts_done(struct cs_hosts *hosts);

/* `name` as in struct cs_proxy_request. */
bool cs_hosts_allow(const struct cs_hosts *hosts, const char *name, uint16_t port);

/*
 * May this address (of an allowed name) be connected to? Those of the public internet may; private,
 * local, link-local, metadata, multicast and reserved ones only if `hosts` names them.
 */
bool cs_hosts_allow_address(const struct cs_hosts *hosts, const struct sockaddr *address,
                            uint16_t port);

bool cs_address_is_public(const struct sockaddr *address);

struct cs_proxy_request {
    bool tunnel;
    char name[CS_PROXY_NAME]; /* lower case, without brackets or a dot at the end */
    uint16_t port;
    struct cs_str method; /* these two point into the head */
    struct cs_str path;   /* with its query; may be empty or begin with '?' */
    bool chunked;
    uint64_t body; /* bytes after the head; not for tunnels and chunks */
    /* if it cannot be served: */
    int status; /* 400, 405, 501 */
    const char *why;
};

/* Length of the head, its empty line included, or 0 if that has not come yet. `from` is how many
 * bytes were looked at before. */
size_t cs_proxy_head_end(struct cs_str bytes, size_t from);

/* `head` is complete. False: status and why say what is wrong. */
bool cs_proxy_parse(struct cs_str head, struct cs_proxy_request *request);

/* The head as it goes to the host: origin form, without what is about the proxy. */
void cs_proxy_rewrite(struct cs_str head, const struct cs_proxy_request *request,
                      struct cs_buf *out);

#endif
