#include "ask/reply/code_repair.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ask/reply/fences.h"
#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kEntities = {{
    {"&lt;", "<"},
    {"&gt;", ">"},
    {"&quot;", "\""},
    {"&#39;", "'"},
    {"&amp;", "&"},
    {"\xE2\x80\x98", "'"},   // ‘
    {"\xE2\x80\x99", "'"},   // ’
    {"\xE2\x80\x9C", "\""},  // “
    {"\xE2\x80\x9D", "\""},  // ”
}};

constexpr std::array<std::string_view, 9> kKeywords = {"import", "from", "for", "while", "const",
                                                       "let",    "var",  "def", "class"};

bool IsWord(char c) { return IsWordByte(c) || c == '$'; }

std::string_view FirstWord(std::string_view text) {
  return text.substr(0, std::find_if_not(text.begin(), text.end(), IsWord) - text.begin());
}

// `rest` of "name rest": returns true for "= value", "+= value", ", b = value" or "[…] = value".
bool Assigns(std::string_view rest) {
  const std::size_t equals = rest.find('=');
  if (equals == std::string_view::npos || rest.substr(equals).starts_with("==")) return false;
  if (rest.find('(') < equals) return false;
  const std::string_view target = TrimSpace(rest.substr(0, equals));
  // Prose has words without punctuation before a "=".
  return target.empty() || std::string_view(".,[:+-*/%&|").find(target.front()) != target.npos;
}

// Returns the code after a prompt; none if the line has no prompt.
std::optional<std::string_view> BehindPrompt(std::string_view line) {
  for (const std::string_view prompt : {">>>", "..."}) {
    if (!line.starts_with(prompt)) continue;
    if (line.size() == prompt.size()) return std::string_view();
    if (line[prompt.size()] == ' ') return line.substr(prompt.size() + 1);
  }
  const std::string_view text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  const std::size_t colon = text.find("]:");
  if (text.starts_with("In [") && colon != std::string_view::npos &&
      text.substr(4, colon - 4).find_first_not_of("0123456789 *") == std::string_view::npos) {
    line = text.substr(colon + 2);
  } else if (text.starts_with("...:")) {
    line = text.substr(4);
  } else {
    return std::nullopt;
  }
  return line.starts_with(' ') ? line.substr(1) : line;
}

}  // namespace

std::string WithoutCommonIndent(std::string_view code) {
  const std::vector<TextLine> lines = SplitLines(code);
  std::optional<std::string_view> common;
  for (const TextLine& line : lines) {
    const std::size_t text = line.text.find_first_not_of(" \t");
    if (text == std::string_view::npos) continue;
    const std::string_view indent = line.text.substr(0, text);
    if (!common) common = indent;
    const auto [end, unused] = std::ranges::mismatch(*common, indent);
    common = common->substr(0, static_cast<std::size_t>(end - common->begin()));
  }
  std::string out;
  out.reserve(code.size());
  for (const TextLine& line : lines) {
    if (line.begin > 0) out += '\n';
    const std::size_t blank = std::min(line.text.find_first_not_of(" \t"), line.text.size());
    out += line.text.substr(std::min(common ? common->size() : 0, blank));
  }
  return out;
}

std::optional<std::string> WithoutPrompts(std::string_view code) {
  std::string out;
  bool first = true;
  for (const TextLine& line : SplitLines(code)) {
    if (first && TrimSpace(line.text).empty()) continue;
    const auto text = BehindPrompt(line.text);
    if (first && (!text || line.text.starts_with("..."))) return std::nullopt;
    if (!text) continue;
    if (!first) out += '\n';
    out += *text;
    first = false;
  }
  if (first) return std::nullopt;
  return out;
}

std::optional<std::string> WithoutEntities(std::string_view code) {
  std::string out;
  out.reserve(code.size());
  bool changed = false;
  for (std::size_t at = 0; at < code.size();) {
    const auto found = std::ranges::find_if(
        kEntities, [&](const auto& entity) { return code.substr(at).starts_with(entity.first); });
    if (found == kEntities.end()) {
      out += code[at++];
      continue;
    }
    out += found->second;
    at += found->first.size();
    changed = true;
  }
  if (!changed) return std::nullopt;
  return out;
}

bool StartsStatement(std::string_view line) {
  line = TrimSpace(line);
  const std::string_view word = FirstWord(line);
  if (word.empty() || (word[0] >= '0' && word[0] <= '9')) return false;
  std::string_view rest = line.substr(word.size());
  if (std::ranges::find(kKeywords, word) != kKeywords.end() && rest.starts_with(' ')) {
    // "from the text" is prose, "from x import y" is not.
    return word != "from" || rest.find(" import ") != std::string_view::npos;
  }
  while (rest.starts_with('.')) {  // a.b.c(
    rest.remove_prefix(1);
    rest.remove_prefix(FirstWord(rest).size());
  }
  return rest.starts_with('(') || Assigns(rest);
}

bool HoldsStatement(std::string_view code) {
  for (const TextLine& line : SplitLines(code)) {
    if (StartsStatement(line.text)) return true;
    for (std::size_t at = line.text.find('('); at != std::string_view::npos;
         at = line.text.find('(', at + 1)) {
      if (at > 0 && IsWord(line.text[at - 1])) return true;
    }
  }
  return false;
}

}  // namespace dossier::ask
