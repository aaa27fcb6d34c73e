// What flags and configuration say of memory: which store, opened how, which time.
//
//   const std::string path = MemoryStorePath(flag, config, memory::OpenMode::kExisting);
//   DOSSIER_ASSIGN_OR_RETURN(auto options, StoreOptionsOf(memory_config, config, path));
//   Store::Open(std::move(options));
//
// The same for `memory` and for those that read it into prompts. Thread-safety: functions over
// files and the environment.

#ifndef DOSSIER_CLI_WIRING_MEMORY_SETUP_H_
#define DOSSIER_CLI_WIRING_MEMORY_SETUP_H_

#include <memory>
#include <string>
#include <string_view>

#include "app/memory_config.h"
#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "memory/store/store.h"
#include "memory/transfer/call_log.h"

namespace dossier::cli {

// `flag`, else $DOSSIER_MEMORY, else .dossier/memory/memory.sqlite of the project, else the one in
// the user's data folder. Of the project's folders the nearest counts that has the file; where a
// store is to be made (kCreate), one with a folder .dossier will do.
std::string MemoryStorePath(const std::string& flag, const config::Config& config,
                            memory::OpenMode mode);

// Errors: as model::FindEmbedding, where `embed_model` names one.
Result<memory::StoreOptions> StoreOptionsOf(const app::MemoryConfig& memory,
                                            const config::Config& config, std::string path);

// memory_calls.jsonl beside `store`.
memory::CallLog CallLogOf(const app::MemoryConfig& memory, const std::string& store,
                          std::shared_ptr<const Clock> clock = SystemClock());

// A clock that always says `now`, for --now; "": the machine's. Errors: kUsage with the flag.
Result<std::shared_ptr<const Clock>> ClockOf(const std::string& now);

// RFC 3339, or a day alone: its begin or its end. Errors: kUsage with `flag`.
enum class DayEdge : std::uint8_t { kBegin, kEnd };
Result<memory::Micros> ReadMoment(std::string_view flag, const std::string& text, DayEdge edge);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MEMORY_SETUP_H_
