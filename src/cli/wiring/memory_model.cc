#include "cli/wiring/memory_model.h"

#include <iostream>

#include "cli/wiring/asset_folders.h"

namespace dossier::cli {

Result<memory::Summarizer> OpenSummarizer(const ModelFlags& flags,
                                          const app::MemoryConfig& settings,
                                          const config::Config& config, const GlobalFlags& global,
                                          const std::function<void(std::string_view)>& say,
                                          const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(app::ModelSettings model, SettingsOf(flags));
  model.offline = global.offline;
  if (global.verbose > 0) model.announce = app::ModelSettings::Announce::kYes;
  return app::OpenSummarizer(
      std::move(model), settings, config, [&] { return AssetFoldersFor("", global, std::cerr); },
      say, cancel);
}

}  // namespace dossier::cli
