#include "sources/repository/code_facts.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

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

constexpr int kHeadLines = 8;  // shown of a file without known declarations

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

// Reads Python by indentation. A line inside a triple-quoted string declares nothing.
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
    // A function inside a function is indented deeper than its class permits.
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

namespace {

// Splits "a/b.h", "a.b", "crate::a::b" and "./b" into names; omits purely relative parts.
std::vector<std::string> NamesOf(std::string_view import) {
  std::string text = ReplaceAll(import, "::", "/");
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos && text.find('.') != std::string::npos && !text.ends_with(".h") &&
      !text.ends_with(".hpp")) {
    text = ReplaceAll(text, ".", "/");
  } else if (const std::size_t dot = text.rfind('.');
             dot != std::string::npos && (slash == std::string::npos || dot > slash + 1)) {
    text.resize(dot);
  }
  std::vector<std::string> names;
  for (const std::string_view name : Split(text, '/')) {
    if (name.empty() || name == "." || name == ".." || name == "crate" || name == "self" ||
        name == "super" || name == "*") {
      continue;
    }
    names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> NamesOfPath(std::string_view path) {
  std::vector<std::string> names;
  for (const std::string_view name : Split(path, '/')) names.emplace_back(name);
  std::string& last = names.back();
  if (const std::size_t dot = last.rfind('.'); dot != std::string::npos && dot > 0)
    last.resize(dot);
  const bool folder = last == "__init__" || last == "index" || last == "mod";
  if (folder && names.size() > 1) names.pop_back();
  return names;
}

std::size_t CommonEnd(const std::vector<std::string>& a, const std::vector<std::string>& b,
                      std::size_t limit) {
  std::size_t common = 0;
  while (common < a.size() && common < limit && a[a.size() - 1 - common] == b[limit - 1 - common]) {
    ++common;
  }
  return common;
}

}  // namespace

ImportGraph::ImportGraph(const std::vector<std::string>& paths) : paths_(paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::vector<std::string> names = NamesOfPath(paths[i]);
    const std::string last = names.back();
    by_name_[last].push_back({std::move(names), i});
  }
}

std::optional<std::size_t> ImportGraph::Find(std::string_view from, std::string_view import) const {
  const std::vector<std::string> names = NamesOf(import);
  const std::vector<std::string> here = NamesOfPath(from);
  // The last name may be something inside the file: `from a import Name`, `use a::b::Name`.
  for (std::size_t length = names.size(); length > 0 && length + 2 > names.size(); --length) {
    const auto found = by_name_.find(names[length - 1]);
    if (found == by_name_.end()) continue;
    const Target* best = nullptr;
    std::tuple<std::size_t, bool, std::size_t> best_fit;
    for (const Target& target : found->second) {
      const auto nearer =
          std::mismatch(target.names.begin(), target.names.end(), here.begin(), here.end());
      const std::tuple<std::size_t, bool, std::size_t> fit = {
          CommonEnd(target.names, names, length), paths_[target.file].ends_with(import),
          static_cast<std::size_t>(nearer.first - target.names.begin())};
      if (!best || fit > best_fit) {
        best = &target;
        best_fit = fit;
      }
    }
    // A match of one name among many is coincidence.
    if (std::get<0>(best_fit) * 2 < length) return std::nullopt;
    return best->file;
  }
  return std::nullopt;
}

}  // namespace dossier::sources
