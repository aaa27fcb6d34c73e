#include "model/catalog/tokenizer.h"

#include "base/files/file.h"
#include "base/files/locations.h"
#include "model/local/local_weights.h"

namespace dossier::model {
namespace {

constexpr double kLeastMargin = 0.15;  // of a ratio to another vocabulary

Result<tokens::Opened> OpenLocal(const Entry& entry, const tokens::DataPaths& paths) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());
  DOSSIER_ASSIGN_OR_RETURN(const Weights weights, FindWeights(data, entry.name));
  return tokens::Open("gguf:" + weights.path, paths);
}

Result<tokens::Opened> OpenEstimate(const Entry& entry, std::string warning) {
  DOSSIER_ASSIGN_OR_RETURN(
      auto counter,
      tokens::MakeEstimator({.bytes_per_token = entry.bytes_per_token, .margin = entry.margin}));
  return tokens::Opened{.counter = std::move(counter), .warning = std::move(warning)};
}

}  // namespace

Result<tokens::Opened> OpenTokenizer(const Entry& entry, const tokens::DataPaths& paths) {
  if (entry.provider == "local" && entry.tokenizer.empty()) {
    auto own = OpenLocal(entry, paths);
    if (own) return own;
    return OpenEstimate(entry, fmt::format("{}: token counts are estimates within {:.0f} %",
                                           own.error().message, 100 * entry.margin));
  }
  if (entry.tokenizer.empty()) return OpenEstimate(entry, "");
  auto opened = tokens::Open(entry.tokenizer, paths);
  if (!opened) {
    return MakeError(ErrorCode::kConfig, "{}: {}", entry.name, opened.error().message);
  }
  if (!entry.ratio) return opened;
  DOSSIER_ASSIGN_OR_RETURN(
      opened->counter,
      tokens::MakeScaled(opened->counter, *entry.ratio, std::max(entry.margin, kLeastMargin)));
  opened->identity.clear();
  return opened;
}

}  // namespace dossier::model
