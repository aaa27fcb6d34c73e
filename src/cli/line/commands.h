// The commands of the program: names, what for, and their flags; and where what is given goes.
//
//   CLI::App app("…", "dossier");
//   Arguments arguments;
//   BuildTree(app, words, &arguments);
//   app.parse(…);                        // words, from the back
//
// Thread-safety: none needed; one tree a process.

#ifndef DOSSIER_CLI_LINE_COMMANDS_H_
#define DOSSIER_CLI_LINE_COMMANDS_H_

#include <CLI/App.hpp>
#include <span>
#include <string>

#include "cli/chat/chat_flags.h"
#include "cli/conversations/context_refresh_command.h"
#include "cli/conversations/context_run_command.h"
#include "cli/conversations/conversations_command.h"
#include "cli/memory/memory_command.h"
#include "cli/runs/agents_command.h"
#include "cli/runs/ask_command.h"
#include "cli/runs/research_command.h"
#include "cli/runs/runs_command.h"
#include "cli/system/about_command.h"
#include "cli/system/config_command.h"
#include "cli/system/doctor_command.h"
#include "cli/system/models_command.h"
#include "cli/system/sandbox_command.h"
#include "cli/system/trust_command.h"
#include "cli/texts/assemble_command.h"
#include "cli/texts/header_command.h"
#include "cli/texts/inspect_flags.h"
#include "cli/texts/pack_command.h"
#include "cli/texts/prompts_command.h"
#include "cli/texts/tokens_command.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

struct Arguments {
  GlobalFlags global;
  AboutArguments about;
  AgentsArguments agents;
  AskArguments ask;
  ChatArguments chat;
  InspectArguments inspect;
  PackArguments pack;
  HeaderArguments header;
  MemoryArguments memory;
  ResearchArguments research;
  RunsArguments runs;
  ModelsArguments models;
  SandboxArguments sandbox;
  DoctorArguments doctor;
  AssembleArguments assemble;
  PromptsArguments prompts;
  TokensArguments tokens;
  ConversationsArguments conversations;
  ContextArguments context;
  ContextRunArguments context_run;
  ContextRefreshArguments context_refresh;
  ConfigArguments config;
  PathsArguments paths;
  TrustArguments trust;
};

// Adds every command to `app`, with the flags of those that `words` (the command line) may mean;
// help and manual pages, which speak of others, get all. To build all flags costs four
// times what `dossier --help` needs otherwise.
void BuildTree(CLI::App& app, std::span<const std::string> words, Arguments* arguments);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_LINE_COMMANDS_H_
