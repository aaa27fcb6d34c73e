#include "chat/context/replaced_context.h"

#include <algorithm>

#include "store/content.h"

namespace dossier::chat {

Status KeepReplacedContext(const std::string& content_folder, std::string_view text) {
  if (text.empty() || content_folder.empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(content_folder));
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const std::string sha256, content->Put(text));
  return {};
}

std::vector<ReplacedContext> ReplacedContexts(const Stored& stored) {
  std::vector<ReplacedContext> out;
  const JsonArray* history = stored.context ? stored.context->history.if_array() : nullptr;
  if (!history) return out;
  for (const Json& one : *history) {
    out.push_back({.sha256 = TextAt(one, "sha256"),
                   .replaced_at = TextAt(one, "replaced_at"),
                   .bytes = static_cast<std::uint64_t>(
                       std::max<std::int64_t>(FindInt(one, "bytes").value_or(0), 0))});
  }
  return out;
}

Result<std::string> ReadReplacedContext(const std::string& content_folder,
                                        const ReplacedContext& replaced) {
  DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(content_folder));
  if (content->Has(replaced.sha256)) return content->Get(replaced.sha256);
  return MakeError(ErrorCode::kNotFound,
                   "the context that was replaced at {} is not kept on this machine (sha256 {})",
                   replaced.replaced_at, replaced.sha256);
}

}  // namespace dossier::chat
