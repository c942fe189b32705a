/*
 * Coverage of processes that end without ceremony. In an ordinary build these are nothing.
 *
 * gcov writes its counters when a process exits, but workers and roles are killed, or leave by
 * _exit. They save what they have counted before they say their last word; a jailed one has no file
 * to save it to.
 */
#ifndef CS_BASE_COVER_H
#define CS_BASE_COVER_H

#ifdef CS_COVERAGE
void cs_cover_save(void);
void cs_cover_off(void); /* the jail has closed */
#else
static inline void cs_cover_save(void)
{
}
static inline void cs_cover_off(void)
{
}
#endif

#endif
