#include "sources/header/header_source.h"

#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/files/file.h"
#include "base/process/process.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/header/json_fields.h"

namespace dossier::sources {
namespace {

template <typename List>
bool Has(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

// Returns the changed files that exist, with their times.
std::vector<ChangedFile> TimesOf(const std::string& root, const std::vector<std::string>& paths) {
  std::vector<ChangedFile> files;
  for (const std::string& path : paths) {
    struct stat info{};
    const std::string whole = (std::filesystem::path(root) / path).string();
    if (lstat(whole.c_str(), &info) != 0) continue;  // deleted
    files.push_back({path, NanosSinceEpoch(info.st_mtim)});
  }
  return files;
}

AgentEngine::Output OutputOf(const AgentsConfig& agents) {
  const AgentEngine* engine = agents.FindEngine(agents.engineer);
  return engine ? engine->output : AgentEngine::Output::kPatchFile;
}

// Returns "Debian GNU/Linux 12 (bookworm)" from os-release, else the kernel's name.
std::string OperatingSystem() {
  constexpr std::string_view kName = "PRETTY_NAME=";
  const std::string text = ReadFile("/etc/os-release", 64 << 10).value_or("");
  for (std::string_view line : Split(text, '\n')) {
    if (!line.starts_with(kName)) continue;
    line.remove_prefix(kName.size());
    if (line.size() >= 2 && line.front() == '"') line = line.substr(1, line.size() - 2);
    return std::string(line);
  }
  utsname system{};
  return uname(&system) == 0 ? std::string(system.sysname) : "unknown";
}

std::string SandboxName() {
  const long version =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? fmt::format("landlock {}", version) : "none";
}

// A default route is all that can be known without sending anything.
std::string NetworkState() {
  const std::string routes = ReadFile("/proc/net/route", 1 << 20).value_or("");
  for (const std::string_view line : Split(routes, '\n')) {
    const auto fields = Split(line, '\t');
    if (fields.size() > 1 && fields[1] == "00000000") return "routed";
  }
  return "none";
}

constexpr std::string_view kModes[] = {"propose", "review"};

Status ReadExtras(const JsonPlace& at, HeaderRequest* out) {
  std::vector<std::string> names;
  DOSSIER_RETURN_IF_ERROR(ReadTexts(at, &names));
  DOSSIER_ASSIGN_OR_RETURN(out->with, ParseExtras("with", Join(names, ",")));
  return {};
}

constexpr JsonField<HeaderRequest> kRequestFields[] = {
    {"task", Into<ReadText, &HeaderRequest::task_id>},
    {"mode", Into<ReadWordOf<kModes>, &HeaderRequest::mode>},
    {"window", Into<ReadTimeFrom<0>, &HeaderRequest::window>},
    {"age_step", Into<ReadTimeFrom<0>, &HeaderRequest::age_step>},
    {"with", ReadExtras},
};

}  // namespace

Result<Task> FindTask(std::span<const Task> tasks, std::string_view id) {
  std::vector<std::string> ids;
  for (const Task& task : tasks) {
    if (task.id == id) return task;
    ids.push_back(task.id);
  }
  return MakeError(ErrorCode::kNotFound, "there is no task {}{}", utf8::CleanForTerminal(id),
                   DidYouMean(id, ids, 3));
}

Result<std::vector<std::string>> ParseExtras(std::string_view flag, std::string_view list) {
  std::vector<std::string> names;
  for (const std::string_view part : Split(list, ',')) {
    const std::string_view name = TrimSpace(part);
    if (!Has(kHeaderExtras, name)) {
      const std::vector<std::string> known(std::begin(kHeaderExtras), std::end(kHeaderExtras));
      return MakeError(ErrorCode::kUsage, "{} {}: must be some of {}{}", flag,
                       utf8::CleanForTerminal(list), Join(known, ", "), DidYouMean(name, known));
    }
    names.emplace_back(name);
  }
  return names;
}

Result<HeaderRequest> ReadHeaderRequest(const Json& with, Clock::Wall now) {
  HeaderRequest request{.now = now};
  if (!with.is_null()) {
    DOSSIER_RETURN_IF_ERROR(ReadJsonFields<HeaderRequest>(with, "source: header", kRequestFields,
                                                          UnknownKeys::kRefused, &request));
  }
  return request;
}

HeaderEnvironment ProbeEnvironment() {
  HeaderEnvironment environment{
      .os = OperatingSystem(), .sandbox = SandboxName(), .network = NetworkState()};
  for (const std::string_view tool : {"git", "python3", "node", "make", "cmake", "gcc", "clang",
                                      "go", "cargo", "java", "docker"}) {
    if (FindProgram(tool)) environment.tools.emplace_back(tool);
  }
  return environment;
}

Result<CollectedHeader> HeaderSource::Collect(const HeaderRequest& request) {
  const std::vector<std::string>& with = request.with ? *request.with : agents_.header.with;
  CollectedHeader out;
  DOSSIER_ASSIGN_OR_RETURN(out.notes, ScanNotes(root(), {.folder = agents_.notes}));
  DOSSIER_ASSIGN_OR_RETURN(out.tasks, LoadTasks(root(), agents_.tasks, agents_.notes));
  DOSSIER_ASSIGN_OR_RETURN(out.policy, LoadChangePolicy(root(), agents_.policy));
  if (request.task_id) {
    DOSSIER_ASSIGN_OR_RETURN(out.task, FindTask(out.tasks.tasks, *request.task_id));
  }
  out.repo = watch_.Get({.dirty = Has(with, "dirty"),
                         .changed = agents_.header.hotspot_files,
                         .upstream = Has(with, "upstream"),
                         .commits = Has(with, "commits")});
  std::vector<Task> open = out.tasks.tasks;
  if (done_) {
    const std::set<std::string> done = done_(open);
    std::erase_if(open, [&done](const Task& task) { return done.contains(task.id); });
  }
  HeaderInput input{.repo = out.repo,
                    .notes = out.notes.notes,
                    .tasks = open,
                    .policy = &out.policy,
                    .output = request.output.value_or(OutputOf(agents_)),
                    .mode = request.mode,
                    .window = request.window.value_or(agents_.header.window),
                    .age_step = request.age_step.value_or(agents_.header.age_step),
                    .now = request.now,
                    .hotspot_notes = agents_.header.hotspot_notes,
                    .extras = {.dirty = Has(with, "dirty"),
                               .upstream = Has(with, "upstream"),
                               .commits = Has(with, "commits"),
                               .date = Has(with, "date")}};
  if (request.targets) {
    input.targets = *request.targets;
  } else if (out.task) {
    input.targets = out.task->targets;
  }
  out.now = RoundDown(input.now, input.age_step);
  if (agents_.header.hotspot_files) input.changed_files = TimesOf(root(), out.repo.changed);
  if (Has(with, "environment")) input.extras.environment = ProbeEnvironment();
  out.header = BuildHeader(input);

  const auto warn = [&](const std::vector<std::string>& more) {
    out.warnings.insert(out.warnings.end(), more.begin(), more.end());
  };
  warn(agents_.warnings);
  if (!out.repo.problem.empty()) out.warnings.push_back(out.repo.problem);
  warn(out.tasks.warnings);
  warn(out.policy.warnings);
  if (out.notes.skipped > 0) {
    out.warnings.push_back(
        fmt::format("{} of the notes could not be read", GroupDigits(out.notes.skipped)));
  }
  warn(out.header.warnings);
  if (out.header.cuts > 0) {
    out.warnings.push_back(fmt::format("{} long {} shortened in the header", out.header.cuts,
                                       out.header.cuts == 1 ? "text was" : "texts were"));
  }
  return out;
}

}  // namespace dossier::sources
