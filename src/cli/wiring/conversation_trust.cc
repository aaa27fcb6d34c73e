#include "cli/wiring/conversation_trust.h"

#include <filesystem>
#include <optional>

#include "base/clock.h"
#include "base/text/text.h"
#include "config/edit.h"
#include "config/load.h"
#include "config/trust.h"

namespace dossier::cli {
namespace {

// The model as a line of a project's configuration; nothing where it needs no trust. Other bytes of
// a conversation change with each turn, so it is approved by this line, under its folder's name.
std::optional<config::ConfigFile> NeedsTrust(const std::string& model,
                                             const config::Config& config) {
  const config::Located& found = config.conversations;
  if (found.owner == config::Located::Owner::kUser || model.empty()) return std::nullopt;
  std::error_code error;
  const auto folder = std::filesystem::weakly_canonical(found.path, error);
  config::ConfigFile file{
      .path = fmt::format("model {} of the conversations in {}", model, found.path),
      .real_path = (folder / fmt::format("{}{}", config::kStoredModelMark, model)).string(),
      .bytes = "model: " + config::QuoteScalar(model) + "\n"};
  const auto values = config::ParseConfigFile(file);
  if (values && config::FindPowers(*values).empty()) return std::nullopt;
  return file;
}

}  // namespace

Status CheckStoredModel(const std::string& model, const config::Config& config,
                        const GlobalFlags& global, std::ostream& err) {
  const auto file = NeedsTrust(model, config);
  if (!file) return {};
  const Status agreed = CheckTrust(global, {*file, {"model"}}, err);
  if (agreed || agreed.error().code != ErrorCode::kRefused) return agreed;
  return MakeError(ErrorCode::kRefused,
                   "the conversation lies in this project, in {}, and its model {} is not trusted: "
                   "it says where what you write goes, and may start a program; name it with -m {} "
                   "to agree, or another one",
                   config.conversations.path, model, ShellQuote(model));
}

Status ApproveStoredModel(const std::string& model, const config::Config& config) {
  const auto file = NeedsTrust(model, config);
  if (!file) return {};
  config::TrustStore store(config.user.state, SystemClock());
  DOSSIER_ASSIGN_OR_RETURN(const auto known, store.Find(file->real_path));
  if (known) return {};
  return store.Approve(file->real_path, file->bytes);
}

}  // namespace dossier::cli
