// Replies of hostile servers, whole and as chunks of a stream: no crash, and text is valid UTF-8.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text.h"
#include "base/utf8.h"
#include "model/openai_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto reply = dossier::model::ParseReply(text)) {
    if (!dossier::utf8::IsValid(reply->text)) std::abort();
  }
  dossier::model::ReplyStream stream;
  for (const std::string_view line : dossier::Split(text, '\n')) {
    (void)stream.Add(line).has_value();
  }
  if (!dossier::utf8::IsValid(stream.Take().text)) std::abort();
  return 0;
}
