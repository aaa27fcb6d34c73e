// The tools of agent mode. The built-in one runs a command without a shell, under a policy, in a
// jail.
//
//   CommandTool tool(policy, jail, environment, {});
//   const Judged judged = tool.Judge(call);          // may it run?
//   if (judged.allowed) DOSSIER_ASSIGN_OR_RETURN(ToolOutput output, tool.Run(judged, cancel));
//
// Thread-safety: immutable; Run blocks its caller.

#ifndef DOSSIER_CHAT_TURN_COMMAND_TOOL_H_
#define DOSSIER_CHAT_TURN_COMMAND_TOOL_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assembly/layout/messages.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/client/client.h"
#include "sandbox/commands/policy.h"

namespace dossier::chat {

// A tool call with the policy's decision.
struct Judged {
  bool allowed = false;
  sandbox::Argv asked;   // the model's command; empty if malformed
  sandbox::Argv argv;    // the command to run
  JsonObject arguments;  // instead, for a tool that runs no command
  std::string reason;    // given by the model
  std::string rule;      // the rule that decided
  std::string sentence;  // reason for a refusal
};

struct ToolOutput {
  int status = 0;           // as a shell reports it
  std::string text;         // for the model: status and capped output
  std::uint64_t bytes = 0;  // size of the whole output
  std::string sha256;       // of the whole output
};

// Tests use one that runs nothing.
class ChatTool {
 public:
  virtual ~ChatTool() = default;
  virtual assembly::ToolSpec Spec() const = 0;
  virtual Judged Judge(const model::ToolCall& call) const = 0;
  // Errors: kUnavailable (a layer of the sandbox is missing: exit 12), kCancelled.
  virtual Result<ToolOutput> Run(const Judged& judged, const CancelToken& cancel) const = 0;
};

struct CommandToolOptions {
  // kCommandLine: `execute_bash_command {command, reason}`, for --compat; also without a shell.
  enum class Form { kArgv, kCommandLine } form = Form::kArgv;
  std::vector<std::pair<std::string, std::string>> available;  // command, description
  Millis timeout{30'000};
  std::uint64_t max_output = 16'384;  // bytes of text
};

class CommandTool final : public ChatTool {
 public:
  // `environment`: "NAME=value" of the process; the jail selects the variables that it passes on.
  CommandTool(sandbox::Policy policy, sandbox::CommandJail jail,
              std::vector<std::string> environment, CommandToolOptions options)
      : policy_(std::move(policy)),
        jail_(std::move(jail)),
        environment_(std::move(environment)),
        options_(std::move(options)) {}

  assembly::ToolSpec Spec() const override;
  Judged Judge(const model::ToolCall& call) const override;
  Result<ToolOutput> Run(const Judged& judged, const CancelToken& cancel) const override;

 private:
  Result<sandbox::Argv> ReadCall(const model::ToolCall& call) const;

  const sandbox::Policy policy_;
  const sandbox::CommandJail jail_;
  const std::vector<std::string> environment_;
  const CommandToolOptions options_;
};

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_TURN_COMMAND_TOOL_H_
