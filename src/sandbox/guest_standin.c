#include "sandbox/guest.h"
int cs_guest_spawn(const struct cs_guest_spec *s, struct cs_guest *g, struct cs_err *err)
{
    (void)s;
    (void)g;
    return cs_fail(err, CS_SYSTEM, "stub");
}
int cs_guest_reply(struct cs_guest *g, struct cs_guest_reply *r, struct cs_err *err)
{
    (void)g;
    (void)r;
    (void)err;
    return -1;
}
int cs_guest_go(struct cs_guest *g, struct cs_err *err)
{
    (void)g;
    (void)err;
    return -1;
}
void cs_guest_close(struct cs_guest *g)
{
    (void)g;
}
const char *cs_guest_missing(enum cs_guest_language l)
{
    (void)l;
    return "stub";
}
#include "sandbox/walls.h"
int cs_walls_probe(struct cs_wall_state s[CS_WALL_COUNT], struct cs_err *err)
{
    (void)s;
    return cs_fail(err, CS_SYSTEM, "stub");
}
