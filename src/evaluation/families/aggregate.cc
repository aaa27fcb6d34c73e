// aggregate: counting questions about lines whose labels have to be understood. They are made here,
// with gold by counting; aggregate_proof.cc has the second path.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "evaluation/families/families.h"
#include "evaluation/families/lines.h"
#include "evaluation/stub_label.h"
#include "evaluation/tasks/dates.h"
#include "evaluation/tasks/stream.h"

namespace dossier::evaluation {
namespace {

constexpr std::int64_t kFewestInScope = 5;
// Draws of one kind before the next one's turn; a kind without random parts has one draw.
constexpr int kDraws = 40, kOnce = 1;

enum class Group : std::uint8_t { kCounting, kUser, kTimeline };
enum class ScopeKind : std::uint8_t { kAll, kUser, kPeriod };

using Counts = std::vector<std::int64_t>;  // by label

// The counts of a window's lines.
struct Tally {
  explicit Tally(const Window& window) : window(window) {
    all.resize(window.labels.size());
    for (const WindowLine& line : window.lines) {
      ++all[line.label];
      Add(&users[line.user], line.label);
      Add(&days[line.day], line.label);
    }
    for (const auto& [day, counts] : days) {
      const Civil civil = CivilOf(day);
      month_of[day] = civil.month;
      Counts& month = months[civil.year * 12 + civil.month - 1];
      month.resize(counts.size());
      for (std::size_t i = 0; i < counts.size(); ++i) month[i] += counts[i];
    }
  }

  void Add(Counts* counts, std::uint32_t label) const {
    counts->resize(window.labels.size());
    ++(*counts)[label];
  }

  const Window& window;
  Counts all;
  std::map<std::int32_t, Counts> users, days, months;  // months: year * 12 + month - 1
  std::unordered_map<std::int32_t, int> month_of;      // of a day
};

struct Scope {
  std::string text;  // "" for all lines
  Counts counts;
  std::int64_t lines = 0;
};

struct Draft {
  std::string question, form, type, gold;
  double chance = 0;
  std::string a, b;                  // the operands of a comparison
  std::vector<std::string> choices;  // the valid answers, if there are few
};

// Makes questions about one window; a maker returns none if a gap rule refuses the draw.
class Maker {
 public:
  Maker(const Window& window, RandomStream stream, TaskSink& sink)
      : window_(window),
        labels_(window.labels),
        tally_(window),
        stream_(std::move(stream)),
        sink_(sink) {}

  std::optional<Scope> MakeScope(ScopeKind kind) {
    if (kind == ScopeKind::kAll) {
      return Scope{.counts = tally_.all, .lines = static_cast<std::int64_t>(window_.lines.size())};
    }
    if (kind == ScopeKind::kUser) {
      const std::int32_t user = stream_.Pick(window_.lines).user;
      return ScopeOf(fmt::format("Consider only the lines of user {}.", user),
                     [user](const WindowLine& line) { return line.user == user; });
    }
    if (stream_.Below(2) == 0) {
      const auto month = static_cast<int>(stream_.Below(12)) + 1;
      return ScopeOf(
          fmt::format("Consider only the lines dated in {}, of any year.", MonthName(month)),
          [&](const WindowLine& line) { return tally_.month_of.at(line.day) == month; });
    }
    std::int32_t from = stream_.Pick(window_.lines).day, to = stream_.Pick(window_.lines).day;
    if (from > to) std::swap(from, to);
    return ScopeOf(
        fmt::format("Consider only the lines dated from {} to {}, both included.", LineDate(from),
                    LineDate(to)),
        [from, to](const WindowLine& line) { return line.day >= from && line.day <= to; });
  }

  std::optional<Draft> MostLabel(const Scope& scope) { return ExtremeLabel(scope, "most"); }
  std::optional<Draft> LeastLabel(const Scope& scope) { return ExtremeLabel(scope, "least"); }

  std::optional<Draft> CompareLabels(const Scope& scope) {
    const auto [a, b] = TwoLabels();
    const std::int64_t gap = scope.counts[a] - scope.counts[b];
    if (gap != 0 && std::abs(gap) * 50 <= scope.lines) return Refused("share_gap");
    return Draft{
        .question = fmt::format("Is {} more common than {}, less common, or equally common?",
                                labels_[a], labels_[b]),
        .form = fmt::format("Answer with one line, 'Answer: {} is X {}', where X is one of: "
                            "more common than, less common than, same frequency as.",
                            labels_[a], labels_[b]),
        .type = "COMPARISON",
        .gold = gap > 0   ? "more common than"
                : gap < 0 ? "less common than"
                          : "same frequency as",
        .chance = 0.5,
        .a = labels_[a],
        .b = labels_[b]};
  }

  std::optional<Draft> CountLabel(const Scope& scope) {
    const auto label = static_cast<std::uint32_t>(stream_.Below(labels_.size()));
    return Number(fmt::format("How many lines have the label {}?", labels_[label]),
                  scope.counts[label]);
  }

  std::optional<Draft> MostUser(const Scope&) { return Ranked(tally_.users, 0, kUserWords); }
  std::optional<Draft> SecondUser(const Scope&) { return Ranked(tally_.users, 1, kUserWords); }
  std::optional<Draft> MostDate(const Scope&) { return Ranked(tally_.days, 0, kDateWords); }
  std::optional<Draft> SecondDate(const Scope&) { return Ranked(tally_.days, 1, kDateWords); }

  std::optional<Draft> MostUserOfLabel(const Scope&) {
    const auto label = static_cast<std::uint32_t>(stream_.Below(labels_.size()));
    return RankedBy(tally_.users, 0, kUserWords,
                    fmt::format("Which user has the most lines with the label {}?", labels_[label]),
                    [label](const Counts& counts) { return counts[label]; });
  }

  std::optional<Draft> CompareUsers(const Scope&) {
    const auto label = static_cast<std::uint32_t>(stream_.Below(labels_.size()));
    const std::int32_t x = stream_.Pick(window_.lines).user, y = stream_.Pick(window_.lines).user;
    if (x == y) return Refused("same_user");
    const std::int64_t gap = tally_.users.at(x)[label] - tally_.users.at(y)[label];
    if (std::abs(gap) < 2) return Refused("user_lead");
    const std::string gold = std::to_string(gap > 0 ? x : y);
    return Draft{
        .question = fmt::format("Which of the users {} and {} has more lines with the label {}?", x,
                                y, labels_[label]),
        .form = std::string(kUserWords.form),
        .type = "USER",
        .gold = gold,
        .chance = 0.5};
  }

  std::optional<Draft> DatesWithCount(const Scope&) {
    constexpr std::size_t kRanked = 50;
    std::vector<std::int64_t> sizes;
    for (const auto& [day, counts] : tally_.days) sizes.push_back(Sum(counts));
    std::sort(sizes.rbegin(), sizes.rend());
    if (sizes.size() < kRanked) return Refused("few_dates");
    const std::int64_t behind = sizes.size() > kRanked ? sizes[kRanked] : 0;
    const std::int64_t wanted = sizes[stream_.Below(kRanked)];
    if (wanted <= behind) return Refused("rank_51");
    return Number(
        fmt::format("Of the 50 dates with the most lines, how many have exactly {} lines?", wanted),
        std::count(sizes.begin(), sizes.begin() + kRanked, wanted));
  }

  std::optional<Draft> ComparePeriods(const Scope&) {
    const auto label = static_cast<std::uint32_t>(stream_.Below(labels_.size()));
    const std::int32_t day = stream_.Pick(window_.lines).day;
    std::int64_t before = 0, after = 0, hits_before = 0, hits_after = 0;
    for (const WindowLine& line : window_.lines) {
      before += line.day < day;
      after += line.day > day;
      hits_before += line.day < day && line.label == label;
      hits_after += line.day > day && line.label == label;
    }
    if (before < kFewestInScope || after < kFewestInScope) return Refused("short_period");
    const std::int64_t gap = hits_before * after - hits_after * before;
    if (gap != 0 && std::abs(gap) * 50 <= before * after) return Refused("share_gap");
    // The published rule does not accept "X is more common" with fewer than 20 characters.
    if (labels_[label].size() < 5) return Refused("short_label");
    const std::string date = LineDate(day);
    return Draft{
        .question = fmt::format(
            "As a share of the lines of each period, is {} more common before {} than after "
            "it, less common, or equally frequent? Lines of {} do not count.",
            labels_[label], date, date),
        .form = fmt::format("Answer with one line, 'Answer: {} is X', where X is one of: more "
                            "common, less common, the same frequency.",
                            labels_[label]),
        .type = "COMPARISON",
        .gold = gap > 0   ? "more common"
                : gap < 0 ? "less common"
                          : "the same frequency",
        .chance = 0.5,
        .a = labels_[label]};
  }

  std::optional<Draft> FirstMonth(const Scope&) {
    const auto [a, b] = TwoLabels();
    for (const auto& [month, counts] : tally_.months) {
      if (counts[a] <= counts[b]) continue;
      return Draft{.question = fmt::format("In which month does {} first outnumber {}?", labels_[a],
                                           labels_[b]),
                   .form = "Answer with one line, 'Answer: Month YYYY', the month's name in full.",
                   .type = "MONTH_YEAR",
                   .gold = fmt::format("{} {}", MonthName(month % 12 + 1), month / 12),
                   .chance = 1.0 / static_cast<double>(tally_.months.size())};
    }
    return Refused("no_month");
  }

  std::optional<Draft> CountMonths(const Scope&) {
    const auto [a, b] = TwoLabels();
    const bool alone = stream_.Below(2) == 0;
    std::int64_t months = 0;
    for (const auto& [month, counts] : tally_.months) {
      std::int64_t best = counts[b];
      if (alone) {
        best = -1;
        for (std::size_t i = 0; i < counts.size(); ++i) {
          if (i != a) best = std::max(best, counts[i]);
        }
      }
      months += counts[a] > best;
    }
    return Number(
        alone ? fmt::format("In how many months is {} alone the most common label?", labels_[a])
              : fmt::format("In how many months does {} outnumber {}?", labels_[a], labels_[b]),
        months);
  }

 private:
  struct RankWords {
    std::string_view question, form, type;
    std::string (*write)(std::int32_t key);
  };
  static std::string WriteNumber(std::int32_t key) { return std::to_string(key); }
  static constexpr RankWords kUserWords{"Which user has the {}most lines?",
                                        "Answer with one line, 'User: N', where N is a user id.",
                                        "USER", WriteNumber};
  static constexpr RankWords kDateWords{"Which date has the {}most lines?",
                                        "Answer with one line, 'Date: MM/DD/YYYY'.", "DATE",
                                        IsoDate};

  static std::int64_t Sum(const Counts& counts) {
    std::int64_t sum = 0;
    for (const std::int64_t count : counts) sum += count;
    return sum;
  }

  std::nullopt_t Refused(std::string_view rule) {
    sink_.Refuse(rule);
    return std::nullopt;
  }

  template <typename Filter>
  std::optional<Scope> ScopeOf(std::string text, const Filter& filter) {
    Scope scope{.text = std::move(text), .counts = Counts(labels_.size())};
    for (const WindowLine& line : window_.lines) {
      if (!filter(line)) continue;
      ++scope.counts[line.label];
      ++scope.lines;
    }
    if (scope.lines < kFewestInScope) return Refused("small_scope");
    return scope;
  }

  std::pair<std::uint32_t, std::uint32_t> TwoLabels() {
    const std::vector<std::uint32_t> two = stream_.Sample(labels_.size(), 2);
    return {two[0], two[1]};
  }

  std::optional<Draft> ExtremeLabel(const Scope& scope, std::string_view which) {
    std::vector<std::pair<std::int64_t, std::size_t>> order;
    for (std::size_t i = 0; i < labels_.size(); ++i) order.emplace_back(scope.counts[i], i);
    std::sort(order.begin(), order.end());
    if (which == "most") std::reverse(order.begin(), order.end());
    if (std::abs(order[0].first - order[1].first) * 50 <= scope.lines) return Refused("share_gap");
    return Draft{.question = fmt::format("Which label is the {} common?", which),
                 .form = fmt::format("Answer with one line, 'Label: X', where X is one of: {}.",
                                     ListOf(labels_)),
                 .type = "LABEL",
                 .gold = labels_[order[0].second],
                 .chance = 1.0 / static_cast<double>(labels_.size()),
                 .choices = labels_};
  }

  std::optional<Draft> Number(std::string question, std::int64_t gold) const {
    return Draft{.question = std::move(question),
                 .form = "Answer with one line, 'Answer: N', where N is a whole number.",
                 .type = "NUMERIC",
                 .gold = std::to_string(gold)};
  }

  std::optional<Draft> Ranked(const std::map<std::int32_t, Counts>& keys, std::size_t rank,
                              const RankWords& words) {
    return RankedBy(keys, rank, words,
                    fmt::format(fmt::runtime(words.question), rank == 0 ? "" : "second "), Sum);
  }

  // Returns the key at `rank`, if neither its neighbours nor one before them have the same count.
  template <typename Measure>
  std::optional<Draft> RankedBy(const std::map<std::int32_t, Counts>& keys, std::size_t rank,
                                const RankWords& words, std::string question,
                                const Measure& measure) {
    std::vector<std::pair<std::int64_t, std::int32_t>> order;
    for (const auto& [key, counts] : keys) order.emplace_back(measure(counts), key);
    std::sort(order.rbegin(), order.rend());
    for (std::size_t i = 0; i <= rank; ++i) {
      if (i + 1 >= order.size() || order[i].first == order[i + 1].first) return Refused("tie");
    }
    return Draft{.question = std::move(question),
                 .form = std::string(words.form),
                 .type = std::string(words.type),
                 .gold = words.write(order[rank].second),
                 .chance = 1.0 / static_cast<double>(order.size())};
  }

  const Window& window_;
  const std::vector<std::string>& labels_;
  const Tally tally_;
  RandomStream stream_;
  TaskSink& sink_;
};

struct Kind {
  Group group;
  std::string_view task;
  ScopeKind scope;
  Needs needs;
  std::optional<Draft> (Maker::*make)(const Scope& scope);
  int attempts = kDraws;
};

using enum Group;

// The kinds of each group take turns in this order; those that a program alone can answer are
// spread out.
constexpr Kind kKinds[] = {
    {kCounting, "MOST_FREQ", ScopeKind::kAll, Needs::kLabel, &Maker::MostLabel},
    {kCounting, "LEAST_FREQ", ScopeKind::kAll, Needs::kLabel, &Maker::LeastLabel},
    {kCounting, "RELATIVE_FREQ", ScopeKind::kAll, Needs::kLabel, &Maker::CompareLabels},
    {kCounting, "NUMERIC_ONE_CLASS", ScopeKind::kAll, Needs::kLabel, &Maker::CountLabel},
    {kUser, "MOST_FREQ", ScopeKind::kAll, Needs::kLabel, &Maker::MostUserOfLabel},
    {kUser, "RELATIVE_FREQ", ScopeKind::kAll, Needs::kLabel, &Maker::CompareUsers},
    {kUser, "MOST_FREQ", ScopeKind::kAll, Needs::kStructure, &Maker::MostUser, kOnce},
    {kUser, "MOST_FREQ", ScopeKind::kUser, Needs::kLabel, &Maker::MostLabel},
    {kUser, "NUMERIC_ONE_CLASS", ScopeKind::kUser, Needs::kLabel, &Maker::CountLabel},
    {kUser, "SECOND_MOST_FREQ", ScopeKind::kAll, Needs::kStructure, &Maker::SecondUser, kOnce},
    {kUser, "RELATIVE_FREQ", ScopeKind::kUser, Needs::kLabel, &Maker::CompareLabels},
    {kUser, "LEAST_FREQ", ScopeKind::kUser, Needs::kLabel, &Maker::LeastLabel},
    {kTimeline, "RELATIVE_FREQ", ScopeKind::kAll, Needs::kLabel, &Maker::ComparePeriods},
    {kTimeline, "MOST_FREQ", ScopeKind::kPeriod, Needs::kLabel, &Maker::MostLabel},
    {kTimeline, "MOST_FREQ", ScopeKind::kAll, Needs::kStructure, &Maker::MostDate, kOnce},
    {kTimeline, "MOST_FREQ", ScopeKind::kAll, Needs::kLabel, &Maker::FirstMonth},
    {kTimeline, "NUMERIC_ONE_CLASS", ScopeKind::kPeriod, Needs::kLabel, &Maker::CountLabel},
    {kTimeline, "REPRESENTED_N_TIMES", ScopeKind::kAll, Needs::kStructure, &Maker::DatesWithCount},
    {kTimeline, "NUMERIC_ONE_CLASS", ScopeKind::kAll, Needs::kLabel, &Maker::CountMonths},
    {kTimeline, "RELATIVE_FREQ", ScopeKind::kPeriod, Needs::kLabel, &Maker::CompareLabels},
    {kTimeline, "SECOND_MOST_FREQ", ScopeKind::kAll, Needs::kStructure, &Maker::SecondDate, kOnce},
    {kTimeline, "LEAST_FREQ", ScopeKind::kPeriod, Needs::kLabel, &Maker::LeastLabel},
};

constexpr std::string_view kGroupNames[] = {"counting", "user", "timeline"};
// 40 % counting, 30 % user, 30 % timeline, in any ten consecutive ones.
constexpr Group kMix[] = {kCounting, kUser,     kTimeline, kCounting, kUser,
                          kTimeline, kCounting, kUser,     kTimeline, kCounting};

// The score of the best constant number under 0.75^distance over 1,000 windows each, of 4,096 and
// of 16,384 tokens; for larger windows it is no higher. Measured with the built-in texts at seed 1.
struct NumberChance {
  std::string_view task;
  ScopeKind scope;
  bool months;  // the question counts months, not lines
  double small, large;
};

constexpr NumberChance kNumberChances[] = {
    {"NUMERIC_ONE_CLASS", ScopeKind::kAll, false, 0.47, 0.16},
    {"NUMERIC_ONE_CLASS", ScopeKind::kAll, true, 0.48, 0.34},
    {"NUMERIC_ONE_CLASS", ScopeKind::kUser, false, 0.78, 0.78},
    {"NUMERIC_ONE_CLASS", ScopeKind::kPeriod, false, 0.62, 0.39},
    {"REPRESENTED_N_TIMES", ScopeKind::kAll, false, 0.76, 0.38},
};

double ChanceOf(const Kind& kind, std::int64_t tokens) {
  constexpr std::int64_t kLarge = 16'000 * 9 / 10;
  const bool months = kind.make == &Maker::CountMonths;
  for (const NumberChance& one : kNumberChances) {
    if (one.task == kind.task && one.scope == kind.scope && one.months == months) {
      return tokens < kLarge ? one.small : one.large;
    }
  }
  return 0;
}

class Aggregate final : public Family {
 public:
  std::string_view name() const override { return "aggregate"; }
  std::string_view about() const override {
    return "counting over lines whose labels have to be understood";
  }
  std::span<const Parameter> parameters() const override { return kParameters; }

  Status Generate(const FamilySpec& given, TaskSink& sink) const override {
    DOSSIER_ASSIGN_OR_RETURN(const TextPool pool, OpenPool(given));
    FamilySpec spec = given;
    if (const std::string shape = Setting(given, "shape", ""); shape == "official") {
      spec.windows = 2;
      spec.questions = 25;
    } else if (!shape.empty()) {
      return MakeError(ErrorCode::kConfig, "shape={}: there is only official", shape);
    }
    std::array<std::size_t, 3> turn{};  // for each group, over all windows
    return ForEachWindow(
        name(), spec, pool, sink,
        [&](const Window& window, const std::string& id, ContextFile file) -> Status {
          return MakeTasks(spec, window, id, file, &turn, sink);
        });
  }

  Result<Json> Recompute(const Task& task, const TaskSet& set,
                         const Relabel& relabel) const override {
    DOSSIER_ASSIGN_OR_RETURN(const auto prover, Open(task, set, relabel));
    return prover->Recompute(task);
  }
  Result<std::unique_ptr<Prover>> Open(const Task& task, const TaskSet& set,
                                       const Relabel& relabel) const override {
    return ProveAggregate(task, set, relabel);
  }

  Status MakeTasks(const FamilySpec& spec, const Window& window, const std::string& id,
                   const ContextFile& file, std::array<std::size_t, 3>* turn,
                   TaskSink& sink) const {
    Maker maker(window, RandomStream::For(name(), spec.seed, "questions/" + id), sink);
    std::set<std::string> asked;
    std::int64_t structure = 0;
    for (std::int64_t number = 0; number < spec.questions; ++number) {
      const auto group =
          static_cast<std::size_t>(kMix[static_cast<std::size_t>(number) % std::size(kMix)]);
      const std::size_t start = asked.size();
      // A group without further questions gives its place to another one.
      for (std::size_t tried = 0; tried < 3 * std::size(kKinds) && asked.size() == start; ++tried) {
        const std::size_t now = (group + tried / std::size(kKinds)) % std::size(kGroupNames);
        const Kind& kind = NextKind(static_cast<Group>(now), &(*turn)[now]);
        if (kind.needs == Needs::kStructure && (structure + 1) * 5 > spec.questions) continue;
        DOSSIER_ASSIGN_OR_RETURN(const bool done,
                                 Ask(kind, maker, window, id, number, file, &asked, sink));
        structure += done && kind.needs == Needs::kStructure;
      }
      if (asked.size() == start) {
        return MakeError(ErrorCode::kConfig,
                         "{}: no further question has one clear answer; take a larger --length or "
                         "fewer --questions",
                         id);
      }
    }
    return {};
  }

 private:
  static constexpr Parameter kParameters[] = {
      kLineParameters[0],
      kLineParameters[1],
      kLineParameters[2],
      {"shape", "", "official: two windows of 25 questions, too few for a claim"}};

  static const Kind& NextKind(Group group, std::size_t* turn) {
    while (true) {
      const Kind& kind = kKinds[(*turn)++ % std::size(kKinds)];
      if (kind.group == group) return kind;
    }
  }

  Result<bool> Ask(const Kind& kind, Maker& maker, const Window& window, const std::string& id,
                   std::int64_t number, const ContextFile& file, std::set<std::string>* asked,
                   TaskSink& sink) const {
    for (int attempt = 0; attempt < kind.attempts; ++attempt) {
      const std::optional<Scope> scope = maker.MakeScope(kind.scope);
      if (!scope) continue;
      const std::optional<Draft> draft = (maker.*kind.make)(*scope);
      if (!draft) continue;
      const std::string question =
          (scope->text.empty() ? "" : scope->text + " ") + draft->question + " " + draft->form;
      if (!asked->insert(question).second) continue;
      DOSSIER_RETURN_IF_ERROR(sink.Add(MakeTask(kind, *draft, window, question, id, number, file)));
      return true;
    }
    return false;
  }

  Task MakeTask(const Kind& kind, const Draft& draft, const Window& window,
                const std::string& question, const std::string& id, std::int64_t number,
                const ContextFile& file) const {
    Task task{.id = fmt::format("{}-q{}", id, number),
              .family = std::string(name()),
              .window = id,
              .question = question,
              .scorer = "oolong",
              .gold = OneGold(draft.gold),
              .contexts = {file},
              .needs = kind.needs,
              .chance = draft.type == "NUMERIC" ? ChanceOf(kind, file.tokens) : draft.chance};
    task.meta = {{"context_len", window.length},
                 {"task_group", kGroupNames[static_cast<std::size_t>(kind.group)]},
                 {"task", fmt::format("TASK_TYPE.{}", kind.task)},
                 {"answer_type", "ANSWER_TYPE." + draft.type},
                 {"num_labels", window.labels.size()}};
    if (!draft.a.empty()) task.meta["a"] = draft.a;
    if (!draft.b.empty()) task.meta["b"] = draft.b;
    if (!draft.choices.empty()) {
      task.meta["choices"] = JsonArray(draft.choices.begin(), draft.choices.end());
    }
    return task;
  }
};

}  // namespace

const Family& AggregateFamily() {
  static const Aggregate kFamily;
  return kFamily;
}

Status AddAggregateTasks(const FamilySpec& spec, const Window& window, const std::string& id,
                         const ContextFile& file, std::array<std::size_t, 3>* turn,
                         TaskSink& sink) {
  return Aggregate().MakeTasks(spec, window, id, file, turn, sink);
}

}  // namespace dossier::evaluation
