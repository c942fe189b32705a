"""Looks for values that were planted: in bytes, in files whatever they are packed in, and in the memory of processes.

    planted = Planted(values)
    planted.found_in(data)              names of what is there, in any form
    planted.found_under(directory)      the same, of all files, by file
    planted.found_in_memory(pid)
"""

import array
import base64
import ctypes
import json
import os
import re
import sqlite3
import subprocess
import tarfile
import tempfile

ZSTD = b"\x28\xb5\x2f\xfd"
UNKNOWN = (1 << 64) - 1
try:
    LIBRARY = ctypes.CDLL("libzstd.so.1")
    LIBRARY.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    LIBRARY.ZSTD_decompress.restype = ctypes.c_size_t
    LIBRARY.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    LIBRARY.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
except OSError:
    LIBRARY = None


def forms(value):
    """Every way in which a value could be written down."""
    raw = value.encode()
    found = {raw, raw.hex().encode(), raw.hex().upper().encode(), value.encode("utf-16-le"), value.lower().encode(),
             json.dumps(value)[1:-1].encode()}
    for shift in range(3):
        # Whole groups of base64 alone: they do not depend on what stands before and after.
        inner = raw[(3 - shift) % 3:]
        inner = inner[:len(inner) // 3 * 3]
        if len(inner) >= 9:
            found.add(base64.b64encode(inner))
            found.add(base64.urlsafe_b64encode(inner))
    digits = re.sub(r"\D", "", value)
    if len(digits) >= 9 and not re.search(r"[A-Za-z]", value):
        found.add(digits.encode())
    return found


class Planted:
    def __init__(self, values):
        self.names = {}
        for value in values:
            for form in forms(value):
                if b"\n" not in form:
                    self.names[form] = value
        self.patterns = tempfile.NamedTemporaryFile(prefix="planted-")
        self.patterns.write(b"\n".join(self.names) + b"\n")
        self.patterns.flush()

    def found_in(self, data):
        done = subprocess.run(["grep", "-aoF", "-f", self.patterns.name], input=data, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env={"LC_ALL": "C", "PATH": os.environ["PATH"]}, timeout=120)
        return sorted({self.names.get(line, line.decode("utf-8", "replace")) for line in done.stdout.split(b"\n") if line})

    def found_under(self, directory):
        """(what was found, by file; the files that were read). All of them at once: grep takes a while to learn the patterns."""
        read = {}
        for root, _, files in os.walk(directory):
            for name in files:
                path = os.path.join(root, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    read[os.path.relpath(path, directory)] = b"\n".join(contents(path))
        found = {}
        for value in self.found_in(b"\n".join(read.values())):
            for path, data in read.items():
                if any(form in data for form in forms(value)):
                    found.setdefault(path, []).append(value)
        return found, list(read)

    def found_in_memory(self, pid):
        """None: it cannot be read. Else (what was found, bytes looked at)."""
        with tempfile.TemporaryFile() as image:
            try:
                size = dump(pid, image)
            except OSError:
                return None
            image.seek(0)
            return self.found_in(image.read()), size


def unpacked(data):
    if data[:4] != ZSTD:
        return b""
    size = LIBRARY.ZSTD_getFrameContentSize(data, len(data)) if LIBRARY else UNKNOWN
    if size < 1 << 30:
        out = ctypes.create_string_buffer(size)
        got = LIBRARY.ZSTD_decompress(out, size, data, len(data))
        if got <= size:
            return out.raw[:got]
    done = subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
    return done.stdout


def contents(path):
    """The bytes of a file, and what is packed in it: compressed, rows of a database, members of an archive."""
    with open(path, "rb") as f:
        data = f.read()
    yield data
    yield unpacked(data)
    if data[:15] == b"SQLite format 3":
        yield from rows(path)
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as tar, tempfile.TemporaryDirectory() as inside:
            for member in tar.getmembers():
                if member.isfile():
                    place = os.path.join(inside, os.path.basename(member.name))
                    with open(place, "wb") as f:
                        f.write(tar.extractfile(member).read())
                    yield from contents(place)


def rows(path):
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    db.text_factory = bytes
    try:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            try:
                for row in db.execute('SELECT * FROM "%s"' % table.decode()):
                    for cell in row:
                        if isinstance(cell, bytes):
                            yield cell
                            yield unpacked(cell)
            except sqlite3.Error:  # a virtual table of a module that is not here
                pass
    finally:
        db.close()


PAGE = os.sysconf("SC_PAGE_SIZE")
SHADOW = 1 << 40  # a mapping as large as this is the sanitizer's own book, in which no byte of anybody is copied


def present(pid):
    """(from, to) of the memory that a process has touched. Most of what a worker reserves it never does."""
    with open("/proc/%d/maps" % pid) as maps, open("/proc/%d/pagemap" % pid, "rb", 0) as pages:
        for line in maps:
            low, high = (int(x, 16) for x in line.split()[0].split("-"))
            if "r" not in line.split()[1] or "[v" in line or high - low >= SHADOW:
                continue
            at = low
            while at < high:
                pages.seek(at // PAGE * 8)
                bits = pages.read(min((high - at) // PAGE, 1 << 17) * 8)
                if not bits:
                    break
                if bits.count(0) == len(bits):
                    at += len(bits) // 8 * PAGE
                    continue
                entries = array.array("Q", bits)
                start = None
                for i, entry in enumerate(entries):
                    there = entry >> 62 != 0
                    if there and start is None:
                        start = i
                    elif not there and start is not None:
                        yield at + start * PAGE, at + i * PAGE
                        start = None
                if start is not None:
                    yield at + start * PAGE, at + len(entries) * PAGE
                at += len(entries) * PAGE


def dump(pid, into):
    """All that there is in the memory of a process."""
    size = 0
    with open("/proc/%d/mem" % pid, "rb", 0) as memory:
        for low, high in present(pid):
            while low < high:
                try:
                    memory.seek(low)
                    data = memory.read(min(high - low, 1 << 24))
                except (OSError, ValueError):
                    break
                if not data:
                    break
                into.write(data)
                size += len(data)
                low += len(data)
    return size
