#include "cli/system/models_command.h"

#include "base/text/text.h"
#include "cli/system/models_list.h"
#include "cli/system/models_local.h"
#include "cli/system/models_try.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/failure.h"
#include "model/dialects/role_rules.h"

namespace dossier::cli {
namespace {

Status Dispatch(const ModelsArguments& arguments, const CancelToken& cancel, std::ostream& out,
                std::ostream& err) {
  if (arguments.action == "list") return ListModels(arguments, out);
  if (arguments.action == "show") return ShowModel(arguments, out);
  if (arguments.action == "prices") return ShowPrices(arguments, out);
  if (arguments.action == "pull") return PullModel(arguments, cancel, out, err);
  if (arguments.action == "start") return StartServer(arguments, cancel, out, err);
  if (arguments.action == "stop") return StopServer(cancel, out);
  if (arguments.action == "status") return ShowServer(arguments, cancel, out);
  if (arguments.action == "test") return TryModel(arguments, cancel, out, err);
  return ServeScriptFile(arguments, cancel, out);
}

}  // namespace

void AddModelsCommand(CLI::App& models, ModelsArguments* arguments) {
  models.require_subcommand(1);
  const auto add = [&](const char* action, const char* about) -> CLI::App& {
    CLI::App& command = *models.add_subcommand(action, about);
    command.callback([arguments, action] { arguments->action = action; });
    return command;
  };
  CLI::App& list = add("list", "what can be used here, and what answers on this machine");
  list.add_flag("--json", arguments->json, "one object");
  list.add_option("--provider", arguments->provider, "only of this provider");
  list.add_flag("--all", arguments->all, "those without a key too");
  CLI::App& show = add("show", "what is known about one model");
  show.add_option("name", arguments->name, "[PROVIDER/]NAME")->required();
  show.add_flag("--json", arguments->json, "one object");
  CLI::App& prices = add("prices", "dollars for a million tokens");
  prices.add_option("--provider", arguments->provider, "only of this provider");
  prices.add_flag("--json", arguments->json, "one object");
  CLI::App& pull =
      add("pull", "fetch the local model (1.1 GB) or one for memory, or add a GGUF file");
  pull.add_option("name", arguments->name,
                  "a .gguf file, which is linked, not copied; the https address of one; or "
                  "wordllama, which memory can search with (19 MB)");
  pull.add_option("--sha256", arguments->sha256, "what the file at the address must have")
      ->type_name("HEX");
  CLI::App& start = add("start", "start the local server now");
  start.add_option("name", arguments->name, "of the local model");
  start.add_option("--context", arguments->context, "tokens of its window (default: by memory)")
      ->check(CLI::Range(512, 1 << 20));
  start.add_option("--idle", arguments->idle, "ends after this time without requests")
      ->capture_default_str();
  add("stop", "end the local server");
  CLI::App& status = add("status", "the local server: runtime, port, memory, speed");
  status.add_flag("--json", arguments->json, "one object");
  CLI::App& test = add("test", "one short real request: latency, speed, streaming, JSON");
  test.add_option("name", arguments->name, "[PROVIDER/]NAME (default: as `ask` would choose)");
  test.add_option("--base-url", arguments->base_url, "any OpenAI-compatible address");
  test.add_option("--key-env", arguments->key_env, "variable that holds the key");
  test.add_option("--script", arguments->script, "replies of the model `scripted`");
  test.add_flag("--json", arguments->json, "one object");
  CLI::App& serve =
      add("serve-script", "serve scripted replies as OpenAI, Anthropic and Gemini do");
  serve.add_option("file", arguments->name, "the script")->required();
  serve.add_option("--port", arguments->port, "0: any free one")->check(CLI::Range(0, 65535));
  serve
      .add_option("--roles", arguments->roles,
                  "whose rules for the order of messages (default: the provider's of the address)")
      ->check(CLI::IsMember(model::RoleRulesNames()));
  serve.add_option("--record", arguments->record, "append every request to this file, as JSONL");
}

int RunModels(const ModelsArguments& arguments, const CancelToken& cancel, std::ostream& out,
              std::ostream& err) {
  const Status done = Dispatch(arguments, cancel, out, err);
  out << std::flush;
  if (!done) return Fail(done.error(), FormOf(arguments.json), out, err);
  return out.good() ? 0 : 141;
}

}  // namespace dossier::cli
