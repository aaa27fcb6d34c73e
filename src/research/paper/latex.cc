#include "research/paper/latex.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::research {
namespace {

constexpr std::string_view kVerbatim[] = {"verbatim", "verbatim*", "lstlisting", "Verbatim",
                                          "minted"};

// Returns the offset after the bracket that closes the one at `open`; npos: none does.
std::size_t BehindClose(std::string_view tex, std::size_t open) {
  const char opening = tex[open];
  const char closing = opening == '{' ? '}' : ']';
  int depth = 0;
  for (std::size_t i = open; i < tex.size(); ++i) {
    if (tex[i] == '\\') {
      ++i;
    } else if (tex[i] == opening) {
      ++depth;
    } else if (tex[i] == closing && --depth == 0) {
      return i + 1;
    } else if (i - open > 20'000) {
      break;  // longer arguments are not read: reading stays linear
    }
  }
  return std::string_view::npos;
}

std::size_t SkipBlanks(std::string_view tex, std::size_t at) {
  int lines = 0;
  for (; at < tex.size(); ++at) {
    if (tex[at] == '\n' && ++lines > 1) break;
    if (tex[at] != ' ' && tex[at] != '\t' && tex[at] != '\n') break;
  }
  return at;
}

void Blank(std::size_t begin, std::size_t end, std::string* tex) {
  for (std::size_t i = begin; i < end; ++i) {
    if ((*tex)[i] != '\n') (*tex)[i] = ' ';
  }
}

// Returns the name of the verbatim environment that begins at `at`; "": none.
std::string_view VerbatimAt(std::string_view tex, std::size_t at) {
  constexpr std::string_view kBegin = "\\begin{";
  if (tex.substr(at, kBegin.size()) != kBegin) return {};
  const std::string_view rest = tex.substr(at + kBegin.size(), 16);
  for (const std::string_view name : kVerbatim) {
    if (rest.starts_with(name) && rest.substr(name.size()).starts_with('}')) return name;
  }
  return {};
}

// Reads options and the first argument after a command.
void ReadArgument(std::string_view tex, LatexUse* use) {
  std::size_t at = use->end;
  if (at < tex.size() && tex[at] == '*') ++at;
  while (true) {
    at = SkipBlanks(tex, at);
    if (at >= tex.size() || tex[at] != '[') break;
    const std::size_t behind = BehindClose(tex, at);
    if (behind == std::string_view::npos) return;
    at = behind;
  }
  if (at >= tex.size() || tex[at] != '{') return;
  const std::size_t behind = BehindClose(tex, at);
  if (behind == std::string_view::npos) return;
  use->argument = TrimSpace(tex.substr(at + 1, behind - at - 2));
  use->end = behind;
}

// Returns the word after a command that needs no braces: \input notes, \write18{rm}, \write 18.
std::string_view WordBehind(std::string_view tex, const LatexUse& use) {
  const std::size_t begin = SkipBlanks(tex, use.end);
  std::size_t end = begin;
  while (end < tex.size() && std::string_view(" \t\n{}[]").find(tex[end]) == std::string_view::npos)
    ++end;
  return tex.substr(begin, end - begin);
}

constexpr std::array<std::string_view, 12> kReadsFile = {
    "input",           "include",        "InputIfFileExists", "subfile",
    "lstinputlisting", "verbatiminput",  "VerbatimInput",     "bibliography",
    "import",          "addbibresource", "includegraphics",   "includepdf"};
constexpr std::array<std::string_view, 9> kForbidden = {"ShellEscape", "directlua", "latelua",
                                                        "openout",     "openin",    "newwrite",
                                                        "newread",     "catcode",   "csname"};
constexpr std::array<std::string_view, 12> kCites = {
    "cite",     "citep",    "citet",     "citealp",  "citealt",     "citeauthor",
    "citeyear", "textcite", "parencite", "autocite", "citeyearpar", "Citet"};

bool LeavesFolder(std::string_view path) {
  if (path.find_first_of("\\~|$`") != std::string_view::npos || path.starts_with('/')) return true;
  const std::vector<std::string_view> parts = Split(path, '/');
  return std::ranges::find(parts, "..") != parts.end();
}

class Checker {
 public:
  Checker(std::string_view tex, const LatexInputs& inputs)
      : clean_(WithoutComments(tex)), inputs_(inputs) {}

  std::vector<std::string> Check() && {
    for (const LatexUse& use : ScanLatex(clean_)) {
      if (use.command == "begin" || use.command == "end") CheckEnvironment(use);
      if (IsOneOf(use.command, kForbidden)) {
        Say(use, "\\{} is not allowed in a paper", use.command);
      }
      if (use.command == "write" && WordBehind(clean_, use).starts_with("18")) {
        Say(use, "\\write18 runs a program; it is not allowed in a paper");
      }
      if (IsOneOf(use.command, kReadsFile)) CheckFile(use);
      if (use.command == "includegraphics") CheckFigure(use);
      if (IsOneOf(use.command, kCites)) CheckKeys(use);
    }
    for (const LatexUse& open : open_) SayOpen(open);
    if (clean_.find("\\begin{document}") == std::string::npos) {
      faults_.push_back("there is no \\begin{document}");
    }
    if (faults_.size() > kMaxFaults) {
      const std::size_t more = faults_.size() - kMaxFaults;
      faults_.resize(kMaxFaults);
      faults_.push_back(fmt::format("and {} more", more));
    }
    return std::move(faults_);
  }

 private:
  static constexpr std::size_t kMaxFaults = 20;

  template <typename... Args>
  void Say(const LatexUse& use, fmt::format_string<Args...> format, Args&&... args) {
    faults_.push_back(
        fmt::format("line {}: {}", use.line, fmt::format(format, std::forward<Args>(args)...)));
  }

  void CheckEnvironment(const LatexUse& use) {
    if (use.command == "begin") {
      open_.push_back(use);
      return;
    }
    const auto same =
        std::ranges::find(open_.rbegin(), open_.rend(), use.argument, &LatexUse::argument);
    if (same == open_.rend()) {
      Say(use, "\\end{{{}}} has no \\begin{{{}}}", use.argument, use.argument);
      return;
    }
    const auto depth = static_cast<std::size_t>(open_.rend() - same);  // of what this ends
    for (; open_.size() > depth; open_.pop_back()) SayOpen(open_.back());
    open_.pop_back();
  }

  void SayOpen(const LatexUse& open) {
    Say(open, "\\begin{{{}}} has no \\end{{{}}}", open.argument, open.argument);
  }

  void CheckFile(const LatexUse& use) {
    const std::string path(use.argument.empty() ? WordBehind(clean_, use) : use.argument);
    for (const std::string_view part : Split(path, ',')) {
      if (LeavesFolder(TrimSpace(part))) {
        Say(use, "\\{}{{{}}} is outside the folder of the paper", use.command, TrimSpace(part));
      }
    }
  }

  void CheckFigure(const LatexUse& use) {
    if (!FigureOf(use.argument, inputs_.figures).empty()) return;
    std::string known;
    for (const std::string& name : inputs_.figures) known += (known.empty() ? "" : ", ") + name;
    Say(use, "there is no figure {}; there are: {}", use.argument, known.empty() ? "none" : known);
  }

  void CheckKeys(const LatexUse& use) {
    for (const std::string_view piece : Split(use.argument, ',')) {
      const std::string_view key = TrimSpace(piece);
      if (key != "*" && std::ranges::find(inputs_.keys, key) == inputs_.keys.end()) {
        Say(use, "there is no reference {} in references.bib", key.empty() ? "\"\"" : key);
      }
    }
  }

  const std::string clean_;
  const LatexInputs& inputs_;
  std::vector<LatexUse> open_;
  std::vector<std::string> faults_;
};

}  // namespace

std::string WithoutComments(std::string_view tex) {
  std::string clean(tex);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const std::string_view verbatim = clean[i] == '\\' ? VerbatimAt(clean, i) : std::string_view();
    if (!verbatim.empty()) {
      const std::size_t body = i + verbatim.size() + 8;  // "\begin{" and "}"
      const std::size_t end = clean.find(fmt::format("\\end{{{}}}", verbatim), body);
      const std::size_t stop = std::min(end, clean.size());
      Blank(body, stop, &clean);
      i = stop == clean.size() ? stop : stop + verbatim.size() + 5;
    } else if (clean[i] == '\\') {
      ++i;
    } else if (clean[i] == '%') {
      const std::size_t stop = std::min(clean.find('\n', i), clean.size());
      Blank(i, stop, &clean);
      i = stop;
    }
  }
  return clean;
}

std::vector<LatexUse> ScanLatex(std::string_view tex) {
  std::vector<LatexUse> uses;
  std::size_t line = 1;
  for (std::size_t i = 0; i < tex.size(); ++i) {
    if (tex[i] == '\n') ++line;
    if (tex[i] != '\\') continue;
    std::size_t end = i + 1;
    while (end < tex.size() && IsLetter(tex[end])) ++end;
    if (end == i + 1) {  // \\ and \%
      if (end < tex.size() && tex[end] == '\n') ++line;
      ++i;
      continue;
    }
    LatexUse use{.command = std::string(tex.substr(i + 1, end - i - 1)),
                 .line = line,
                 .begin = i,
                 .end = end};
    ReadArgument(tex, &use);
    uses.push_back(std::move(use));
    i = end - 1;  // commands inside the argument count, too
  }
  return uses;
}

std::vector<std::string> CheckLatex(std::string_view tex, const LatexInputs& inputs) {
  return Checker(tex, inputs).Check();
}

bool ReachesOut(std::string_view tex) {
  return tex.find("^^") != std::string_view::npos ||
         std::ranges::any_of(ScanLatex(tex), [](const LatexUse& use) {
           return IsOneOf(use.command, kForbidden) || IsOneOf(use.command, kReadsFile) ||
                  use.command == "write" || use.command == "def" || use.command == "let";
         });
}

std::string FigureOf(std::string_view argument, std::span<const std::string> figures) {
  std::string_view name = argument;
  for (const std::string_view prefix : {"./", "figures/"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  for (const std::string& figure : figures) {
    if (figure == name || std::string_view(figure).substr(0, figure.rfind('.')) == name) {
      return figure;
    }
  }
  return {};
}

namespace {

struct FigureEnvironment {
  std::size_t begin = 0, end = 0;  // bytes, with \begin and \end
  std::vector<LatexUse> uses;      // commands inside it
};

// Returns the outermost figure environments, including two-column ones.
std::vector<FigureEnvironment> FigureEnvironments(std::string_view tex) {
  std::vector<FigureEnvironment> found;
  const std::string clean = WithoutComments(tex);
  bool inside = false;
  for (LatexUse& use : ScanLatex(clean)) {
    const bool figure = use.argument == "figure" || use.argument == "figure*";
    if (use.command == "begin" && figure && !inside) {
      found.push_back({.begin = use.begin});
      inside = true;
    } else if (use.command == "end" && figure && inside) {
      found.back().end = use.end;
      inside = false;
    } else if (inside) {
      found.back().uses.push_back(std::move(use));
    }
  }
  if (inside) found.pop_back();
  return found;
}

bool RefersTo(std::string_view paragraph, std::string_view label) {
  for (const LatexUse& use : ScanLatex(paragraph)) {
    if (use.command.ends_with("ref") && use.argument == label) return true;
  }
  return false;
}

}  // namespace

std::vector<PaperFigure> FiguresOf(std::string_view tex) {
  std::vector<PaperFigure> figures;
  const std::string clean = WithoutComments(tex);
  for (const FigureEnvironment& environment : FigureEnvironments(tex)) {
    PaperFigure figure;
    for (const LatexUse& use : environment.uses) {
      if (use.command == "includegraphics") figure.images.push_back(use.argument);
      if (use.command == "caption" && figure.caption.empty()) figure.caption = use.argument;
      if (use.command == "label" && figure.label.empty()) figure.label = use.argument;
    }
    std::size_t begin = 0;
    while (!figure.label.empty() && begin < clean.size()) {
      const std::size_t end = std::min(clean.find("\n\n", begin), clean.size());
      const std::string_view paragraph =
          TrimSpace(std::string_view(clean).substr(begin, end - begin));
      if (RefersTo(paragraph, figure.label)) figure.references.emplace_back(paragraph);
      begin = end + 2;
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

std::string WithoutFigure(std::string_view tex, std::string_view image) {
  const std::string name(image);
  const std::span<const std::string> names(&name, 1);
  std::string kept(tex);
  std::vector<FigureEnvironment> environments = FigureEnvironments(tex);
  for (auto environment = environments.rbegin(); environment != environments.rend();
       ++environment) {
    std::vector<const LatexUse*> images;
    for (const LatexUse& use : environment->uses) {
      if (use.command == "includegraphics") images.push_back(&use);
    }
    const auto is_named = [&](const LatexUse* use) {
      return !FigureOf(use->argument, names).empty();
    };
    if (std::ranges::none_of(images, is_named)) continue;
    if (std::ranges::all_of(images, is_named)) {
      kept.erase(environment->begin, environment->end - environment->begin);
      continue;
    }
    for (auto use = images.rbegin(); use != images.rend(); ++use) {
      if (is_named(*use)) kept.erase((*use)->begin, (*use)->end - (*use)->begin);
    }
  }
  return kept;
}

std::string AbstractOf(std::string_view tex) {
  const std::string clean = WithoutComments(tex);
  constexpr std::string_view kBegin = "\\begin{abstract}";
  const std::size_t begin = clean.find(kBegin);
  if (begin == std::string::npos) return {};
  const std::size_t body = begin + kBegin.size();
  const std::size_t end = clean.find("\\end{abstract}", body);
  if (end == std::string::npos) return {};
  return std::string(TrimSpace(std::string_view(clean).substr(body, end - body)));
}

std::string EscapeLatex(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\textbackslash{}";
        break;
      case '~':
        escaped += "\\textasciitilde{}";
        break;
      case '^':
        escaped += "\\textasciicircum{}";
        break;
      case '#':
      case '$':
      case '%':
      case '&':
      case '_':
      case '{':
      case '}':
        escaped += '\\';
        [[fallthrough]];
      default:
        escaped += c;
    }
  }
  return escaped;
}

// Parts of a paper that nobody has written yet.

namespace {

constexpr std::array<std::string_view, 4> kHeadings = {"chapter", "section", "subsection",
                                                       "subsubsection"};
constexpr std::string_view kBegin = "\\begin{document}";

// Returns the level of a heading; unset: not a heading.
std::optional<std::size_t> DepthOf(const LatexUse& use) {
  const auto* const found = std::ranges::find(kHeadings, use.command);
  if (found == kHeadings.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kHeadings.begin());
}

bool Ends(const LatexUse& use, std::string_view environment) {
  return use.command == "end" && use.argument == environment;
}

// Returns the document between its begin and its end, without comments.
std::string BodyOf(std::string_view tex) {
  const std::string clean = WithoutComments(tex);
  const std::size_t begin = clean.find(kBegin);
  return begin == std::string::npos ? clean : clean.substr(begin + kBegin.size());
}

// Texts that differ only in spaces and line ends count as equal.
std::string Squeezed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return std::string(TrimSpace(out));
}

constexpr std::array<std::string_view, 5> kFillers = {"TODO", "TBD", "TBA", "FIXME", "XXX"};
// Commands that are no text: those of kNoText with their argument, the others if theirs is none.
constexpr std::array<std::string_view, 8> kNoText = {
    "label", "ldots", "dots", "textellipsis", "todo", "noindent", "blindtext", "lipsum"};
constexpr std::array<std::string_view, 4> kStyles = {"textit", "textbf", "emph", "text"};

bool HasPlace(std::string_view line) {
  if (line.find(kToBeWritten) != line.npos || line.find(kTitlePlace) != line.npos) return true;
  const std::string_view text = TrimSpace(line);
  const std::size_t colon = text.find(':');
  return colon != text.npos && IsOneOf(text.substr(0, colon), kFillers);
}

void FindPlaces(std::string_view clean, std::vector<std::string>* parts) {
  std::size_t number = 0;
  for (const std::string_view line : Split(clean, '\n')) {
    ++number;
    if (!HasPlace(line)) continue;
    parts->push_back(fmt::format("line {}: this is not written yet: {}", number, TrimSpace(line)));
  }
}

// Returns true for what only holds the place of a text: "TODO", "[Insert the results]", "...".
bool IsFiller(std::string_view text) {
  constexpr std::string_view kMarks = " \t\r\n.,:;!?-~(){}\xE2\x80\xA6";  // the last: an ellipsis
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (kMarks.find(text[at]) != std::string_view::npos) continue;
    std::size_t end = at;
    if (text[at] == '[') {
      end = text.find(']', at);
      if (end == std::string_view::npos) return false;
    } else {
      while (end < text.size() && IsLetter(text[end])) ++end;
      if (!IsOneOf(text.substr(at, end - at), kFillers)) return false;
      --end;
    }
    at = end;
  }
  return true;
}

// Finds headings without any text before the next heading that is not below them, and an empty
// abstract.
class EmptyParts {
 public:
  explicit EmptyParts(std::string_view clean) : clean_(clean), uses_(ScanLatex(clean)) {}

  void Find(std::vector<std::string>* parts) const {
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const LatexUse& use = uses_[i];
      const bool abstract = use.command == "begin" && use.argument == "abstract";
      const std::optional<std::size_t> depth = DepthOf(use);
      if ((!depth && !abstract) || !IsEmpty(i, depth)) continue;
      parts->push_back(
          fmt::format("line {}: \\{}{{{}}} has no text", use.line, use.command, use.argument));
    }
  }

 private:
  // Headings below it, labels and fillers do not count as text; everything else does.
  bool IsEmpty(std::size_t first, std::optional<std::size_t> depth) const {
    std::size_t at = uses_[first].end;
    for (std::size_t i = first + 1; i < uses_.size(); ++i) {
      const LatexUse& use = uses_[i];
      if (use.begin < at) continue;  // inside the previous one's argument
      if (!IsFiller(clean_.substr(at, use.begin - at))) return false;
      const std::optional<std::size_t> other = DepthOf(use);
      if (Ends(use, "document") || Ends(use, "abstract")) return true;
      if (other && (!depth || *other <= *depth)) return true;
      const bool styled = IsOneOf(use.command, kStyles) && IsFiller(use.argument);
      if (!other && !styled && !IsOneOf(use.command, kNoText)) return false;
      at = use.end;
    }
    return IsFiller(clean_.substr(at));
  }

  const std::string_view clean_;
  const std::vector<LatexUse> uses_;
};

// Returns the parts of a document: "\section{Results}", "\begin{abstract}".
std::vector<std::string> PartsOf(std::string_view clean) {
  std::vector<std::string> parts;
  for (const LatexUse& use : ScanLatex(clean)) {
    const bool abstract = use.command == "begin" && use.argument == "abstract";
    if (!abstract && use.command != "section" && use.command != "chapter") continue;
    parts.push_back(fmt::format("\\{}{{{}}}", use.command, use.argument));
  }
  return parts;
}

// Parts may have other names than in the template, but there must be as many, and an abstract.
void FindMissing(std::string_view clean, std::string_view given, std::vector<std::string>* parts) {
  const std::vector<std::string> has = PartsOf(clean), wanted = PartsOf(WithoutComments(given));
  for (const std::string& part : wanted) {
    const bool fewer = has.size() < wanted.size() || part == "\\begin{abstract}";
    if (fewer && std::ranges::find(has, part) == has.end()) {
      parts->push_back(fmt::format("{} of the template is missing", part));
    }
  }
}

}  // namespace

std::vector<std::string> UnwrittenParts(std::string_view tex, std::string_view given) {
  std::vector<std::string> parts;
  const std::string clean = WithoutComments(tex);
  FindPlaces(clean, &parts);
  EmptyParts(clean).Find(&parts);
  FindMissing(clean, given, &parts);
  if (parts.empty() && !given.empty() && Squeezed(BodyOf(tex)) == Squeezed(BodyOf(given))) {
    parts.emplace_back("nothing of the template was changed");
  }
  return parts;
}

}  // namespace dossier::research
