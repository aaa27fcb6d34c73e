#include "base/text/redact.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/text/secret_detection.h"
#include "base/text/text.h"
#include "base/text/utf8_kernels.h"

namespace dossier {
namespace {

constexpr std::size_t kBlock = 64 << 10;     // bytes searched at once
constexpr std::size_t kHeldBack = 40 << 10;  // longer than any secret and its context
constexpr std::size_t kContext = 1 << 10;    // more than the detector looks back

using secrets::Match;

// The three-byte beginnings of shapes, by their five low bits, which upper and lower case share;
// all other places are skipped. No shape begins with fewer bytes.
constexpr std::size_t kTrigrams = 1 << 15;

constexpr std::size_t NextTrigram(std::size_t trigram, char c) {
  return (trigram << 5 | (static_cast<unsigned char>(c) & 31)) & (kTrigrams - 1);
}

// The beginnings of shapes without a table.
constexpr std::string_view kOtherStarts[] = {
    "eyJ", "access_token$", "bearer",    "basic",       "-----BEGIN", "://", ":AA",
    "8Q~", ".atlasv1.",     "webhooks/", "hooks.slack", "LS0tLS1",    "-u ", "-user"};

constexpr std::array<bool, kTrigrams> MakeStarts() {
  std::array<bool, kTrigrams> starts{};
  const auto add = [&](std::string_view shape) {
    std::size_t trigram = 0;
    for (const char c : shape.substr(0, 3)) trigram = NextTrigram(trigram, c);
    starts[trigram] = true;
  };
  for (const secrets::TokenShape& shape : secrets::kTokenShapes) add(shape.prefix);
  for (const secrets::NameWord& word : secrets::kNameWords) add(word.word);
  for (const std::string_view shape : kOtherStarts) add(shape);
  return starts;
}

constexpr std::array<bool, kTrigrams> kStarts = MakeStarts();

// Returns true if a token may begin at `at`: not inside a word, but after an escape such as \n.
bool IsTokenStart(std::string_view text, std::size_t at) {
  if (at == 0 || !secrets::IsWord(text[at - 1])) return true;
  const char escape = text[at - 1];
  return at > 1 && text[at - 2] == '\\' && (escape == 'n' || escape == 't' || escape == 'r');
}

Match MatchAt(std::string_view text, std::size_t at) {
  using Finder = Match (*)(std::string_view, std::size_t);
  const char c = text[at];
  if (c == '-') {
    const Match match = secrets::FindPrivateKey(text, at);
    return match.length > 0 ? match : secrets::FindUserOption(text, at);
  }
  if (c == ':' || c == '8' || c == '.') {
    const Match match = secrets::FindMarkedToken(text, at);
    if (match.length > 0 || c != ':') return match;
    return secrets::FindUrlPassword(text, at);
  }
  if (IsTokenStart(text, at)) {
    constexpr Finder kFinders[] = {secrets::FindToken, secrets::FindJwt, secrets::FindEncodedKey,
                                   secrets::FindAuthorization, secrets::FindWebhook};
    for (const Finder find : kFinders) {
      if (const Match match = find(text, at); match.length > 0) return match;
    }
  }
  return secrets::FindNamedValue(text, at);
}

// Merges both by offset; drops a lone value that overlaps a known shape.
std::vector<Secret> Merge(const std::vector<Secret>& known, const std::vector<Match>& lone) {
  std::vector<Secret> all;
  std::size_t next = 0, end = 0;  // of `known`; of the last one of `all`
  const auto take = [&] {
    all.push_back(known[next++]);
    end = all.back().offset + all.back().length;
  };
  for (const Match& match : lone) {
    while (next < known.size() && known[next].offset < match.offset) take();
    const bool free_behind =
        next == known.size() || match.offset + match.length <= known[next].offset;
    if (match.offset >= end && free_behind) {
      all.push_back({match.offset, match.length, match.kind});
      end = match.offset + match.length;
    }
  }
  while (next < known.size()) take();
  return all;
}

// A single pass over a text.
class Search {
 public:
  explicit Search(std::string_view text) : text_(text), lone_(text) {}

  // Searches the part from `begin` on, as far as it is marked.
  void LookAt(const secrets::Marks& marks, std::size_t begin) {
    for (std::size_t block = 0; block < marks.starts.size(); ++block) {
      const std::size_t at = begin + 64 * block;
      for (std::uint64_t bits = marks.starts[block]; bits != 0; bits &= bits - 1) {
        const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(bits));
        if (kStarts[TrigramAt(place)]) TryStart(place);
      }
      for (std::uint64_t bits = marks.runs[block]; bits != 0; bits &= bits + (bits & -bits)) {
        lone_.LookAt(at + static_cast<std::size_t>(std::countr_zero(bits)));
      }
    }
  }

  // Searches the rest, from `begin` on, byte by byte.
  std::vector<Secret> Finish(std::size_t begin) {
    std::size_t trigram = 0;
    for (std::size_t end = begin; end < text_.size(); ++end) {
      trigram = NextTrigram(trigram, text_[end]);
      if (kStarts[trigram] && end >= begin + 2) TryStart(end - 2);
    }
    // Every long enough run that reaches beyond `begin` contains one of these places.
    for (std::size_t at = begin; at < text_.size(); at += secrets::LoneValues::kShortest) {
      lone_.LookAt(at);
    }
    return Merge(known_, lone_.Take());
  }

 private:
  std::size_t TrigramAt(std::size_t at) const {
    return NextTrigram(NextTrigram(NextTrigram(0, text_[at]), text_[at + 1]), text_[at + 2]);
  }

  void TryStart(std::size_t at) {
    if (at < next_) return;
    const Match match = MatchAt(text_, at);
    if (match.length == 0 || match.offset < next_) return;
    known_.push_back({match.offset, match.length, match.kind});
    next_ = match.offset + match.length;
  }

  std::string_view text_;
  std::vector<Secret> known_;
  std::size_t next_ = 0;  // shapes before it are done
  secrets::LoneValues lone_;
};

}  // namespace

std::string RedactStream::Add(std::string_view bytes) {
  pending_ += bytes;
  if (pending_.size() < written_ + kBlock + kHeldBack) return {};
  return Take(pending_.size() - kHeldBack);
}

std::string RedactStream::Finish() {
  std::string rest = Take(pending_.size());
  pending_.clear();
  written_ = 0;
  return rest;
}

std::string RedactStream::Take(std::size_t end) {
  std::vector<Secret> found = FindSecrets(pending_);
  // A secret that begins in the context was seen before, or is only an artifact of the cut.
  std::erase_if(found, [&](const Secret& secret) {
    return secret.offset < written_ || secret.offset >= end;
  });
  found_ += found.size();
  if (!found.empty()) end = std::max(end, found.back().offset + found.back().length);
  const std::string_view text = std::string_view(pending_).substr(0, end);
  std::string out = Redact(text, found).substr(written_);
  pending_.erase(0, end - std::min(end, kContext));
  written_ = std::min(end, kContext);
  return out;
}

namespace secrets {
namespace {

// Adds both cases of a letter, since names may have either.
void AddBeginning(std::string_view shape, GroupTables* tables) {
  const auto group = static_cast<std::uint8_t>(1 << (shape[0] % 8));
  for (std::size_t i = 0; i < kBeginningBytes; ++i) {
    if (i >= shape.size()) {  // any byte
      for (std::uint8_t& groups : tables->low[i]) groups |= group;
      for (std::uint8_t& groups : tables->high[i]) groups |= group;
      continue;
    }
    const auto add = [&](char c) {
      tables->low[i][c & 0x0F] |= group;
      tables->high[i][c >> 4] |= group;
    };
    add(shape[i]);
    if (IsLetter(shape[i])) add(static_cast<char>(shape[i] ^ 0x20));
  }
}

}  // namespace

const GroupTables& BeginningGroups() {
  static const GroupTables kTables = [] {
    GroupTables tables;
    for (const TokenShape& shape : kTokenShapes) AddBeginning(shape.prefix, &tables);
    for (const NameWord& word : kNameWords) AddBeginning(word.word, &tables);
    for (const std::string_view shape : kOtherStarts) AddBeginning(shape, &tables);
    return tables;
  }();
  return kTables;
}

std::vector<Secret> FindSecretsBy(std::string_view text, Loop loop) {
  Search search(text);
  TokenRunState state{};
  std::size_t at = 0;
  for (; loop == Loop::kAvx2 && at + kPartBytes + kBeginningBytes <= text.size();
       at += kPartBytes) {
    search.LookAt(MarkPartAvx2(text, at, &state), at);
  }
  return search.Finish(at);
}

}  // namespace secrets

std::vector<Secret> FindSecrets(std::string_view text) {
  const bool avx2 = text.size() > secrets::kPartBytes && utf8::internal::HasAvx2();
  return secrets::FindSecretsBy(text, avx2 ? secrets::Loop::kAvx2 : secrets::Loop::kScalar);
}

std::string_view KindOfNamedSecret(std::string_view name, std::string_view value) {
  return secrets::KindOfNamed(name, value);
}

std::string Redact(std::string_view text) { return Redact(text, FindSecrets(text)); }

std::string Redact(std::string_view text, std::span<const Secret> found) {
  return Redact(text, found,
                [](const Secret& secret) { return fmt::format("[redacted:{}]", secret.kind); });
}

std::string Redact(std::string_view text, std::span<const Secret> found,
                   const std::function<std::string(const Secret&)>& put) {
  std::string out;
  std::size_t copied = 0;
  for (const Secret& secret : found) {
    out.append(text, copied, secret.offset - copied);
    out += put(secret);
    copied = secret.offset + secret.length;
  }
  out.append(text, copied);
  return out;
}

std::vector<std::size_t> LinesOf(std::string_view text, std::span<const Secret> found) {
  std::vector<std::size_t> lines;
  std::size_t line = 1, counted = 0;
  for (const Secret& secret : found) {
    const std::string_view between = text.substr(counted, secret.offset - counted);
    line += static_cast<std::size_t>(std::ranges::count(between, '\n'));
    counted = secret.offset;
    lines.push_back(line);
  }
  return lines;
}

namespace {

constexpr std::string_view kAnywhere[] = {"key", "token", "secret", "pass", "credential", "jwt"};
constexpr std::string_view kLastWord[] = {"pat", "pwd", "creds", "cred", "auth"};

bool EndsInWord(std::string_view name, std::string_view word) {
  if (!name.ends_with(word)) return false;
  return name.size() == word.size() || name[name.size() - word.size() - 1] == '_';
}

// Detects scheme://user:password@host; no part may contain a character that ends the authority.
bool HoldsUrlWithPassword(std::string_view value) {
  for (std::size_t at = value.find("://"); at != std::string_view::npos;
       at = value.find("://", at + 1)) {
    const std::string_view rest = value.substr(at + 3);
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?# \t\n\"'"));
    const std::size_t host = authority.rfind('@');
    if (host == std::string_view::npos) continue;
    const std::size_t colon = authority.find(':');
    if (colon < host && colon + 1 < host) return true;
  }
  return false;
}

}  // namespace

bool IsSecretVariableName(std::string_view name) {
  const std::string lower = ToLowerAscii(name);
  if (lower == "pwd" || lower.ends_with("askpass")) return false;
  return std::any_of(
             std::begin(kAnywhere), std::end(kAnywhere),
             [&](std::string_view word) { return lower.find(word) != std::string::npos; }) ||
         std::any_of(std::begin(kLastWord), std::end(kLastWord),
                     [&](std::string_view word) { return EndsInWord(lower, word); });
}

bool HoldsSecretValue(std::string_view value) {
  return HoldsUrlWithPassword(value) || !FindSecrets(value).empty();
}

bool IsSecretVariable(std::string_view name, std::string_view value) {
  return IsSecretVariableName(name) || HoldsSecretValue(value);
}

}  // namespace dossier
