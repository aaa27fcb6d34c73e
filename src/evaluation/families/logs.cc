// logs: counts, winners, percentiles and gaps over log lines, streamed to any size.

#include <algorithm>
#include <array>
#include <charconv>

#include "evaluation/families/families.h"
#include "evaluation/families/lines.h"
#include "evaluation/families/rows.h"
#include "evaluation/tasks/dates.h"
#include "evaluation/tasks/stream.h"

namespace dossier::evaluation {
namespace {

constexpr std::string_view kLevels[] = {"DEBUG", "INFO", "WARN", "ERROR"};
constexpr std::string_view kServices[] = {"auth",    "billing", "catalog",
                                          "gateway", "mailer",  "search"};
constexpr int kStatuses[] = {200, 201, 204, 301, 400, 404, 500, 503};
constexpr std::string_view kMessages[] = {"request handled as usual",
                                          "cache was cold, read from disk",
                                          "retry after the first timeout",
                                          "upstream closed the connection early",
                                          "token is near its end",
                                          "queue is longer than it should be",
                                          "slow query on the second replica",
                                          "payload larger than last week"};
constexpr std::size_t kUsers = 90'000;
constexpr std::size_t kMostMillis = 5000;

// Counts made while lines are written.
struct LogCounts {
  std::array<std::array<std::int64_t, 6>, 4> level_service{};
  std::array<std::array<std::int64_t, 8>, 6> service_status{};
  std::array<std::vector<std::int64_t>, 6> millis;
  std::vector<bool> users = std::vector<bool>(kUsers);
  std::map<std::int64_t, std::int64_t> hours;
  std::int64_t longest_gap = 0;
};

void AppendInt(std::int64_t number, std::string* out) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out->append(digits.data(), end.ptr);
}

std::string HourText(std::int64_t hour) {
  return fmt::format("{}T{:02}", IsoDate(static_cast<std::int32_t>(hour / 24)), hour % 24);
}

// The time of a line as text, of which only the end changes from line to line.
class TimeText {
 public:
  std::string_view At(std::int64_t second) {
    if (second / 3600 != hour_) {
      hour_ = second / 3600;
      text_ = HourText(hour_) + ":00:00Z";
    }
    const std::int64_t rest = second % 3600;
    Put(14, rest / 60);
    Put(17, rest % 60);
    return text_;
  }

 private:
  void Put(std::size_t at, std::int64_t number) {
    text_[at] = static_cast<char>('0' + number / 10);
    text_[at + 1] = static_cast<char>('0' + number % 10);
  }

  std::int64_t hour_ = -1;
  std::string text_;
};

constexpr RowProof kLogProofs[] = {
    {"How many lines of the service (\\w+) have the level (\\w+)\\?",
     "SELECT count(*) FROM logs WHERE service = ?1 AND level = ?2"},
    {"Which service has the most lines with the level (\\w+)\\?",
     "SELECT service FROM (SELECT service, rank() OVER (ORDER BY count(*) DESC) r FROM logs WHERE "
     "level = "
     "?1 GROUP BY service) WHERE r = 1"},
    {"How many different users appear\\?", "SELECT count(DISTINCT user) FROM logs"},
    {"What is the (\\d+)th percentile of ms of the service (\\w+), by nearest rank\\?",
     "SELECT ms FROM logs WHERE service = ?2 ORDER BY ms LIMIT 1 OFFSET (SELECT (count(*) * ?1 + "
     "99) / 100 "
     "- 1 FROM logs WHERE service = ?2)"},
    {"In which hour are the most lines\\?",
     "SELECT hour FROM (SELECT substr(ts, 1, 13) hour, rank() OVER (ORDER BY count(*) DESC) r FROM "
     "logs "
     "GROUP BY 1) WHERE r = 1"},
    {"How many seconds is the longest gap between a line and the next\\?",
     "SELECT coalesce(max(gap), 0) FROM (SELECT s - lag(s) OVER (ORDER BY at) gap FROM (SELECT "
     "min(rowid) at, strftime('%s', ts) s FROM logs GROUP BY ts))"},
    {"How many lines of the service (\\w+) have the status (\\d+)\\?",
     "SELECT count(*) FROM logs WHERE service = ?1 AND status = ?2 + 0"},
};

class Logs final : public Family {
 public:
  std::string_view name() const override { return "logs"; }
  std::string_view about() const override { return "counts, winners and gaps over log lines"; }
  std::span<const Parameter> parameters() const override { return {}; }
  std::vector<std::int64_t> default_lengths() const override { return {1 << 20, 16 << 20}; }

  Status Generate(const FamilySpec& spec, TaskSink& sink) const override {
    for (const std::int64_t length : spec.lengths) {
      for (std::int64_t number = 0; number < spec.windows; ++number) {
        DOSSIER_RETURN_IF_ERROR(Write(spec, length, number, sink));
      }
    }
    return {};
  }

  Result<Json> Recompute(const Task& task, const TaskSet& set, const Relabel&) const override {
    DOSSIER_ASSIGN_OR_RETURN(const auto prover, OpenRows(task, set, kLogProofs));
    return prover->Recompute(task);
  }
  Result<std::unique_ptr<Prover>> Open(const Task& task, const TaskSet& set,
                                       const Relabel&) const override {
    return OpenRows(task, set, kLogProofs);
  }

 private:
  Status Write(const FamilySpec& spec, std::int64_t length, std::int64_t number,
               TaskSink& sink) const {
    RandomStream stream =
        RandomStream::For(name(), spec.seed, fmt::format("{}/window/{}", length, number));
    const std::string id = fmt::format("logs-{}-w{}", LengthName(length), number);
    DOSSIER_RETURN_IF_ERROR(sink.Open("contexts/" + id + ".log"));
    LogCounts counts;
    for (auto& histogram : counts.millis) histogram.resize(kMostMillis);
    DOSSIER_RETURN_IF_ERROR(WriteLines(spec, length, &stream, &counts, sink));
    DOSSIER_ASSIGN_OR_RETURN(const ContextFile file, sink.Close(0));
    return AddRowTasks(name(), id, {file}, Questions(counts, &stream), spec.questions, sink);
  }

  static Status WriteLines(const FamilySpec& spec, std::int64_t length, RandomStream* stream,
                           LogCounts* counts, TaskSink& sink) {
    constexpr std::size_t kPiece = 1 << 18;
    TimeText time;
    std::int64_t second = std::int64_t{DayOf(2024, 3, 1)} * 86'400, last = second, written = 0;
    std::string piece, line;
    piece.reserve(kPiece + 256);
    while (true) {
      // One draw decides a line: its parts determine the fields.
      const std::uint64_t draw = stream->Next(), more = stream->Next();
      const std::uint64_t pause = draw & 0xff;
      second += pause < 200 ? 0 : pause < 254 ? 1 : static_cast<std::int64_t>(2 + (more & 0x3f));
      const std::size_t level = (draw >> 8 & 0xff) < 40    ? 0
                                : (draw >> 8 & 0xff) < 190 ? 1
                                : (draw >> 8 & 0xff) < 230 ? 2
                                                           : 3;
      const std::size_t service = (draw >> 16 & 0xffff) * 6 >> 16;
      const std::size_t status = draw >> 32 & 7;
      const std::size_t user = (draw >> 40) * kUsers >> 24;
      const std::size_t millis = (more >> 8 & 0xffff) * (more >> 24 & 0xffff) % kMostMillis;
      line.clear();
      line.append(time.At(second)).push_back(' ');
      line.append(kLevels[level]).push_back(' ');
      line.append(kServices[service]).append(" user=");
      AppendInt(static_cast<std::int64_t>(10'000 + user), &line);
      line.append(" status=");
      AppendInt(kStatuses[status], &line);
      line.append(" ms=");
      AppendInt(static_cast<std::int64_t>(millis), &line);
      line.append(" msg=\"").append(kMessages[more >> 40 & 7]).append("\"\n");
      if (written + static_cast<std::int64_t>(line.size()) > length) break;
      written += static_cast<std::int64_t>(line.size());
      piece.append(line);
      ++counts->level_service[level][service];
      ++counts->service_status[service][status];
      ++counts->millis[service][millis];
      ++counts->hours[second / 3600];
      counts->users[user] = true;
      counts->longest_gap = std::max(counts->longest_gap, second - last);
      last = second;
      if (piece.size() < kPiece) continue;
      DOSSIER_RETURN_IF_ERROR(sink.Write(piece));
      piece.clear();
      if (spec.cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "stopped");
    }
    return sink.Write(piece);
  }

  static std::vector<RowQuestion> Questions(const LogCounts& counts, RandomStream* stream) {
    using Kind = RowQuestion::Kind;
    std::vector<RowQuestion> questions;
    const auto number = [&](std::string_view name, std::string text,
                            std::optional<std::int64_t> gold) {
      questions.push_back({.name = name,
                           .text = std::move(text),
                           .gold = gold ? std::optional(std::to_string(*gold)) : std::nullopt});
    };
    const std::size_t level = stream->Below(4), service = stream->Below(6);
    number("count",
           fmt::format("How many lines of the service {} have the level {}?", kServices[service],
                       kLevels[level]),
           counts.level_service[level][service]);
    for (const std::size_t most : {std::size_t{3}, std::size_t{2}}) {
      std::map<std::string, std::int64_t> by_service;
      for (std::size_t i = 0; i < std::size(kServices); ++i) {
        by_service[std::string(kServices[i])] = counts.level_service[most][i];
      }
      questions.push_back(
          {.name = "most",
           .text =
               fmt::format("Which service has the most lines with the level {}?", kLevels[most]),
           .gold = StrictWinner(by_service),
           .kind = Kind::kName});
    }
    number("distinct", "How many different users appear?",
           std::count(counts.users.begin(), counts.users.end(), true));
    const std::size_t slow = stream->Below(6);
    for (const int percent : {95, 99}) {
      number("percentile",
             fmt::format("What is the {}th percentile of ms of the service {}, by nearest rank?",
                         percent, kServices[slow]),
             Percentile(counts.millis[slow], percent));
    }
    const auto hour = StrictWinner(counts.hours);
    questions.push_back({.name = "most",
                         .text = "In which hour are the most lines? Write it as 2024-03-01T07.",
                         .gold = hour ? std::optional(HourText(*hour)) : std::nullopt,
                         .kind = Kind::kName});
    number("gap", "How many seconds is the longest gap between a line and the next?",
           counts.longest_gap);
    for (const std::size_t status : {std::size_t{6}, std::size_t{7}}) {
      const std::size_t of = stream->Below(6);
      number("count",
             fmt::format("How many lines of the service {} have the status {}?", kServices[of],
                         kStatuses[status]),
             counts.service_status[of][status]);
    }
    return questions;
  }
};

}  // namespace

const Family& LogsFamily() {
  static const Logs kFamily;
  return kFamily;
}

}  // namespace dossier::evaluation
