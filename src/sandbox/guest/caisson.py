"""What a program inside the chamber can ask of the outside.

    import caisson
    issue = caisson.call("github", "getIssue", {"number": 7})
    caisson.progress(3, total=10, message="reading")
    caisson.log("warn", "slower than usual")

`caisson.inputs` is what the caller passed in. A tool that fails raises `caisson.ToolError`.
"""

import asyncio as _asyncio
import fcntl as _fcntl
import json as _json
import os as _os
import struct as _struct
import threading as _threading

__all__ = ["call", "acall", "progress", "log", "inputs", "ToolError"]

# Frames as in sandbox/wire.h: length, type, version, id, time; then the body.
_HEAD = _struct.Struct("=IHHQq")
_VERSION = 1
_CALL, _RESULT, _LOG, _PROGRESS, _DONE = 7, 9, 10, 11, 12
_LEVELS = {"debug": 0, "info": 1, "warn": 2, "warning": 2, "error": 3}
_REASONS = {1: "missing", 2: "denied", 3: "limit", 4: "invalid", 5: "failed"}

_fd = int(_os.environ.get("CAISSON_BRIDGE", "3"))
_thread_lock = _threading.Lock()
_lock_file = None
_ended = False

try:
    with open("/caisson/inputs.json", encoding="utf-8") as _file:
        inputs = _json.load(_file)
except FileNotFoundError:
    inputs = {}


class ToolError(Exception):
    """A tool call that failed. `reason` is one of missing, denied, limit, invalid, failed."""

    def __init__(self, message, reason="failed", server=None, tool=None):
        super().__init__(message)
        self.reason = reason
        self.server = server
        self.tool = tool


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


def call(server, tool, arguments=None, /, **more):
    """Calls a tool and returns its value. Arguments are a dict, or keywords."""
    arguments = {**(arguments or {}), **more}
    body = _str(server) + _str(tool) + _str(_json.dumps(arguments, default=_plain))
    number = _number()
    with _Turn():
        _send(_CALL, number, body)
        status, payload = _receive(number)
    if status != 0:
        raise ToolError(payload, _REASONS.get(status, "failed"), server, tool)
    return _json.loads(payload) if payload else None


async def acall(server, tool, arguments=None, /, **more):
    """`call` for asyncio programs."""
    return await _asyncio.to_thread(call, server, tool, arguments, **more)


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


def _done(outcome, text):
    """The end of the program, said once by the driver."""
    global _ended
    with _Turn():
        _send(_DONE, 0, bytes([outcome]) + _str(text) + _struct.pack("=I", 0))
        _ended = True


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
