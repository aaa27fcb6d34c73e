// The interactive `dossier chat`: reads lines, sends them, shows replies.
//
//   ChatSession session({.terminal = Terminal::Detect()}, driver, *editor, interrupts, out, err);
//   return session.Run(cancel);
//
// Ctrl-C stops a reply (the driver saves the partial text); a second one before it ends exits with
// 130. At the prompt it clears the line; twice on an empty line exits. Ctrl-D exits with 0. Without
// a terminal there is no prompt to return to: `interrupts` is empty, and Ctrl-C cancels the
// session, like SIGTERM. Replies go to `out`, the rest to `err`. Ownership: everything passed in
// must outlive the session. Thread-safety: one thread; a driver may call its sink from others.

#ifndef DOSSIER_CLI_CHAT_CHAT_SESSION_H_
#define DOSSIER_CLI_CHAT_CHAT_SESSION_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "cli/chat/chat_driver.h"
#include "cli/markdown/markdown_view.h"
#include "cli/terminal/line_reader.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"

namespace dossier::cli {

// The commands that a person types into `dossier chat`. The parser, /help and completion use one
// table.
//
//   auto input = ParseChatInput("/model gpt-4o");
//   if (!input) Show(input.error());   // "unknown command /modle; did you mean /model?"
//   if (input->command == SlashCommand::kModel) Use(input->argument);   // "gpt-4o"
//   if (input->command == SlashCommand::kPrompt) Send(input->argument);
//
// Thread-safety: pure functions.

enum class SlashCommand : std::uint8_t {
  kPrompt,  // not a command: text for the model
  kHelp,
  kExit,
  kContext,
  kRefresh,
  kTokens,
  kUsage,
  kModel,
  kExec,
  kCopy,
  kEdit,
  kMulti,
  kUndo,
  kRetry,
  kFork,
  kSave,
  kCompact,
};

struct ChatInput {
  SlashCommand command = SlashCommand::kPrompt;
  std::string argument;  // the text after the name, or the prompt itself
};

// A line that begins with `/` is a command, with `//` a prompt that begins with `/`; anything else
// is a prompt, as typed. A text of several lines is a prompt unless it begins with a known command.
//
// Errors: kUsage for an unknown command (naming the nearest), a missing argument, or an argument
// that the command does not take.
Result<ChatInput> ParseChatInput(std::string_view text);

// Returns the lines of /help.
std::string SlashHelp();

// Returns the commands that begin with `typed`, in table order: "/ex" -> {"/exit", "/exec"}.
std::vector<std::string> CompleteSlash(std::string_view typed);

// Also completes names after a command that takes one, and files after an @ that begins the last
// word. Each result is the whole text with the last word completed.
std::vector<std::string> CompleteTyped(std::string_view typed, const CompletionContext& context);

// Routes Ctrl-C to `handler`, on another thread, until it is called with an empty handler.
using DivertInterrupts = std::function<void(std::function<void()> handler)>;

struct ChatSessionOptions {
  enum class Usage { kNo, kYes };  // kYes: the usage line after each turn (-u)

  Terminal terminal;
  MarkdownMode markdown = MarkdownMode::kAuto;
  Usage usage = Usage::kNo;
  HeldInput::When input = HeldInput::When::kNever;  // while a turn runs
  // kFiles: an @ before a file name attaches the file. Only for input typed by a person, since
  // lines from a pipe may come from anybody.
  enum class Mentions { kText, kFiles } mentions = Mentions::kText;
  std::function<Result<std::string>(std::string_view)> edit;  // for /edit; empty: not available
};

class ChatSession {
 public:
  ChatSession(ChatSessionOptions options, ChatDriver& driver, LineReader& reader,
              DivertInterrupts interrupts, std::ostream& out, std::ostream& err);

  // Runs until the person leaves. Returns the exit code: 0, 130 after Ctrl-C twice, else that of an
  // error. `cancel` (SIGTERM) ends it, too.
  int Run(const CancelToken& cancel);

 private:
  enum class Next { kGoOn, kLeave, kLeaveInterrupted };

  int Loop();
  void IgnoreInterrupts();
  Next Handle(const std::string& text);
  Next RunCommand(const ChatInput& input);
  Next SendMessage(std::string text);
  void Copy(std::string_view what);
  Next ReadAndSend(MessageEnd end);
  Next EditAndSend();
  // Runs one turn: waiting line, reply view, Ctrl-C.
  Next Turn(const std::function<ChatTurn(ChatSink&, const CancelToken&)>& run);
  // Runs any other driver call that may take long.
  Next Work(const std::function<Result<std::string>(const CancelToken&)>& run);
  Next Interruptible(const std::function<void(const CancelToken&)>& run);
  void ShowResult(const Result<std::string>& result);
  void Note(std::string_view line);
  LinePrompt PromptNow() const;

  const ChatSessionOptions options_;
  ChatDriver& driver_;
  LineReader& reader_;
  const DivertInterrupts interrupts_;
  std::ostream& out_;
  std::ostream& err_;
  CancelToken cancel_;
  std::vector<std::string> exec_;  // from /exec, for the next message
  std::string unsent_;             // the last message, if it failed before any text arrived
  bool text_came_ = false;         // in the last turn
  std::string reply_;              // the last reply, for /copy
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_CHAT_SESSION_H_
