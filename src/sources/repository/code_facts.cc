#include "sources/repository/code_facts.h"

#include <algorithm>
#include <optional>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/repository/brace_code.h"

namespace dossier::sources {
namespace {

struct Ending {
  std::string_view ending;
  Language language;
};
constexpr Ending kEndings[] = {
    {".c", Language::kCpp},       {".cc", Language::kCpp},
    {".cpp", Language::kCpp},     {".cxx", Language::kCpp},
    {".h", Language::kCpp},       {".hh", Language::kCpp},
    {".hpp", Language::kCpp},     {".py", Language::kPython},
    {".pyi", Language::kPython},  {".js", Language::kScript},
    {".mjs", Language::kScript},  {".cjs", Language::kScript},
    {".jsx", Language::kScript},  {".ts", Language::kScript},
    {".tsx", Language::kScript},  {".mts", Language::kScript},
    {".cts", Language::kScript},  {".go", Language::kGo},
    {".rs", Language::kRust},     {".java", Language::kJava},
    {".md", Language::kMarkdown}, {".markdown", Language::kMarkdown},
};

constexpr int kHeadLines = 8;  // of a file that declares nothing we know

std::size_t IndentOf(std::string_view line) {
  std::size_t indent = 0;
  for (; indent < line.size() && (line[indent] == ' ' || line[indent] == '\t'); ++indent) {
  }
  return indent;
}

bool IsWordPart(char c) { return IsWordByte(c) || static_cast<unsigned char>(c) >= 0x80; }

std::string_view FirstWord(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && IsWordPart(text[end])) ++end;
  return text.substr(0, end);
}

// Python by indentation. A line inside a triple-quoted string declares nothing.
class PythonReader {
 public:
  explicit PythonReader(CodeFacts* facts) : facts_(facts) {}

  void Read(std::string_view text) {
    for (const std::string_view line : Split(text, '\n')) {
      if (!quote_.empty()) {
        if (const std::size_t end = line.find(quote_); end != std::string_view::npos) {
          quote_ = {};
        }
        continue;
      }
      const std::size_t indent = IndentOf(line);
      const std::string_view code = TrimSpace(line);
      if (code.empty() || code.front() == '#') continue;
      ReadLine(indent, code);
      OpenQuote(code);
    }
  }

 private:
  void ReadLine(std::size_t indent, std::string_view code) {
    while (!classes_.empty() && indent <= classes_.back()) classes_.pop_back();
    std::string_view rest = code;
    if (rest.starts_with("async ")) rest = TrimSpace(rest.substr(6));
    const std::string_view word = FirstWord(rest);
    if (word == "import" || word == "from") {
      const std::string_view name = TrimSpace(rest.substr(word.size()));
      std::size_t end = name.find_first_of(" ,;#");
      facts_->imports.emplace_back(name.substr(0, end));
      return;
    }
    // A function inside a function stands deeper than its class lets it.
    if (word != "def" && word != "class") return;
    if (indent > 0 && (classes_.empty() || (body_ && indent > *body_))) return;
    const std::string_view name = FirstWord(TrimSpace(rest.substr(word.size())));
    if (name.empty()) return;
    facts_->symbols.push_back(
        {std::string(name), OneLine(code), static_cast<int>(classes_.size())});
    if (word == "class") {
      classes_.push_back(indent);
      body_.reset();
    } else {
      body_ = indent;
    }
  }

  void OpenQuote(std::string_view code) {
    for (const std::string_view quote : {std::string_view("\"\"\""), std::string_view("'''")}) {
      const std::size_t start = code.find(quote);
      if (start == std::string_view::npos) continue;
      if (code.find(quote, start + 3) == std::string_view::npos) quote_ = quote;
      return;
    }
  }

  CodeFacts* facts_;
  std::string_view quote_;
  std::vector<std::size_t> classes_;  // indents of the classes around
  std::optional<std::size_t> body_;   // indent of the function read last
};

void ReadMarkdown(std::string_view text, CodeFacts* facts) {
  bool fenced = false;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.starts_with("```") || line.starts_with("~~~")) fenced = !fenced;
    if (fenced || !line.starts_with('#')) continue;
    const std::size_t level = line.find_first_not_of('#');
    if (level == std::string_view::npos || level > 6 || line[level] != ' ') continue;
    facts->symbols.push_back({std::string(TrimSpace(line.substr(level))), OneLine(line), 0});
  }
}

}  // namespace

Language LanguageOf(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return Language::kOther;
  const std::string ending = ToLowerAscii(path.substr(dot));
  for (const Ending& known : kEndings) {
    if (known.ending == ending) return known.language;
  }
  return Language::kOther;
}

CodeFacts ReadCode(Language language, std::string_view text) {
  CodeFacts facts;
  switch (language) {
    case Language::kOther:
      break;
    case Language::kPython:
      PythonReader(&facts).Read(text);
      break;
    case Language::kMarkdown:
      ReadMarkdown(text, &facts);
      break;
    case Language::kCpp:
    case Language::kScript:
    case Language::kGo:
    case Language::kRust:
    case Language::kJava:
      ReadBraceCode(language, text, &facts);
      break;
  }
  return facts;
}

std::string Outline(std::string_view text, const CodeFacts& facts) {
  std::string out;
  for (const Symbol& symbol : facts.symbols) {
    out.append(static_cast<std::size_t>(symbol.depth) * 2, ' ').append(symbol.line).append("\n");
  }
  if (!facts.symbols.empty()) return out;
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) +
                     (!text.empty() && text.back() != '\n');
  std::size_t end = 0;
  for (int i = 0; i < kHeadLines && end < text.size(); ++i) {
    const std::size_t next = text.find('\n', end);
    end = next == std::string_view::npos ? text.size() : next + 1;
  }
  out = text.substr(0, end);
  if (!out.empty() && out.back() != '\n') out += '\n';
  if (lines > kHeadLines) {
    out += fmt::format("[left out: {} of {} lines]\n", lines - kHeadLines, lines);
  }
  return out;
}

}  // namespace dossier::sources
