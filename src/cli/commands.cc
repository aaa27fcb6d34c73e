#include "cli/commands.h"

#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {
namespace {

// In the order of the help.
constexpr Command (*kCommands[])() = {
    AskCommand,      ChatCommand,     InspectCommand,       PackCommand,       HeaderCommand,
    RunsCommand,     AssembleCommand, PromptsCommand,       ModelsCommand,     SandboxCommand,
    DoctorCommand,   TokensCommand,   ConversationsCommand, ContextCommand,    MemoryCommand,
    AgentsCommand,   ResearchCommand, McpCommand,           HookCommand,       ServeCommand,
    WorkerCommand,   RpcCommand,      EvalCommand,          ConfigCommand,     KeysCommand,
    TrustCommand,    PathsCommand,    HelpCommand,          CompletionCommand, ManCommand,
    CompleteCommand,
};

}  // namespace

Command RootCommand(GlobalFlags* global) {
  Command root{
      .name = "dossier",
      .summary = "Puts the right context in front of a language model, and shows what it did.",
      .examples =
          "dossier ask -c server.log \"Which request failed first?\"\n"
          "    a question over files of any size\n"
          "dossier chat --new\n"
          "    a conversation that is kept; `dossier chat --continue` goes on with it\n"
          "dossier inspect data.csv\n"
          "    what a model would be told about the file\n"
          "dossier doctor\n"
          "    what works on this machine, and which model would answer",
      .binding = [global](Flags& flags) -> Runner {
        AddGlobalFlags(flags, global);
        return {};
      }};
  for (const auto make : kCommands) root.commands.push_back(make());
  return root;
}

}  // namespace dossier::cli
