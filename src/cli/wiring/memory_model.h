// app/memory_setup.h with the flags of a command.
//
//   DOSSIER_ASSIGN_OR_RETURN(const memory::Summarizer summarizer,
//                            OpenSummarizer(flags, settings, config, global, say, cancel));
//
// Thread-safety: as there.

#ifndef DOSSIER_CLI_WIRING_MEMORY_MODEL_H_
#define DOSSIER_CLI_WIRING_MEMORY_MODEL_H_

#include <functional>
#include <string_view>

#include "app/memory_setup.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"

namespace dossier::cli {

// Errors: as SettingsOf and app::OpenSummarizer.
Result<memory::Summarizer> OpenSummarizer(const ModelFlags& flags,
                                          const app::MemoryConfig& settings,
                                          const config::Config& config, const GlobalFlags& global,
                                          const std::function<void(std::string_view)>& say,
                                          const CancelToken& cancel);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_MEMORY_MODEL_H_
