// Where a chat session gets its lines from: a person with an editor, a pipe, or a test's script.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Line line, reader.Read({.text = "> "}));
//   if (line.kind == Line::Kind::kEnd) return;         // Ctrl-D on an empty line
//
// Thread-safety: one reader, one thread.

#ifndef DOSSIER_CLI_LINE_READER_H_
#define DOSSIER_CLI_LINE_READER_H_

#include <istream>
#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier::cli {

struct Line {
  enum class Kind { kText, kInterrupted, kEnd } kind = Kind::kText;  // kInterrupted: Ctrl-C
  std::string text;  // without the line end; a paste may hold several lines
  // kInterrupted: whether there was something to clear.
  enum class Was { kEmpty, kFilled } was = Was::kEmpty;
};

struct LinePrompt {
  std::string text = "> ";
  std::string right;  // at the right edge, where there is room; may be empty
};

class LineReader {
 public:
  virtual ~LineReader() = default;
  // Errors: kIo.
  virtual Result<Line> Read(const LinePrompt& prompt) = 0;
  // Puts a message into the history.
  virtual void Remember(std::string_view message) = 0;
};

// Lines of a stream that is no terminal: no prompt, no history.
class PlainLineReader final : public LineReader {
 public:
  explicit PlainLineReader(std::istream& in) : in_(in) {}
  Result<Line> Read(const LinePrompt& prompt) override;
  void Remember(std::string_view message) override;

 private:
  std::istream& in_;
};

// What ends a message of several lines.
enum class MessageEnd {
  kLine,  // a line that does not end in a backslash
  kDot,   // a line with only a dot, or the end of input
};

// The lines of one message, joined by "\n". An interrupt drops what was read.
Result<Line> ReadMessage(LineReader& reader, const LinePrompt& prompt, MessageEnd end);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_LINE_READER_H_
