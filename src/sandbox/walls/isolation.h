// The walls around a process that runs a model's code. The host makes the options; the worker
// closes the walls step by step.
//
//   // host: the options travel to the worker binary as JSON
//   std::string text = ToJson(options.ToJson());
//   // worker binary, right after exec, before Python starts:
//   IsolationPlan plan(*IsolationOptions::FromJson(*ParseJson(text)));
//   DOSSIER_RETURN_IF_ERROR(plan.PrepareZygote());   // root dropped, namespaces, new root
//   … start Python, import the modules …
//   DOSSIER_RETURN_IF_ERROR(plan.FinishZygote());    // shared libraries vanish from the new root
//   DOSSIER_RETURN_IF_ERROR(plan.RunSelfTest());
//   // one session:
//   DOSSIER_ASSIGN_OR_RETURN(pid_t pid, plan.Fork());
//   if (pid == 0) {                                   // on what becomes the interpreter's thread
//     SessionLock lock{.bridge_fd = fd};
//     lock.start_bridge = [&] { return bridge.Start(); };
//     auto report = plan.LockSession(lock);           // an error: tell the host, then _exit
//   }
//
// Thread-safety: each process of the chain uses its own copy on one thread.

#ifndef DOSSIER_SANDBOX_WALLS_ISOLATION_H_
#define DOSSIER_SANDBOX_WALLS_ISOLATION_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/json/json.h"
#include "base/result.h"
#include "sandbox/walls/seccomp_policy.h"
#include "sandbox/walls/seccomp_program.h"

namespace dossier::sandbox {

// The needs of the worker's language. The worker sets this, not the host.
struct CodeNeeds {
  ExecutableMemory executable = ExecutableMemory::kRefuse;
  FileAccess files = FileAccess::kReadWrite;  // kNone: code can open no file at all
};

// The system call filters of a zygote's sessions: assembled once, in the zygote, and loaded without
// changes in every session.
//
//   SessionFilters filters = SessionFilters::Assemble();              // in the parent
//   filters.Fill({.pid = getpid(), .private_fds = {bridge, epoll}});  // in a child of it
//   DOSSIER_RETURN_IF_ERROR(LoadFilter(filters.common(FileAccess::kReadWrite), …));
//
// A session's process id and descriptors are not known before it exists. The filters have markers
// in their place, which Fill overwrites: about ten words; assembling takes longer than all other
// filter work. Thread-safety: one thread; each process has its own copy.

class SessionFilters {
 public:
  // The maximum number of descriptors that only the bridge's thread may use: a bridge needs three.
  static constexpr std::size_t kMostPrivateFds = 4;

  static SessionFilters Assemble(const CodeNeeds& needs = {});

  struct Session {
    pid_t pid = 0;
    std::vector<int> private_fds;  // negative ones are skipped
  };
  // May be called again for another session. Errors: kInternal for more than kMostPrivateFds
  // descriptors; then nothing has changed.
  Status Fill(const Session& session);

  // The filter for every thread. `files` must not be kNone.
  const FilterProgram& common(FileAccess files) const {
    return files == FileAccess::kReadWrite ? walled_.program : read_only_.program;
  }
  // The additional filter for the interpreter's threads.
  const FilterProgram& threads() const { return threads_.program; }

 private:
  struct Form {
    FilterProgram program;
    // Positions of each marker: the process id first, then the descriptors in order.
    std::vector<std::vector<std::size_t>> places;

    void Set(std::size_t marker, std::uint32_t value);
  };
  static Form MakeForm(FilterProgram program);

  Form walled_, read_only_, threads_;
};

class SessionFilters;

enum class IsolationMode { kStrict, kDegraded };
enum class LayerState { kApplied, kUnavailable, kFailed };

struct Layer {
  std::string name;  // process, namespaces, flags, rlimits, landlock, seccomp, seccomp-threads, …
  LayerState state = LayerState::kUnavailable;
  std::string reason;  // or a detail: "ABI 7"
};

struct Limits {
  Millis silence{60'000};  // of a block
  // The time that counts as silence: all time but that of open calls (kWall), or only time since
  // the last bridge activity in which the block's main thread does not run (kIdle).
  enum class Counts { kWall, kIdle } counts = Counts::kWall;
  Millis cpu{120'000};                // per block, all threads
  Millis grace{2'000};                // from the first interrupt to SIGKILL
  std::uint64_t memory = 1ull << 30;  // bytes beyond base and context
  std::uint64_t output = 10u << 20;   // bytes kept per block
  std::uint64_t tmp = 64u << 20;      // bytes of the private /tmp
  int threads = 64, files = 64;

  JsonObject ToJson() const;
  // Errors: kInvalidArgument for a value that is missing, not a number or out of range.
  static Result<Limits> FromJson(const Json& value);
};

struct IsolationReport {
  IsolationMode mode = IsolationMode::kStrict;
  std::vector<Layer> layers;
  std::vector<std::string> gaps;  // "file names visible"
  Limits limits;
  std::string worker;  // "python 3.11.2"

  // Writes the schema dossier.sandbox/1.
  Json ToJson() const;
  // Reads the output of ToJson. Errors: kInvalidArgument.
  static Result<IsolationReport> FromJson(const Json& value);

  // Returns nullptr if there is no such layer.
  const Layer* Find(std::string_view name) const;
  bool Applied(std::string_view name) const;
  // Adds the layer or replaces the one with that name; the host sets `watchdog` this way.
  void Set(std::string_view name, LayerState state, std::string reason);
};

std::string_view LayerStateName(LayerState state);  // applied, unavailable, failed

// Succeeds if every layer that strict mode needs is applied, or the mode is degraded. Unlisted
// layers are not checked, so that the worker can check before the host adds `watchdog`. Errors:
// kUnavailable (exit 12) naming the layer, the reason and the remedy.
Status CheckRequired(const IsolationReport& report);

// Runs `apply`, which returns a detail for the report, unless `disabled` names the layer, and
// records the outcome in the report: kUnavailable as unavailable, other errors as failed.
void ApplyLayer(std::string_view layer, const std::vector<std::string>& disabled,
                const std::function<Result<std::string>()>& apply, IsolationReport& report);

// Returns the names of all layers in report order, outermost first.
std::vector<std::string_view> LayerNames();

struct IsolationOptions {
  IsolationMode mode = IsolationMode::kStrict;
  Limits limits;
  // Folders that code may read: the interpreter's standard library and --sandbox-read. Absolute.
  std::vector<std::string> read_folders;
  // Visible in the new root until FinishZygote: extension modules find shared libraries here.
  std::vector<std::string> load_folders = {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu",
                                           "/lib64"};
  std::vector<std::string> disabled_layers;  // for tests: treated as unavailable ("switched off")
  std::string worker;                        // for the report: "python 3.11.2"
  CodeNeeds needs;                           // set by the worker; not in the JSON

  Json ToJson() const;
  static Result<IsolationOptions> FromJson(const Json& value);
};

// The parameters with which a session's process locks itself.
struct SessionLock {
  int bridge_fd = -1;
  // More descriptors that only the bridge's thread may use: for epoll or wake-ups.
  std::vector<int> private_fds;
  // Descriptors that stay open for all threads besides 0, 1, 2 and those above: the contexts'
  // memfds. All others are closed.
  std::vector<int> keep_fds;
  // RLIMIT_DATA is base + context + limits.memory. base 0: measured now, including every context
  // that is already loaded; `context_memory` is then the size of those still to be loaded.
  std::uint64_t base_memory = 0, context_memory = 0;  // bytes
  // For the whole session; 0: 64 times limits.cpu.
  Millis session_cpu{0};
  // If set, replaces the limits of the options.
  const Limits* limits = nullptr;
  // Starts the bridge's thread. Called after all that a thread inherits (capabilities, landlock)
  // and before the filters, so that the thread has every wall except `seccomp-threads`. Empty: the
  // thread already runs (then it lacks landlock) or there is none.
  std::function<Status()> start_bridge;
};

class IsolationPlan {
 public:
  explicit IsolationPlan(IsolationOptions options);
  ~IsolationPlan();
  IsolationPlan(IsolationPlan&&) noexcept;
  IsolationPlan& operator=(IsolationPlan&&) noexcept;

  // Call this right after exec, single-threaded. Sets a fixed environment, drops root for an
  // unprivileged uid, enters the user, mount, net, ipc and uts namespaces that all sessions share,
  // and a new root with only the options' folders; the working folder is "/". Missing layers are
  // recorded for the report. Errors: kUnavailable if `process` fails and the mode is strict.
  Status PrepareZygote();

  // Call this once the interpreter and modules are loaded: removes load_folders from the root.
  Status FinishZygote();

  // Bytes that count against RLIMIT_DATA now; 0 if unknown. Needs no /proc in the new root.
  std::uint64_t DataMemory() const;

  // Returns the flags for each session's clone(): CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS, or 0.
  unsigned long CloneFlags() const;

  // Forks with CloneFlags: returns 0 in the child, which is pid 1 of its namespace. Keeps glibc's
  // thread id correct, unlike a bare clone(). Runs no atfork handlers: an embedder of Python calls
  // PyOS_BeforeFork and PyOS_AfterFork_* itself. Errors: kUnavailable.
  Result<pid_t> Fork() const;

  // Sets up what every session needs in a forked process, perhaps long before its purpose is known:
  // namespaces with an empty /tmp, and the filter program. LockSession does it if nobody has.
  void EnterSession();

  // Closes every wall around the calling process, before any foreign code, on the interpreter's
  // thread. This cannot be undone. Errors: kUnavailable if strict lacks a layer (the process must
  // then end), or that of start_bridge.
  Result<IsolationReport> LockSession(const SessionLock& lock);

  // In the zygote: forks and locks a child that tries to open a file, make a socket, exec, ptrace,
  // fork and use the bridge (SelfTest does it in two steps). Errors: kUnavailable naming what
  // succeeded despite an applied wall, or the layer that strict lacks.
  Status RunSelfTest();

  const IsolationOptions& options() const;
  // Assembled with the plan, before any session is forked.
  const SessionFilters& filters() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The self test of the walls: a locked child tries operations that must fail.
//
//   DOSSIER_ASSIGN_OR_RETURN(SelfTest test, SelfTest::Start(plan));   // in the zygote
//   … other work …
//   DOSSIER_RETURN_IF_ERROR(test.Finish());                           // before the first session
//
// Thread-safety: forks; call it only while the process has one thread.

class SelfTest {
 public:
  // Forks the child that makes the attempts. Errors: kUnavailable.
  static Result<SelfTest> Start(IsolationPlan& plan);
  SelfTest(SelfTest&&) noexcept = default;

  // Waits for the child to end. Errors: kUnavailable. "sandbox: the self test opened /etc/passwd
  // although …" if an attempt succeeded although an applied layer refuses it; LockSession's error
  // if strict lacks a layer.
  Status Finish();

 private:
  SelfTest(pid_t pid, UniqueFd answer) : pid_(pid), answer_(std::move(answer)) {}

  pid_t pid_;
  UniqueFd answer_;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_WALLS_ISOLATION_H_
