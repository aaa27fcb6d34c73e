// Replies of hostile servers, whole and as chunks of a stream, in every dialect: no crash, and text
// is valid UTF-8.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "model/catalog/catalog.h"
#include "model/dialects/dialect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view name : dossier::model::kDialectNames) {
    const dossier::model::WireDialect& dialect = *dossier::model::FindDialect(name);
    if (const auto reply = dialect.parse(text)) {
      if (!dossier::utf8::IsValid(reply->text)) std::abort();
    }
    const auto stream = dialect.stream();
    std::string streamed;
    for (const std::string_view line : dossier::Split(text, '\n')) {
      if (const auto added = stream->Add(line)) streamed += *added;
    }
    const dossier::model::Reply reply = stream->Take();
    if (!dossier::utf8::IsValid(reply.text) || reply.text != streamed) std::abort();
  }
  return 0;
}
