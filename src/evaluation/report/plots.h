// Small charts as SVG, written by hand: no library, no script, no font.
//
//   const std::string svg = LineChart({.title = "Score by length", .x = {"16K", "64K"},
//                                      .series = {{"dossier", {91, 88}}}});
//
// A value that is not a number is left out. Texts are escaped. Thread-safety: pure functions.

#ifndef DOSSIER_EVALUATION_REPORT_PLOTS_H_
#define DOSSIER_EVALUATION_REPORT_PLOTS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::evaluation {

// The colour of a series, "#0072b2", for a key.
std::string_view SeriesColour(std::size_t series);

struct Series {
  std::string name;
  std::vector<double> y;  // beside the places of x
};

struct LineChartData {
  std::string title, unit;
  std::vector<std::string> x;  // names of the places, in order
  std::vector<Series> series;
};
std::string LineChart(const LineChartData& data);

struct Dot {
  std::string name;
  double x = 0, y = 0, y_low = 0, y_high = 0;
};
std::string DotChart(const std::string& title, const std::string& x_unit, const std::string& y_unit,
                     const std::vector<Dot>& dots);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_REPORT_PLOTS_H_
