/* What a program finds: console, timers, clock, randomness, and the names of the web and of node.
 */
#include "worker/cases.h"

static void few_lines(struct talk *t)
{
    t->log_lines = 3;
}

static void few_bytes(struct talk *t)
{
    t->log_bytes = 100;
}

static void other_seed(struct talk *t)
{
    t->seed = 43;
}

static void three_lines_and_a_notice(struct talk *t)
{
    assert_int_equal(t->log_count, 4);
}

static void at_most_200_bytes(struct talk *t)
{
    assert_true(t->logs.len < 200);
}

static void has_progress(struct talk *t)
{
    assert_contains(cs_buf_cstr(&t->progress),
                    "{\"progress\":3,\"total\":10,\"message\":\"third\"}");
}

static void called_once(struct talk *t)
{
    assert_string_equal(cs_buf_cstr(&t->calls), "fixture.echo({\"value\":\"safe\"})\n");
}

static const struct file disk[] = {
    {"/workspace/data.txt", "hello"}, {"/tmp/x.json", "{\"a\":1}"}, {0}};

static const struct worker_case cases[] = {
    /* console */
    {"log_formats_like_everywhere",
     "console.log('a', 1, true, null, undefined, 1n, Symbol('s')); return 0",
     .log = "info: a 1 true null undefined 1n Symbol(s)\n"},
    {"levels",
     "console.debug('d'); console.info('i'); console.warn('w'); console.error('e'); return 0",
     .log = "debug: d\ninfo: i\nwarn: w\nerror: e\n"},
    {"placeholders",
     "console.log('%s|%d|%i|%f|%j|%o|%%|%c|%x', 'str', '42', 4.9, '1.5', {a: 1}, [1], 'css', "
     "'rest'); return 0",
     .log = "info: str|42|4|1.5|{\"a\":1}|[ 1 ]|%||%x rest\n"},
    {"placeholders_without_arguments_stay", "console.log('100% %s'); return 0",
     .log = "info: 100% %s\n"},
    {"nested_objects", "console.log({a: {b: {c: {d: {e: {f: 1}}}}}}); return 0",
     .log = "{ a: { b: { c: { d: { e: [Object] } } } } }"},
    {"strings_inside_are_quoted", "console.log(['it\\'s', \"say \\\"x\\\"\", 'a\\nb']); return 0",
     .log = "[ \"it's\", 'say \"x\"', 'a\\nb' ]"},
    {"collections",
     "console.log(new Map([['a', {b: 1}]]), new Set([1, 'x']), [undefined, , 3]); return 0",
     .log = "Map(1) { 'a' => { b: 1 } } Set(2) { 1, 'x' } [ undefined, <1 empty item>, 3 ]"},
    {"long_arrays_are_cut", "console.log(Array.from({length: 150}, (_, i) => i)); return 0",
     .log = "... 50 more items"},
    {"sparse_arrays_are_not_walked", "const a = []; a[4294967294] = 1; console.log(a); return 0",
     .log = "[ <4294967294 empty items>, 1 ]"},
    {"classes_and_instances",
     "class A { x = 1 } class B extends A {} console.log(new B(), A, B, class {}, function f() {}, "
     "() => 1); return 0",
     .log = "B { x: 1 } [class A] [class B extends A] [class (anonymous)] [Function: f] [Function "
            "(anonymous)]"},
    {"circular", "const a = {n: 1}; a.self = a; console.log(a); return 0",
     .log = "<ref *1> { n: 1, self: [Circular *1] }"},
    {"getters_are_not_called",
     "console.log({get a() { throw 1 }, set b(v) {}, get c() { return 1 }, set c(v) {}}); return 0",
     .log = "{ a: [Getter], b: [Setter], c: [Getter/Setter] }"},
    {"proxies_run_no_trap",
     "console.log(new Proxy({a: 1}, {get() { throw 1 }, ownKeys() { throw 2 }})); return 0",
     .log = "info: Proxy { a: 1 }"},
    {"dates_regexps_boxes",
     "console.log(new Date(0), new Date(NaN), /x/g, new Number(1), Object('s'), [new Date(0)]); "
     "return 0",
     .log = "1970-01-01T00:00:00.000Z Invalid Date /x/g [Number: 1] [String: 's'] [ "
            "1970-01-01T00:00:00.000Z ]"},
    {"typed_arrays_and_buffers",
     "console.log(new Uint8Array([1, 2]), new ArrayBuffer(2), Buffer.from('hi')); return 0",
     .log = "Uint8Array(2) [ 1, 2 ] ArrayBuffer { [Uint8Contents]: <00 00>, byteLength: 2 } "
            "<Buffer 68 69>"},
    {"errors_with_stack", "function f() { return new Error('boo') }\nconsole.log(f()); return 0",
     .log = "Error: boo\n    at f (program.ts:1:32)\n    at program.ts:2:14\n"},
    {"errors_with_properties",
     "console.log(Object.assign(new TypeError('t'), {code: 'E'})); return 0",
     .log = "TypeError: t\n    at program.ts:1:40 { code: 'E' }"},
    {"symbols_and_null_prototypes",
     "console.log({[Symbol('k')]: 1}, Object.create(null)); return 0",
     .log = "{ [Symbol(k)]: 1 } [Object: null prototype] {}"},
    {"weak_things_and_promises",
     "console.log(new WeakMap(), Promise.resolve(1), globalThis === undefined); return 0",
     .log = "WeakMap { <items unknown> } Promise {} false"},
    {"minus_zero", "console.log([-0, 0]); return 0", .log = "[ -0, 0 ]"},
    {"long_strings_in_objects_are_cut", "console.log({s: 'x'.repeat(20000)}); return 0",
     .log = "... 10000 more characters"},
    {"wide_objects_break_lines",
     "console.log({alpha: 'aaaaaaaaaaaaaaaaaaaaaaaaa', beta: 'bbbbbbbbbbbbbbbbbbbbbbbbbbb', gamma: "
     "'cccccccccccc'}); return 0",
     .log = "{\n  alpha: 'aaa"},
    {"dir_with_depth", "console.dir({a: {b: {c: 1}}}, {depth: 0}); return 0",
     .log = "info: { a: [Object] }"},
    {"table", "console.table([{a: 1, b: 'x'}, {a: 2, c: true}]); return 0",
     .log = "│ (index) │ a │ b   │ c    │\n"},
    {"table_of_values", "console.table(['p', 'q']); return 0", .log = "│ 0       │ 'p'    │"},
    {"groups_indent",
     "console.group('G'); console.log('in\\nside'); console.groupEnd(); console.log('out'); return "
     "0",
     .log = "info: G\ninfo:   in\n  side\ninfo: out\n"},
    {"counts",
     "console.count(); console.count(); console.count('x'); console.countReset(); console.count(); "
     "return 0",
     .log = "info: default: 1\ninfo: default: 2\ninfo: x: 1\ninfo: default: 1\n"},
    {"time_moves_at_events_only",
     "console.time('t'); for (let i = 0; i < 1e6; i++); console.timeLog('t'); await new "
     "Promise((r) => setTimeout(r, 5)); console.timeEnd('t'); return 0",
     .log = "info: t: 0.0ms\ninfo: t: 5.0ms\n"},
    {"assert_logs_only_failures",
     "console.assert(true, 'no'); console.assert(false, 'yes %d', 1); console.assert(0); return 0",
     .log = "error: Assertion failed: yes 1\nerror: Assertion failed\n", .lacks = "no"},
    {"trace_has_a_stack", "function f() { console.trace('here') }\nf(); return 0",
     .log = "error: Trace: here\n    at f (program.ts:1:29)"},
    {"lines_are_bounded", "for (let i = 0; i < 10; i++) console.log('line', i); return 0",
     .log = "line 2\nwarn: … log truncated\n", .tune = few_lines,
     .check = three_lines_and_a_notice},
    {"bytes_are_bounded",
     "for (let i = 0; i < 10; i++) console.log('0123456789'.repeat(3)); return 0",
     .log = "warn: … log truncated\n", .tune = few_bytes, .check = at_most_200_bytes},
    {"one_huge_line_is_cut", "console.log('y'.repeat(300000)); console.log('next'); return 0",
     .log = "… (300000 bytes in all)\ninfo: next\n"},
    {"a_line_beyond_all_bytes_ends_the_log",
     "console.log('y'.repeat(5 << 20)); console.log('next'); return 0",
     .log = "y\nwarn: … log truncated\n", .lacks = "next"},
    {"NUL_and_escapes_pass_as_text", "console.log('a\\u0000b\\u001b[2J'); return 0",
     .log = "info: a"},
    {"console_survives_patched_prototypes",
     "Array.prototype.push = String.prototype.slice = Map.prototype.get = () => { throw 1 }; "
     "console.log({a: [1]}); return 0",
     .log = "info: { a: [ 1 ] }\n"},

    /* time */
    {"the_clock_starts_at_the_frames_time", "return [Date.now(), new Date().toISOString()]",
     .result = "[1700000000002,\"2023-11-14T22:13:20.002Z\"]"},
    {"the_clock_stands_still",
     "const a = Date.now(); for (let i = 0; i < 3e6; i++); return Date.now() - a", .result = "0"},
    {"the_clock_moves_with_answers",
     "const a = Date.now(); await tools.fixture.list(); return Date.now() - a", .result = "1"},
    {"the_clock_moves_with_timers",
     "const a = Date.now(); await new Promise((r) => setTimeout(r, 30)); return Date.now() - a",
     .result = "30"},
    {"performance_now_is_coarse",
     "const a = performance.now(); await tools.fixture.list(); const b = performance.now(); return "
     "[a, b, performance.timeOrigin]",
     .result = "[1,2,1700000000001]"},
    {"the_time_zone_is_UTC",
     "return [new Date().getTimezoneOffset(), Intl.DateTimeFormat().resolvedOptions().timeZone]",
     .result = "[0,\"UTC\"]"},
    {"Intl_works",
     "return [new Intl.NumberFormat('de-DE').format(1234.5), new "
     "Date(0).toLocaleDateString('en-US')]",
     .result = "[\"1.234,5\",\"1/1/1970\"]"},

    /* timers */
    {"timers_fire_in_order",
     "const o = []; setTimeout(() => o.push(3), 3); setTimeout(() => o.push(1), 1); setTimeout(() "
     "=> o.push(2), 2); await new Promise((r) => setTimeout(r, 5)); return o",
     .result = "[1,2,3]"},
    {"equal_times_fire_in_the_order_set",
     "const o = []; for (let i = 0; i < 5; i++) setTimeout((n) => o.push(n), 1, i); await new "
     "Promise((r) => setTimeout(r, 2)); return o",
     .result = "[0,1,2,3,4]"},
    {"microtasks_run_between_timers",
     "const o = []; setTimeout(() => { o.push(1); queueMicrotask(() => o.push(2)) }, 1); "
     "setTimeout(() => o.push(3), 1); await new Promise((r) => setTimeout(r, 2)); return o",
     .result = "[1,2,3]"},
    {"immediates_come_before_timers",
     "const o = []; setTimeout(() => o.push('t')); setImmediate(() => o.push('i')); await new "
     "Promise((r) => setTimeout(r, 2)); return o",
     .result = "[\"i\",\"t\"]"},
    {"clearTimeout",
     "const t = setTimeout(() => { throw 1 }, 1); clearTimeout(t); clearTimeout(undefined); "
     "clearTimeout({}); await new Promise((r) => setTimeout(r, 3)); return 1",
     .result = "1"},
    {"intervals",
     "let n = 0; await new Promise((r) => { const i = setInterval(() => { if (++n === 3) { "
     "clearInterval(i); r() } }, 2) }); return [n, performance.now() - 1]",
     .result = "[3,6]"},
    {"pending_timers_do_not_keep_a_finished_program",
     "setTimeout(() => console.log('never'), 10); return 1", .result = "1", .lacks = "never"},
    {"a_string_is_no_callback", "setTimeout('1', 1)", .type = "type_error",
     .contains = "needs a function"},
    {"too_many_timers", "try { for (;;) setTimeout(() => 1, 1e6) } catch (e) { return e.message }",
     .result = "\"too many timers are pending\""},
    {"nothing_runs_after_the_result",
     "setInterval(() => console.log('late'), 1); (async () => { for (;;) { await 0; "
     "console.log('late') } })(); return 'done'",
     .result = "\"done\""},
    {"an_endless_microtask_loop_does_not_hold_the_result",
     "(async () => { for (;;) await 0 })(); return 'done'", .result = "\"done\""},

    /* randomness */
    {"Math_random_is_seeded", "return Math.random() === Math.random()", .result = "false"},
    {"one_seed_one_sequence", "return [Math.random(), crypto.randomUUID()]",
     .result = "[0.9488541496350149,\"d2e1e954-a564-44b5-9370-ca79d8e7c0b0\"]"},
    {"another_seed_another_sequence", "return Math.random()", .lacks = "0.94885",
     .tune = other_seed},
    {"Math_random_is_within_bounds",
     "for (let i = 0; i < 1e5; i++) { const r = Math.random(); if (!(r >= 0 && r < 1)) return r } "
     "return 'ok'",
     .result = "\"ok\""},
    {"UUIDs_have_their_form",
     "return "
     "/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/"
     ".test(crypto.randomUUID())",
     .result = "true"},
    {"getRandomValues_fills_a_part",
     "const b = new Uint8Array(8); crypto.getRandomValues(b.subarray(4)); return [b.slice(0, "
     "4).every((x) => x === 0), b.slice(4).some((x) => x !== 0)]",
     .result = "[true,true]"},
    {"getRandomValues_refuses_floats", "crypto.getRandomValues(new Float32Array(1))",
     .type = "runtime_error", .contains = "TypeMismatchError"},

    /* digests */
    {"SHA_1_256_384_512",
     "const h = async (a, s) => Buffer.from(await crypto.subtle.digest(a, new "
     "TextEncoder().encode(s))).toString('hex').slice(0, 16);\n"
     "const out = []; for (const a of ['SHA-1', 'SHA-256', 'SHA-384', {name: 'SHA-512'}]) "
     "out.push(await h(a, 'abc'), await h(a, 'a'.repeat(1000))); return out",
     .result =
         "[\"a9993e364706816a\",\"291e9a6c66994949\",\"ba7816bf8f01cfea\",\"41edece42d63e8d9\","
         "\"cb00753f45a35e8b\",\"f54480689c6b0b11\",\"ddaf35a193617aba\",\"67ba5535a46e3f86\"]"},
    {"digest_of_a_view",
     "return Buffer.from(await crypto.subtle.digest('SHA-256', new Uint8Array([0, 97, 98, 99, "
     "0]).subarray(1, 4))).toString('hex').slice(0, 8)",
     .result = "\"ba7816bf\""},
    {"unknown_digest", "await crypto.subtle.digest('MD5', new Uint8Array())",
     .type = "runtime_error", .contains = "NotSupportedError"},

    /* encodings */
    {"TextEncoder", "return [...new TextEncoder().encode('aé€😀\\ud800')]",
     .result = "[97,195,169,226,130,172,240,159,152,128,239,191,189]"},
    {"encodeInto",
     "const b = new Uint8Array(5); const r = new TextEncoder().encodeInto('é€x', b); return [r, "
     "[...b]]",
     .result = "[{\"read\":2,\"written\":5},[195,169,226,130,172]]"},
    {"TextDecoder_utf8",
     "return new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97, 0xc3, 0xa9, 0xff, "
     "0xe2, 0x82]))",
     .result = "\"aé\xef\xbf\xbd\xef\xbf\xbd\""},
    {"TextDecoder_fatal", "new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([0xff]))",
     .type = "type_error", .contains = "not valid utf-8"},
    {"TextDecoder_stream",
     "const d = new TextDecoder(); const b = new TextEncoder().encode('a€😀'); let s = ''; for "
     "(const x of b) s += d.decode(new Uint8Array([x]), {stream: true}); return s + d.decode()",
     .result = "\"a€😀\""},
    {"TextDecoder_utf16le",
     "return new TextDecoder('utf-16le').decode(new Uint8Array([0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, "
     "0, 0xde]))",
     .result = "\"a😀\""},
    {"TextDecoder_latin1", "return new TextDecoder('latin1').decode(new Uint8Array([0xe9, 0x80]))",
     .result = "\"é€\""},
    {"TextDecoder_ignoreBOM",
     "return new TextDecoder('utf-8', {ignoreBOM: true}).decode(new Uint8Array([0xef, 0xbb, "
     "0xbf])).length",
     .result = "1"},
    {"atob_and_btoa", "return [btoa('hi\\u00ff'), atob('aGk='), atob(' a G k ')]",
     .result = "[\"aGn/\",\"hi\",\"hi\"]"},
    {"btoa_refuses_wide_letters", "btoa('€')", .type = "runtime_error",
     .contains = "InvalidCharacterError"},
    {"atob_refuses_garbage", "atob('*')", .type = "runtime_error",
     .contains = "InvalidCharacterError"},

    /* structuredClone */
    {"clone_of_everything",
     "const o = {d: new Date(5), r: /x/gi, m: new Map([[{k: 1}, new Set([1n])]]), u: new "
     "Uint16Array([1, 2]), n: null, z: -0, e: new RangeError('r')}; o.self = o; const c = "
     "structuredClone(o);\n"
     "return [c !== o, c.self === c, c.d.getTime(), String(c.r), [...c.m][0][0].k, "
     "[...[...c.m][0][1]][0] === 1n, c.u, Object.is(c.z, -0), c.e instanceof RangeError, "
     "c.e.message]",
     .result = "[true,true,5,\"/x/gi\",1,true,[1,2],true,true,\"r\"]"},
    {"clone_refuses_functions", "structuredClone({f() {}})", .type = "runtime_error",
     .contains = "DataCloneError"},
    {"clone_refuses_symbols", "structuredClone(Symbol('x'))", .type = "runtime_error",
     .contains = "Symbol(x) could not be cloned"},
    {"clone_loses_classes_and_keeps_holes",
     "class A { x = 1 } const c = structuredClone([new A(), , 2]); return [c[0].constructor === "
     "Object, 1 in c, c.length]",
     .result = "[true,false,3]"},
    {"clone_shares_buffers_once",
     "const b = new ArrayBuffer(4); const c = structuredClone([new Uint8Array(b), new "
     "Uint8Array(b, 2)]); return c[0].buffer === c[1].buffer && c[0].buffer !== b",
     .result = "true"},

    /* events */
    {"AbortController",
     "const c = new AbortController(); let n = 0; c.signal.addEventListener('abort', () => n++, "
     "{once: true}); c.signal.onabort = () => n += 10; c.abort(); c.abort(); return [n, "
     "c.signal.aborted, c.signal.reason.name]",
     .result = "[11,true,\"AbortError\"]"},
    {"AbortSignal_timeout",
     "const s = AbortSignal.timeout(5); await new Promise((r) => s.addEventListener('abort', r)); "
     "return [s.reason.name, performance.now() - 1]",
     .result = "[\"TimeoutError\",5]"},
    {"AbortSignal_any",
     "const a = new AbortController(), s = AbortSignal.any([AbortSignal.timeout(1000), a.signal]); "
     "a.abort('why'); try { s.throwIfAborted() } catch (e) { return e }",
     .result = "\"why\""},
    {"EventTarget",
     "const t = new EventTarget(); const o = []; t.addEventListener('x', (e) => { o.push(e.type, "
     "e.detail, e.target === t); e.preventDefault() }); t.addEventListener('x', {handleEvent() { "
     "o.push('obj') }}); return [t.dispatchEvent(new CustomEvent('x', {detail: 7, cancelable: "
     "true})), o]",
     .result = "[false,[\"x\",7,true,\"obj\"]]"},

    /* Buffer */
    {"Buffer_conversions",
     "return [Buffer.from('héé').toString('hex'), Buffer.from('68c3a9', 'hex').toString(), "
     "Buffer.from('aGk', 'base64').toString('latin1'), Buffer.from('ÿ', 'latin1').length, "
     "Buffer.from('hi').toString('base64url'), Buffer.from('hi', 'utf16le').length, "
     "Buffer.from('zz', 'hex').length]",
     .result = "[\"68c3a9c3a9\",\"hé\",\"hi\",1,\"aGk\",4,0]"},
    {"Buffer_operations",
     "const b = Buffer.concat([Buffer.from('ab'), new Uint8Array([99])]); b.writeUInt16BE(0x4142, "
     "0); return [b.toString(), b.equals(Buffer.from('ABc')), b.indexOf('c'), "
     "b.slice(1).toString(), b.subarray(0, 1) instanceof Buffer, Buffer.isBuffer(b), "
     "Buffer.byteLength('é'), b.readUInt16LE(0), Buffer.compare(Buffer.from('a'), "
     "Buffer.from('b')), Buffer.alloc(3, 'xy').toString(), b.includes('B')]",
     .result = "[\"ABc\",true,2,\"Bc\",true,true,2,16961,-1,\"xyx\",true]"},

    /* files */
    {"read_and_write_files",
     "import { readFile, writeFile, appendFile } from 'node:fs/promises'; await "
     "writeFile('/tmp/a', 'x'); await appendFile('/tmp/a', 'y'); return [await "
     "readFile('/workspace/data.txt', 'utf8'), (await readFile('/tmp/a')).toString(), await "
     "readFile('data.txt', {encoding: 'base64'})]",
     .result = "[\"hello\",\"xy\",\"aGVsbG8=\"]", .files = disk},
    {"bytes_survive",
     "import fs from 'node:fs/promises'; const b = new Uint8Array(256).map((_, i) => i); await "
     "fs.writeFile('/tmp/b', b); const r = await fs.readFile('/tmp/b'); return [r.length, r[255], "
     "Buffer.compare(r, b)]",
     .result = "[256,255,0]"},
    {"a_missing_file_is_ENOENT",
     "import { readFile } from 'node:fs/promises'; try { await readFile('/tmp/none') } catch (e) { "
     "return [e.code, e.syscall, e.path, e.message] }",
     .result = "[\"ENOENT\",\"open\",\"/tmp/none\",\"ENOENT: no such file or directory (no such "
               "file), open '/tmp/none'\"]"},
    {"an_uncaught_file_error_has_a_position",
     "import { readFile } from 'node:fs/promises';\nawait readFile('/tmp/none')",
     .type = "runtime_error", .contains = "ENOENT"},
    {"read_only_roots",
     "import { writeFile } from 'node:fs/promises'; await writeFile('/skills/x', '1')",
     .type = "permission_error", .contains = "EROFS"},
    {"directories",
     "import * as fs from 'node:fs/promises'; await fs.mkdir('/tmp/d', {recursive: true}); await "
     "fs.writeFile('/tmp/d/f', '1'); const l = await fs.readdir('/tmp/d', {withFileTypes: true}); "
     "return [await fs.readdir('/tmp/d'), l[0].name, l[0].isFile(), (await "
     "fs.stat('/tmp/d')).isDirectory(), (await fs.stat('/tmp/d/f')).size]",
     .result = "[[\"f\"],\"f\",true,true,1]"},
    {"rename_copy_remove",
     "import * as fs from 'node:fs/promises'; await fs.writeFile('/tmp/a', '1'); await "
     "fs.rename('/tmp/a', '/tmp/b'); await fs.copyFile('/tmp/b', '/tmp/c'); await fs.rm('/tmp/b'); "
     "await fs.rm('/tmp/b', {force: true}); await fs.unlink('/tmp/c'); const gone = await "
     "fs.access('/tmp/c').catch((e) => e.code); return gone",
     .result = "\"ENOENT\""},
    {"exclusive_creation",
     "import * as fs from 'node:fs/promises'; await fs.writeFile('/tmp/a', '1'); try { await "
     "fs.writeFile('/tmp/a', '2', {flag: 'wx'}) } catch (e) { return e.code }",
     .result = "\"EEXIST\""},
    {"a_directory_is_no_file",
     "import * as fs from 'node:fs/promises'; await fs.mkdir('/tmp/d'); try { await "
     "fs.readFile('/tmp/d') } catch (e) { return e.code }",
     .result = "\"EISDIR\""},
    {"an_object_is_no_data",
     "import * as fs from 'node:fs/promises'; await fs.writeFile('/tmp/a', {a: 1})",
     .type = "type_error", .contains = "JSON.stringify"},
    {"Deno_text_files",
     "await Deno.writeTextFile('/tmp/t', 'text'); return [await Deno.readTextFile('/tmp/t'), "
     "JSON.parse(await Deno.readTextFile('/tmp/x.json')).a]",
     .result = "[\"text\",1]", .files = disk},
    {"parallel_files",
     "import * as fs from 'node:fs/promises'; await Promise.all(Array.from({length: 20}, (_, i) => "
     "fs.writeFile('/tmp/p' + i, String(i)))); return (await Promise.all(Array.from({length: 20}, "
     "(_, i) => fs.readFile('/tmp/p' + i, 'utf8')))).join()",
     .result = "\"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19\""},

    /* tools */
    {"three_spellings_of_a_call",
     "return [await tools.fixture.echo({a: 1}), await caisson.callTool('fixture', 'echo', {b: 2}), "
     "await tools['fixture']['echo']({c: [3]})]",
     .result = "[{\"a\":1},{\"b\":2},{\"c\":[3]}]"},
    {"calls_in_parallel", "return Promise.all([1, 2, 3].map((n) => tools.fixture.echo({n})))",
     .result = "[{\"n\":1},{\"n\":2},{\"n\":3}]"},
    {"a_missing_tool", "await tools.github.search({})", .type = "permission_error",
     .contains = "github.search: no tool servers are configured"},
    {"a_refused_tool", "await tools.fixture.denied()", .type = "permission_error",
     .contains = "\"name\":\"ToolError\",\"message\":\"fixture.denied: policy says no\""},
    {"a_failing_tool", "await tools.fixture.fails()", .type = "upstream_error",
     .contains = "the service is down"},
    {"a_tool_that_refuses_its_arguments", "await tools.fixture.strict({code: 'abcd'})",
     .type = "validation_error"},
    {"a_tool_limit", "await tools.fixture.busy()", .type = "resource_error"},
    {"ToolError_can_be_caught",
     "try { await tools.fixture.denied() } catch (e) { return [e instanceof ToolError, e "
     "instanceof Error, e.code, e.server, e.tool] }",
     .result = "[true,true,\"DENIED\",\"fixture\",\"denied\"]"},
    {"a_tool_without_answer", "return [await tools.fixture.silent() ?? null]", .result = "[null]"},
    {"a_tool_with_a_broken_answer", "await tools.fixture.broken()", .type = "upstream_error",
     .contains = "not valid JSON"},
    {"arguments_are_read_once",
     "let n = 0; await tools.fixture.echo({get value() { return n++ === 0 ? 'safe' : 'flipped' "
     "}}); return n",
     .result = "1", .check = called_once},
    {"cyclic_arguments", "const a = {}; a.a = a; await tools.fixture.echo(a)",
     .type = "validation_error", .contains = "$.a"},
    {"tools_is_no_promise",
     "const t = await tools; const s = await tools.fixture; return [typeof t, typeof s, typeof "
     "tools.x.y, String(tools.x.y.name)]",
     .result = "[\"object\",\"function\",\"function\",\"y\"]"},
    {"tools_cannot_be_replaced",
     "try { tools.fixture.echo = () => 'mine' } catch {} return (await tools.fixture.echo({a: "
     "1})).a",
     .result = "1"},
    {"prototype_keys_stay_data",
     "const r = await tools.fixture.echo(JSON.parse('{\"v\":1,\"__proto__\":{\"polluted\":1}}')); "
     "return [({}).polluted ?? 'ok', Object.keys(r)]",
     .result = "[\"ok\",[\"v\",\"__proto__\"]]"},
    {"progress", "caisson.progress(3, 10, 'third'); return 1", .result = "1",
     .check = has_progress},
    {"a_huge_argument_is_refused",
     "try { await tools.fixture.echo({v: 'z'.repeat(64 << 20)}) } catch (e) { return "
     "e.message.slice(0, 28) }",
     .result = "\"the argument is larger than \""},

    /* inputs, state, absences */
    {"inputs_and_state", "return [inputs.a, state, globalThis.inputs === inputs]",
     .inputs = "{\"a\":\"é\"}", .result = "[\"é\",{},true]"},
    {"what_is_not_there",
     "return ['process', 'require', 'module', 'exports', 'Bun', 'window', 'document', "
     "'WebAssembly', 'SharedArrayBuffer', 'Worker', '$vm', 'XMLHttpRequest', 'WebSocket', 'print', "
     "'readFile', 'load', 'gc'].filter((n) => n in globalThis)",
     .result = "[]"},
    {"of_Deno_there_are_two_functions", "return Object.keys(Deno)",
     .result = "[\"readTextFile\",\"writeTextFile\"]"},
    {"functions_look_native",
     "const f = [console.log, setTimeout, URL, fetch, structuredClone, tools.a.b, "
     "caisson.progress, Buffer.from, AbortController, Math.random, queueMicrotask, "
     "Function.prototype.toString, new URL('x:y').toString];\nreturn f.every((x) => "
     "Function.prototype.toString.call(x).includes('[native code]'))",
     .result = "true"},
    {"own_functions_show_their_source", "return (function f(a) { return a }).toString()",
     .result = "\"function f(a) { return a }\""},
    {"globals_are_not_enumerable", "return Object.keys(globalThis)", .result = "[]"},
};

int main(void)
{
    return run_cases("worker_runtime", cases, CS_COUNT(cases));
}
