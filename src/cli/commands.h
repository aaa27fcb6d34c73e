// The commands of the program. The file that implements a command also creates it; commands.cc
// lists them in the order of the help.
//
//   const CommandNode root(RootCommand(&global));
//   const Result<ParsedLine> line = ParseLine(root, words);
//
// Thread-safety: none needed.

#ifndef DOSSIER_CLI_COMMANDS_H_
#define DOSSIER_CLI_COMMANDS_H_

namespace dossier::cli {

struct Command;
struct GlobalFlags;

// Returns the program's root command with all others below it. Global flags write to `global`.
Command RootCommand(GlobalFlags* global);

Command AgentsCommand();
Command AskCommand();
Command AssembleCommand();
Command ChatCommand();
Command CompleteCommand();  // __complete, called by the completion scripts
Command CompletionCommand();
Command ConfigCommand();
Command ContextCommand();
Command ConversationsCommand();
Command DoctorCommand();
Command EvalCommand();
Command HeaderCommand();
Command HelpCommand();
Command InspectCommand();
Command KeysCommand();
Command ManCommand();
Command HookCommand();
Command McpCommand();
Command McpServersCommand();  // of McpCommand
Command MemoryCommand();
Command ModelsCommand();
Command PackCommand();
Command PathsCommand();
Command PromptsCommand();
Command ResearchCommand();
Command RpcCommand();
Command RunsCommand();
Command SandboxCommand();
Command ServeCommand();
Command TokensCommand();
Command TrustCommand();
Command WorkerCommand();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_COMMANDS_H_
