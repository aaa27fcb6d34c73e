// The flags of all commands that run code.

#ifndef DOSSIER_CLI_WIRING_SANDBOX_FLAGS_H_
#define DOSSIER_CLI_WIRING_SANDBOX_FLAGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
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

// Flags that are a time or a size: their texts, read with the flag's name in front of what is
// wrong.
//
//   DOSSIER_ASSIGN_OR_RETURN(options.deadline, ReadTimeFlag("--timeout", flags.timeout));
//
// Errors: kUsage with flag and text. Thread-safety: pure functions.

// Whether 0 is a value like any other, or nonsense: a limit that lets nothing through.
enum class Zero { kRefused, kTaken };

Result<Millis> ReadTimeFlag(std::string_view flag, const std::string& text,
                            Zero zero = Zero::kRefused);
Result<std::uint64_t> ReadSizeFlag(std::string_view flag, const std::string& text,
                                   Zero zero = Zero::kRefused);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_SANDBOX_FLAGS_H_
