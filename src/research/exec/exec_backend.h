// Where the commands of a run are executed: the local sandbox, a container, a cluster.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto backend, MakeLocalBackend(options));
//   DOSSIER_RETURN_IF_ERROR(backend->Start({.workspace = folder + "/nodes/3f9a/workspace"}));
//   DOSSIER_ASSIGN_OR_RETURN(const ExecResult built,
//                            backend->Run({.command = "make -j2", .phase = Phase::kCompile},
//                            cancel));
//   if (built.status != 0) Show(built.err);
//
// One backend serves one workspace at a time: Start, Run as often as needed, Stop. Thread-safety:
// one owner; several backends may run beside each other.

#ifndef DOSSIER_RESEARCH_EXEC_EXEC_BACKEND_H_
#define DOSSIER_RESEARCH_EXEC_EXEC_BACKEND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::research {

// The phases in the life of one node.
enum class Phase : std::uint8_t { kPlan, kInstall, kCoding, kCompile, kRun };
inline constexpr int kPhases = 5;
std::string_view PhaseName(Phase phase);  // "phase0" … "phase4"

// A file below the workspace that says which step of phase 1 the sandbox has behind it. A backend
// whose sandbox is more than the workspace removes it with that sandbox.
inline constexpr std::string_view kInstallMark = ".dossier/phase1_step";

struct Bind {
  std::string host, mount;  // absolute paths
  enum class Access : std::uint8_t { kRead, kWrite } access = Access::kRead;
};

enum class NetworkPolicy : std::uint8_t { kPhase1, kAlways, kNever };  // exec.network

struct SandboxSpec {
  std::string workspace;                 // absolute path on the host; made if it is not there
  std::string mount = "/workspace";      // where commands see it
  std::vector<Bind> binds;               // resources, run data
  std::vector<std::string> environment;  // "NAME=value", the whole of it
  NetworkPolicy network = NetworkPolicy::kPhase1;
  std::string image;  // of containers; empty: that of the configuration
  enum class Gpu : std::uint8_t { kNo, kYes } gpu = Gpu::kNo;
  // Where what phase 1 installs into system folders is kept, on the host; never shown to commands.
  // "": nowhere, so they cannot be changed. Backends with images need none.
  std::string system;
  // kInstall: phase 1 is next, and may change system folders. A mark (kInstallMark) that says more
  // than `system` holds is removed.
  enum class Use : std::uint8_t { kProgram, kInstall } use = Use::kProgram;
};

struct ExecCommand {
  std::string command;                   // one line of shell
  std::vector<std::string> argv;         // instead of it: a program without a shell
  std::string folder;                    // below the mount; empty: the mount
  Phase phase = Phase::kRun;             // decides about the network, and what a cluster queues
  std::optional<Millis> time_limit;      // unset: exec.timeout
  std::vector<std::string> environment;  // added to that of the sandbox: "DOSSIER_SEED=1"
  // Where output goes while it comes; it is kept in the result too, up to the output limit.
  std::function<void(std::string_view)> on_output;
  // Of a command that waits in a cluster's queue: called with the job's id once it has one, before
  // the wait; an error ends the job. And the id that an earlier process was given: this job is
  // asked for first.
  std::function<Status(std::string_view job)> on_queued;
  std::string queued_job;
};

struct ExecResult {
  int status = -1;  // exit status; 126: refused before it ran; 128 + signal: ended by that signal
  int signal = 0;
  bool timed_out = false, out_of_memory = false;
  std::string refused;                         // why it was not run; then status is 126
  std::string note;                            // "a leading sudo was dropped"
  std::string out, err;                        // up to the output limit
  std::uint64_t out_bytes = 0, err_bytes = 0;  // written
  double seconds = 0;
  std::uint64_t peak_bytes = 0;     // 0: not known
  std::vector<std::string> layers;  // of isolation, in force while it ran
  // Why there is no overlay of system folders, where a backend would have one; "" if there is.
  std::string no_overlay;
};

struct ImageRef {
  std::string path, digest;  // SHA-256, 64 hex digits; both empty where there are no images
};

struct SandboxFacts {
  std::string kind;  // "local", "apptainer", "singularity", "slurm", "scripted"
  ImageRef image;
  std::vector<std::string> layers;                                // of isolation
  enum class Root : std::uint8_t { kNo, kYes } root = Root::kNo;  // package managers may work
  std::string no_overlay;                                         // as in results
  std::string warning;  // for a person: what commands will miss, and why
};

class ExecBackend {
 public:
  virtual ~ExecBackend() = default;

  // Errors: kUnavailable naming the missing program or layer and the way out; kNotFound (image).
  virtual Status Start(const SandboxSpec& spec) = 0;
  // Runs to the end; on a limit or a cancelled token the whole tree of processes is ended. A status
  // that is not 0 is no error. Errors: kUnavailable, kIo, kCancelled.
  virtual Result<ExecResult> Run(const ExecCommand& command, const CancelToken& cancel) = 0;
  // After phase 1: the image that later phases use. Without images: empty.
  virtual Result<ImageRef> Snapshot(std::string_view name) = 0;
  virtual SandboxFacts Facts() const = 0;
  virtual void Stop() noexcept = 0;
};

// Makes the backend of one slot ("worker-2").
using BackendFactory = std::function<Result<std::unique_ptr<ExecBackend>>(std::string_view worker)>;

// A list of variables, "NAME=value", in which a name stands once.
//
//   EnvironmentList list(spec.environment);
//   list.Set("HOME", "/workspace");
//   list.Default("PATH", "/usr/bin:/bin");        // if it has none
//   jail.environment = list.Take();
//
// Thread-safety: one owner.

class EnvironmentList {
 public:
  EnvironmentList() = default;
  // Of equal names the last one holds. What has no `=` is left out.
  explicit EnvironmentList(std::span<const std::string> entries) { Add(entries); }

  void Add(std::span<const std::string> entries);
  void Set(std::string_view name, std::string_view value);
  void Default(std::string_view name, std::string_view value);
  void Remove(std::string_view name);
  std::optional<std::string_view> Find(std::string_view name) const;
  std::vector<std::string> Take() { return std::move(entries_); }

 private:
  std::vector<std::string>::iterator Place(std::string_view name);

  std::vector<std::string> entries_;
};

// "NAME" of "NAME=value".
std::string_view VariableName(std::string_view entry);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_EXEC_BACKEND_H_
