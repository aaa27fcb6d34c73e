// Python code of a model, run behind walls: no network, no files but those given, limits on all.
//
// [example]
//   auto sandbox = dossier::Sandbox::Open({.texts = {{"log.txt", "error: a\nok\nerror: b\n"}}});
//   if (!sandbox) return dossier::ExitCode(sandbox.error().code);
//   auto result = sandbox->Run("n = context.count('error')\nprint(n)");
//   if (result) std::cout << result->output;                   // 2
//   if (auto n = sandbox->Get("n")) std::cout << *n << "\n";  // 2: names live on between calls
// [/example]
//
// What the code does wrong is a result, not an error. Units: bytes, milliseconds.
// Errors: kUnavailable (the worker, or a layer of isolation that this machine lacks; with the way
// out), kNotFound (a variable, with the nearest), kDied (the worker, three times), kCancelled,
// kInvalidArgument (a sandbox that was moved from, a text that is not UTF-8), kIo.
// Ownership: a Sandbox owns its process; the destructor ends it. Move-only. Thread-safety: one call
// at a time, but Interrupt from any thread; different sandboxes are independent.

#ifndef DOSSIER_SANDBOX_H_
#define DOSSIER_SANDBOX_H_

#include <dossier/cancel.h>
#include <dossier/result.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

// A text that code sees: `context` is the only one, or the list of all.
struct SandboxText {
  std::string name;  // open(name) finds it, too
  std::string text;  // UTF-8
};

struct SandboxOptions {
  std::vector<SandboxText> texts;
  // kDegraded: go on without layers that are missing here; the report says which.
  enum class Isolation { kStrict, kDegraded } isolation = Isolation::kStrict;
  std::vector<std::string> read_folders;      // that code may read, beside the standard library
  std::string worker;                         // the worker's path; empty: where it was installed
  std::chrono::milliseconds cpu{120'000};     // of one call of Run
  std::chrono::milliseconds silence{60'000};  // in which code does not work
  std::uint64_t memory = 1ull << 30;
  std::uint64_t output = 10u << 20;  // kept of one call of Run
  std::uint64_t seed = 0;            // of `random`
  CancelToken cancel;
};

struct CodeResult {
  // kLimit: a limit stopped it. kDied: its worker did, and was replaced.
  enum class Status { kOk, kError, kInterrupted, kLimit, kDied } status = Status::kOk;
  std::string output;  // what it printed, then the value of its last expression
  std::string error;   // "KeyError: 'size'", and the line; empty: none
  std::vector<std::string> notes;
  std::chrono::milliseconds cpu{0}, wall{0};
};

// Interpreters that are kept warm for calls of Ask: the first call starts what the next ones find.
// A handle; copies share them, and they end with the last. Thread-safety: from many threads at
// once.
class SandboxPool {
 public:
  // Errors: kUnavailable, as Sandbox::Open. The options' texts and `cancel` are not looked at.
  static Result<SandboxPool> Make(const SandboxOptions& options = {});
  SandboxPool() = default;  // none

  struct Impl;

 private:
  friend class SandboxPoolAccess;
  explicit SandboxPool(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

class Sandbox {
 public:
  static Result<Sandbox> Open(SandboxOptions options = {});

  Sandbox(Sandbox&& other) noexcept;
  Sandbox& operator=(Sandbox&& other) noexcept;
  ~Sandbox();

  Result<CodeResult> Run(std::string_view code, const CancelToken& cancel = {});
  // str() of a variable, at most `max_bytes` of it.
  Result<std::string> Get(std::string_view name, std::uint64_t max_bytes = 1 << 20);
  // Forgets what code assigned, but for the names in `keep`.
  Status Reset(const std::vector<std::string>& keep = {});
  // Stops the code that runs now; Run returns kInterrupted.
  void Interrupt();
  // The walls that hold, as JSON (dossier.sandbox/1).
  Result<std::string> Report() const;

 private:
  struct Impl;
  explicit Sandbox(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dossier

#endif  // DOSSIER_SANDBOX_H_
