#include "sandbox/guest.h"
#include "sandbox/walls.h"
int cs_guest_main(void)
{
    return 1;
}
int cs_guest_call_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 1;
}
int cs_walls_main(void)
{
    return 1;
}
