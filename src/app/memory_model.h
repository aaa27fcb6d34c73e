// The model that memory asks for summaries and ratings, as the functions that src/memory takes.
//
//   DOSSIER_ASSIGN_OR_RETURN(const memory::Summarizer summarizer,
//                            OpenSummarizer(flags, settings, config, global, say, cancel));
//   memory::Consolidate(*store, "root", request, summarizer);
//
// Layouts memory.consolidate, memory.compress, memory.rate. Thread-safety: as chat::Call.

#ifndef DOSSIER_CLI_WIRING_MEMORY_MODEL_H_
#define DOSSIER_CLI_WIRING_MEMORY_MODEL_H_

#include <functional>
#include <string_view>
#include <vector>

#include "app/memory_config.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "memory/consolidate/summarizer.h"

namespace dossier::cli {

// The model of `flags`, else memory.model; without either, or with use_llm_compression: false and
// no flag, a summarizer without functions. Errors: as OpenChatModel; kNotFound (--layouts-dir).
Result<memory::Summarizer> OpenSummarizer(ModelFlags flags, const app::MemoryConfig& settings,
                                          const config::Config& config, const GlobalFlags& global,
                                          const std::function<void(std::string_view)>& say,
                                          const CancelToken& cancel);

// The list of `count` whole numbers from 1 to 5 that a reply holds. Errors: kProtocol.
Result<std::vector<int>> ReadRatings(std::string_view reply, std::size_t count);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MEMORY_MODEL_H_
