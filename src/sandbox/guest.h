/*
 * A guest: python3, bash or node in the same jail, with a read-only view of the system directories;
 * or a tool server there.
 *
 * Runs in: cs_guest_main in the launcher and then in the jail; cs_guest_call_main in the jail, as
 * the shell's `caisson` command; the rest in the daemon (loop thread). Order:   spawn -> read the
 * reply (pid, pidfd, directories) -> copy files in beneath the directory fds -> go -> ... the pidfd
 * becomes readable -> copy files out -> close the fds.
 *
 * The launcher makes every namespace anew for each guest, builds the root, then forks pid 1 (our
 * own reaper, as a child of the daemon by CLONE_PARENT) and ends. Pid 1 starts the interpreter.
 * That of a server passes signals on to all, and ends as the server did (128 + signal).
 */
#ifndef CS_SANDBOX_GUEST_H
#define CS_SANDBOX_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "sandbox/limits.h"
#include "sandbox/zygote.h"

enum cs_guest_language {
    CS_GUEST_PYTHON,
    CS_GUEST_BASH,
    CS_GUEST_NODE,
    CS_GUEST_SERVER /* a tool server: `source` is from cs_server_put, `inputs` nothing */
};

struct cs_guest_spec {
    struct cs_jail_options jail;
    enum cs_guest_language language;
    struct cs_str source;
    struct cs_str inputs; /* JSON */
    struct cs_str state;  /* JSON; empty: there is none */
    struct cs_limits limits;
    /* Directory fds shown read-only as /mcp-servers and /skills, or -1. A guest reads them as
     * jail.host_uid, so as root their files must be readable for everybody. */
    int mcp_servers;
    int skills;
};

struct cs_guest {
    pid_t launcher;
    int launcher_pidfd;
    int control; /* SOCK_SEQPACKET, non-blocking: the reply, then `go`, then the end report */
    int bridge;  /* stream of wire.h frames, from the SDK inside; of a server: its stdin */
    int out;     /* stdout and stderr of the guest, read ends, non-blocking */
    int err;
    bool answered; /* BUILT or FAILED has been read */
};

struct cs_guest_reply {
    enum {
        CS_GUEST_BUILT,   /* the jail stands: pid, pidfd, directories are valid; nothing runs yet */
        CS_GUEST_STARTED, /* of a server, after `go`: it has been executed */
        CS_GUEST_ENDED,   /* the interpreter ended: `status` as from waitpid; the rest dies now */
        CS_GUEST_FAILED   /* err says what could not be built or started */
    } kind;
    pid_t pid;
    int pidfd;     /* the caller owns these three */
    int workspace; /* the tmpfs behind /workspace and /tmp, as directories */
    int tmp;
    int listener; /* of a server with a network: for its proxy; else -1 */
    int status;
    struct cs_err err;
};

int cs_guest_spawn(const struct cs_guest_spec *spec, struct cs_guest *guest, struct cs_err *err);

/* 1: a reply; 0: none there yet; -1: launcher and pid 1 are gone without a word. */
int cs_guest_reply(struct cs_guest *guest, struct cs_guest_reply *reply, struct cs_err *err);

/* After the pid has joined its cage and the files are in place. */
int cs_guest_go(struct cs_guest *guest, struct cs_err *err);

/*
 * Files in the guest's directories belong to jail.host_uid, and its tmpfs knows no other id: as
 * root, call this with such a directory before making files there, and with -1 afterwards. What the
 * calling thread makes then belongs to the owner of the directory; its rights stay those of root.
 * Does nothing when not root.
 */
void cs_guest_files_as(int dir);

/*
 * Closes the fds and reaps the launcher. The jailed tree must have been killed by its pidfd. Before
 * the first reply was read this waits for it (some milliseconds), to bury what it brings.
 */
void cs_guest_close(struct cs_guest *guest);

/* NULL if the interpreter is installed, else a sentence that says what to install. */
const char *cs_guest_missing(enum cs_guest_language language);

int cs_guest_main(void);
int cs_guest_call_main(int argc, char **argv);

#endif
