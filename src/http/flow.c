#include "http/flow.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

struct cs_flow cs_flow_of(int fd)
{
    struct tcp_info info = {0};
    socklen_t len = sizeof info;
    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
    return (struct cs_flow){info.tcpi_bytes_received, info.tcpi_bytes_acked};
}
