"""What a program inside the chamber can ask of the outside.

    import caisson
    issue = caisson.call("github", "getIssue", {"number": 7})
    commits = caisson.tools.github.list_commits(owner="a", repo="b")
    for tool in caisson.search_tools("list commits"):
        print(caisson.read_tool_definition(tool["path"]))
    rows = caisson.storage.get("art_...")
    caisson.progress(3, total=10, message="reading")
    caisson.log("warn", "slower than usual")

`caisson.inputs` is what the caller passed in, `caisson.state` the dict that a session keeps from one
program to the next. A tool that fails raises `caisson.ToolError`.
"""

import asyncio as _asyncio
import binascii as _binascii
import fcntl as _fcntl
import json as _json
import os as _os
import struct as _struct
import threading as _threading

__all__ = [
    "call",
    "acall",
    "tools",
    "search_tools",
    "read_tool_definition",
    "storage",
    "progress",
    "log",
    "inputs",
    "state",
    "ToolError",
]

# Frames as in sandbox/wire.h: length, type, version, id, time; then the body.
_HEAD = _struct.Struct("=IHHQq")
_VERSION = 3
_CALL, _RESULT, _LOG, _PROGRESS, _DONE = 7, 9, 10, 11, 12
_LEVELS = {"debug": 0, "info": 1, "warn": 2, "warning": 2, "error": 3}
_CODES = {1: "MISSING", 2: "DENIED", 3: "LIMIT", 4: "INVALID", 5: "FAILED"}
_TYPES = {
    "MISSING": "permission_error",
    "DENIED": "permission_error",
    "LIMIT": "resource_error",
    "INVALID": "validation_error",
}

_fd = int(_os.environ.get("CAISSON_BRIDGE", "3"))
_thread_lock = _threading.Lock()
_lock_file = None
_ended = False

try:
    with open("/caisson/inputs.json", encoding="utf-8") as _file:
        inputs = _json.load(_file)
except FileNotFoundError:
    inputs = {}

# Only in a session there is a file.
try:
    with open("/caisson/state.json", encoding="utf-8") as _file:
        _state_text = _file.read()
    state = _json.loads(_state_text)
except FileNotFoundError:
    _state_text = None
    state = {}


class ToolError(Exception):
    """A tool call that failed.

    server, tool    which one
    message         what went wrong
    code            MISSING, DENIED, LIMIT, INVALID or FAILED; `reason` is the same in small letters
    retryable       may the same call work later?
    suggestion      what to do, or None
    """

    def __init__(self, message, code="FAILED", server=None, tool=None, **more):
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = code.lower()
        self.server = server
        self.tool = tool
        self.retryable = bool(more.get("retryable", False))
        self.suggestion = more.get("suggestion")
        self.type = more.get("type") or _TYPES.get(code, "upstream_error")

    def __str__(self):
        name = f"{self.server}.{self.tool}"
        return self.message if not self.tool or name in self.message else f"{name}: {self.message}"


class _Turn:
    """One speaker at a time: threads by a lock, processes by a lock on a file all of them see."""

    def __enter__(self):
        global _lock_file
        _thread_lock.acquire()
        try:
            if _lock_file is None or _lock_file[0] != _os.getpid():
                # A lock that came through fork() is the parent's, not ours.
                _lock_file = (
                    _os.getpid(),
                    _os.open("/caisson/bin/caisson", _os.O_RDONLY | _os.O_CLOEXEC),
                )
            _fcntl.flock(_lock_file[1], _fcntl.LOCK_EX)
        except BaseException:
            _thread_lock.release()
            raise
        if _ended:
            self.__exit__()
            raise RuntimeError("the program has ended")

    def __exit__(self, *_):
        _fcntl.flock(_lock_file[1], _fcntl.LOCK_UN)
        _thread_lock.release()


def _str(text):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    return _struct.pack("=I", len(data)) + data


def _send(kind, number, body):
    data = memoryview(_HEAD.pack(len(body), kind, _VERSION, number, 0) + body)
    while data:
        data = data[_os.write(_fd, data) :]


def _read(count):
    parts = []
    while count > 0:
        part = _os.read(_fd, min(count, 1 << 20))
        if not part:
            raise ConnectionError("the bridge is closed")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _receive(number):
    while True:
        length, kind, _, answered, _ = _HEAD.unpack(_read(_HEAD.size))
        body = _read(length)
        # An answer to somebody who died waiting for it is not for us.
        if kind == _RESULT and answered == number:
            size = _struct.unpack_from("=I", body, 1)[0]
            return body[0], body[5 : 5 + size].decode("utf-8", "replace")


def _number():
    return int.from_bytes(_os.urandom(8), "little") >> 1 | 1


def _failure(status, payload, server, tool):
    said = None
    if payload.startswith("{"):
        try:
            said = _json.loads(payload)
        except ValueError:
            pass
    if not isinstance(said, dict) or not isinstance(said.get("message"), str):
        said = {"message": payload}
    return ToolError(
        said["message"],
        _CODES.get(status, "FAILED"),
        server,
        tool,
        retryable=said.get("retryable"),
        suggestion=said.get("suggestion"),
        type=said.get("type"),
    )


def call(server, tool, arguments=None, /, **more):
    """Calls a tool and returns its value. Arguments are a dict, or keywords."""
    if arguments is not None and not isinstance(arguments, dict):
        raise ToolError(
            f"the arguments must be a dict or keywords, not a {type(arguments).__name__}",
            "INVALID",
            server,
            tool,
            suggestion=f"Write caisson.call({server!r}, {tool!r}, {{'name': value}}); "
            f"caisson.read_tool_definition('{server}/{tool}') shows the names.",
        )
    arguments = {**(arguments or {}), **more}
    body = _str(server) + _str(tool) + _str(_json.dumps(arguments, default=_plain))
    number = _number()
    with _Turn():
        _send(_CALL, number, body)
        status, payload = _receive(number)
    if status != 0:
        raise _failure(status, payload, server, tool)
    return _json.loads(payload) if payload else None


async def acall(server, tool, arguments=None, /, **more):
    """`call` for asyncio programs."""
    return await _asyncio.to_thread(call, server, tool, arguments, **more)


def _same(name):
    return "".join(c for c in name.lower() if c.isalnum())


def _spelled(directory, name):
    """The name in /mcp-servers that `name` stands for: list_commits is listCommits as well."""
    try:
        names = [n.removesuffix(".ts") for n in _os.listdir(directory)]
    except OSError:
        return name
    if name in names:
        return name
    return next((n for n in sorted(names) if _same(n) == _same(name)), name)


class _Server:
    """caisson.tools.github: its tools are its attributes."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, tool):
        if tool.startswith("__"):
            raise AttributeError(tool)
        name = _spelled("/mcp-servers/" + self._name, tool)

        def function(arguments=None, /, **more):
            return call(self._name, name, arguments, **more)

        function.__name__ = function.__qualname__ = tool
        setattr(self, tool, function)
        return function

    def __getitem__(self, tool):
        return lambda arguments=None, /, **more: call(self._name, tool, arguments, **more)

    def __call__(self, *_, **__):
        raise TypeError(
            f"{self._name} is a server, not a tool: call caisson.tools.{self._name}.<tool>(...); "
            f"caisson.search_tools('...', server={self._name!r}) finds them"
        )

    def __repr__(self):
        return f"<server {self._name}>"


class _Tools:
    """caisson.tools: the servers, as attributes or items. list(caisson.tools) names them."""

    def __getattr__(self, server):
        if server.startswith("__"):
            raise AttributeError(server)
        value = _Server(_spelled("/mcp-servers", server))
        setattr(self, server, value)
        return value

    def __getitem__(self, server):
        return _Server(server)

    def __iter__(self):
        # Not from /mcp-servers, which stays as it was when the program started.
        found = search_tools().answer.get("servers", [])
        return iter(sorted(s["server"] for s in found))

    def __dir__(self):
        return list(self)

    def __repr__(self):
        return f"<tools of {', '.join(self) or 'no servers'}>"


tools = _Tools()


class ToolList(list):
    """The tools that were found. What else the answer had is in `answer`, the count in `total`."""

    def __init__(self, answer):
        super().__init__(answer.get("tools", []))
        self.answer = answer
        self.total = answer.get("total", len(self))

    def __getitem__(self, key):
        return self.answer[key] if isinstance(key, str) else super().__getitem__(key)


def search_tools(query="", *, limit=None, detail=None, server=None, offset=None):
    """Finds tools by what they do: a list of {tool, path, summary}."""
    options = {"limit": limit, "detail": detail, "server": server, "offset": offset}
    given = {k: v for k, v in options.items() if v is not None}
    return ToolList(call("caisson", "searchTools", {"query": str(query), **given}))


def read_tool_definition(path):
    """The TypeScript declaration of a tool: 'github/list_commits', or its path."""
    return call("caisson", "readToolDefinition", {"path": str(path)})


class _Storage:
    """What is kept under a handle, 'art_...': large results, files of /workspace/out, and what was put here."""

    def get(self, id, *, offset=None, length=None, binary=False):
        """Its value; with `offset` or `length`, a part of its text: {text, next, size}. With
        `binary` it is bytes, and a part {bytes, next, size}."""
        given = {"offset": offset, "length": length, "as": "bytes" if binary else None}
        part = {k: v for k, v in given.items() if v is not None}
        answer = call("caisson", "storageGet", {"id": str(id), **part})
        if not binary:
            return answer
        answer["bytes"] = _binascii.a2b_base64(answer.pop("base64"))
        return answer["bytes"] if offset is None and length is None else answer

    def put(self, name, value, *, media_type=None):
        """Keeps a text, bytes, or anything that has a JSON form: {id, name, size, media_type, hash}."""
        args = {"name": str(name)}
        if media_type is not None:
            args["media_type"] = str(media_type)
        if isinstance(value, str):
            args["text"] = value
        elif isinstance(value, (bytes, bytearray, memoryview)):
            args["base64"] = _binascii.b2a_base64(value, newline=False).decode("ascii")
        else:
            args["value"] = value
        return call("caisson", "storagePut", args)

    def list(self):
        """Those that can be opened here, newest first."""
        return call("caisson", "storageList", {})


storage = _Storage()


def progress(value, total=None, message=None):
    """Tells the caller how far the work is."""
    note = {"progress": value}
    if total is not None:
        note["total"] = total
    if message is not None:
        note["message"] = str(message)
    with _Turn():
        _send(_PROGRESS, 0, _str(_json.dumps(note)))


def log(level, text):
    """Writes a log line: debug, info, warn or error."""
    with _Turn():
        _send(_LOG, 0, bytes([_LEVELS.get(str(level).lower(), 1)]) + _str(str(text)))


def _done(outcome, text, kept=""):
    """The end of the program, said once by the driver."""
    global _ended
    with _Turn():
        _send(_DONE, 0, bytes([outcome]) + _str(text) + _struct.pack("=I", 0) + _str(kept))
        _ended = True


class StateError(TypeError):
    """`state` holds something that the next program would not find as it was left."""

    type = "validation_error"
    suggestion = "Keep dicts with text keys, lists, texts, numbers, booleans and None."


def _check(value, path, parents):
    if value is None or isinstance(value, (str, bool, int)):
        return
    if isinstance(value, float) and value - value == 0:
        return
    if id(value) in parents:
        raise StateError(f"`state` refers to itself at {path}")
    if len(parents) >= 100:
        raise StateError(f"`state` is nested more than 100 levels deep (at {path[:200]})")
    inner = parents | {id(value)}
    if isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, f"{path}[{index}]", inner)
        return
    if not isinstance(value, dict):
        kind = repr(value) if isinstance(value, float) else f"a {type(value).__name__}"
        raise StateError(f"`state` cannot be kept: {kind} at {path} has no JSON form")
    for key, item in value.items():
        if not isinstance(key, str):
            raise StateError(f"`state` cannot be kept: the key {key!r:.80} at {path} is not a text")
        _check(item, f"{path}.{key:.100}", inner)


def _kept(value):
    """The state as JSON; empty if it is what it was, or nobody keeps it."""
    if _state_text is None:
        return ""
    if not isinstance(value, dict):
        raise StateError(
            f"`state` must stay a dict, and is a {type(value).__name__} at the program's end"
        )
    _check(value, "$", frozenset())
    text = _json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return "" if text == _state_text else text


def _plain(value):
    """What json cannot write by itself but everybody expects to be written."""
    import base64
    import dataclasses
    import datetime
    import decimal
    import enum
    import pathlib
    import uuid

    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (pathlib.PurePath, uuid.UUID)):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    for name in ("tolist", "to_dict", "_asdict"):
        if callable(getattr(value, name, None)):
            return getattr(value, name)()
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")
