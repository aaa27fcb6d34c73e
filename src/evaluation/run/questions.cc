#include "evaluation/run/questions.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "base/files/file.h"
#include "base/files/glob.h"
#include "base/files/missing_file.h"
#include "base/files/secret_files.h"
#include "base/files/walk.h"
#include "base/hash.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"
#include "evaluation/score.h"
#include "inspect/describe/describe.h"
#include "inspect/formats/csv_scanner.h"

namespace dossier::evaluation {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostQuestionsBytes = 256u << 20;
constexpr std::size_t kMostQuestions = 1'000'000;
constexpr std::size_t kMostContextFiles = 100'000;
constexpr std::size_t kHeadBytes = 64 << 10;  // used to detect binary files
constexpr std::string_view kDefaultScorer = "contains";
constexpr std::string_view kOwnFamily = "questions";
// Scorers that need more than the answer: a program or a model.
constexpr std::array<std::string_view, 2> kRunScorers = {"command", "judge"};

constexpr std::array<std::string_view, 10> kFields = {"id",     "question", "context",   "contexts",
                                                      "gold",   "scorer",   "tolerance", "tags",
                                                      "rubric", "command"};

// A question as in the file, in any format: every value is a list of texts.
struct RawQuestion {
  std::string place;  // "my.yml:12"
  std::map<std::string, std::vector<std::string>, std::less<>> fields;

  const std::vector<std::string>* Find(std::string_view name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : &found->second;
  }
  std::string Text(std::string_view name) const {
    const auto* found = Find(name);
    return found && !found->empty() ? found->front() : "";
  }
};

tl::unexpected<Error> Wrong(const std::string& place, std::string_view what) {
  return MakeError(ErrorCode::kConfig, "{}: {}", place, what);
}

Status AddField(RawQuestion* to, std::string_view name, std::vector<std::string> values) {
  if (std::find(kFields.begin(), kFields.end(), name) == kFields.end()) {
    return MakeError(ErrorCode::kConfig, "{}: no such field: {}{}", to->place, name,
                     DidYouMean(name, kFields));
  }
  to->fields[std::string(name == "context" ? "contexts" : name)] = std::move(values);
  return {};
}

std::string TextOf(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kScalar) return node.scalar;
  return node.kind == YamlNode::Kind::kNull ? "" : ToJson(ToJsonValue(node));
}

std::vector<std::string> TextsOf(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kNull) return {};
  if (node.kind != YamlNode::Kind::kList) return {TextOf(node)};
  std::vector<std::string> texts;
  for (const YamlNode& item : node.items) texts.push_back(TextOf(item));
  return texts;
}

std::vector<std::string> TextsOf(const Json& value) {
  const auto text = [](const Json& one) {
    return one.is_string() ? std::string(one.get_string()) : ToJson(one);
  };
  if (value.is_null()) return {};
  if (!value.is_array()) return {text(value)};
  std::vector<std::string> texts;
  for (const Json& one : value.get_array()) texts.push_back(text(one));
  return texts;
}

Result<RawQuestion> ReadNode(const YamlNode& node, std::string_view file) {
  RawQuestion raw{.place = fmt::format("{}:{}", file, node.line)};
  if (node.kind != YamlNode::Kind::kMap) return Wrong(raw.place, "a question is `field: value`");
  for (const YamlEntry& entry : node.entries) {
    DOSSIER_RETURN_IF_ERROR(AddField(&raw, entry.key, TextsOf(entry.value)));
  }
  return raw;
}

struct RawFile {
  RawQuestion defaults;
  std::vector<RawQuestion> questions;
};

Result<RawFile> ReadYamlQuestions(std::string_view text, const std::string& name) {
  DOSSIER_ASSIGN_OR_RETURN(
      const YamlNode root,
      ParseYaml(text, name, {.max_bytes = kMostQuestionsBytes, .max_nodes = 20 * kMostQuestions}));
  RawFile file;
  const YamlNode* questions = root.kind == YamlNode::Kind::kList ? &root : nullptr;
  for (const YamlEntry& entry : root.entries) {
    if (entry.key == "questions") {
      questions = &entry.value;
    } else if (entry.key == "defaults") {
      DOSSIER_ASSIGN_OR_RETURN(file.defaults, ReadNode(entry.value, name));
    } else {
      return MakeError(ErrorCode::kConfig, "{}:{}: {} is neither `defaults:` nor `questions:`",
                       name, entry.line, entry.key);
    }
  }
  if (questions == nullptr || questions->kind != YamlNode::Kind::kList) {
    return MakeError(ErrorCode::kConfig, "{}: there is no list `questions:`", name);
  }
  for (const YamlNode& node : questions->items) {
    DOSSIER_ASSIGN_OR_RETURN(RawQuestion raw, ReadNode(node, name));
    file.questions.push_back(std::move(raw));
  }
  return file;
}

Result<RawFile> ReadJsonLines(std::string_view text, const std::string& name) {
  RawFile file;
  std::size_t line = 0;
  for (const std::string_view one : Split(text, '\n')) {
    RawQuestion raw{.place = fmt::format("{}:{}", name, ++line)};
    if (TrimSpace(one).empty()) continue;
    const auto value = ParseJson(one);
    if (!value) return Wrong(raw.place, value.error().message);
    if (!value->is_object()) return Wrong(raw.place, "the line is no object");
    for (const auto& [field, field_value] : value->get_object()) {
      DOSSIER_RETURN_IF_ERROR(AddField(&raw, field, TextsOf(field_value)));
    }
    file.questions.push_back(std::move(raw));
  }
  return file;
}

Result<RawFile> ReadCsvQuestions(std::string_view text, const std::string& name) {
  RawFile file;
  const auto rows = inspect::ParseCsv(text, ',', kMostQuestions + 1, inspect::TextEnds::kHere);
  if (rows.empty()) return file;
  const std::vector<std::string>& header = rows[0].cells;
  const auto line_of = [text](std::size_t offset) {
    return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  };
  for (std::size_t i = 1; i < rows.size(); ++i) {
    RawQuestion raw{.place = fmt::format("{}:{}", name, line_of(rows[i].offset))};
    if (rows[i].cells.size() > header.size()) {
      return Wrong(raw.place, "the row has more cells than the header");
    }
    for (std::size_t cell = 0; cell < rows[i].cells.size(); ++cell) {
      const std::string_view field = TrimSpace(header[cell]);
      const std::string& value = rows[i].cells[cell];
      if (value.empty()) continue;
      std::vector<std::string> values{value};
      if (field == "context" || field == "contexts" || field == "tags") {
        values.clear();
        for (const std::string_view part : Split(value, ';')) values.emplace_back(TrimSpace(part));
      }
      DOSSIER_RETURN_IF_ERROR(AddField(&raw, field, std::move(values)));
    }
    file.questions.push_back(std::move(raw));
  }
  return file;
}

// Resolves a path with its links, as far as it exists.
std::string RealPath(const std::string& path) {
  std::error_code failure;
  fs::path real = fs::absolute(path.empty() ? "." : path, failure);
  if (!failure) real = fs::weakly_canonical(real, failure);
  if (failure) return path;
  return real.filename().empty() && real.has_relative_path() ? real.parent_path().string()
                                                             : real.string();
}

// Turns paths and patterns of a questions file into files, each hashed once.
class ContextFinder {
 public:
  ContextFinder(std::string folder, const std::vector<std::string>& named,
                const CancelToken& cancel)
      : folder_(std::move(folder)), cancel_(cancel), roots_{RealPath(InFolder("."))} {
    for (const std::string& one : named) roots_.push_back(RealPath(one));
  }

  // Returns secret files that were found but not named, in order.
  std::vector<std::string> TakeLeftOut() { return {left_out_.begin(), left_out_.end()}; }

  Status Add(const std::string& pattern, AskedTask* to) {
    const auto known = found_.find(pattern);
    if (known == found_.end()) {
      DOSSIER_ASSIGN_OR_RETURN(found_[pattern], Expand(pattern));
    }
    for (const std::string& path : found_[pattern]) DOSSIER_RETURN_IF_ERROR(AddFile(path, to));
    return {};
  }

 private:
  std::string InFolder(const std::string& path) const {
    return (fs::path(folder_) / path).lexically_normal().string();
  }

  // Judges like `dossier ask`, but by the head alone, and the same for every arm.
  Status CheckIsText(std::string_view text, const std::string& path) const {
    const auto source = inspect::MemorySource(text.substr(0, kHeadBytes), path);
    DOSSIER_ASSIGN_OR_RETURN(const inspect::Description head,
                             inspect::Describe(*source, {.inside_limit = 0}, cancel_));
    return inspect::RefuseBinary(head, path);
  }

  Status CheckPlace(const std::string& path) const {
    const std::string real = RealPath(path);
    const auto holds = [&real](const std::string& root) { return IsBelow(real, root); };
    if (std::ranges::any_of(roots_, holds)) return {};
    return MakeError(ErrorCode::kRefused,
                     "{} lies outside of the folder of the questions; if models may read it, name "
                     "it, or a folder above it, by --contexts-from",
                     path);
  }

  bool IsSecret(const std::string& path) const {
    const std::string real = RealPath(path);
    if (std::ranges::find(roots_, real) != roots_.end()) return false;
    return IsSecretFile(real) || HasSecretName(path);
  }

  Result<std::vector<std::string>> Expand(const std::string& pattern) {
    const bool is_pattern = LiteralPrefix(pattern) < pattern.size();
    const std::string whole = InFolder(pattern);
    if (!is_pattern && !IsFolder(whole)) {
      DOSSIER_RETURN_IF_ERROR(CheckPlace(whole));
      if (Exists(whole) && IsSecret(whole)) {
        return MakeError(ErrorCode::kRefused,
                         "{} is a secret file; if models may read it, name it by --contexts-from",
                         whole);
      }
      if (Exists(whole)) return std::vector{whole};
      return tl::unexpected(
          ExplainMissing({ErrorCode::kNotFound, whole + ": no such file"}, whole));
    }
    const std::string fixed = pattern.substr(0, LiteralPrefix(pattern));
    const std::string root =
        is_pattern ? InFolder(fixed.substr(0, fixed.find_last_of('/') + 1)) : whole;
    DOSSIER_RETURN_IF_ERROR(CheckPlace(root));
    DOSSIER_ASSIGN_OR_RETURN(
        const WalkResult walk,
        WalkFolder(root.empty() ? "." : root, {.max_files = kMostContextFiles}, cancel_));
    const Glob glob(whole);
    std::vector<std::string> paths;
    for (const std::string& path : walk.files) {
      const std::string normal = fs::path(path).lexically_normal().string();
      if (is_pattern && !glob.Matches(normal)) continue;
      DOSSIER_RETURN_IF_ERROR(CheckPlace(normal));
      if (IsSecret(normal)) {
        left_out_.insert(normal);
      } else {
        paths.push_back(normal);
      }
    }
    if (paths.empty()) {
      return MakeError(ErrorCode::kNotFound, "{}: no file matches", whole);
    }
    return paths;
  }

  Status AddFile(const std::string& path, AskedTask* to) {
    if (std::find(to->files.begin(), to->files.end(), path) != to->files.end()) return {};
    auto known = hashes_.find(path);
    if (known == hashes_.end()) {
      DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(path, 8ull << 30));
      DOSSIER_RETURN_IF_ERROR(CheckIsText(text, path));
      known = hashes_.emplace(path, Sha256Hex(text)).first;
    }
    to->files.push_back(path);
    to->task.contexts.push_back(
        {.path = fs::path(path).lexically_relative(folder_.empty() ? "." : folder_).string(),
         .sha256 = known->second});
    return {};
  }

  const std::string folder_;
  const CancelToken& cancel_;
  std::vector<std::string> roots_;  // what contexts must be in, or be; real paths
  std::set<std::string> left_out_;
  std::map<std::string, std::vector<std::string>> found_;
  std::map<std::string, std::string> hashes_;
};

enum class MissingContexts : std::uint8_t { kRefused, kAllowed };

Status CheckScorer(const RawQuestion& raw, const AskedTask& asked) {
  const std::string& scorer = asked.task.scorer;
  std::vector<std::string> names = ScorerNames();
  for (const std::string_view name : kRunScorers) {
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  }
  if (std::find(names.begin(), names.end(), scorer) == names.end()) {
    const std::string near = DidYouMean(scorer, names);
    return MakeError(ErrorCode::kConfig, "{}: no such scorer: {}{} {}", raw.place, scorer,
                     near.empty() ? "; there are" : near + " There are", Join(names, ", "));
  }
  if (scorer == "command" && raw.Find("command") == nullptr) {
    return MakeError(ErrorCode::kConfig, "{}: scorer `command` needs `command: [PROGRAM, …]`",
                     raw.place);
  }
  if (scorer != "command" && raw.Find("command") != nullptr) {
    return MakeError(ErrorCode::kConfig, "{}: `command:` needs `scorer: command`", raw.place);
  }
  if (scorer == "judge" && raw.Find("rubric") == nullptr && !asked.has_gold()) {
    return MakeError(ErrorCode::kConfig, "{}: scorer `judge` needs a `rubric:` or a `gold:`",
                     raw.place);
  }
  const auto* golds = raw.Find("gold");
  if (golds &&
      std::ranges::any_of(*golds, [](const auto& one) { return TrimSpace(one).empty(); })) {
    return Wrong(raw.place, "the gold is empty; leave the field out where no answer is known");
  }
  const bool by_program =
      std::find(kRunScorers.begin(), kRunScorers.end(), scorer) != kRunScorers.end();
  if (by_program || !asked.has_gold()) return {};
  // Gold of these types must be correct by its own rule.
  constexpr std::array<std::string_view, 4> kTyped = {"number", "near", "date", "json"};
  const std::string gold = raw.Text("gold");
  const auto tried = ScoreAnswer(asked.task, gold);
  if (!tried) return MakeError(ErrorCode::kConfig, "{}: {}", raw.place, tried.error().message);
  if (scorer == "regex" && tried->rule == "pattern") {
    return MakeError(ErrorCode::kConfig, "{}: the gold \"{}\" is no regular expression: {}",
                     raw.place, gold, tried->parsed);
  }
  const bool typed = std::find(kTyped.begin(), kTyped.end(), scorer) != kTyped.end();
  if (!typed || tried->official > 0) return {};
  return MakeError(ErrorCode::kConfig, "{}: the gold \"{}\" is no {}, which the scorer {} compares",
                   raw.place, gold, scorer == "near" ? "number" : scorer, scorer);
}

Result<AskedTask> MakeTask(const RawQuestion& raw, std::size_t number, ContextFinder& contexts,
                           MissingContexts missing) {
  AskedTask asked;
  Task& task = asked.task;
  task.family = kOwnFamily;
  task.id = raw.Text("id").empty() ? fmt::format("q{}", number) : raw.Text("id");
  if (task.id.front() == '.' || task.id.find('/') != std::string::npos) {
    return MakeError(ErrorCode::kConfig, "{}: the id {} begins with a dot or holds a slash",
                     raw.place, task.id);
  }
  task.question = raw.Text("question");
  task.scorer = raw.Text("scorer").empty() ? std::string(kDefaultScorer) : raw.Text("scorer");
  task.needs = Needs::kLabel;
  if (TrimSpace(task.question).empty()) {
    return MakeError(ErrorCode::kConfig, "{}: {} has no `question`", raw.place, task.id);
  }
  const auto* texts = raw.Find("gold");
  task.gold = texts ? JsonArray(texts->begin(), texts->end()) : JsonArray();
  if (const std::string tolerance = raw.Text("tolerance"); !tolerance.empty()) {
    const auto number_of = ParseNumber(tolerance);
    if (!number_of) return Wrong(raw.place, "`tolerance` is no number");
    task.meta["tolerance"] = *number_of;
  }
  if (const std::string rubric = raw.Text("rubric"); !rubric.empty()) task.meta["rubric"] = rubric;
  if (const auto* command = raw.Find("command")) {
    JsonArray argv(command->begin(), command->end());
    task.meta["command"] = std::move(argv);
  }
  if (const auto* tags = raw.Find("tags")) asked.tags = *tags;
  const auto* patterns = raw.Find("contexts");
  if (patterns == nullptr || patterns->empty()) {
    return MakeError(ErrorCode::kConfig, "{}: {} has no `contexts`, and `defaults:` has none",
                     raw.place, task.id);
  }
  for (const std::string& pattern : *patterns) {
    if (auto added = contexts.Add(pattern, &asked); !added) {
      const bool is_missing = added.error().code == ErrorCode::kNotFound;
      if (is_missing && missing == MissingContexts::kAllowed) continue;
      added.error().message = fmt::format("{}: {}", raw.place, added.error().message);
      return tl::unexpected(added.error());
    }
  }
  DOSSIER_RETURN_IF_ERROR(CheckScorer(raw, asked));
  return asked;
}

Result<AskedSet> AskTaskSet(const std::string& folder) {
  AskedSet asked{.name = fs::path(folder).lexically_normal().filename().string()};
  if (asked.name.empty()) asked.name = fs::path(folder).parent_path().filename().string();
  DOSSIER_ASSIGN_OR_RETURN(TaskSet set, TaskSet::Load(folder));
  DOSSIER_RETURN_IF_ERROR(set.CheckFiles());
  DOSSIER_RETURN_IF_ERROR(set.CheckTasks());
  Sha256 hash;
  for (const char* name : {"/manifest.json", "/tasks.jsonl"}) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder + name));
    hash.Update(text);
  }
  asked.sha256 = hash.Hex();
  asked.source = std::make_shared<const TaskSet>(std::move(set));
  for (const Task& task : asked.source->tasks) {
    AskedTask one{.task = task};
    for (const ContextFile& file : task.contexts) one.files.push_back(asked.source->PathOf(file));
    asked.tasks.push_back(std::move(one));
  }
  return asked;
}

}  // namespace

Result<AskedSet> ParseQuestions(std::string_view text, QuestionsForm form, const std::string& name,
                                const std::string& folder, const CancelToken& cancel,
                                ContextsWanted wanted, const std::vector<std::string>& named) {
  auto file = form == QuestionsForm::kYaml  ? ReadYamlQuestions(text, name)
              : form == QuestionsForm::kCsv ? ReadCsvQuestions(text, name)
                                            : ReadJsonLines(text, name);
  if (!file) return tl::unexpected(file.error());
  AskedSet set{.name = fs::path(name).filename().string()};
  ContextFinder contexts(folder, named, cancel);
  std::set<std::string> ids;
  std::map<std::string, std::string> windows;  // questions about the same files share a window
  Sha256 hash;
  for (RawQuestion& raw : file->questions) {
    raw.fields.insert(file->defaults.fields.begin(), file->defaults.fields.end());
    const bool is_wanted = wanted == ContextsWanted::kOfAll || &raw == &file->questions.back();
    DOSSIER_ASSIGN_OR_RETURN(AskedTask asked, MakeTask(raw, set.tasks.size() + 1, contexts,
                                                       is_wanted ? MissingContexts::kRefused
                                                                 : MissingContexts::kAllowed));
    if (!ids.insert(asked.task.id).second) {
      return MakeError(ErrorCode::kConfig, "{}: the id {} stands there twice", raw.place,
                       asked.task.id);
    }
    asked.folder = RealPath(folder.empty() ? "." : folder);
    std::string files;
    for (const ContextFile& one : asked.task.contexts) files += one.sha256;
    asked.task.window =
        windows.emplace(files, fmt::format("context-{}", windows.size() + 1)).first->second;
    hash.Update(ToJson(AskedTaskToJson(asked)) + "\n");
    set.tasks.push_back(std::move(asked));
  }
  if (set.tasks.empty()) return MakeError(ErrorCode::kConfig, "{}: there is no question", name);
  set.sha256 = hash.Hex();
  set.left_out = contexts.TakeLeftOut();
  return set;
}

Result<AskedSet> LoadQuestions(const std::string& path, const CancelToken& cancel,
                               const std::vector<std::string>& named) {
  if (IsFolder(path)) {
    if (Exists(path + "/manifest.json")) return AskTaskSet(path);
    return MakeError(ErrorCode::kConfig,
                     "{} is no task set (there is no manifest.json); name a questions file, or a "
                     "folder that `dossier eval generate` wrote",
                     path);
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadNamedFile(path, kMostQuestionsBytes));
  const QuestionsForm form = path.ends_with(".csv")     ? QuestionsForm::kCsv
                             : path.ends_with(".jsonl") ? QuestionsForm::kJsonLines
                                                        : QuestionsForm::kYaml;
  return ParseQuestions(text, form, path, fs::path(path).parent_path().string(), cancel,
                        ContextsWanted::kOfAll, named);
}

Json AskedTaskToJson(const AskedTask& asked) {
  JsonObject row = TaskToJson(asked.task);
  JsonArray files, tags(asked.tags.begin(), asked.tags.end());
  for (const ContextFile& file : asked.task.contexts) {
    files.push_back(
        JsonObject{{"path", file.path}, {"sha256", file.sha256}, {"tokens", file.tokens}});
  }
  row["files"] = std::move(files);
  row["tags"] = std::move(tags);
  return row;
}

Result<AskedTask> AskedTaskFromJson(const Json& row) {
  std::map<std::string, ContextFile> files;
  if (const Json* list = Find(row, "files"); list != nullptr && list->is_array()) {
    for (const Json& one : list->get_array()) {
      const std::string path = TextAt(one, "path");
      files[path] = {.path = path,
                     .sha256 = TextAt(one, "sha256"),
                     .tokens = FindInt(one, "tokens").value_or(0)};
    }
  }
  AskedTask asked;
  DOSSIER_ASSIGN_OR_RETURN(asked.task, TaskFromJson(row, files));
  asked.tags = StringsOf(Find(row, "tags"));
  return asked;
}

}  // namespace dossier::evaluation
