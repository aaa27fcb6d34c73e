#include "evaluation/task.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/files/file.h"
#include "base/files/missing_file.h"
#include "base/hash.h"
#include "base/json/json.h"

namespace dossier::evaluation {
namespace {

constexpr std::string_view kSchema = "dossier.taskset/1";
constexpr std::string_view kContexts = "contexts/";
constexpr std::string_view kLabelled = "labelled/";
constexpr std::uint64_t kMostTaskBytes = 1ull << 30;

tl::unexpected<Error> Damaged(std::string_view what) {
  return MakeError(ErrorCode::kDamaged, "{}", what);
}

// Returns true if a path stays inside the set, whatever its manifest says.
bool IsInside(std::string_view path) {
  return (path.starts_with(kContexts) || path.starts_with(kLabelled)) &&
         path.find("..") == std::string_view::npos && path.find('\0') == std::string_view::npos;
}

Result<std::string> NeedText(const Json& value, std::string_view key) {
  const auto text = FindString(value, key);
  if (!text) return MakeError(ErrorCode::kDamaged, "\"{}\" is missing or no text", key);
  return std::string(*text);
}

std::map<std::string, std::int64_t> CountsOf(const Json* value) {
  std::map<std::string, std::int64_t> counts;
  if (value == nullptr || !value->is_object()) return counts;
  for (const auto& [name, count] : value->get_object()) {
    if (count.is_int64()) counts[std::string(name)] = count.get_int64();
  }
  return counts;
}

// Hashes a file that may be larger than memory.
Result<std::string> HashFile(const std::string& path) {
  struct stat info{};
  DOSSIER_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegularFile(path, &info));
  Sha256 hash;
  std::string piece(1 << 20, '\0');
  while (true) {
    const ssize_t got = read(fd.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return MakeErrnoError(errno, path);
    if (got == 0) return hash.Hex();
    hash.Update(std::string_view(piece.data(), static_cast<std::size_t>(got)));
  }
}

tl::unexpected<Error> Edited(std::string_view path, std::string_view wanted,
                             std::string_view found) {
  return MakeError(
      ErrorCode::kDamaged,
      "{} was changed after the task set was written: its hash is {}, the manifest has "
      "{}; generate the set again",
      path, found, wanted);
}

}  // namespace

std::string_view NeedsName(Needs needs) { return needs == Needs::kLabel ? "label" : "structure"; }

JsonObject TaskToJson(const Task& task) {
  JsonArray contexts;
  for (const ContextFile& file : task.contexts) contexts.push_back(Json(file.path));
  JsonObject row{{"id", task.id},
                 {"family", task.family},
                 {"window", task.window},
                 {"contexts", std::move(contexts)},
                 {"question", task.question},
                 {"gold", task.gold},
                 {"scorer", task.scorer},
                 {"needs", NeedsName(task.needs)},
                 {"chance", task.chance}};
  if (!task.stub_gold.empty()) row["stub_gold"] = task.stub_gold;
  row["meta"] = task.meta;
  return row;
}

Result<Task> TaskFromJson(const Json& row, const std::map<std::string, ContextFile>& files) {
  Task task;
  for (const auto& [key, to] :
       {std::pair("id", &task.id), std::pair("family", &task.family),
        std::pair("window", &task.window), std::pair("question", &task.question),
        std::pair("scorer", &task.scorer)}) {
    DOSSIER_ASSIGN_OR_RETURN(*to, NeedText(row, key));
  }
  // Runs use task ids in file names.
  if (task.id.empty() || task.id.find('/') != std::string::npos || task.id.starts_with('.')) {
    return Damaged("\"id\" is empty, begins with a dot or holds a slash");
  }
  const Json* gold = Find(row, "gold");
  if (gold == nullptr || !gold->is_array()) return Damaged("\"gold\" is no list");
  for (const Json& one : gold->get_array()) {
    if (!one.is_string()) return Damaged("\"gold\" has an entry that is no text");
  }
  task.gold = *gold;
  const Json* contexts = Find(row, "contexts");
  if (contexts == nullptr || !contexts->is_array() || contexts->get_array().empty()) {
    return Damaged("the task has no \"contexts\"");
  }
  for (const std::string& path : StringsOf(contexts)) {
    const auto file = files.find(path);
    if (file == files.end()) {
      return MakeError(ErrorCode::kDamaged, "context {} is not in the manifest", path);
    }
    task.contexts.push_back(file->second);
  }
  const std::string needs = TextAt(row, "needs");
  if (needs != "label" && needs != "structure") {
    return Damaged("\"needs\" is neither label nor structure");
  }
  task.needs = needs == "label" ? Needs::kLabel : Needs::kStructure;
  task.chance = FindNumber(row, "chance").value_or(0);
  if (const Json* stub = Find(row, "stub_gold"); stub != nullptr && stub->is_object()) {
    task.stub_gold = stub->get_object();
  }
  if (const Json* meta = Find(row, "meta"); meta != nullptr && meta->is_object()) {
    task.meta = meta->get_object();
  }
  return task;
}

JsonObject ManifestToJson(const Manifest& manifest) {
  JsonArray files;
  for (const ContextFile& file : manifest.files) {
    files.push_back(
        JsonObject{{"path", file.path}, {"sha256", file.sha256}, {"tokens", file.tokens}});
  }
  return {{"schema", kSchema},
          {"family", JsonArray(manifest.families.begin(), manifest.families.end())},
          {"parameters", manifest.parameters},
          {"seed", manifest.seed},
          {"tokenizer", manifest.tokenizer},
          {"pool", JsonObject{{"sha256", manifest.pool.sha256},
                              {"rows", manifest.pool.rows},
                              {"dropped", CountsJson(manifest.pool.dropped)}}},
          {"files", std::move(files)},
          {"tasks_sha256", manifest.tasks_sha256},
          {"refused", CountsJson(manifest.refused)},
          {"chance", manifest.chance},
          {"floor", manifest.floor}};
}

Result<Manifest> ManifestFromJson(const Json& value) {
  if (TextAt(value, "schema") != kSchema) {
    return MakeError(ErrorCode::kDamaged, "\"schema\" is not {}", kSchema);
  }
  Manifest manifest;
  manifest.families = StringsOf(Find(value, "family"));
  if (const Json* parameters = Find(value, "parameters");
      parameters != nullptr && parameters->is_object()) {
    manifest.parameters = parameters->get_object();
  }
  const Json* seed = Find(value, "seed");
  if (seed == nullptr || !(seed->is_int64() || seed->is_uint64())) return Damaged("no \"seed\"");
  manifest.seed = seed->to_number<std::uint64_t>();
  DOSSIER_ASSIGN_OR_RETURN(manifest.tokenizer, NeedText(value, "tokenizer"));
  if (const Json* pool = Find(value, "pool")) {
    manifest.pool = {.sha256 = TextAt(*pool, "sha256"),
                     .rows = FindInt(*pool, "rows").value_or(0),
                     .dropped = CountsOf(Find(*pool, "dropped"))};
  }
  const Json* files = Find(value, "files");
  if (files == nullptr || !files->is_array()) return Damaged("\"files\" is no list");
  for (const Json& one : files->get_array()) {
    ContextFile file{.path = TextAt(one, "path"),
                     .sha256 = TextAt(one, "sha256"),
                     .tokens = FindInt(one, "tokens").value_or(0)};
    if (!IsInside(file.path)) {
      return MakeError(ErrorCode::kDamaged, "file {} lies neither in contexts/ nor in labelled/",
                       file.path);
    }
    if (!IsSha256Hex(file.sha256)) {
      return MakeError(ErrorCode::kDamaged, "file {} has no \"sha256\"", file.path);
    }
    manifest.files.push_back(std::move(file));
  }
  manifest.tasks_sha256 = TextAt(value, "tasks_sha256");
  manifest.refused = CountsOf(Find(value, "refused"));
  manifest.chance = FindNumber(value, "chance").value_or(0);
  manifest.floor = FindNumber(value, "floor").value_or(0);
  return manifest;
}

Result<TaskSet> TaskSet::Load(const std::string& folder) {
  TaskSet set{.folder = folder};
  const std::string manifest_path = folder + "/manifest.json";
  if (!Exists(folder)) {
    Error missing = ExplainMissing({ErrorCode::kNotFound, ""}, folder);
    missing.message = "there is no such task set: " + missing.message;
    return tl::unexpected(std::move(missing));
  }
  if (!Exists(manifest_path)) {
    return MakeError(ErrorCode::kNotFound,
                     "{} is no task set; name a folder that `dossier eval generate` wrote", folder);
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(manifest_path, kMostTaskBytes));
  const auto place = [](std::string_view path, const Error& error) {
    return MakeError(ErrorCode::kDamaged, "{}: {}", path, error.message);
  };
  const auto value = ParseJson(text);
  if (!value) return place(manifest_path, value.error());
  auto manifest = ManifestFromJson(*value);
  if (!manifest) return place(manifest_path, manifest.error());
  set.manifest = std::move(*manifest);
  std::map<std::string, ContextFile> files;
  for (const ContextFile& file : set.manifest.files) files[file.path] = file;

  const std::string tasks_path = folder + "/tasks.jsonl";
  DOSSIER_ASSIGN_OR_RETURN(const std::string lines, ReadFile(tasks_path, kMostTaskBytes));
  std::set<std::string> ids;
  std::size_t line = 0;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string where = fmt::format("{}:{}", tasks_path, ++line);
    const auto row = ParseJson(std::string_view(lines).substr(at, end - at));
    if (!row) return place(where, row.error());
    auto task = TaskFromJson(*row, files);
    if (!task) return place(where, task.error());
    if (!ids.insert(task->id).second) {
      return MakeError(ErrorCode::kDamaged, "{}: the id {} stands there twice", where, task->id);
    }
    set.tasks.push_back(std::move(*task));
    at = end + 1;
  }
  return set;
}

std::string TaskSet::LabelledPath(std::string_view context_path) {
  return std::string(kLabelled) + std::string(context_path.substr(
                                      context_path.starts_with(kContexts) ? kContexts.size() : 0));
}

Result<std::string> TaskSet::ReadContext(const ContextFile& file) const {
  DOSSIER_ASSIGN_OR_RETURN(std::string text, ReadFile(PathOf(file)));
  if (const std::string found = Sha256Hex(text); found != file.sha256) {
    return Edited(PathOf(file), file.sha256, found);
  }
  return text;
}

Result<std::string> TaskSet::ReadLabelled(const ContextFile& file) const {
  const std::string path = LabelledPath(file.path);
  for (const ContextFile& one : manifest.files) {
    if (one.path == path) return ReadContext(one);
  }
  return MakeError(ErrorCode::kNotFound, "{}/{}: the window has no labelled twin", folder, path);
}

Status TaskSet::CheckFiles() const {
  for (const ContextFile& file : manifest.files) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string found, HashFile(PathOf(file)));
    if (found != file.sha256) return Edited(PathOf(file), file.sha256, found);
  }
  return {};
}

Status TaskSet::CheckTasks() const {
  const std::string path = folder + "/tasks.jsonl";
  DOSSIER_ASSIGN_OR_RETURN(const std::string found, HashFile(path));
  if (manifest.tasks_sha256.empty() || found == manifest.tasks_sha256) return {};
  return Edited(path, manifest.tasks_sha256, found);
}

}  // namespace dossier::evaluation
