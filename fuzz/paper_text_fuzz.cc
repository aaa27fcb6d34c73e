// Any text as LaTeX, BibTeX and a search's answer: no crash, and what is written is read as it was.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "research/paper/bibtex.h"
#include "research/paper/latex.h"
#include "research/paper/literature.h"

using namespace dossier::research;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (WithoutComments(text).size() != text.size()) std::abort();
  if (CheckLatex(text, {}).size() > 21) std::abort();
  static_cast<void>(FiguresOf(text));
  if (WithoutFigure(text, "a.png").size() > text.size()) std::abort();
  std::vector<BibEntry> citable;
  for (BibEntry& entry : ReadSearchReply(text)) {
    if (IsCitable(entry)) citable.push_back(std::move(entry));
  }
  if (ParseBibtex(BibtexText(citable)).size() != citable.size()) std::abort();
  return 0;
}
