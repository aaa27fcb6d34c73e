#include "base/redact.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/secret_shapes.h"
#include "base/secret_text.h"
#include "base/secret_values.h"
#include "base/token_shapes.h"

namespace dossier {
namespace {

using secrets::Match;

// Which three bytes can begin a shape, by their five low bits, which letters of both cases share;
// all other places are passed over. No shape begins with fewer.
constexpr std::size_t kTrigrams = 1 << 15;

constexpr std::size_t NextTrigram(std::size_t trigram, char c) {
  return (trigram << 5 | (static_cast<unsigned char>(c) & 31)) & (kTrigrams - 1);
}

// How what has no table begins.
constexpr std::string_view kOtherStarts[] = {"eyJ", "access_token$", "bearer", "basic", "-----BEGIN", "://",
                                             ":AA", "8Q~", ".atlasv1.", "webhooks/", "hooks.slack"};

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

// Whether a token may begin at `at`: not inside a word, but behind an escape such as \n.
bool IsTokenStart(std::string_view text, std::size_t at) {
  if (at == 0 || !secrets::IsWord(text[at - 1])) return true;
  const char escape = text[at - 1];
  return at > 1 && text[at - 2] == '\\' && (escape == 'n' || escape == 't' || escape == 'r');
}

Match MatchAt(std::string_view text, std::size_t at) {
  using Finder = Match (*)(std::string_view, std::size_t);
  const char c = text[at];
  if (c == '-') return secrets::FindPrivateKey(text, at);
  if (c == ':' || c == '8' || c == '.') {
    const Match match = secrets::FindMarkedToken(text, at);
    if (match.length > 0 || c != ':') return match;
    return secrets::FindUrlPassword(text, at);
  }
  if (IsTokenStart(text, at)) {
    constexpr Finder kFinders[] = {secrets::FindToken, secrets::FindJwt, secrets::FindAuthorization,
                                   secrets::FindWebhook};
    for (const Finder find : kFinders) {
      if (const Match match = find(text, at); match.length > 0) return match;
    }
  }
  return secrets::FindNamedValue(text, at);
}

// By where they begin; a match that overlaps one in front of it is left out.
std::vector<Secret> Merge(std::vector<Secret> known, const std::vector<Match>& lone) {
  const std::size_t middle = known.size();
  for (const Match& match : lone) {
    const auto behind = std::ranges::upper_bound(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(middle),
                                                 match.offset, {}, &Secret::offset);
    const bool free_in_front = behind == known.begin() ||
                               std::prev(behind)->offset + std::prev(behind)->length <= match.offset;
    const bool free_behind = behind == known.begin() + static_cast<std::ptrdiff_t>(middle) ||
                             match.offset + match.length <= behind->offset;
    if (free_in_front && free_behind) known.push_back({match.offset, match.length, match.kind});
  }
  std::ranges::inplace_merge(known, known.begin() + static_cast<std::ptrdiff_t>(middle), {}, &Secret::offset);
  return known;
}

}  // namespace

std::vector<Secret> FindSecrets(std::string_view text) {
  std::vector<Secret> known;
  std::size_t trigram = 0, next = 0;  // no shape begins before `next`
  for (std::size_t end = 0; end < text.size(); ++end) {
    trigram = NextTrigram(trigram, text[end]);
    if (!kStarts[trigram] || end < next + 2) continue;
    const Match match = MatchAt(text, end - 2);
    if (match.length == 0 || match.offset < next) continue;
    known.push_back({match.offset, match.length, match.kind});
    next = match.offset + match.length;
  }
  return Merge(std::move(known), secrets::FindLoneValues(text));
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

}  // namespace dossier
