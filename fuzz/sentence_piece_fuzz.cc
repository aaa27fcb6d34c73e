// SentencePiece vocabularies that merge what the input says: counts that grow equal those of the
// whole, and the longest prefix keeps to its limit.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text/utf8.h"
#include "tokens/encode/sentence_piece.h"

// The input: tokens, a line each, whose first byte is the score, or '!' for one added by hand; an
// empty line; the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier::tokens;  // NOLINT(google-build-using-namespace)
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> texts;
  for (int byte = 0; byte < 256; ++byte) texts.push_back(fmt::format("<0x{:02X}>", byte));
  std::vector<float> scores(256);
  std::vector<AddedTokens::Token> added;
  while (!input.empty() && input[0] != '\n') {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    if (line[0] != '!') {
      texts.push_back(dossier::utf8::Sanitize(line.substr(1)));
      scores.push_back(line[0]);
    } else if (line.size() > 1) {
      added.push_back({dossier::utf8::Sanitize(line.substr(1)), 1});
    }
  }
  std::vector<SentencePieces::Token> tokens;
  for (std::size_t i = 0; i < texts.size(); ++i) tokens.push_back({texts[i], scores[i]});
  auto pieces = SentencePieces::Make(tokens);
  if (!pieces) return 0;
  const auto counter = MakeSentencePieceCounter(
      {.name = "fuzz", .pieces = std::move(*pieces), .added = AddedTokens(std::move(added))});
  const std::int64_t whole = counter->CountText(input).tokens;
  if (counter->Encode(input)->size() != static_cast<std::size_t>(whole)) __builtin_trap();
  const auto running = counter->Start();
  for (std::size_t at = 0; at < input.size(); at += 5) running->Append(input.substr(at, 5));
  if (running->Total().tokens != whole) __builtin_trap();
  if (counter->LongestPrefix(input, whole / 2).tokens > whole / 2) __builtin_trap();
  return 0;
}
