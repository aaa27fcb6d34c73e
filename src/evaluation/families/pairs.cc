// pairs: all pairs of users whose lines meet two conditions, which no summary of a part can answer.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/text/text.h"
#include "evaluation/families/families.h"
#include "evaluation/families/lines.h"
#include "evaluation/tasks/dates.h"
#include "evaluation/tasks/stream.h"

namespace dossier::evaluation {
namespace {

constexpr std::size_t kSlots = 6;

enum class How : std::uint8_t { kAtLeast, kExactly };

struct Need {
  char slot;  // 'A' to 'F'
  int count;
  How how = How::kAtLeast;
};

// A day before or after which all lines of one label must be.
struct Limit {
  char slot = 0;  // 0: none
  enum class Side : std::uint8_t { kAfter, kBefore } side = Side::kAfter;
  int year = 0, month = 0, day = 0;
};

// Both users meet "first or second", and the limit; or one meets all of `one`, the other all of
// `other`.
struct Condition {
  char first = 0, second = 0;
  Limit limit;
  std::vector<Need> one, other;
};

using enum Limit::Side;

std::vector<Condition> Conditions() {
  const auto exactly = [](char slot, int count) { return Need{slot, count, How::kExactly}; };
  return {
      {'A', 'B'},
      {'C', 'D'},
      {'E', 'F'},
      {'B', 'D', {'D', kAfter, 2023, 1, 6}},
      {'A', 'C', {'C', kBefore, 2023, 3, 15}},
      {'B', 'F'},
      {'A', 'E', {'A', kAfter, 2023, 2, 1}},
      {'D', 'E'},
      {'B', 'C', {'B', kAfter, 2023, 4, 10}},
      {'A', 'F', {'F', kBefore, 2023, 5, 20}},
      {.one = {{'C', 1}, {'F', 1}}, .other = {exactly('C', 1)}},
      {.one = {{'A', 2}}, .other = {{'B', 1}, {'D', 1}}},
      {.one = {exactly('E', 1)}, .other = {{'F', 1}, {'C', 1}}},
      {.one = {{'D', 1}, {'A', 1}}, .other = {exactly('B', 2)}},
      {.one = {{'C', 1}, {'B', 1}, {'F', 1}}, .other = {exactly('A', 1)}},
      {.one = {{'E', 1}, {'D', 1}}, .other = {{'C', 2}, exactly('F', 1)}},
      {.one = {exactly('A', 1)}, .other = {{'B', 1}, {'E', 1}}},
      {.one = {{'F', 1}, exactly('D', 1)}, .other = {{'C', 1}, {'A', 1}}},
      {.one = {{'B', 2}, {'C', 1}}, .other = {exactly('E', 1), exactly('F', 1)}},
      {.one = {{'A', 1}, {'D', 1}}, .other = {{'B', 1}, {'C', 1}, exactly('F', 1)}},
  };
}

using Slots = std::array<std::string, kSlots>;  // the labels of A to F

const std::string& LabelOf(const Slots& slots, char slot) {
  return slots[static_cast<std::size_t>(slot - 'A')];
}

std::string DateOf(const Limit& limit) {
  return LineDate(DayOf(limit.year, limit.month, limit.day));
}

std::string Words(const std::vector<Need>& needs, const Slots& slots) {
  std::vector<std::string> parts;
  for (const Need& need : needs) {
    parts.push_back(fmt::format("{} {} {} with the label {}",
                                need.how == How::kExactly ? "exactly" : "at least", need.count,
                                need.count == 1 ? "line" : "lines", LabelOf(slots, need.slot)));
  }
  return Join(parts, " and ");
}

std::string Question(const Condition& condition, const Slots& slots) {
  std::string text = "List all pairs of different users for which ";
  if (condition.first != 0) {
    text += fmt::format("both have at least one line with the label {} or {}",
                        LabelOf(slots, condition.first), LabelOf(slots, condition.second));
    if (const Limit& limit = condition.limit; limit.slot != 0) {
      text += fmt::format(
          ", and all their lines with the label {}, if there are any, are dated {} {}",
          LabelOf(slots, limit.slot), limit.side == kAfter ? "after" : "before", DateOf(limit));
    }
  } else {
    text += fmt::format("one has {}, and the other has {}", Words(condition.one, slots),
                        Words(condition.other, slots));
  }
  return text +
         ". Answer with one pair in a line, '(X, Y)', where X and Y are user ids and X is the "
         "lower "
         "one; no other text.";
}

// For each label of a user: number of lines, and the days of the first and the last.
struct Lines {
  std::int64_t count = 0;
  std::int32_t first = 0, last = 0;
};

using UserLines = std::map<std::string, Lines>;

bool Meets(const UserLines& user, const std::vector<Need>& needs, const Slots& slots) {
  return std::all_of(needs.begin(), needs.end(), [&](const Need& need) {
    const auto found = user.find(LabelOf(slots, need.slot));
    const std::int64_t count = found == user.end() ? 0 : found->second.count;
    return need.how == How::kExactly ? count == need.count : count >= need.count;
  });
}

bool MeetsBoth(const UserLines& user, const Condition& condition, const Slots& slots) {
  if (!user.contains(LabelOf(slots, condition.first)) &&
      !user.contains(LabelOf(slots, condition.second))) {
    return false;
  }
  const Limit& limit = condition.limit;
  if (limit.slot == 0) return true;
  const auto found = user.find(LabelOf(slots, limit.slot));
  if (found == user.end()) return true;
  const std::int32_t day = DayOf(limit.year, limit.month, limit.day);
  return limit.side == kAfter ? found->second.first > day : found->second.last < day;
}

// Path A: sorts users by the conditions they meet, and makes pairs from the two lists.
Json CountPairs(const std::map<std::int32_t, UserLines>& users, const Condition& condition,
                const Slots& slots) {
  std::vector<std::int32_t> one, other;
  for (const auto& [user, lines] : users) {
    if (condition.first != 0) {
      if (MeetsBoth(lines, condition, slots)) one.push_back(user);
      continue;
    }
    if (Meets(lines, condition.one, slots)) one.push_back(user);
    if (Meets(lines, condition.other, slots)) other.push_back(user);
  }
  if (condition.first != 0) other = one;
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  for (const std::int32_t a : one) {
    for (const std::int32_t b : other) {
      if (a != b) pairs.emplace(std::min(a, b), std::max(a, b));
    }
  }
  JsonArray gold;
  for (const auto& [low, high] : pairs) gold.push_back(Json(fmt::format("({}, {})", low, high)));
  return gold;
}

// Path B: a condition on the users' lines as SQL, with ?1 to ?6 for the labels of A to F.
std::string SqlOf(const std::vector<Need>& needs, std::string_view user) {
  std::vector<std::string> parts;
  for (const Need& need : needs) {
    parts.push_back(
        fmt::format("(SELECT count(*) FROM lines WHERE user = {}.user AND label = ?{}) {} {}", user,
                    need.slot - 'A' + 1, need.how == How::kExactly ? "=" : ">=", need.count));
  }
  return "(" + Join(parts, " AND ") + ")";
}

std::string SqlOfBoth(const Condition& condition) {
  std::string sql = fmt::format("SELECT DISTINCT user FROM lines WHERE label IN (?{}, ?{})",
                                condition.first - 'A' + 1, condition.second - 'A' + 1);
  if (const Limit& limit = condition.limit; limit.slot != 0) {
    sql += fmt::format(
        " AND user NOT IN (SELECT user FROM lines WHERE label = ?{} AND day {} "
        "'{:04}-{:02}-{:02}')",
        limit.slot - 'A' + 1, limit.side == kAfter ? "<=" : ">=", limit.year, limit.month,
        limit.day);
  }
  return "WITH u AS (" + sql + ") SELECT p.user, q.user FROM u p JOIN u q ON p.user < q.user ";
}

std::string SqlOf(const Condition& condition) {
  // Uses all six numbered parameters.
  const std::string all = "ORDER BY 1, 2, (SELECT ?1 || ?2 || ?3 || ?4 || ?5 || ?6)";
  if (condition.first != 0) return SqlOfBoth(condition) + all;
  return "WITH u AS (SELECT DISTINCT user FROM lines), a AS (SELECT user FROM u WHERE " +
         SqlOf(condition.one, "u") + "), b AS (SELECT user FROM u WHERE " +
         SqlOf(condition.other, "u") +
         ") SELECT DISTINCT min(a.user, b.user), max(a.user, b.user) FROM a JOIN b ON a.user <> "
         "b.user " +
         all;
}

Result<Slots> SlotsOf(const FamilySpec& spec, const TextPool& pool) {
  Slots slots;
  if (pool.labels().size() < kSlots) {
    return MakeError(ErrorCode::kConfig, "pairs needs a pool of {} labels; this one has {}", kSlots,
                     pool.labels().size());
  }
  std::copy_n(pool.labels().begin(), kSlots, slots.begin());
  const std::string given = Setting(spec, "slots", "");
  for (const std::string_view part : Split(given, ',')) {
    if (part.empty()) continue;
    const auto& labels = pool.labels();
    const std::string label(part.substr(std::min<std::size_t>(2, part.size())));
    if (part.size() < 3 || part[0] < 'A' || part[0] > 'F' || part[1] != ':' ||
        std::find(labels.begin(), labels.end(), label) == labels.end()) {
      return MakeError(ErrorCode::kConfig,
                       "slots={}: {} is no SLOT:LABEL; slots are A to F, labels {}", given, part,
                       ListOf(labels));
    }
    slots[static_cast<std::size_t>(part[0] - 'A')] = label;
  }
  if (std::set<std::string>(slots.begin(), slots.end()).size() < kSlots) {
    return MakeError(ErrorCode::kConfig, "slots={}: two slots have the same label", given);
  }
  return slots;
}

class PairsProver final : public Prover {
 public:
  explicit PairsProver(LineTable table) : table_(std::move(table)) {}

  Result<Json> Recompute(const Task& task) override {
    const Json* named = Find(task.meta, "slots");
    const std::size_t number =
        static_cast<std::size_t>(FindInt(task.meta, "condition").value_or(0));
    const std::vector<Condition> conditions = Conditions();
    Slots slots;
    for (std::size_t i = 0; named != nullptr && i < kSlots; ++i) {
      slots[i] = TextAt(*named, std::string(1, static_cast<char>('A' + i)));
    }
    // The number is only a hint; the text that a system is asked decides.
    if (number < 1 || number > conditions.size() ||
        Question(conditions[number - 1], slots) != task.question) {
      return MakeError(ErrorCode::kDamaged, "{}: its question is not that of its condition",
                       task.id);
    }
    DOSSIER_ASSIGN_OR_RETURN(store::Statement query,
                             table_.db.Prepare(SqlOf(conditions[number - 1])));
    query.With(slots[0], slots[1], slots[2], slots[3], slots[4], slots[5]);
    JsonArray gold;
    while (true) {
      DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) return gold;
      gold.push_back(Json(fmt::format("({}, {})", query.Int(0), query.Int(1))));
    }
  }

 private:
  LineTable table_;
};

class Pairs final : public Family {
 public:
  std::string_view name() const override { return "pairs"; }
  std::string_view about() const override {
    return "all pairs of users whose lines meet two conditions";
  }
  std::span<const Parameter> parameters() const override { return kParameters; }

  Status Generate(const FamilySpec& spec, TaskSink& sink) const override {
    DOSSIER_ASSIGN_OR_RETURN(const TextPool pool, OpenPool(spec));
    DOSSIER_ASSIGN_OR_RETURN(const Slots slots, SlotsOf(spec, pool));
    const std::vector<Condition> conditions = Conditions();
    return ForEachWindow(name(), spec, pool, sink,
                         [&, turn = std::size_t{0}](const Window& window, const std::string& id,
                                                    ContextFile file) mutable -> Status {
                           const std::map<std::int32_t, UserLines> users = UsersOf(window);
                           for (std::int64_t number = 0; number < spec.questions;
                                ++number, ++turn) {
                             const Condition& condition = conditions[turn % conditions.size()];
                             Task task{.id = fmt::format("{}-q{}", id, number),
                                       .family = std::string(name()),
                                       .window = id,
                                       .question = Question(condition, slots),
                                       .scorer = "pairs",
                                       .gold = CountPairs(users, condition, slots),
                                       .contexts = {file},
                                       .needs = Needs::kLabel};
                             JsonObject named;
                             for (std::size_t i = 0; i < kSlots; ++i) {
                               named[std::string(1, static_cast<char>('A' + i))] = slots[i];
                             }
                             task.meta = {{"context_len", window.length},
                                          {"condition", turn % conditions.size() + 1},
                                          {"slots", std::move(named)}};
                             DOSSIER_RETURN_IF_ERROR(sink.Add(std::move(task)));
                           }
                           return {};
                         });
  }

  Result<Json> Recompute(const Task& task, const TaskSet& set,
                         const Relabel& relabel) const override {
    DOSSIER_ASSIGN_OR_RETURN(const auto prover, Open(task, set, relabel));
    return prover->Recompute(task);
  }
  Result<std::unique_ptr<Prover>> Open(const Task& task, const TaskSet& set,
                                       const Relabel& relabel) const override {
    DOSSIER_ASSIGN_OR_RETURN(const std::string labelled, set.ReadLabelled(task.contexts[0]));
    DOSSIER_ASSIGN_OR_RETURN(LineTable table, LineTable::Read(labelled, relabel));
    DOSSIER_RETURN_IF_ERROR(table.db.Execute("CREATE INDEX by_user ON lines(user, label)"));
    return std::make_unique<PairsProver>(std::move(table));
  }

 private:
  static constexpr Parameter kParameters[] = {
      kLineParameters[0],
      kLineParameters[1],
      kLineParameters[2],
      {"slots", "", "labels of A to F, as A:music,B:sailing; default: the first six"}};

  static std::map<std::int32_t, UserLines> UsersOf(const Window& window) {
    std::map<std::int32_t, UserLines> users;
    for (const WindowLine& line : window.lines) {
      Lines& lines = users[line.user][window.labels[line.label]];
      lines.first = lines.count == 0 ? line.day : std::min(lines.first, line.day);
      lines.last = lines.count == 0 ? line.day : std::max(lines.last, line.day);
      ++lines.count;
    }
    return users;
  }
};

}  // namespace

const Family& PairsFamily() {
  static const Pairs kFamily;
  return kFamily;
}

}  // namespace dossier::evaluation
