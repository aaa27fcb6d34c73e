// The report as one HTML file that loads nothing and works without its script, which only filters.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/html.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "evaluation/report/summary.h"

namespace dossier::evaluation {
namespace {

// Small charts as hand-written SVG: no library, script or font.
//
//   const std::string svg = LineChart({.title = "Score by length", .x = {"16K", "64K"},
//                                      .series = {{"dossier", {91, 88}}}});
//
// A value that is not a number is left out. Texts are escaped. Thread-safety: pure functions.

struct Series {
  std::string name;
  std::vector<double> y;  // one for each place of x
};

struct LineChartData {
  std::string title, unit;
  std::vector<std::string> x;  // names of the places, in order
  std::vector<Series> series;
};

struct Dot {
  std::string name;
  double x = 0, y = 0, y_low = 0, y_high = 0;
};

// Size of the whole picture in its own units, and margins around the drawing.
constexpr double kWidth = 460, kHeight = 260, kLeft = 56, kRight = 12, kTop = 30, kBottom = 40;
// Distinguishable without colour vision; dark enough on white, light enough on black.
constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f"};

// Returns the colour of a series for a key: "#0072b2".
std::string_view SeriesColour(std::size_t series) { return kColours[series % kColours.size()]; }

// Rounds up to 1, 2 or 5 times a power of ten.
double NiceTop(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (value <= step * power) return step * power;
  }
  return 10 * power;
}

class Drawing {
 public:
  Drawing(std::string_view title, double x_top, double y_top) : x_top_(x_top), y_top_(y_top) {
    svg_ = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"><text x=\"{}\" y=\"16\" "
        "class=\"title\">{}</text>",
        kWidth, kHeight, EscapeHtml(title), kLeft, EscapeHtml(title));
    Line(kLeft, kHeight - kBottom, kWidth - kRight, kHeight - kBottom, "axis");
    for (int i = 0; i <= 4; ++i) {
      const double value = y_top_ * i / 4;
      Line(kLeft, Y(value), kWidth - kRight, Y(value), "grid");
      Text(kLeft - 6, Y(value) + 4, "end", fmt::format("{:.6g}", value));
    }
  }

  double X(double value) const { return kLeft + (kWidth - kLeft - kRight) * value / x_top_; }
  double Y(double value) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * value / y_top_;
  }
  void Line(double x1, double y1, double x2, double y2, std::string_view style) {
    svg_ +=
        fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>",
                    x1, y1, x2, y2, style);
  }
  void Text(double x, double y, std::string_view anchor, std::string_view text) {
    svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>", x, y,
                        anchor, EscapeHtml(text));
  }
  void Mark(double x, double y, std::size_t series, std::string_view about) {
    svg_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{}</title>"
        "</circle>",
        x, y, SeriesColour(series), EscapeHtml(about));
  }
  void Path(const std::vector<std::pair<double, double>>& points, std::size_t series) {
    std::string path;
    for (const auto& [x, y] : points) path += fmt::format("{:.1f},{:.1f} ", x, y);
    svg_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
                        path, SeriesColour(series));
  }
  std::string Take() && { return svg_ + "</svg>"; }

 private:
  const double x_top_, y_top_;
  std::string svg_;
};

std::string LineChart(const LineChartData& data) {
  double top = 0;
  for (const Series& series : data.series) {
    for (const double y : series.y) top = std::isnan(y) ? top : std::max(top, y);
  }
  Drawing drawing(data.title, static_cast<double>(data.x.size()), NiceTop(top));
  for (std::size_t i = 0; i < data.x.size(); ++i) {
    drawing.Text(drawing.X(static_cast<double>(i) + 0.5), kHeight - kBottom + 16, "middle",
                 data.x[i]);
  }
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < data.series[s].y.size(); ++i) {
      const double y = data.series[s].y[i];
      if (std::isnan(y)) continue;
      points.emplace_back(drawing.X(static_cast<double>(i) + 0.5), drawing.Y(y));
      drawing.Mark(points.back().first, points.back().second, s,
                   fmt::format("{}, {}: {:.4g} {}", data.series[s].name, data.x[i], y, data.unit));
    }
    drawing.Path(points, s);
  }
  return std::move(drawing).Take();
}

std::string DotChart(const std::string& title, const std::string& x_unit, const std::string& y_unit,
                     const std::vector<Dot>& dots) {
  double x_top = 0, y_top = 0;
  for (const Dot& dot : dots) {
    x_top = std::max(x_top, dot.x);
    y_top = std::max(y_top, dot.y_high);
  }
  Drawing drawing(title, NiceTop(x_top), NiceTop(y_top));
  drawing.Text(kWidth - kRight, kHeight - kBottom + 30, "end", x_unit);
  drawing.Text(kWidth - kRight, kHeight - kBottom + 16, "end",
               fmt::format("{:.4g}", NiceTop(x_top)));
  drawing.Text(kLeft, kHeight - kBottom + 16, "middle", "0");
  for (std::size_t i = 0; i < dots.size(); ++i) {
    const Dot& dot = dots[i];
    drawing.Line(drawing.X(dot.x), drawing.Y(dot.y_low), drawing.X(dot.x), drawing.Y(dot.y_high),
                 "axis");
    drawing.Mark(drawing.X(dot.x), drawing.Y(dot.y), i,
                 fmt::format("{}: {:.4g} {}, {:.4g} {}", dot.name, dot.y, y_unit, dot.x, x_unit));
  }
  return std::move(drawing).Take();
}

constexpr std::uint64_t kShownText = 2000;  // characters of one answer; rows.jsonl has the rest

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--line:#8884;--dim:#777}
body{font:15px/1.45 system-ui,sans-serif;margin:0 auto;max-width:1200px;padding:1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid var(--line);vertical-align:top}
.wide{overflow-x:auto}.dim{color:var(--dim)}.say{font-size:1.1rem;font-weight:600}
.plots{display:flex;flex-wrap:wrap;gap:1rem}.plots svg{width:380px;max-width:100%}
svg text{font:12px system-ui,sans-serif;fill:currentColor}svg .title{font-weight:600}
.axis{stroke:currentColor}.grid{stroke:var(--line)}
.key span{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin:0 .3em 0 1em}
article{border-top:1px solid var(--line);padding:.5rem 0;content-visibility:auto;contain-intrinsic-size:auto 9rem}
article h3{font-size:1rem;margin:.2rem 0}pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0;font:13px/1.4 ui-monospace,monospace}
form{position:sticky;top:0;background:Canvas;padding:.5rem 0;display:flex;gap:.5rem;flex-wrap:wrap}
[hidden]{display:none}
)css";

constexpr std::string_view kScript = R"js(
(function(){
var form=document.getElementById("filter");if(!form)return;form.hidden=false;
var all=Array.prototype.slice.call(document.querySelectorAll("article"));
function apply(){
  var text=form.elements.text.value.toLowerCase(),state=form.elements.state.value,
      family=form.elements.family.value,shown=0;
  all.forEach(function(one){
    var fits=(!state||one.dataset.state.split(" ").indexOf(state)>=0)&&
             (!family||one.dataset.family===family)&&
             (!text||one.textContent.toLowerCase().indexOf(text)>=0);
    one.hidden=!fits;shown+=fits?1:0;});
  document.getElementById("shown").textContent=shown+" of "+all.length;
}
form.addEventListener("input",apply);
form.addEventListener("submit",function(event){event.preventDefault();});
apply();
})();
)js";

std::string Number(double value, std::string_view format) {
  return std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value);
}

class PageWriter {
 public:
  explicit PageWriter(const Report& report) : report_(report) {
    for (const Row& row : report.run.rows) rows_of_[row.task].push_back(&row);
  }

  std::string Write() && {
    Head();
    if (!report_.recommendation.empty())
      Add("<p class=\"say\">{}</p>\n", EscapeHtml(report_.recommendation));
    for (const std::string& note : report_.notes)
      Add("<p class=\"dim\">{}</p>\n", EscapeHtml(note));
    Arms();
    Groups();
    Pairs();
    Plots();
    Questions();
    Settings();
    Add("<script>{}</script>\n</body>\n</html>\n", kScript);
    return std::move(html_);
  }

 private:
  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(html_), format, std::forward<Args>(args)...);
  }

  void Head() {
    Add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; "
        "style-src {}; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>Evaluation</title>\n<style>{}</style>\n</head>\n<body>\n<h1>Evaluation</h1>\n",
        HashSource(kScript), HashSource(kStyle), kStyle);
  }

  void Cells(std::string_view cell, const std::vector<std::string>& texts) {
    html_ += "<tr>";
    for (const std::string& text : texts) Add("<{}>{}</{}>", cell, EscapeHtml(text), cell);
    html_ += "</tr>\n";
  }

  void Table(const std::vector<std::string>& header) {
    html_ += "<div class=\"wide\"><table>\n<thead>";
    Cells("th", header);
    html_ += "</thead><tbody>\n";
  }
  void EndTable() { html_ += "</tbody></table></div>\n"; }

  void Arms() {
    html_ += "<h2>Arms</h2>\n";
    Table({"arm", "score, 95 % interval", "lenient", "tasks", "median s", "95th s", "calls",
           "tokens in", "cached", "out", "cost", "failures"});
    for (const ArmSummary& arm : report_.arms) {
      std::string failures;
      for (const auto& [name, count] : arm.statuses) {
        if (name != "ok") failures += fmt::format("{} {} ", count, name);
      }
      for (const auto& [name, count] : arm.causes) failures += fmt::format("[{} {}] ", count, name);
      if (arm.at_limit > 0) failures += fmt::format("{} answered at a limit", arm.at_limit);
      const bool scored = arm.scored_tasks > 0;
      Cells("td",
            {arm.name,
             scored ? fmt::format("{:.1f} ({})", arm.official.mean, RangeText(arm.official)) : "-",
             scored ? fmt::format("{:.1f}", arm.lenient.mean) : "-", GroupCount(arm.scored_tasks),
             fmt::format("{:.2f}", arm.seconds_median), fmt::format("{:.2f}", arm.seconds_95),
             GroupCount(arm.calls), GroupCount(arm.input), GroupCount(arm.cached),
             GroupCount(arm.output), arm.usd ? fmt::format("${:.4f}", *arm.usd) : "unknown",
             failures});
    }
    EndTable();
  }

  void Groups() {
    if (!report_.scored || report_.groups.empty()) return;
    html_ += "<h2>Scores by group</h2>\n";
    std::vector<std::string> header{"group", "value", "tasks"};
    for (const ArmSummary& arm : report_.arms) header.push_back(arm.name);
    Table(header);
    for (const GroupSummary& group : report_.groups) {
      std::vector<std::string> cells{group.dimension, group.value, std::to_string(group.tasks)};
      for (const double score : group.score) cells.push_back(Number(score, "{:.1f}"));
      Cells("td", cells);
    }
    EndTable();
  }

  // Compares each arm with each other: the row's score minus the column's.
  void Pairs() {
    if (report_.pairs.empty()) return;
    Add("<h2>Pairs</h2>\n<p class=\"dim\">Row minus column, in points, over the {} tasks that all "
        "arms finished.</p>\n",
        report_.common_tasks);
    std::vector<std::string> header{""};
    for (const ArmSummary& arm : report_.arms) header.push_back(arm.name);
    Table(header);
    for (const ArmSummary& row : report_.arms) {
      std::vector<std::string> cells{row.name};
      for (const ArmSummary& column : report_.arms)
        cells.push_back(PairCell(row.name, column.name));
      Cells("td", cells);
    }
    EndTable();
  }

  std::string PairCell(const std::string& row, const std::string& column) const {
    for (const PairSummary& pair : report_.pairs) {
      const bool forward = pair.first == row && pair.second == column;
      if (!forward && !(pair.first == column && pair.second == row)) continue;
      ArmComparison found = pair.found;
      if (!forward) {
        found.difference = -found.difference;
        std::swap(found.low, found.high);
        found.low = -found.low, found.high = -found.high;
      }
      return fmt::format("{} ({}): {}", DifferenceText(found), RangeText(found), VerdictOf(found));
    }
    return "";
  }

  void Plots() {
    std::vector<const GroupSummary*> lengths;
    for (const GroupSummary& group : report_.groups) {
      if (group.dimension == "length") lengths.push_back(&group);
    }
    html_ += "<h2>Plots</h2>\n<p class=\"key\">";
    for (std::size_t i = 0; i < report_.arms.size(); ++i) {
      // The key has the colours of the plots; a style attribute would need its own rule.
      Add("<svg width=\"12\" height=\"12\" viewBox=\"0 0 12 12\"><circle cx=\"6\" cy=\"6\" r=\"5\" "
          "fill=\"{}\"/></svg> {} ",
          SeriesColour(i), EscapeHtml(report_.arms[i].name));
    }
    html_ += "</p>\n<div class=\"plots\">\n";
    struct Measure {
      const char *title, *unit;
      std::vector<double> GroupSummary::* values;
    };
    for (const Measure& measure : {Measure{"Score by length", "points", &GroupSummary::score},
                                   Measure{"Tokens by length", "tokens", &GroupSummary::tokens},
                                   Measure{"Seconds by length", "s", &GroupSummary::seconds},
                                   Measure{"Cost by length", "US dollars", &GroupSummary::usd}}) {
      if (lengths.empty()) break;
      LineChartData data{.title = measure.title, .unit = measure.unit};
      for (const GroupSummary* group : lengths) data.x.push_back(group->value);
      for (std::size_t i = 0; i < report_.arms.size(); ++i) {
        Series series{.name = report_.arms[i].name};
        for (const GroupSummary* group : lengths) series.y.push_back((group->*measure.values)[i]);
        data.series.push_back(std::move(series));
      }
      html_ += LineChart(data) + "\n";
    }
    CostPlot();
    html_ += "</div>\n";
  }

  void CostPlot() {
    if (!report_.scored) return;
    const bool priced = std::ranges::all_of(
        report_.arms, [](const ArmSummary& arm) { return arm.usd && *arm.usd > 0; });
    std::vector<Dot> dots;
    for (const ArmSummary& arm : report_.arms) {
      const double rows = std::max<double>(1, static_cast<double>(arm.rows));
      dots.push_back({arm.name,
                      priced ? *arm.usd / rows : static_cast<double>(arm.input + arm.output) / rows,
                      arm.official.mean, arm.official.low, arm.official.high});
    }
    html_ += DotChart(priced ? "Cost against score" : "Tokens against score",
                      priced ? "US dollars a question" : "tokens a question", "points", dots) +
             "\n";
  }

  void Questions() {
    html_ +=
        "<h2>Questions</h2>\n<form id=\"filter\" hidden><input name=\"text\" type=\"search\" "
        "placeholder=\"text\" aria-label=\"text\"><select name=\"state\" aria-label=\"state\">"
        "<option value=\"\">all</option><option value=\"wrong\">some wrong</option><option "
        "value=\"right\">some right</option><option value=\"failed\">some failed</option></select>"
        "<select name=\"family\" aria-label=\"family\"><option value=\"\">all families</option>";
    std::vector<std::string> families;
    for (const AskedTask& asked : report_.run.tasks) families.push_back(asked.task.family);
    std::sort(families.begin(), families.end());
    families.erase(std::unique(families.begin(), families.end()), families.end());
    for (const std::string& family : families) {
      Add("<option value=\"{0}\">{0}</option>", EscapeHtml(family));
    }
    html_ += "</select><span id=\"shown\"></span></form>\n";
    for (const AskedTask& asked : report_.run.tasks) Question(asked);
  }

  static std::string StateOf(const std::vector<const Row*>& rows) {
    std::string state;
    const auto any = [&rows](auto test) { return std::ranges::any_of(rows, test); };
    if (any([](const auto* row) { return row->status != RowStatus::kOk; })) state += "failed ";
    if (any([](const auto* row) { return row->official.value_or(1) < 1; })) state += "wrong ";
    if (any([](const auto* row) { return row->official.value_or(0) >= 1; })) state += "right ";
    return state;
  }

  void Question(const AskedTask& asked) {
    const auto& rows = rows_of_[asked.task.id];
    Add("<article data-state=\"{}\" data-family=\"{}\">\n<h3>{}</h3>\n<pre>{}</pre>\n",
        StateOf(rows), EscapeHtml(asked.task.family), EscapeHtml(asked.task.id),
        EscapeHtml(utf8::Prefix(asked.task.question, kShownText)));
    if (asked.has_gold()) {
      Add("<p class=\"dim\">gold: {} ({})</p>\n",
          EscapeHtml(utf8::Prefix(Join(StringsOf(&asked.task.gold), ", "), kShownText)),
          EscapeHtml(asked.task.scorer));
    }
    Table({"arm", "status", "score", "lenient", "parsed", "rule", "cause", "s", "calls", "answer"});
    for (const Row* row : rows) {
      const auto score = [](const std::optional<double>& value) {
        return value ? fmt::format("{:.3g}", *value) : "-";
      };
      std::string answer(utf8::Prefix(row->answer, kShownText));
      if (answer.size() < row->answer.size()) answer += " …";
      if (!row->detail.empty()) answer += "\n[" + row->detail + "]";
      html_ += "<tr>";
      for (const std::string& text :
           {row->repeat == 0 ? row->arm : fmt::format("{} r{}", row->arm, row->repeat),
            std::string(StatusName(row->status)), score(row->official), score(row->lenient),
            std::string(utf8::Prefix(row->parsed, 200)), row->rule, row->cause,
            fmt::format("{:.2f}", row->seconds), std::to_string(row->calls)}) {
        Add("<td>{}</td>", EscapeHtml(text));
      }
      Add("<td><pre>{}</pre></td></tr>\n", EscapeHtml(answer));
    }
    EndTable();
    html_ += "</article>\n";
  }

  void Settings() {
    html_ += "<h2>Settings</h2>\n";
    for (const Json& plan : report_.run.plans) {
      Add("<details><summary>plan of {}</summary><pre>{}</pre></details>\n",
          EscapeHtml(TextAt(plan, "made")), EscapeHtml(ToPrettyJson(plan)));
    }
  }

  const Report& report_;
  std::map<std::string, std::vector<const Row*>> rows_of_;
  std::string html_;
};

}  // namespace

std::string ReportHtml(const Report& report) { return PageWriter(report).Write(); }

}  // namespace dossier::evaluation
