// Flags of commands whose prompts include memory: --memory[=STORE], --memory-branch, --no-memory.
//
//   DOSSIER_ASSIGN_OR_RETURN(const PromptMemory memory,
//                            OpenPromptMemory(arguments.memory, config, MemoryNeed::kWritten));
//   if (memory.store) …                       // else memory is off, and no file was made
//
// Thread-safety: plain data; OpenPromptMemory reads files and the environment.

#ifndef DOSSIER_CLI_WIRING_MEMORY_FLAGS_H_
#define DOSSIER_CLI_WIRING_MEMORY_FLAGS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "app/memory_setup.h"
#include "base/clock.h"
#include "base/result.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "config/config.h"

namespace dossier::cli {

using app::MemoryNeed;
using app::PromptMemory;

// A value that no file can have.
inline constexpr std::string_view kAnyStore = ".";

struct MemoryFlags {
  std::string store;  // "": no --memory; kAnyStore: --memory without a name
  std::string branch;
  bool off = false;
};

// Memory is on with --memory or memory.enabled in the configuration; --no-memory overrides both.
// Errors: kUsage (flags that exclude each other), kConfig, those of memory::Store::Open.
Result<PromptMemory> OpenPromptMemory(const MemoryFlags& flags, const config::Config& config,
                                      MemoryNeed need);

// Times in flags of memory commands, and the location of the store.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto clock, ClockOf(arguments.now));
//
// Thread-safety: pure functions, and those of app/memory_setup.h.

using app::CallLogOf;
using app::MemoryStorePath;
using app::StoreOptionsOf;

// Returns a clock fixed at `now`, for --now; "": the machine's clock. Errors: kUsage with the flag.
Result<std::shared_ptr<const Clock>> ClockOf(const std::string& now);

// Reads RFC 3339, or a date alone as its begin or end. Errors: kUsage with `flag`.
enum class DayEdge : std::uint8_t { kBegin, kEnd };
Result<memory::Micros> ReadMoment(std::string_view flag, const std::string& text, DayEdge edge);

// Applies app/memory_setup.h to the flags of a command.
//
//   DOSSIER_ASSIGN_OR_RETURN(const memory::Summarizer summarizer,
//                            OpenSummarizer(flags, settings, config, global, say, cancel));
//
// Thread-safety: as there.

// Errors: as SettingsOf and app::OpenSummarizer.
Result<memory::Summarizer> OpenSummarizer(const ModelFlags& flags,
                                          const app::MemoryConfig& settings,
                                          const config::Config& config, const GlobalFlags& global,
                                          const std::function<void(std::string_view)>& say,
                                          const CancelToken& cancel);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MEMORY_FLAGS_H_
