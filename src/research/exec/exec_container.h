// Runs commands in an Apptainer or Singularity image.
//
//   ContainerOptions options{.engine = "apptainer", .image = "/images/hpc.sif", .folder = worker};
//   DOSSIER_ASSIGN_OR_RETURN(auto backend, MakeContainerBackend(options));
//
// Each command is one `exec` that sees nothing of the host but the workspace and the binds. Phase 1
// commands run in a sandbox folder made from the image, which they may change; Snapshot builds the
// worker's image from it and removes the folder. Variables reach the container with the engine's
// own prefix (APPTAINERENV_NAME), so that values with commas work; variables that name places on
// the host (PATH, HOME, …) are not passed.
//
// If FUSE fails while the container starts, the command is tried once more, without the writable
// tmpfs and the overlay, and later commands do without them too. Thread-safety: as ExecBackend.

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

// SHA-256 of files on the host. Images are large, so each hash is cached until the file changes.
//
//   FileDigests digests;
//   DOSSIER_ASSIGN_OR_RETURN(const std::string hex, digests.Of("/images/x.sif"));
//
// Thread-safety: all methods from any thread; files are read one at a time.

class FileDigests {
 public:
  // Returns 64 hex digits; "" for a folder. Errors: kNotFound, kPermission, kIo with the path.
  Result<std::string> Of(const std::string& path);

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> known_;  // key: path, size, modification time
};

// exec.writable_mode: kAuto means a sandbox folder in phase 1 and a tmpfs after it.
enum class WritableMode : std::uint8_t { kAuto, kSandbox, kTmpfs, kOverlay, kNone };
// Errors: kConfig with the valid names.
Result<WritableMode> FindWritableMode(std::string_view name);

struct ContainerOptions {
  std::string engine = "apptainer";  // or "singularity"; found on PATH
  std::string image;                 // from the configuration: a file, a folder, or scheme://…
  std::string folder;                // the worker's folder, absolute: holds its sandbox and images
  Millis timeout{3'600'000};         // per command
  std::uint64_t cpu_seconds = 3600, memory_bytes = 4ull << 30;  // per process, by prlimit
  std::uint64_t output_bytes = 64u << 20;
  enum class Root : std::uint8_t { kNo, kFake } root = Root::kFake;   // exec.use_fakeroot
  enum class Tmpfs : std::uint8_t { kNo, kYes } tmpfs = Tmpfs::kYes;  // exec.writable_tmpfs
  enum class WorkerImage : std::uint8_t { kNo, kYes } worker_image = WorkerImage::kYes;
  enum class Sandbox : std::uint8_t { kRemove, kKeep } sandbox = Sandbox::kRemove;
  WritableMode writable = WritableMode::kAuto;
  std::string overlay;                        // exec.container_overlay; "": none
  std::vector<std::string> extra_args;        // for `exec`
  std::vector<std::string> host_environment;  // for the engine itself
  std::shared_ptr<FileDigests> digests = std::make_shared<FileDigests>();
};

// A command in the form in which the host starts it.
struct HostCommand {
  std::vector<std::string> argv, environment;
};

struct HostPlace {
  std::string folder;  // the worker's folder, absolute
  Millis timeout{3'600'000};
  std::uint64_t output_bytes = 64u << 20;
  std::vector<std::string> environment;  // for the queue's programs
  std::vector<std::string> layers;       // isolation layers around a command line
};

// A backend whose commands can be had as host command lines, for a caller that starts them
// elsewhere: a queue.
class HostedBackend : public ExecBackend {
 public:
  virtual HostCommand HostLine(const ExecCommand& command) const = 0;
  virtual const HostPlace& place() const = 0;
  virtual const SandboxSpec& spec() const = 0;
};

// Errors: kUnavailable naming the missing program and the remedy; kInvalidArgument (no image).
Result<std::unique_ptr<HostedBackend>> MakeContainerBackend(ContainerOptions options);

// On a resume, checks that the image is the one that the run began with, as recorded in
// MachineFacts::container_digest ("sha256:…"). Errors: kUnavailable with both digests.
Status CheckSameImage(std::string_view before, const ImageRef& now);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_EXEC_CONTAINER_H_
