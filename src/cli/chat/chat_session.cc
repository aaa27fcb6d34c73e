#include "cli/chat/chat_session.h"

#include <unistd.h>

#include <atomic>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/markdown/code_block.h"
#include "cli/terminal/terminal_filter.h"
#include "cli/terminal/waiting_line.h"
#include "cli/wiring/attachments.h"

namespace dossier::cli {
namespace {

std::string Dim(const Terminal& terminal, std::string text) {
  if (terminal.err == Terminal::Kind::kPipe || terminal.color == Terminal::Color::kNo) return text;
  return fmt::format("\x1b[2m{}\x1b[0m", text);
}

// Where a turn's text and notes go. A note ends the reply's line first, so that both stay whole.
class SessionSink final : public ChatSink {
 public:
  SessionSink(const ChatSessionOptions& options, std::ostream& out, std::ostream& err,
              std::string_view model)
      : terminal_(options.terminal),
        view_(MakeReplyView(options.markdown, options.terminal, out)),
        waiting_(options.terminal, err),
        err_(err),
        model_(model) {
    waiting_.Start(model_);
  }

  void OnText(std::string_view delta) override {
    std::lock_guard lock(mutex_);
    if (delta.empty()) return;
    waiting_.Stop();
    view_->Write(delta);
    text_ += delta;
    text_open_ = true;
  }

  void OnNote(std::string_view line) override {
    std::lock_guard lock(mutex_);
    waiting_.Stop();
    EndText();
    err_ << Own(Dim(terminal_, SafeMessage(line))) << "\n" << std::flush;
    waiting_.Start(model_);
  }

  // Returns the whole text.
  std::string End() {
    std::lock_guard lock(mutex_);
    waiting_.Stop();
    EndText();
    return text_;
  }

 private:
  void EndText() {
    if (std::exchange(text_open_, false)) view_->End();
  }

  const Terminal terminal_;
  const std::unique_ptr<ReplyView> view_;
  WaitingLine waiting_;
  std::ostream& err_;
  const std::string model_;
  std::mutex mutex_;
  bool text_open_ = false;
  std::string text_;
};

}  // namespace

ChatSession::ChatSession(ChatSessionOptions options, ChatDriver& driver, LineReader& reader,
                         DivertInterrupts interrupts, std::ostream& out, std::ostream& err)
    : options_(std::move(options)),
      driver_(driver),
      reader_(reader),
      interrupts_(std::move(interrupts)),
      out_(out),
      err_(err) {}

int ChatSession::Run(const CancelToken& cancel) {
  cancel_ = cancel;
  IgnoreInterrupts();
  const int code = Loop();
  if (interrupts_) interrupts_({});
  return code;
}

// Between turns Ctrl-C is a key of the line reader; one that is a moment late must end nothing.
void ChatSession::IgnoreInterrupts() {
  if (interrupts_) interrupts_([] {});
}

int ChatSession::Loop() {
  Note(fmt::format("{}{}{} · /help lists commands, Ctrl-D leaves", driver_.model(),
                   driver_.conversation().empty() ? "" : " · ", driver_.conversation()));
  bool warned = false;  // the next Ctrl-C on an empty line leaves
  while (!cancel_.cancelled() && out_.good()) {
    const Result<Line> line = ReadMessage(reader_, PromptNow(), MessageEnd::kLine);
    if (!line) return PrintError(err_, line.error());
    if (line->kind == Line::Kind::kEnd) return 0;
    if (cancel_.cancelled()) break;
    if (line->kind == Line::Kind::kInterrupted) {
      const bool empty = line->was == Line::Was::kEmpty;
      if (warned && empty) return 130;
      if (empty) Note("(Ctrl-C again or Ctrl-D leaves)");
      warned = empty;
      continue;
    }
    warned = false;
    if (TrimSpace(line->text).empty()) continue;
    reader_.Remember(line->text);
    const Next next = Handle(line->text);
    if (next != Next::kGoOn) return next == Next::kLeave ? 0 : 130;
  }
  return 0;
}

LinePrompt ChatSession::PromptNow() const {
  const std::string id = driver_.conversation();
  std::string right = Safe(driver_.model());
  if (!id.empty()) right += " · " + id;
  // Beside a prompt that leaves room to type.
  if (static_cast<int>(right.size()) > ColumnsNow(options_.terminal) / 2) right.clear();
  return {.text = "> ", .right = std::move(right)};
}

void ChatSession::Note(std::string_view line) {
  err_ << Own(Dim(options_.terminal, SafeMessage(line))) << "\n" << std::flush;
}

void ChatSession::ShowResult(const Result<std::string>& result) {
  if (!result) {
    PrintError(err_, result.error());
    return;
  }
  if (result->empty()) return;
  err_ << SafeMessage(*result) << (result->ends_with('\n') ? "" : "\n") << std::flush;
}

ChatSession::Next ChatSession::Handle(const std::string& text) {
  const Result<ChatInput> input = ParseChatInput(text);
  if (!input) {
    PrintError(err_, input.error());
    return Next::kGoOn;
  }
  return input->command == SlashCommand::kPrompt ? SendMessage(input->argument)
                                                 : RunCommand(*input);
}

ChatSession::Next ChatSession::RunCommand(const ChatInput& input) {
  const std::string& argument = input.argument;
  switch (input.command) {
    case SlashCommand::kPrompt:
      return SendMessage(argument);
    case SlashCommand::kExit:
      return Next::kLeave;
    case SlashCommand::kHelp:
      ShowResult(SlashHelp());
      break;
    case SlashCommand::kContext:
      ShowResult(driver_.Context());
      break;
    case SlashCommand::kTokens:
      ShowResult(driver_.Tokens());
      break;
    case SlashCommand::kUsage:
      ShowResult(driver_.Usage());
      break;
    case SlashCommand::kModel:
      ShowResult(argument.empty() ? Result<std::string>(driver_.model())
                                  : driver_.SetModel(argument));
      break;
    case SlashCommand::kExec:
      exec_.push_back(argument);
      Note(fmt::format("runs with your next message: {}", argument));
      break;
    case SlashCommand::kCopy:
      Copy(argument);
      break;
    case SlashCommand::kEdit:
      return EditAndSend();
    case SlashCommand::kMulti:
      Note("end with a line that holds only a dot");
      return ReadAndSend(MessageEnd::kDot);
    case SlashCommand::kRetry:
      // What never reached the model is the last message, not the turn before it.
      if (!unsent_.empty()) return SendMessage(std::exchange(unsent_, {}));
      return Turn([this](ChatSink& sink, const CancelToken& cancel) {
        return driver_.Retry(sink, cancel);
      });
    case SlashCommand::kUndo:
      return Work([this](const CancelToken& cancel) { return driver_.Undo(cancel); });
    case SlashCommand::kFork:
      return Work([&](const CancelToken& cancel) { return driver_.Fork(argument, cancel); });
    case SlashCommand::kSave:
      return Work([&](const CancelToken& cancel) { return driver_.Save(argument, cancel); });
    case SlashCommand::kRefresh:
      return Work([this](const CancelToken& cancel) { return driver_.Refresh(cancel); });
    case SlashCommand::kCompact:
      return Work([this](const CancelToken& cancel) { return driver_.Compact(cancel); });
  }
  return Next::kGoOn;
}

ChatSession::Next ChatSession::ReadAndSend(MessageEnd end) {
  const Result<Line> message = ReadMessage(reader_, {.text = "… ", .right = {}}, end);
  if (!message) {
    PrintError(err_, message.error());
    return Next::kGoOn;
  }
  if (message->kind != Line::Kind::kText || TrimSpace(message->text).empty()) return Next::kGoOn;
  reader_.Remember(message->text);
  return SendMessage(message->text);
}

ChatSession::Next ChatSession::EditAndSend() {
  if (!options_.edit) {
    Note("/edit needs a terminal");
    return Next::kGoOn;
  }
  const Result<std::string> message = options_.edit("");
  if (!message) {
    PrintError(err_, message.error());
    return Next::kGoOn;
  }
  if (TrimSpace(*message).empty()) {
    Note("nothing to send");
    return Next::kGoOn;
  }
  reader_.Remember(*message);
  // What is sent came from outside the terminal: it is shown.
  err_ << SafeMessage(*message) << "\n\n" << std::flush;
  return SendMessage(*message);
}

// By OSC 52, which terminals, and those on other machines, hand to the clipboard.
void ChatSession::Copy(std::string_view what) {
  if (reply_.empty()) return Note("there is no reply to copy yet");
  const auto code = what.empty() ? std::optional<std::string>(reply_) : LastCodeBlock(reply_);
  if (!code) return Note("the last reply holds no code block");
  if (options_.terminal.err != Terminal::Kind::kTerminal) return Note("/copy needs a terminal");
  err_ << Own(fmt::format("\x1b]52;c;{}\x07", Base64(*code))) << std::flush;
  Note(fmt::format("copied: {} characters (if the terminal lets programs set its clipboard)",
                   GroupDigits(utf8::CodePoints(*code))));
}

ChatSession::Next ChatSession::SendMessage(std::string text) {
  // A text of many lines came from somewhere else: what it names is nothing that was typed.
  const bool typed =
      options_.mentions == ChatSessionOptions::Mentions::kFiles && text.find('\n') == text.npos;
  const ChatMessage message{.text = text,
                            .exec = exec_,
                            .files = typed ? MentionedFiles(text) : std::vector<std::string>()};
  bool failed = false;
  const Next next = Turn([&](ChatSink& sink, const CancelToken& cancel) {
    ChatTurn turn = driver_.Send(message, sink, cancel);
    failed = turn.end == ChatTurn::End::kFailed;
    // A failed turn leaves them for the next try.
    if (!failed) exec_.clear();
    return turn;
  });
  // Before the first word nothing is saved.
  unsent_ = failed && !text_came_ ? std::move(text) : std::string();
  return next;
}

ChatSession::Next ChatSession::Turn(
    const std::function<ChatTurn(ChatSink&, const CancelToken&)>& run) {
  SessionSink sink(options_, out_, err_, driver_.model());
  ChatTurn turn;
  const Next next = Interruptible([&](const CancelToken& cancel) { turn = run(sink, cancel); });
  std::string text = sink.End();
  text_came_ = !text.empty();
  if (text_came_) reply_ = std::move(text);
  for (const std::string& warning : turn.warnings) PrintWarning(err_, warning);
  if (turn.end == ChatTurn::End::kInterrupted) Note("(stopped; what came is kept as incomplete)");
  if (turn.error) PrintError(err_, *turn.error);
  if (options_.usage == ChatSessionOptions::Usage::kYes && !turn.usage.empty()) Note(turn.usage);
  if (next == Next::kGoOn && options_.terminal.err == Terminal::Kind::kTerminal) err_ << "\n";
  err_ << std::flush;
  return next;
}

ChatSession::Next ChatSession::Work(
    const std::function<Result<std::string>(const CancelToken&)>& run) {
  Result<std::string> result;
  WaitingLine waiting(options_.terminal, err_);
  waiting.Start("working");
  const Next next = Interruptible([&](const CancelToken& cancel) { result = run(cancel); });
  waiting.Stop();
  ShowResult(result);
  return next;
}

ChatSession::Next ChatSession::Interruptible(const std::function<void(const CancelToken&)>& run) {
  CancelSource stop(cancel_);
  HeldInput held(options_.input);
  std::atomic<int> presses = 0;
  if (interrupts_) {
    interrupts_([&] {
      // The third: even what saves the reply is stuck.
      if (++presses > 2) {
        held.Release();
        _exit(130);
      }
      stop.Cancel("interrupted");
    });
  }
  run(stop.token());
  IgnoreInterrupts();
  return presses > 1 ? Next::kLeaveInterrupted : Next::kGoOn;
}

}  // namespace dossier::cli
