// Code in a reply: finds its last block, and colours words by kind.
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

// Returns the content of the last fenced block of `markdown`, including line ends; an unclosed
// block ends with the text. nullopt if there is no block.
std::optional<std::string> LastCodeBlock(std::string_view markdown);

// Splits the lines of a code block into styled pieces: comments, quoted texts, numbers, and words
// that many languages reserve. It only looks at the text, so every language works; `language` only
// decides how comments begin.
class CodeColors {
 public:
  explicit CodeColors(std::string_view language);

  // Returns pieces that joined give `line`. A comment or quoted text may continue on the next line.
  std::vector<StyledText> Line(std::string_view line);

 private:
  enum class Open : std::uint8_t { kNothing, kComment, kSingleQuotes, kDoubleQuotes };

  bool BeginsComment(std::string_view rest) const;
  // Returns the end of the open comment or text; sets open_ to kNothing if that is in `line`.
  std::size_t EndOfOpen(std::string_view line, std::size_t at);

  bool hash_ = true, slashes_ = true, dashes_ = false;
  Open open_ = Open::kNothing;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MARKDOWN_CODE_BLOCK_H_
