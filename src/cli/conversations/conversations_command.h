// `dossier conversations` and `dossier context show|migrate`: what was said before, and its
// context. Both look where `chat` does, so they read its configuration.

#ifndef DOSSIER_CLI_CONVERSATIONS_CONVERSATIONS_COMMAND_H_
#define DOSSIER_CLI_CONVERSATIONS_CONVERSATIONS_COMMAND_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"

namespace dossier::cli {

struct ConversationsArguments {
  std::string action;  // list, show, search, fork, export, delete, compact
  std::vector<std::string> ids;
  bool json = false;
  std::int64_t limit = 0;  // 0: all
  std::string since;
  std::optional<std::int64_t> turn;  // of show; --at of fork
  bool as_sent = false, context = false, usage = false, compaction = false;
  std::string query, role;
  bool fts = false;
  std::string as;      // of fork
  std::string format;  // of export; "": md
  std::string out_file;
  std::string older_than;
  bool dry_run = false, undo = false;
  ModelFlags model;  // of compact
};

void AddConversationsCommand(CLI::App& command, ConversationsArguments* arguments);
int RunConversations(const ConversationsArguments& arguments, const GlobalFlags& global,
                     const CancelToken& cancel, std::ostream& out, std::ostream& err);

struct ContextArguments {
  std::string action;  // show, migrate
  std::vector<std::string> ids;
  bool all = false, dry_run = false, drop_changed = false;
  std::string block;  // name, or number from 1
  bool full = false, json = false;
  bool history = false;            // of show: what refreshes replaced
  std::optional<std::int64_t> at;  // of show: the N-th of these, from 1
};

void AddContextCommand(CLI::App& command, ContextArguments* arguments);
int RunContextCommand(const ContextArguments& arguments, const GlobalFlags& global,
                      const CancelToken& cancel, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CONVERSATIONS_CONVERSATIONS_COMMAND_H_
