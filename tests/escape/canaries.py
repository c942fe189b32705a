"""The values that a jailed program must never see, planted where README.md says.

Every plant is tried from outside afterwards: a canary that nobody could find would let each case pass.
`planted` names those that stand, `missing` says why the others do not.
"""

import ctypes
import os
import platform
import pwd
import resource
import shutil
import socket
import tempfile
import threading
import time

VALUE = "CANARY-7f3a"
SHM_KEY = 0x7F3A
ABSTRACT = "\0caisson-canary"
ETC = "/etc/caisson-canary"
POSIX_SHM = "/dev/shm/caisson-canary"
PATIENCE = 300  # seconds to wait for another run of the suite

# add_key, request_key, keyctl
KEY_CALLS = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}
KEYCTL_JOIN, KEYCTL_READ, SESSION_KEYRING = 1, 11, -3
IPC_CREAT, IPC_RMID = 0o1000, 0

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
libc.shmdt.argtypes = [ctypes.c_void_p]


def failed(what):
    number = ctypes.get_errno()
    return OSError(number, "%s: %s" % (what, os.strerror(number)))


def syscall(number, *args):
    done = libc.syscall(ctypes.c_long(number),
                        *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if done < 0:
        raise failed("system call %d" % number)
    return done


class Listener:
    """Sends the value to whoever connects, and counts."""

    def __init__(self, sock):
        self.clients = 0
        self._sock = sock
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self._sock.accept()
            except OSError:
                return
            self.clients += 1
            try:
                client.sendall(VALUE.encode() + b"\n")
                client.close()
            except OSError:
                pass

    def close(self):
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._sock.close()


class Canaries:
    def __init__(self):
        self.planted, self.missing = set(), {}
        self.state = tempfile.mkdtemp(prefix="caisson-escape-" + VALUE + "-")
        self.home = pwd.getpwuid(os.getuid()).pw_dir
        if not os.access(self.home, os.W_OK):
            self.home = self.directory("home")
        self.port = 0
        self.fds = []
        self._undo = [lambda: shutil.rmtree(self.state, ignore_errors=True)]
        self._tcp = []

    def plant(self):
        self._claim()
        self._try("environment", self._environment)
        self._try("etc-file", self._etc)
        self._try("home-file", self._home)
        self._try("fd77", lambda: self._fd(77))
        self._try("fd2048", lambda: self._fd(2048))
        self._listeners()
        self._try("sysv-shm", self._sysv)
        self._try("posix-shm", self._posix)
        self._try("session-key", self._key)

    def clear(self):
        while self._undo:
            try:
                self._undo.pop()()
            except OSError:
                pass

    def clients(self):
        return sum(l.clients for l in self._tcp)

    def environment(self):
        """What the engine is started with: our own environment, the canary, and its own directories."""
        env = dict(os.environ)
        env.update({"CAISSON_CANARY": VALUE, "HOME": self.home,
                    "XDG_DATA_HOME": self.directory("data"),
                    "XDG_STATE_HOME": self.directory("state"),
                    "XDG_CACHE_HOME": self.directory("cache"),
                    "XDG_CONFIG_HOME": self.directory("config"),
                    "XDG_RUNTIME_DIR": self.directory("run"), "TMPDIR": self.directory("tmp")})
        return env

    def directory(self, name):
        path = os.path.join(self.state, name)
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path

    def _try(self, name, plant):
        try:
            plant()
            self.planted.add(name)
        except OSError as e:
            self.missing[name] = str(e)

    def _claim(self):
        """The abstract socket is also the lock: two suites at once would see each other's canaries."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        for second in range(PATIENCE):
            try:
                sock.bind(ABSTRACT)
                break
            except OSError:
                if second == 0:
                    print("note: another run of the suite is under way on this machine; waiting", flush=True)
                time.sleep(1)
        else:
            sock.close()
            raise SystemExit("escape: the other run of the suite does not end")
        sock.listen(64)
        listener = Listener(sock)
        self._undo.append(listener.close)
        probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        probe.settimeout(5)
        probe.connect(ABSTRACT)
        assert VALUE.encode() in probe.recv(100)
        probe.close()
        self.planted.add("abstract-listener")

    def _environment(self):
        os.environ["CAISSON_CANARY"] = VALUE

    def _file(self, path, mode=0o644):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode), "w") as f:
            f.write(VALUE + "\n")
        os.chmod(path, mode)
        self._undo.append(lambda: os.unlink(path))

    def _etc(self):
        if os.getuid() != 0:
            raise PermissionError("only root can write to /etc")
        self._file(ETC)

    def _home(self):
        self._file(os.path.join(self.home, ".caisson-canary"))

    def _posix(self):
        self._file(POSIX_SHM, 0o666)

    def _fd(self, number):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft <= number:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(number + 64, soft), max(number + 64, hard)))
        path = ETC if "etc-file" in self.planted else os.path.join(self.home, ".caisson-canary")
        fd = os.open(path, os.O_RDONLY)
        os.dup2(fd, number, inheritable=True)
        os.close(fd)
        self._undo.append(lambda: os.close(number))
        assert VALUE.encode() in os.pread(number, 100, 0)
        self.fds.append(number)

    def _listeners(self):
        for name, family, address in (("tcp4-listener", socket.AF_INET, "127.0.0.1"),
                                      ("tcp6-listener", socket.AF_INET6, "::1")):
            try:
                sock = socket.socket(family, socket.SOCK_STREAM)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sock.bind((address, self.port))
                self.port = sock.getsockname()[1]
                sock.listen(64)
                listener = Listener(sock)
                self._undo.append(listener.close)
                with socket.create_connection((address, self.port), timeout=5) as probe:
                    assert VALUE.encode() in probe.recv(100)
                listener.clients = 0
                self._tcp.append(listener)
                self.planted.add(name)
            except OSError as e:
                self.missing[name] = str(e)

    def _sysv(self):
        segment = libc.shmget(SHM_KEY, 4096, IPC_CREAT | 0o666)
        if segment < 0:
            raise failed("shmget")
        self._undo.append(lambda: libc.shmctl(segment, IPC_RMID, None))
        where = libc.shmat(segment, None, 0)
        if where in (None, ctypes.c_void_p(-1).value):
            raise failed("shmat")
        ctypes.memmove(where, VALUE.encode() + b"\0", len(VALUE) + 1)
        libc.shmdt(where)

    def _key(self):
        """In a new session keyring, which the engine inherits and which goes when we do."""
        add_key, request_key, keyctl = KEY_CALLS[platform.machine()]
        syscall(keyctl, KEYCTL_JOIN, None)
        syscall(add_key, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"caisson-canary"),
                ctypes.c_char_p(VALUE.encode()), len(VALUE), SESSION_KEYRING)
        key = syscall(request_key, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"caisson-canary"), None, 0)
        text = ctypes.create_string_buffer(100)
        syscall(keyctl, KEYCTL_READ, key, text, 99)
        assert text.value == VALUE.encode()
