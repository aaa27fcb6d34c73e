// Any reply, in both dialects and sizes: no crash, and no block longer than the reply.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ask/reply/extraction.h"

using namespace dossier::ask;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view reply(reinterpret_cast<const char*>(data) + 1, size - 1);
  const ExtractionOptions options{
      .dialect = data[0] & 1 ? Dialect::kPython : Dialect::kJavaScript,
      .finish = data[0] & 2 ? ReplyFinish::kStop : ReplyFinish::kLength,
      .model = data[0] & 4 ? ModelSize::kLarge : ModelSize::kSmall,
      // A verdict that depends on the text, so that every tolerance is tried.
      .compiles = [](std::string_view code) { return code.size() % 3 == 0; }};
  const Extraction found = ExtractCode(reply, options);
  for (const CodeBlock& block : found.blocks) {
    if (block.code.size() > reply.size()) std::abort();
  }
  if (found.text_outside.size() > reply.size()) std::abort();
  return 0;
}
