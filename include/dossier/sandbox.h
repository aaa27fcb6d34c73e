// Runs a model's Python code in isolation: no network, only the given files, limits on everything.
//
// [example]
//   auto sandbox = dossier::Sandbox::Open({.texts = {{"log.txt", "error: a\nok\nerror: b\n"}}});
//   if (!sandbox) return dossier::ExitCode(sandbox.error().code);
//   auto result = sandbox->Run("n = context.count('error')\nprint(n)");
//   if (result) std::cout << result->output;                   // 2
//   if (auto n = sandbox->Get("n")) std::cout << *n << "\n";  // 2: names live on between calls
// [/example]
//
// An error in the code is a result, not an Error. Units: bytes, milliseconds. Errors: kUnavailable
// (the worker, or an isolation layer that this machine lacks; with the remedy), kNotFound (a
// variable, with the nearest name), kDied (the worker died three times), kCancelled,
// kInvalidArgument (a moved-from sandbox, a text that is not UTF-8), kIo. Ownership: a Sandbox owns
// its process; the destructor ends it. Move-only. Thread-safety: one call at a time, except
// Interrupt, which any thread may call; different sandboxes are independent.

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

// A text that code sees in `context`: the text itself if it is the only one, else a list of all.
struct SandboxText {
  std::string name;  // open(name) also finds it
  std::string text;  // UTF-8
};

struct SandboxOptions {
  std::vector<SandboxText> texts;
  // kDegraded: continue without the layers that are missing here; the report names them.
  enum class Isolation { kStrict, kDegraded } isolation = Isolation::kStrict;
  std::vector<std::string> read_folders;      // readable in addition to the standard library
  std::string worker;                         // path of the worker; empty: where it was installed
  std::chrono::milliseconds cpu{120'000};     // CPU time per call of Run
  std::chrono::milliseconds silence{60'000};  // longest time in which code may be idle
  std::uint64_t memory = 1ull << 30;
  std::uint64_t output = 10u << 20;  // kept per call of Run
  std::uint64_t seed = 0;            // seed of Python's `random`
  CancelToken cancel;
};

struct CodeResult {
  // kLimit: a limit stopped the code. kDied: the worker died and was replaced.
  enum class Status { kOk, kError, kInterrupted, kLimit, kDied } status = Status::kOk;
  std::string output;  // what the code printed, then the value of its last expression
  std::string error;   // such as "KeyError: 'size'", with the line; empty: none
  std::vector<std::string> notes;
  std::chrono::milliseconds cpu{0}, wall{0};
};

// Keeps interpreters warm between calls of Ask, so that only the first call has to start them. A
// handle; copies share the interpreters, which end with the last copy. Thread-safety: may be used
// from many threads at once.
class SandboxPool {
 public:
  // Errors: kUnavailable, as for Sandbox::Open. The options' texts and `cancel` are ignored.
  static Result<SandboxPool> Make(const SandboxOptions& options = {});
  SandboxPool() = default;  // an empty handle

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
  // Returns str() of a variable, at most `max_bytes` of it.
  Result<std::string> Get(std::string_view name, std::uint64_t max_bytes = 1 << 20);
  // Deletes the names that code has assigned, except those in `keep`.
  Status Reset(const std::vector<std::string>& keep = {});
  // Stops the code that is running; Run returns kInterrupted.
  void Interrupt();
  // Returns the isolation layers in effect, as JSON (dossier.sandbox/1).
  Result<std::string> Report() const;

 private:
  struct Impl;
  explicit Sandbox(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace dossier

#endif  // DOSSIER_SANDBOX_H_
