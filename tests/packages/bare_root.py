"""A Debian with its essential packages alone, made of the files of this machine, and a way in.

    root = BareRoot(folder, ["python3-venv"])     # these and what they depend on, too
    done = root.run("dossier", "--version")       # as root there, without network
    done = root.run("dossier", "doctor", user=1000)

Packages are copied by the lists that dpkg keeps of them. A command gets a mount namespace whose root the folder
is, so that it finds nothing else, and a network namespace with nothing in it. Who is not root here needs user
namespaces (`possible()`), and is root or himself there.
"""

import os
import pathlib
import re
import select
import shutil
import stat
import subprocess
import sys
import time

STATUS = pathlib.Path("/var/lib/dpkg/status")
LISTS = pathlib.Path("/var/lib/dpkg/info")
# Of a package: what nothing runs.
LEFT_OUT = re.compile(r"/usr/share/(doc|man|locale|info|lintian|zoneinfo|i18n)/|/usr/lib/x86_64-linux-gnu/perl/|"
                      r"\.(a|h|pyc)$")
HANG = 600  # seconds that only what hangs takes
LINKED = ("bin", "sbin", "lib", "lib64")  # into /usr
IDENTITY = ("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n"
            "ann:x:1000:1000::/home/ann:/bin/sh\n")


def parse_status() -> dict[str, dict[str, str]]:
    """The installed packages, by name: the fields of each, and its whole paragraph as `text`."""
    packages = {}
    for paragraph in STATUS.read_text("utf-8").split("\n\n"):
        fields = dict(re.findall(r"^([A-Z][\w-]*):[ \t]*(.*)$", paragraph, re.M))
        if fields.get("Status", "").endswith(" installed"):
            packages[fields["Package"]] = {**fields, "text": paragraph.strip("\n")}
    return packages


def names_in(dependencies: str) -> list[list[str]]:
    """The alternatives of each dependency: `a (>= 1) | b, c` is [[a, b], [c]]."""
    return [[re.split(r"[ (:]", one.strip())[0] for one in clause.split("|")]
            for clause in dependencies.split(",") if clause.strip()]


class Packages:
    def __init__(self):
        self.known = parse_status()
        self.provided = {}
        for name, fields in self.known.items():
            for [virtual] in names_in(fields.get("Provides", "")):
                self.provided.setdefault(virtual, name)
        self.essential = self.closure([name for name, fields in self.known.items()
                                       if fields.get("Essential") == "yes"])

    def closure(self, names) -> set[str]:
        """With all that they depend on; a package that this machine has not is a KeyError."""
        found, waiting = set(), list(names)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            fields = self.known[name]
            for alternatives in names_in(f"{fields.get('Depends', '')},{fields.get('Pre-Depends', '')}"):
                waiting.append(self.choose(alternatives))
        return found

    def choose(self, alternatives: list[str]) -> str:
        for name in alternatives:
            if name in self.known or name in self.provided:
                return name if name in self.known else self.provided[name]
        raise KeyError(" | ".join(alternatives))

    def list_of(self, name: str) -> pathlib.Path:
        architecture = self.known[name]["Architecture"]
        plain, exact = LISTS / f"{name}.list", LISTS / f"{name}:{architecture}.list"
        return exact if exact.exists() else plain


def possible() -> bool:
    """Whether this user gets a root of his own here."""
    return subprocess.run([*unshare(0), "true"], capture_output=True).returncode == 0


def unshare(user: int) -> list[str]:
    words = ["unshare", "--mount", "--net", "--propagation", "private"]
    if os.geteuid() == 0:
        return words
    return [*words, "--map-root-user"] if user == 0 else [*words, "--map-current-user", "--keep-caps"]


class BareRoot:
    def __init__(self, folder: pathlib.Path, more=(), packages: Packages | None = None):
        self.folder = folder
        packages = packages or Packages()
        names = packages.essential | packages.closure(more)
        for name in LINKED:
            (folder / "usr" / name).mkdir(parents=True)
            (folder / name).symlink_to(f"usr/{name}")
        for name in ("proc", "dev", "tmp", "root", "home/ann", "etc", "srv"):
            (folder / name).mkdir(parents=True)
        for name in ("tmp", "home/ann", "srv"):
            (folder / name).chmod(0o1777)
        for name in sorted(names):
            self.copy(packages.list_of(name).read_text("utf-8").split("\n"))
        for name in ("sh", "awk"):  # what the scripts of packages would have linked
            if not (folder / "usr/bin" / name).exists():
                (folder / "usr/bin" / name).symlink_to({"sh": "dash", "awk": "mawk"}[name])
        (folder / IDENTITY[0][1:]).write_text(IDENTITY[1])
        self.tell_dpkg(packages, names)

    def copy(self, places: list[str]) -> None:
        for place in places:
            source, target = pathlib.Path(place), self.folder / place[1:]
            if place in ("", "/.") or LEFT_OUT.search(place) or target.is_symlink():
                continue
            try:
                mode = source.lstat().st_mode
            except OSError:
                continue  # taken away on this machine, such as documentation
            if stat.S_ISDIR(mode):
                target.mkdir(parents=True, exist_ok=True)
            elif stat.S_ISLNK(mode):
                target.symlink_to(os.readlink(source))
            elif stat.S_ISREG(mode) and os.access(source, os.R_OK):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def tell_dpkg(self, packages: Packages, names: set[str]) -> None:
        folder = self.folder / "var/lib/dpkg"
        for name in ("info", "updates", "triggers"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "status").write_text("".join(f"{packages.known[name]['text']}\n\n" for name in sorted(names)))
        for name in names:
            shutil.copy(packages.list_of(name), folder / "info")
        (folder / "info/format").write_text("1\n")

    def run(self, *words, user: int = 0, stdin: str = "", cwd: str = "/srv", **environment):
        """A command inside, with a bare environment."""
        return subprocess.run(self.way_in(words, user, cwd), env=self.environment(user, environment), input=stdin,
                              text=True, capture_output=True, timeout=HANG)

    def talk(self, *words, lines: list[tuple[str, str]], **environment) -> str:
        """A command on a terminal: for each (shown, typed), waits until the text is shown behind that of the one
        before, and types. All that was shown."""
        inside, outside = os.openpty()
        process = subprocess.Popen(self.way_in(words, 0, "/srv"), env=self.environment(0, environment), stdin=outside,
                                   stdout=outside, stderr=outside, start_new_session=True)
        os.close(outside)
        shown, end = "", time.monotonic() + HANG
        waiting, seen = list(lines), 0
        try:
            while time.monotonic() < end:
                if select.select([inside], [], [], 1)[0]:
                    shown += os.read(inside, 65536).decode("utf-8", "replace")
                while waiting and (at := shown.find(waiting[0][0], seen)) >= 0:
                    text, typed = waiting.pop(0)
                    seen = at + len(text)
                    os.write(inside, typed.encode())
            process.kill()
        except OSError:  # the terminal was closed at the other side
            pass
        finally:
            process.wait()
            os.close(inside)
        return shown

    def way_in(self, words, user: int, cwd: str) -> list[str]:
        return [*unshare(user), sys.executable, "-I", __file__, str(self.folder), str(user), cwd, *map(str, words)]

    @staticmethod
    def environment(user: int, more: dict) -> dict:
        return {"PATH": "/opt/dossier/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG": "C.UTF-8",
                "HOME": "/root" if user == 0 else "/home/ann", "DEBIAN_FRONTEND": "noninteractive", **more}


def enter(folder: str, user: int, cwd: str, words: list[str]) -> None:
    """In the new namespaces: makes the folder the root, and becomes the command."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    bind, recursive, detach, pivot_root, clear_ambient = 0x1000, 0x4000, 2, 155, (47, 4, 0, 0, 0)

    def check(what: str, result: int) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")

    for source, target in ((folder, folder), ("/proc", f"{folder}/proc"), ("/dev", f"{folder}/dev")):
        check(f"mount {target}", libc.mount(source.encode(), target.encode(), None,
                                            ctypes.c_ulong(bind | recursive), None))
    os.chdir(folder)
    check("pivot_root", libc.syscall(pivot_root, b".", b"."))
    check("umount", libc.umount2(b".", detach))
    os.chdir(cwd)
    if user != 0 and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    libc.prctl(*clear_ambient)
    os.execvpe(words[0], words, os.environ)


if __name__ == "__main__":
    enter(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:])
