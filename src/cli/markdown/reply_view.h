// A model's reply on its way to stdout: as it is to a pipe, safe or rendered to a terminal.
//
//   auto view = MakeReplyView(MarkdownMode::kAuto, Terminal::Detect(), std::cout);
//   view->Write("The **disk** is");       // any chunks
//   view->Write(" full.");
//   view->End();                           // adds the final newline that is missing
//
// Pipe: exact bytes, unbuffered, no escapes. Terminal: control bytes show as ^[, also with
// --markdown off. Whatever the chunks, half a code point is never written. Ownership: the stream
// stays the caller's and outlives the view. Thread-safety: one caller at a time.

#ifndef DOSSIER_CLI_MARKDOWN_REPLY_VIEW_H_
#define DOSSIER_CLI_MARKDOWN_REPLY_VIEW_H_

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {

class ReplyView {
 public:
  virtual ~ReplyView() = default;
  // Flushes what can be shown.
  virtual void Write(std::string_view chunk) = 0;
  // The end of the reply; Write may begin a next one.
  virtual void End() = 0;
};

enum class MarkdownMode : std::uint8_t { kAuto, kOn, kOff };  // kAuto: on a terminal

// `word` as given to --markdown. Errors: kUsage with the words there are.
Result<MarkdownMode> ParseMarkdownMode(std::string_view word);

std::unique_ptr<ReplyView> MakeReplyView(MarkdownMode mode, const Terminal& terminal,
                                         std::ostream& out);

// Puts code points together again that chunks have cut.
class CodePointJoiner {
 public:
  // All whole code points so far; what is invalid stays as it is.
  std::string Take(std::string_view chunk);
  // What was left: an incomplete code point.
  std::string TakeRest();

 private:
  std::string held_;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MARKDOWN_REPLY_VIEW_H_
