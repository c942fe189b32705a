#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/own.h"
#include "http/inside.h"

#define BACKLOG     4096
#define PEM_MAX     (1u << 20)
#define KEEP_IDLE_S 60 /* a peer without a cable is noticed after two minutes */
#define KEEP_EACH_S 15
#define KEEP_COUNT  4
#define NO_ACK_MS   120000

static void put_address(char *to, size_t size, const char *host, uint16_t port)
{
    snprintf(to, size, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
}

static int fail_bind(struct cs_err *err, const char *host, uint16_t port, int error)
{
    char at[300];
    put_address(at, sizeof at, host, port);
    if (error == EADDRINUSE)
        return cs_fail(err, CS_CONFLICT,
                       "%s is in use by another program: choose another with --port, or 0 for any",
                       at);
    if (error == EACCES)
        return cs_fail(err, CS_DENIED, "%s needs privileges: choose a port above 1023 with --port",
                       at);
    if (error == EADDRNOTAVAIL)
        return cs_fail(err, CS_INVALID, "%s is no address of this machine: choose another host",
                       at);
    errno = error;
    return cs_fail_errno(err, "listening on %s", at);
}

/* Accepted sockets inherit these. */
static void keep_alive(int fd)
{
    const struct {
        int level, name, value;
    } wanted[] = {{SOL_SOCKET, SO_REUSEADDR, 1},
                  {SOL_SOCKET, SO_KEEPALIVE, 1},
                  {IPPROTO_TCP, TCP_KEEPIDLE, KEEP_IDLE_S},
                  {IPPROTO_TCP, TCP_KEEPINTVL, KEEP_EACH_S},
                  {IPPROTO_TCP, TCP_KEEPCNT, KEEP_COUNT},
                  {IPPROTO_TCP, TCP_USER_TIMEOUT, NO_ACK_MS}};
    for (size_t i = 0; i < CS_COUNT(wanted); i++)
        setsockopt(fd, wanted[i].level, wanted[i].name, &wanted[i].value, sizeof wanted[i].value);
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage a = {0};
    socklen_t len = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
        return 0;
    return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
                                         : ((struct sockaddr_in *)&a)->sin_port);
}

/* errno if it did not work. */
static int listen_on(const struct addrinfo *a, int *out)
{
    CS_AUTO_FD int fd =
        socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (fd < 0)
        return errno;
    keep_alive(fd);
    if (bind(fd, a->ai_addr, a->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
        return errno;
    *out = CS_TAKE_FD(fd);
    return 0;
}

int cs_http_bind(const char *host, uint16_t port, int *fd, uint16_t *bound, struct cs_err *err)
{
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(host, service, &hints, &found);
    if (rc != 0)
        return cs_fail(err, CS_INVALID, "there is no host '%s' to listen on: %s", host,
                       gai_strerror(rc));
    int error = EADDRNOTAVAIL;
    for (struct addrinfo *a = found; a && error != 0; a = a->ai_next)
        error = listen_on(a, fd);
    freeaddrinfo(found);
    if (error != 0)
        return fail_bind(err, host, port, error);
    *bound = port_of(*fd);
    return 0;
}

int cs_http_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void cs_http_raise_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int check_pair(struct cs_str cert, struct cs_str key, const char *cert_path,
                      const char *key_path, struct cs_err *err)
{
    BIO *cert_in = BIO_new_mem_buf(cert.at, (int)cert.len);
    BIO *key_in = BIO_new_mem_buf(key.at, (int)key.len);
    X509 *x509 = cert_in ? PEM_read_bio_X509(cert_in, NULL, NULL, NULL) : NULL;
    EVP_PKEY *pkey = key_in ? PEM_read_bio_PrivateKey(key_in, NULL, NULL, "") : NULL;
    int rc = 0;
    if (!x509)
        rc = cs_fail(err, CS_INVALID, "%s: there is no certificate in PEM form in it", cert_path);
    else if (!pkey)
        rc = cs_fail(err, CS_INVALID,
                     "%s: there is no private key in PEM form in it, or it has a password",
                     key_path);
    else if (X509_check_private_key(x509, pkey) != 1)
        rc = cs_fail(err, CS_INVALID, "%s is not the key of the certificate %s", key_path,
                     cert_path);
    ERR_clear_error();
    EVP_PKEY_free(pkey);
    X509_free(x509);
    BIO_free(key_in);
    BIO_free(cert_in);
    return rc;
}

int cs_http_read_tls(const char *cert_path, const char *key_path, struct cs_buf *cert,
                     struct cs_buf *key, struct cs_err *err)
{
    if (!cert_path || !key_path)
        return cs_fail(err, CS_INVALID, "TLS needs both a certificate and its key");
    if (cs_file_read(cert_path, PEM_MAX, cert, err) < 0 ||
        cs_file_read(key_path, PEM_MAX, key, err) < 0)
        return cs_wrap(err, "TLS");
    return check_pair(cs_buf_str(cert), cs_buf_str(key), cert_path, key_path, err);
}
