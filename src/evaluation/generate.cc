#include "evaluation/generate.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text/text.h"
#include "evaluation/family.h"
#include "evaluation/score.h"
#include "evaluation/solvers/solvers.h"
#include "evaluation/stub_label.h"

namespace dossier::evaluation {
namespace {

// Writes a task set into a folder beside its final place; the set gets its final name only when it
// is complete and checked.
//
//   DOSSIER_ASSIGN_OR_RETURN(SetWriter writer, SetWriter::Begin("sets/a"));
//   DOSSIER_RETURN_IF_ERROR(family.Generate(spec, writer));
//   DOSSIER_ASSIGN_OR_RETURN(TaskSet set, writer.Finish(manifest));   // still beside its place
//   …check it…
//   DOSSIER_RETURN_IF_ERROR(writer.Publish());
//
// Without Publish nothing is left. Thread-safety: not thread-safe; one owner.

class SetWriter final : public TaskSink {
 public:
  // Errors: kRefused if `folder` exists and is not empty; kPermission, kIo.
  static Result<SetWriter> Begin(const std::string& folder);
  SetWriter(SetWriter&& other) noexcept = default;
  SetWriter& operator=(SetWriter&&) = delete;
  ~SetWriter() override;

  Status Open(const std::string& path) override;
  Status Write(std::string_view bytes) override;
  Result<ContextFile> Close(std::int64_t tokens) override;
  Status Add(Task task) override;
  void Refuse(std::string_view rule) override { ++manifest_.refused[std::string(rule)]; }
  void UsePool(const PoolInfo& pool) override { manifest_.pool = pool; }

  // Returns all made so far as a set in its temporary folder. Tasks may change before Publish.
  Result<TaskSet> Finish(Manifest manifest);
  // Writes `set` in its current state, and moves it to its final place.
  Status Publish(const TaskSet& set);

 private:
  SetWriter(std::string place, std::string folder)
      : place_(std::move(place)), folder_(std::move(folder)) {}
  Status Flush();

  std::string place_, folder_;
  Manifest manifest_;
  std::vector<Task> tasks_;
  std::set<std::string> ids_;
  UniqueFd fd_;
  std::string open_;     // path of the file being written; "": none
  std::string pending_;  // bytes not written yet
  Sha256 hash_;
};

constexpr std::size_t kPending = 1 << 20;

Result<SetWriter> SetWriter::Begin(const std::string& folder) {
  std::string place = folder;
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  std::error_code ignored;
  if (Exists(place) && !(IsFolder(place) && std::filesystem::is_empty(place, ignored))) {
    return MakeError(ErrorCode::kRefused,
                     "{}: it is there already; a task set is never changed, name another folder",
                     place);
  }
  std::string beside = fmt::format("{}.{}.part", place, RandomHex(8));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(beside));
  return SetWriter(std::move(place), std::move(beside));
}

SetWriter::~SetWriter() {
  if (!folder_.empty()) (void)RemoveAll(folder_);
}

Status SetWriter::Open(const std::string& path) {
  const std::string full = folder_ + "/" + path;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(full.substr(0, full.rfind('/'))));
  fd_ = UniqueFd(open(full.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd_.valid()) return MakeErrnoError(errno, full);
  open_ = path;
  hash_ = Sha256();
  return {};
}

Status SetWriter::Write(std::string_view bytes) {
  pending_.append(bytes);
  return pending_.size() < kPending ? Status() : Flush();
}

Status SetWriter::Flush() {
  hash_.Update(pending_);
  auto written = WriteAll(fd_.get(), pending_);
  if (!written) {
    return MakeError(ErrorCode::kFailed, "{}/{}: {} bytes could not be written: {}", folder_, open_,
                     pending_.size(), written.error().message);
  }
  pending_.clear();
  return {};
}

Result<ContextFile> SetWriter::Close(std::int64_t tokens) {
  DOSSIER_RETURN_IF_ERROR(Flush());
  fd_.Reset();
  ContextFile file{.path = std::exchange(open_, {}), .sha256 = hash_.Hex(), .tokens = tokens};
  manifest_.files.push_back(file);
  return file;
}

Status SetWriter::Add(Task task) {
  if (!ids_.insert(task.id).second) {
    return MakeError(ErrorCode::kInternal, "the task id {} was given twice", task.id);
  }
  tasks_.push_back(std::move(task));
  return {};
}

Result<TaskSet> SetWriter::Finish(Manifest manifest) {
  manifest.pool = manifest_.pool;
  manifest.refused = manifest_.refused;
  manifest.files = manifest_.files;
  std::sort(manifest.files.begin(), manifest.files.end(),
            [](const ContextFile& a, const ContextFile& b) { return a.path < b.path; });
  return TaskSet{.folder = folder_, .manifest = std::move(manifest), .tasks = tasks_};
}

Status SetWriter::Publish(const TaskSet& set) {
  std::string lines;
  for (const Task& task : set.tasks) lines.append(ToJson(TaskToJson(task))).push_back('\n');
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(folder_ + "/tasks.jsonl", lines));
  Manifest manifest = set.manifest;
  manifest.tasks_sha256 = Sha256Hex(lines);
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(folder_ + "/manifest.json",
                                          ToPrettyJson(ManifestToJson(manifest)) + "\n"));
  std::error_code failed;
  std::filesystem::remove(place_, failed);  // an empty folder that existed before
  std::filesystem::rename(folder_, place_, failed);
  if (failed) return MakeErrnoError(failed.value(), place_);
  folder_.clear();
  return {};
}

// How far a solver without a model may exceed chance.
constexpr double kMargin = 0.10;
// Shares of wrong labels for which gold is stored, with their names in a row.
constexpr std::pair<const char*, double> kStubShares[] = {{"0.1", 0.1}, {"0.5", 0.5}};

// A family of a selection, with its differences from the defaults.
struct Selected {
  std::string family;
  FamilySpec spec;
};

// The length of a family's windows in the small selection: tokens, bytes or entries.
struct Quick {
  std::string_view family;
  std::int64_t length, windows, questions;
};

constexpr Quick kQuick[] = {
    {"aggregate", 4096, 1, 10}, {"pairs", 2048, 1, 3}, {"needle", 4096, 3, 1},
    {"ruler", 4096, 1, 4},      {"hops", 4096, 2, 2},  {"tables", 65536, 1, 3},
    {"logs", 65536, 1, 3},      {"long", 100, 1, 3},   {"inject", 4096, 1, 2},
    {"code", 4096, 1, 3},
};

std::vector<Selected> Select(const std::vector<std::string>& names, const FamilySpec& spec) {
  std::vector<Selected> selected;
  for (const std::string& name : names) {
    if (name != "quick" && name != "standard") {
      selected.push_back({name, spec});
      continue;
    }
    for (const Quick& quick : kQuick) {
      FamilySpec own = spec;
      if (name == "quick") {
        own.lengths = {quick.length};
        own.windows = quick.windows;
        own.questions = quick.questions;
      }
      selected.push_back({std::string(quick.family), std::move(own)});
    }
  }
  return selected;
}

Error Differ(const Task& task, const Json& b) {
  constexpr std::size_t kShown = 200;
  return {ErrorCode::kCheckFailed,
          fmt::format("{}: the gold paths differ: A says {}, B says {}", task.id,
                      ToJson(task.gold).substr(0, kShown), ToJson(b).substr(0, kShown))};
}

// Compares gold; the order of a list of pairs or values does not matter.
bool SameGold(const Task& task, const Json& b) {
  std::vector<std::string> ours = StringsOf(&task.gold), theirs = StringsOf(&b);
  if (task.scorer == "pairs" || task.scorer == "list" || task.scorer == "set" ||
      task.scorer == "ruler") {
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
  }
  return ours == theirs;
}

// The second path for the current window, with several labellings.
class OpenWindow {
 public:
  OpenWindow(const Task& first, const TaskSet& set) : first_(first), set_(set) {}

  bool Has(const Task& task) const {
    return task.window == first_.window && task.family == first_.family;
  }

  Result<Json> Recompute(const Task& task) { return Under("", task, {}); }

  // Returns the answer from counting the words of labels; "" if there is no single answer.
  Result<std::string> Floor(const Task& task) {
    if (task.needs != Needs::kLabel || Labels().empty()) return Solve(Solver::kBlind, task, set_);
    const auto gold = Under("floor", task, ByWords(Labels()));
    if (gold) return WriteAnswer(task, *gold);
    if (gold.error().code == ErrorCode::kCheckFailed) return std::string();
    return tl::unexpected(gold.error());
  }

  // Adds the answer of a model that labels a known share of texts wrongly.
  Status AddStubGold(Task* task) {
    if (task->needs != Needs::kLabel || Labels().size() < 2) return {};
    for (const auto& [name, share] : kStubShares) {
      const StubErrors errors{.share = share, .seed = set_.manifest.seed};
      auto gold =
          Under(name, *task, [&, errors](const std::string& text, const std::string& label) {
            return std::string(StubLabel(*labels_, text, label, errors));
          });
      if (gold) {
        task->stub_gold[name] = std::move(*gold);
      } else if (gold.error().code != ErrorCode::kCheckFailed) {
        return tl::unexpected(gold.error());  // otherwise: wrong labels leave no single answer
      }
    }
    return {};
  }

 private:
  const std::vector<std::string>& Labels() {
    if (!labels_) labels_ = LabelsOf(first_, set_);
    return *labels_;
  }

  Result<Json> Under(const std::string& name, const Task& task, const Relabel& relabel) {
    std::unique_ptr<Prover>& prover = provers_[name];
    if (!prover) {
      DOSSIER_ASSIGN_OR_RETURN(const Family* family, FindFamily(task.family));
      DOSSIER_ASSIGN_OR_RETURN(prover, family->Open(task, set_, relabel));
    }
    return prover->Recompute(task);
  }

  const Task first_;
  const TaskSet& set_;
  std::optional<std::vector<std::string>> labels_;
  std::map<std::string, std::unique_ptr<Prover>> provers_;
};

Result<double> Official(const Task& task, const Result<std::string>& answer) {
  if (!answer) return tl::unexpected(answer.error());
  DOSSIER_ASSIGN_OR_RETURN(const Score score, ScoreAnswer(task, *answer));
  return score.official;
}

Status Prove(const CancelToken& cancel, TaskSet* set) {
  std::optional<OpenWindow> window;
  for (Task& task : set->tasks) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped");
    if (!window || !window->Has(task)) window.emplace(task, *set);
    set->manifest.chance += task.chance / static_cast<double>(set->tasks.size());
    const auto b = window->Recompute(task);
    // A program that the proof needs is missing on this machine; `check` reports that.
    if (!b && b.error().code == ErrorCode::kUnavailable) continue;
    if (!b) return tl::unexpected(b.error());
    if (!SameGold(task, *b)) return tl::unexpected(Differ(task, *b));
    DOSSIER_RETURN_IF_ERROR(window->AddStubGold(&task));
    DOSSIER_ASSIGN_OR_RETURN(const double floor, Official(task, window->Floor(task)));
    set->manifest.floor += floor / static_cast<double>(set->tasks.size());
  }
  return {};
}

JsonObject Parameters(const std::vector<std::string>& families, const FamilySpec& spec) {
  JsonObject settings;
  for (const auto& [name, value] : spec.settings) settings[name] = value;
  return {{"selection", JsonArray(families.begin(), families.end())},
          {"length", JsonArray(spec.lengths.begin(), spec.lengths.end())},
          {"windows", spec.windows},
          {"questions", spec.questions},
          {"set", std::move(settings)}};
}

// Scores of one solver for the tasks that need meaning, compared with chance.
struct Bound {
  std::vector<double> differences;
  double sum = 0;

  void Add(double score, double chance) {
    differences.push_back(score - chance);
    sum += score;
  }
  // Returns the lower end of the 95 % interval of the mean difference.
  double Low() const {
    if (differences.size() < 2) return -1;
    const auto n = static_cast<double>(differences.size());
    double mean = 0, squares = 0;
    for (const double one : differences) mean += one / n;
    for (const double one : differences) squares += (one - mean) * (one - mean);
    return mean - 1.96 * std::sqrt(squares / (n - 1) / n);
  }
};

// Returns the first window texts that contain a label's word, for a finding.
std::string LeakyItems(const TaskSet& set) {
  constexpr std::size_t kShown = 3;
  constexpr std::string_view kBody = " || Instance: ", kLabel = " || Label: ";
  std::vector<std::string> items;
  std::string window;
  for (const Task& task : set.tasks) {
    if (task.window == window || items.size() >= kShown) continue;
    window = task.window;
    const auto labelled = set.ReadLabelled(task.contexts[0]);
    const std::string lines = labelled ? *labelled : "";
    const std::vector<std::string> labels = LabelsOf(task, set);
    for (const std::string_view line : Split(lines, '\n')) {
      const std::size_t begin = line.find(kBody), end = line.rfind(kLabel);
      if (begin == std::string_view::npos || end == std::string_view::npos) continue;
      const std::string_view text = line.substr(begin + kBody.size(), end - begin - kBody.size());
      const std::string lower = ToLowerAscii(text);
      const bool leaks = std::any_of(labels.begin(), labels.end(), [&](const std::string& label) {
        return lower.find(ToLowerAscii(label)) != std::string::npos;
      });
      if (leaks && items.size() < kShown) items.push_back(fmt::format("\"{}\"", text));
    }
  }
  return items.empty() ? "none with a label's word" : Join(items, ", ");
}

}  // namespace

Result<TaskSet> GenerateSet(const std::vector<std::string>& families, const FamilySpec& spec,
                            const std::string& folder) {
  const std::vector<Selected> selected = Select(families, spec);
  for (const Selected& one : selected) {
    DOSSIER_ASSIGN_OR_RETURN(const Family* family, FindFamily(one.family));
    for (const auto& [key, value] : spec.settings) {
      const auto known = family->parameters();
      if (selected.size() > 1 || std::any_of(known.begin(), known.end(),
                                             [&](const Parameter& p) { return p.name == key; })) {
        continue;
      }
      return MakeError(ErrorCode::kConfig,
                       "{} has no parameter {}; `dossier eval families` lists them", one.family,
                       key);
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(SetWriter writer, SetWriter::Begin(folder));
  std::vector<std::string> names;
  for (const Selected& one : selected) {
    DOSSIER_ASSIGN_OR_RETURN(const Family* family, FindFamily(one.family));
    FamilySpec own = one.spec;
    if (own.lengths.empty()) own.lengths = family->default_lengths();
    DOSSIER_RETURN_IF_ERROR(family->Generate(own, writer));
    names.push_back(one.family);
  }
  DOSSIER_ASSIGN_OR_RETURN(TaskSet set, writer.Finish({.families = names,
                                                       .parameters = Parameters(families, spec),
                                                       .seed = spec.seed,
                                                       .tokenizer = spec.tokenizer}));
  DOSSIER_RETURN_IF_ERROR(Prove(spec.cancel, &set));
  DOSSIER_RETURN_IF_ERROR(writer.Publish(set));
  return TaskSet::Load(folder);
}

Result<SetCheck> CheckSet(const TaskSet& set, const CancelToken& cancel) {
  DOSSIER_RETURN_IF_ERROR(set.CheckFiles());
  SetCheck report{.tasks = static_cast<std::int64_t>(set.tasks.size())};
  Bound floor, blind;
  std::optional<OpenWindow> window;
  std::int64_t oracles = 0;
  for (const Task& task : set.tasks) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped");
    if (!window || !window->Has(task)) window.emplace(task, set);
    const auto b = window->Recompute(task);
    if (!b && b.error().code == ErrorCode::kUnavailable) {
      report.skipped.push_back(b.error().message);
      continue;
    }
    if (!b) {
      report.findings.push_back(b.error().message);
      continue;
    }
    if (SameGold(task, *b)) {
      ++report.proved;
    } else {
      report.findings.push_back(Differ(task, *b).message);
    }
    DOSSIER_ASSIGN_OR_RETURN(const std::string answer, WriteAnswer(task, *b));
    DOSSIER_ASSIGN_OR_RETURN(const Score oracle, ScoreAnswer(task, answer));
    report.oracle += oracle.official;
    ++oracles;
    if (oracle.official < 1) {
      report.findings.push_back(
          fmt::format("{}: the oracle scores {}, not 1", task.id, oracle.official));
    }
    report.chance += task.chance;
    DOSSIER_ASSIGN_OR_RETURN(const double by_words, Official(task, window->Floor(task)));
    DOSSIER_ASSIGN_OR_RETURN(const double by_question,
                             Official(task, Solve(Solver::kBlind, task, set)));
    report.floor += by_words;
    report.blind += by_question;
    if (task.needs == Needs::kLabel) {
      floor.Add(by_words, task.chance);
      blind.Add(by_question, task.chance);
    }
  }
  const double n = static_cast<double>(std::max<std::int64_t>(1, oracles));
  for (double* mean : {&report.oracle, &report.chance, &report.floor, &report.blind}) *mean /= n;
  for (const auto& [name, bound] : {std::pair("floor", &floor), std::pair("blind", &blind)}) {
    if (bound->Low() <= kMargin) continue;
    report.findings.push_back(fmt::format(
        "{} scores {:.2f} on the tasks that need meaning, over {:.2f} more than chance: the "
        "items give their labels away: {}",
        name, bound->sum / static_cast<double>(bound->differences.size()), kMargin,
        LeakyItems(set)));
  }
  // An edited task says more by its proof; one that is proved is still not what was written.
  if (report.findings.empty()) DOSSIER_RETURN_IF_ERROR(set.CheckTasks());
  return report;
}

}  // namespace dossier::evaluation
