// The code in a reply: its last block, and the kinds of its words, for colours.
//
//   LastCodeBlock("Try:\n```sh\nmake\n```\n");      // "make\n"
//
// Thread-safety: pure functions; a CodeColors has one owner.

#ifndef DOSSIER_CLI_MARKDOWN_CODE_BLOCK_H_
#define DOSSIER_CLI_MARKDOWN_CODE_BLOCK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/markdown/text_flow.h"

namespace dossier::cli {

// The content of the last fenced block of `markdown`, with its line ends; a block that the text
// does not close ends with it. None if there is no block.
std::optional<std::string> LastCodeBlock(std::string_view markdown);

// Lines of one code block, cut into pieces with a style each: comments, texts in quotes, numbers,
// and words that languages keep to themselves. By the look of the text, so a language is never
// refused; of `language` only how comments begin is taken.
class CodeColors {
 public:
  explicit CodeColors(std::string_view language);

  // The pieces are `line` again, joined. A comment or text may go on in the next line.
  std::vector<StyledText> Line(std::string_view line);

 private:
  enum class Open : std::uint8_t { kNothing, kComment, kSingleQuotes, kDoubleQuotes };

  bool BeginsComment(std::string_view rest) const;
  // Up to the end of what is open; sets open_ to kNothing if that stands in `line`.
  std::size_t EndOfOpen(std::string_view line, std::size_t at);

  bool hash_ = true, slashes_ = true, dashes_ = false;
  Open open_ = Open::kNothing;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MARKDOWN_CODE_BLOCK_H_
