/*
 * The only way out of a jailed server that names hosts: an HTTP proxy on the loopback of its own
 * network namespace, served by the daemon.
 *
 * Runs in: daemon, loop thread; names are resolved by libuv's threads.
 * Owner:   whoever opened it; cs_proxy_close ends it, and it frees itself on the loop.
 * Size:    64 connections, each with two buffers of 64 KiB and a head of at most 32 KiB.
 *
 * What it speaks is in proxy_head.h. An address that is not of the public internet is refused,
 * however it was come by, unless `hosts` names that very address.
 */
#ifndef CS_SANDBOX_PROXY_H
#define CS_SANDBOX_PROXY_H

#include <uv.h>

#include "base/err.h"

struct cs_proxy;

/* CS_INVALID if one of `hosts` (NULL at the end, or NULL) makes no sense. */
int cs_proxy_check(const char *const *hosts, struct cs_err *err);

/* Takes `listener`, also when it fails. */
int cs_proxy_open(uv_loop_t *loop, int listener, const char *const *hosts, struct cs_proxy **proxy,
                  struct cs_err *err);

/* Ends all connections at once. NULL is fine. */
void cs_proxy_close(struct cs_proxy *proxy);

#endif
