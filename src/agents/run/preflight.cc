#include "agents/run/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "agents/engine/process_engine.h"
#include "agents/merge/checkout.h"
#include "agents/run/schedule.h"
#include "base/text/text.h"
#include "sources/header/data_file.h"

namespace dossier::agents {
namespace {

class Looking {
 public:
  Looking(const RunSetup& setup, const RunOptions& options, const RunPorts& ports)
      : setup_(setup), options_(options), ports_(ports), git_(setup.ground().git) {
    names_.insert({setup.engineer_name(), setup.reviewer_name()});
  }

  Result<Preflight> Run() {
    for (const auto* errors : {&setup_.faults(), &setup_.lacking_engines()}) {
      for (const Error& error : *errors) {
        for (const std::string_view line : Split(error.message, '\n')) Problem(std::string(line));
      }
    }
    if (setup_.faults().empty()) {
      if (setup_.tasks().empty()) {
        found_.warnings.push_back(fmt::format(
            "nothing to do: no task waits in {}; write one there, a map with an id and a summary",
            Sources()));
      }
      if (Schedule(setup_.tasks(), setup_.merged(), setup_.left_out()).Order().empty()) {
        return std::move(found_);
      }
    }
    LookAtEngines();
    LookAtLimits();
    if (options_.merging != RunOptions::Merging::kDryRun) {
      DOSSIER_RETURN_IF_ERROR(LookAtIdentity());
    }
    if (options_.merging == RunOptions::Merging::kYes) DOSSIER_RETURN_IF_ERROR(LookAtCheckouts());
    for (const sources::AgentCheck& check : ports_.agents.checks) {
      DOSSIER_RETURN_IF_ERROR(LookAtCheck(check));
    }
    return std::move(found_);
  }

 private:
  // Returns where tasks are looked for.
  std::string Sources() const {
    const auto& given = options_.tasks.empty() ? ports_.agents.tasks : options_.tasks;
    if (!given.empty()) return Join(given, ", ");
    const auto file = sources::FindDataFile(setup_.ground().root, sources::kTasksStem);
    return fmt::format("{} or tasks/pending",
                       file && *file ? **file : std::string("config/tasks.yaml"));
  }

  void Problem(std::string sentence) { found_.problems.push_back(std::move(sentence)); }

  // Checks that it can be started.
  void LookAtProgram(std::string_view user, const std::string& program) {
    const Status good = CheckProgram(user, program);
    if (!good) Problem(good.error().message);
  }

  void LookAtEngines() {
    for (const std::string& name : names_) {
      const sources::AgentEngine* engine = ports_.agents.FindEngine(name);
      if (!engine || engine->builtin || engine->argv.empty()) continue;
      LookAtProgram("engine " + name, setup_.ArgvOf(*engine).front());
    }
  }

  // What a program uses at its provider is known only from its output after it ended.
  void LookAtLimits() {
    if (options_.max_cost) LookAtLimit("--max-cost", &sources::AgentEngine::Reply::cost);
    if (options_.max_tokens) LookAtLimit("--max-tokens", &sources::AgentEngine::Reply::output);
  }

  void LookAtLimit(std::string_view limit, std::string sources::AgentEngine::Reply::* told) {
    std::vector<std::string> uncounted;
    for (const std::string& name : names_) {
      const sources::AgentEngine* engine = ports_.agents.FindEngine(name);
      if (engine && !engine->builtin && (engine->reply.*told).empty()) uncounted.push_back(name);
    }
    if (uncounted.empty()) return;
    found_.warnings.push_back(fmt::format(
        "{} cannot count what {} uses, a program whose cost is unknown{}; --max-seconds limits it",
        limit, Join(uncounted, " or "),
        uncounted.size() == names_.size() ? ", and so limits nothing" : ""));
  }

  // Merges are commits of the user: git itself reports what is missing for one.
  Status LookAtIdentity() {
    for (const char* variable : {"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"}) {
      DOSSIER_ASSIGN_OR_RETURN(
          const ProcessResult asked,
          git_.Run(git_.Common(), {.arguments = {"var", variable}}, ports_.cancel));
      if (asked.exit_code == 0) continue;
      Problem(
          fmt::format("git does not know who commits here ({}): `git config user.name NAME` and "
                      "`git config user.email ADDRESS` tell it",
                      GitComplaint(asked)));
      return {};
    }
    return {};
  }

  Status LookAtCheckouts() {
    DOSSIER_ASSIGN_OR_RETURN(const auto checkouts, FindCheckouts(git_, setup_.ref()));
    if (CheckoutRefusal refusal = RefuseCheckouts(checkouts, setup_.ref())) {
      Problem(std::move(refusal.reason));
    }
    return {};
  }

  // A path relative to the root refers to the candidate: the branch has it, or a task may add it.
  Status LookAtCheck(const sources::AgentCheck& check) {
    const std::string user = "check " + check.name;
    const std::string& program = check.argv.front();
    if (program.find('/') == std::string::npos || program.front() == '/') {
      LookAtProgram(user, program);
      return {};
    }
    const std::string path = std::filesystem::path(program).lexically_normal().string();
    DOSSIER_ASSIGN_OR_RETURN(const std::string lack, LackOfBranch(path));
    if (lack.empty() || !setup_.faults().empty()) return {};  // a task may add it
    const bool may_come =
        std::any_of(setup_.tasks().begin(), setup_.tasks().end(), [&](const sources::Task& task) {
          return !setup_.left_out().contains(task.id) &&
                 CheckNewFile(setup_.policy(), task.targets, path, setup_.control()).ok();
        });
    if (may_come) {
      found_.warnings.push_back(
          fmt::format("{}: {}; it fails until that or a task changes it", user, lack));
    } else {
      Problem(fmt::format("{}: {}", user, lack));
    }
    return {};
  }

  // Returns why the branch has no program at `path`, with the remedy; "": it has one. Links are
  // followed; one that leads out of the tree counts as present, since its target is unknown.
  Result<std::string> LackOfBranch(const std::string& path) const {
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string mode,
        git_.AskLine(git_.Objects(),
                     {"ls-tree", "--format=%(objectmode)", setup_.base(), "--", path},
                     ports_.cancel));
    if (mode == "100755") return std::string();
    if (mode == "100644") {
      return fmt::format(
          "{0} is no program in {1}; `git update-index --chmod=+x {0}` and a commit make it one",
          path, setup_.ref());
    }
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string found,
        git_.Ask(git_.Objects(),
                 {.arguments = {"cat-file", "--batch-check=%(objecttype)", "--follow-symlinks"},
                  .input = fmt::format("{}:{}\n", setup_.base(), path)},
                 ports_.cancel));
    if (found.starts_with("blob") || found.starts_with("symlink ")) return std::string();
    return fmt::format("there is no program {} in {}; commit it, or correct its path", path,
                       setup_.ref());
  }

  const RunSetup& setup_;
  const RunOptions& options_;
  const RunPorts& ports_;
  const Git& git_;
  std::set<std::string> names_;  // names of engines
  Preflight found_;
};

}  // namespace

Result<Preflight> LookAhead(const RunSetup& setup, const RunOptions& options,
                            const RunPorts& ports) {
  return Looking(setup, options, ports).Run();
}

Status RefuseProblems(const RunSetup& setup, const Preflight& found) {
  if (found.problems.empty()) return {};
  if (found.problems.size() == 1) {
    for (const auto* errors : {&setup.faults(), &setup.lacking_engines()}) {
      if (!errors->empty()) return tl::unexpected(errors->front());
    }
    return MakeError(ErrorCode::kConfig, "nothing was started: {}", found.problems.front());
  }
  return MakeError(ErrorCode::kConfig, "nothing was started, for {} reasons:\n- {}",
                   found.problems.size(), Join(found.problems, "\n- "));
}

Status LogWarnings(const Preflight& found, AgentLog* log) {
  for (const std::string& warning : found.warnings) {
    DOSSIER_RETURN_IF_ERROR(log->Add("warning", "", {{"text", warning}}));
  }
  return {};
}

}  // namespace dossier::agents
