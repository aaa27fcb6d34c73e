#include "evaluation/gate/gate.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/files/missing_file.h"
#include "base/process/git_call.h"
#include "base/process/process.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"
#include "evaluation/stub/stub.h"
#include "model/scripted/serve_script.h"

namespace dossier::evaluation {
namespace {

namespace fs = std::filesystem;

constexpr Millis kQuestionLimit{120'000};
constexpr std::string_view kModelName = "stub";
constexpr std::size_t kShownLog = 2000;  // bytes shown of the end of a build's log

Result<YamlNode> ReadYaml(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadNamedFile(path, kMaxYamlBytes));
  return ParseYaml(text, path);
}

tl::unexpected<Error> NoField(const std::string& path, const YamlEntry& entry) {
  return tl::unexpected(
      PlaceError(path, entry.line, entry.column, fmt::format("no such field: {}", entry.key)));
}

std::vector<std::string> Words(const YamlNode& node) {
  std::vector<std::string> words;
  for (const YamlNode& item : node.items) words.push_back(item.scalar);
  return words;
}

enum class ModelKind : std::uint8_t { kServed, kRecorded, kReal };

// Returns true if a suite has what its kind needs, and nothing that only another kind needs.
bool IsWhole(const GateSuite& suite, ModelKind kind) {
  const bool has_questions = suite.questions.empty() != suite.generate.empty();
  if (suite.name.empty() || !has_questions) return false;
  const bool served = !suite.script.empty() || !suite.plan.empty();
  const bool recorded = !suite.recording.empty() && !suite.model.empty();
  switch (kind) {
    case ModelKind::kServed:
      return suite.script.empty() != suite.plan.empty() && suite.recording.empty();
    case ModelKind::kRecorded:
      return recorded && !served && !suite.questions.empty();
    case ModelKind::kReal:
      return !served && suite.recording.empty();
  }
  return false;
}

std::string_view NeedsOf(ModelKind kind) {
  switch (kind) {
    case ModelKind::kServed:
      return "a suite needs `name:`, one of `questions:` and `generate:`, and one of `script:` and "
             "`plan:`";
    case ModelKind::kRecorded:
      return "a recorded suite needs `name:`, `questions:`, `recording:` and `model:`";
    case ModelKind::kReal:
      return "a nightly suite needs `name:` and one of `questions:` and `generate:`; the model is "
             "that of -m";
  }
  return "";
}

Result<GateSuite> ReadSuite(const YamlNode& node, const std::string& path, ModelKind kind) {
  const std::string folder = fs::absolute(path).parent_path().string();
  GateSuite suite;
  for (const YamlEntry& entry : node.entries) {
    const std::string& text = entry.value.scalar;
    if (entry.key == "name") {
      suite.name = text;
    } else if (entry.key == "questions") {
      suite.questions = folder + "/" + text;
    } else if (entry.key == "script") {
      suite.script = folder + "/" + text;
    } else if (entry.key == "plan") {
      suite.plan = folder + "/" + text;
    } else if (entry.key == "recording") {
      suite.recording = folder + "/" + text;
    } else if (entry.key == "model") {
      suite.model = text;
    } else if (entry.key == "repeats") {
      suite.repeats = static_cast<int>(ParseNumber(text).value_or(0));
    } else if (entry.key == "stub_errors") {
      suite.stub_errors = text;
    } else if (entry.key == "generate") {
      suite.generate = Words(entry.value);
    } else if (entry.key == "flags") {
      suite.flags = Words(entry.value);
    } else {
      return NoField(path, entry);
    }
  }
  if (suite.repeats < 1) {
    return tl::unexpected(
        PlaceError(path, node.line, node.column, "`repeats:` is a number from 1 upwards"));
  }
  if (IsWhole(suite, kind)) return suite;
  return tl::unexpected(PlaceError(path, node.line, node.column, NeedsOf(kind)));
}

Status ReadLimits(const YamlNode& node, const std::string& path, GateLimits* limits) {
  const std::pair<std::string_view, double*> kShares[] = {
      {"requests", &limits->requests},       {"tokens", &limits->tokens},
      {"journal", &limits->journal},         {"prefix", &limits->prefix},
      {"worse_ratio", &limits->worse_ratio}, {"better_ratio", &limits->better_ratio},
      {"half_width", &limits->half_width},   {"most_seconds", &limits->most_seconds}};
  const std::pair<std::string_view, int*> kRounds[] = {{"least_rounds", &limits->least_rounds},
                                                       {"most_rounds", &limits->most_rounds}};
  for (const YamlEntry& entry : node.entries) {
    const auto number = ParseNumber(entry.value.scalar);
    bool known = false;
    for (const auto& [name, to] : kShares) {
      if (name == entry.key && number) *to = *number, known = true;
    }
    for (const auto& [name, to] : kRounds) {
      if (name == entry.key && number) *to = static_cast<int>(*number), known = true;
    }
    if (!known) return NoField(path, entry);
  }
  return {};
}

// Serves the model of a suite until the suite ends.
Result<std::unique_ptr<HttpListener>> ServeModel(const GateSuite& suite, const AskedSet& set) {
  if (!suite.script.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(auto script, model::Script::Load(suite.script));
    return model::ServeScript(std::move(script), {});
  }
  if (!set.source) {
    return MakeError(ErrorCode::kConfig, "{}: a stub needs a task set with labels", suite.name);
  }
  DOSSIER_ASSIGN_OR_RETURN(StubTable table, StubTable::FromSet(*set.source));
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadNamedFile(suite.plan, kMaxYamlBytes));
  StubOptions options;
  DOSSIER_ASSIGN_OR_RETURN(options.plan, StubPlan::Parse(text, suite.plan));
  if (!suite.stub_errors.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(options.errors.share, ParseNumber(suite.stub_errors));
  }
  return model::ServeScript(MakeStub(std::move(table), std::move(options)), {});
}

// Runs all tasks of a suite with one program. `transcripts`: "" stores none. Each run has a new
// server, because a script uses up some replies.
Status RunSuite(const GateSuite& suite, const std::string& program, std::string_view side,
                const SystemParts& parts, const std::string& transcripts, Asking::Events events,
                const CancelToken& cancel, GateFigures* figures) {
  DOSSIER_ASSIGN_OR_RETURN(const AskedSet set, LoadQuestions(suite.questions, cancel, kAnywhere));
  DOSSIER_ASSIGN_OR_RETURN(const auto server, ServeModel(suite, set));
  DOSSIER_ASSIGN_OR_RETURN(const auto proxy, Proxy::Start({.count = parts.count}));
  Arm arm{.name = std::string(side), .system = "dossier", .argv = suite.flags, .program = program};
  arm.argv.insert(arm.argv.end(), {"--seed", "1"});
  DOSSIER_ASSIGN_OR_RETURN(const auto system, MakeSystem(arm, parts));
  const ModelUpstream upstream{.base_url = fmt::format("http://127.0.0.1:{}/v1", server->port()),
                               .model = std::string(kModelName)};
  for (const AskedTask& asked : set.tasks) {
    const auto question = proxy->Open(
        upstream, {},
        transcripts.empty() ? "" : fmt::format("{}/{}.{}.jsonl", transcripts, asked.task.id, side));
    const Answer answer = system->Ask({.asked = &asked,
                                       .url = question->url(),
                                       .model = upstream.model,
                                       .limit = kQuestionLimit,
                                       .events = events},
                                      cancel);
    const Traffic traffic = question->Close();
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    if (answer.status == RowStatus::kHarnessError) {
      return MakeError(ErrorCode::kNotFound, "{} {}: {}", suite.name, asked.task.id, answer.detail);
    }
    AddRun(asked.task.id, answer, traffic.calls, figures);
  }
  return {};
}

double CpuOfChildren() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Result<std::string> GitLine(std::vector<std::string> arguments, const CancelToken& cancel) {
  std::error_code failure;
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult result,
                           CallGit({.folder = fs::current_path(failure).string(),
                                    .arguments = std::move(arguments),
                                    .timeout = Millis(120'000)},
                                   cancel));
  if (result.exit_code == 0) return std::string(TrimSpace(result.out));
  return MakeError(ErrorCode::kNotFound, "git: {}", FirstLine(result.err));
}

// Builds a checkout of `commit`, which is kept for the next time.
Result<std::string> BuildCommit(const std::string& commit, const GateConfig& config,
                                const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string cache, CacheFolder());
  const std::string folder = cache + "/eval-gate/" + commit;
  const std::string program = folder + "/" + config.program, done = folder + ".built";
  if (Exists(done) && Exists(program)) return program;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(cache + "/eval-gate"));
  if (!Exists(folder)) {
    DOSSIER_RETURN_IF_ERROR(GitLine({"worktree", "add", "--detach", folder, commit}, cancel));
  }
  if (!config.build.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult built,
                             RunProcess({.argv = config.build, .folder = folder}, cancel));
    if (built.exit_code != 0 || !Exists(program)) {
      const std::string log = built.out + built.err;
      DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(folder + ".log", log));
      return MakeError(ErrorCode::kNotFound, "{} does not build (all of it: {}.log): {}",
                       commit.substr(0, 12), folder,
                       log.substr(log.size() - std::min(log.size(), kShownLog)));
    }
  }
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(done, ""));
  return program;
}

}  // namespace

Result<GateConfig> LoadGates(const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, ReadYaml(path));
  GateConfig config;
  const struct {
    std::string_view name;
    ModelKind kind;
    std::vector<GateSuite>* suites;
  } kinds[] = {{"suites", ModelKind::kServed, &config.suites},
               {"speed", ModelKind::kServed, &config.speed},
               {"recorded", ModelKind::kRecorded, &config.recorded},
               {"nightly", ModelKind::kReal, &config.nightly}};
  for (const YamlEntry& entry : root.entries) {
    const auto kind = std::ranges::find(kinds, entry.key, [](const auto& one) { return one.name; });
    if (kind != std::end(kinds)) {
      for (const YamlNode& node : entry.value.items) {
        DOSSIER_ASSIGN_OR_RETURN(GateSuite suite, ReadSuite(node, path, kind->kind));
        kind->suites->push_back(std::move(suite));
      }
    } else if (entry.key == "limits") {
      DOSSIER_RETURN_IF_ERROR(ReadLimits(entry.value, path, &config.limits));
    } else if (entry.key == "build") {
      config.build = Words(entry.value);
    } else if (entry.key == "program") {
      config.program = entry.value.scalar;
    } else {
      return NoField(path, entry);
    }
  }
  if (config.suites.empty()) return MakeError(ErrorCode::kConfig, "{}: there is no suite", path);
  return config;
}

Result<std::vector<Accepted>> LoadAccepted(const std::string& path) {
  std::vector<Accepted> accepted;
  if (!Exists(path)) return accepted;
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, ReadYaml(path));
  for (const YamlNode& node : root.items) {
    Accepted one;
    for (const YamlEntry& entry : node.entries) {
      std::string Accepted::* const to = entry.key == "gate"     ? &Accepted::gate
                                         : entry.key == "metric" ? &Accepted::metric
                                         : entry.key == "from"   ? &Accepted::from
                                         : entry.key == "to"     ? &Accepted::to
                                         : entry.key == "reason" ? &Accepted::reason
                                                                 : nullptr;
      if (to == nullptr) return NoField(path, entry);
      one.*to = entry.value.scalar;
    }
    if (one.reason.empty()) {
      return tl::unexpected(
          PlaceError(path, node.line, node.column, "an accepted change needs a `reason:`"));
    }
    accepted.push_back(std::move(one));
  }
  return accepted;
}

Status PrepareSets(const std::string& program, const std::string& folder, const CancelToken& cancel,
                   GateConfig* config) {
  std::vector<GateSuite*> suites;
  for (auto* list : {&config->suites, &config->speed, &config->nightly}) {
    for (GateSuite& suite : *list) suites.push_back(&suite);
  }
  for (std::size_t i = 0; i < suites.size(); ++i) {
    GateSuite& suite = *suites[i];
    if (suite.generate.empty()) continue;
    suite.questions = fmt::format("{}/set-{}", folder, i);
    // A different gates.yml makes different sets.
    std::vector<std::string> argv{program, "eval", "generate"};
    argv.insert(argv.end(), suite.generate.begin(), suite.generate.end());
    argv.insert(argv.end(), {"--out", suite.questions});
    const std::string words = Join(argv, "\n"), stamp = suite.questions + ".words";
    if (ReadFile(stamp).value_or("") == words) continue;
    DOSSIER_RETURN_IF_ERROR(MakeFolders(folder));
    DOSSIER_RETURN_IF_ERROR(RemoveAll(suite.questions));
    DOSSIER_ASSIGN_OR_RETURN(const ProcessResult made, RunProcess({.argv = argv}, cancel));
    if (made.exit_code != 0) {
      return MakeError(ErrorCode::kNotFound, "the set of {} could not be made: {}", suite.name,
                       FirstLine(made.err));
    }
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(stamp, words));
  }
  return {};
}

Result<std::vector<GateLine>> CompareExactly(const GateConfig& config, const GatePrograms& programs,
                                             const SystemParts& parts, const std::string& folder,
                                             const CancelToken& cancel) {
  const std::string transcripts = folder + "/transcripts";
  DOSSIER_RETURN_IF_ERROR(RemoveAll(transcripts));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(transcripts));
  std::vector<GateLine> lines;
  for (const GateSuite& suite : config.suites) {
    GateFigures base, head;
    for (const auto& [program, side, figures] :
         {std::tuple(&programs.base, "base", &base), std::tuple(&programs.head, "head", &head)}) {
      DOSSIER_RETURN_IF_ERROR(RunSuite(suite, *program, side, parts, transcripts,
                                       Asking::Events::kYes, cancel, figures));
    }
    auto found = CompareFigures(suite.name, base, head, config.limits);
    std::move(found.begin(), found.end(), std::back_inserter(lines));
  }
  return lines;
}

Measure MeasureSuites(const GateConfig& config, const SystemParts& parts,
                      const CancelToken& cancel) {
  return [&config, &parts, &cancel](const std::string& program) -> Result<Seconds> {
    const auto began = SystemClock()->Now();
    const double before = CpuOfChildren();
    for (const GateSuite& suite : config.speed.empty() ? config.suites : config.speed) {
      GateFigures unused;
      DOSSIER_RETURN_IF_ERROR(
          RunSuite(suite, program, "speed", parts, "", Asking::Events::kNo, cancel, &unused));
    }
    const std::chrono::duration<double> wall = SystemClock()->Now() - began;
    return Seconds{.cpu = CpuOfChildren() - before, .wall = wall.count()};
  };
}

Result<std::string> ProgramOf(const std::string& reference, const GateConfig& config,
                              const CancelToken& cancel) {
  std::error_code failure;
  if (fs::is_regular_file(reference, failure)) return fs::absolute(reference).string();
  for (const std::string& place :
       {reference + "/" + config.program, reference + "/bin/dossier", reference + "/dossier"}) {
    if (fs::is_regular_file(place, failure)) return fs::absolute(place).string();
  }
  if (IsFolder(reference)) {
    return MakeError(ErrorCode::kNotFound, "{}: there is no {} and no bin/dossier", reference,
                     config.program);
  }
  DOSSIER_ASSIGN_OR_RETURN(
      const std::string commit,
      GitLine({"rev-parse", "--verify", "--end-of-options", reference + "^{commit}"}, cancel));
  return BuildCommit(commit, config, cancel);
}

Result<std::vector<std::string>> CommitsSince(const std::string& good, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(
      const std::string lines,
      GitLine({"rev-list", "--reverse", "--first-parent", "--end-of-options", good + "..HEAD"},
              cancel));
  std::vector<std::string> commits;
  for (const std::string_view line : Split(lines, '\n')) {
    if (!line.empty()) commits.emplace_back(line);
  }
  if (!commits.empty()) return commits;
  return MakeError(ErrorCode::kUsage, "there is no commit behind {}", good);
}

}  // namespace dossier::evaluation
