// The flags of commands whose prompts hold memory: --memory[=STORE], --memory-branch, --no-memory.
//
//   DOSSIER_ASSIGN_OR_RETURN(const PromptMemory memory,
//                            OpenPromptMemory(arguments.memory, config, MemoryNeed::kWritten));
//   if (memory.store) …                       // else memory is off, and no file was made
//
// Thread-safety: plain data; OpenPromptMemory reads files and the environment.

#ifndef DOSSIER_CLI_WIRING_MEMORY_FLAGS_H_
#define DOSSIER_CLI_WIRING_MEMORY_FLAGS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/memory_config.h"
#include "base/result.h"
#include "config/config.h"
#include "memory/consolidate/pressure.h"
#include "memory/store/store.h"
#include "memory/transfer/call_log.h"

namespace dossier::cli {

// No file can be meant by it.
inline constexpr std::string_view kAnyStore = ".";

struct MemoryFlags {
  std::string store;  // "": --memory is not given; kAnyStore: without a name
  std::string branch;
  bool off = false;
};

struct PromptMemory {
  std::shared_ptr<memory::Store> store;  // null: off
  std::string branch;                    // of the flag
  std::optional<memory::PressureLevel> consolidate_from;
  std::shared_ptr<const memory::CallLog> calls;  // null: off, or only looked at
  app::MemoryConfig config;
};

// kLookedAt: nothing is made; a store that is not there counts as off.
enum class MemoryNeed { kLookedAt, kWritten };

// On by --memory, or by memory.enabled of the configuration; --no-memory beats both.
// Errors: kUsage (flags that exclude each other), kConfig, those of memory::Store::Open.
Result<PromptMemory> OpenPromptMemory(const MemoryFlags& flags, const config::Config& config,
                                      MemoryNeed need);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MEMORY_FLAGS_H_
