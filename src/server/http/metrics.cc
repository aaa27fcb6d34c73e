#include "server/http/metrics.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text/text.h"

namespace dossier::server {
namespace {

constexpr std::size_t kMostForms = 100;
// Upper bounds of the buckets in seconds: from a cached reply to a run of ten minutes.
constexpr double kBuckets[] = {0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600};
constexpr std::string_view kTypes[] = {"counter", "gauge", "histogram"};

std::string Escaped(std::string_view value) {
  return ReplaceAll(ReplaceAll(ReplaceAll(value, "\\", "\\\\"), "\"", "\\\""), "\n", "\\n");
}

std::string NumberText(double value) {
  return std::floor(value) == value && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{}", value);
}

}  // namespace

std::string Metrics::LabelText(Labels labels) {
  std::string out;
  for (auto& [name, value] : labels) {
    auto& forms = forms_[name];
    if (!forms.contains(value)) {
      if (forms.size() < kMostForms) {
        forms.insert(value);
      } else {
        value = "other";
      }
    }
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, Escaped(value));
  }
  return out;
}

Metrics::Family& Metrics::Of(std::string_view name, Family::Type type) {
  Family& family = families_[std::string(name)];
  family.type = type;
  return family;
}

void Metrics::Add(std::string_view name, Labels labels, double value) {
  const std::lock_guard lock(mutex_);
  Of(name, Family::Type::kCounter).rows[LabelText(std::move(labels))] += value;
}

void Metrics::AddSum(std::string_view owner, std::string_view name, Labels labels, double value) {
  const std::lock_guard lock(mutex_);
  Family& family = Of(name, Family::Type::kCounter);
  const std::string row = LabelText(std::move(labels));
  family.rows[row] += value;
  family.by_owner[std::string(owner)][row] += value;
}

void Metrics::Set(std::string_view name, Labels labels, double value) {
  const std::lock_guard lock(mutex_);
  Of(name, Family::Type::kGauge).rows[LabelText(std::move(labels))] = value;
}

void Metrics::Observe(std::string_view name, double seconds) {
  const std::lock_guard lock(mutex_);
  auto& rows = Of(name, Family::Type::kHistogram).rows;
  char place = 'a';  // in front of each row, so that they are written in this order
  for (const double end : kBuckets) {
    rows[fmt::format("{}_bucket{{le=\"{}\"}}", place++, end)] += seconds <= end ? 1 : 0;
  }
  rows[fmt::format("{}_bucket{{le=\"+Inf\"}}", place++)] += 1;
  rows[fmt::format("{}_sum", place++)] += seconds;
  rows[fmt::format("{}_count", place)] += 1;
}

std::string Metrics::Text(const std::optional<std::string>& owner) const {
  const std::lock_guard lock(mutex_);
  std::string out;
  const std::map<std::string, double> none;
  for (const auto& [name, family] : families_) {
    const auto own = owner ? family.by_owner.find(*owner) : family.by_owner.end();
    const bool whole = !owner || family.by_owner.empty();
    const auto& rows = whole ? family.rows : own != family.by_owner.end() ? own->second : none;
    out += fmt::format("# TYPE dossier_{} {}\n", name, kTypes[static_cast<int>(family.type)]);
    for (const auto& [labels, value] : rows) {
      const std::string behind = family.type == Family::Type::kHistogram ? labels.substr(1)
                                 : labels.empty()                        ? ""
                                                                         : "{" + labels + "}";
      out += fmt::format("dossier_{}{} {}\n", name, behind, NumberText(value));
    }
  }
  return out;
}

}  // namespace dossier::server
