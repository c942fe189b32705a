/*
 * The doors. This one is the command line: words become a struct cs_request, a struct cs_result is
 * printed.
 *
 * Runs in: daemon.
 */
#ifndef CS_FRONT_FRONT_H
#define CS_FRONT_FRONT_H

/* Returns the exit status: 0; 1 the program failed; 2 usage; 3 denied; 4 limit; 5 our fault. */
int cs_front_main(int argc, char **argv);

#endif
