#include "sandbox/probes/jail_trials.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "base/files/file.h"
#include "base/text/text.h"
#include "sandbox/commands/policy.h"
#include "sandbox/walls/process_layer.h"

namespace dossier::sandbox {
namespace {

constexpr auto kEnds = JailAttempt::Effect::kEndsTheTrial;
constexpr auto kNetwork = JailAttempt::Meant::kWithNetwork;
constexpr auto kWrite = JailAttempt::Meant::kWithWrite;

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
# In a pid namespace of its own the host's number may be that of one of the jail's processes.
if os.getppid() == 1 and os.path.exists('/proc/%d' % HOST): HOST = (1 << 22) - 1
MEMORY, QUEUE = int(sys.argv[6]), int(sys.argv[7])
buffer = ctypes.create_string_buffer(4096)
)";

constexpr JailAttempt kJailAttempts[] = {
    {"E1 password hashes", "read('/etc/shadow')"},
    {"E1 accounts of the host", "b'root' in open('/etc/passwd', 'rb').read()"},
    {"E1 home", "read(HOME + '/secret')"},
    {"E1 home listed", "bool(os.listdir(HOME))"},
    {"E1 host's memory", "read('/proc/%d/mem' % HOST)"},
    {"E1 host's environment", "read('/proc/%d/environ' % HOST)"},
    {"E1 .. out", "read('../../../../../../etc/shadow')"},
    {"E1 a symlink out", "(os.symlink(HOME + '/secret', 'link'), read('link'))[1]"},
    {"E1 a hard link out", "(os.link(HOME + '/secret', 'hard'), read('hard'))[1]"},
    {"E2 write a folder that is read", "write('new')", JailAttempt::Effect::kNone, kWrite},
    {"E2 change .git", "write('.git/config')"},
    {"E2 replace .git", "os.rename('.git', 'moved') is None"},
    {"E2 make a hook", "write('.git/hooks/pre-commit')"},
    {"E2 write home", "write(HOME + '/new')"},
    {"E2 write a system folder", "write('/usr/lib/new')"},
    {"E2 write /etc", "write('/etc/new')"},
    {"E2 rename into home", "(write('mine'), os.rename('mine', HOME + '/mine'))[1] is None"},
    {"E2 remove from home", "os.unlink(HOME + '/secret') is None"},
    {"E2 a device", "(os.mknod('device', 0o600 | 0o020000, os.makedev(1, 1)), read('device'))[1]"},
    {"E2 kernel settings", "write('/proc/sys/kernel/core_pattern')"},
    {"E3 IPv4", "connect(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', PORT))",
     JailAttempt::Effect::kNone, kNetwork},
    {"E3 IPv6", "bool(socket.socket(socket.AF_INET6, socket.SOCK_STREAM))",
     JailAttempt::Effect::kNone, kNetwork},
    {"E3 UDP",
     "bool(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT)))",
     JailAttempt::Effect::kNone, kNetwork},
    {"E3 unix path", "connect(socket.AF_UNIX, socket.SOCK_STREAM, UNIX)"},
    {"E3 abstract unix", "connect(socket.AF_UNIX, socket.SOCK_STREAM, '\\0' + ABSTRACT)"},
    {"E3 netlink", "bool(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))"},
    {"E3 raw", "bool(socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))"},
    {"E3 packet", "bool(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))"},
    {"E3 vsock", "bool(socket.socket(40, socket.SOCK_STREAM))"},
    {"E4 name lookup", "bool(socket.getaddrinfo('example.com', 80))", JailAttempt::Effect::kNone,
     kNetwork},
    {"E4 descriptors 3 to 1023",
     "any(os.path.exists('/proc/self/fd/%d' % n) and not os.readlink("
     "'/proc/self/fd/%d' % n).startswith('/proc') for n in range(3, 1024))"},
    {"E4 a descriptor by number", "any(is_open(n) for n in range(3, 1024))"},
    {"E4 shared memory of the user", "libc.shmat(MEMORY, None, 0o10000) != -1"},
    {"E4 a message queue of the user", "call(71, QUEUE, 2, ctypes.byref(buffer))"},
    {"E5 kill the host", "os.kill(HOST, 9) is None", kEnds},
    {"E5 kill the parent", "os.kill(os.getppid(), 9) is None and os.getppid() != ppid", kEnds},
    {"E5 ptrace the parent", "call(101, 0x4206, os.getppid(), 0, 0)", kEnds},
    {"E5 be traced", "call(101, 0, 0, 0, 0)", kEnds},
    {"E5 process_vm_readv", "call(310, os.getppid(), 0, 0, 0, 0, 0)"},
    {"E5 pidfd_getfd", "call(438, os.pidfd_open(os.getppid()), 0, 0)"},
    {"E5 limits of the parent",
     "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE) is not None"},
    {"E5 priority of the keeper",
     "os.sched_setscheduler(os.getppid(), os.SCHED_IDLE, os.sched_param(0)) is None"},
    {"E5 disk priority of the keeper", "call(251, 1, os.getppid(), 3 << 13)"},
    {"E5 priority of all", "os.setpriority(os.PRIO_USER, 0, 19) is None"},
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

std::string Script(const std::function<bool(const JailAttempt&)>& chosen) {
  std::string script = kPrelude;
  script += "ppid, uid = os.getppid(), os.getuid()\n";
  // Opens a new terminal if the jail has none to inherit: only the call itself is tested.
  script += "terminal = 0\n";
  for (const JailAttempt& attempt : kJailAttempts) {
    if (!chosen(attempt)) continue;
    script += fmt::format(
        "try:\n    worked, how = bool({}), ''\n"
        "except BaseException as e:\n    worked, how = False, repr(e)\n"
        "if worked: print('''{}''', how)\n",
        attempt.code, attempt.id);
  }
  return script + "print('done')\n";
}

Result<UniqueFd> Listen(const sockaddr* address, socklen_t size) {
  UniqueFd fd(socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (fd.valid() && bind(fd.get(), address, size) == 0 && listen(fd.get(), 5) == 0) return fd;
  return MakeErrnoError(errno, "sandbox: a socket to escape to");
}

sockaddr_un UnixAddress(const std::string& path, socklen_t* size) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  *size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  return address;
}

}  // namespace

struct JailGround::State {
  explicit State(TempFolder made) : folder(std::move(made)), home(folder.path() + "/home") {}
  ~State() {
    shmctl(shared_memory, IPC_RMID, nullptr);
    msgctl(message_queue, IPC_RMID, nullptr);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Status Fill() {
    // Everyone may access it: only the jail keeps a program out.
    chmod(folder.path().c_str(), 0777);
    DOSSIER_RETURN_IF_ERROR(MakeFolders(home));
    chmod(home.c_str(), 0777);
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(home + "/secret", "secret"));
    sockaddr_in loopback = {};
    loopback.sin_family = AF_INET;
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(loopback);
    DOSSIER_ASSIGN_OR_RETURN(internet, Listen(reinterpret_cast<sockaddr*>(&loopback), size));
    getsockname(internet.get(), reinterpret_cast<sockaddr*>(&loopback), &size);
    port = ntohs(loopback.sin_port);
    abstract_name = fmt::format("dossier-jail-{}", getpid());
    sockaddr_un address = UnixAddress(std::string(1, '\0') + abstract_name, &size);
    DOSSIER_ASSIGN_OR_RETURN(abstract, Listen(reinterpret_cast<sockaddr*>(&address), size));
    unix_path = folder.path() + "/socket";
    address = UnixAddress(unix_path, &size);
    DOSSIER_ASSIGN_OR_RETURN(path, Listen(reinterpret_cast<sockaddr*>(&address), size));
    chmod(unix_path.c_str(), 0777);
    shared_memory = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
    message_queue = msgget(IPC_PRIVATE, IPC_CREAT | 0666);
    return {};
  }

  TempFolder folder;
  std::string home, abstract_name, unix_path;
  int port = 0;
  int shared_memory = -1, message_queue = -1;
  UniqueFd internet, abstract, path;
};

JailGround::JailGround(std::unique_ptr<State> state) : state_(std::move(state)) {}
JailGround::JailGround(JailGround&&) noexcept = default;
JailGround::~JailGround() = default;

Result<JailGround> JailGround::Make() {
  DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("dossier-jail-ground"));
  auto state = std::make_unique<State>(std::move(folder));
  DOSSIER_RETURN_IF_ERROR(state->Fill());
  return JailGround(std::move(state));
}

const std::string& JailGround::home() const { return state_->home; }

std::vector<std::string> JailGround::Program(
    const std::function<bool(const JailAttempt&)>& chosen) const {
  return {"python3",
          "-I",
          "-c",
          Script(chosen),
          std::to_string(getpid()),
          state_->home,
          std::to_string(state_->port),
          state_->abstract_name,
          state_->unix_path,
          std::to_string(state_->shared_memory),
          std::to_string(state_->message_queue)};
}

namespace {

using Folder = JailKind::Folder;

// The jail of `sandbox exec`.
JailKind ForPerson(std::string name, Folder kind, JailNetwork network = JailNetwork::kNone) {
  const auto spec = [kind, network](const std::string& folder) -> Result<JailSpec> {
    JailSpec jail;
    (kind == Folder::kRead ? jail.read : jail.write) = {folder};
    jail.network = network;
    jail.environment = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
    return jail;
  };
  return {std::move(name), kind, network, spec};
}

// The jail of a command that a model runs.
JailKind ForModel(std::string name, Folder kind) {
  const auto spec = [kind](const std::string& folder) {
    Policy policy;
    if (kind == Folder::kWrite) policy.write = CommandWrites::kJail;
    return JailForCommand(policy, {.root = folder}, {"LANG=C.UTF-8"});
  };
  return {std::move(name), kind, JailNetwork::kNone, spec};
}

std::vector<JailKind> AllKinds(const std::vector<JailKind>& others) {
  std::vector<JailKind> kinds = {
      ForPerson("jail, --read", Folder::kRead), ForPerson("jail, --write", Folder::kWrite),
      ForPerson("jail, --write --network", Folder::kWrite, JailNetwork::kAny),
      ForModel("command of a model", Folder::kRead),
      ForModel("command that may write", Folder::kWrite)};
  kinds.insert(kinds.end(), others.begin(), others.end());
  return kinds;
}

bool TriedIn(const JailKind& kind, const JailAttempt& attempt) {
  switch (attempt.meant) {
    case JailAttempt::Meant::kWithNetwork:
      return kind.network == JailNetwork::kNone;
    case JailAttempt::Meant::kWithWrite:
      return kind.folder == Folder::kRead;
    case JailAttempt::Meant::kNever:
      break;
  }
  return true;
}

enum class Who { kRoot, kUser };

std::string_view WhoName(Who who) { return who == Who::kRoot ? "root" : "user"; }

// Makes a folder with a repository, like a project.
Result<TempFolder> MakeProject(Who owner) {
  DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("dossier-jail-project"));
  const std::string git = folder.path() + "/.git";
  const std::string own = folder.path() + "/own";
  DOSSIER_RETURN_IF_ERROR(MakeFolders(git + "/hooks"));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(own));
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(git + "/config", "[core]\n"));
  chmod(folder.path().c_str(), 0755);
  if (owner == Who::kRoot || geteuid() != 0) return folder;
  for (const std::string& path : {folder.path(), git, git + "/hooks", git + "/config", own}) {
    if (chown(path.c_str(), kUnprivilegedUid, kUnprivilegedGid) != 0) {
      return MakeErrnoError(errno, path);
    }
  }
  return folder;
}

// Returns the output lines of the program that makes the attempts, or "!" and why none ran.
std::string Try(const JailSpec& spec, const std::vector<std::string>& argv, const Io& io) {
  const auto exit = RunJailed(spec, argv, io);
  if (!exit) return "!" + exit.error().message;
  if (exit->out.ends_with("done\n")) return exit->out;
  return fmt::format("{}the trial ended early (status {}, signal {}) {}{}\n", exit->out,
                     exit->status, exit->signal, JailStopName(exit->stop), exit->err);
}

// The same in a child that runs as a plain user.
Result<std::string> TryAsUser(const std::function<std::string()>& attempt) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return MakeErrnoError(errno, "pipe");
  UniqueFd from(ends[0]), to(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return MakeErrnoError(errno, "fork");
  if (pid == 0) {
    const Result<std::string> left = LeaveRoot();
    (void)WriteAll(to.get(), left ? attempt() : "!" + left.error().message);
    _exit(0);
  }
  to.Reset();
  Result<std::string> text = ReadAll(from.get(), "trial");
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return text;
}

class Trials {
 public:
  Trials(IsolationMode mode, const CancelToken& cancel, JailGround ground)
      : mode_(mode),
        io_{.cancel = cancel},
        ground_(std::move(ground)),
        others_(chown(ground_.home().c_str(), kUnprivilegedUid, kUnprivilegedGid) == 0 &&
                chown(ground_.home().c_str(), geteuid(), getegid()) == 0) {}

  Result<JailTrial> Run(const JailKind& kind, Who as, Who owner, JailTrial::Walls walls) {
    JailTrial trial{.kind = kind.name,
                    .as = std::string(WhoName(as)),
                    .folder_of = std::string(WhoName(owner)),
                    .walls = walls};
    if (geteuid() == 0 && !others_ && (as == Who::kUser || owner == Who::kUser)) {
      trial.not_run = "there is no other user in this user namespace";
      return trial;
    }
    DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, MakeProject(owner));
    const auto chosen = [&](const JailAttempt& attempt) { return TriedIn(kind, attempt); };
    for (const JailAttempt& attempt : kJailAttempts) trial.tried += chosen(attempt) ? 1 : 0;
    DOSSIER_ASSIGN_OR_RETURN(JailSpec spec, kind.spec(folder.path()));
    spec.limits.wall = Millis(60'000);
    spec.mode = mode_;
    if (walls == JailTrial::Walls::kNoNamespaces) spec.disabled_layers = {"namespaces"};
    const std::vector<std::string> argv = ground_.Program(chosen);
    const auto attempt = [&] { return Try(spec, argv, io_); };
    Result<std::string> lines = AttemptAs(as, attempt);
    DOSSIER_RETURN_IF_ERROR(lines);
    if (io_.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", io_.cancel.reason());
    if (lines->starts_with('!')) {
      trial.tried = 0;
      trial.not_run = lines->substr(1);
      return trial;
    }
    for (const std::string_view line : Split(*lines, '\n')) {
      if (!line.empty() && line != "done") trial.worked.emplace_back(TrimSpace(line));
    }
    if (!Exists(ground_.home() + "/secret")) trial.worked.emplace_back("the secret is gone");
    return trial;
  }

 private:
  static Result<std::string> AttemptAs(Who as, const std::function<std::string()>& attempt) {
    if (as == Who::kUser && geteuid() == 0) return TryAsUser(attempt);
    return attempt();
  }

  IsolationMode mode_;
  Io io_;
  JailGround ground_;
  bool others_;  // files can be given to another user
};

}  // namespace

Result<std::vector<JailTrial>> RunJailTrials(IsolationMode mode,
                                             const std::vector<JailKind>& others,
                                             const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(JailGround ground, JailGround::Make());
  Trials trials(mode, cancel, std::move(ground));
  const bool root = geteuid() == 0;
  std::vector<JailTrial> results;
  using Walls = JailTrial::Walls;
  for (const Walls walls : {Walls::kAll, Walls::kNoNamespaces}) {
    for (const JailKind& kind : AllKinds(others)) {
      for (const auto& [as, owner] : {std::pair(Who::kRoot, Who::kRoot), {Who::kRoot, Who::kUser},
                                     {Who::kUser, Who::kRoot}, {Who::kUser, Who::kUser}}) {
        if (!root && (as == Who::kRoot || owner == Who::kRoot)) continue;
        DOSSIER_ASSIGN_OR_RETURN(JailTrial trial, trials.Run(kind, as, owner, walls));
        results.push_back(std::move(trial));
      }
    }
  }
  return results;
}

std::string TrialTable(const std::vector<JailTrial>& trials) {
  constexpr std::string_view kForm = "{:<24}  {:<4}  {:<9}  {:<13}  {}\n";
  std::string text = fmt::format(kForm, "behind", "as", "folder of", "layers", "refused");
  for (const JailTrial& trial : trials) {
    const std::size_t refused =
        static_cast<std::size_t>(trial.tried) -
        std::min(trial.worked.size(), static_cast<std::size_t>(trial.tried));
    text += fmt::format(kForm, trial.kind, trial.as, trial.folder_of, trial.LayersText(),
                        trial.not_run.empty() ? fmt::format("{} of {}", refused, trial.tried)
                                              : "nothing ran: " + trial.not_run);
    for (const std::string& id : trial.worked) text += fmt::format("  worked: {}\n", id);
  }
  return text;
}

Json TrialsJson(const std::vector<JailTrial>& trials) {
  JsonArray list;
  for (const JailTrial& trial : trials) {
    JsonArray worked(trial.worked.begin(), trial.worked.end());
    JsonObject entry{{"kind", trial.kind},
                     {"as", trial.as},
                     {"folder_of", trial.folder_of},
                     {"layers", trial.LayersText()},
                     {"tried", trial.tried},
                     {"worked", std::move(worked)}};
    if (!trial.not_run.empty()) entry["not_run"] = trial.not_run;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace dossier::sandbox
