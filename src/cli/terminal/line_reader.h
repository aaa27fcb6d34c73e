// The source of a chat session's lines: a user with an editor, a pipe, or a test's script.
//
//   DOSSIER_ASSIGN_OR_RETURN(const InputLine line, reader.Read({.text = "> "}));
//   if (line.kind == InputLine::Kind::kEnd) return;         // Ctrl-D on an empty line
//
// Thread-safety: one reader, one thread.

#ifndef DOSSIER_CLI_TERMINAL_LINE_READER_H_
#define DOSSIER_CLI_TERMINAL_LINE_READER_H_

#include <termios.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/files/descriptor_lines.h"
#include "base/result.h"

namespace dossier::cli {

struct InputLine {
  enum class Kind { kText, kInterrupted, kEnd } kind = Kind::kText;  // kInterrupted: Ctrl-C
  std::string text;  // without the line end; a paste may have several lines
  // For kInterrupted: whether the line had text to clear.
  enum class Was { kEmpty, kFilled } was = Was::kEmpty;
};

struct LinePrompt {
  std::string text = "> ";
  std::string right;  // shown at the right edge if there is room; may be empty
};

class LineReader {
 public:
  virtual ~LineReader() = default;
  // Errors: kIo.
  virtual Result<InputLine> Read(const LinePrompt& prompt) = 0;
  // Adds a message to the history.
  virtual void Remember(std::string_view message) = 0;
};

// Reads lines from a descriptor that is not a terminal: no prompt, no history. A cancelled token
// ends the wait at once, as Ctrl-C ends a program that reads a pipe.
class PlainLineReader final : public LineReader {
 public:
  static constexpr std::size_t kMaxLine = 16 << 20;  // bytes

  // The caller keeps `fd`.
  PlainLineReader(int fd, const CancelToken& cancel) : lines_(fd, cancel, kMaxLine) {}
  // Returns kInterrupted once cancelled. Errors: kTooLong for a line above kMaxLine; kIo.
  Result<InputLine> Read(const LinePrompt& prompt) override;
  void Remember(std::string_view message) override;

 private:
  DescriptorLines lines_;
};

// The end of a message of several lines.
enum class MessageEnd {
  kLine,  // a line that does not end in a backslash
  kDot,   // a line with only a dot, or the end of input
};

// Reads the lines of one message, joined by "\n". An interrupt discards them.
Result<InputLine> ReadMessage(LineReader& reader, const LinePrompt& prompt, MessageEnd end);

// Holds what a user types while work runs: it goes to the next prompt instead of being shown in the
// middle of the output.
//
//   HeldInput held(HeldInput::When::kAtTerminal);
//   …                                              // Ctrl-C still raises its signal
//   held.Release();                                // or the end of its life
//
// Ownership: changes the terminal of descriptor 0 and restores it. Thread-safety: Release may be
// called from any thread, also twice.

class HeldInput {
 public:
  enum class When { kNever, kAtTerminal };

  explicit HeldInput(When when);
  ~HeldInput() { Release(); }
  HeldInput(const HeldInput&) = delete;
  HeldInput& operator=(const HeldInput&) = delete;

  void Release();

 private:
  termios before_{};
  std::atomic<bool> holding_ = false;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_LINE_READER_H_
