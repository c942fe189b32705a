/*
 * What the compiler notes about a program while it reads it, and the judge weighs: the words that
 * both sides of the wall know. Advice for a verdict, never the wall.
 *
 * FACTS, the worker's message, is JSON:
 *
 *     {"language": "typescript",
 *      "facts": [{"kind": "import", "name": "node:fs", "line": 3, "column": 1,
 *                 "via": "static", "key": "", "module": "/workspace/a.ts"}, ...],
 *      "modules": 1, "source_bytes": 812, "modules_hash": "hex",
 *      "files": [{"name": "/workspace/a.ts", "bytes": 812, "lines": 40, "hash": "hex"}, ...],
 *      "files_more": 3,
 *      "places": [{"module": "/workspace/a.ts", "line": 3, "column": 1, "text": "...",
 *                  "bytes_before": 0, "bytes_after": 0}, ...],
 *      "longest_line": 80, "truncated": true, "imports": "/workspace/late.ts"}
 *
 * in the order of the text, each kind with equal name, via and key once, at its first place. `via`,
 * `key` and `module` are left out if empty; `module` is left out in the program itself; `truncated`
 * if all is there. `modules_hash` is the SHA-256 over the SHA-256 of each text that was loaded, in
 * the order of their paths, the program's own text without. `files` are those of them that nobody
 * has generated, and `places` lines of theirs that something was noted in, for people, as far as
 * there is room.
 *
 * What is imported while the program runs is judged by the same JSON, as the arguments of a CALL of
 * CS_LATE_TOOL: `imports` is what was asked for, and facts of modules that nobody has judged come
 * first and have "late": true.
 */
#ifndef CS_BASE_FACTS_H
#define CS_BASE_FACTS_H

#define CS_LATE_TOOL "judgeImport" /* of the server "caisson" */
#define CS_LATE_MOST 4000 /* such calls of one execution: each is about a module at least */

/* clang-format off */
/* kind, its word. What `name` (and `via`, `key`) hold:
 *
 * IMPORT      specifier as it is after folding, without white space, its scheme and names of
 *             packages in small letters; "*": it is not constant. via "static", "dynamic",
 *             "require"
 * CALL        member chain that is called or constructed, from a free name or an import on:
 *             "Deno.readTextFile", "node:fs.readFileSync", "fetch". A computed part that folding
 *             does not reveal is "*". Through aliases and destructuring too; globalThis and its
 *             likes are left out: globalThis.fetch is "fetch"
 * MEMBER      the same, not called: "process.argv"
 * CODE        code out of text: "eval", "Function", "AsyncFunction", "GeneratorFunction",
 *             "constructor" (f.constructor("...")), "setTimeout(string)", "import(*)", "import" (at
 *             run time, of a file that programs can write, or of data:). via "constant": the text
 *             is known and was read too, once: its facts stand at the same place. Also without a
 *             call, where one of these is handed on
 * ENV         "process.env" (also if process as a whole is handed on), "process.env.HOME",
 *             "Deno.env", "Bun.env", "import.meta.env"
 * DYNAMIC     a computed member of a global object or a module that folding does not reveal:
 *             "globalThis[*]", "process[*]"; "globalThis": it is handed on as a whole;
 *             "function[*]", "[][*]": of a function, or of what has no members of its own
 * PROTOTYPE   "__proto__", "constructor.prototype"; via "set", if others are changed:
 *             "__proto__", "Object.prototype.x", "Array.prototype.map", "JSON.parse",
 *             "Object.setPrototypeOf", "Object.defineProperty" (on one of these)
 * STRING      a constant text of 3 bytes or more, after folding; "${}" stands where a part is not
 *             constant. Also what regular expressions and literals in types say, and the words of
 *             a command in a list, with spaces between them. via: how it came about if not plainly: "template", "concat", "escape",
 *             "join", "replace", "reverse", "charcode", "base64" (hex too): the strangest of
 *             them. key: the name that it is assigned to, if any. A long one comes in pieces that
 *             overlap, all but the last with "+cut" behind their via
 * COMMENT     its text, without the marks; long ones as with STRING. Also the line "#!", and names
 *             that are sentences, as words
 * INVISIBLE   "U+202E": a character that is not seen, or turns the text around, and is not where
 *             emoji or scripts need it (base/visible.h). via "comment", "string", "code"
 * ESCAPE      an identifier that is written with escapes: the name it really is
 * LOOP        an evident endless one: "while(true)", "for(;;)", "do-while(true)": no break, return,
 *             throw, await or yield in it, and the condition always holds; with await, if only a
 *             variable that nobody sets would end it. "recursion": a function that only calls itself
 * TOOL        "server.tool", "server.*", "*": which can be reached. via "import", "chain", "alias"
 * PERMISSION  "filesystem.read", "filesystem.write", "network", "process", "environment"
 * FLOW        "crm.find > mail.send": what the first answers can get into arguments of the second
 */
/* clang-format on */
#define CS_FACTS(X)             \
    X(IMPORT, "import")         \
    X(CALL, "call")             \
    X(MEMBER, "member")         \
    X(CODE, "code")             \
    X(ENV, "env")               \
    X(DYNAMIC, "dynamic")       \
    X(PROTOTYPE, "prototype")   \
    X(STRING, "string")         \
    X(COMMENT, "comment")       \
    X(INVISIBLE, "invisible")   \
    X(ESCAPE, "escape")         \
    X(LOOP, "loop")             \
    X(TOOL, "tool")             \
    X(PERMISSION, "permission") \
    X(FLOW, "flow")

enum cs_fact_kind {
#define X(id, word) CS_FACT_##id,
    CS_FACTS(X)
#undef X
        CS_FACT_COUNT
};

#define CS_FACTS_MOST      4000         /* of one program and what it imports; then "truncated" */
#define CS_FACT_NAME_BYTES 600          /* of a name; longer ones are cut, and via says "+cut" */
#define CS_FACTS_BYTES     (512u << 10) /* of the message */

#endif
