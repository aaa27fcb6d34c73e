// Conversation files: what is read and written without a change is the same; what is appended is
// there, and nothing else moved.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "chat/document/document.h"
#include "chat/document/stored.h"

using dossier::JsonObject;
using dossier::chat::Document;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  auto document = Document::Parse(text, "fuzz");
  if (!document) return 0;
  if (document->Render().Joined() != text) std::abort();
  static_cast<void>(ReadStored(*document));
  const std::size_t count = document->message_count();
  document->AppendMessage(JsonObject{{"role", "user"}, {"content", "added \xC3\xA9"}});
  if (!document->metadata().Append({"dossier turns"}, 1))
    return 0;  // a list of the file's own kind
  const auto again = Document::Parse(document->Render().Joined(), "fuzz");
  if (!again || again->message_count() != count + 1) std::abort();
  for (std::size_t i = 0; i < count; ++i) {
    if (again->RawMessage(i) != document->RawMessage(i)) std::abort();
  }
  return 0;
}
