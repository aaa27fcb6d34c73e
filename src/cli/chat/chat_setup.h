// Creates the parts of a conversation from flags and configuration: store, model, context, tool,
// schema. `dossier chat` uses it for one turn, the interactive session for many.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto setup, ChatSetup::Make(arguments, global, say, cancel));
//   const TurnOutcome outcome = setup->chat().Send(setup->RequestFor("why?"), events, cancel);
//
// Thread-safety: one owner.

#ifndef DOSSIER_CLI_CHAT_CHAT_SETUP_H_
#define DOSSIER_CLI_CHAT_CHAT_SETUP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/files/file.h"
#include "chat/store/store.h"
#include "chat/turn/chat.h"
#include "chat/turn/command_tool.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/memory_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/prompt_input.h"
#include "cli/wiring/run_setup.h"
#include "cli/wiring/schema_choice.h"
#include "config/config.h"
#include "model/schema/json_schema.h"
#include "model/schema/schema_source.h"
#include "store/journal.h"

namespace dossier::cli {

// The flags as given.
struct ChatArguments {
  std::optional<std::string> prompt;
  bool interactive = false;
  ModelFlags model;
  std::optional<std::string> system;
  std::string system_file;
  bool replace_system = false;
  std::string role, preset;                     // --role, --template
  std::optional<bool> stream;                   // unset: on a terminal
  std::vector<std::string> files, attachments;  // -f, -a: paths, addresses; - for stdin

  std::optional<std::string> conversation;
  bool fresh = false;  // --new
  bool last = false;   // -c
  bool pick = false;
  bool read_only = false, no_save = false;
  bool adopt = false;  // save the model of -m as that of the conversation

  ContextFlags context;
  bool no_context_exec = false, refresh_context = false;

  SchemaFlags schema;
  std::optional<int> repair;
  bool validate_schema = false;

  // Unset: use the configuration.
  std::optional<bool> allow_commands, confirm_commands;
  std::vector<std::string> command_allow, command_deny;
  std::string commands_in;                // working folder of agent mode; empty: the current one
  std::vector<std::string> show_secrets;  // files that those commands may read
  std::vector<std::string> servers;       // --mcp

  MemoryFlags memory;

  std::optional<std::int64_t> history_budget;  // tokens
  bool compact = false, no_compact = false;

  bool resume_turn = false, wait = false, dry_run = false, explain_context = false;
  bool usage = false, no_log = false, json = false, jsonl = false;
  bool extract = false;  // print only the last code block
  std::optional<bool> raw;
  std::string markdown = "auto";
};

class ChatSetup {
 public:
  // `say` receives lines for stderr. Errors: kUsage, kConfig, kRefused (trust; --confirm-commands
  // without a terminal), kNotFound (no conversation to continue, no such file).
  static Result<std::unique_ptr<ChatSetup>> Make(const ChatArguments& arguments,
                                                 const GlobalFlags& global, config::Config config,
                                                 std::function<void(std::string_view)> say,
                                                 const CancelToken& cancel);

  const chat::Chat& chat() const { return *chat_; }
  const chat::ConversationStore& store() const { return store_; }
  const config::Config& config() const { return config_; }
  const model::JsonSchema* schema() const { return schema_ ? &schema_->schema : nullptr; }
  // "" for a stateless request.
  const std::string& id() const { return id_; }
  bool id_is_new() const { return id_is_new_; }

  chat::TurnRequest RequestFor(std::string prompt) const;
  // Returns the prompt after applying --template.
  Result<std::string> PromptOf(std::string input) const;

  // Returns the model of the stored conversation if the flags ask for another one and it is still
  // open which of them the conversation gets; else "".
  Result<std::string> ModelInQuestion() const;
  // The requested model becomes that of the conversation with the next turn.
  void Adopt() { arguments_.adopt = true; }

  // Gives a new conversation id to a session that has none.
  void NameConversation();
  // Changes the --exec commands and files; a session calls it between turns.
  Status SetExec(std::vector<std::string> exec, Attachments attached = {});
  // The content of -f and -a.
  const Attachments& attached() const { return attached_; }
  // Reads `places` as -f does.
  Result<Attachments> Attach(const std::vector<std::string>& places) const;
  void SetConversation(std::string id) { id_ = std::move(id); }
  // Returns the name that a conversation file uses for the model. Errors: those of opening it; then
  // the old model is kept.
  Result<std::string> SetModel(const std::string& name);
  // Opens each model once; "" is the default model.
  Result<driver::BoundModel> OpenChatModel(const std::string& name);
  chat::BlockSource& context() { return *context_; }
  // The source of layouts and templates.
  const driver::LayoutSources& layouts() const { return layouts_; }
  const std::vector<std::string>& exec() const { return arguments_.context.exec; }

  // Returns true if a person is asked before a command of agent mode runs.
  bool asks() const;

  // Where contexts replaced by a refresh are stored; "" in a session that saves nothing.
  std::string content_folder() const { return unsaved() ? "" : config_.user.data + "/content"; }

  // Turns go into a folder deleted with this object: --no-save, or a --read-only session.
  bool unsaved() const { return scratch_.has_value(); }
  // Ends that and stores the conversation. Errors: kNotFound ("conversation 'X' exists").
  Status KeepAs(std::string id, const CancelToken& cancel);

 private:
  ChatSetup(const ChatArguments& arguments, const GlobalFlags& global, config::Config config,
            std::function<void(std::string_view)> say, const CancelToken& cancel);

  bool NamedByUser(const std::string& model) const;
  Result<driver::BoundModel> OpenUsersModel(const std::string& name);
  Result<driver::BoundModel> OpenNamed(const std::string& name) const;
  Status ChooseConversation();
  Status MakeScratch();
  Status ReadSystemText();
  Status ReadPresets();
  Status FindSchema();
  Status MakeCommandTool();
  Status MakeServerTools();
  Result<sandbox::CommandJail> FindJail() const;
  Status MakeMemory();
  Status MakeChat();
  driver::MemoryUse Memory() const;

  ChatArguments arguments_;
  const GlobalFlags& global_;
  const config::Config config_;
  const std::function<void(std::string_view)> say_;
  const CancelToken cancel_;
  chat::ConversationStore store_;
  std::string id_;
  bool id_is_new_ = false;
  std::string system_text_, template_;
  bool system_asked_ = false;  // system_text_ comes from a flag
  driver::LayoutSources layouts_;
  PreparedContext prepared_;
  std::unique_ptr<chat::CommandContext> context_;
  Attachments attached_;
  std::unique_ptr<chat::TextContext> texts_;            // over context_, if there are texts
  std::vector<std::unique_ptr<chat::ChatTool>> tools_;  // of agent mode
  std::optional<model::FoundSchema> schema_;
  PromptMemory memory_;
  memory::Summarizer summarizer_;
  std::shared_ptr<store::Journal> journal_;
  std::map<std::string, driver::BoundModel> models_;  // by the requested name
  std::optional<TempFolder> scratch_;
  std::unique_ptr<chat::Chat> chat_;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_CHAT_CHAT_SETUP_H_
