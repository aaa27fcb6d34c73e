"""The outer jail of the scoreboard: what is tried inside cannot reach this machine.

    with Jail(Plan(binds={"/opt/dossier": "build/release"}, words=["/usr/bin/python3", …])) as jail:
        jail.wait(30)

A jail has its own processes, network (loopback alone), mounts, host name and shared memory. It sees the system's
programs and the folders of `binds`, read-only, and an empty home; everything that can be written is small and in
memory. Its first process runs the words of the plan; when that ends, or `wait` runs out of time, the kernel ends
all others. Processes and memory are bounded three times: by a cgroup where one can be made, by the rlimits that
`become_subject` sets, and by the observer inside, which counts.

As root the subject is a user that nothing else on the machine is; as a user it is that user, in a user namespace.
Linux only; needs no package. Thread-safety: one owner.
"""

import ctypes
import dataclasses
import fcntl
import json
import os
import pathlib
import resource
import signal
import socket
import struct
import subprocess
import sys
import time

HOME = "/home/user"
SUBJECT = 1000            # the user inside, where a user namespace maps it
_FIRST_UID = 1_700_000    # as root: of no user of this machine
_LIBC = ctypes.CDLL(None, use_errno=True)
_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
_MNT_DETACH, _AT_FDCWD, _AT_RECURSIVE = 2, -100, 0x8000
_MOUNT_SETATTR, _PIVOT_ROOT = 442, {"x86_64": 155, "aarch64": 41}[os.uname().machine]
_MEBI = 1 << 20


@dataclasses.dataclass
class Plan:
    words: list                       # what runs as the first process
    binds: dict                       # path inside: path of this machine
    processes: int = 300              # processes and threads of the jail together
    memory: int = 3 << 30             # bytes
    disk: int = 64 * _MEBI            # bytes of each folder that can be written
    seconds: float = 60               # until everything in it is ended

    def text(self) -> str:
        return json.dumps(dataclasses.asdict(self))


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    _check(_LIBC.mount(source.encode(), target.encode(), kind.encode() if kind else None, ctypes.c_ulong(flags),
                       data.encode() or None), f"mount {target}")


def _bind(source: str, target: str) -> None:
    """A view of `source` in which nothing can be written, at any depth."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        pathlib.Path(target).touch()
    _mount(source, target, None, _MS_BIND | _MS_REC)
    _set_read_only(target, _AT_RECURSIVE)


def _set_read_only(target: str, flags: int) -> None:
    attributes = ctypes.create_string_buffer(struct.pack("QQQQ", 1, 0, 0, 0))
    _check(_LIBC.syscall(ctypes.c_long(_MOUNT_SETATTR), _AT_FDCWD, target.encode(), flags, attributes, 32),
           f"read-only {target}")


def _tmpfs(target: str, size: int, mode: str = "755") -> None:
    os.makedirs(target, exist_ok=True)
    _mount("tmpfs", target, "tmpfs", _MS_NOSUID, f"size={size},mode={mode},nr_inodes=20000")


def _build_root(root: str, plan: Plan) -> None:
    _tmpfs(root, 16 * _MEBI)
    for name in ("usr", "bin", "sbin", "lib", "lib64"):
        path = f"/{name}"
        if os.path.islink(path):
            os.symlink(os.readlink(path), f"{root}/{name}")
        elif os.path.isdir(path):
            _bind(path, f"{root}/{name}")
    for name in ("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ssl", "localtime"):
        if os.path.exists(f"/etc/{name}"):
            _bind(f"/etc/{name}", f"{root}/etc/{name}")
    os.makedirs(f"{root}/etc", exist_ok=True)
    uid = subject_id()
    for name, text in {"passwd": f"root:x:0:0::/root:/bin/sh\nuser:x:{uid}:{uid}::{HOME}:/bin/sh\n",
                       "group": f"root:x:0:\nuser:x:{uid}:\n", "hosts": "127.0.0.1 localhost\n",
                       "resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
                       "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n"}.items():
        pathlib.Path(f"{root}/etc/{name}").write_text(text)
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        target = f"{root}/dev/{name}"
        os.makedirs(f"{root}/dev", exist_ok=True)
        pathlib.Path(target).touch()
        _mount(f"/dev/{name}", target, None, _MS_BIND)
    for link, goal in {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}.items():
        os.symlink(goal, f"{root}/dev/{link}")
    os.makedirs(f"{root}/dev/pts")
    _mount("devpts", f"{root}/dev/pts", "devpts", _MS_NOSUID, "newinstance,ptmxmode=0666,mode=0620")
    _tmpfs(f"{root}/dev/shm", plan.disk, "1777")
    _tmpfs(f"{root}/tmp", plan.disk, "1777")
    _tmpfs(f"{root}/home", plan.disk)
    os.makedirs(f"{root}/proc")
    _mount("proc", f"{root}/proc", "proc", _MS_NOSUID | _MS_NODEV)
    for target, source in plan.binds.items():
        _bind(source, root + target)


def _enter_root(plan: Plan) -> None:
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    root = "/sys"  # hides nothing that a bind may come from
    _build_root(root, plan)
    os.chdir(root)
    _check(_LIBC.syscall(ctypes.c_long(_PIVOT_ROOT), b".", b"."), "pivot_root")
    _check(_LIBC.umount2(b".", _MNT_DETACH), "umount")
    os.chdir("/")
    _set_read_only("/", 0)  # what is mounted below it stays as it is


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as interface:
        fcntl.ioctl(interface, 0x8914, struct.pack("16sH14x", b"lo", 1 | 64))


def _map_user(inside: int, outside: int, group: int) -> None:
    pathlib.Path("/proc/self/setgroups").write_text("deny")
    pathlib.Path("/proc/self/uid_map").write_text(f"{inside} {outside} 1")
    pathlib.Path("/proc/self/gid_map").write_text(f"{inside} {group} 1")


def subject_id() -> int:
    return int(os.environ.get("DOSSIER_JAIL_UID", SUBJECT))


def become_subject(processes: int, files: int = 128 * _MEBI) -> None:
    """What the observer's child does before it executes a subject: no rights, and rlimits."""
    uid = subject_id()
    for name, limit in ((resource.RLIMIT_NPROC, processes), (resource.RLIMIT_FSIZE, files), (resource.RLIMIT_CORE, 0),
                        (resource.RLIMIT_NOFILE, 2048), (resource.RLIMIT_CPU, 60)):
        resource.setrlimit(name, (limit, limit))
    if uid == SUBJECT:
        _check(_LIBC.unshare(_NEWUSER), "unshare")
        _map_user(SUBJECT, 0, 0)
    else:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    _check(_LIBC.prctl(38, 1, 0, 0, 0), "no_new_privs")


def forbid_namespaces() -> None:
    """For a subject that shall do without namespaces: no call makes one from here on."""
    number = {"x86_64": (0xC000003E, 272, 308, 56, 435), "aarch64": (0xC00000B7, 97, 268, 220, 435)}[os.uname().machine]
    arch, unshare, setns, clone, clone3 = number
    load, equal, any_of, give = 0x20, 0x15, 0x45, 0x06
    denied, absent, allowed = 0x50000 | 1, 0x50000 | 38, 0x7FFF0000
    program = [(load, 0, 0, 4), (equal, 1, 0, arch), (give, 0, 0, 0x80000000), (load, 0, 0, 0),
               (equal, 0, 1, clone3), (give, 0, 0, absent),
               (equal, 3, 0, unshare), (equal, 2, 0, setns), (equal, 2, 0, clone), (give, 0, 0, allowed),
               (give, 0, 0, denied),
               (load, 0, 0, 16), (any_of, 0, 1, 0x7E020000), (give, 0, 0, denied), (give, 0, 0, allowed)]
    packed = b"".join(struct.pack("HBBI", *one) for one in program)
    text = ctypes.create_string_buffer(packed, len(packed))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(text)))
    _check(_LIBC.prctl(22, 2, ctypes.byref(header), 0, 0), "seccomp")


def _inside(plan: Plan) -> None:
    """The first process of the jail; ends by executing the words of the plan."""
    _LIBC.prctl(1, signal.SIGKILL, 0, 0, 0)
    _enter_root(plan)
    _loopback_up()
    _LIBC.sethostname(b"jail", 4)
    os.execve(plan.words[0], plan.words, {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
                                         "DOSSIER_JAIL_UID": os.environ["DOSSIER_JAIL_UID"]})


def main() -> int:
    """Run by `Jail`: makes the namespaces, then waits for the first process in them."""
    plan = Plan(**json.loads(sys.argv[1]))
    uid, gid = os.geteuid(), os.getegid()
    os.environ["DOSSIER_JAIL_UID"] = str(_FIRST_UID + os.getpid() % 100_000 if uid == 0 else SUBJECT)
    _LIBC.prctl(1, signal.SIGKILL, 0, 0, 0)
    user = 0 if uid == 0 else _NEWUSER
    _check(_LIBC.unshare(user | _NEWNS | _NEWPID | _NEWNET | _NEWIPC | _NEWUTS), "unshare")
    if user:
        _map_user(0, uid, gid)
    child = os.fork()
    if child == 0:
        try:
            _inside(plan)
        except OSError as error:
            print(f"jail: {error}", file=sys.stderr)
        os._exit(70)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, plan.seconds)
    while True:
        try:
            _, status = os.waitpid(child, 0)
            return os.waitstatus_to_exitcode(status) & 0xFF
        except InterruptedError:
            pass


class Cgroup:
    """Caps of one jail, where this machine lets us make groups; nothing happens where it does not."""

    def __init__(self, plan: Plan) -> None:
        self.folders: list[pathlib.Path] = []
        top, name = pathlib.Path("/sys/fs/cgroup"), f"dossier-scoreboard-{os.getpid()}-{time.monotonic_ns()}"
        caps = {"pids": {"pids.max": plan.processes}, "memory": {"memory.limit_in_bytes": plan.memory}}
        if (top / "cgroup.controllers").exists():
            caps = {".": {"pids.max": plan.processes, "memory.max": plan.memory, "memory.swap.max": 0}}
        for controller, values in caps.items():
            folder = top / controller / name
            try:
                folder.mkdir()
                self.folders.append(folder)
                for file, value in values.items():
                    if (folder / file).exists():
                        (folder / file).write_text(str(value))
            except OSError:
                pass

    def join(self) -> None:
        for folder in self.folders:
            try:
                (folder / "cgroup.procs").write_text(str(os.getpid()))
            except OSError:
                pass

    def remove(self) -> None:
        for folder in self.folders:
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except OSError:
                    time.sleep(0.02)


class Jail:
    def __init__(self, plan: Plan) -> None:
        self._cgroup = Cgroup(plan)
        self._seconds = plan.seconds
        self.process = subprocess.Popen([sys.executable, "-I", __file__, plan.text()], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                        preexec_fn=self._cgroup.join)

    def wait(self) -> tuple[int, str, str]:
        """(exit status, stdout, stderr) of the first process."""
        out, err = self.process.communicate(timeout=self._seconds + 20)
        return self.process.returncode, out, err

    def __enter__(self) -> "Jail":
        return self

    def __exit__(self, *_error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._cgroup.remove()


if __name__ == "__main__":
    sys.exit(main())
