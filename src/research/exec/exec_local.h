// Commands behind the local sandbox's walls: no container engine, no root.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto backend, MakeLocalBackend({.memory_bytes = 4ull << 30}));
//   DOSSIER_RETURN_IF_ERROR(backend->Start({.workspace = folder}));
//   backend->Run({.command = "g++ main.cc && ./a.out"}, cancel);
//
// A command sees the folders of the system and the binds, read-only; its workspace, writable, at
// the mount; a private /tmp; nothing else. HOME is the workspace. Network only in the phases of the
// policy; in the others a loopback of the command's own, so that the processes of an MPI program
// find one another. All layers of isolation must be in force, but for those in `degraded`: a
// missing one is refused at Start. Without the layer `namespaces` the workspace is at its path of
// the host.
//
// There are no images. Commands of phase 1 may change system folders, as root by name, where the
// layer `overlay` can be had (system_layers.h): later phases see what they left, read-only, and the
// host nothing. Where it cannot be had, every result says why (`no_overlay`), and package managers
// are refused (command_rules.h).
//
// Thread-safety: as ExecBackend; those of one factory share what is found out about the machine.

#ifndef DOSSIER_RESEARCH_EXEC_EXEC_LOCAL_H_
#define DOSSIER_RESEARCH_EXEC_EXEC_LOCAL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "research/exec/exec_backend.h"

namespace dossier::research {

struct LocalOptions {
  Millis timeout{3'600'000};  // exec.timeout, of one command
  Millis cpu{3'600'000};      // of all processes of a command
  std::uint64_t memory_bytes = 4ull << 30;
  std::uint64_t output_bytes = 64u << 20;  // kept of stdout and of stderr
  int processes = 256;                     // threads included
  std::uint64_t file_bytes = 16ull << 30;  // of one file
  // Device files of GPUs, for sandboxes that ask for one: exec.gpu (FindDevices).
  std::vector<std::string> gpu_devices;
  std::vector<std::string> degraded;  // layers that may be missing: --degraded
  enum class Overlay : std::uint8_t { kNo, kYes } overlay = Overlay::kYes;
  std::string system;  // folder that the slots of a run share for it; "": no overlay
  std::vector<std::string> disabled_layers;  // for tests: treated as unavailable
};

// The device files that `exec.gpu` means: paths, also with `*`; `all`: those that the drivers of
// NVIDIA and AMD make. Errors: kConfig, for one that is not there or is no device.
Result<std::vector<std::string>> FindDevices(const std::vector<std::string>& named);

// Removes the links that lie in the workspace where binds go. Errors: kIo.
Status ClearPlaces(const SandboxSpec& spec);

// Errors: kUsage (`degraded` names no layer).
Result<BackendFactory> MakeLocalBackends(LocalOptions options);
// One alone.
Result<std::unique_ptr<ExecBackend>> MakeLocalBackend(LocalOptions options);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_EXEC_LOCAL_H_
