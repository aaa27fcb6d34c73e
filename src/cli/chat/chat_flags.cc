#include "cli/chat/chat_flags.h"

namespace dossier::cli {
namespace {

// A flag that knows whether it was given: CLI11's own overload for such a type counts, and begins
// with a false that would beat the configuration.
CLI::Option& AddSwitch(CLI::App& chat, const char* names, std::optional<bool>& value,
                       const char* about) {
  return *chat.add_flag_function(names, [&value](std::int64_t count) { value = count > 0; }, about);
}

void AddModelGroup(CLI::App& chat, ChatArguments* arguments) {
  const std::string group = "Model";
  ModelFlags& model = arguments->model;
  chat.add_option("-m,--model", model.model, "model, as [PROVIDER/]NAME")->group(group);
  chat.add_option("-t,--temperature", model.temperature, "0 to 2")
      ->check(CLI::Range(0.0, 2.0))
      ->group(group);
  chat.add_option("--max-tokens", model.max_output, "tokens of the reply")
      ->check(CLI::PositiveNumber)
      ->group(group);
  chat.add_option("--param", model.params, "NAME=VALUE passed to the provider")
      ->allow_extra_args(false)
      ->group(group);
  chat.add_option("--system", arguments->system, "the system text")->group(group);
  chat.add_option("--system-file", arguments->system_file, "the system text, from a file")
      ->type_name("PATH")
      ->group(group);
  AddSwitch(chat, "-s,--stream", arguments->stream, "print the reply as it comes (on a terminal)")
      .group(group);
  AddConnectionFlags(chat, &model);
}

void AddConversationGroup(CLI::App& chat, ChatArguments* arguments) {
  const std::string group = "Conversation";
  chat.add_option("--conversation", arguments->conversation, "make or continue this one")
      ->group(group);
  chat.add_flag("--new", arguments->fresh, "make one; its id is said on stderr")->group(group);
  chat.add_flag("-c,--continue", arguments->last, "the one that was used last")->group(group);
  chat.add_flag("--read-only", arguments->read_only, "answer, but save nothing")->group(group);
  chat.add_flag("--no-save", arguments->no_save, "keep nothing: no turn, no journal, no history")
      ->group(group);
  chat.add_flag("--resume-turn", arguments->resume_turn, "ask the last incomplete turn again")
      ->group(group);
  chat.add_flag("--wait", arguments->wait, "nobody else takes a turn until this one is saved")
      ->group(group);
  chat.add_option("--history-budget", arguments->history_budget,
                  "compact a history of more tokens than this")
      ->check(CLI::PositiveNumber)
      ->group(group);
  chat.add_flag("--compact", arguments->compact, "compact the history now")->group(group);
  chat.add_flag("--no-compact", arguments->no_compact, "do not compact the history")->group(group);
  AddMemoryFlags(chat, group, &arguments->memory);
}

void AddContextGroup(CLI::App& chat, ChatArguments* arguments) {
  const std::string group = "Context";
  AddContextFlags(chat, &arguments->context);
  chat.add_flag("--no-context-exec", arguments->no_context_exec,
                "run no commands of the configuration")
      ->group(group);
  chat.add_flag("--refresh-context", arguments->refresh_context,
                "replace the frozen context, then take the turn")
      ->group(group);
}

void AddReplyGroup(CLI::App& chat, ChatArguments* arguments) {
  const std::string group = "Reply";
  chat.add_option("--json-schema", arguments->schema, "the reply is JSON of this schema")
      ->group(group);
  chat.add_option("--json-schema-file", arguments->schema_file, "the same, from a file or address")
      ->type_name("PATH")
      ->group(group);
  chat.add_option("--repair", arguments->repair, "rounds to correct an invalid reply (1)")
      ->check(CLI::Range(0, 3))
      ->group(group);
  chat.add_flag("--validate-schema", arguments->validate_schema, "only show the schema")
      ->group(group);
  chat.add_flag("--dry-run", arguments->dry_run, "print the exact request, send nothing")
      ->group(group);
  chat.add_flag("--explain-context", arguments->explain_context,
                "print where each block stands and what it costs, send nothing")
      ->group(group);
  chat.add_flag("-u,--usage", arguments->usage, "tokens and price, on stderr")->group(group);
  AddSwitch(chat, "--raw", arguments->raw, "the provider's JSON instead of the text").group(group);
  chat.add_option("--markdown", arguments->markdown,
                  "auto, on, off: render the reply (auto: on a terminal)")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->group(group);
  chat.add_flag("--json", arguments->json, "one object")->group(group);
  chat.add_flag("--jsonl", arguments->jsonl, "one event a line")->group(group);
  chat.add_flag("--no-log", arguments->no_log, "leave the texts out of the journal")->group(group);
}

void AddAgentGroup(CLI::App& chat, ChatArguments* arguments) {
  const std::string group = "Commands that the model may run";
  AddSwitch(chat, "--allow-commands", arguments->allow_commands, "let it run commands")
      .group(group);
  const auto rules = [&](const char* name, std::vector<std::string>& list, const char* about) {
    chat.add_option(name, list, about)->type_name("RULE")->allow_extra_args(false)->group(group);
  };
  rules("--command-allow", arguments->command_allow, "a usage line that may run (repeat)");
  rules("--command-deny", arguments->command_deny, "a usage line that may not (repeat)");
  AddSwitch(chat, "--confirm-commands", arguments->confirm_commands, "ask before each")
      .group(group);
}

}  // namespace

void AddChatCommand(CLI::App& chat, ChatArguments* arguments) {
  chat.add_option("prompt", arguments->prompt, "what to ask; - for stdin");
  chat.add_flag("--interactive", arguments->interactive, "a session, also without a terminal");
  AddModelGroup(chat, arguments);
  AddConversationGroup(chat, arguments);
  AddContextGroup(chat, arguments);
  AddReplyGroup(chat, arguments);
  AddAgentGroup(chat, arguments);
}

Status CheckChatFlags(const ChatArguments& arguments) {
  struct Pair {
    bool first, second;
    std::string_view names[2];
  };
  const bool schema = !arguments.schema.empty() || !arguments.schema_file.empty();
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
      {!arguments.schema.empty(),
       !arguments.schema_file.empty(),
       {"--json-schema", "--json-schema-file"}},
      {arguments.system.has_value(), !arguments.system_file.empty(), {"--system", "--system-file"}},
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
  if (arguments.read_only && !named && !arguments.last) {
    return MakeError(ErrorCode::kUsage, "--read-only requires --conversation");
  }
  if (arguments.resume_turn && !named && !arguments.last) {
    return MakeError(ErrorCode::kUsage, "--resume-turn requires --conversation or --continue");
  }
  return {};
}

}  // namespace dossier::cli
