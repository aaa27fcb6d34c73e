#include "cli/wiring/first_use.h"

#include <iostream>

#include "base/files/locations.h"
#include "base/text/text.h"
#include "cli/wiring/model_pull.h"

namespace dossier::cli {
namespace {

Result<std::string> Offer(const GlobalFlags& flags, const app::FirstUse& found,
                          const CancelToken& cancel) {
  // Not the stream of messages: a progress line has no place in a log file.
  std::ostream& err = std::cerr;
  for (const model::LocalServer& server : found.servers) {
    if (server.models.empty()) continue;
    const std::string name = server.provider + "/" + server.models[0];
    DOSSIER_ASSIGN_OR_RETURN(
        const bool use, Confirm(flags,
                                fmt::format("No key is set. A server answers at {}: ask its {}?",
                                            server.base_url, server.models[0]),
                                "-m " + ShellQuote(name), err, DefaultAnswer::kYes));
    if (use) {
      err << fmt::format("`dossier config set model {}` asks it from now on, unasked\n",
                         ShellQuote(name));
      return name;
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(const bool fetch,
                           Confirm(flags, "Fetch the local model, 1.1 GB?", "`dossier models pull`",
                                   err, DefaultAnswer::kYes));
  if (!fetch) return MakeError(ErrorCode::kNotFound, "{}", app::DescribeFirstUse(found));
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_RETURN_IF_ERROR(PullDefaultModel(data, cancel, err, err));
  return std::string("local");
}

}  // namespace

decltype(app::ModelSettings::first_use) OfferFirstUse(const GlobalFlags& flags) {
  if (flags.offline || (!flags.yes && !MayAsk(flags))) return {};
  return [flags](const app::FirstUse& found, const CancelToken& cancel) {
    return Offer(flags, found, cancel);
  };
}

}  // namespace dossier::cli
