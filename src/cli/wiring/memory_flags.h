// The flags of commands whose prompts hold memory: --memory[=STORE], --memory-branch, --no-memory.
//
//   DOSSIER_ASSIGN_OR_RETURN(const PromptMemory memory,
//                            OpenPromptMemory(arguments.memory, config, MemoryNeed::kWritten));
//   if (memory.store) …                       // else memory is off, and no file was made
//
// Thread-safety: plain data; OpenPromptMemory reads files and the environment.

#ifndef DOSSIER_CLI_WIRING_MEMORY_FLAGS_H_
#define DOSSIER_CLI_WIRING_MEMORY_FLAGS_H_

#include <string>
#include <string_view>

#include "app/memory_setup.h"
#include "base/result.h"
#include "config/config.h"

namespace dossier::cli {

using app::MemoryNeed;
using app::PromptMemory;

// No file can be meant by it.
inline constexpr std::string_view kAnyStore = ".";

struct MemoryFlags {
  std::string store;  // "": --memory is not given; kAnyStore: without a name
  std::string branch;
  bool off = false;
};

// On by --memory, or by memory.enabled of the configuration; --no-memory beats both.
// Errors: kUsage (flags that exclude each other), kConfig, those of memory::Store::Open.
Result<PromptMemory> OpenPromptMemory(const MemoryFlags& flags, const config::Config& config,
                                      MemoryNeed need);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MEMORY_FLAGS_H_
