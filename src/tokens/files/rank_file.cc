#include "tokens/files/rank_file.h"

#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"

namespace dossier::tokens {
namespace {

constexpr PublicEncoding kEncodings[] = {
    {"cl100k_base",
     "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
     100256,
     SplitRule::kCl100k,
     {.bytes_per_token = 3.7, .margin = 0.15}},
    {"o200k_base",
     "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
     199998,
     SplitRule::kO200k,
     {.bytes_per_token = 4.2, .margin = 0.15}},
};

// -1: no base64 digit.
constexpr int Digit(char c) {
  if (IsUpper(c)) return c - 'A';
  if (IsLower(c)) return c - 'a' + 26;
  if (IsDigit(c)) return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

bool DecodeBase64(std::string_view digits, std::string* out) {
  while (digits.ends_with('=')) digits.remove_suffix(1);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : digits) {
    const int digit = Digit(c);
    if (digit < 0) return false;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out->push_back(static_cast<char>(bits >> count & 0xFF));
    }
  }
  return !out->empty();
}

bool ParseLine(std::string_view line, SourceToken* token) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || !DecodeBase64(line.substr(0, space), &token->text)) {
    return false;
  }
  const auto rank = ExactNumber<decltype(token->rank)>(line.substr(space + 1));
  token->outer = token->rank = rank.value_or(0);
  return rank.has_value();
}

}  // namespace

std::span<const PublicEncoding> PublicEncodings() { return kEncodings; }

const PublicEncoding* FindPublicEncoding(std::string_view name) {
  for (const PublicEncoding& encoding : kEncodings) {
    if (encoding.name == name) return &encoding;
  }
  return nullptr;
}

Result<std::vector<SourceToken>> ParseRanks(std::string_view bytes) {
  std::vector<SourceToken> tokens;
  for (std::size_t line = 1; !bytes.empty(); ++line) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    SourceToken token;
    if (!ParseLine(bytes.substr(0, end), &token)) {
      return MakeError(ErrorCode::kDamaged, "line {}: no token in base64 and rank", line);
    }
    tokens.push_back(std::move(token));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return tokens;
}

Result<VocabularySource> ReadRankFile(const PublicEncoding& encoding, std::string_view bytes) {
  const std::string sha256 = Sha256Hex(bytes);
  if (sha256 != encoding.sha256) {
    return MakeError(ErrorCode::kDamaged,
                     "{}.tiktoken: hash mismatch: SHA-256 is {} instead of {}; fetch it again with "
                     "scripts/setup",
                     encoding.name, sha256, encoding.sha256);
  }
  VocabularySource source{.rule = encoding.rule, .pieces = WholePieces::kAlways};
  DOSSIER_ASSIGN_OR_RETURN(source.tokens, ParseRanks(bytes));
  if (source.tokens.size() != encoding.lines) {
    return MakeError(ErrorCode::kDamaged, "{}.tiktoken: {} lines instead of {}", encoding.name,
                     source.tokens.size(), encoding.lines);
  }
  return source;
}

}  // namespace dossier::tokens
