// Runs commands in the local sandbox: no container engine, no root.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto backend, MakeLocalBackend({.memory_bytes = 4ull << 30}));
//   DOSSIER_RETURN_IF_ERROR(backend->Start({.workspace = folder}));
//   backend->Run({.command = "g++ main.cc && ./a.out"}, cancel);
//
// A command sees the system folders and the binds, read-only; its workspace, writable, at the
// mount; a private /tmp; nothing else. HOME is the workspace. The policy says which phases have
// network access; the others have a private loopback, so that the processes of an MPI program can
// connect. All isolation layers must be in force, except those in `degraded`: Start fails if
// another one is missing. Without the layer `namespaces` the workspace is at its host path.
//
// There are no images. Phase 1 commands may change system folders, as nominal root, if the layer
// `overlay` is available (system_layers.h): later phases see the changes, read-only; the host does
// not. If not, every result says why (`no_overlay`), and package managers are refused
// (command_rules.h).
//
// Thread-safety: as ExecBackend; backends of one factory share what they find out about the
// machine.

#ifndef DOSSIER_RESEARCH_EXEC_EXEC_LOCAL_H_
#define DOSSIER_RESEARCH_EXEC_EXEC_LOCAL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "research/exec/exec_backend.h"

namespace dossier::research {

struct LocalOptions {
  Millis timeout{3'600'000};  // exec.timeout, per command
  Millis cpu{3'600'000};      // for all processes of a command
  std::uint64_t memory_bytes = 4ull << 30;
  std::uint64_t output_bytes = 64u << 20;  // kept of stdout and of stderr, each
  int processes = 256;                     // threads included
  std::uint64_t file_bytes = 16ull << 30;  // per file
  // Device files of GPUs for sandboxes that ask for a GPU: exec.gpu (FindDevices).
  std::vector<std::string> gpu_devices;
  std::vector<std::string> degraded;  // layers that may be missing: --degraded
  enum class Overlay : std::uint8_t { kNo, kYes } overlay = Overlay::kYes;
  std::string system;  // folder that the run's slots share for overlays; "": no overlay
  std::vector<std::string> disabled_layers;  // for tests: treated as unavailable
};

// Returns the device files that `exec.gpu` names: paths, also with `*`; `all`: those of the NVIDIA
// and AMD drivers. Errors: kConfig if one does not exist or is not a device.
Result<std::vector<std::string>> FindDevices(const std::vector<std::string>& named);

// Removes links in the workspace at places where binds go. Errors: kIo.
Status ClearPlaces(const SandboxSpec& spec);

// Errors: kUsage (`degraded` names no layer).
Result<BackendFactory> MakeLocalBackends(LocalOptions options);
// Makes a single backend.
Result<std::unique_ptr<ExecBackend>> MakeLocalBackend(LocalOptions options);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_EXEC_LOCAL_H_
