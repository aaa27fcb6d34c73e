// chat: one turn with a model, stateless or in a stored conversation, or a session of many turns.

#include <unistd.h>

#include <algorithm>
#include <istream>

#include "cli/chat/chat_dialogs.h"
#include "cli/chat/chat_output.h"
#include "cli/chat/chat_session.h"
#include "cli/chat/chat_setup.h"
#include "cli/chat/conversation_driver.h"
#include "cli/chat/preset.h"
#include "cli/commands.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/line_editor.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/prompt_input.h"
#include "cli/wiring/server_tools.h"
#include "cli/wiring/shared_flags.h"
#include "cli/wiring/value_kinds.h"

namespace dossier::cli {
namespace {

using chat::TurnOutcome;

ChatOutput::Form FormOf(const ChatArguments& arguments) {
  if (arguments.json) return ChatOutput::Form::kJson;
  return arguments.jsonl ? ChatOutput::Form::kJsonLines : ChatOutput::Form::kText;
}

// Errors: kUsage, naming two flags that exclude each other.
Status CheckExclusions(const ChatArguments& arguments) {
  struct Pair {
    bool first, second;
    std::string_view names[2];
  };
  const bool schema = arguments.schema.text || !arguments.schema.file.empty();
  const bool named = arguments.conversation.has_value();
  const Pair pairs[] = {
      {arguments.raw.value_or(false), schema, {"--raw", "a JSON schema"}},
      {arguments.raw.value_or(false), arguments.json || arguments.jsonl, {"--raw", "--json"}},
      {arguments.read_only, arguments.fresh, {"--read-only", "--new"}},
      {arguments.fresh, named, {"--new", "--conversation"}},
      {arguments.fresh, arguments.last, {"--new", "--continue"}},
      {named, arguments.last, {"--conversation", "--continue"}},
      {arguments.json, arguments.jsonl, {"--json", "--jsonl"}},
      {arguments.compact, arguments.no_compact, {"--compact", "--no-compact"}},
      {arguments.schema.text.has_value(),
       !arguments.schema.file.empty(),
       {"--json-schema", "--json-schema-file"}},
      {arguments.system.has_value(), !arguments.system_file.empty(), {"--system", "--system-file"}},
      {!arguments.system_file.empty(), !arguments.role.empty(), {"--system-file", "--role"}},
      {arguments.pick, named, {"--pick", "--conversation"}},
      {arguments.pick, arguments.last, {"--pick", "--continue"}},
      {arguments.pick, arguments.fresh, {"--pick", "--new"}},
      {arguments.adopt, arguments.read_only, {"--adopt", "--read-only"}},
      {arguments.extract, arguments.json || arguments.jsonl, {"--extract", "--json"}},
      {arguments.extract, arguments.raw.value_or(false), {"--extract", "--raw"}},
      {arguments.extract, schema, {"--extract", "a JSON schema"}},
      {arguments.interactive, arguments.extract, {"--interactive", "--extract"}},
      {arguments.interactive, !arguments.preset.empty(), {"--interactive", "--template"}},
      {arguments.resume_turn, arguments.prompt.has_value(), {"--resume-turn", "a PROMPT"}},
      {arguments.resume_turn, arguments.read_only, {"--resume-turn", "--read-only"}},
      {arguments.resume_turn, arguments.fresh, {"--resume-turn", "--new"}},
      {arguments.no_save, arguments.fresh, {"--no-save", "--new"}},
      {arguments.no_save, arguments.resume_turn, {"--no-save", "--resume-turn"}},
      {arguments.interactive, arguments.prompt.has_value(), {"--interactive", "a PROMPT"}},
      {arguments.interactive, arguments.json || arguments.jsonl, {"--interactive", "--json"}},
      {arguments.interactive, arguments.raw.value_or(false), {"--interactive", "--raw"}},
      {arguments.interactive, arguments.resume_turn, {"--interactive", "--resume-turn"}},
      {arguments.interactive, arguments.dry_run, {"--interactive", "--dry-run"}},
      {arguments.interactive, arguments.explain_context, {"--interactive", "--explain-context"}},
  };
  for (const Pair& pair : pairs) {
    if (pair.first && pair.second) {
      return MakeError(ErrorCode::kUsage, "{} and {} exclude each other", pair.names[0],
                       pair.names[1]);
    }
  }
  return {};
}

// Checks which flags exclude or require each other. Errors: kUsage, naming the flags.
Status CheckChatFlags(const ChatArguments& arguments) {
  DOSSIER_RETURN_IF_ERROR(CheckExclusions(arguments));
  const bool named = arguments.conversation.has_value();
  const bool system = arguments.system || !arguments.system_file.empty() || !arguments.role.empty();
  if (arguments.replace_system && !system) {
    return MakeError(ErrorCode::kUsage,
                     "--replace-system requires --system, --system-file or --role");
  }
  if (arguments.adopt && arguments.model.model.empty()) {
    return MakeError(ErrorCode::kUsage, "--adopt requires -m: the model to adopt");
  }
  if (arguments.read_only && !named && !arguments.last && !arguments.pick) {
    return MakeError(ErrorCode::kUsage, "--read-only requires --conversation");
  }
  if (arguments.resume_turn && !named && !arguments.last) {
    return MakeError(ErrorCode::kUsage, "--resume-turn requires --conversation or --continue");
  }
  return {};
}

// Returns the output of --validate-schema.
Json SchemaJson(const model::FoundSchema& found) {
  JsonObject json{{"schema", 1}};
  for (auto& [key, value] : model::OutlineSchema(found.schema)) json[key] = std::move(value);
  json["warnings"] = JsonArray(found.warnings.begin(), found.warnings.end());
  return json;
}

// One run of the command.
class ChatRun {
 public:
  ChatRun(const ChatArguments& arguments, Context& context)
      : arguments_(arguments),
        global_(context.flags),
        interrupt_(*context.interrupt),
        cancel_(context.cancel),
        terminal_(Terminal::Detect(ParseColorWish(global_.color))),
        command_(context.command),
        in_(context.in),
        out_(context.out),
        err_(context.err) {}

  Result<int> Run() {
    DOSSIER_RETURN_IF_ERROR(CheckChatFlags(arguments_));
    if (IsSession()) arguments_.interactive = true;
    // Done before anything starts: an untrusted project must change nothing.
    DOSSIER_ASSIGN_OR_RETURN(config::Config config, LoadConfig(global_, {}, err_));
    early_ = config.warnings;
    if (arguments_.validate_schema) return ShowSchema(config);
    DOSSIER_ASSIGN_OR_RETURN(const bool picked, PickIfAsked(config));
    if (!picked) return 0;
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
    DOSSIER_RETURN_IF_ERROR(AskWhichModel(*setup));
    DOSSIER_ASSIGN_OR_RETURN(prompt, setup->PromptOf(std::move(prompt)));
    ChatOutput output(OutputOptions(stream, raw, *setup), cancel_, out_, err_);
    output.ReportEarlier(early_);
    const bool sends = !arguments_.dry_run && !arguments_.explain_context;
    if (sends) output.Wait(arguments_.model.model.empty() ? "working" : arguments_.model.model);
    output_ = &output;
    TurnOutcome outcome =
        setup->chat().Send(setup->RequestFor(std::move(prompt)), output, output.token());
    output_ = nullptr;
    outcome.warnings.insert(outcome.warnings.begin(), early_.begin(), early_.end());
    return output.Finish(outcome);
  }

  // Warnings from before the turn; they belong in its final JSON, however the turn ends.
  const std::vector<std::string>& early_warnings() const { return early_; }

 private:
  enum class Prefix { kYes, kNo };

  // No PROMPT, a person at both ends, and no flag that asks for a single answer.
  bool IsSession() const {
    const ChatArguments& given = arguments_;
    if (given.interactive) return true;
    const bool one_answer = given.prompt || given.json || given.jsonl || given.dry_run ||
                            given.explain_context || given.resume_turn || given.validate_schema ||
                            given.raw.value_or(false);
    return !one_answer && !global_.no_input && !global_.no_stdin && AtTerminal();
  }

  // Handles --pick: lets a person choose a conversation. Returns false if the person cancelled.
  Result<bool> PickIfAsked(const config::Config& config) {
    if (!arguments_.pick) return true;
    if (!MayAsk(global_)) {
      return MakeError(ErrorCode::kUsage,
                       "--pick asks on a terminal, and there is none; use --conversation ID");
    }
    const std::string folder = config.conversations.path;
    DOSSIER_ASSIGN_OR_RETURN(auto index, chat::Index::Open(folder, config.user.cache));
    DOSSIER_ASSIGN_OR_RETURN(auto list, index.List({.limit = 0, .since = ""}));
    std::erase_if(list, [](const auto& one) { return !one.problem.empty(); });
    if (list.empty()) {
      return MakeError(ErrorCode::kNotFound, "--pick: there is no conversation in {}", folder);
    }
    PlainLineReader plain(STDIN_FILENO, cancel_);
    const std::unique_ptr<LineReader> editor = MakeEditor("");
    bool interrupted = false;
    const auto read = [&](const std::string& prompt) -> std::optional<std::string> {
      if (!editor) err_ << prompt << std::flush;
      Result<InputLine> line = editor ? editor->Read({.text = prompt}) : plain.Read({});
      interrupted = line && line->kind == InputLine::Kind::kInterrupted;
      if (!line || line->kind != InputLine::Kind::kText) return std::nullopt;
      return std::move(line->text);
    };
    ForgetTyped(STDIN_FILENO);
    arguments_.conversation = PickConversation(list, ColumnsNow(terminal_), read, err_);
    if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel_.reason());
    if (interrupted) return MakeError(ErrorCode::kCancelled, "interrupted");
    arguments_.pick = false;
    return !arguments_.conversation->empty();
  }

  // Asks once per conversation and model whether the model becomes that of the conversation.
  Status AskWhichModel(ChatSetup& setup) const {
    const bool may_ask = MayAsk(global_) && !global_.quiet && !global_.yes;
    if (!may_ask || FormOf(arguments_) != ChatOutput::Form::kText) return {};
    DOSSIER_ASSIGN_OR_RETURN(const std::string own, setup.ModelInQuestion());
    if (own.empty()) return {};
    const std::string question = fmt::format(
        "the conversation's model is {}; is it {} from now on?", own, arguments_.model.model);
    DOSSIER_ASSIGN_OR_RETURN(const bool adopts, Confirm(global_, question, "--adopt", err_));
    if (adopts) setup.Adopt();
    return {};
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
    DOSSIER_RETURN_IF_ERROR(AskWhichModel(*setup));
    using Stream = ConversationDriver::Stream;
    DOSSIER_ASSIGN_OR_RETURN(driver,
                             ConversationDriver::Make(*setup, stream ? Stream::kYes : Stream::kNo));
    if (driver->opened_at_incomplete()) Say("the last reply is incomplete; /retry asks again");
    if (const auto editor = MakeEditor(history)) {
      const auto divert = [this](std::function<void()> handler) {
        interrupt_.Divert(std::move(handler));
      };
      return ChatSession(SessionOptions(*setup), *driver, *editor, divert, out_, err_).Run(cancel_);
    }
    PlainLineReader lines(STDIN_FILENO, cancel_);
    return ChatSession(SessionOptions(*setup), *driver, lines, {}, out_, err_).Run(cancel_);
  }

  // Returns null if there is no terminal to edit on.
  std::unique_ptr<LineReader> MakeEditor(const std::string& history) const {
    if (!AtTerminal()) return nullptr;
    auto editor = LineEditor::Make({.history = history,
                                    .complete =
                                        [this](std::string_view typed) {
                                          return CompleteTyped(typed, {global_, command_.root()});
                                        },
                                    .color = terminal_.color,
                                    .cancel = cancel_});
    if (editor) return std::move(*editor);
    PrintWarning(err_, editor.error().message);
    return nullptr;
  }

  ChatSessionOptions SessionOptions(const ChatSetup& setup) const {
    ChatSessionOptions options{.terminal = terminal_, .markdown = MarkdownOf(setup)};
    if (arguments_.usage) options.usage = ChatSessionOptions::Usage::kYes;
    if (AtTerminal()) {
      options.edit = EditMessage;
      options.mentions = ChatSessionOptions::Mentions::kFiles;
    }
    // The waiting line would overwrite a question, whose answer is typed while the turn runs.
    if (setup.asks()) {
      options.terminal.err = Terminal::Kind::kPipe;
    } else if (AtTerminal()) {
      options.input = HeldInput::When::kAtTerminal;
    }
    return options;
  }

  // JSON is never rendered as Markdown.
  MarkdownMode MarkdownOf(const ChatSetup& setup) const {
    const auto mode = ParseMarkdownMode(arguments_.markdown);  // the parser has checked the word
    return setup.schema() ? MarkdownMode::kOff : mode.value_or(MarkdownMode::kAuto);
  }

  void SayOfSetup(std::string_view line) {
    constexpr std::string_view kWarning = "warning: ";
    if (line.starts_with(kWarning)) early_.emplace_back(line.substr(kWarning.size()));
    Say(line);
  }

  void Say(std::string_view line, Prefix prefix = Prefix::kYes) const {
    if (global_.quiet && prefix == Prefix::kYes) return;
    if (output_) output_->StopWaiting();
    err_ << (prefix == Prefix::kYes ? "dossier: " : "") << line << "\n" << std::flush;
    if (output_) output_->WaitOn();
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
    // The waiting line would overwrite a question.
    if (setup.asks()) options.terminal.err = Terminal::Kind::kPipe;
    if (arguments_.extract) options.shown = ChatOutput::Shown::kCode;
    if (raw) options.shown = ChatOutput::Shown::kRaw;
    if (arguments_.dry_run) options.shown = ChatOutput::Shown::kRequest;
    if (arguments_.explain_context) {
      options.shown = arguments_.dry_run ? ChatOutput::Shown::kRequestAndTable
                                         : ChatOutput::Shown::kContextTable;
    }
    return options;
  }

  Result<std::string> ReadPrompt(config::CompatMode mode) {
    if (arguments_.resume_turn) return std::string();
    DOSSIER_ASSIGN_OR_RETURN(const auto timeout, StdinTimeout(global_));
    StdinStream in;
    PromptRequest request{.prompt = arguments_.prompt, .timeout = timeout};
    const auto takes_stdin = [](const std::vector<std::string>& places) {
      return std::ranges::find(places, "-") != places.end();
    };
    const bool taken = takes_stdin(arguments_.files) || takes_stdin(arguments_.attachments);
    if (taken && (arguments_.prompt == "-" || global_.no_stdin)) {
      return MakeError(ErrorCode::kUsage, "chat: - names stdin as a file, which {}",
                       global_.no_stdin ? "--no-stdin leaves alone" : "is the prompt already");
    }
    if (global_.no_stdin || taken) request.stdin_use = PromptRequest::Stdin::kNever;
    if (mode == config::CompatMode::kCompat) request.trim = PromptRequest::Trim::kBothEnds;
    const auto warn = [this](std::string_view text) {
      early_.emplace_back(text);
      PrintWarning(err_, text);
    };
    DOSSIER_ASSIGN_OR_RETURN(PromptInput input, ReadPromptInput(request, in, warn, cancel_));
    if (input.text.empty() && arguments_.preset.empty()) {
      return MakeError(ErrorCode::kUsage,
                       "chat: there is no PROMPT and nothing on stdin: dossier chat \"PROMPT\"");
    }
    return std::move(input.text);
  }

  Result<int> ShowSchema(const config::Config& config) {
    DOSSIER_ASSIGN_OR_RETURN(const auto schema,
                             ChooseSchema(arguments_.schema, config, global_, cancel_));
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
  const CommandNode& command_;
  std::istream& in_;
  std::ostream& out_;
  std::ostream& err_;
  std::vector<std::string> early_;
  ChatOutput* output_ = nullptr;  // of the running turn
};

// Runs the command; a session handles Ctrl-C itself while it runs.
Result<int> RunChat(const ChatArguments& arguments, Context& context) {
  ChatRun run(arguments, context);
  const Result<int> code = run.Run();
  if (code) return *code;
  return PrintFailure(code.error(), FormOf(arguments), run.early_warnings(), context.out,
                      context.err);
}

void DeclareModel(Flags model, ChatArguments& to) {
  model.Add("-m,--model", &to.model.model, "model, as [PROVIDER/]NAME").Kind(kModel).Often();
  model.Add("-t,--temperature", &to.model.temperature, "0 to 2").Between(0, 2);
  model.Add("--max-output", &to.model.max_output, "tokens of the reply")
      .Positive()
      .Formerly("--max-tokens");
  model.Add("--param", &to.model.params, "NAME=VALUE, passed to the provider as it is");
  model.Add("--system", &to.system, "what the model is told first, above all messages").Often();
  model.Add("--system-file", &to.system_file, "the same, from a file").Kind(kPath);
  model.Add("--role", &to.role, "the same, kept as roles/NAME.md; --system TEXT keeps it there")
      .Kind(kName);
  model.Add("--replace-system", &to.replace_system,
            "put the new system text in place of the conversation's");
  model.Add("-s,--stream", &to.stream, "print the reply while it comes (as on a terminal)");
  AddConnectionFlags(model, &to.model);
}

void DeclareConversation(Flags flags, ChatArguments& to) {
  flags
      .Add("--conversation", &to.conversation,
           "continue the conversation of this name, or begin it")
      .Kind(kConversation)
      .Often();
  flags.Add("--new", &to.fresh, "begin a conversation; its name is said on stderr").Often();
  flags.Add("--continue", &to.last, "go on with the conversation that was used last")
      .Formerly("-c")
      .Often();
  flags.Add("--pick", &to.pick, "choose a conversation from a list, on a terminal");
  flags.Add("--adopt", &to.adopt, "the conversation uses the model of -m from now on");
  flags.Add("--read-only", &to.read_only, "answer, but save nothing");
  flags.Add("--no-save", &to.no_save, "keep nothing: no turn, no journal, no history");
  flags.Add("--resume-turn", &to.resume_turn, "ask again what got no whole reply");
  flags.Add("--wait", &to.wait, "let nobody else add to the conversation until this turn is saved");
  flags
      .Add("--history-budget", &to.history_budget,
           "sum up old turns of a history of more tokens than this")
      .Positive();
  flags.Add("--compact", &to.compact, "sum up old turns now");
  flags.Add("--no-compact", &to.no_compact, "do not sum up old turns");
  AddMemoryFlags(flags, &to.memory);
}

void DeclareContext(Flags flags, ChatArguments& to) {
  constexpr static ValueKind kPlace{"FILE|URL", ValueKind::Bytes::kAny, ValueKind::Files::kFiles};
  flags.Add("-f,--file", &to.files, "a text or an image that goes with the message (repeat)")
      .Kind(kPlace)
      .Often();
  flags.Add("-a,--attachment", &to.attachments, "the same; - is stdin (repeat)").Kind(kPlace);
  AddContextFlags(flags, &to.context);
  flags.Add("--no-context-exec", &to.no_context_exec,
            "do not run the commands that the configuration names");
  flags.Add("--refresh-context", &to.refresh_context,
            "run the commands again and replace the context, then ask");
}

void DeclareReply(Flags flags, ChatArguments& to) {
  AddSchemaFlags(flags, "want a reply in JSON that fits this schema; or 'name, age int'",
                 &to.schema);
  flags.Add("--repair", &to.repair, "how often the model may correct a reply that does not fit (1)")
      .Between(0, 3);
  flags.Add("--validate-schema", &to.validate_schema, "only show the schema, ask nothing");
  flags.Add("--dry-run", &to.dry_run, "print the exact request, send nothing").Often();
  flags.Add("--explain-context", &to.explain_context,
            "print where each part of the prompt comes from and what it costs, send nothing");
  flags.Add("-u,--usage", &to.usage, "tokens and price, on stderr").Often();
  flags.Add("-x,--extract", &to.extract, "print only the last code block of the reply").Often();
  flags.Add("--raw", &to.raw, "print the provider's JSON instead of the text");
  flags.Add("--markdown", &to.markdown, "auto, on, off: render the reply (auto: on a terminal)")
      .OneOf({"auto", "on", "off"});
  flags.Add("--json", &to.json, "one object");
  flags.Add("--jsonl", &to.jsonl, "one event a line");
  flags.Add("--no-log", &to.no_log, "leave the texts out of the journal");
}

void DeclareCommands(Flags flags, ChatArguments& to) {
  constexpr static ValueKind kRule{"RULE"};
  flags.Add("--allow-commands", &to.allow_commands, "let the model run commands in a sandbox");
  flags
      .Add("--command-allow", &to.command_allow,
           "a command that it may run, written like 'git log [-n <int>]' (repeat)")
      .Kind(kRule);
  flags.Add("--command-deny", &to.command_deny, "a command that it may not run (repeat)")
      .Kind(kRule);
  flags.Add("--confirm-commands", &to.confirm_commands, "ask you before each command");
  flags.Add("--commands-in", &to.commands_in, "the folder that its commands see (the current one)")
      .Kind(kPath);
  flags
      .Add("--show-secret", &to.show_secrets,
           "a file with secrets that its commands may read (repeat)")
      .Kind(kPath);
}

void DeclareChat(Flags& flags, ChatArguments& to) {
  flags.Add("prompt", &to.prompt, "what to ask; - for stdin");
  flags.Add("--interactive", &to.interactive, "talk line by line, also without a terminal");
  flags.Add("--template", &to.preset, "send the message kept as templates/NAME.md").Kind(kName);
  DeclareModel(flags.In("Model"), to);
  DeclareConversation(flags.In("Conversation"), to);
  DeclareContext(flags.In("Context"), to);
  DeclareReply(flags.In("Reply"), to);
  DeclareCommands(flags.In("Commands that the model may run"), to);
  AddServersFlag(flags.In("Commands that the model may run"), &to.servers);
}

}  // namespace

Command ChatCommand() {
  return {.name = "chat",
          .summary = "ask a model, once or in a conversation",
          .examples =
              "dossier chat\n"
              "    talk line by line; /help says what may be typed\n"
              "git diff | dossier chat \"review this\"\n"
              "    one question, nothing is kept\n"
              "dossier chat --conversation bug-12 --exec \"make -n\" \"why does the build fail?\"\n"
              "    a conversation that is kept; the command runs once, at its beginning\n"
              "dossier chat --continue \"and how do I test the fix?\"\n"
              "    go on with the conversation used last",
          .binding = Bind(DeclareChat, RunChat)};
}

}  // namespace dossier::cli
