#include "chat/turn/command_tool.h"

#include <optional>

#include "base/hash.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "sandbox/commands/usage_rule.h"
#include "sandbox/jail/jail.h"
#include "sources/commands/command_text.h"

namespace dossier::chat {
namespace {

using Form = CommandToolOptions::Form;

constexpr std::string_view kArgvName = "run_command";
constexpr std::string_view kLineName = "execute_bash_command";
constexpr std::size_t kMaxWords = 4096;

JsonObject Property(std::string_view type, std::string_view description) {
  return {{"type", type}, {"description", description}};
}

Json Parameters(Form form) {
  JsonObject properties;
  if (form == Form::kArgv) {
    JsonObject argv = Property("array", "the program and its arguments, one string each");
    argv["items"] = JsonObject{{"type", "string"}};
    properties["argv"] = std::move(argv);
  } else {
    properties["command"] = Property("string", "the command line; shell operators are refused");
  }
  properties["reason"] = Property("string", "why, for the user");
  return JsonObject{{"type", "object"},
                    {"properties", std::move(properties)},
                    {"required", JsonArray{form == Form::kArgv ? "argv" : "command", "reason"}},
                    {"additionalProperties", false}};
}

Result<sandbox::Argv> WordsOf(const Json& arguments) {
  const Json* argv = Find(arguments, "argv");
  const JsonArray* list = argv ? argv->if_array() : nullptr;
  if (!list || list->empty() || list->size() > kMaxWords) {
    return MakeError(ErrorCode::kRefused,
                     "argv must be a list of strings: the program and its arguments");
  }
  sandbox::Argv words;
  for (const Json& word : *list) {
    if (!word.is_string()) {
      return MakeError(ErrorCode::kRefused, "argv must hold strings only; one is {}",
                       dossier::ToJson(word));
    }
    words.emplace_back(word.get_string());
  }
  return words;
}

std::string StatusLine(const sandbox::Exit& exit, Millis timeout) {
  if (exit.timed_out()) {
    return fmt::format("timed out after {} seconds", static_cast<double>(timeout.count()) / 1000.0);
  }
  if (exit.stop != sandbox::JailStop::kNothing) {
    return fmt::format("ended: {} limit", sandbox::JailStopName(exit.stop));
  }
  return fmt::format("exit status {}", exit.shell_status());
}

}  // namespace

assembly::ToolSpec CommandTool::Spec() const {
  assembly::ToolSpec spec{.name = std::string(options_.form == Form::kArgv ? kArgvName : kLineName),
                          .description =
                              "Runs one command in the project's folder, without a "
                              "shell, and gives its exit status and output.",
                          .parameters = Parameters(options_.form)};
  if (!options_.available.empty()) spec.description += " Available commands:";
  for (const auto& [command, description] : options_.available) {
    spec.description += "\n- " + command;
    if (!description.empty()) spec.description += ": " + description;
  }
  return spec;
}

Result<sandbox::Argv> CommandTool::ReadCall(const model::ToolCall& call) const {
  if (!FindString(call.arguments, "reason")) {
    return MakeError(ErrorCode::kRefused, "{} needs a reason", call.name);
  }
  if (options_.form == Form::kArgv) return WordsOf(call.arguments);
  const auto line = FindString(call.arguments, "command");
  if (!line) return MakeError(ErrorCode::kRefused, "{} needs a command", call.name);
  return sandbox::LexCommand(*line);
}

Judged CommandTool::Judge(const model::ToolCall& call) const {
  Judged out{.reason = TextAt(call.arguments, "reason")};
  auto asked = ReadCall(call);
  if (!asked) {
    out.sentence = asked.error().message;
    return out;
  }
  out.asked = std::move(*asked);
  sandbox::Decision decision = sandbox::Judge(policy_, out.asked, jail_);
  out.allowed = decision.allowed;
  out.argv = std::move(decision.argv);
  out.rule = std::move(decision.rule);
  out.sentence = std::move(decision.sentence);
  return out;
}

Result<ToolOutput> CommandTool::Run(const Judged& judged, const CancelToken& cancel) const {
  DOSSIER_ASSIGN_OR_RETURN(sandbox::JailSpec spec,
                           sandbox::JailForCommand(policy_, jail_, environment_));
  spec.limits.wall = options_.timeout;
  sandbox::Argv argv = judged.argv;
  sandbox::PassOverHidden(spec, jail_, &argv);
  sandbox::Io io;
  io.cancel = cancel;
  sources::CommandText text({.cap = options_.max_output});
  Sha256 hash;
  ToolOutput out;
  std::optional<sandbox::Stream> last;
  io.on_output = [&](sandbox::Stream stream, std::string_view bytes) {
    if (last && *last != stream) text.EndStream();
    last = stream;
    text.Add(bytes);
    hash.Update(bytes);
    out.bytes += bytes.size();
  };
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::Exit exit, sandbox::RunJailed(spec, argv, io));
  if (exit.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
  out.status = exit.shell_status();
  out.sha256 = hash.Hex();
  sources::CommandText::Kept kept = std::move(text).Finish(judged.asked.front());
  out.text = fmt::format("{}\n{}", StatusLine(exit, options_.timeout),
                         kept.text.empty() ? "(no output)" : Redact(kept.text));
  return out;
}

}  // namespace dossier::chat
