#include "cli/wiring/open_chat_model.h"

#include "cli/wiring/first_use.h"

namespace dossier::cli {

Result<driver::BoundModel> OpenChatModel(const ModelFlags& flags, const config::Config& config,
                                         const GlobalFlags& global,
                                         const std::function<void(std::string_view)>& say,
                                         const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(app::ModelSettings settings, SettingsOf(flags));
  settings.offline = global.offline;
  settings.first_use = OfferFirstUse(global);
  if (global.verbose > 0) settings.announce = app::ModelSettings::Announce::kYes;
  return app::OpenChatModel(std::move(settings), config, say, cancel);
}

}  // namespace dossier::cli
