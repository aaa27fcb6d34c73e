// Our splitting rules against PCRE2 with the published patterns.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/text/utf8.h"
#include "tokens/split/split_rules.h"
#include "tokens/split/splitter.h"

namespace {

using namespace dossier::tokens;  // NOLINT(google-build-using-namespace)

std::shared_ptr<const Pattern> Compiled(std::string_view pattern) {
  auto compiled = Pattern::Compile(pattern);
  if (!compiled) __builtin_trap();
  return *compiled;
}

// Whether PCRE2, whose Unicode is older, puts a code point into the class that our tables do.
bool IsAgreed(std::string_view code_point) {
  static const std::shared_ptr<const Pattern> kClasses[] = {Compiled(R"([^\p{L}\p{M}\p{N}\s])"),
                                                            Compiled(R"([\p{Lu}\p{Lt}])"),
                                                            Compiled(R"(\p{Ll})"),
                                                            Compiled(R"([\p{Lm}\p{Lo}])"),
                                                            Compiled(R"(\p{M})"),
                                                            Compiled(R"(\p{N})"),
                                                            Compiled(R"(\s)")};
  // A text that does not match is one piece as well: one that does not match stands before it.
  const auto ours = static_cast<std::size_t>(ClassifyAt(code_point.data()).cls);
  const std::string twice = std::string(code_point) + std::string(code_point);
  return kClasses[ours]->PieceEnd(twice, 0) == code_point.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::pair<SplitRule, std::shared_ptr<const Pattern>> kRules[] = {
      {SplitRule::kCl100k, Compiled(PatternOf(SplitRule::kCl100k))},
      {SplitRule::kO200k, Compiled(PatternOf(SplitRule::kO200k))},
      {SplitRule::kLlama3, Compiled(PatternOf(SplitRule::kLlama3))},
      {SplitRule::kQwen2, Compiled(PatternOf(SplitRule::kQwen2))},
      {SplitRule::kGpt2, Compiled(PatternOf(SplitRule::kGpt2))}};
  const std::string clean = dossier::utf8::Sanitize(
      {reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 4096)});
  std::string text;
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t start = at;
    dossier::utf8::Next(clean, &at);
    const std::string one = clean.substr(start, at - start);
    if (IsAgreed(one)) text += one;
  }
  for (const auto& [rule, pattern] : kRules) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = NextPiece(rule, text, at);
      if (end != pattern->PieceEnd(text, at)) __builtin_trap();
      at = end;
    }
  }
  return 0;
}
