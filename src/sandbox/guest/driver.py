"""Runs the program of a Python guest, and says how it ended.

If the program defines main() and does not call it itself, main(inputs) is called and its value is
the result. Otherwise the result is the last line of JSON that it printed, which the host finds.
"""

import sys

sys.path.insert(0, "/caisson/python")

import caisson  # noqa: E402

NAME = "program.py"
FILE = "/caisson/program.py"


def calls_main_itself(tree):
    import ast

    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for statement in tree.body:
        if isinstance(statement, definitions):
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id == "main" and isinstance(node.ctx, ast.Load):
                return True
    return False


def call(main):
    import asyncio
    import inspect

    try:
        inspect.signature(main).bind(caisson.inputs)
        wants_inputs = True
    except TypeError:
        wants_inputs = False
    except ValueError:  # it does not say
        wants_inputs = True
    value = main(caisson.inputs) if wants_inputs else main()
    return asyncio.run(value) if inspect.iscoroutine(value) else value


def run(source):
    import ast
    import asyncio
    import inspect
    import linecache
    import types

    linecache.cache[NAME] = (len(source), None, source.splitlines(True), NAME)
    tree = compile(
        source, NAME, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
    )
    code = compile(tree, NAME, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    module = types.ModuleType("__main__")
    module.__dict__.update(
        __file__=NAME,
        __builtins__=__builtins__,
        inputs=caisson.inputs,
        state=caisson.state,
        caisson=caisson,
    )
    sys.modules["__main__"] = module
    sys.argv = [NAME]
    pending = eval(code, module.__dict__)
    if inspect.iscoroutine(pending):
        asyncio.run(pending)
    main = module.__dict__.get("main")
    if callable(main) and not calls_main_itself(tree):
        return True, call(main)
    return False, None


def snippet(source, line, column):
    lines = source.splitlines()
    if not line or line > len(lines):
        return None
    text = lines[line - 1][:400]
    mark = "\n" + " " * (column - 1) + "^" if column and column <= len(text) + 1 else ""
    return text + mark


def describe(error, source):
    """The error as the host wants it, in the program's own positions."""
    import traceback

    line = column = None
    stack = []
    kind = "runtime_error"
    if isinstance(error, SyntaxError) and error.filename == NAME:
        kind = "syntax_error"
        line, column = error.lineno, error.offset
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename == FILE or frame.filename.startswith("/caisson/"):
                continue
            stack.append(f"{frame.name} ({frame.filename}:{frame.lineno})")
            if frame.filename == NAME:
                line = frame.lineno
                column = frame.colno + 1 if getattr(frame, "colno", None) is not None else None
    message = error.msg if kind == "syntax_error" else str(error)
    if isinstance(error, (caisson.ToolError, caisson.StateError)):
        kind = error.type
    return {
        "type": kind,
        "name": type(error).__name__,
        "message": message[:8192],
        "line": line,
        "column": column,
        "snippet": snippet(source, line, column),
        "stack": "\n".join(stack[-50:]),
        "suggestion": getattr(error, "suggestion", None),
    }


def show(error):
    """The traceback on stderr, without frames of the driver and of the SDK."""
    import traceback

    text = traceback.TracebackException(type(error), error, error.__traceback__)
    own = [frame for frame in text.stack if not frame.filename.startswith("/caisson/")]
    text.stack = traceback.StackSummary.from_list(own)
    sys.stderr.write("".join(text.format()))


def fail(error, source):
    import json

    try:
        show(error)
    except Exception:
        pass
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    caisson._done(1, json.dumps(describe(error, source)))
    return 1


def kept(first):
    """The state, wherever the program put a new one: its own name for it, or caisson.state."""
    own = getattr(sys.modules["__main__"], "state", first)
    return caisson._kept(caisson.state if own is first else own)


def finish(value, first):
    import json

    text = json.dumps(value, default=caisson._plain, allow_nan=False, ensure_ascii=False)
    if len(text) > 30_000_000:
        raise ValueError(f"the result is {len(text)} characters of JSON, which is too large")
    sys.stdout.flush()
    caisson._done(0, text, kept(first))
    return 0


def printed(first):
    """It has no value of its own: only its state is said, if there is a session."""
    text = kept(first)
    if text:
        caisson._done(2, "", text)
    return 0


def drive():
    source = ""
    first = caisson.state
    try:
        with open(FILE, "rb") as file:
            source = file.read().decode("utf-8-sig")
        has_value, value = run(source)
        return finish(value, first) if has_value else printed(first)
    except SystemExit as end:
        if end.code:
            raise
        try:
            return printed(first)
        except caisson.StateError as error:
            return fail(error, source)
    except BaseException as error:
        return fail(error, source)


if __name__ == "__main__":
    sys.exit(drive())
