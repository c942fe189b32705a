/*
 * One program, several roles that differ in trust. The role is chosen here, and nothing else is
 * parsed.
 */
#include "front/front.h"
#include "sandbox/sandbox.h"
#include "worker/worker.h"

int main(int argc, char **argv)
{
    static const struct cs_engine_hooks engine = {cs_worker_warm, cs_worker_serve, cs_worker_polish,
                                                  cs_worker_rehearse, cs_worker_learn};
    int status = cs_role_main(argc, argv, &engine);
    return status >= 0 ? status : cs_front_main(argc, argv);
}
