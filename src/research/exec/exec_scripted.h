// A backend that runs nothing: results come from a table, files they "write" go into the workspace.
// For tests of everything that works with a backend.
//
//   auto script = std::make_shared<CommandScript>();
//   script->On("make*").Writes("bin/a.out", "ELF");
//   script->On("./bin/a.out").Says("42\n").Writes("working/x_data.npy", bytes);
//   script->On("pip install *").Fails(1, "no network").Times(1);   // the second time it works
//   script->On("pip install *");
//   services.backend = ScriptedBackends(script);
//   …
//   EXPECT_THAT(script->commands(), ElementsAre("make", "./bin/a.out"));
//
// The first rule whose pattern fits, and that has uses left, answers; a command that none fits ends
// with 127, as a shell says of an unknown program. Commands that no backend runs are refused before
// the table, as in the other backends. Thread-safety: rules are made before the first command; then
// a script may serve several backends on several threads.

#ifndef DOSSIER_RESEARCH_EXEC_EXEC_SCRIPTED_H_
#define DOSSIER_RESEARCH_EXEC_EXEC_SCRIPTED_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "research/exec/exec_backend.h"

namespace dossier::research {

// Works out a result by itself. `workspace` is a folder of the host.
using ScriptedWork = std::function<Result<ExecResult>(
    const Command& command, const std::string& workspace, const CancelToken& cancel)>;

class ScriptedRule {
 public:
  // `*` in the pattern stands for any text; it is compared with the line of shell, or with argv
  // joined by spaces.
  explicit ScriptedRule(std::string_view pattern);

  ScriptedRule& Says(std::string_view out);
  ScriptedRule& Fails(int status, std::string_view err);
  ScriptedRule& Gives(ExecResult result);
  // A path relative to the workspace.
  ScriptedRule& Writes(std::string_view path, std::string_view content);
  ScriptedRule& Does(ScriptedWork work);
  ScriptedRule& Times(int uses);

 private:
  friend class CommandScript;

  std::string pattern_;
  ExecResult result_{.status = 0};
  std::map<std::string, std::string> files_;
  ScriptedWork work_;
  int uses_left_ = -1;  // -1: any number
};

class CommandScript {
 public:
  // The reference lives as long as the script.
  ScriptedRule& On(std::string_view pattern);

  Result<ExecResult> Answer(const Command& command, const std::string& workspace,
                            const CancelToken& cancel);
  // As they came, those of all backends.
  std::vector<std::string> commands() const;

 private:
  std::deque<ScriptedRule> rules_;
  mutable std::mutex mutex_;
  std::vector<std::string> commands_;
};

struct ScriptedOptions {
  SandboxFacts::Root root = SandboxFacts::Root::kNo;
  ImageRef image, snapshot;
};

std::unique_ptr<ExecBackend> MakeScriptedBackend(std::shared_ptr<CommandScript> script,
                                                 ScriptedOptions options = {});
BackendFactory ScriptedBackends(std::shared_ptr<CommandScript> script,
                                ScriptedOptions options = {});

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_EXEC_EXEC_SCRIPTED_H_
