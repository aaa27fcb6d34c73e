#include "cli/chat_command.h"

#include <unistd.h>

#include "cli/chat_output.h"
#include "cli/chat_setup.h"
#include "cli/prompt_input.h"
#include "cli/schema_choice.h"
#include "cli/terminal.h"

namespace dossier::cli {
namespace {

using conversation::TurnOutcome;

ChatOutput::Form FormOf(const ChatArguments& arguments) {
  if (arguments.json) return ChatOutput::Form::kJson;
  return arguments.jsonl ? ChatOutput::Form::kJsonLines : ChatOutput::Form::kText;
}

// One run of the command.
class ChatRun {
 public:
  ChatRun(const ChatArguments& arguments, const GlobalFlags& global, const CancelToken& cancel,
          std::ostream& out, std::ostream& err)
      : arguments_(arguments), global_(global), cancel_(cancel), out_(out), err_(err) {}

  Result<int> Run() {
    DOSSIER_RETURN_IF_ERROR(CheckChatFlags(arguments_));
    // Before anything starts: a project that is not trusted must change nothing.
    DOSSIER_ASSIGN_OR_RETURN(config::Config config, LoadConfig(global_, {}, err_));
    if (arguments_.validate_schema) return ShowSchema(config);
    DOSSIER_ASSIGN_OR_RETURN(std::string prompt, ReadPrompt(config.mode));
    const bool stream = config.stream.value_or(
        Terminal::Detect(ParseColorWish(global_.color)).out == Terminal::Kind::kTerminal);
    const bool raw = config.raw_response;
    DOSSIER_ASSIGN_OR_RETURN(
        const auto setup,
        ChatSetup::Make(arguments_, global_, std::move(config),
                        [this](std::string_view line) { Say(line); }, cancel_));
    if (setup->id_is_new()) Say("conversation: " + setup->id(), Prefix::kNo);
    ChatOutput output(OutputOptions(stream, raw, setup->id()), cancel_, out_, err_);
    const TurnOutcome outcome = setup->chat().Send(setup->RequestFor(std::move(prompt)), output,
                                                   output.token());
    return output.Finish(outcome);
  }

 private:
  enum class Prefix { kYes, kNo };

  void Say(std::string_view line, Prefix prefix = Prefix::kYes) const {
    if (global_.quiet && prefix == Prefix::kYes) return;
    err_ << (prefix == Prefix::kYes ? "dossier: " : "") << line << "\n" << std::flush;
  }

  ChatOutput::Options OutputOptions(bool stream, bool raw, const std::string& id) const {
    using Options = ChatOutput::Options;
    Options options{.form = FormOf(arguments_),
                    .terminal = Terminal::Detect(ParseColorWish(global_.color))};
    if (arguments_.stream.value_or(stream)) options.live = ChatOutput::Live::kYes;
    if (global_.quiet) options.quiet = ChatOutput::Quiet::kYes;
    if (arguments_.usage) options.usage = Options::Usage::kYes;
    if (!id.empty()) options.kept = Options::Kept::kConversation;
    if (arguments_.raw.value_or(raw)) options.shown = ChatOutput::Shown::kRaw;
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
    DOSSIER_ASSIGN_OR_RETURN(
        PromptInput input,
        ReadPromptInput(request, in, [&](std::string_view text) { PrintWarning(err_, text); },
                        cancel_));
    if (input.text.empty()) {
      return MakeError(ErrorCode::kUsage,
                       "chat: there is no PROMPT and nothing on stdin: dossier chat \"PROMPT\"");
    }
    return std::move(input.text);
  }

  Result<int> ShowSchema(const config::Config& config) {
    DOSSIER_ASSIGN_OR_RETURN(
        const auto schema,
        ChooseSchema({.text = arguments_.schema, .file = arguments_.schema_file}, config, global_,
                     cancel_));
    if (!schema) {
      return MakeError(ErrorCode::kNotFound,
                       "--validate-schema: there is no schema; give --json-schema or "
                       "--json-schema-file");
    }
    for (const std::string& warning : schema->warnings) PrintWarning(err_, warning);
    out_ << model::DescribeSchema(schema->schema) << std::flush;
    return 0;
  }

  const ChatArguments& arguments_;
  const GlobalFlags& global_;
  const CancelToken& cancel_;
  std::ostream& out_;
  std::ostream& err_;
};

}  // namespace

int RunChat(const ChatArguments& arguments, const GlobalFlags& global, const CancelToken& cancel,
            std::ostream& out, std::ostream& err) {
  const Result<int> code = ChatRun(arguments, global, cancel, out, err).Run();
  return code ? *code : PrintFailure(code.error(), FormOf(arguments), out, err);
}

}  // namespace dossier::cli
