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
#include "memory/consolidate/pressure.h"
#include "memory/consolidate/summarizer.h"
#include "memory/store/store.h"
#include "memory/transfer/call_log.h"

namespace dossier::app {

// Section `memory` of dossier.yml, typed and checked.
//
//   DOSSIER_ASSIGN_OR_RETURN(const MemoryConfig memory, ReadMemoryConfig(config));
//   memory.limits.core_max_chars;        // 2000
//
// Thread-safety: plain data; a pure function.

inline constexpr std::string_view kNoEmbedModel = "none";

struct MemoryConfig {
  std::optional<bool> enabled;  // unset: where a store is named
  memory::StoreLimits limits;
  memory::UseFts use_fts = memory::UseFts::kAuto;
  memory::WriteDurability durability = memory::WriteDurability::kNormal;
  memory::Redaction redaction = memory::Redaction::kOn;  // redact_secrets
  std::string model;                                     // the role `memory`; "": none
  std::optional<bool> use_llm_compression;               // unset: where `model` is set
  bool auto_consolidate = true;
  memory::PressureLevel consolidation_trigger = memory::PressureLevel::kHigh;
  bool log_enabled = true;            // memory_log_enabled
  std::int64_t log_max_chars = 1000;  // memory_log_max_chars; code points of one text
  std::string embed_model = std::string(kNoEmbedModel);  // of model/local/local_pull.h
};

// Errors: kConfig with FILE:LINE:COL and the key, for unknown keys too, with the nearest.
Result<MemoryConfig> ReadMemoryConfig(const config::Config& config);

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

// The model that memory asks for summaries and ratings, as the functions that src/memory takes.
//
//   DOSSIER_ASSIGN_OR_RETURN(const memory::Summarizer summarizer,
//                            OpenSummarizer(settings, memory_config, config, folders, say,
//                            cancel));
//   memory::Consolidate(*store, "root", request, summarizer);
//
// Layouts memory.consolidate, memory.compress, memory.rate. Thread-safety: as driver::Caller.

// The model of `settings`, else memory.model; without either, or with use_llm_compression: false
// and none in `settings`, a summarizer without functions. `layouts` is asked only if there is a
// model. Errors: as OpenChatModel, and those of `layouts`.
using FindLayouts = std::function<Result<driver::LayoutSources>()>;
Result<memory::Summarizer> OpenSummarizer(ModelSettings settings, const MemoryConfig& memory_config,
                                          const config::Config& config, const FindLayouts& layouts,
                                          const std::function<void(std::string_view)>& say,
                                          const CancelToken& cancel);

// The list of `count` whole numbers from 1 to 5 that a reply holds. Errors: kProtocol.
Result<std::vector<int>> ReadRatings(std::string_view reply, std::size_t count);

}  // namespace dossier::app

#endif  // DOSSIER_APP_MEMORY_SETUP_H_
