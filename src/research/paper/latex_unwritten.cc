// Parts of a paper that nobody has written yet.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text/text.h"
#include "research/paper/latex.h"

namespace dossier::research {
namespace {

constexpr std::array<std::string_view, 4> kHeadings = {"chapter", "section", "subsection",
                                                       "subsubsection"};
constexpr std::string_view kBegin = "\\begin{document}";

// How deep a heading stands; unset: it is none.
std::optional<std::size_t> DepthOf(const LatexUse& use) {
  const auto* const found = std::ranges::find(kHeadings, use.command);
  if (found == kHeadings.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kHeadings.begin());
}

bool Ends(const LatexUse& use, std::string_view environment) {
  return use.command == "end" && use.argument == environment;
}

// The document between its begin and its end, without comments.
std::string BodyOf(std::string_view tex) {
  const std::string clean = WithoutComments(tex);
  const std::size_t begin = clean.find(kBegin);
  return begin == std::string::npos ? clean : clean.substr(begin + kBegin.size());
}

// Spaces and line ends do not tell two texts apart.
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

void FindPlaces(std::string_view clean, std::vector<std::string>* parts) {
  std::size_t number = 0;
  for (const std::string_view line : Split(clean, '\n')) {
    ++number;
    if (!TrimSpace(line).starts_with(kToBeWritten)) continue;
    parts->push_back(fmt::format("line {}: this is not written yet: {}", number, TrimSpace(line)));
  }
}

// A heading whose part ends, at the next heading that is not below it, without any text; an
// abstract in the same way.
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
  // Headings below it and labels are no text; everything else is.
  bool IsEmpty(std::size_t first, std::optional<std::size_t> depth) const {
    std::size_t at = uses_[first].end;
    for (std::size_t i = first + 1; i < uses_.size(); ++i) {
      const LatexUse& use = uses_[i];
      if (use.begin < at) continue;  // inside the argument of the one before
      if (!TrimSpace(clean_.substr(at, use.begin - at)).empty()) return false;
      const std::optional<std::size_t> other = DepthOf(use);
      if (Ends(use, "document") || Ends(use, "abstract")) return true;
      if (other && (!depth || *other <= *depth)) return true;
      if (!other && use.command != "label") return false;
      at = use.end;
    }
    return TrimSpace(clean_.substr(at)).empty();
  }

  const std::string_view clean_;
  const std::vector<LatexUse> uses_;
};

}  // namespace

std::vector<std::string> UnwrittenParts(std::string_view tex, std::string_view given) {
  std::vector<std::string> parts;
  const std::string clean = WithoutComments(tex);
  FindPlaces(clean, &parts);
  EmptyParts(clean).Find(&parts);
  if (parts.empty() && !given.empty() && Squeezed(BodyOf(tex)) == Squeezed(BodyOf(given))) {
    parts.emplace_back("nothing of the template was changed");
  }
  return parts;
}

}  // namespace dossier::research
