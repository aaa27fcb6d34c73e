// Inline Markdown: emphasis, code, links.
//
//   RenderInline("see **the** [manual](https://x.org)", Markers::kHide);
//   // {plain "see "} {bold "the"} {plain " "} {underline "manual"} {dim " (https://x.org)"}
//
//   InlineScan scan;                       // while text comes in
//   for (char32_t c : text) scan.Feed(c);
//   if (scan.closed()) Show();             // no emphasis, code or link is open: it can be shown
// md4c (loaded on first use) parses what InlineScan found to be complete; if it cannot be loaded,
// the text is shown as written. Thread-safety: pure; InlineScan has one owner.

#ifndef DOSSIER_CLI_MARKDOWN_MARKDOWN_INLINE_H_
#define DOSSIER_CLI_MARKDOWN_MARKDOWN_INLINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/markdown/text_flow.h"

namespace dossier::cli {

// kShow: `**x**` is shown as written, for a terminal without styles.
enum class Markers : std::uint8_t { kHide, kShow };

// `text` is a piece of one paragraph that does not begin with white space; line ends are kept.
// `base` is added to every style.
std::vector<StyledText> RenderInline(std::string_view text, Markers markers,
                                     Style base = Style::kPlain);

// Detects whether the text so far has an open construct. This predicts md4c by a heuristic: if it
// is wrong, text is shown a little later, or with its markers.
class InlineScan {
 public:
  void Feed(char32_t code_point);
  // True between words (or after a wide character) if nothing is open.
  bool closed();

 private:
  void EndRun(char32_t next);

  char32_t before_run_ = U' ', run_ = 0, last_ = U' ';
  int run_length_ = 0;
  int open_stars_ = 0, open_lines_ = 0, open_tildes_ = 0, brackets_ = 0, code_ = 0;
  enum class Link : std::uint8_t { kNone, kAfterText, kTarget } link_ = Link::kNone;
  bool escaped_ = false;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MARKDOWN_MARKDOWN_INLINE_H_
