#include "cli/chat/chat_command.h"

#include <unistd.h>

#include "cli/chat/chat_output.h"
#include "cli/chat/chat_session.h"
#include "cli/chat/chat_setup.h"
#include "cli/chat/conversation_driver.h"
#include "cli/chat/edit_message.h"
#include "cli/terminal/line_editor.h"
#include "cli/terminal/terminal.h"
#include "cli/wiring/prompt_input.h"
#include "cli/wiring/schema_choice.h"

namespace dossier::cli {
namespace {

using chat::TurnOutcome;

ChatOutput::Form FormOf(const ChatArguments& arguments) {
  if (arguments.json) return ChatOutput::Form::kJson;
  return arguments.jsonl ? ChatOutput::Form::kJsonLines : ChatOutput::Form::kText;
}

// What --validate-schema says.
Json SchemaJson(const model::FoundSchema& found) {
  JsonObject json{{"schema", 1}};
  for (auto& [key, value] : model::OutlineSchema(found.schema)) json[key] = std::move(value);
  json["warnings"] = JsonArray(found.warnings.begin(), found.warnings.end());
  return json;
}

// One run of the command.
class ChatRun {
 public:
  ChatRun(const ChatArguments& arguments, const GlobalFlags& global, Interrupt& interrupt,
          std::ostream& out, std::ostream& err)
      : arguments_(arguments),
        global_(global),
        interrupt_(interrupt),
        cancel_(interrupt.token()),
        terminal_(Terminal::Detect(ParseColorWish(global.color))),
        out_(out),
        err_(err) {}

  Result<int> Run() {
    DOSSIER_RETURN_IF_ERROR(CheckChatFlags(arguments_));
    if (IsSession()) arguments_.interactive = true;
    // Before anything starts: a project that is not trusted must change nothing.
    DOSSIER_ASSIGN_OR_RETURN(config::Config config, LoadConfig(global_, {}, err_));
    early_ = config.warnings;
    if (arguments_.validate_schema) return ShowSchema(config);
    const bool stream = arguments_.stream.value_or(
        config.stream.value_or(terminal_.out == Terminal::Kind::kTerminal));
    if (arguments_.interactive) return RunSession(std::move(config), stream);
    DOSSIER_ASSIGN_OR_RETURN(std::string prompt, ReadPrompt(config.mode));
    const bool raw = arguments_.raw.value_or(config.raw_response);
    DOSSIER_ASSIGN_OR_RETURN(const auto setup,
                             ChatSetup::Make(
                                 arguments_, global_, std::move(config),
                                 [this](std::string_view line) { SayOfSetup(line); }, cancel_));
    if (setup->id_is_new()) Say("conversation: " + setup->id(), Prefix::kNo);
    ChatOutput output(OutputOptions(stream, raw, *setup), cancel_, out_, err_);
    output.ReportEarlier(early_);
    TurnOutcome outcome =
        setup->chat().Send(setup->RequestFor(std::move(prompt)), output, output.token());
    outcome.warnings.insert(outcome.warnings.begin(), early_.begin(), early_.end());
    return output.Finish(outcome);
  }

  // What was said before the turn began: it belongs into the JSON of its end, however that comes.
  const std::vector<std::string>& early_warnings() const { return early_; }

 private:
  enum class Prefix { kYes, kNo };

  // No PROMPT, a person at both ends, and nothing that asks for one answer.
  bool IsSession() const {
    const ChatArguments& given = arguments_;
    if (given.interactive) return true;
    const bool one_answer = given.prompt || given.json || given.jsonl || given.dry_run ||
                            given.explain_context || given.resume_turn || given.validate_schema ||
                            given.raw.value_or(false);
    return !one_answer && !global_.no_input && !global_.no_stdin && AtTerminal();
  }

  static bool AtTerminal() { return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }

  Result<int> RunSession(config::Config config, bool stream) {
    const std::string history = arguments_.no_save ? "" : config.user.state + "/chat_history";
    std::unique_ptr<ConversationDriver> driver;
    const auto say = [&](std::string_view line) {
      if (!driver || !driver->Tell(line)) Say(line);
    };
    DOSSIER_ASSIGN_OR_RETURN(const auto setup,
                             ChatSetup::Make(arguments_, global_, std::move(config), say, cancel_));
    using Stream = ConversationDriver::Stream;
    DOSSIER_ASSIGN_OR_RETURN(driver,
                             ConversationDriver::Make(*setup, stream ? Stream::kYes : Stream::kNo));
    if (const auto editor = MakeEditor(history)) {
      const auto divert = [this](std::function<void()> handler) {
        interrupt_.Divert(std::move(handler));
      };
      return ChatSession(SessionOptions(*setup), *driver, *editor, divert, out_, err_).Run(cancel_);
    }
    PlainLineReader lines(STDIN_FILENO, cancel_);
    return ChatSession(SessionOptions(*setup), *driver, lines, {}, out_, err_).Run(cancel_);
  }

  // Null where there is no terminal to edit on.
  std::unique_ptr<LineReader> MakeEditor(const std::string& history) const {
    if (!AtTerminal()) return nullptr;
    auto editor = LineEditor::Make({.history = history,
                                    .complete = CompleteSlash,
                                    .color = terminal_.color,
                                    .cancel = cancel_});
    if (editor) return std::move(*editor);
    PrintWarning(err_, editor.error().message);
    return nullptr;
  }

  ChatSessionOptions SessionOptions(const ChatSetup& setup) const {
    ChatSessionOptions options{.terminal = terminal_, .markdown = MarkdownOf(setup)};
    if (arguments_.usage) options.usage = ChatSessionOptions::Usage::kYes;
    if (AtTerminal()) options.edit = EditMessage;
    // The waiting line would write over a question.
    if (setup.asks()) options.terminal.err = Terminal::Kind::kPipe;
    return options;
  }

  // JSON stays as it is.
  MarkdownMode MarkdownOf(const ChatSetup& setup) const {
    const auto mode = ParseMarkdownMode(arguments_.markdown);  // a word that the parser let in
    return setup.schema() ? MarkdownMode::kOff : mode.value_or(MarkdownMode::kAuto);
  }

  void SayOfSetup(std::string_view line) {
    constexpr std::string_view kWarning = "warning: ";
    if (line.starts_with(kWarning)) early_.emplace_back(line.substr(kWarning.size()));
    Say(line);
  }

  void Say(std::string_view line, Prefix prefix = Prefix::kYes) const {
    if (global_.quiet && prefix == Prefix::kYes) return;
    err_ << (prefix == Prefix::kYes ? "dossier: " : "") << line << "\n" << std::flush;
  }

  ChatOutput::Options OutputOptions(bool stream, bool raw, const ChatSetup& setup) const {
    using Options = ChatOutput::Options;
    Options options{.form = FormOf(arguments_),
                    .terminal = terminal_,
                    .markdown = raw ? MarkdownMode::kOff : MarkdownOf(setup)};
    if (stream) options.live = ChatOutput::Live::kYes;
    if (global_.quiet) options.quiet = ChatOutput::Quiet::kYes;
    if (arguments_.usage) options.usage = Options::Usage::kYes;
    if (!setup.id().empty()) options.kept = Options::Kept::kConversation;
    if (raw) options.shown = ChatOutput::Shown::kRaw;
    if (arguments_.dry_run) options.shown = ChatOutput::Shown::kRequest;
    if (arguments_.explain_context) {
      options.shown = arguments_.dry_run ? ChatOutput::Shown::kRequestAndTable
                                         : ChatOutput::Shown::kContextTable;
    }
    return options;
  }

  Result<std::string> ReadPrompt(config::Mode mode) {
    if (arguments_.resume_turn) return std::string();
    DOSSIER_ASSIGN_OR_RETURN(const auto timeout, StdinTimeout(global_));
    StdinStream in;
    PromptRequest request{.prompt = arguments_.prompt, .timeout = timeout};
    if (global_.no_stdin) request.stdin_use = PromptRequest::Stdin::kNever;
    if (mode == config::Mode::kCompat) request.trim = PromptRequest::Trim::kBothEnds;
    const auto warn = [this](std::string_view text) {
      early_.emplace_back(text);
      PrintWarning(err_, text);
    };
    DOSSIER_ASSIGN_OR_RETURN(PromptInput input, ReadPromptInput(request, in, warn, cancel_));
    if (input.text.empty()) {
      return MakeError(ErrorCode::kUsage,
                       "chat: there is no PROMPT and nothing on stdin: dossier chat \"PROMPT\"");
    }
    return std::move(input.text);
  }

  Result<int> ShowSchema(const config::Config& config) {
    DOSSIER_ASSIGN_OR_RETURN(
        const auto schema, ChooseSchema({.text = arguments_.schema, .file = arguments_.schema_file},
                                        config, global_, cancel_));
    if (!schema) {
      return MakeError(ErrorCode::kNotFound,
                       "--validate-schema: there is no schema; give --json-schema or "
                       "--json-schema-file");
    }
    for (const std::string& warning : schema->warnings) PrintWarning(err_, warning);
    if (FormOf(arguments_) == ChatOutput::Form::kText) {
      out_ << model::DescribeSchema(schema->schema) << std::flush;
    } else {
      out_ << ToJson(SchemaJson(*schema)) << "\n" << std::flush;
    }
    return 0;
  }

  ChatArguments arguments_;
  const GlobalFlags& global_;
  Interrupt& interrupt_;
  const CancelToken cancel_;
  const Terminal terminal_;
  std::ostream& out_;
  std::ostream& err_;
  std::vector<std::string> early_;
};

}  // namespace

int RunChat(const ChatArguments& arguments, const GlobalFlags& global, Interrupt& interrupt,
            std::ostream& out, std::ostream& err) {
  ChatRun run(arguments, global, interrupt, out, err);
  const Result<int> code = run.Run();
  if (code) return *code;
  return PrintFailure(code.error(), FormOf(arguments), run.early_warnings(), out, err);
}

}  // namespace dossier::cli
