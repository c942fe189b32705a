#include "sandbox/keeper.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/role.h"

struct message {
    pid_t group;
    int keep; /* 0: no longer */
};

/* ---- in the daemon ---- */

/* Started with the first server, one for the life of this process. */
static struct {
    pthread_mutex_t lock;
    struct cs_role role;
} keeper = {PTHREAD_MUTEX_INITIALIZER, {0, -1, -1}};

static bool tell(struct message m)
{
    return cs_role_send(keeper.role.control, &m, sizeof m, NULL, 0, NULL) == 0;
}

void cs_keep(pid_t group)
{
    struct message m = {group, 1};
    if (!cs_role_can_spawn())
        return;
    pthread_mutex_lock(&keeper.lock);
    if (keeper.role.pid > 0 && !tell(m) && errno != EAGAIN)
        cs_role_end(&keeper.role);
    if (keeper.role.pid <= 0 && cs_role_spawn("keeper", &keeper.role, NULL) == 0)
        tell(m);
    pthread_mutex_unlock(&keeper.lock);
}

void cs_unkeep(pid_t group)
{
    pthread_mutex_lock(&keeper.lock);
    if (keeper.role.pid > 0)
        tell((struct message){group, 0});
    pthread_mutex_unlock(&keeper.lock);
}

/* ---- the keeper ---- */

int cs_keeper_main(void)
{
    static pid_t groups[CS_KEPT];
    size_t count = 0;
    struct message m;
    for (;;) {
        ssize_t n = recv(CS_ROLE_CONTROL, &m, sizeof m, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != sizeof m)
            break;
        size_t at = 0;
        while (at < count && groups[at] != m.group)
            at++;
        if (m.keep && at == count && count < CS_KEPT && m.group > 1)
            groups[count++] = m.group;
        else if (!m.keep && at < count)
            groups[at] = groups[--count];
    }
    for (size_t i = 0; i < count; i++)
        kill(-groups[i], SIGKILL);
    _exit(0);
}
