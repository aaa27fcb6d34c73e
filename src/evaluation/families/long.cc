// long: answers of many lines, all of which count: sorted, filtered, merged.

#include <re2/re2.h>

#include <algorithm>
#include <set>

#include "base/process/process.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "evaluation/families/families.h"
#include "evaluation/families/lines.h"
#include "evaluation/tasks/prose.h"
#include "evaluation/tasks/stream.h"

namespace dossier::evaluation {
namespace {

constexpr std::int64_t kFewest = 10, kMost = 100'000;

struct Entry {
  std::string text;
  std::int64_t amount = 0;
};

// Makes lines with different keys, in no order.
std::vector<Entry> MakeEntries(std::int64_t count, RandomStream* stream) {
  std::vector<Entry> entries;
  for (const std::uint32_t key : stream->Sample(kMadeWords, static_cast<std::size_t>(count))) {
    const std::int64_t amount = stream->Between(1, 9999);
    entries.push_back({fmt::format("{} amount={} by {}", MadeWord(key), amount,
                                   PersonName(stream->Below(kPersonNames))),
                       amount});
  }
  return entries;
}

Json SortedGold(std::set<std::string> lines) {
  return JsonArray(lines.begin(), lines.end());
}

constexpr std::string_view kOneInALine =
    " Answer with one line of the text in a line, unchanged, and no other text.";
constexpr std::string_view kSort = "Sort all lines by their first word, in alphabetical order.";
constexpr std::string_view kMerge =
    "Merge both files: all their lines, those that stand in both only once, sorted in alphabetical "
    "order.";

Json LinesOfText(std::string_view text) {
  JsonArray gold;
  for (const std::string_view line : Split(text, '\n')) {
    if (!line.empty()) gold.push_back(Json(std::string(line)));
  }
  return gold;
}

// Sorts with the system's own program.
Result<Json> SortByProgram(std::vector<std::string> argv, const Task& task) {
  if (!FindProgram("sort")) {
    return MakeError(ErrorCode::kUnavailable,
                     "{}: its proof needs the program sort; install coreutils", task.id);
  }
  ProcessSpec spec{.argv = std::move(argv), .environment = std::vector<std::string>{"LC_ALL=C"}};
  const auto sort = FindProgram("sort");
  spec.argv[0] = *sort;
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult result, RunProcess(spec));
  if (result.exit_code == 0) return LinesOfText(result.out);
  return MakeError(ErrorCode::kFailed, "{}: sort failed: {}", task.id, result.err);
}

Result<Json> FilterBySql(std::string_view text, std::int64_t least, const Task& task) {
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, store::Database::Open(":memory:"));
  DOSSIER_RETURN_IF_ERROR(db.Execute("CREATE TABLE t(line TEXT, amount INTEGER); BEGIN"));
  DOSSIER_ASSIGN_OR_RETURN(store::Statement insert, db.Prepare("INSERT INTO t VALUES(?, ?)"));
  std::int64_t amount = 0;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.empty()) continue;
    if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), " amount=(\\d+) ",
                           &amount)) {
      return MakeError(ErrorCode::kDamaged, "{}: a line has no amount", task.id);
    }
    DOSSIER_RETURN_IF_ERROR(insert.With(line, amount).Done());
  }
  DOSSIER_RETURN_IF_ERROR(db.Execute("COMMIT"));
  DOSSIER_ASSIGN_OR_RETURN(store::Statement query,
                           db.Prepare("SELECT line FROM t WHERE amount >= ? ORDER BY rowid"));
  query.With(least);
  JsonArray gold;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return gold;
    gold.push_back(Json(query.Text(0)));
  }
}

class Long final : public Family {
 public:
  std::string_view name() const override { return "long"; }
  std::string_view about() const override {
    return "answers of many lines: sorted, filtered, merged";
  }
  std::span<const Parameter> parameters() const override { return {}; }
  std::vector<std::int64_t> default_lengths() const override { return {100, 1000, 10'000}; }

  Status Generate(const FamilySpec& spec, TaskSink& sink) const override {
    for (const std::int64_t length : spec.lengths) {
      if (length < kFewest || length > kMost) {
        return MakeError(ErrorCode::kConfig, "--length {}: long has {} to {} lines", length,
                         kFewest, kMost);
      }
      for (std::int64_t number = 0; number < spec.windows; ++number) {
        if (spec.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped");
        DOSSIER_RETURN_IF_ERROR(Write(spec, length, number, sink));
      }
    }
    return {};
  }

  Result<Json> Recompute(const Task& task, const TaskSet& set, const Relabel&) const override {
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, set.ReadContext(task.contexts[0]));
    std::int64_t least = 0;
    if (RE2::PartialMatch(task.question, "amount of (\\d+) or more", &least)) {
      return FilterBySql(text, least, task);
    }
    std::vector<std::string> argv{"sort", "-u", "--"};
    for (const ContextFile& file : task.contexts) argv.push_back(set.PathOf(file));
    return SortByProgram(std::move(argv), task);
  }

 private:
  Status Write(const FamilySpec& spec, std::int64_t length, std::int64_t number,
               TaskSink& sink) const {
    RandomStream stream =
        RandomStream::For(name(), spec.seed, fmt::format("{}/window/{}", length, number));
    const std::string id = fmt::format("long-{}-w{}", length, number);
    const std::vector<Entry> entries = MakeEntries(length, &stream);
    std::vector<std::string> lines, other;
    for (const Entry& entry : entries) lines.push_back(entry.text);
    // The second file has a third of the first one's lines, and as many of its own.
    for (const std::uint32_t at : stream.Sample(lines.size(), lines.size() / 3))
      other.push_back(lines[at]);
    for (const Entry& entry : MakeEntries(length / 3, &stream)) other.push_back("z" + entry.text);
    stream.Shuffle(&other);
    DOSSIER_ASSIGN_OR_RETURN(const ContextFile a, WriteFile(spec, id + "-a", lines, sink));
    DOSSIER_ASSIGN_OR_RETURN(const ContextFile b, WriteFile(spec, id + "-b", other, sink));

    const std::int64_t least = stream.Between(2000, 8000);
    JsonArray filtered;
    for (const Entry& entry : entries) {
      if (entry.amount >= least) filtered.push_back(Json(entry.text));
    }
    std::set<std::string> sorted(lines.begin(), lines.end()), merged = sorted;
    merged.insert(other.begin(), other.end());
    const std::string filter =
        fmt::format("Give all lines with an amount of {} or more, and keep their order.", least);
    std::vector<Task> tasks{
        MakeTask(id, 0, "sort", kSort, SortedGold(std::move(sorted)), {a}),
        MakeTask(id, 1, "filter", filter, std::move(filtered), {a}),
        MakeTask(id, 2, "merge", kMerge, SortedGold(std::move(merged)), {a, b})};
    for (std::size_t i = 0; i < tasks.size() && i < static_cast<std::size_t>(spec.questions); ++i) {
      DOSSIER_RETURN_IF_ERROR(sink.Add(std::move(tasks[i])));
    }
    return {};
  }

  Result<ContextFile> WriteFile(const FamilySpec& spec, const std::string& file,
                                const std::vector<std::string>& lines, TaskSink& sink) const {
    const std::string text = Join(lines, "\n") + "\n";
    DOSSIER_RETURN_IF_ERROR(sink.Open("contexts/" + file + ".txt"));
    DOSSIER_RETURN_IF_ERROR(sink.Write(text));
    return sink.Close(spec.counter->CountText(text).upper());
  }

  Task MakeTask(const std::string& id, int number, std::string_view kind, std::string_view question,
                Json gold, std::vector<ContextFile> files) const {
    return {.id = fmt::format("{}-q{}", id, number),
            .family = std::string(name()),
            .window = id,
            .question = std::string(question) + std::string(kOneInALine),
            .scorer = "lines",
            .gold = std::move(gold),
            .contexts = std::move(files),
            .meta = {{"kind", kind}}};
  }
};

}  // namespace

const Family& LongFamily() {
  static const Long kFamily;
  return kFamily;
}

}  // namespace dossier::evaluation
