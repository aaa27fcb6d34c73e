// The memory that prompts of a run or a conversation hold: on or off, and its store opened.
//
//   DOSSIER_ASSIGN_OR_RETURN(const PromptMemory memory,
//                            OpenPromptMemory({.store = "m.sqlite"}, config,
//                            MemoryNeed::kWritten));
//   if (memory.store) …                       // else memory is off, and no file was made
//
// Thread-safety: OpenPromptMemory reads files and the environment; plain data.

#ifndef DOSSIER_APP_PROMPT_MEMORY_H_
#define DOSSIER_APP_PROMPT_MEMORY_H_

#include <memory>
#include <optional>
#include <string>

#include "app/memory_config.h"
#include "base/result.h"
#include "config/config.h"
#include "memory/consolidate/pressure.h"
#include "memory/store/store.h"
#include "memory/transfer/call_log.h"

namespace dossier::app {

struct MemoryWish {
  enum class Use { kByConfig, kOn, kOff } use = Use::kByConfig;
  std::string store;   // a file; "": the one that MemoryStorePath finds
  std::string branch;  // "": not said
};

struct PromptMemory {
  std::shared_ptr<memory::Store> store;  // null: off
  std::string branch;                    // as wished
  std::optional<memory::PressureLevel> consolidate_from;
  std::shared_ptr<const memory::CallLog> calls;  // null: off, or only looked at
  MemoryConfig config;
};

// kLookedAt: nothing is made; a store that is not there counts as off.
enum class MemoryNeed { kLookedAt, kWritten };

bool IsOn(const MemoryWish& wish, const MemoryConfig& config);

// Errors: kConfig, those of memory::Store::Open.
Result<PromptMemory> OpenPromptMemory(const MemoryWish& wish, const config::Config& config,
                                      MemoryNeed need);

}  // namespace dossier::app

#endif  // DOSSIER_APP_PROMPT_MEMORY_H_
