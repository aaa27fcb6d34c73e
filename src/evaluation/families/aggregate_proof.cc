#include <re2/re2.h>

#include <array>

#include "base/text/text.h"
#include "evaluation/families/families.h"
#include "evaluation/families/lines.h"

namespace dossier::evaluation {
namespace {

// A kind of question, recognised by pattern, and its answer in SQL over the view `s`. ?1 and ?2 are
// the pattern's captures, in order.
struct Proof {
  const char* question;
  const char* sql;
};

#define LABEL_COUNTS                                                                          \
  "WITH c AS (SELECT labels.label k, count(s.label) n FROM labels LEFT JOIN s USING (label) " \
  "GROUP BY labels.label) "
#define MONTHS                                                                              \
  "WITH m AS (SELECT substr(day, 1, 7) month, sum(label = ?1) a, sum(label = ?2) b FROM s " \
  "GROUP BY 1) "

constexpr Proof kProofs[] = {
    {"Which label is the most common\\?",
     LABEL_COUNTS "SELECT k FROM c WHERE n = (SELECT max(n) FROM c)"},
    {"Which label is the least common\\?",
     LABEL_COUNTS "SELECT k FROM c WHERE n = (SELECT min(n) FROM c)"},
    {"Is (.+) more common than (.+), less common, or equally common\\?",
     "SELECT CASE WHEN a > b THEN 'more common than' WHEN a < b THEN 'less common than' ELSE 'same "
     "frequency as' END FROM (SELECT total(label = ?1) a, total(label = ?2) b FROM s)"},
    {"How many lines have the label (.+)\\?", "SELECT count(*) FROM s WHERE label = ?1"},
    {"Which user has the most lines\\?",
     "SELECT user FROM (SELECT user, rank() OVER (ORDER BY count(*) DESC) r FROM s GROUP BY user) "
     "WHERE r = 1"},
    {"Which user has the second most lines\\?",
     "SELECT user FROM (SELECT user, rank() OVER (ORDER BY count(*) DESC) r FROM s GROUP BY user) "
     "WHERE r = 2"},
    {"Which user has the most lines with the label (.+)\\?",
     "SELECT user FROM (SELECT user, rank() OVER (ORDER BY count(*) DESC) r FROM s WHERE label = "
     "?1 "
     "GROUP BY user) WHERE r = 1"},
    {"Which of the users (\\d+) and (\\d+) has more lines with the label (.+)\\?",
     "SELECT CASE WHEN x > y THEN ?1 WHEN x < y THEN ?2 END FROM (SELECT total(user = ?1 + 0) x, "
     "total(user = ?2 + 0) y FROM s WHERE label = ?3)"},
    {"Which date has the most lines\\?",
     "SELECT day FROM (SELECT day, rank() OVER (ORDER BY count(*) DESC) r FROM s GROUP BY day) "
     "WHERE "
     "r = 1"},
    {"Which date has the second most lines\\?",
     "SELECT day FROM (SELECT day, rank() OVER (ORDER BY count(*) DESC) r FROM s GROUP BY day) "
     "WHERE "
     "r = 2"},
    {"Of the 50 dates with the most lines, how many have exactly (\\d+) lines\\?",
     "SELECT count(*) FROM (SELECT count(*) n FROM s GROUP BY day ORDER BY n DESC LIMIT 50) WHERE "
     "n = "
     "?1 + 0"},
    {"As a share of the lines of each period, is (.+) more common before (.+) than after it, less "
     "common, or equally frequent\\? Lines of .+ do not count\\.",
     "SELECT CASE WHEN x > y THEN 'more common' WHEN x < y THEN 'less common' ELSE 'the same "
     "frequency' END FROM (SELECT sum(day < ?2 AND label = ?1) * sum(day > ?2) x, sum(day > ?2 AND "
     "label = ?1) * sum(day < ?2) y FROM s)"},
    {"In which month does (.+) first outnumber (.+)\\?",
     MONTHS "SELECT min(month) FROM m WHERE a > b"},
    {"In how many months does (.+) outnumber (.+)\\?", MONTHS "SELECT count(*) FROM m WHERE a > b"},
    {"In how many months is (.+) alone the most common label\\?",
     "WITH c AS (SELECT substr(day, 1, 7) month, label, count(*) n FROM s GROUP BY 1, 2), "
     "r AS (SELECT month, label, rank() OVER (PARTITION BY month ORDER BY n DESC) r FROM c) "
     "SELECT count(*) FROM (SELECT month FROM r WHERE r = 1 GROUP BY month HAVING count(*) = 1 AND "
     "max(label) = ?1)"},
};

#undef LABEL_COUNTS
#undef MONTHS

constexpr const char* kMonthNames[] = {"January",   "February", "March",    "April",
                                       "May",       "June",     "July",     "August",
                                       "September", "October",  "November", "December"};

// The questions of kProofs, compiled; all proofs share these constants.
const std::vector<std::unique_ptr<const RE2>>& Questions() {
  static const auto compiled = [] {
    std::vector<std::unique_ptr<const RE2>> all;
    for (const Proof& proof : kProofs) {
      all.push_back(
          std::make_unique<const RE2>(std::string(proof.question) + " Answer with one line, "));
    }
    return all;
  }();
  return compiled;
}

// Converts "Jun 06, 2024" to 2024-06-06; returns anything else unchanged.
std::string AsIso(const std::string& text) {
  static const RE2 date(R"(([A-Z][a-z]{2}) (\d\d), (\d{4}))");
  std::string month, day, year;
  if (!RE2::FullMatch(text, date, &month, &day, &year)) return text;
  for (int i = 0; i < 12; ++i) {
    if (std::string_view(kMonthNames[i]).starts_with(month)) {
      return fmt::format("{}-{:02}-{}", year, i + 1, day);
    }
  }
  return text;
}

// Removes the scope from the front of `question`; returns its condition.
std::string TakeScope(re2::StringPiece* question) {
  static const RE2 user(R"(Consider only the lines of user (\d+)\. )");
  static const RE2 month(R"(Consider only the lines dated in ([A-Z][a-z]+), of any year\. )");
  static const RE2 range(
      R"(Consider only the lines dated from (\w+ \d+, \d+) to (\w+ \d+, \d+), both included\. )");
  std::string a, b;
  if (RE2::Consume(question, user, &a)) {
    return "user = " + a;
  }
  if (RE2::Consume(question, month, &a)) {
    for (int i = 0; i < 12; ++i) {
      if (a == kMonthNames[i]) return fmt::format("substr(day, 6, 2) = '{:02}'", i + 1);
    }
  }
  if (RE2::Consume(question, range, &a, &b)) {
    return fmt::format("day BETWEEN '{}' AND '{}'", AsIso(a), AsIso(b));
  }
  return "1";
}

// Returns the only row of a query; none or several are not a single right answer.
Result<std::string> OnlyRow(store::Statement& query, const Task& task) {
  DOSSIER_ASSIGN_OR_RETURN(const bool first, query.Step());
  const auto answer = first ? query.OptionalText(0) : std::nullopt;
  DOSSIER_ASSIGN_OR_RETURN(const bool second, first ? query.Step() : Result<bool>(false));
  if (answer && !second) return *answer;
  return MakeError(ErrorCode::kCheckFailed, "{}: the labelled file gives {} right answers", task.id,
                   answer ? "several" : "no");
}

class AggregateProver final : public Prover {
 public:
  explicit AggregateProver(LineTable table) : table_(std::move(table)) {}

  Result<Json> Recompute(const Task& task) override {
    re2::StringPiece rest(task.question);
    const std::string condition = TakeScope(&rest);
    DOSSIER_RETURN_IF_ERROR(
        table_.db.Execute("DROP VIEW IF EXISTS s; CREATE TEMP VIEW s AS SELECT * "
                          "FROM lines WHERE " +
                          condition));
    std::array<std::string, 3> found;
    const std::array<RE2::Arg, 3> all{&found[0], &found[1], &found[2]};
    const std::array<const RE2::Arg*, 3> arguments{&all[0], &all[1], &all[2]};
    for (std::size_t i = 0; i < std::size(kProofs); ++i) {
      const RE2& pattern = *Questions()[i];
      re2::StringPiece at = rest;
      if (RE2::ConsumeN(&at, pattern, arguments.data(), pattern.NumberOfCapturingGroups())) {
        return Answer(task, kProofs[i], std::move(found));
      }
    }
    return MakeError(ErrorCode::kDamaged, "{}: its question is of no kind of this family", task.id);
  }

 private:
  Result<Json> Answer(const Task& task, const Proof& proof, std::array<std::string, 3> found) {
    DOSSIER_ASSIGN_OR_RETURN(store::Statement query, table_.db.Prepare(proof.sql));
    for (std::string& one : found) one = AsIso(one);
    query.With(found[0], found[1], found[2]);
    DOSSIER_ASSIGN_OR_RETURN(std::string answer, OnlyRow(query, task));
    static const RE2 year_month(R"((\d{4})-(\d\d))");
    std::string year;
    int month = 0;
    if (RE2::FullMatch(answer, year_month, &year, &month) && month >= 1 && month <= 12) {
      answer = fmt::format("{} {}", kMonthNames[month - 1], year);
    }
    return OneGold(answer);
  }

  LineTable table_;
};

}  // namespace

Result<std::unique_ptr<Prover>> ProveAggregate(const Task& task, const TaskSet& set,
                                               const Relabel& relabel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string labelled, set.ReadLabelled(task.contexts[0]));
  DOSSIER_ASSIGN_OR_RETURN(LineTable table, LineTable::Read(labelled, relabel));
  return std::make_unique<AggregateProver>(std::move(table));
}

}  // namespace dossier::evaluation
