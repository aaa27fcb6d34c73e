#include "sources/header/task.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <queue>
#include <string_view>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sources/header/data_file.h"
#include "sources/header/json_fields.h"
#include "sources/header/note.h"

namespace dossier::sources {
namespace {

constexpr std::size_t kMaxNameBytes = 64;

bool IsNameByte(char c) { return IsAlnum(c) || c == '.' || c == '_' || c == '-'; }

// Names that neither a file ("." and hidden ones) nor a ref (git-check-ref-format) may have.
bool IsBadName(std::string_view name) {
  return name.empty() || name.front() == '.' || name.front() == '-' || name.back() == '.' ||
         name.find("..") != std::string_view::npos || name.ends_with(".lock");
}

}  // namespace

bool StartsBefore(const Task& a, const Task& b) {
  if (a.priority != b.priority) return a.priority < b.priority;
  return a.id < b.id;
}

std::int64_t ReadPriority(const Json& value, std::string* problem) {
  if (value.is_null()) return kDefaultPriority;
  if (const auto* whole = value.if_int64()) return *whole;
  if (const auto* number = value.if_double()) {
    if (std::abs(*number) < 1e15) {
      *problem = fmt::format("priority {} counts as {}", *number, std::floor(*number));
      return static_cast<std::int64_t>(std::floor(*number));
    }
  } else if (const auto* text = value.if_string()) {
    std::string_view digits = TrimSpace(*text);
    if (digits.starts_with('P') || digits.starts_with('p')) digits.remove_prefix(1);
    if (const auto number = ExactNumber<std::int64_t>(digits)) return *number;
  }
  *problem =
      fmt::format("priority {} is no number: it counts as {}", ToJson(value), kDefaultPriority);
  return kDefaultPriority;
}

std::string FileNameOfId(std::string_view id) {
  std::string name;
  bool changed = id.size() > kMaxNameBytes || IsBadName(id);
  for (const char c : id.substr(0, kMaxNameBytes)) {
    changed = changed || !IsNameByte(c);
    name += IsNameByte(c) ? c : '-';
  }
  if (!changed) return name;
  for (std::size_t at = name.find(".."); at != std::string::npos; at = name.find("..")) {
    name[at] = '-';
  }
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, "id");
  return fmt::format("{}-{}", name, Sha256Hex(id).substr(0, 8));
}

namespace {

constexpr std::string_view kProposals = "notes:proposed_tasks";
constexpr std::string_view kDefaultQueue = "tasks";
constexpr std::size_t kMaxQueueFiles = 100'000;

// A task while it is read; problems that do not stop it become warnings.
struct Draft {
  Task task;
  std::string problem;
};

std::string IdText(const Json& id) {
  return id.is_string() ? std::string(id.get_string()) : ToJson(id);
}

std::string Shown(std::string_view id) { return utf8::CleanForTerminal(utf8::Prefix(id, 80)); }

// Reads an id, which may be text or an integer, as text.
Status ReadId(const JsonPlace& at, std::string* out) {
  std::vector<std::string> names;
  if (at.value.is_array() || !ReadNames(at, &names)) return at.Fail("text or a whole number");
  *out = names.front();
  return {};
}

Status ReadPriorityInto(const JsonPlace& at, Draft* out) {
  out->task.priority = ReadPriority(at.value, &out->problem);
  return {};
}

constexpr JsonField<Draft> kTaskFields[] = {
    {"id", Into<ReadId, &Draft::task, &Task::id>},
    {"summary", Into<ReadText, &Draft::task, &Task::summary>},
    {"description", Into<ReadText, &Draft::task, &Task::description>},
    {"acceptance", Into<ReadTexts, &Draft::task, &Task::acceptance>},
    {"files", Into<ReadTexts, &Draft::task, &Task::files>},
    {"targets", Into<ReadTexts, &Draft::task, &Task::targets>},
    {"target_files", Into<ReadTexts, &Draft::task, &Task::targets>},
    {"priority", ReadPriorityInto},
    {"dependencies", Into<ReadNames, &Draft::task, &Task::dependencies>},
    {"depends_on", Into<ReadNames, &Draft::task, &Task::dependencies>},
    {"cwd", Into<ReadText, &Draft::task, &Task::cwd>},
};

// Returns the sorted names of regular files that a queue may contain.
Result<std::vector<std::string>> ListQueue(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename().string();
    std::error_code gone;
    if (name.starts_with('.') || !HasDataEnding(name)) continue;
    if (!std::filesystem::is_regular_file(at->symlink_status(gone))) continue;
    names.push_back(std::move(name));
    if (names.size() > kMaxQueueFiles) {
      return MakeError(ErrorCode::kConfig, "{}: more than {} tasks", folder,
                       GroupDigits(kMaxQueueFiles));
    }
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return MakeErrnoError(error.value(), folder);
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Loader {
 public:
  Loader(const std::string& root, const std::string& notes) : root_(root), notes_(notes) {}

  Status Load(const std::string& source) {
    if (source == kProposals) return LoadProposals();
    if (source.starts_with("notes:")) {
      return MakeError(ErrorCode::kConfig, "tasks: {}: of the notes, only {} holds tasks", source,
                       kProposals);
    }
    return HasDataEnding(source) ? LoadList(source) : LoadQueue(source);
  }

  Status LoadList(const std::string& file) {
    DOSSIER_ASSIGN_OR_RETURN(const DataFile data, ReadDataFile(root_, file));
    AddWarnings(data);
    if (data.value.is_null()) return {};  // an empty file is an empty list
    if (!data.value.is_array()) {
      return MakeError(ErrorCode::kConfig, "{}: must be a list of tasks, each a map",
                       data.PlaceOf(""));
    }
    std::size_t place = 0;
    for (const Json& item : data.value.get_array()) {
      Add(item, {data, fmt::format("/{}", place)}, fmt::format("task {}", place + 1), "");
      ++place;
    }
    return {};
  }

  Status LoadQueue(const std::string& folder) {
    for (const std::string_view part : {"pending", "complete"}) {
      const std::string place = fmt::format("{}/{}", folder, part);
      DOSSIER_ASSIGN_OR_RETURN(const auto names,
                               ListQueue((std::filesystem::path(root_) / place).string()));
      for (const std::string& name : names) {
        const std::string file = fmt::format("{}/{}", place, name);
        const std::string stem = std::filesystem::path(name).stem().string();
        if (part == "pending") {
          DOSSIER_RETURN_IF_ERROR(LoadOne(file, stem));
        } else {
          AddCompleted(file, stem);
        }
      }
    }
    return {};
  }

  Status LoadProposals() {
    const std::string folder = fmt::format("{}/{}", notes_, kProposedQueue);
    DOSSIER_ASSIGN_OR_RETURN(const NoteScan scan,
                             ScanNotes(root_, {.folder = notes_,
                                               .queues = std::span(&kProposedQueue, 1),
                                               .texts = NoteScanOptions::Texts::kKept}));
    for (const Note& note : scan.notes) {
      if (note.status != kGreen) continue;
      const std::string file = fmt::format("{}/{}", folder, note.file);
      const std::string_view body = NoteBody(note.text);
      Keep({.id = note.id,
            .summary = FirstHeading(body),
            .description = std::string(TrimSpace(body)),
            .targets = note.targets,
            .priority = note.rank,
            .file = file},
           [&] { return fmt::format("{}: proposal {}", file, Shown(note.id)); });
    }
    return {};
  }

  Result<TaskList> Take() {
    DOSSIER_RETURN_IF_ERROR(TellTaskProblems(std::move(problems_)));
    if (wrong_priorities_ > kMaxTaskProblems) {
      list_.warnings.push_back(fmt::format("{} more priorities are no whole number",
                                           GroupDigits(wrong_priorities_ - kMaxTaskProblems)));
    }
    return std::move(list_);
  }

 private:
  void AddWarnings(const DataFile& data) {
    list_.warnings.insert(list_.warnings.end(), data.warnings.begin(), data.warnings.end());
  }

  Status LoadOne(const std::string& file, const std::string& stem) {
    DOSSIER_ASSIGN_OR_RETURN(const DataFile data, ReadDataFile(root_, file));
    AddWarnings(data);
    Add(data.value, {data, ""}, "", stem, From::kQueue);
    return {};
  }

  // A finished task cannot stop others: a broken file counts by its name.
  void AddCompleted(const std::string& file, const std::string& stem) {
    Draft draft{.task = {.id = stem}};
    if (const auto data = ReadDataFile(root_, file)) {
      [[maybe_unused]] const Status read = ReadJsonFields<Draft>(
          data->value, file, std::span(kTaskFields, 1), UnknownKeys::kIgnored, &draft);
    }
    list_.completed.push_back(std::move(draft.task.id));
  }

  enum class From { kList, kQueue };

  // `where` names the task in messages; its id is added if it has one. A place in a file is found
  // by reading the file again, so only those are looked for that will be reported.
  void Add(const Json& item, const DataPlace& at, std::string where, const std::string& default_id,
           From from = From::kList) {
    if (problems_.size() > kMaxTaskProblems) return;
    if (const Json* id = Find(item, "id"); id && (id->is_string() || id->is_int64())) {
      where = fmt::format("{} ({})", where.empty() ? "task" : where, Shown(IdText(*id)));
    }
    Draft draft{.task = {.id = default_id, .file = at.file.file, .queued = from == From::kQueue}};
    const Status read =
        ReadJsonFields<Draft>(item, where, kTaskFields, UnknownKeys::kRefused, &draft, &at);
    if (!read) {
      problems_.push_back(read.error().message);
      return;
    }
    if (!draft.problem.empty() && ++wrong_priorities_ <= kMaxTaskProblems) {
      list_.warnings.push_back(
          fmt::format("{}: {}", PlaceText(&at, where, "priority"), draft.problem));
    }
    Keep(std::move(draft.task), [&] { return PlaceText(&at, where, "id"); });
  }

  // `place` returns the place of the task.
  template <typename Where>
  void Keep(Task task, Where place) {
    if (task.id.empty() || task.summary.empty()) {
      problems_.push_back(task.id.empty()
                              ? fmt::format("{}: has no id, a name of its own", place())
                              : fmt::format("{}: has no summary, a line that says what is to be "
                                            "done",
                                            place()));
      return;
    }
    const auto [known, added] = files_.emplace(task.id, task.file);
    if (!added) {
      problems_.push_back(
          fmt::format("{}: this id stands twice, first in {}", place(), known->second));
      return;
    }
    list_.tasks.push_back(std::move(task));
  }

  const std::string& root_;
  const std::string& notes_;
  TaskList list_;
  std::vector<std::string> problems_;
  std::size_t wrong_priorities_ = 0;
  std::map<std::string, std::string> files_;  // by id
};

}  // namespace

Result<TaskList> LoadTasks(const std::string& root, const std::vector<std::string>& sources,
                           const std::string& notes) {
  Loader loader(root, notes);
  if (sources.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const auto file, FindDataFile(root, kTasksStem));
    if (file) DOSSIER_RETURN_IF_ERROR(loader.LoadList(*file));
    DOSSIER_RETURN_IF_ERROR(loader.LoadQueue(std::string(kDefaultQueue)));
  }
  for (const std::string& source : sources) DOSSIER_RETURN_IF_ERROR(loader.Load(source));
  DOSSIER_ASSIGN_OR_RETURN(TaskList list, loader.Take());
  DOSSIER_RETURN_IF_ERROR(CheckCycles(list.tasks, root));
  return list;
}

std::string PlaceOfTask(const std::string& root, const Task& task, std::string_view key) {
  const auto data = ReadDataFile(root, task.file);
  if (!data) return task.file;
  const auto place = [&](const Json& map, std::string path) {
    if (Find(map, key)) path += fmt::format("/{}", key);
    return data->PlaceOf(path);
  };
  if (const auto* list = data->value.if_array()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Json* id = Find((*list)[i], "id");
      if (id && IdText(*id) == task.id) return place((*list)[i], fmt::format("/{}", i));
    }
  }
  return place(data->value, "");
}

namespace {

using Places = std::map<std::string_view, std::size_t>;

Places PlacesOf(std::span<const Task> tasks) {
  Places places;
  for (std::size_t i = 0; i < tasks.size(); ++i) places.emplace(tasks[i].id, i);
  return places;
}

// The number of each task's dependencies in the list, and the tasks that wait for it.
struct Graph {
  std::vector<std::size_t> open;
  std::vector<std::vector<std::size_t>> waiting;
};

Graph MakeGraph(std::span<const Task> tasks) {
  const Places places = PlacesOf(tasks);
  Graph graph{std::vector<std::size_t>(tasks.size()),
              std::vector<std::vector<std::size_t>>(tasks.size())};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const std::string& id : tasks[i].dependencies) {
      const auto found = places.find(id);
      if (found == places.end()) continue;  // it was merged before
      ++graph.open[i];
      graph.waiting[found->second].push_back(i);
    }
  }
  return graph;
}

// Follows unfinished dependencies from `start` until a task occurs again.
std::string ShowCycle(std::span<const Task> tasks, const std::vector<bool>& done,
                      std::size_t start) {
  const Places places = PlacesOf(tasks);
  std::vector<std::size_t> path;
  std::size_t at = start;
  while (std::find(path.begin(), path.end(), at) == path.end()) {
    path.push_back(at);
    for (const std::string& id : tasks[at].dependencies) {
      const auto found = places.find(id);
      if (found != places.end() && !done[found->second]) {
        at = found->second;
        break;
      }
    }
  }
  std::string text;
  for (auto task = std::find(path.begin(), path.end(), at); task != path.end(); ++task) {
    text += utf8::CleanForTerminal(tasks[*task].id) + " -> ";
  }
  return text + utf8::CleanForTerminal(tasks[at].id);
}

}  // namespace

Status TellTaskProblems(std::vector<std::string> problems) {
  if (problems.empty()) return {};
  if (problems.size() > kMaxTaskProblems) {
    problems.resize(kMaxTaskProblems);
    problems.emplace_back("and more");
  }
  return MakeError(ErrorCode::kConfig, "{}", Join(problems, "\n"));
}

Status CheckCycles(std::span<const Task> tasks, const std::string& root) {
  const std::vector<std::size_t> order = StartOrder(tasks);
  if (order.size() == tasks.size()) return {};
  std::vector<bool> done(tasks.size(), false);
  for (const std::size_t index : order) done[index] = true;
  const auto stuck =
      static_cast<std::size_t>(std::find(done.begin(), done.end(), false) - done.begin());
  return MakeError(ErrorCode::kConfig, "{}: tasks wait for each other: {}",
                   PlaceOfTask(root, tasks[stuck], "dependencies"), ShowCycle(tasks, done, stuck));
}

Status CheckDependencies(std::span<const Task> tasks, const std::set<std::string>& merged,
                         const std::string& root) {
  const Places places = PlacesOf(tasks);
  std::vector<std::string> problems;
  for (const Task& task : tasks) {
    for (const std::string& id : task.dependencies) {
      if (places.contains(id) || merged.contains(id)) continue;
      if (problems.size() > kMaxTaskProblems) break;
      std::vector<std::string> ids(merged.begin(), merged.end());
      for (const Task& other : tasks) ids.push_back(other.id);
      const auto near = NearestNames(id, ids, 3);
      problems.push_back(fmt::format("{}: task {} depends on {}, which is no task{}",
                                     PlaceOfTask(root, task, "dependencies"),
                                     utf8::CleanForTerminal(task.id), utf8::CleanForTerminal(id),
                                     near.empty() ? "" : fmt::format(" ({}?)", Join(near, ", "))));
    }
  }
  return TellTaskProblems(std::move(problems));
}

std::vector<std::size_t> StartOrder(std::span<const Task> tasks) {
  Graph graph = MakeGraph(tasks);
  const auto later = [&](std::size_t a, std::size_t b) {
    if (StartsBefore(tasks[a], tasks[b])) return false;
    return StartsBefore(tasks[b], tasks[a]) || a > b;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (graph.open[i] == 0) ready.push(i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const std::size_t waiter : graph.waiting[next]) {
      if (--graph.open[waiter] == 0) ready.push(waiter);
    }
  }
  return order;
}

}  // namespace dossier::sources
