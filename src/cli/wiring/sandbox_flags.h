// The flags of all commands that run code.

#ifndef DOSSIER_CLI_WIRING_SANDBOX_FLAGS_H_
#define DOSSIER_CLI_WIRING_SANDBOX_FLAGS_H_

#include <string>
#include <vector>

#include "sandbox/session/session.h"

namespace dossier::cli {

struct SandboxFlags {
  std::string mode = "strict";
  std::string cell_time;  // empty: 60s of idleness, else wall time
  std::string cell_cpu = "120s";
  std::string cell_memory = "1G", cell_output = "10M", context_string_max = "2G";
  std::vector<std::string> read_folders;
};

struct SandboxChoice {
  sandbox::PoolOptions pool;
  sandbox::Limits limits;
  std::uint64_t context_string_max = 2ull << 30;  // bytes
};

// Errors: kUsage naming the flag and its value.
Result<SandboxChoice> ParseSandboxFlags(const SandboxFlags& flags);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_SANDBOX_FLAGS_H_
