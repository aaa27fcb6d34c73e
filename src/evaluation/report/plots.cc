#include "evaluation/report/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/text/html.h"

namespace dossier::evaluation {
namespace {

// Of the whole picture, in its own units, and what is kept free around the drawing.
constexpr double kWidth = 460, kHeight = 260, kLeft = 56, kRight = 12, kTop = 30, kBottom = 40;
// Told apart without colour vision; dark enough on white, light enough on black.
constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#8c6d31", "#7f7f7f"};

// A number that is rounded up to 1, 2 or 5 times a power of ten.
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

}  // namespace

std::string_view SeriesColour(std::size_t series) { return kColours[series % kColours.size()]; }

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

}  // namespace dossier::evaluation
