#include <algorithm>

#include "base/text/text.h"
#include "research/paper/latex.h"

namespace dossier::research {
namespace {

struct MachineFacts {
  std::size_t begin = 0, end = 0;  // bytes, with \begin and \end
  std::vector<LatexUse> uses;      // inside
};

// Outermost figure environments; of two columns, too.
std::vector<MachineFacts> FigureEnvironments(std::string_view tex) {
  std::vector<MachineFacts> found;
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
  for (const MachineFacts& environment : FigureEnvironments(tex)) {
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
  std::vector<MachineFacts> environments = FigureEnvironments(tex);
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

}  // namespace dossier::research
