// The interface of backends, which execute a run's commands: local sandbox, container, cluster.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto backend, MakeLocalBackend(options));
//   DOSSIER_RETURN_IF_ERROR(backend->Start({.workspace = folder + "/nodes/3f9a/workspace"}));
//   DOSSIER_ASSIGN_OR_RETURN(const ExecResult built,
//                            backend->Run({.command = "make -j2", .phase = Phase::kCompile},
//                            cancel));
//   if (built.status != 0) Show(built.err);
//
// One backend serves one workspace at a time: Start, Run as often as needed, Stop. Thread-safety:
// one owner; several backends may run at the same time.

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

// A file in the workspace that records which step of phase 1 the sandbox has completed. A backend
// whose sandbox is more than the workspace removes the file together with the sandbox.
inline constexpr std::string_view kInstallMark = ".dossier/phase1_step";

struct Bind {
  std::string host, mount;  // absolute paths
  enum class Access : std::uint8_t { kRead, kWrite } access = Access::kRead;
};

enum class NetworkPolicy : std::uint8_t { kPhase1, kAlways, kNever };  // exec.network

struct SandboxSpec {
  std::string workspace;                 // absolute path on the host; created if missing
  std::string mount = "/workspace";      // path that commands see
  std::vector<Bind> binds;               // resources, run data
  std::vector<std::string> environment;  // "NAME=value", the complete environment
  NetworkPolicy network = NetworkPolicy::kPhase1;
  std::string image;  // for containers; empty: the configured image
  enum class Gpu : std::uint8_t { kNo, kYes } gpu = Gpu::kNo;
  // Folder on the host that keeps what phase 1 installs into system folders; commands never see it.
  // "": none, so that system folders cannot be changed. Backends with images need none.
  std::string system;
  // kInstall: phase 1 follows, and may change system folders. A mark (kInstallMark) that claims
  // more than `system` holds is removed.
  enum class Use : std::uint8_t { kProgram, kInstall } use = Use::kProgram;
};

struct ExecCommand {
  std::string command;                   // one line of shell
  std::vector<std::string> argv;         // instead of `command`: a program without a shell
  std::string folder;                    // below the mount; empty: the mount
  Phase phase = Phase::kRun;             // decides about network access and queueing on clusters
  std::optional<Millis> time_limit;      // unset: exec.timeout
  std::vector<std::string> environment;  // added to the sandbox's: "DOSSIER_SEED=1"
  // Receives output as it arrives; the result keeps it too, up to the output limit.
  std::function<void(std::string_view)> on_output;
  // on_queued is called with the id of a job in a cluster's queue, before the wait for it; an error
  // ends the job. queued_job is the id that an earlier process got: that job is looked up first.
  std::function<Status(std::string_view job)> on_queued;
  std::string queued_job;
  std::string queue_key;  // tells apart equal commands of one workspace; the same after a resume
};

struct ExecResult {
  int status = -1;  // exit status; 126: refused before it ran; 128 + signal: ended by that signal
  int signal = 0;
  bool timed_out = false, out_of_memory = false;
  std::string refused;                         // the reason why it was not run; status is then 126
  std::string note;                            // "a leading sudo was dropped"
  std::string out, err;                        // up to the output limit
  std::uint64_t out_bytes = 0, err_bytes = 0;  // bytes written
  double seconds = 0;
  std::uint64_t peak_bytes = 0;     // 0: unknown
  std::vector<std::string> layers;  // isolation layers in force while it ran
  // Why a backend that normally has an overlay of system folders has none; "" if it has one.
  std::string no_overlay;
};

struct ImageRef {
  std::string path, digest;  // SHA-256, 64 hex digits; both empty where there are no images
};

struct SandboxFacts {
  std::string kind;  // "local", "apptainer", "singularity", "slurm", "scripted"
  ImageRef image;
  std::vector<std::string> layers;                                // isolation layers
  enum class Root : std::uint8_t { kNo, kYes } root = Root::kNo;  // kYes: package managers may work
  std::string no_overlay;                                         // as in results
  std::string warning;  // for a person: what commands will lack, and why
};

class ExecBackend {
 public:
  virtual ~ExecBackend() = default;

  // Errors: kUnavailable naming the missing program or layer and the remedy; kNotFound (image).
  virtual Status Start(const SandboxSpec& spec) = 0;
  // Runs to the end; at a limit or when the token is cancelled, the whole process tree is ended. A
  // non-zero status is not an error. Errors: kUnavailable, kIo, kCancelled.
  virtual Result<ExecResult> Run(const ExecCommand& command, const CancelToken& cancel) = 0;
  // Called after phase 1: returns the image that later phases use; empty without images.
  virtual Result<ImageRef> Snapshot(std::string_view name) = 0;
  virtual SandboxFacts Facts() const = 0;
  virtual void Stop() noexcept = 0;
};

// Makes the backend of one slot ("worker-2").
using BackendFactory = std::function<Result<std::unique_ptr<ExecBackend>>(std::string_view worker)>;

// A list of environment variables, "NAME=value", in which each name occurs once.
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
  // The last of equal names wins. Entries without `=` are left out.
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

// Returns "NAME" of "NAME=value".
std::string_view VariableName(std::string_view entry);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_EXEC_BACKEND_H_
