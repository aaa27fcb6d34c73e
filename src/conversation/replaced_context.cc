#include "conversation/replaced_context.h"

#include "store/content.h"

namespace dossier::conversation {

Status KeepReplacedContext(const std::string& content_folder, std::string_view text) {
  if (text.empty() || content_folder.empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(content_folder));
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const std::string sha256, content->Put(text));
  return {};
}

}  // namespace dossier::conversation
