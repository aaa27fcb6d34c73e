// The two drawings of the tree page: the tree of nodes from left to right, and each metric over the
// order of creation. Plain SVG, with colours from the style sheet.

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/text/html.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "research/files/cuts.h"
#include "research/search/tree_page.h"
#include "research/tree/metric.h"

namespace dossier::research {
namespace {

// Pixels at a zoom of 100 %.
constexpr int kBoxWidth = 134, kBoxHeight = 38, kColumn = 164, kRow = 46, kHead = 34, kMargin = 8;
constexpr std::uint64_t kLine = 19;  // characters per line in a box
constexpr int kMaxDepth = 1000;
constexpr int kPlotWidth = 640, kPlotHeight = 200, kPlotLeft = 64, kPlotRight = 12, kPlotTop = 10,
              kPlotBottom = 30;
constexpr std::size_t kMaxPlots = 6;

std::string Short(std::string_view text, std::uint64_t most = kLine) {
  if (utf8::Prefix(text, most).size() == text.size()) return std::string(text);
  return std::string(utf8::Prefix(text, most - 1)) + "…";
}

std::string_view Arrow(const MetricSeries& series) {
  return series.better == MetricSeries::Better::kLower ? "↓" : "↑";
}

// Returns "3.12 speedup↑": the first metric of a node.
std::string FirstMetric(const Node& node) {
  if (!node.metric || node.metric->empty()) return "";
  const MetricSeries& series = node.metric->front();
  const std::optional<double> mean = MeanOver(series, {});
  return fmt::format("{} {}{}", mean ? RoundedText(*mean) : "none", series.name, Arrow(series));
}

// Places the boxes of one stage: leaves one below the other, a parent beside its first child.
class TreeLayout {
 public:
  struct Place {
    const PageNode* page = nullptr;
    const PageNode* parent = nullptr;  // null: a root
    int column = 0, row = 0;
  };

  explicit TreeLayout(const PageStage& stage) : stage_(stage) {
    std::set<std::string_view> ids;
    for (const PageNode& page : stage.nodes) {
      ids.insert(page.node->id);
      children_[page.node->parent_id].push_back(&page);
    }
    // A node whose parent is in another stage is a root here.
    for (const PageNode& page : stage.nodes) {
      if (!ids.contains(page.node->parent_id)) PlaceBelow(page, nullptr, 0);
    }
    // A damaged journal's parents may form a cycle, which has no root.
    for (const PageNode& page : stage.nodes) PlaceBelow(page, nullptr, 0);
    FindBestPath();
  }

  const std::vector<Place>& places() const { return places_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  bool OnBestPath(const PageNode& page) const { return path_.contains(&page); }
  const Place* Find(const PageNode* page) const {
    const auto found = by_page_.find(page);
    return found == by_page_.end() ? nullptr : &places_[found->second];
  }

 private:
  void PlaceBelow(const PageNode& page, const PageNode* parent, int column) {
    if (column > kMaxDepth || !by_page_.emplace(&page, places_.size()).second) return;
    const int first = rows_;
    places_.push_back({&page, parent, column, first});
    columns_ = std::max(columns_, column + 1);
    for (const PageNode* child : children_[page.node->id]) PlaceBelow(*child, &page, column + 1);
    rows_ = std::max(rows_, first + 1);
  }

  void FindBestPath() {
    for (const Place& place : places_) {
      if (place.page->node->id != stage_.best_node) continue;
      for (const Place* at = &place; at; at = Find(at->parent)) path_.insert(at->page);
    }
  }

  const PageStage& stage_;
  std::map<std::string_view, std::vector<const PageNode*>> children_;
  std::vector<Place> places_;
  std::map<const PageNode*, std::size_t> by_page_;
  std::set<const PageNode*> path_;
  int rows_ = 0, columns_ = 0;
};

class TreeDrawing {
 public:
  explicit TreeDrawing(const PageAnchors& anchors) : anchors_(anchors) {}

  std::string Draw(const std::vector<PageStage>& stages) && {
    for (const PageStage& stage : stages) DrawStage(stage);
    return fmt::format(
        "<svg id=\"tree\" class=\"tree\" role=\"group\" aria-label=\"Tree of the nodes\" "
        "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n{2}</svg>\n",
        width_, top_ + kMargin, svg_);
  }

 private:
  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Args>(args)...);
  }

  int X(const TreeLayout::Place& place) const { return kMargin + place.column * kColumn; }
  int Y(const TreeLayout::Place& place) const { return top_ + kHead + place.row * kRow; }

  void DrawStage(const PageStage& stage) {
    const TreeLayout layout(stage);
    Add("<text class=\"stage\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin, top_ + 22,
        EscapeHtml(stage.name));
    for (const TreeLayout::Place& place : layout.places()) DrawEdge(layout, place);
    for (const TreeLayout::Place& place : layout.places()) DrawBox(layout, stage, place);
    width_ = std::max({width_, layout.columns() * kColumn,
                       2 * kMargin + 7 * static_cast<int>(stage.name.size())});
    top_ += kHead + layout.rows() * kRow;
  }

  void DrawEdge(const TreeLayout& layout, const TreeLayout::Place& place) {
    const TreeLayout::Place* parent = layout.Find(place.parent);
    if (!parent) return;
    const int from = X(*parent) + kBoxWidth, to = X(place), middle = (from + to) / 2;
    Add("<path class=\"edge{}\" d=\"M{} {}C{} {} {} {} {} {}\"/>\n",
        layout.OnBestPath(*place.page) ? " onpath" : "", from, Y(*parent) + kBoxHeight / 2, middle,
        Y(*parent) + kBoxHeight / 2, middle, Y(place) + kBoxHeight / 2, to,
        Y(place) + kBoxHeight / 2);
  }

  void DrawBox(const TreeLayout& layout, const PageStage& stage, const TreeLayout::Place& place) {
    const Node& node = *place.page->node;
    const NodeMark mark = MarkOf(*place.page, stage.best_node);
    const std::string result = node.metric ? FirstMetric(node) : node.exc_type;
    const std::string parent =
        place.parent ? fmt::format(" data-parent=\"{}\"", anchors_.at(place.parent->node)) : "";
    Add("<a class=\"node {}{}{}\" href=\"#{}\"{} data-text=\"{}\"><title>{}</title>", mark.name,
        layout.OnBestPath(*place.page) ? " onpath" : "",
        node.steer == Steer::kPruned ? " pruned" : "", anchors_.at(&node), parent,
        EscapeHtml(ToLowerAscii(fmt::format("{} {} {} {} {} {}", node.name, mark.name, node.id,
                                            node.hyperparam_name, node.ablation_name, result))),
        EscapeHtml(
            fmt::format("{}: {}{}", node.name, mark.name, result.empty() ? "" : ", " + result)));
    Add("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"7\"/>", X(place), Y(place),
        kBoxWidth, kBoxHeight);
    Add("<text x=\"{}\" y=\"{}\"><tspan class=\"mark\">{}</tspan> {}{}</text>", X(place) + 8,
        Y(place) + 16, mark.sign, EscapeHtml(Short(node.name, kLine - 3)),
        node.steer == Steer::kPinned ? " ⚑" : "");
    Add("<text class=\"result\" x=\"{}\" y=\"{}\">{}</text></a>\n", X(place) + 8, Y(place) + 31,
        EscapeHtml(Short(result)));
  }

  const PageAnchors& anchors_;
  std::string svg_;
  int top_ = 0, width_ = 0;
};

struct Point {
  const PageNode* page = nullptr;
  std::string_view best;  // best node of its stage
  double value = 0;
};

// Plots one metric over the counted nodes, in the order of creation.
class MetricPlot {
 public:
  MetricPlot(const MetricSeries& series, std::size_t nodes) : series_(series), nodes_(nodes) {}

  void See(std::size_t at, Point point) {
    const Node& node = *point.page->node;
    const MetricSeries* own = node.metric ? FindSeries(*node.metric, series_.name) : nullptr;
    const std::optional<double> mean = own ? MeanOver(*own, {}) : std::nullopt;
    if (!mean) return;
    point.value = *mean;
    points_.emplace(at, point);
  }

  std::string Draw(const PageAnchors& anchors) && {
    if (points_.empty()) return "";
    SetScale();
    Add("<figure class=\"plot\"><figcaption>{}{}{}</figcaption>\n<svg viewBox=\"0 0 {} {}\" "
        "role=\"group\" aria-label=\"{} over the nodes\">\n",
        EscapeHtml(series_.name), Arrow(series_), log_ ? ", logarithmic" : "", kPlotWidth,
        kPlotHeight, EscapeHtml(series_.name));
    DrawAxes();
    DrawBest();
    for (const auto& [at, point] : points_) DrawPoint(anchors, at, point);
    svg_ += "</svg></figure>\n";
    return std::move(svg_);
  }

 private:
  template <typename... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Args>(args)...);
  }

  void SetScale() {
    const auto by_value = [](const auto& a, const auto& b) {
      return a.second.value < b.second.value;
    };
    const auto [low, high] = std::minmax_element(points_.begin(), points_.end(), by_value);
    low_ = low->second.value;
    high_ = high->second.value;
    constexpr double kWide = 100;
    log_ = low_ > 0 && high_ > kWide * low_;
  }

  double Height(double value) const {
    const double low = log_ ? std::log(low_) : low_, high = log_ ? std::log(high_) : high_;
    const double at = log_ ? std::log(value) : value;
    const double part = high > low ? (at - low) / (high - low) : 0.5;
    return kPlotTop + (1 - part) * (kPlotHeight - kPlotTop - kPlotBottom);
  }
  double Across(std::size_t at) const {
    const double steps = nodes_ > 1 ? static_cast<double>(nodes_ - 1) : 1;
    return kPlotLeft + 8 +
           static_cast<double>(at) / steps * (kPlotWidth - kPlotLeft - kPlotRight - 16);
  }

  void DrawAxes() {
    const int bottom = kPlotHeight - kPlotBottom;
    Add("<path class=\"axis\" d=\"M{0} {1}V{2}H{3}\"/>", kPlotLeft, kPlotTop, bottom,
        kPlotWidth - kPlotRight);
    Add("<text class=\"tick\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>", kPlotLeft - 6,
        kPlotTop + 8, RoundedText(high_));
    if (high_ > low_) {
      Add("<text class=\"tick\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>", kPlotLeft - 6,
          bottom, RoundedText(low_));
    }
    Add("<text class=\"tick\" x=\"{}\" y=\"{}\">1</text><text class=\"tick\" text-anchor=\"end\" "
        "x=\"{}\" y=\"{}\">{}. node</text>\n",
        kPlotLeft + 4, kPlotHeight - 10, kPlotWidth - kPlotRight, kPlotHeight - 10, nodes_);
  }

  // Draws the best good value so far as a step line.
  void DrawBest() {
    std::optional<double> best;
    std::string path;
    for (const auto& [at, point] : points_) {
      if (!IsGood(*point.page->node)) continue;
      const bool lower = series_.better == MetricSeries::Better::kLower;
      if (best && (lower ? point.value >= *best : point.value <= *best)) continue;
      best = point.value;
      path += path.empty() ? fmt::format("M{:.1f} {:.1f}", Across(at), Height(point.value))
                           : fmt::format("H{:.1f}V{:.1f}", Across(at), Height(point.value));
    }
    if (path.empty()) return;
    Add("<path class=\"sofar\" d=\"{}H{:.1f}\"/>\n", path, Across(nodes_ - 1));
  }

  void DrawPoint(const PageAnchors& anchors, std::size_t at, const Point& point) {
    const NodeMark mark = MarkOf(*point.page, point.best);
    Add("<a class=\"point {}\" href=\"#{}\" tabindex=\"-1\"><title>{}: {}</title><circle "
        "cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/></a>\n",
        mark.name, anchors.at(point.page->node), EscapeHtml(point.page->node->name),
        RoundedText(point.value), Across(at), Height(point.value));
  }

  const MetricSeries& series_;
  const std::size_t nodes_;
  std::map<std::size_t, Point> points_;
  double low_ = 0, high_ = 0;
  bool log_ = false;
  std::string svg_;
};

}  // namespace

NodeMark MarkOf(const PageNode& page, std::string_view best) {
  const Node& node = *page.node;
  if (page.state == PageNode::State::kRunning) return {"~", "running"};
  if (node.id == best) return {"★", "best"};
  if (node.is_seed_node || node.is_seed_agg_node) return {"s", "seed"};
  if (!IsGood(node)) return {"✕", "buggy"};
  return {"✓", "good"};
}

std::string DrawTree(const std::vector<PageStage>& stages, const PageAnchors& anchors) {
  return TreeDrawing(anchors).Draw(stages);
}

std::string DrawMetrics(const std::vector<PageStage>& stages, const PageAnchors& anchors) {
  std::vector<Point> nodes;
  std::vector<const MetricSeries*> names;
  for (const PageStage& stage : stages) {
    for (const PageNode& page : stage.nodes) {
      if (!Counts(*page.node) || page.state == PageNode::State::kRunning) continue;
      nodes.push_back({&page, stage.best_node});
      if (!page.node->metric) continue;
      for (const MetricSeries& series : *page.node->metric) {
        const bool known = std::ranges::any_of(
            names, [&](const MetricSeries* one) { return one->name == series.name; });
        if (!known && names.size() < kMaxPlots) names.push_back(&series);
      }
    }
  }
  std::string html;
  for (const MetricSeries* series : names) {
    MetricPlot plot(*series, nodes.size());
    for (std::size_t at = 0; at < nodes.size(); ++at) plot.See(at, nodes[at]);
    html += std::move(plot).Draw(anchors);
  }
  return html;
}

}  // namespace dossier::research
