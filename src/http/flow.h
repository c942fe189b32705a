/*
 * How many bytes a TCP connection has moved, as the kernel knows. A file of its own: the kernel's
 * header and that of the C library, which libuv brings, exclude each other.
 */
#ifndef CS_HTTP_FLOW_H
#define CS_HTTP_FLOW_H

#include <stdint.h>

struct cs_flow {
    uint64_t received;
    uint64_t taken; /* that the peer has confirmed */
};

struct cs_flow cs_flow_of(int fd);

#endif
