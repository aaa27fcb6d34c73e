// What the caller and the configuration say of memory: which store, opened how.
//
//   const std::string path = MemoryStorePath("", config, memory::OpenMode::kExisting);
//   DOSSIER_ASSIGN_OR_RETURN(auto options, StoreOptionsOf(memory_config, config, path));
//   Store::Open(std::move(options));
//
// The same for those who look after memory and those who read it into prompts. Thread-safety:
// functions over files and the environment.

#ifndef DOSSIER_APP_MEMORY_SETUP_H_
#define DOSSIER_APP_MEMORY_SETUP_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/memory_config.h"
#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "memory/consolidate/pressure.h"
#include "memory/store/store.h"
#include "memory/transfer/call_log.h"

namespace dossier::app {

// `named`, else $DOSSIER_MEMORY, else .dossier/memory/memory.sqlite of the project, else the one in
// the user's data folder. Of the project's folders the nearest counts that has the file; where a
// store is to be made (kCreate), one with a folder .dossier will do.
std::string MemoryStorePath(const std::string& named, const config::Config& config,
                            memory::OpenMode mode);

// Errors: as model::FindEmbedding, where `embed_model` names one.
Result<memory::StoreOptions> StoreOptionsOf(const MemoryConfig& memory,
                                            const config::Config& config, std::string path);

// memory_calls.jsonl beside `store`.
memory::CallLog CallLogOf(const MemoryConfig& memory, const std::string& store,
                          std::shared_ptr<const Clock> clock = SystemClock());

// The memory that prompts of a run or a conversation hold: on or off, and its store opened.
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

#endif  // DOSSIER_APP_MEMORY_SETUP_H_
