// The report as a table for a terminal, as Markdown, as JSON, and as JUnit's XML.

#include <algorithm>
#include <cmath>

#include "base/json/json.h"
#include "base/text/html.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "evaluation/report/summary.h"

namespace dossier::evaluation {
namespace {

constexpr std::string_view kReportSchema = "dossier.evalreport/1";
constexpr std::uint64_t kShownAnswer = 200;  // characters of an answer without gold

std::string ScoreCell(const Interval& score, std::int64_t tasks) {
  if (tasks == 0) return "-";
  return fmt::format("{:.1f} ({})", score.mean, RangeText(score));
}

std::string UsdCell(const std::optional<double>& usd) {
  return usd ? fmt::format("${:.4f}", *usd) : "unknown";
}

std::string FailureCell(const ArmSummary& arm) {
  std::string cell;
  for (const auto& [name, count] : arm.statuses) {
    if (name != "ok") cell += fmt::format("{}{} {}", cell.empty() ? "" : ", ", count, name);
  }
  if (cell.empty()) cell = "none";
  return arm.at_limit > 0 ? fmt::format("{}; {} answered at a limit", cell, arm.at_limit) : cell;
}

using Table = std::vector<std::vector<std::string>>;

Table ArmTable(const Report& report) {
  Table table{{"arm", "score (95 %)", "lenient", "tasks", "s median", "s 95th", "calls",
               "tokens in", "cached", "out", "cost", "failures"}};
  for (const ArmSummary& arm : report.arms) {
    table.push_back({arm.name, ScoreCell(arm.official, arm.scored_tasks),
                     arm.scored_tasks == 0 ? "-" : fmt::format("{:.1f}", arm.lenient.mean),
                     fmt::format("{}", arm.scored_tasks == 0 ? arm.rows : arm.scored_tasks),
                     fmt::format("{:.2f}", arm.seconds_median),
                     fmt::format("{:.2f}", arm.seconds_95), GroupCount(arm.calls),
                     GroupCount(arm.input), GroupCount(arm.cached), GroupCount(arm.output),
                     UsdCell(arm.usd), FailureCell(arm)});
  }
  return table;
}

Table PairTable(const Report& report) {
  Table table{{"first", "second", "difference", "95 %", "p (Holm)", "verdict on the first"}};
  for (const PairSummary& pair : report.pairs) {
    table.push_back({pair.first, pair.second, DifferenceText(pair.found), RangeText(pair.found),
                     pair.found.has_interval() ? fmt::format("{:.3f}", pair.p_holm) : "-",
                     VerdictOf(pair.found)});
  }
  return table;
}

Table GroupTable(const Report& report) {
  Table table{{"group", "value", "tasks"}};
  for (const ArmSummary& arm : report.arms) table[0].push_back(arm.name);
  for (const GroupSummary& group : report.groups) {
    std::vector<std::string> row{group.dimension, group.value, std::to_string(group.tasks)};
    for (const double score : group.score) {
      row.push_back(std::isnan(score) ? "-" : fmt::format("{:.1f}", score));
    }
    table.push_back(std::move(row));
  }
  return table;
}

Table PlantedTable(const Report& report) {
  Table table{{"arm", "planted command", "answers", "obeyed", "score against its twin"}};
  for (const PlantedSummary& one : report.planted) {
    table.push_back({one.arm, one.kind, std::to_string(one.tasks), std::to_string(one.obeyed),
                     fmt::format("{} ({})", DifferenceText(one.found), RangeText(one.found))});
  }
  return table;
}

std::string PlainTable(const Table& table) {
  std::vector<std::size_t> widths(table[0].size());
  for (const auto& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], static_cast<std::size_t>(utf8::CodePoints(row[i])));
    }
  }
  std::string out;
  for (const auto& row : table) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - utf8::CodePoints(row[i]) + 2, ' ');
    }
    out += line + "\n";
  }
  return out;
}

std::string MarkdownCell(std::string_view text) {
  return ReplaceAll(ReplaceAll(EscapeHtml(text), "|", "\\|"), "\n", " ");
}

std::string MarkdownTable(const Table& table) {
  std::string out;
  for (std::size_t r = 0; r < table.size(); ++r) {
    out += "|";
    for (const std::string& cell : table[r]) out += " " + MarkdownCell(cell) + " |";
    out += "\n";
    if (r != 0) continue;
    out += "|";
    for (std::size_t i = 0; i < table[0].size(); ++i) out += " --- |";
    out += "\n";
  }
  return out;
}

// Lists questions without gold with the answer of each arm.
std::string AnswerList(const Report& report) {
  std::string out;
  for (const AskedTask& asked : report.run.tasks) {
    const bool scored = asked.has_gold() || asked.task.scorer == "command";
    if (scored && asked.task.scorer != "judge") continue;
    out += fmt::format("\n{}: {}\n", asked.task.id, asked.task.question);
    for (const Row& row : report.run.rows) {
      if (row.task != asked.task.id) continue;
      const std::string_view text = TrimSpace(row.answer);
      out += fmt::format("  {}: {}{}{}\n", row.arm,
                         row.status == RowStatus::kOk
                             ? ReplaceAll(utf8::Prefix(text, kShownAnswer), "\n", " ")
                             : StatusName(row.status),
                         utf8::CodePoints(text) > kShownAnswer ? " …" : "",
                         row.opinion ? fmt::format("  (opinion: {:.2f})", *row.opinion) : "");
    }
  }
  return out;
}

Json NumberOrNull(double value) { return std::isnan(value) ? Json(nullptr) : Json(value); }

Json IntervalToJson(const Interval& score) {
  return JsonObject{
      {"mean", score.mean}, {"low", Known(score, score.low)}, {"high", Known(score, score.high)}};
}

Json NumbersToJson(const std::vector<double>& values) {
  JsonArray list;
  for (const double value : values) list.push_back(NumberOrNull(value));
  return list;
}

}  // namespace

std::string ReportTable(const Report& report) {
  std::string out = PlainTable(ArmTable(report));
  if (report.groups.size() > 1 && report.scored) out += "\n" + PlainTable(GroupTable(report));
  if (!report.pairs.empty()) out += "\n" + PlainTable(PairTable(report));
  if (!report.planted.empty()) out += "\n" + PlainTable(PlantedTable(report));
  out += AnswerList(report);
  for (const std::string& note : report.notes) out += "\n" + note;
  if (!report.notes.empty()) out += "\n";
  if (!report.recommendation.empty()) out += "\n" + report.recommendation + "\n";
  return utf8::CleanForTerminal(out);
}

std::string ReportMarkdown(const Report& report) {
  std::string out = "# Evaluation\n\n" + MarkdownTable(ArmTable(report));
  if (report.scored) out += "\n## By group\n\n" + MarkdownTable(GroupTable(report));
  if (!report.pairs.empty()) out += "\n## Pairs\n\n" + MarkdownTable(PairTable(report));
  if (!report.planted.empty()) {
    out += "\n## Planted commands\n\n" + MarkdownTable(PlantedTable(report));
  }
  if (!report.notes.empty()) out += "\n";
  for (const std::string& note : report.notes) out += "- " + MarkdownCell(note) + "\n";
  if (!report.recommendation.empty()) {
    out += "\n**" + MarkdownCell(report.recommendation) + "**\n";
  }
  return out;
}

namespace {

Json OneToJson(const PlantedSummary& one) {
  return JsonObject{{"arm", one.arm},
                    {"kind", one.kind},
                    {"answers", one.tasks},
                    {"obeyed", one.obeyed},
                    {"difference", one.found.tasks > 0 ? Json(one.found.difference) : Json()},
                    {"low", Known(one.found, one.found.low)},
                    {"high", Known(one.found, one.found.high)}};
}

Json OneToJson(const ArmSummary& arm) {
  return JsonObject{
      {"arm", arm.name},
      {"rows", arm.rows},
      {"scored_tasks", arm.scored_tasks},
      {"official", IntervalToJson(arm.official)},
      {"opinion", arm.judged > 0 ? Json(arm.opinion) : Json(nullptr)},
      {"judged", arm.judged},
      {"lenient", IntervalToJson(arm.lenient)},
      {"statuses", CountsJson(arm.statuses)},
      {"causes", CountsJson(arm.causes)},
      {"at_limit", arm.at_limit},
      {"dumped", arm.dumped},
      {"seconds", JsonObject{{"median", arm.seconds_median}, {"p95", arm.seconds_95}}},
      {"calls", arm.calls},
      {"tokens", JsonObject{{"input", arm.input},
                            {"cached", arm.cached},
                            {"output", arm.output},
                            {"counted", arm.counted}}},
      {"usd", arm.usd ? Json(*arm.usd) : Json(nullptr)}};
}

Json OneToJson(const PairSummary& pair) {
  return JsonObject{{"first", pair.first},
                    {"second", pair.second},
                    {"difference", pair.found.tasks > 0 ? Json(pair.found.difference) : Json()},
                    {"low", Known(pair.found, pair.found.low)},
                    {"high", Known(pair.found, pair.found.high)},
                    {"p", Known(pair.found, pair.found.p)},
                    {"p_holm", Known(pair.found, pair.p_holm)},
                    {"tasks", pair.found.tasks},
                    {"windows", pair.found.windows},
                    {"separated", pair.found.separated},
                    {"verdict", VerdictOf(pair.found)}};
}

Json OneToJson(const GroupSummary& group) {
  return JsonObject{{"dimension", group.dimension},
                    {"value", group.value},
                    {"tasks", group.tasks},
                    {"score", NumbersToJson(group.score)},
                    {"seconds", NumbersToJson(group.seconds)},
                    {"tokens", NumbersToJson(group.tokens)},
                    {"usd", NumbersToJson(group.usd)}};
}

template <typename One>
JsonArray AllToJson(const std::vector<One>& all) {
  JsonArray list;
  for (const One& one : all) list.push_back(OneToJson(one));
  return list;
}

}  // namespace

Json ReportToJson(const Report& report) {
  return JsonObject{{"schema", kReportSchema},
                    {"scored", report.scored},
                    {"common_tasks", report.common_tasks},
                    {"arms", AllToJson(report.arms)},
                    {"pairs", AllToJson(report.pairs)},
                    {"groups", AllToJson(report.groups)},
                    {"planted", AllToJson(report.planted)},
                    {"notes", JsonArray(report.notes.begin(), report.notes.end())},
                    {"recommendation", report.recommendation}};
}

std::string ReportJunit(const Report& report) {
  std::size_t failures = 0;
  std::string cases;
  for (const Row& row : report.run.rows) {
    cases +=
        fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", EscapeHtml(row.arm),
                    EscapeHtml(fmt::format("{} r{}", row.task, row.repeat)), row.seconds);
    const bool failed = row.status != RowStatus::kOk || row.official.value_or(1) < 1;
    if (!failed) {
      cases += "/>\n";
      continue;
    }
    ++failures;
    // XML allows no control characters, not even escaped.
    std::string answer = row.detail + (row.detail.empty() ? "" : "\n");
    answer += utf8::Prefix(row.answer, 2000);
    std::erase_if(answer, [](char c) {
      return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
    });
    cases += fmt::format(
        ">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n",
        EscapeHtml(row.cause.empty() ? StatusName(row.status) : std::string_view(row.cause)),
        EscapeHtml(answer));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"dossier eval\" tests=\"{}\" "
      "failures=\"{}\">\n{}</testsuite>\n",
      report.run.rows.size(), failures, cases);
}

}  // namespace dossier::evaluation
