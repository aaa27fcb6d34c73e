// The escape attempts of spec section 4.8, as a program in a jail makes them.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/files/file.h"
#include "sandbox/jail/jail.h"
#include "testing/isolation_harness.h"
#include "testing/result_matchers.h"

namespace dossier::sandbox {
namespace {

using ::dossier::testing::Succeeds;

// Each attempt is an expression; it worked if that raises nothing and is true.
struct Attempt {
  const char* id;
  const char* code;
  enum class Effect { kNone, kEndsTheTrial } effect = Effect::kNone;  // if it works
};

constexpr const char* kPrelude = R"(
import ctypes, os, socket, struct, sys, fcntl, signal, resource
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if result == -1: raise OSError(ctypes.get_errno(), 'refused')
    return True
def read(path): return bool(open(path, 'rb').read(1))
def write(path): return bool(open(path, 'wb').write(b'x'))
def connect(family, kind, address):
    with socket.socket(family, kind) as s: s.connect(address)
    return True
def is_open(n):
    try: return fcntl.fcntl(n, fcntl.F_GETFD) >= 0
    except OSError: return False
HOST, HOME, PORT, ABSTRACT, UNIX = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
MEMORY, QUEUE = int(sys.argv[6]), int(sys.argv[7])
buffer = ctypes.create_string_buffer(4096)
)";

constexpr Attempt kAttempts[] = {
    {"E1 password hashes", "read('/etc/shadow')"},
    {"E1 accounts of the host", "b'root' in open('/etc/passwd', 'rb').read()"},
    {"E1 home", "read(HOME + '/secret')"},
    {"E1 home listed", "bool(os.listdir(HOME))"},
    {"E1 host's memory", "read('/proc/%d/mem' % HOST)"},
    {"E1 host's environment", "read('/proc/%d/environ' % HOST)"},
    {"E1 .. out", "read('../../../../../../etc/shadow')"},
    {"E1 a symlink out", "(os.symlink(HOME + '/secret', 'link'), read('link'))[1]"},
    {"E1 a hard link out", "(os.link(HOME + '/secret', 'hard'), read('hard'))[1]"},
    {"E2 write home", "write(HOME + '/new')"},
    {"E2 write a system folder", "write('/usr/lib/new')"},
    {"E2 write /etc", "write('/etc/new')"},
    {"E2 rename into home", "(write('mine'), os.rename('mine', HOME + '/mine'))[1] is None"},
    {"E2 remove from home", "os.unlink(HOME + '/secret') is None"},
    {"E2 a device", "(os.mknod('device', 0o600 | 0o020000, os.makedev(1, 1)), read('device'))[1]"},
    {"E2 kernel settings", "write('/proc/sys/kernel/core_pattern')"},
    {"E3 IPv4", "connect(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', PORT))"},
    {"E3 IPv6", "bool(socket.socket(socket.AF_INET6, socket.SOCK_STREAM))"},
    {"E3 UDP",
     "bool(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT)))"},
    {"E3 unix path", "connect(socket.AF_UNIX, socket.SOCK_STREAM, UNIX)"},
    {"E3 abstract unix", "connect(socket.AF_UNIX, socket.SOCK_STREAM, '\\0' + ABSTRACT)"},
    {"E3 netlink", "bool(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))"},
    {"E3 raw", "bool(socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))"},
    {"E3 packet", "bool(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))"},
    {"E3 vsock", "bool(socket.socket(40, socket.SOCK_STREAM))"},
    {"E4 name lookup", "bool(socket.getaddrinfo('example.com', 80))"},
    {"E4 descriptors 3 to 1023",
     "any(os.path.exists('/proc/self/fd/%d' % n) and not os.readlink("
     "'/proc/self/fd/%d' % n).startswith('/proc') for n in range(3, 1024))"},
    {"E4 a descriptor by number", "any(is_open(n) for n in range(3, 1024))"},
    {"E4 shared memory of the user", "libc.shmat(MEMORY, None, 0o10000) != -1"},
    {"E4 a message queue of the user", "call(71, QUEUE, 2, ctypes.byref(buffer))"},
    {"E5 kill the host", "os.kill(HOST, 9) is None", Attempt::Effect::kEndsTheTrial},
    {"E5 kill the parent", "os.kill(os.getppid(), 9) is None and os.getppid() != ppid",
     Attempt::Effect::kEndsTheTrial},
    {"E5 ptrace the parent", "call(101, 0x4206, os.getppid(), 0, 0)",
     Attempt::Effect::kEndsTheTrial},
    {"E5 be traced", "call(101, 0, 0, 0, 0)", Attempt::Effect::kEndsTheTrial},
    {"E5 process_vm_readv", "call(310, os.getppid(), 0, 0, 0, 0, 0)"},
    {"E5 pidfd_getfd", "call(438, os.pidfd_open(os.getppid()), 0, 0)"},
    {"E5 limits of the parent",
     "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE) is not None"},
    {"E6 unshare user", "call(272, 0x10000000)"},
    {"E6 unshare mount", "call(272, 0x00020000)"},
    {"E6 clone with namespaces",
     "os._exit(0) if call(56, 0x10000000 | 17, 0, 0, 0, 0) is None else True"},
    {"E6 clone3",
     "call(435, ctypes.byref(ctypes.create_string_buffer(struct.pack('<11Q', "
     "0x10000000, *[0] * 10))), 88)"},
    {"E6 setns",
     "call(308, os.open('/proc/self/ns/net', os.O_RDONLY) if os.path.exists("
     "'/proc/self/ns/net') else 0, 0)"},
    {"E6 mount", "call(165, b'none', b'/tmp', b'tmpfs', 0, 0)"},
    {"E6 umount", "call(166, b'/tmp', 2)"},
    {"E6 pivot_root", "call(155, b'/tmp', b'/tmp')"},
    {"E6 chroot", "call(161, b'/tmp')"},
    {"E6 open_tree", "call(428, -100, b'/', 1)"},
    {"E6 fsopen", "call(430, b'tmpfs', 0)"},
    {"E6 bpf", "call(321, 0, ctypes.byref(buffer), 64)"},
    {"E6 perf_event_open", "call(298, ctypes.byref(buffer), 0, -1, -1, 0)"},
    {"E6 userfaultfd", "call(323, 1)"},
    {"E6 keyctl", "call(250, 0, -3, 1)"},
    {"E6 add_key", "call(248, b'user', b'x', b'y', 1, -2)"},
    {"E6 request_key", "call(249, b'user', b'x', 0, -2)"},
    {"E6 io_uring", "call(425, 1, ctypes.byref(buffer))"},
    {"E6 open_by_handle_at", "call(304, 0, ctypes.byref(buffer), 0)"},
    {"E6 kexec", "call(246, 0, 0, 0, 0)"},
    {"E6 init_module", "call(175, ctypes.byref(buffer), 16, b'')"},
    {"E6 personality", "call(135, 0x0040000)"},
    {"E7 raise a limit", "resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20)) is None"},
    {"E7 capabilities", "os.setuid(0) is None and os.getuid() == 0 and uid != 0"},
    {"E7 a setuid program",
     "int(open('/proc/self/status').read().split('NoNewPrivs:')[1].split()[0]) == 0"},
    {"TIOCSTI", "fcntl.ioctl(terminal, 0x5412, b'x') is not None"},
    {"TIOCSTI with high bits", "call(16, terminal, 0x100005412, ctypes.byref(buffer))"},
    {"the terminal", "bool(os.open('/dev/tty', os.O_RDWR))"},
};

enum class Choice { kAll, kHarmless };

std::string Script(Choice choice) {
  std::string script = kPrelude;
  script += "ppid, uid = os.getppid(), os.getuid()\n";
  // A terminal of its own where the jail has none to inherit: the call itself is what is judged.
  script += "terminal = 0\n";
  for (const Attempt& attempt : kAttempts) {
    const bool harmful = attempt.effect == Attempt::Effect::kEndsTheTrial;
    if (harmful && choice == Choice::kHarmless) continue;
    script += fmt::format(
        "try:\n    worked, how = bool({}), ''\nexcept BaseException as e:\n    worked, how = "
        "False, "
        "repr(e)\nif worked: print('''{}''', how)\n",
        attempt.code, attempt.id);
  }
  return script + "print('done')\n";
}

// Runs `body` in a child that is the same or a plain user; what it returns comes back as text.
std::string RunAs(Identity identity, const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "pipe";
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    if (identity == Identity::kUser) harness::BecomeUser();
    harness::Send(ends[1], body());
    _exit(0);
  }
  close(ends[1]);
  std::string text = harness::ReadToEnd(ends[0]);
  close(ends[0]);
  waitpid(pid, nullptr, 0);
  return text;
}

struct Listener {
  UniqueFd socket;
  static Listener On(const sockaddr* address, socklen_t size) {
    Listener listener{UniqueFd(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0))};
    EXPECT_EQ(bind(listener.socket.get(), address, size), 0);
    EXPECT_EQ(listen(listener.socket.get(), 5), 0);
    return listener;
  }
};

sockaddr_un UnixAddress(const std::string& path, socklen_t* size) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  *size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  return address;
}

// What the attempts aim at, on the host: a secret, and servers that would answer.
class Ground {
 public:
  Ground() {
    folder_.emplace(std::move(*TempFolder::Make("dossier-jail-ground")));
    chmod(folder_->path().c_str(), 0777);
    home = folder_->path() + "/home";
    EXPECT_TRUE(MakeFolders(home));
    chmod(home.c_str(), 0777);
    EXPECT_TRUE(WriteFileAtomic(home + "/secret", "secret"));
    sockaddr_in loopback = {};
    loopback.sin_family = AF_INET;
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    internet_ = Listener::On(reinterpret_cast<sockaddr*>(&loopback), sizeof(loopback));
    socklen_t size = sizeof(loopback);
    getsockname(internet_.socket.get(), reinterpret_cast<sockaddr*>(&loopback), &size);
    port = ntohs(loopback.sin_port);
    abstract_name = fmt::format("dossier-jail-{}", getpid());
    sockaddr_un address = UnixAddress(std::string(1, '\0') + abstract_name, &size);
    abstract_ = Listener::On(reinterpret_cast<sockaddr*>(&address), size);
    unix_path = folder_->path() + "/socket";
    address = UnixAddress(unix_path, &size);
    path_ = Listener::On(reinterpret_cast<sockaddr*>(&address), size);
    chmod(unix_path.c_str(), 0777);
    shared_memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
    message_queue = msgget(IPC_PRIVATE, IPC_CREAT | 0666);
  }
  ~Ground() {
    shmctl(shared_memory, IPC_RMID, nullptr);
    msgctl(message_queue, IPC_RMID, nullptr);
  }
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  std::string home, abstract_name, unix_path;
  int port = 0;
  int shared_memory = -1, message_queue = -1;

 private:
  std::optional<TempFolder> folder_;
  Listener internet_, abstract_, path_;
};

struct Case {
  Identity identity;
  const char* disabled;
};

class JailEscapeTest : public ::testing::TestWithParam<Case> {};

struct Trial {
  JailNetwork network = JailNetwork::kNone;
  enum class Walls { kUp, kDown } walls = Walls::kUp;
};

// The attempts that worked, one a line, then "done".
std::string Try(const Ground& ground, const Case& c, Trial trial = {}) {
  return RunAs(c.identity, [&]() -> std::string {
    const auto folder = TempFolder::Make("dossier-jail-inside");
    if (!folder) return folder.error().message;
    const UniqueFd inherited(open("/", O_RDONLY | O_DIRECTORY));  // not close-on-exec
    JailSpec spec;
    spec.write = {folder->path()};
    spec.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
    spec.network = trial.network;
    spec.disabled_layers = {c.disabled};
    const bool down = trial.walls == Trial::Walls::kDown;
    if (down) {
      spec.mode = Mode::kDegraded;
      spec.disabled_layers = {"namespaces", "landlock", "seccomp", "flags"};
    }
    const std::string argv[] = {"python3",
                                "-I",
                                "-c",
                                Script(down ? Choice::kHarmless : Choice::kAll),
                                std::to_string(getpid()),
                                ground.home,
                                std::to_string(ground.port),
                                ground.abstract_name,
                                ground.unix_path,
                                std::to_string(ground.shared_memory),
                                std::to_string(ground.message_queue)};
    const auto exit = RunJailed(spec, argv);
    if (!exit) return exit.error().message;
    return exit->out + exit->err +
           (exit->signal != 0 ? fmt::format("signal {}", exit->signal) : "");
  });
}

// SBX-E1 to SBX-E7 as far as they apply to programs, SBX-80
TEST_P(JailEscapeTest, EveryAttemptOfAProgramIsRefused) {
  const Ground ground;
  EXPECT_EQ(Try(ground, GetParam()), "done\n");
  EXPECT_TRUE(Exists(ground.home + "/secret"));
  EXPECT_FALSE(Exists(ground.home + "/new"));
}

std::string CaseName(const ::testing::TestParamInfo<Case>& info) {
  return fmt::format("{}Without{}", info.param.identity == Identity::kSame ? "Same" : "User",
                     *info.param.disabled == '\0' ? "Nothing" : info.param.disabled);
}

INSTANTIATE_TEST_SUITE_P(Walls, JailEscapeTest,
                         ::testing::Values(Case{Identity::kSame, ""}, Case{Identity::kUser, ""},
                                           Case{Identity::kSame, "namespaces"},
                                           Case{Identity::kUser, "namespaces"},
                                           Case{Identity::kSame, "landlock"},
                                           Case{Identity::kUser, "landlock"}),
                         CaseName);

TEST(JailAttemptsTest, WorkWithoutTheWalls) {  // else their failure would prove nothing
  const Ground ground;
  const std::string text = Try(ground, {Identity::kSame, ""}, {.walls = Trial::Walls::kDown});
  for (const char* id : {"E1 accounts of the host", "E1 home", "E1 a symlink out", "E2 write home",
                         "E2 remove from home", "E3 IPv4", "E3 UDP", "E3 unix path",
                         "E3 abstract unix", "E3 netlink", "E4 shared memory of the user",
                         "E4 a message queue of the user", "E6 unshare user"}) {
    EXPECT_THAT(text, ::testing::HasSubstr(std::string(id) + " \n")) << id;
  }
}

TEST(JailNetworkTest, WithNetworkTheLoopbackIsReached) {  // SBX-80: network yes
  const Ground ground;
  const std::string text = Try(ground, {Identity::kSame, ""}, {.network = JailNetwork::kAny});
  EXPECT_THAT(text, ::testing::HasSubstr("E3 IPv4"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("E1 ")));
}

TEST(JailNetworkTest, TheNetworkIsNotTheMachine) {  // FLT-89
  const Ground ground;
  for (const char* disabled : {"", "namespaces", "landlock"}) {
    for (const Identity identity : {Identity::kSame, Identity::kUser}) {
      const std::string text = Try(ground, {identity, disabled}, {.network = JailNetwork::kAny});
      EXPECT_THAT(text, ::testing::HasSubstr("E3 IPv4")) << disabled;
      for (const char* id : {"E3 netlink", "E3 vsock", "E3 packet", "E3 unix", "E3 abstract",
                             "E4 shared", "E4 a message"}) {
        EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr(id))) << disabled;
      }
    }
  }
}

TEST(JailForkBombTest, IsStoppedByTheLimit) {  // SBX-E11
  for (const Identity identity : {Identity::kSame, Identity::kUser}) {
    const std::string text = RunAs(identity, []() -> std::string {
      JailSpec spec;
      spec.limits.processes = 50;
      spec.limits.wall = Millis(3'000);
      const std::string argv[] = {"sh", "-c", "f() { f | f & }; f; sleep 1000"};
      const auto exit = RunJailed(spec, argv);
      if (!exit) return exit.error().message;
      return exit->timed_out() || exit->stop == JailStop::kProcesses || exit->status != 0
                 ? "ended"
                 : "went on";
    });
    EXPECT_EQ(text, "ended");
  }
}

}  // namespace
}  // namespace dossier::sandbox
