// Opens the memory store that the caller and the configuration ask for.
//
//   const std::string path = MemoryStorePath("", config, memory::OpenMode::kExisting);
//   DOSSIER_ASSIGN_OR_RETURN(auto options, StoreOptionsOf(memory_config, config, path));
//   Store::Open(std::move(options));
//
// Shared by commands that manage memory and by those that read it into prompts. Thread-safety:
// functions over files and the environment.

#ifndef DOSSIER_APP_MEMORY_SETUP_H_
#define DOSSIER_APP_MEMORY_SETUP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/open_model.h"
#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "driver/caller.h"
#include "driver/memory_port.h"
#include "memory/consolidate/pressure.h"
#include "memory/consolidate/summarizer.h"
#include "memory/store/store.h"
#include "memory/transfer/call_log.h"

namespace dossier::app {

using driver::CallLogOf;
using driver::kNoEmbedModel;
using driver::MemoryConfig;

// Reads section `memory` of dossier.yml. Errors: those of driver::ReadMemorySection.
Result<MemoryConfig> ReadMemoryConfig(const config::Config& config);

// Returns `named`, else $DOSSIER_MEMORY, else .dossier/memory/memory.sqlite of the project, else
// the file in the user's data folder. The project's nearest folder that has the file counts; for a
// store to be created (kCreate), a folder with .dossier is enough.
std::string MemoryStorePath(const std::string& named, const config::Config& config,
                            memory::OpenMode mode);

// Errors: those of driver::StoreOptionsOf; kRefused if a project's store is not the user's own.
Result<memory::StoreOptions> StoreOptionsOf(const MemoryConfig& memory,
                                            const config::Config& config, std::string path);

// The memory for prompts of a run or a conversation: on or off, and its opened store.
struct MemoryWish {
  enum class Use { kByConfig, kOn, kOff } use = Use::kByConfig;
  std::string store;   // a file; "": the one from MemoryStorePath
  std::string branch;  // "": not given
};

struct PromptMemory {
  std::shared_ptr<memory::Store> store;  // null: off
  std::string branch;                    // as in the wish
  std::optional<memory::PressureLevel> consolidate_from;
  std::shared_ptr<const memory::MemoryCallLog> calls;  // null: off, or only looked at
  MemoryConfig config;
};

// kLookedAt: nothing is created; a store that does not exist counts as off.
enum class MemoryNeed { kLookedAt, kWritten };

bool IsOn(const MemoryWish& wish, const MemoryConfig& config);

// Errors: kConfig, those of memory::Store::Open.
Result<PromptMemory> OpenPromptMemory(const MemoryWish& wish, const config::Config& config,
                                      MemoryNeed need);

// The model for summaries and ratings of memory, as the functions that src/memory expects.
//
//   DOSSIER_ASSIGN_OR_RETURN(const memory::Summarizer summarizer,
//                            OpenSummarizer(settings, memory_config, config, folders, say,
//                            cancel));
//   memory::Consolidate(*store, "root", request, summarizer);
//
// Uses layouts memory.consolidate, memory.compress, memory.rate. Thread-safety: as driver::Caller.

// Uses the model of `settings`, else memory.model. Returns a summarizer without functions if there
// is neither, or if use_llm_compression is false and `settings` has none. `layouts` is called only
// if there is a model. Errors: as OpenChatModel, and those of `layouts`.
using FindLayouts = std::function<Result<driver::LayoutSources>()>;
Result<memory::Summarizer> OpenSummarizer(ModelSettings settings, const MemoryConfig& memory_config,
                                          const config::Config& config, const FindLayouts& layouts,
                                          const std::function<void(std::string_view)>& say,
                                          const CancelToken& cancel);

// Reads the list of `count` whole numbers from 1 to 5 in a reply. Errors: kProtocol.
Result<std::vector<int>> ReadRatings(std::string_view reply, std::size_t count);

}  // namespace dossier::app

#endif  // DOSSIER_APP_MEMORY_SETUP_H_
