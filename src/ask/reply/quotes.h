// The quotes of an answer: what stands between quotation marks of any language, in block quotes of
// Markdown, and in fences.
//
//   const std::vector<std::size_t> starts = ParagraphStarts(answer);
//   for (const Quote& quote : ReadQuotes(answer, starts, Matching::kExact)) LookUp(quote.text);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASK_REPLY_QUOTES_H_
#define DOSSIER_ASK_REPLY_QUOTES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ask/reply/citations.h"

namespace dossier::ask {

// A reference or a quote: where it stands in the answer.
struct Piece {
  std::size_t at = 0, end = 0;  // bytes
  std::size_t paragraph = 0;
};

struct Quote : Piece {
  std::string text;
  enum class Form { kMarked, kFence } form = Form::kMarked;
  std::size_t last_paragraph = 0;  // that it reaches into
};

// In which paragraph byte `at` stands, from 0. `starts`: ParagraphStarts.
std::size_t ParagraphOf(std::size_t at, const std::vector<std::size_t>& starts);

// In the order of the answer; their paragraphs are not set yet.
std::vector<Quote> ReadQuotes(std::string_view answer, const std::vector<std::size_t>& starts,
                              Matching matching);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_QUOTES_H_
