/* What programs ask for beside tools. */
#include "compile/reach_cases.h"

static const struct output_case cases[] = {
    {"import { readFile } from 'node:fs/promises'; await readFile('a')", "filesystem.read"},
    {"import fs from 'fs'; fs.writeFileSync('a', 'b')", "filesystem.write"},
    {"import * as fs from 'node:fs'; fs.promises.readdir('.')", "filesystem.read"},
    {"import { copyFile } from 'fs/promises'; copyFile('a', 'b')",
     "filesystem.read, filesystem.write"},
    {"const { unlink } = await import('node:fs/promises'); unlink('a')", "filesystem.write"},
    {"const { rm } = require('fs'); rm('a')", "filesystem.write"},
    {"await Deno.readTextFile('a')", "filesystem.read"},
    {"await Deno.writeTextFile('a', 'b')", "filesystem.write"},
    {"Bun.file('a'); Bun.write('b', 'c')", "filesystem.read, filesystem.write"},
    {"await fetch('https://x')", "network"},
    {"new XMLHttpRequest(); new WebSocket('wss://x')", "network"},
    {"import net from 'node:net'; net.connect(1)", "network"},
    {"import { exec } from 'child_process'; exec('ls')", "process"},
    {"new Deno.Command('ls')", "process"},
    {"process.exit(1)", "process"},
    {"return process.env.HOME", "environment"},
    {"return Deno.env.get('HOME')", "environment"},
    /* Near misses. */
    {"import { constants } from 'node:fs'; return constants.O_RDONLY", ""},
    {"import type { Stats } from 'node:fs'; let s: Stats", ""},
    {"process.argv; process.cwd(); process.nextTick(f)", ""},
    {"function f(fetch, process) { fetch(1); process.exit() } f(g, h)", ""},
    {"const o = { fetch: 1, env: 2 }; o.fetch; o.env", ""},
    {"if (typeof fetch === 'function') return 1", ""},
    {"inputs.process.env; x.fs.readFile()", ""},
    {"'process.env'; // fetch()", ""},
    /* By other ways. */
    {"const { env } = process; return env.HOME", "environment"},
    {"const p = process; p['exit'](0)", "process"},
    {"globalThis.fetch('x')", "network"},
    {"globalThis['process']['env']", "environment"},
    {"const g = globalThis, f = g.fetch; f('x')", "network"},
    {"[1].map(fetch)", "network"},
    {"const api = { get: fetch }; api.get('x')", "network"},
    {"import * as fs from 'fs'; use(fs)", "filesystem.read, filesystem.write"},
    {"import * as fs from 'fs'; fs[name]('x')", "filesystem.read, filesystem.write"},
    {"const { default: fs } = await import('fs'); fs.rmSync('x')", "filesystem.write"},
    {"const D = Deno; const { readFile: r } = D; r('x')", "filesystem.read"},
    {"(0, fetch)('x')", "network"},
    {"fetch.call(null, 'x')", "network"},
};

static void permissions_follow_from_what_is_used(void **state)
{
    (void)state;
    check_facts(CS_FACT_PERMISSION, false, cases, CS_COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permissions_follow_from_what_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
