// JSON as models write it, and the other forms of replies in a research run.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "research/files/replies.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 14) return 0;
  using namespace dossier;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto strict = ParseJson(text);
  const auto relaxed = research::ParseRelaxedJson(text);
  if (strict && !relaxed) std::abort();
  if (strict && ToJson(*strict) != ToJson(relaxed->value)) std::abort();
  static_cast<void>(research::ReadJsonReply(text));
  static_cast<void>(research::ReadThoughtAndJson(text));
  static_cast<void>(research::ReadPython(text));
  static_cast<void>(research::ReadLatex(text));
  constexpr std::string_view kPrefixes[] = {"NAME", "DESCRIPTION"};
  if (research::ReadKeywords(text, kPrefixes).size() != 2) std::abort();
  return 0;
}
