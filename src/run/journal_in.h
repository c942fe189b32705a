/*
 * Inside of the journal: its bytes. Records follow one another, each a u8 type and a string (u32
 * length, bytes) whose fields are those of sandbox/wire.h:
 *
 *   VERSION  CS_JOURNAL_VERSION; the first one, once
 *   REQUEST  u8 language, u8 clock, u8 cache, u8 durable, ref code, ref inputs, str principal,
 *            str session, str intent, str actor type, u32 count, so many u64 limits
 *   PRIVACY  u8 level that it says things at, u8 level that was asked for; not there: it is not
 *            protected
 *   BEGIN    u64 seed, u64 seed, u64 start, u8 has state, u64 state bytes, ref state, ref globals
 *   HEARD    u8 what, str key, u32 occurrence, u32 call, str server, str tool, u64 time,
 *            u8 status, u8 answer, str canonical, ref payload
 *   SENT     as HEARD, up to time, which is that of the day
 *   ASKED    as SENT, then u8 status, u64 bytes of its result
 *   MADE     str tokens that values of the program's own got, as cs_vault_record gives them
 *   END      u8 how, u8 limit, u8 scratch was full, u64 time, str hash of the state
 *
 * A ref is u8 0 and a string, or u8 1, u64 size and the string of its hash: a blob.
 */
#ifndef CS_RUN_JOURNAL_IN_H
#define CS_RUN_JOURNAL_IN_H

#include "run/journal.h"
#include "sandbox/wire.h"

#define CS_JOURNAL_VERSION "caisson journal 1\n"

enum cs_record {
    CS_RECORD_VERSION = 'C',
    CS_RECORD_REQUEST = 1,
    CS_RECORD_BEGIN,
    CS_RECORD_HEARD, /* in the order of enum cs_journal_kind */
    CS_RECORD_SENT,
    CS_RECORD_ASKED,
    CS_RECORD_END,
    CS_RECORD_PRIVACY,
    CS_RECORD_MADE,
};

#endif
