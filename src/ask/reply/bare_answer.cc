#include "ask/reply/bare_answer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "ask/reply/fences.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

using Form = BareAnswer::Form;

constexpr std::array<std::pair<std::string_view, Form>, 3> kCalls = {
    {{"PARTIAL", Form::kPartial}, {"FINAL_VAR", Form::kFinalVar}, {"FINAL", Form::kFinal}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kQuotes = {{
    {"\"\"\"", "\"\"\""},
    {"'''", "'''"},
    {"\"", "\""},
    {"'", "'"},
    {"`", "`"},
    {"\xE2\x80\x9C", "\xE2\x80\x9D"},  // “ ”
    {"\xE2\x80\x98", "\xE2\x80\x99"},  // ‘ ’
}};

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::ranges::all_of(text, IsWordByte);
}

// Skips the marks that Markdown may put before a final on its line.
std::size_t BehindMarks(std::string_view line) {
  return std::min(line.find_first_not_of(" \t>*`#"), line.size());
}

std::string_view QuoteAt(std::string_view text, std::size_t at) {
  for (const std::string_view quote : {"\"\"\"", "'''", "\"", "'"}) {
    if (text.substr(at).starts_with(quote)) return quote;
  }
  return {};
}

std::string_view OpensQuote(std::string_view text, std::size_t at) {
  // An apostrophe inside a word opens no quotation.
  if (at > 0 && (IsWordByte(text[at - 1]) || static_cast<unsigned char>(text[at - 1]) >= 0x80))
    return {};
  return QuoteAt(text, at);
}

// Returns the position after the quote that closes the one at `at`; npos if there is none.
std::size_t BehindQuote(std::string_view text, std::size_t at, std::string_view quote) {
  for (at += quote.size(); at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text.substr(at).starts_with(quote)) {
      return at + quote.size();
    }
  }
  return std::string_view::npos;
}

enum class Quotes { kRespected, kIgnored };

// Returns the offset of the parenthesis that closes one before `text`; npos if it is missing.
std::size_t ClosingParenthesis(std::string_view text, Quotes quotes) {
  int depth = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (quotes == Quotes::kRespected) {
      if (const std::string_view quote = OpensQuote(text, at); !quote.empty()) {
        const std::size_t behind = BehindQuote(text, at, quote);
        if (behind == std::string_view::npos) return behind;
        at = behind - 1;
        continue;
      }
    }
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

std::string_view ArgumentsOf(std::string_view text) {
  std::size_t end = ClosingParenthesis(text, Quotes::kRespected);
  if (end == std::string_view::npos) end = ClosingParenthesis(text, Quotes::kIgnored);
  return text.substr(0, end);  // npos: with no closing parenthesis, up to the end
}

std::string Unescaped(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    const std::string_view known = "nt\"'\\";
    if (text[at] != '\\' || next == '\0' || known.find(next) == known.npos) {
      out += text[at];
      continue;
    }
    out += next == 'n' ? '\n' : next == 't' ? '\t' : next;
    ++at;
  }
  return out;
}

struct Literal {
  std::string text;
  enum class Quoted { kNo, kYes } quoted = Quoted::kNo;
};

// Removes quotes around the whole text, but not quotes of its first and last word only.
std::optional<std::string> WithoutQuotes(std::string_view text) {
  for (const auto& [open, close] : kQuotes) {
    if (text.size() < open.size() + close.size() || !text.starts_with(open) ||
        !text.ends_with(close)) {
      continue;
    }
    const std::string_view inner =
        text.substr(open.size(), text.size() - open.size() - close.size());
    for (std::size_t at = 0; at < inner.size(); ++at) {
      if (inner[at] == '\\') {
        ++at;
      } else if (inner.substr(at).starts_with(close)) {
        return std::nullopt;
      }
    }
    return Unescaped(inner);
  }
  return std::nullopt;
}

std::string_view WithoutBold(std::string_view text) {
  text = TrimSpace(text);
  for (const std::string_view mark : {"**", "__"}) {
    if (text.size() > 2 * mark.size() && text.starts_with(mark) && text.ends_with(mark)) {
      return TrimSpace(text.substr(mark.size(), text.size() - 2 * mark.size()));
    }
  }
  return text;
}

std::string_view WithoutFullStop(std::string_view text) {
  return text.ends_with('.') && !text.ends_with("..") ? text.substr(0, text.size() - 1) : text;
}

Literal Clean(std::string_view text, ModelSize model) {
  text = WithoutBold(text);
  if (model == ModelSize::kSmall) text = WithoutBold(WithoutFullStop(text));
  if (auto inner = WithoutQuotes(text)) {
    const std::string_view plain = WithoutBold(*inner);
    return {std::string(model == ModelSize::kSmall ? WithoutFullStop(plain) : plain),
            Literal::Quoted::kYes};
  }
  return {std::string(text)};
}

int Rank(Form form) {
  switch (form) {
    case Form::kPartial:
      return 4;
    case Form::kFinalVar:
      return 3;
    case Form::kFinal:
      return 2;
    case Form::kFinalText:
      return 1;
    case Form::kNone:
      return 0;
  }
  return 0;
}

// Reads FINAL(…), FINAL_VAR(…), PARTIAL(…) above `rank` at the start of `text`; none if it is
// another call or empty.
std::optional<BareAnswer> ReadCall(std::string_view text, ModelSize model, int rank) {
  for (const auto& [name, form] : kCalls) {
    if (Rank(form) <= rank || !text.starts_with(name)) continue;
    std::string_view rest = text.substr(name.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (!rest.starts_with('(')) continue;
    const Literal literal = Clean(ArgumentsOf(rest.substr(1)), model);
    const bool quoted = literal.quoted == Literal::Quoted::kYes;
    if (literal.text.empty() && !quoted) return std::nullopt;
    if (form == Form::kFinalVar && literal.text.empty()) return std::nullopt;
    return BareAnswer{.form = form,
                      .text = literal.text,
                      .looks_like_name = form != Form::kFinalVar && !quoted &&
                                         literal.text != "None" && IsIdentifier(literal.text),
                      .quoted = quoted};
  }
  return std::nullopt;
}

bool StartsWith(std::string_view text, std::string_view word, ModelSize model) {
  if (model == ModelSize::kLarge) return text.starts_with(word);
  return ToLowerAscii(text.substr(0, word.size())) == ToLowerAscii(word);
}

// Reads FINAL: …, FINAL ANSWER: …; a small model keeps writing, so its answer ends at a blank line.
std::optional<BareAnswer> ReadText(std::string_view text, ModelSize model) {
  for (const std::string_view name : {"FINAL ANSWER", "FINAL"}) {
    if (!StartsWith(text, name, model)) continue;
    std::string_view rest = text.substr(name.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(" *`"), rest.size()));
    if (!rest.starts_with(':')) continue;
    rest.remove_prefix(1);
    if (rest.starts_with("**")) rest.remove_prefix(2);  // **FINAL ANSWER:** 42
    rest = TrimSpace(rest);
    if (model == ModelSize::kSmall) rest = rest.substr(0, rest.find("\n\n"));
    // The closing mark of "**FINAL: 42**" and "`FINAL: 42`".
    if (rest.ends_with("**") && rest.find("**") == rest.size() - 2) rest.remove_suffix(2);
    if (rest.ends_with('`') && rest.find('`') == rest.size() - 1) rest.remove_suffix(1);
    Literal literal = Clean(rest, model);
    if (literal.text.empty()) continue;
    return BareAnswer{.form = Form::kFinalText,
                      .text = std::move(literal.text),
                      .quoted = literal.quoted == Literal::Quoted::kYes};
  }
  return std::nullopt;
}

// An attribute (`x.ok`) is not a variable.
bool OccursAsName(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const bool starts = at == 0 || (!IsWordByte(text[at - 1]) && text[at - 1] != '.');
    const std::size_t end = at + word.size();
    if (starts && (end == text.size() || !IsWordByte(text[end]))) return true;
  }
  return false;
}

// Returns Python code without its comments and the contents of its string literals.
std::string WithoutLiterals(std::string_view code) {
  std::string out;
  for (std::size_t at = 0; at < code.size();) {
    if (code[at] == '#') {
      at = std::min(code.find('\n', at), code.size());
    } else if (const std::string_view quote = QuoteAt(code, at); !quote.empty()) {
      at = std::min(BehindQuote(code, at, quote), code.size());
      out += ' ';
    } else {
      out += code[at++];
    }
  }
  return out;
}

}  // namespace

BareAnswer FindBareAnswer(std::string_view text, ModelSize model) {
  BareAnswer best, cited;
  for (const TextLine& line : SplitLines(text)) {
    const std::size_t marks = BehindMarks(line.text);
    const std::string_view from = text.substr(line.begin + marks);
    BareAnswer& place = line.text.substr(0, marks).find('>') == line.text.npos ? best : cited;
    auto found = ReadCall(from, model, Rank(place.form));
    if (!found && place.form == Form::kNone) found = ReadText(from, model);
    if (found) place = std::move(*found);
  }
  return best.form == Form::kNone ? cited : best;
}

std::string WithoutFinalLines(std::string_view text) {
  std::string kept;
  for (const TextLine& line : SplitLines(text)) {
    const std::string_view from = line.text.substr(BehindMarks(line.text));
    const bool call = std::ranges::any_of(kCalls, [from](const auto& row) {
      return from.starts_with(row.first) &&
             TrimSpace(from.substr(row.first.size())).starts_with('(');
    });
    if (!call) kept.append(line.text).append("\n");
  }
  return kept;
}

bool BareAnswer::names_value() const {
  if (form == Form::kNone) return false;
  if (quoted || looks_like_name || form != Form::kFinal) return true;
  return ExactNumber<double>(text).has_value();
}

NameMeaning ResolveName(std::string_view name,
                        const std::function<bool(std::string_view)>& is_variable,
                        std::span<const std::string> earlier_code) {
  if (is_variable(name)) return NameMeaning::kVariable;
  if (name.find('_') != std::string_view::npos) return NameMeaning::kUnknown;
  // A word that occurs only in literals was never a name: `"Paris" in line` does not make
  // FINAL(Paris) a variable.
  const bool in_code = std::ranges::any_of(earlier_code, [name](const std::string& code) {
    return OccursAsName(WithoutLiterals(code), name);
  });
  return in_code ? NameMeaning::kUnknown : NameMeaning::kLiteral;
}

}  // namespace dossier::ask
