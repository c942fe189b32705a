#include "worker/crash.h"

#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/buf.h"
#include "sandbox/wire.h"
#include "worker/clock.h"

/* How long microtasks may go on after the program's answer is known: processor time, so that a busy
 * machine takes nothing of it. */
#define GRACE_US 2000

#define STACK_BYTES (64 * 1024)

/* Told by the exit status to whoever debugs: 70 is EX_SOFTWARE. */
#define EXIT_CRASHED 70

static struct {
    int sock;
    volatile sig_atomic_t armed, sending, answer_when_sent;
    struct cs_buf memory, crash; /* whole DONE frames */
    struct cs_str answer;
    char stack[STACK_BYTES]; /* the handlers' own: the program may have used up the other */
} last;

static void send_all(struct cs_str frame)
{
    while (frame.len > 0) {
        ssize_t n = send(last.sock, frame.at, frame.len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        frame = cs_strn(frame.at + n, frame.len - (size_t)n);
    }
}

static void on_crash(int sig)
{
    (void)sig;
    if (last.armed && !last.sending) {
        last.sending = 1;
        send_all(cs_buf_str(cs_memory_refused() > 0 ? &last.memory : &last.crash));
    }
    _exit(EXIT_CRASHED);
}

static void on_alarm(int sig)
{
    (void)sig;
    if (last.sending) {
        last.answer_when_sent = 1;
        return;
    }
    send_all(last.answer);
    _exit(0);
}

static void prebuild(struct cs_buf *frame, const char *json)
{
    size_t mark = cs_frame_begin(frame, CS_MSG_DONE, 0, 0);
    cs_put_u8(frame, CS_OUTCOME_ERROR);
    cs_put_str(frame, cs_str(json));
    cs_put_u32(frame, frame == &last.memory);
    cs_put_str(frame, CS_STR(""));
    cs_frame_end(frame, mark);
}

void cs_crash_install(void)
{
    prebuild(&last.memory,
             "{\"type\":\"resource_error\",\"name\":\"RangeError\",\"message\":\"the program ran "
             "out of memory\",\"suggestion\":\"Keep less in memory at once: process the data in "
             "parts, or ask for a higher memory limit.\",\"limit\":{\"name\":\"memory\"}}");
    prebuild(&last.crash,
             "{\"type\":\"runtime_error\",\"name\":\"InternalError\",\"message\":\"the "
             "engine crashed\",\"suggestion\":\"Simplify the program; what it did last "
             "is in the logs.\"}");
    stack_t stack = {.ss_sp = last.stack, .ss_size = sizeof last.stack};
    sigaltstack(&stack, NULL);

    static const int fatal[] = {SIGABRT, SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    struct sigaction crash = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_RESETHAND};
    for (size_t i = 0; i < CS_COUNT(fatal); i++) {
#ifdef __SANITIZE_ADDRESS__
        /* The sanitizer's own report is worth more. */
        if (fatal[i] == SIGSEGV || fatal[i] == SIGBUS || fatal[i] == SIGFPE)
            continue;
#endif
        sigaction(fatal[i], &crash, NULL);
    }
    struct sigaction alarm = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigaction(SIGPROF, &alarm, NULL);
}

void cs_crash_arm(int sock)
{
    last.sock = sock;
    last.armed = 1;
}

void cs_crash_sending(bool sending)
{
    last.sending = sending;
    if (!sending && last.answer_when_sent)
        on_alarm(SIGPROF);
}

void cs_crash_answer(struct cs_str frame)
{
    last.answer = frame;
    struct itimerval grace = {.it_value = {.tv_usec = frame.len ? GRACE_US : 0}};
    setitimer(ITIMER_PROF, &grace, NULL);
}
