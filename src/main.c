/*
 * One program, several roles that differ in trust. The role is chosen here, and nothing else is
 * parsed.
 */
#include <fcntl.h>
#include <unistd.h>

#include "front/front.h"
#include "sandbox/sandbox.h"
#include "worker/worker.h"

/* Descriptors 0 to 2 are taken by something, so that nothing of ours lands there and is written to.
 */
static void fill_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

int main(int argc, char **argv)
{
    fill_standard_streams();
    static const struct cs_engine_hooks engine = {cs_worker_warm, cs_worker_serve, cs_worker_polish,
                                                  cs_worker_rehearse, cs_worker_learn};
    int status = cs_role_main(argc, argv, &engine);
    return status >= 0 ? status : cs_front_main(argc, argv);
}
