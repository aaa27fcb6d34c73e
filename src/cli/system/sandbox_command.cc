#include "cli/system/sandbox_command.h"

#include <algorithm>
#include <iostream>
#include <iterator>

#include "agents/engine/process_jail.h"
#include "app/documents_handler.h"
#include "ask/documents/context_set.h"
#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/text/text.h"
#include "cli/commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/shared_flags.h"
#include "inspect/description/hint.h"
#include "sandbox/probes/escape.h"
#include "sandbox/probes/jail_trials.h"
#include "store/content.h"

namespace dossier::cli {
namespace {

using sandbox::BlockResult;
using sandbox::BlockStatus;

constexpr std::uint64_t kMaxBlockBytes = 64u << 20;

Result<SandboxChoice> Choose(const SandboxFlags& flags, const std::string& worker_path,
                             const std::vector<std::string>& disabled_layers) {
  DOSSIER_ASSIGN_OR_RETURN(SandboxChoice choice, ParseSandboxFlags(flags));
  choice.pool.worker_path = worker_path;
  choice.pool.disabled_layers = disabled_layers;
  return choice;
}

void WarnIfDegraded(const sandbox::IsolationReport& report, std::ostream& err) {
  if (report.mode != sandbox::IsolationMode::kDegraded) return;
  PrintWarning(err, report.gaps.empty()
                        ? "sandbox: degraded was asked for; every required layer is there"
                        : "sandbox: degraded: " + Join(report.gaps, "; "));
}

Result<int> Test(const SandboxTestArguments& arguments, std::ostream& out, std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(
      const SandboxChoice choice,
      Choose(arguments.flags, arguments.worker_path, arguments.disabled_layers));
  DOSSIER_ASSIGN_OR_RETURN(const auto pool, sandbox::Pool::Make(choice.pool));
  DOSSIER_ASSIGN_OR_RETURN(const sandbox::EscapeReport report,
                           sandbox::RunEscapeTests(*pool, choice.pool, arguments.cancel));
  WarnIfDegraded(report.isolation, err);
  DOSSIER_ASSIGN_OR_RETURN(
      const auto trials,
      sandbox::RunJailTrials(choice.pool.mode, agents::AgentJails(), arguments.cancel));
  if (arguments.json) {
    Json json = report.ToJson();
    json.get_object()["jails"] = sandbox::TrialsJson(trials);
    out << ToJson(json) << "\n";
  } else {
    for (const sandbox::EscapeOutcome& outcome : report.outcomes) {
      if (outcome.refused) continue;
      out << fmt::format("{} {}: {}\n", outcome.id, outcome.name, outcome.how);
    }
    out << report.Summary() << "\n\n" << sandbox::TrialTable(trials);
  }
  out.flush();
  const bool refused = report.all_refused() && std::ranges::all_of(trials, [](const auto& trial) {
                         return trial.refused();
                       });
  return refused ? 0 : ExitCode(ErrorCode::kCheckFailed);
}

// The contexts of a session, in the order in which the worker numbers them.
struct Contexts {
  TempFolder folder;
  std::unique_ptr<store::ContentStore> content;
  std::shared_ptr<const ask::ContextSet> set;  // last: its copies end before the folder is removed
};

Result<Contexts> LoadContexts(const SandboxRunArguments& arguments) {
  DOSSIER_ASSIGN_OR_RETURN(TempFolder folder, TempFolder::Make("dossier-run"));
  DOSSIER_ASSIGN_OR_RETURN(auto content, store::ContentStore::Open(folder.path()));
  std::vector<ask::ContextSource> sources;
  for (const std::string& path : arguments.contexts) sources.push_back({.path = path});
  ask::ContextOptions options;
  options.content = content.get();
  DOSSIER_ASSIGN_OR_RETURN(auto set, ask::LoadContext(sources, options, arguments.cancel));
  return Contexts{std::move(folder), std::move(content), std::move(set)};
}

Result<std::vector<ask::TextDocument>> AddContexts(const ask::ContextSet& set,
                                                   inspect::Runtime runtime,
                                                   sandbox::SessionSpec* spec) {
  std::vector<ask::TextDocument> documents;
  for (std::size_t i = 0; i < set.documents().size(); ++i) {
    const ask::ContextDocument& document = set.documents()[i];
    DOSSIER_ASSIGN_OR_RETURN(const ask::StoredText* stored, set.Stored(i));
    const std::string_view text = stored->map.bytes();
    spec->contexts.push_back({.name = document.name,
                              .fd = stored->fd.get(),
                              .bytes = text.size(),
                              .characters = document.description.counts.chars,
                              .meta = inspect::ContextMeta(document.description, runtime)});
    documents.push_back({document.name, text, document.description});
  }
  DOSSIER_ASSIGN_OR_RETURN(std::vector<sandbox::ContextText> databases, ask::DatabasesOf(set));
  std::ranges::move(databases, std::back_inserter(spec->contexts));
  return documents;
}

Result<std::string> ReadBlock(const std::string& path) {
  if (path != "-") return ReadNamedFile(path, kMaxBlockBytes);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

Json BlockJson(const std::string& path, const BlockResult& result) {
  JsonObject block{{"file", path},
                   {"status", sandbox::BlockStatusName(result.status)},
                   {"out", result.out},
                   {"out_bytes", result.out_bytes},
                   {"dropped", result.out_dropped},
                   {"last", result.last},
                   {"cpu_ms", result.cpu.count()},
                   {"wall_ms", result.wall.count()}};
  if (result.error) {
    block["error"] = JsonObject{{"type", result.error->type},
                                {"message", result.error->message},
                                {"line", result.error->line},
                                {"traceback", result.error->traceback}};
  }
  return block;
}

// Returns the traceback, whose last sentence includes the hint that the model gets.
std::string ErrorText(const sandbox::BlockError& error) {
  std::string text = error.traceback;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (!text.empty() && error.message.empty()) return text;
  const std::size_t last = text.rfind("\n" + error.type + ":");
  if (last != std::string::npos) text.resize(last + 1);
  return text + fmt::format("{}: {}\n", error.type, error.message);
}

void PrintBlock(const std::string& path, const BlockResult& result, std::ostream& out,
                std::ostream& err) {
  out << result.out;
  if (!result.last.empty()) out << result.last << (result.last.ends_with('\n') ? "" : "\n");
  if (result.answer) out << result.answer->text << "\n";
  out.flush();
  if (result.error) err << ErrorText(*result.error);
  if (!result.refused.empty()) PrintWarning(err, fmt::format("{}: {}", path, result.refused));
  for (const std::string& note : result.notes) PrintWarning(err, fmt::format("{}: {}", path, note));
  if (result.status == BlockStatus::kDied || result.status == BlockStatus::kInterrupted) {
    PrintWarning(err, fmt::format("{}: {} {}", path, sandbox::BlockStatusName(result.status),
                                  result.death_reason));
  }
}

bool Succeeded(BlockStatus status) {
  return status == BlockStatus::kOk || status == BlockStatus::kFinal;
}

Status CheckRun(const SandboxRunArguments& arguments) {
  if (arguments.files.empty()) {
    return MakeError(ErrorCode::kUsage, "sandbox run: no file to run; - reads stdin");
  }
  DOSSIER_RETURN_IF_ERROR(sandbox::ParseDialect(arguments.dialect));
  return {};
}

Result<int> RunSandboxFiles(const SandboxRunArguments& arguments, std::ostream& out,
                            std::ostream& err) {
  DOSSIER_RETURN_IF_ERROR(CheckRun(arguments));
  DOSSIER_ASSIGN_OR_RETURN(SandboxChoice choice, Choose(arguments.flags, arguments.worker_path,
                                                        arguments.disabled_layers));
  DOSSIER_ASSIGN_OR_RETURN(choice.pool.dialect, sandbox::ParseDialect(arguments.dialect));
  std::vector<std::string> blocks;
  for (const std::string& path : arguments.files) {
    DOSSIER_ASSIGN_OR_RETURN(std::string code, ReadBlock(path));
    blocks.push_back(std::move(code));
  }
  DOSSIER_ASSIGN_OR_RETURN(const Contexts contexts, LoadContexts(arguments));
  sandbox::SessionSpec spec;
  spec.limits = choice.limits;
  spec.context_string_max = choice.context_string_max;
  spec.features = {{"profile", "large"}, {"depth", 0}, {"question", ""}};
  DOSSIER_ASSIGN_OR_RETURN(
      auto documents,
      AddContexts(*contexts.set,
                  choice.pool.dialect == sandbox::Dialect::kPython ? inspect::Runtime::kPython
                                                                   : inspect::Runtime::kJavascript,
                  &spec));
  app::DocumentsHandler handler(std::move(documents));
  DOSSIER_ASSIGN_OR_RETURN(const auto pool, sandbox::Pool::Make(choice.pool));
  DOSSIER_ASSIGN_OR_RETURN(const auto session, pool->Open(std::move(spec), arguments.cancel));
  WarnIfDegraded(session->report(), err);

  JsonArray results;
  BlockStatus last = BlockStatus::kOk;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    DOSSIER_ASSIGN_OR_RETURN(const BlockResult result,
                             session->Run(blocks[i], {.cancel = arguments.cancel}, handler));
    last = result.status;
    if (arguments.json) {
      results.push_back(BlockJson(arguments.files[i], result));
    } else {
      PrintBlock(arguments.files[i], result, out, err);
    }
    if (result.status == BlockStatus::kFinal) break;
  }
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.sandbox.run/1"},
                             {"blocks", std::move(results)},
                             {"sandbox", session->report().ToJson()}})
        << "\n"
        << std::flush;
  }
  return Succeeded(last) ? 0 : 1;
}

void DeclareSandboxTest(Flags& flags, SandboxTestArguments& to) {
  flags.Add("--json", &to.json, "one object with every attempt");
  AddSandboxFlags(flags, &to.flags);
}

void DeclareRun(Flags& flags, SandboxRunArguments& to) {
  flags.Add("file", &to.files, "the blocks in order; - is stdin").Required().Kind(kPath);
  flags.Add("-c,--context", &to.contexts, "a file that the code sees as `context`").Kind(kPath);
  flags.Add("--dialect", &to.dialect, "language of the code that the model writes").ShowDefault();
  flags.Add("--json", &to.json, "one object with every block's result");
  AddSandboxFlags(flags, &to.flags);
}

Result<int> TestIn(const SandboxTestArguments& given, Context& context) {
  SandboxTestArguments arguments = given;
  arguments.cancel = context.cancel;
  return Test(arguments, context.out, context.err);
}

Result<int> RunIn(const SandboxRunArguments& given, Context& context) {
  SandboxRunArguments arguments = given;
  arguments.cancel = context.cancel;
  return RunSandboxFiles(arguments, context.out, context.err);
}

}  // namespace

int RunSandboxTest(const SandboxTestArguments& arguments, std::ostream& out, std::ostream& err) {
  const Result<int> code = Test(arguments, out, err);
  return code ? *code : Fail(code.error(), FormOf(arguments.json), out, err);
}

int RunSandboxRun(const SandboxRunArguments& arguments, std::ostream& out, std::ostream& err) {
  const Result<int> code = RunSandboxFiles(arguments, out, err);
  return code ? *code : Fail(code.error(), FormOf(arguments.json), out, err);
}

Command SandboxCommand() {
  return {.name = "sandbox",
          .summary = "the walls around code that a model wrote",
          .examples =
              "dossier sandbox test\n"
              "    what code of a model can and can not do here",
          .commands = {{.name = "test",
                        .summary = "try every known way out",
                        .binding = Bind(DeclareSandboxTest, TestIn)},
                       {.name = "run",
                        .summary = "run files as a model's code would run, without a model",
                        .binding = Bind(DeclareRun, RunIn)},
                       SandboxExecCommand(),
                       SandboxPolicyCommand()}};
}

}  // namespace dossier::cli
