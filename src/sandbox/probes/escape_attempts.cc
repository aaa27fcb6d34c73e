#include "sandbox/probes/escape.h"

namespace dossier::sandbox {
namespace {

using Then = EscapeAttempt::Then;

// A frame that asks the host for a model call, in the form that the bridge's thread sends.
#define FRAME                                                                                     \
  "import json, os, struct\n"                                                                     \
  "body = json.dumps({'method': 'llm', 'args': {'parts': ['FORGED'], 'model': None}}).encode()\n" \
  "frame = struct.pack('<IBBHQII', len(body), 1, 11, 0, 10**6 + 1, 1, len(body)) + body\n"

constexpr std::string_view kWriteEverywhere = FRAME R"py(
import stat
for fd in range(3, 1024):
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.write(fd, frame)
    except OSError:
        pass
for fd in range(3, 1024):
    for write in (lambda: os.writev(fd, [frame]), lambda: os.pwrite(fd, frame, 0)):
        try:
            write()
        except OSError:
            pass
)py";

constexpr std::string_view kWriteFromThread = FRAME R"py(
import socket, threading
def everywhere():
    for fd in range(3, 1024):
        try:
            os.write(fd, frame)
        except OSError:
            pass
        try:
            s = socket.socket(fileno=fd)
            s.send(frame)
            s.detach()
        except OSError:
            pass
threads = [threading.Thread(target=everywhere) for _ in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
)py";

constexpr std::string_view kSocketFromNumber = FRAME R"py(
import socket
for fd in range(3, 1024):
    for family in (socket.AF_UNIX, socket.AF_INET, -1):
        try:
            s = socket.socket(family, socket.SOCK_STREAM if family != -1 else -1, 0, fileno=fd)
        except OSError:
            continue
        try:
            s.send(frame)
        except OSError:
            pass
        try:
            s.sendmsg([frame])
        except OSError:
            pass
        s.detach()
)py";

constexpr std::string_view kPrintFrame = FRAME R"py(
import sys
print(frame)
sys.stdout.buffer.write(frame) if hasattr(sys.stdout, "buffer") else None
os.write(1, frame)
os.write(2, frame)
)py";

constexpr std::string_view kOldStreams = FRAME R"py(
import sys
for stream in (sys.__stdout__, sys.__stderr__, sys.__stdin__):
    try:
        stream.buffer.write(frame)
        stream.flush()
    except Exception:
        pass
)py";

constexpr std::string_view kLoseBridge = R"py(
import fcntl, os
kept = []
for fd in range(3, 1024):
    for act in (os.close, os.dup, lambda n: os.dup2(n, 700),
                lambda n: fcntl.fcntl(n, fcntl.F_DUPFD, 500)):
        try:
            kept.append(act(fd))
        except OSError:
            pass
return [fd for fd in kept if fd is not None]
)py";

constexpr std::string_view kAskHost = R"py(
return str(llm_query("ping")) != "pong"
)py";

constexpr std::string_view kOpenDescriptors = R"py(
import os, stat
found = []
for fd in range(3, 1024):
    try:
        kind = os.fstat(fd).st_mode
        if stat.S_ISDIR(kind) or stat.S_ISSOCK(kind):
            found.append(fd)
        elif stat.S_ISREG(kind) and b"dossier-canary-" in os.pread(fd, 1 << 20, 0):
            found.append(fd)
    except OSError:
        pass
return found
)py";

constexpr std::string_view kFolderDescriptor = R"py(
import os
found = []
for fd in range(0, 1024):
    for path in ("..", "../etc/passwd", "etc/passwd"):
        try:
            found.append(os.open(path, os.O_RDONLY, dir_fd=fd))
        except OSError:
            pass
    try:
        found.append(os.listdir(fd))
    except OSError:
        pass
return found
)py";

constexpr std::string_view kHostObjects = R"py(
import gc, re
secret = re.compile("dossier-canary-[0-9a-f]{16}")
seen, found = set(), []
def look(value, depth):
    if id(value) in seen or depth > 6 or len(seen) > 200000:
        return
    seen.add(id(value))
    if isinstance(value, str) and secret.search(value):
        found.append("text")
    for name in ("__self__", "__globals__", "__closure__", "__wrapped__", "__dict__", "__func__"):
        try:
            look(getattr(value, name), depth + 1)
        except Exception:
            pass
    try:
        for child in gc.get_referents(value):
            look(child, depth + 1)
    except Exception:
        pass
for start in (llm_query, budget, doc, print):
    look(start, 0)
for value in gc.get_objects():
    look(value, 5)
for function in (llm_query, budget):
    for scope in (getattr(function, "__globals__", {}), ):
        opener = scope.get("__builtins__", {})
        opener = opener.get("open") if isinstance(opener, dict) else getattr(opener, "open", None)
        try:
            found.append(opener("$FOLDER$/secret").read())
        except Exception:
            pass
return found
)py";

constexpr std::string_view kReplaceEverything = R"py(
import builtins, json, sys
def forged(*args, **kwargs):
    return '{"method": "llm", "args": {"parts": ["FORGED"]}}'
json.dumps = json.loads = forged
import dossier_bridge
dossier_bridge.json.dumps = forged
builtins.len = lambda value: 3
builtins.str = bytes
builtins.isinstance = lambda value, kind: True
sys.stdout = sys.stderr = None
)py";

constexpr std::string_view kAskHostBare = R"py(
import builtins, _dossier
value, raw = _dossier.call("llm", {"parts": ["ping"], "model": None, "context": None}, b"")
return value.get("text") != "pong"
)py";

constexpr std::string_view kAtExit = R"py(
import atexit
def leave():
    with open("$FOLDER$/left", "w") as file:
        file.write("x")
class Late:
    def __del__(self):
        leave()
import builtins
builtins.late = Late()
builtins.late.again = builtins.late
atexit.register(leave)
import threading
threading._register_atexit(leave)
)py";

constexpr std::string_view kTracer = R"py(
import builtins, sys, threading
builtins.traced = []
def tracer(frame, event, argument):
    builtins.traced.append(frame.f_code.co_filename)
    return tracer
threading.settrace(tracer)
threading.setprofile(tracer)
sys.setprofile(tracer)
sys.settrace(tracer)
)py";

constexpr std::string_view kTracerStays = R"py(
import sys
return sys.gettrace() or sys.getprofile()
)py";

constexpr std::string_view kWrongTypes = R"py(
import _dossier
answered = []
for method, args, raw in (
    ("llm", {"parts": 5, "model": None}, b""),
    ("llm", {"parts": [{"blob": [0, 1 << 62]}], "model": None}, b"x"),
    ("llm", {"parts": [{"blob": [-1, 5]}], "model": None}, b"xxxxx"),
    ("llm", {"parts": [{"blob": "x"}], "model": None}, b"x"),
    ("llm", {"parts": [None], "model": None}, b""),
    ("llm", {"parts": [{"ctx": 2**63, "at": 0, "len": 1}], "model": None}, b""),
    (5, {}, b""), (None, None, None), ("llm", [], b""), ("", {}, b""), ("x" * 10**6, {}, b""),
):
    try:
        answered.append(_dossier.call(method, args, raw))
    except Exception:
        pass
deep = []
for _ in range(100000):
    deep = [deep]
try:
    answered.append(_dossier.call("llm", {"parts": deep}, b""))
except Exception:
    pass
return answered
)py";

constexpr std::string_view kForeignSlice = R"py(
import _dossier
answered = []
for ctx, at, length in ((0, 0, 1 << 40), (0, 1 << 50, 1), (1, 0, 1), (99, 0, 1), (-1, 0, 1),
                        (0, -5, 5)):
    try:
        answered.append(_dossier.call(
            "llm", {"parts": [{"ctx": ctx, "at": at, "len": length}], "model": None}, b""))
    except Exception:
        pass
return answered
)py";

constexpr std::string_view kChangeBudget = R"py(
import _dossier
before = _dossier.call("budget", {}, b"")[0]
before["calls_left"] = 10**9
budget.__dict__.update(calls_left=10**9, depth=99)
try:
    import dossier_calls
    dossier_calls.call("budget", {"calls_left": 10**9, "depth": 99})
except Exception:
    pass
return _dossier.call("budget", {}, b"")[0]["calls_left"] != 7
)py";

constexpr std::string_view kWriteContext = R"py(
import os
original = str(doc[0:16])
for fd in range(3, 1024):
    for act in (lambda: os.pwrite(fd, b"FORGED", 0), lambda: os.ftruncate(fd, 0),
                lambda: os.truncate(fd, 0)):
        try:
            act()
        except OSError:
            pass
for attempt in (lambda: memoryview(doc).__setitem__(0, 70), lambda: doc.__setitem__(0, "F")):
    try:
        attempt()
    except Exception:
        pass
return str(doc[0:16]) != original
)py";

constexpr std::string_view kThreadBomb = R"py(
import threading, time
threading.stack_size(65536)
hold, started = threading.Event(), 0
for _ in range(4000):
    threading.Thread(target=hold.wait, daemon=True).start()
    started += 1
    if started % 100 == 0:
        time.sleep(0.02)
time.sleep(0.5)
return started
)py";

constexpr std::string_view kMemoryBomb = R"py(
import array
kept, total = [], 0
makers = (lambda: "x" * (32 << 20), lambda: bytes(32 << 20), lambda: bytearray(b"x") * (32 << 20),
          lambda: array.array("q", [1]) * (4 << 20), lambda: list(range(1 << 20)))
try:
    while total < 4 << 30:
        kept.append(makers[len(kept) % 5]())
        total += 32 << 20
except MemoryError:
    kept.clear()
    raise
return total
)py";

bool FloodKept(const BlockResult& result, const Limits& limits) {
  return result.out.size() > limits.output * 5 / 4 || result.out_dropped == 0;
}

bool RanOn(const BlockResult& result, const Limits& limits) {
  return result.wall > limits.silence + limits.grace + Millis(3'000);
}

constexpr EscapeAttempt kAttempts[] = {
    {"E1.1", "read /etc/passwd",
     "import posix\nreturn posix.read(posix.open('/etc/passwd', 0), 4096)"},
    {"E1.2", "the home folder", "import posix\nreturn posix.listdir('$HOME$')"},
    {"E1.3", "the run's own store",
     "import posix\nreturn posix.read(posix.open('$STORE$', 0), 4096)"},
    {"E1.4", "/proc/self/environ",
     "import posix\nreturn posix.read(posix.open('/proc/self/environ', 0), 4096)"},
    {"E1.5", "/proc/self/mem",
     "import posix\nreturn posix.open('/proc/self/mem', posix.O_RDWR) + 1"},
    {"E1.6", "/proc/1", "import posix\nreturn posix.listdir('/proc/1')"},
    {"E1.7", ".. from the library folder",
     "import os, posix, textwrap\nbase = os.path.dirname(textwrap.__file__)\n"
     "return posix.read(posix.open(base + '/../../..$FOLDER$/secret', 0), 4096)"},
    {"E1.8", "a symlink made in /tmp",
     "import posix\nlink = '/tmp/$ABSTRACT$-link'\nposix.symlink('$FOLDER$/secret', link)\n"
     "return posix.read(posix.open(link, 0), 4096)"},

    {"E2.1", "write outside /tmp",
     "import posix\n"
     "return posix.open('$FOLDER$/new', posix.O_WRONLY | posix.O_CREAT) + 1"},
    {"E2.2", "write the library folder",
     "import os, posix, textwrap\npath = os.path.dirname(textwrap.__file__) + '/new.py'\n"
     "return posix.open(path, posix.O_WRONLY | posix.O_CREAT) + 1"},
    {"E2.3", "fill /tmp past its size",
     "with open('/tmp/$ABSTRACT$-a', 'wb') as a, open('/tmp/$ABSTRACT$-b', 'wb') as b:\n"
     "    for _ in range(40):\n"
     "        a.write(b'x' * (1 << 20)), b.write(b'x' * (1 << 20))\n"
     "        a.flush(), b.flush()\n"
     "return True"},
    {"E2.4", "execute a file from /tmp",
     "import os\npath = '/tmp/$ABSTRACT$-run'\nopen(path, 'w').write('#!/bin/true')\n"
     "os.chmod(path, 0o755)\nos.execv(path, ['run'])"},
    {"E2.5", "list or stat /",
     "import posix\nfound = []\n"
     "try:\n"
     "    found = [n for n in posix.listdir('/') if n in ('etc', 'home', 'root', 'proc', 'var')]\n"
     "except OSError:\n    pass\n"
     "if $ROOT$:\n"
     "    for path in ('/etc', '/home', '/proc', '/root', '$FOLDER$'):\n"
     "        try:\n            posix.stat(path), found.append(path)\n"
     "        except OSError:\n            pass\n"
     "return found"},
    {"E2.6", "leave through a folder's descriptor", kFolderDescriptor},

    {"E3.1", "IPv4 socket",
     "import socket\nreturn socket.create_connection(('127.0.0.1', $TCP$), 1)"},
    {"E3.2", "IPv6 socket", "import socket\nreturn socket.socket(socket.AF_INET6)"},
    {"E3.3", "UDP socket",
     "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
     "return s.sendto(b'x', ('127.0.0.1', $UDP$))"},
    {"E3.4", "unix socket by path",
     "import socket\n"
     "try:\n"
     "    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
     "    a.sendto(b'x', '$DGRAM$')\n"
     "except OSError:\n    pass\n"
     "a, b = socket.socketpair()\n"
     "try:\n    a.sendto(b'x', '$DGRAM$')\n"
     "except OSError:\n    pass\n"
     "s = socket.socket(socket.AF_UNIX)\ns.connect('$STREAM$')\nreturn True"},
    {"E3.5", "abstract unix socket",
     "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect('\\0$ABSTRACT$')\nreturn True"},
    {"E3.6", "netlink socket",
     "import socket\nreturn socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)"},
    {"E3.7", "raw socket",
     "import socket\nreturn socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)"},
    {"E3.8", "vsock", "import socket\nreturn socket.socket(40, socket.SOCK_STREAM)"},

    {"E4.1", "name lookup", "import socket\nsocket.getaddrinfo('example.org', 80)\nreturn True"},
    {"E4.2", "the host's loopback",
     "import urllib.request\nreturn urllib.request.urlopen('http://127.0.0.1:$TCP$/', timeout=1)"},
    {"E4.3", "descriptors 3 to 1,023", kOpenDescriptors},
    {"E4.4", "keys in the environment",
     "import os\nreturn set(os.environ) - {'PATH', 'TZ', 'LANG', 'LC_CTYPE', 'PYTHONHASHSEED'}"},

    {"E5.1", "os.fork", "import os\npid = os.fork()\nif pid == 0:\n    os._exit(0)\nreturn pid"},
    {"E5.2", "os.execv", "import os\nos.execv('/bin/true', ['true'])"},
    {"E5.3", "subprocess", "import subprocess\nreturn subprocess.run(['/bin/true'])"},
    {"E5.4", "os.system", "import os\nreturn os.system('true') == 0"},
    {"E5.5", "posix_spawn", "import os\nreturn os.posix_spawn('/bin/true', ['true'], {})"},
    {"E5.6", "multiprocessing",
     "import multiprocessing\np = multiprocessing.Process(target=print)\np.start()\nreturn p.pid"},
    {"E5.7", "kill the parent or everything",
     "import os, signal\ndone = []\n"
     "for target in (os.getppid(), -1, 1, 2):\n"
     "    try:\n        os.kill(target, 0), done.append(target)\n"
     "    except OSError:\n        pass\n"
     "for target in (os.getppid(), 1):\n"
     "    try:\n        os.killpg(target, 0), done.append(target)\n"
     "    except OSError:\n        pass\n"
     "try:\n    done.append(os.pidfd_open(max(os.getppid(), 1)))\n"
     "except OSError:\n    pass\n"
     "return done"},
    {"E5.8", "ptrace, process_vm_readv, pidfd_getfd", ""},

    {"E6.1", "unshare", ""},
    {"E6.2", "setns", ""},
    {"E6.3", "mount, pivot_root", ""},
    {"E6.4", "bpf", ""},
    {"E6.5", "perf_event_open, userfaultfd", ""},
    {"E6.6", "keyctl", ""},
    {"E6.7", "io_uring_setup", ""},
    {"E6.8", "32-bit and x32 calls, personality", ""},

    {"E7.1", "ctypes", "import ctypes\nreturn ctypes.CDLL(None).getpid()"},
    {"E7.2", "executable mmap",
     "import mmap\nreturn mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)"},
    {"E7.3", "raise an rlimit",
     "import resource\nresource.setrlimit(resource.RLIMIT_DATA, (-1, -1))\nreturn True"},
    {"E7.4", "undo flags with prctl or a new filter", ""},

    {"E8.1", "os.write to every descriptor", kWriteEverywhere, Then::kSameSession, kAskHost},
    {"E8.2", "socket.socket(fileno=n)", kSocketFromNumber, Then::kSameSession, kAskHost},
    {"E8.3", "print a frame", kPrintFrame, Then::kSameSession, kAskHost},
    {"E8.4", "sys.__stdout__", kOldStreams, Then::kSameSession, kAskHost},
    {"E8.5", "close or duplicate the bridge", kLoseBridge, Then::kSameSession, kAskHost},
    {"E8.6", "all from a thread", kWriteFromThread, Then::kSameSession, kAskHost},

    {"E9.1", "the host through objects", kHostObjects},
    {"E9.2", "json, builtins, our functions replaced", kReplaceEverything, Then::kSameSession,
     kAskHostBare},
    {"E9.3", "code in atexit or __del__", kAtExit},
    {"E9.4", "sys.settrace left behind", kTracer, Then::kSameSession, kTracerStays},

    {"E10.1", "unknown method", "import _dossier\nreturn _dossier.call('no_such_method', {}, b'')"},
    {"E10.2", "wrong types, giant ids", kWrongTypes, Then::kSameSession, kAskHost},
    {"E10.3", "a model or tool not granted",
     "try:\n    return str(llm_query('ping', model='not-granted'))\n"
     "except LLMError:\n    import _dossier\n"
     "    return _dossier.call('tool', {'name': 'not-granted', 'args': {}}, b'')"},
    {"E10.4", "a slice outside the context or of another run", kForeignSlice},
    {"E10.5", "budget() or depth changed inside", kChangeBudget},
    {"E10.6", "writing the sealed memfd", kWriteContext},

    {"E11.1", "a file, variable or patched module for the next session",
     "import builtins, json\nbuiltins.left_behind = 1\njson.left_behind = 1\n"
     "try:\n    open('/tmp/$ABSTRACT$-left', 'w').write('x')\nexcept OSError:\n    pass\n"
     "left_behind = 1",
     Then::kNextSession,
     "import builtins, json, os\n"
     "return [hasattr(builtins, 'left_behind'), hasattr(json, 'left_behind'),\n"
     "        os.path.exists('/tmp/$ABSTRACT$-left'), 'left_behind' in globals()].count(True)"},
    {"E11.2", "thread bomb", kThreadBomb},
    {"E11.3", "memory bomb", kMemoryBomb},
    {"E11.4", "output flood", "for _ in range(300):\n    print('x' * (1 << 17))", Then::kNothing,
     "", FloodKept},

    {"E12.2", "interrupt signal blocked or swallowed for ever",
     "import signal\n"
     "try:\n    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n"
     "except Exception:\n    pass\n"
     "for number in range(1, 65):\n"
     "    try:\n        signal.signal(number, signal.SIG_IGN)\n"
     "    except Exception:\n        pass\n"
     "while True:\n"
     "    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
     Then::kNothing, "", RanOn},
};

// A function made in this way may only reach the realm's own names.
constexpr std::string_view kConstructorChains = R"js(
const names = ["process", "require", "module", "load", "read", "readFile", "quit", "os", "scriptArgs",
               "Deno", "Bun", "Worker", "WebAssembly", "SharedArrayBuffer", "Atomics", "host",
               "Reflect.parse", "newGlobal", "evalcx", "dumpObject", "gc"];
const reach = "return this";
const look = "const found = []; for (const name of " + JSON.stringify(names) +
             ") { let at = this; for (const part of name.split('.')) at = at && at[part];" +
             " if (at !== undefined) found.push(name); } return found.join(' ');";
const starts = [print, llm_query, SUBMIT, budget, console.log, doc, __vars, [], {}, "", 1, true, /x/,
                new Map(), Symbol.iterator, new Error("x"), function () {}, async function () {},
                function* () {}, async function* () {}, Promise.resolve(), new Proxy({}, {})];
const seen = [];
for (const start of starts) {
  for (let at = start, depth = 0; at != null && depth < 8; ++depth) {
    let next;
    try { next = at["constructor"]; } catch (error) { break; }
    if (typeof next === "function") {
      for (const body of [reach, look, "return process", "return import('os')"]) {
        let got;
        try {
          const made = next(body);
          if (typeof made !== "function") continue;  // String(body), Object(body)
          got = made.call(undefined);
          if (got && typeof got.next === "function") got = got.next().value;
          if (got && (got instanceof Promise || typeof got.then === "function")) continue;
        } catch (error) { continue; }
        if (body === look && typeof got === "string" && got.trim() !== "") seen.push(got);
        if (body === reach && got && typeof got === "object" && got !== globalThis) {
          const own = Object.getOwnPropertyNames(got);
          for (const name of names) if (own.includes(name)) seen.push(name);
        }
        if (body === "return process" && got !== undefined) seen.push("process");
      }
    }
    at = Object.getPrototypeOf(Object(at));
  }
}
return seen.join(" ");
)js";

constexpr EscapeAttempt kJavaScript[] = {
    {"E12.1", "every constructor chain of JavaScript", kConstructorChains}};

}  // namespace

std::span<const EscapeAttempt> EscapeAttempts() { return kAttempts; }
std::span<const EscapeAttempt> JavaScriptAttempts() { return kJavaScript; }

}  // namespace dossier::sandbox
