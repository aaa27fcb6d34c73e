#include "research/run/run_record.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/files/file.h"
#include "base/text/text.h"
#include "research/files/run_folder.h"

namespace dossier::research {
namespace {

constexpr std::array<std::string_view, 9> kSteps = {
    "phase0", "phase1", "stage1", "stage2", "stage3", "stage4", "plots", "paper", "review"};
constexpr std::array<std::string_view, 4> kSkips = {"plots", "citations", "writeup", "review"};
constexpr std::array<std::string_view, 4> kEnds = {"done", "failed", "limited", "stopped"};
constexpr std::size_t kMaxRecordBytes = 1 << 20;

template <typename Names>
std::optional<std::size_t> IndexOf(const Names& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

tl::unexpected<Error> Wrong(const std::string& path, std::string_view field) {
  return MakeError(ErrorCode::kDamaged, "{}: {} is missing or wrong", path, field);
}

// Parses one stage number, such as "2" of "1-4"; unset if it is none.
std::optional<int> StageOf(std::string_view text) {
  if (text.size() != 1 || text[0] < '1' || text[0] > '4') return std::nullopt;
  return text[0] - '0';
}

Result<std::vector<int>> ReadStages(std::string_view text) {
  std::set<int> stages;
  for (const std::string_view part : Split(text, ',')) {
    const auto dash = part.find('-');
    const auto first = StageOf(part.substr(0, dash));
    const auto last = dash == part.npos ? first : StageOf(part.substr(dash + 1));
    if (!first || !last || *first > *last) {
      return MakeError(ErrorCode::kUsage, "--stages {}: stages are 1 to 4, as in 1-4, 1 or 1,3",
                       text);
    }
    for (int stage = *first; stage <= *last; ++stage) stages.insert(stage);
  }
  return std::vector<int>(stages.begin(), stages.end());
}

Result<RunRecord> ReadRecord(const Json& json, const std::string& path) {
  const auto schema = FindString(json, "schema");
  if (schema && *schema != kRunSchema) {
    return MakeError(ErrorCode::kDamaged,
                     "{}: its format is {}, and this version of dossier reads {}; go on with the "
                     "version that made the run",
                     path, *schema, kRunSchema);
  }
  RunRecord record;
  const auto run = FindString(json, "run");
  if (!run || run->empty()) return Wrong(path, "run");
  record.run = std::string(*run);
  record.title = TextAt(json, "title");
  record.memory_store = TextAt(json, "memory_store");
  if (const Json* kept = Find(json, "connection"); kept && kept->is_object()) {
    record.connection = kept->get_object();
  }
  const auto stages = ReadStages(FindString(json, "stages").value_or(""));
  if (!stages) return Wrong(path, "stages");
  record.stages = *stages;
  if (const auto until = FindString(json, "until")) {
    record.until = FindStep(*until);
    if (!record.until) return Wrong(path, "until");
  }
  const Json* skip = Find(json, "skip");
  if (!skip || !skip->is_array()) return Wrong(path, "skip");
  for (const Json& name : skip->as_array()) {
    const auto index =
        name.is_string() ? IndexOf(kSkips, std::string_view(name.as_string())) : std::nullopt;
    if (!index) return Wrong(path, "skip");
    record.skip.push_back(static_cast<RunOrder::Skip>(*index));
  }
  return record;
}

}  // namespace

std::string_view RunEndName(RunEnd end) { return kEnds[static_cast<std::size_t>(end)]; }

std::span<const std::string_view> StepNames() { return kSteps; }
std::string_view StepName(Step step) { return kSteps[static_cast<std::size_t>(step)]; }

std::optional<Step> FindStep(std::string_view name) {
  const auto index = IndexOf(kSteps, name);
  if (!index) return std::nullopt;
  return static_cast<Step>(*index);
}

std::string_view SkipName(RunOrder::Skip skip) { return kSkips[static_cast<std::size_t>(skip)]; }

Result<std::vector<int>> ParseStages(std::string_view text) {
  DOSSIER_ASSIGN_OR_RETURN(std::vector<int> stages, ReadStages(text));
  if (stages.front() != 2) return stages;
  return MakeError(ErrorCode::kUsage,
                   "--stages {}: stage 2 tunes the best program of stage 1; begin with 1 or 3",
                   text);
}

RunRecord RecordOf(const RunOrder& order, std::string_view run, std::string_view title) {
  return {.run = std::string(run),
          .title = std::string(title),
          .stages = order.stages,
          .until = order.until,
          .skip = order.skip,
          .memory_store = order.memory_store,
          .connection = order.connection};
}

std::string RunRecordText(const RunRecord& record) {
  std::vector<std::string> stages;
  for (const int stage : record.stages) stages.push_back(std::to_string(stage));
  JsonArray skip;
  for (const RunOrder::Skip one : record.skip) skip.emplace_back(SkipName(one));
  const JsonObject json{{"schema", kRunSchema},
                        {"run", record.run},
                        {"title", record.title},
                        {"stages", Join(stages, ",")},
                        {"until", record.until ? Json(StepName(*record.until)) : Json(nullptr)},
                        {"skip", std::move(skip)},
                        {"memory_store", record.memory_store},
                        {"connection", record.connection}};
  return ToPrettyJson(json) + "\n";
}

Result<RunRecord> ReadRunRecord(const std::string& folder) {
  const std::string path = folder + "/" + std::string(run_files::kRun);
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(path, kMaxRecordBytes));
  const auto json = ParseJson(text);
  if (!json) return MakeError(ErrorCode::kDamaged, "{}: {}", path, json.error().message);
  return ReadRecord(*json, path);
}

}  // namespace dossier::research
