/*
 * Programs nobody wrote: everything that has to do with time, order and chance, nested and in
 * parallel. The same seed gives the same program. It returns a trace of what it saw.
 *
 * They call tools of one server: echo (its arguments), slow, random and fails; what those answer,
 * and when, is up to the test. it/tools/programs.c prints them for tests in Python.
 */
#ifndef TESTS_LIB_PROGRAMS_H
#define TESTS_LIB_PROGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct program_maker {
    uint64_t chance;
    struct cs_buf *out;
    unsigned names;  /* given so far */
    unsigned budget; /* statements that may still be made */
};

static inline uint32_t program_roll(struct program_maker *m, uint32_t sides)
{
    m->chance += 0x9e3779b97f4a7c15u;
    uint64_t z = m->chance;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) % sides);
}

static inline void program_block(struct program_maker *m, unsigned depth);

static inline void program_branch(struct program_maker *m, unsigned depth)
{
    cs_buf_printf(m->out, "(async () => {\n");
    program_block(m, depth + 1);
    cs_buf_printf(m->out, "return %u; })()", ++m->names);
}

static inline void program_parallel(struct program_maker *m, unsigned depth)
{
    static const char *const how[] = {"all", "race", "any", "allSettled"};
    cs_buf_printf(m->out, "try { note('%s', await Promise.%s([", how[program_roll(m, 4)],
                  how[program_roll(m, 4)]);
    unsigned n = 2 + program_roll(m, 3);
    for (unsigned i = 0; i < n; i++) {
        if (i)
            cs_buf_printf(m->out, ", ");
        program_branch(m, depth);
    }
    cs_buf_printf(m->out, "])); } catch (e) { note('lost', e.message); }\n");
}

static inline void program_interval(struct program_maker *m, unsigned depth)
{
    unsigned name = ++m->names, ms = program_roll(m, 4), times = 1 + program_roll(m, 4);
    (void)depth;
    if (program_roll(m, 2))
        cs_buf_printf(m->out,
                      "let k%u = 0; const i%u = setInterval(() => { note('every', ++k%u); "
                      "if (k%u >= %u) clearInterval(i%u); }, %u);\n",
                      name, name, name, name, times, name, ms);
    else
        cs_buf_printf(m->out,
                      "const i%u = setInterval(() => note('tick %u', Math.random()), %u); "
                      "await pause(%u); clearInterval(i%u);\n",
                      name, name, ms + 1, times * 2, name);
}

static inline void program_later(struct program_maker *m, unsigned depth)
{
    switch (program_roll(m, 4)) {
    case 0:
        cs_buf_printf(m->out, "setTimeout(async () => {\n");
        program_block(m, depth + 1);
        cs_buf_printf(m->out, "}, %u);\n", program_roll(m, 6));
        return;
    case 1:
        cs_buf_printf(m->out, "setImmediate(() => note('soon %u'));\n", ++m->names);
        return;
    case 2:
        cs_buf_printf(m->out, "queueMicrotask(() => note('micro %u'));\n", ++m->names);
        return;
    default:
        cs_buf_printf(m->out,
                      "AbortSignal.timeout(%u).addEventListener('abort', "
                      "(e) => note('abort %u', e.timeStamp));\n",
                      program_roll(m, 8), ++m->names);
    }
}

static inline void program_call(struct program_maker *m, unsigned depth)
{
    static const char *const tools[] = {"echo", "slow", "random", "fails"};
    (void)depth;
    bool waits = program_roll(m, 6) != 0;
    cs_buf_printf(m->out, "%scall('%s', { n: %u, at: %s });\n", waits ? "await " : "void ",
                  tools[program_roll(m, 4)], program_roll(m, 3),
                  program_roll(m, 2) ? "Date.now()" : "0");
}

static inline void program_file(struct program_maker *m, unsigned depth)
{
    (void)depth;
    const char *dir = program_roll(m, 2) ? "/workspace" : "/tmp";
    unsigned name = program_roll(m, 3);
    switch (program_roll(m, 5)) {
    case 0:
        cs_buf_printf(m->out,
                      "await file('write', '%s/f%u', () => fs.writeFile('%s/f%u', "
                      "`${Math.random()} ${Date.now()}\\n`));\n",
                      dir, name, dir, name);
        return;
    case 1:
        cs_buf_printf(m->out,
                      "void file('append', '%s/f%u', () => fs.appendFile('%s/f%u', 'x'));\n", dir,
                      name, dir, name);
        return;
    case 2:
        cs_buf_printf(m->out,
                      "await file('read', '%s/f%u', () => fs.readFile('%s/f%u', 'utf8'));\n", dir,
                      name, dir, name);
        return;
    case 3:
        cs_buf_printf(m->out,
                      "await file('list', '%s', async () => (await fs.readdir('%s')).sort());\n",
                      dir, dir);
        return;
    default:
        cs_buf_printf(m->out,
                      "await file('stat', '%s/f%u', async () => { const s = await "
                      "fs.stat('%s/f%u'); return [s.size, s.mtimeMs]; });\n",
                      dir, name, dir, name);
    }
}

static inline void program_import(struct program_maker *m, unsigned depth)
{
    (void)depth;
    unsigned name = ++m->names;
    cs_buf_printf(m->out,
                  "await fs.writeFile('/workspace/m%u.ts', `%sexport const born = [Date.now(), "
                  "Math.random()]; %s export default %u;`);\n"
                  "note('module', await import('/workspace/m%u.ts').then((m) => [m.default, "
                  "m.born], (e) => e.message));\n",
                  name, program_roll(m, 3) ? "" : "import { gone } from './gone.ts'; ",
                  program_roll(m, 2) ? "await new Promise((r) => setTimeout(r, 2));" : "", name,
                  name);
}

static inline void program_generator(struct program_maker *m, unsigned depth)
{
    unsigned name = ++m->names;
    cs_buf_printf(m->out,
                  "async function* g%u() { for (let i = 0; i < %u; i++) { await %s; yield i; } }\n"
                  "for await (const x%u of g%u()) { note('item', x%u);\n",
                  name, 1 + program_roll(m, 3),
                  program_roll(m, 2) ? "pause(1)" : "call('echo', { g: i })", name, name, name);
    if (program_roll(m, 2))
        program_block(m, depth + 2);
    cs_buf_printf(m->out, "%s }\n", program_roll(m, 4) ? "" : "break;");
}

static inline void program_error(struct program_maker *m, unsigned depth)
{
    cs_buf_printf(m->out, "try {\n");
    program_block(m, depth + 1);
    cs_buf_printf(m->out,
                  "throw new TypeError('wrong ' + Math.floor(Math.random() * 100)); } catch (e) { "
                  "note('error', e.stack); } finally { note('finally'); }\n");
}

static inline void program_small(struct program_maker *m, unsigned depth)
{
    static const char *const small[] = {
        "note('random', Math.random());\n",
        "note('uuid', crypto.randomUUID());\n",
        "note('bytes', Array.from(crypto.getRandomValues(new Uint8Array(4))));\n",
        "note('date', new Date().toISOString() + new Date().toLocaleString());\n",
        "console.log('at', Date.now(), performance.now());\n",
        "console.warn({ random: Math.random() });\n",
        "state.count = (state.count ?? 0) + 1; state.last = Date.now();\n",
        "{ let x = 0; for (let i = 0; i < 200000; i++) x = (x * 31 + i) | 0; note('busy', x); }\n",
        "await null;\n",
        "note('sorted', [3, 1, 2].map((n) => n * Math.random()).sort());\n",
    };
    (void)depth;
    cs_buf_printf(m->out, "%s", small[program_roll(m, CS_COUNT(small))]);
}

static inline void program_pause(struct program_maker *m, unsigned depth)
{
    (void)depth;
    cs_buf_printf(m->out, "await pause(%u); note('awake');\n", program_roll(m, 7));
}

static inline void program_block(struct program_maker *m, unsigned depth)
{
    static void (*const kinds[])(struct program_maker * m, unsigned depth) = {
        program_small, program_small, program_pause,     program_call,     program_call,
        program_file,  program_later, program_interval,  program_later,    program_import,
        program_error, program_call,  program_generator, program_parallel, program_parallel,
    };
    unsigned n = 1 + program_roll(m, depth == 0 ? 8 : 3);
    for (unsigned i = 0; i < n && m->budget > 0; i++) {
        m->budget--;
        kinds[program_roll(m, depth < 3 ? CS_COUNT(kinds) : 8)](m, depth);
    }
}

static inline void program_make(uint64_t seed, const char *server, struct cs_buf *out)
{
    struct program_maker m = {.chance = seed, .out = out, .budget = 40};
    cs_buf_printf(out,
                  "import * as fs from 'node:fs/promises';\n"
                  "const trace = [];\n"
                  "const note = (what, value) => { trace.push([what, value, Date.now(), "
                  "performance.now()]); };\n"
                  "const pause = (ms) => new Promise((r) => setTimeout(r, ms));\n"
                  "const call = (tool, args) => tools.%s[tool](args).then((v) => note(tool, v), "
                  "(e) => note('failed ' + tool, e.message));\n"
                  "const file = (what, path, act) => act().then((v) => note(what + path, v), "
                  "(e) => note(what + path, e.code));\n",
                  server);
    program_block(&m, 0);
    program_block(&m, 0);
    if (program_roll(&m, 12) == 0)
        cs_buf_printf(out, "throw new Error('the end ' + Math.random());\n");
    if (program_roll(&m, 20) == 0)
        cs_buf_printf(out, "await new Promise(() => {});\n");
    cs_buf_printf(out, "return { trace, random: Math.random(), at: Date.now() };\n");
}

#endif
