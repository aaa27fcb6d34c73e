// Commands in an Apptainer or Singularity image.
//
//   ContainerOptions options{.engine = "apptainer", .image = "/images/hpc.sif", .folder = worker};
//   DOSSIER_ASSIGN_OR_RETURN(auto backend, MakeContainerBackend(options));
//
// Each command is one `exec` with nothing of the host but the workspace and the binds. Commands of
// phase 1 run in a sandbox folder made of the image, which they may change; Snapshot builds the
// worker's image of it and removes the folder. Variables reach the container by the engine's own
// prefix (APPTAINERENV_NAME), so that values with commas pass; those that name places of the host
// (PATH, HOME, …) do not.
//
// An error of FUSE on the way to the container is tried once more, without the writable tmpfs and
// the overlay, and then always so. Thread-safety: as ExecBackend.

#ifndef DOSSIER_RESEARCH_EXEC_EXEC_CONTAINER_H_
#define DOSSIER_RESEARCH_EXEC_EXEC_CONTAINER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "research/exec/exec_backend.h"

namespace dossier::research {

// SHA-256 of files on the host. Images are large, so each hash is kept while the file does not
// change.
//
//   FileDigests digests;
//   DOSSIER_ASSIGN_OR_RETURN(const std::string hex, digests.Of("/images/x.sif"));
//
// Thread-safety: all methods from any thread; one file at a time is read.

class FileDigests {
 public:
  // 64 hex digits; "" for a folder. Errors: kNotFound, kPermission, kIo with the path.
  Result<std::string> Of(const std::string& path);

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> known_;  // by path, size, time of change
};

// exec.writable_mode: kAuto is a sandbox folder in phase 1 and a tmpfs after it.
enum class WritableMode : std::uint8_t { kAuto, kSandbox, kTmpfs, kOverlay, kNone };
// Errors: kConfig with what there is.
Result<WritableMode> FindWritableMode(std::string_view name);

struct ContainerOptions {
  std::string engine = "apptainer";  // or "singularity"; found on PATH
  std::string image;                 // of the configuration: a file, a folder, or scheme://…
  std::string folder;                // of the worker, absolute: its sandbox and images
  Millis timeout{3'600'000};         // of one command
  std::uint64_t cpu_seconds = 3600, memory_bytes = 4ull << 30;  // of one process, by prlimit
  std::uint64_t output_bytes = 64u << 20;
  enum class Root : std::uint8_t { kNo, kFake } root = Root::kFake;   // exec.use_fakeroot
  enum class Tmpfs : std::uint8_t { kNo, kYes } tmpfs = Tmpfs::kYes;  // exec.writable_tmpfs
  enum class WorkerImage : std::uint8_t { kNo, kYes } worker_image = WorkerImage::kYes;
  enum class Sandbox : std::uint8_t { kRemove, kKeep } sandbox = Sandbox::kRemove;
  WritableMode writable = WritableMode::kAuto;
  std::string overlay;                        // exec.container_overlay; "": none
  std::vector<std::string> extra_args;        // of exec
  std::vector<std::string> host_environment;  // of the engine itself
  std::shared_ptr<FileDigests> digests = std::make_shared<FileDigests>();
};

// A command as the host starts it.
struct HostCommand {
  std::vector<std::string> argv, environment;
};

struct HostPlace {
  std::string folder;  // of the worker, absolute
  Millis timeout{3'600'000};
  std::uint64_t output_bytes = 64u << 20;
  std::vector<std::string> environment;  // of the queue's programs
  std::vector<std::string> layers;       // of isolation that a line has around it
};

// A backend whose commands are lines of the host, for whoever starts them elsewhere: a queue.
class HostedBackend : public ExecBackend {
 public:
  virtual HostCommand HostLine(const ExecCommand& command) const = 0;
  virtual const HostPlace& place() const = 0;
  virtual const SandboxSpec& spec() const = 0;
};

// Errors: kUnavailable naming the program that was looked for, and the way out; kInvalidArgument
// (no image).
Result<std::unique_ptr<HostedBackend>> MakeContainerBackend(ContainerOptions options);

// On a resume: the image must be the one that the run began with, as MachineFacts::container_digest
// says ("sha256:…"). Errors: kUnavailable with both digests.
Status CheckSameImage(std::string_view before, const ImageRef& now);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_EXEC_CONTAINER_H_
