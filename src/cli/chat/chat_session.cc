#include "cli/chat/chat_session.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <span>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/markdown/code_block.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/prompt_input.h"
#include "cli/wiring/value_kinds.h"

namespace dossier::cli {
namespace {

std::string Dim(const Terminal& terminal, std::string text) {
  if (terminal.err == Terminal::Kind::kPipe || terminal.color == Terminal::Color::kNo) return text;
  return fmt::format("\x1b[2m{}\x1b[0m", text);
}

// Shows a turn's text and notes. A note first ends the reply's line, so that both stay intact.
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

// Between turns Ctrl-C is a key of the line reader; a slightly late one must end nothing.
void ChatSession::IgnoreInterrupts() {
  if (interrupts_) interrupts_([] {});
}

int ChatSession::Loop() {
  Note(fmt::format("{}{}{} · /help lists commands, Ctrl-D leaves", driver_.model(),
                   driver_.conversation().empty() ? "" : " · ", driver_.conversation()));
  bool warned = false;  // the next Ctrl-C on an empty line exits
  while (!cancel_.cancelled() && out_.good()) {
    const Result<InputLine> line = ReadMessage(reader_, PromptNow(), MessageEnd::kLine);
    if (!line) return PrintError(err_, line.error());
    if (line->kind == InputLine::Kind::kEnd) return 0;
    if (cancel_.cancelled()) break;
    if (line->kind == InputLine::Kind::kInterrupted) {
      const bool empty = line->was == InputLine::Was::kEmpty;
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
  // Shown beside a prompt only if that leaves space to type.
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
      // A message that never reached the model is the last message, not that of the turn before.
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
  const Result<InputLine> message = ReadMessage(reader_, {.text = "… ", .right = {}}, end);
  if (!message) {
    PrintError(err_, message.error());
    return Next::kGoOn;
  }
  if (message->kind != InputLine::Kind::kText || TrimSpace(message->text).empty())
    return Next::kGoOn;
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
  // The message came from outside the terminal, so it is shown.
  err_ << SafeMessage(*message) << "\n\n" << std::flush;
  return SendMessage(*message);
}

// Copies with OSC 52, which terminals, even remote ones, forward to the clipboard.
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
  // A text of many lines was pasted: file names in it were not typed on purpose.
  const bool typed =
      options_.mentions == ChatSessionOptions::Mentions::kFiles && text.find('\n') == text.npos;
  const ChatMessage message{.text = text,
                            .exec = exec_,
                            .files = typed ? MentionedFiles(text) : std::vector<std::string>()};
  bool failed = false;
  const Next next = Turn([&](ChatSink& sink, const CancelToken& cancel) {
    ChatTurn turn = driver_.Send(message, sink, cancel);
    failed = turn.end == ChatTurn::End::kFailed;
    // After a failed turn they stay for the next attempt.
    if (!failed) exec_.clear();
    return turn;
  });
  // Nothing is saved before the first word arrives.
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
      // On the third one even saving the reply is stuck.
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

namespace {

enum class Takes : std::uint8_t { kNothing, kOptional, kRequired };

struct Row {
  SlashCommand command;
  std::string_view name, argument;
  Takes takes;
  std::string_view about;
};

constexpr Row kTable[] = {
    {SlashCommand::kHelp, "/help", "", Takes::kNothing, "this list"},
    {SlashCommand::kExit, "/exit", "", Takes::kNothing, "leave; so do exit, quit and Ctrl-D"},
    {SlashCommand::kContext, "/context", "", Takes::kNothing,
     "the context commands: bytes, tokens, outcome"},
    {SlashCommand::kRefresh, "/refresh", "", Takes::kNothing,
     "run the context commands again and replace the frozen context"},
    {SlashCommand::kTokens, "/tokens", "", Takes::kNothing,
     "tokens of the next request, by section"},
    {SlashCommand::kUsage, "/usage", "", Takes::kNothing, "tokens and cost so far"},
    {SlashCommand::kModel, "/model", "[NAME]", Takes::kOptional,
     "use this model from now on; alone: say which one answers"},
    {SlashCommand::kExec, "/exec", "CMD", Takes::kRequired,
     "run CMD and put its output before your next message"},
    {SlashCommand::kCopy, "/copy", "[code]", Takes::kOptional,
     "the last reply to the clipboard; code: its last code block"},
    {SlashCommand::kEdit, "/edit", "", Takes::kNothing, "write the message in $VISUAL or $EDITOR"},
    {SlashCommand::kMulti, "/multi", "", Takes::kNothing,
     "a message of several lines, up to a line with only a dot"},
    {SlashCommand::kUndo, "/undo", "", Takes::kNothing, "remove the last turn"},
    {SlashCommand::kRetry, "/retry", "", Takes::kNothing, "ask the last message again"},
    {SlashCommand::kFork, "/fork", "[ID]", Takes::kOptional,
     "go on in a copy, this one stays as it is"},
    {SlashCommand::kSave, "/save", "ID", Takes::kRequired, "keep the conversation under this id"},
    {SlashCommand::kCompact, "/compact", "", Takes::kNothing,
     "shorten the view of old turns; the file keeps all"},
};

const Row* FindRow(std::string_view name) {
  const auto* found = std::ranges::find(kTable, name, &Row::name);
  return found == std::end(kTable) ? nullptr : found;
}

tl::unexpected<Error> Unknown(std::string_view name) {
  std::vector<std::string> names;
  for (const Row& row : kTable) names.emplace_back(row.name);
  const std::vector<std::string> nearest = NearestNames(name, names, 1);
  if (!nearest.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "unknown command {}; did you mean {}? (//… is sent as text)", name,
                     nearest.front());
  }
  return MakeError(ErrorCode::kUsage, "unknown command {}; /help lists them (//… is sent as text)",
                   name);
}

}  // namespace

Result<ChatInput> ParseChatInput(std::string_view text) {
  if (text.starts_with("//")) return ChatInput{.argument = std::string(text.substr(1))};
  // As in every shell; a message that is just this word can be sent as //exit.
  if (const auto word = TrimSpace(text); word == "exit" || word == "quit") {
    return ChatInput{.command = SlashCommand::kExit};
  }
  if (!text.starts_with('/')) return ChatInput{.argument = std::string(text)};
  const std::string_view name = text.substr(0, text.find_first_of(" \t\r\n"));
  const std::string_view argument = TrimSpace(text.substr(name.size()));
  const Row* row = FindRow(name);
  // A pasted text that begins with a path is not a mistyped command.
  if (!row && text.find('\n') != std::string_view::npos) {
    return ChatInput{.argument = std::string(text)};
  }
  if (!row) return Unknown(name);
  if (row->takes == Takes::kNothing && !argument.empty()) {
    return MakeError(ErrorCode::kUsage, "{} takes no argument", name);
  }
  if (row->takes == Takes::kRequired && argument.empty()) {
    return MakeError(ErrorCode::kUsage, "{} needs an argument: {} {}", name, name, row->argument);
  }
  if (row->command == SlashCommand::kCopy && !argument.empty() && argument != "code") {
    return MakeError(ErrorCode::kUsage, "/copy {}: say code, or nothing", argument);
  }
  return ChatInput{.command = row->command, .argument = std::string(argument)};
}

std::string SlashHelp() {
  std::string help;
  for (const Row& row : kTable) {
    help += fmt::format("  {:<14} {}\n", fmt::format("{} {}", row.name, row.argument), row.about);
  }
  help +=
      "\n"
      "  A line that ends in \\ goes on in the next one. A paste is one message.\n"
      "  @FILE in a line sends that file with it: a text, an image, or an address.\n"
      "  //x sends /x. Ctrl-C stops a reply and keeps what came; twice, it leaves.\n";
  return help;
}

std::vector<std::string> CompleteSlash(std::string_view typed) {
  std::vector<std::string> names;
  if (!typed.starts_with('/')) return names;
  for (const Row& row : kTable) {
    if (row.name.starts_with(typed)) names.emplace_back(row.name);
  }
  return names;
}

namespace {

constexpr std::size_t kMostOffered = 200;

// Lists files and folders whose path begins with `start`; a folder ends in a slash to continue.
std::vector<std::string> PathsFrom(const std::string& start) {
  const std::size_t slash = start.rfind('/');
  const std::string folder = slash == start.npos ? "" : start.substr(0, slash + 1);
  const std::string name = start.substr(folder.size());
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string found = entry.path().filename().string();
    if (!found.starts_with(name) || (name.empty() && found.starts_with('.'))) continue;
    if (found.find(' ') != found.npos) continue;  // a space would end the mention
    std::error_code unknown;
    paths.push_back(folder + found + (entry.is_directory(unknown) ? "/" : ""));
    if (paths.size() == kMostOffered) break;
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

std::vector<std::string> CompleteTyped(std::string_view typed, const CompletionContext& context) {
  std::vector<std::string> out;
  const std::size_t word = typed.find_last_of(" \t") + 1;  // npos + 1 is 0
  if (typed.substr(word).starts_with('@')) {
    for (const std::string& path : PathsFrom(std::string(typed.substr(word + 1)))) {
      out.push_back(fmt::format("{}@{}", typed.substr(0, word), path));
    }
    return out;
  }
  const std::pair<std::string_view, const ValueKind&> kNames[] = {
      {"/model ", kModel}, {"/fork ", kConversation}, {"/save ", kConversation}};
  for (const auto& [command, kind] : kNames) {
    if (!typed.starts_with(command)) continue;
    const std::string_view start = typed.substr(command.size());
    for (const Completion& one : kind.offers(context)) {
      if (one.word.starts_with(start)) out.push_back(fmt::format("{}{}", command, one.word));
      if (out.size() == kMostOffered) break;
    }
    std::ranges::sort(out);
    return out;
  }
  return CompleteSlash(typed);
}

}  // namespace dossier::cli
