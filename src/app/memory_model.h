// The model that memory asks for summaries and ratings, as the functions that src/memory takes.
//
//   DOSSIER_ASSIGN_OR_RETURN(const memory::Summarizer summarizer,
//                            OpenSummarizer(settings, memory_config, config, folders, say,
//                            cancel));
//   memory::Consolidate(*store, "root", request, summarizer);
//
// Layouts memory.consolidate, memory.compress, memory.rate. Thread-safety: as driver::Caller.

#ifndef DOSSIER_APP_MEMORY_MODEL_H_
#define DOSSIER_APP_MEMORY_MODEL_H_

#include <functional>
#include <string_view>
#include <vector>

#include "app/memory_config.h"
#include "app/open_model.h"
#include "assembly/layout/layout.h"
#include "memory/consolidate/summarizer.h"

namespace dossier::app {

// The model of `settings`, else memory.model; without either, or with use_llm_compression: false
// and none in `settings`, a summarizer without functions. `folders` is asked only if there is a
// model. Errors: as OpenChatModel, and those of `folders`.
using FindFolders = std::function<Result<assembly::AssetFolders>()>;
Result<memory::Summarizer> OpenSummarizer(ModelSettings settings, const MemoryConfig& memory_config,
                                          const config::Config& config, const FindFolders& folders,
                                          const std::function<void(std::string_view)>& say,
                                          const CancelToken& cancel);

// The list of `count` whole numbers from 1 to 5 that a reply holds. Errors: kProtocol.
Result<std::vector<int>> ReadRatings(std::string_view reply, std::size_t count);

}  // namespace dossier::app

#endif  // DOSSIER_APP_MEMORY_MODEL_H_
