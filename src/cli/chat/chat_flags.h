// The flags of `dossier chat`, as they were given.
//
//   ChatArguments arguments;
//   AddChatCommand(command, &arguments);
//   DOSSIER_RETURN_IF_ERROR(CheckChatFlags(arguments));
//
// Thread-safety: plain data.

#ifndef DOSSIER_CLI_CHAT_CHAT_FLAGS_H_
#define DOSSIER_CLI_CHAT_CHAT_FLAGS_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/wiring/context_setup.h"
#include "cli/wiring/memory_flags.h"
#include "cli/wiring/model_flags.h"

namespace dossier::cli {

struct ChatArguments {
  std::optional<std::string> prompt;
  bool interactive = false;
  ModelFlags model;
  std::optional<std::string> system;
  std::string system_file;
  std::optional<bool> stream;  // unset: on a terminal

  std::optional<std::string> conversation;
  bool fresh = false;  // --new
  bool last = false;   // -c
  bool read_only = false, no_save = false;

  ContextFlags context;
  bool no_context_exec = false, refresh_context = false;

  std::string schema, schema_file;
  std::optional<int> repair;
  bool validate_schema = false;

  // Unset: as the configuration says.
  std::optional<bool> allow_commands, confirm_commands;
  std::vector<std::string> command_allow, command_deny;

  MemoryFlags memory;

  std::optional<std::int64_t> history_budget;  // tokens
  bool compact = false, no_compact = false;

  bool resume_turn = false, wait = false, dry_run = false, explain_context = false;
  bool usage = false, no_log = false, json = false, jsonl = false;
  std::optional<bool> raw;
  std::string markdown = "auto";
};

void AddChatCommand(CLI::App& command, ChatArguments* arguments);

// What excludes what. Errors: kUsage, naming the flags.
Status CheckChatFlags(const ChatArguments& arguments);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_CHAT_FLAGS_H_
