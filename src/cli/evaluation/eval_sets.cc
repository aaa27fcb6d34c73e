// eval families, generate, check, score-one: the commands for task sets.

#include <iterator>
#include <ostream>
#include <set>

#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/evaluation/eval_commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "evaluation/family.h"
#include "evaluation/generate.h"
#include "evaluation/score.h"
#include "tokens/files/open.h"

namespace dossier::cli {
namespace {

struct FamiliesArguments {
  bool json = false;
};

void DeclareFamilies(Flags& flags, FamiliesArguments& to) {
  flags.Add("--json", &to.json, "one object");
}

Result<int> RunFamilies(const FamiliesArguments& given, Context& context) {
  JsonArray rows;
  for (const evaluation::Family* family : evaluation::Families()) {
    JsonArray parameters;
    if (!given.json) context.out << family->name() << "  " << family->about() << "\n";
    for (const evaluation::Parameter& one : family->parameters()) {
      parameters.push_back(
          JsonObject{{"name", one.name}, {"default", one.fallback}, {"about", one.about}});
      if (given.json) continue;
      context.out << "    " << one.name << "=" << one.fallback << "  " << one.about << "\n";
    }
    rows.push_back(JsonObject{{"name", family->name()},
                              {"about", family->about()},
                              {"parameters", std::move(parameters)}});
  }
  if (given.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.families/1"}, {"families", rows}}) << "\n";
  }
  return 0;
}

struct GenerateArguments {
  std::vector<std::string> families;
  std::string out, items, tokenizer = "o200k_base";
  std::string length;                 // --length; empty: the default of the family
  std::vector<std::string> settings;  // --set K=V
  std::int64_t windows = 10, questions = 10;
  std::uint64_t seed = 1;
  bool json = false;
};

void DeclareGenerate(Flags& flags, GenerateArguments& to) {
  flags.Add("family", &to.families, "families, or quick or standard").Required();
  flags.Add("--out", &to.out, "the folder to write; it must not be there yet")
      .Kind(kPath)
      .Required();
  flags.Add("--length", &to.length, "tokens a window: 16K,64K,256K; bytes for tables and logs")
      .Kind(kList);
  flags.Add("--windows", &to.windows, "windows a length").Between(1, 100'000).ShowDefault();
  flags.Add("--questions", &to.questions, "questions a window").Between(1, 10'000).ShowDefault();
  flags.Add("--seed", &to.seed, "another seed gives other windows").ShowDefault();
  flags.Add("--items", &to.items, "JSONL of {\"text\", \"label\"}; default: the built-in texts")
      .Kind(kPath);
  flags.Add("--tokenizer", &to.tokenizer, "what counts the length").ShowDefault();
  flags.Add("--set", &to.settings, "a parameter of the family, K=V").Kind(kWord);
  flags.Add("--json", &to.json, "one object");
}

Result<evaluation::FamilySpec> SpecOf(const GenerateArguments& given, Context& context) {
  evaluation::FamilySpec spec{.windows = given.windows,
                              .questions = given.questions,
                              .seed = given.seed,
                              .tokenizer = given.tokenizer,
                              .items = given.items,
                              .cancel = context.cancel};
  if (!given.length.empty()) {
    for (const std::string_view part : Split(given.length, ',')) {
      DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t length, ParseSize(part));
      spec.lengths.push_back(static_cast<std::int64_t>(length));
    }
  }
  for (const std::string& setting : given.settings) {
    const std::size_t equal = setting.find('=');
    if (equal == std::string::npos || equal == 0) {
      return MakeError(ErrorCode::kUsage, "--set {}: it wants K=V", setting);
    }
    spec.settings[setting.substr(0, equal)] = setting.substr(equal + 1);
  }
  DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened,
                           tokens::Open(given.tokenizer, tokens::DefaultDataPaths()));
  if (!opened.warning.empty()) PrintWarning(context.err, opened.warning);
  spec.counter = std::move(opened.counter);
  return spec;
}

// Says where a family has fewer kinds of question a window than --questions asks for.
void SayFewer(const GenerateArguments& given, const evaluation::TaskSet& set, std::ostream& err) {
  if (given.questions == GenerateArguments().questions) return;
  for (const std::string& name : given.families) {
    std::set<std::string> windows;
    std::int64_t tasks = 0;
    for (const evaluation::Task& task : set.tasks) {
      if (task.family == name && windows.insert(task.window).second) tasks -= given.questions;
      tasks += task.family == name;
    }
    if (tasks >= 0) continue;
    err << fmt::format("dossier: {} has not {} questions a window: {} fewer in {} window{}\n", name,
                       given.questions, -tasks, windows.size(), windows.size() == 1 ? "" : "s");
  }
}

Result<int> RunGenerate(const GenerateArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const evaluation::FamilySpec spec, SpecOf(given, context));
  DOSSIER_ASSIGN_OR_RETURN(const evaluation::TaskSet set,
                           evaluation::GenerateSet(given.families, spec, given.out));
  if (!context.flags.quiet) SayFewer(given, set, context.err);
  std::size_t windows = 0;
  for (const evaluation::ContextFile& file : set.manifest.files) {
    windows += file.path.starts_with("contexts/");
  }
  std::int64_t refused = 0;
  for (const auto& [rule, count] : set.manifest.refused) refused += count;
  if (given.json) {
    context.out << ToJson(evaluation::ManifestToJson(set.manifest)) << "\n";
    return 0;
  }
  context.out << fmt::format(
      "{}: {} tasks over {} files; both gold paths agree; {} questions refused as too close\n",
      given.out, set.tasks.size(), windows, refused);
  return 0;
}

struct SetArguments {
  std::string folder, task, answer;
  bool json = false;
};

void DeclareCheck(Flags& flags, SetArguments& to) {
  flags.Add("set", &to.folder, "the folder of a task set").Kind(kFolder).Required();
  flags.Add("--json", &to.json, "one object");
}

Result<int> RunCheck(const SetArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const evaluation::TaskSet set, evaluation::TaskSet::Load(given.folder));
  DOSSIER_ASSIGN_OR_RETURN(const evaluation::SetCheck report,
                           evaluation::CheckSet(set, context.cancel));
  const auto array = [](const auto& list) { return JsonArray(list.begin(), list.end()); };
  if (given.json) {
    context.out << ToJson(JsonObject{{"schema", "dossier.evalcheck/1"},
                                     {"tasks", report.tasks},
                                     {"proved", report.proved},
                                     {"oracle", report.oracle},
                                     {"chance", report.chance},
                                     {"floor", report.floor},
                                     {"blind", report.blind},
                                     {"findings", array(report.findings)},
                                     {"skipped", array(report.skipped)}})
                << "\n";
  } else {
    context.out << fmt::format(
        "{} of {} tasks proved\noracle {:.2f}  chance {:.2f}  floor {:.2f}  blind {:.2f}\n",
        report.proved, report.tasks, report.oracle, report.chance, report.floor, report.blind);
    for (const std::string& one : report.findings)
      context.err << utf8::CleanForTerminal(one) << "\n";
    for (const std::string& one : report.skipped) {
      context.err << "not proved: " << utf8::CleanForTerminal(one) << "\n";
    }
  }
  if (!report.findings.empty()) return kExitDifferences;
  return report.skipped.empty() ? 0 : ExitCode(ErrorCode::kPartial);
}

void DeclareScoreOne(Flags& flags, SetArguments& to) {
  flags.Add("set", &to.folder, "the folder of a task set").Kind(kFolder).Required();
  flags.Add("task", &to.task, "the task's id").Required();
  flags.Add("--answer", &to.answer, "the answer; default: stdin").Kind(kWord);
  flags.Add("--json", &to.json, "one object");
}

Result<int> RunScoreOne(const SetArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const evaluation::TaskSet set, evaluation::TaskSet::Load(given.folder));
  std::vector<std::string> ids;
  for (const evaluation::Task& task : set.tasks) {
    ids.push_back(task.id);
    if (task.id != given.task) continue;
    const std::string answer = !given.answer.empty()
                                   ? given.answer
                                   : std::string(std::istreambuf_iterator<char>(context.in),
                                                 std::istreambuf_iterator<char>());
    DOSSIER_ASSIGN_OR_RETURN(const evaluation::Score score,
                             evaluation::ScoreAnswer(task, utf8::Sanitize(answer)));
    if (given.json) {
      context.out << ToJson(JsonObject{{"schema", "dossier.evalscore/1"},
                                       {"official", score.official},
                                       {"lenient", score.lenient},
                                       {"parsed", score.parsed},
                                       {"rule", score.rule}})
                  << "\n";
    } else {
      context.out << fmt::format("official {:.4g}  lenient {:.4g}  by {}: {}\n", score.official,
                                 score.lenient, score.rule, utf8::CleanForTerminal(score.parsed));
    }
    return 0;
  }
  const std::vector<std::string> nearest = NearestNames(given.task, ids);
  return MakeError(ErrorCode::kConfig, "{} has no task {}{}", given.folder, given.task,
                   nearest.empty() ? "" : "; did you mean " + Join(nearest, ", ") + "?");
}

}  // namespace

Command EvalFamiliesCommand() {
  return {.name = "families",
          .summary = "the kinds of task, and what can be set of each",
          .examples =
              "dossier eval families --json\n"
              "    the same, as one object",
          .binding = Bind(DeclareFamilies, RunFamilies)};
}

Command EvalGenerateCommand() {
  return {.name = "generate",
          .summary = "write a task set: windows, questions, answers that are proved twice",
          .examples =
              "dossier eval generate aggregate --length 16K --windows 10 --out sets/a\n"
              "    questions over lines whose labels have to be understood\n"
              "dossier eval generate quick --out sets/quick\n"
              "    40 short tasks of all families",
          .binding = Bind(DeclareGenerate, RunGenerate)};
}

Command EvalCheckCommand() {
  return {.name = "check",
          .summary = "prove a task set again, and that its answers cannot be guessed",
          .examples =
              "dossier eval check sets/a\n"
              "    exit 15 where an answer is wrong or can be guessed",
          .binding = Bind(DeclareCheck, RunCheck)};
}

Command EvalScoreOneCommand() {
  return {.name = "score-one",
          .summary = "score one answer by the published rule, and leniently",
          .examples =
              "dossier eval score-one sets/a aggregate-16K-w0-q0 --answer \"Label: music\"\n"
              "    both scores, and what was taken for the answer",
          .binding = Bind(DeclareScoreOne, RunScoreOne)};
}

}  // namespace dossier::cli
