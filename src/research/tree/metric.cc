#include "research/tree/metric.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text/text.h"
#include "research/files/cuts.h"

namespace dossier::research {
namespace {

constexpr std::size_t kMaxNameBytes = 200;  // names appear in every table
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

Result<std::string> ReadName(const Json& object, std::string_view key, std::string_view where) {
  const auto text = FindString(object, key);
  const bool is_line = text && !text->empty() && text->size() <= kMaxNameBytes &&
                       std::ranges::none_of(*text, [](char c) {
                         return static_cast<unsigned char>(c) < ' ' || c == 0x7F;
                       });
  if (is_line) return std::string(*text);
  return MakeError(ErrorCode::kInvalidArgument,
                   "{}.{} must be a text of one line, at most {} bytes long", where, key,
                   kMaxNameBytes);
}

// Reads a number, or null for one that JSON cannot express.
Result<double> ReadValue(const Json& point, std::string_view where) {
  const Json* value = point.is_object() ? point.as_object().if_contains("value") : nullptr;
  if (value && value->is_null()) return kNotANumber;
  if (const auto number = FindNumber(point, "value")) return *number;
  return MakeError(ErrorCode::kInvalidArgument, "{}.value must be a number", where);
}

Result<std::vector<MetricValue>> ReadValues(const Json& series, std::string_view where) {
  const Json* data = Find(series, "data");
  if (!data || !data->is_array()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "{}.data must be a list of {{dataset_name, value}}", where);
  }
  if (data->as_array().size() > kMaxMetricValues) {
    return MakeError(ErrorCode::kInvalidArgument, "{}.data has more than {} values", where,
                     kMaxMetricValues);
  }
  std::vector<MetricValue> out;
  for (const Json& point : data->as_array()) {
    const std::string place = fmt::format("{}.data[{}]", where, out.size());
    MetricValue value;
    DOSSIER_ASSIGN_OR_RETURN(value.dataset, ReadName(point, "dataset_name", place));
    DOSSIER_ASSIGN_OR_RETURN(value.value, ReadValue(point, place));
    out.push_back(std::move(value));
  }
  return out;
}

Result<MetricSeries> ReadSeries(const Json& json, std::string_view where) {
  MetricSeries series;
  DOSSIER_ASSIGN_OR_RETURN(series.name, ReadName(json, "metric_name", where));
  const auto lower = FindBool(json, "lower_is_better");
  if (!lower) {
    return MakeError(ErrorCode::kInvalidArgument, "{}.lower_is_better must be true or false",
                     where);
  }
  series.better = *lower ? MetricSeries::Better::kLower : MetricSeries::Better::kHigher;
  series.description = TextAt(json, "description");
  DOSSIER_ASSIGN_OR_RETURN(series.values, ReadValues(json, where));
  return series;
}

using NumberWriter = std::string (*)(double);

std::string TextOf(const Metric& metric, NumberWriter write) {
  std::string out;
  for (const MetricSeries& series : metric) {
    if (!out.empty()) out += ' ';
    out += series.name + (series.better == MetricSeries::Better::kLower ? "↓[" : "↑[");
    std::string_view between;
    for (const MetricValue& value : series.values) {
      out += fmt::format("{}{}:{}", between, value.dataset, write(value.value));
      between = ", ";
    }
    out += ']';
  }
  return out;
}

// Replaces words outside strings that JSON does not know by null.
std::string WithoutNonFinite(std::string_view text) {
  constexpr std::string_view kWords[] = {"-Infinity", "Infinity", "NaN"};
  std::string out;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (in_string && text[at] == '\\' && at + 1 < text.size()) {
      out += text.substr(at++, 2);
      continue;
    }
    if (text[at] == '"') in_string = !in_string;
    const auto word = std::find_if(std::begin(kWords), std::end(kWords), [&](std::string_view w) {
      return !in_string && text.substr(at).starts_with(w);
    });
    if (word == std::end(kWords)) {
      out += text[at];
    } else {
      out += "null";
      at += word->size() - 1;
    }
  }
  return out;
}

// Collects every finite value of one metric and data set.
std::vector<double> Collect(std::span<const Metric> runs, std::string_view metric,
                            std::string_view dataset) {
  std::vector<double> out;
  for (const Metric& run : runs) {
    const MetricSeries* series = FindSeries(run, metric);
    if (!series) continue;
    for (const MetricValue& value : series->values) {
      if (value.dataset == dataset && std::isfinite(value.value)) {
        out.push_back(value.value);
        break;
      }
    }
  }
  return out;
}

SeedSeries::Value Statistics(std::string dataset, std::span<const double> values) {
  SeedSeries::Value out{.dataset = std::move(dataset), .runs = static_cast<int>(values.size())};
  if (values.empty()) {
    out.mean = kNotANumber;
    return out;
  }
  const auto count = static_cast<double>(values.size());
  for (const double value : values) out.mean += value / count;
  if (values.size() < 2) return out;
  double squares = 0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(squares / (count - 1));
  return out;
}

}  // namespace

const MetricSeries* FindSeries(const Metric& metric, std::string_view name) {
  const auto found = std::find_if(metric.begin(), metric.end(),
                                  [&](const MetricSeries& series) { return series.name == name; });
  return found == metric.end() ? nullptr : &*found;
}

std::optional<double> MeanOver(const MetricSeries& series, std::span<const std::string> datasets) {
  double sum = 0;
  std::size_t count = 0;
  for (const MetricValue& value : series.values) {
    const bool counts = datasets.empty() || std::find(datasets.begin(), datasets.end(),
                                                      value.dataset) != datasets.end();
    if (!counts) continue;
    sum += value.value;
    ++count;
  }
  const bool complete = count > 0 && count >= datasets.size();
  if (!complete || !std::isfinite(sum)) return std::nullopt;
  return sum / static_cast<double>(count);
}

Result<Metric> ReadMetric(const Json& metric_names) {
  if (!metric_names.is_array()) {
    return MakeError(ErrorCode::kInvalidArgument, "metric_names must be a list");
  }
  if (metric_names.as_array().size() > kMaxMetricSeries) {
    return MakeError(ErrorCode::kInvalidArgument, "metric_names has more than {} entries",
                     kMaxMetricSeries);
  }
  Metric metric;
  for (const Json& series : metric_names.as_array()) {
    const std::string where = fmt::format("metric_names[{}]", metric.size());
    DOSSIER_ASSIGN_OR_RETURN(MetricSeries read, ReadSeries(series, where));
    if (FindSeries(metric, read.name)) {
      return MakeError(ErrorCode::kInvalidArgument, "{}: \"{}\" is there twice", where, read.name);
    }
    metric.push_back(std::move(read));
  }
  return metric;
}

JsonArray MetricJson(const Metric& metric) {
  JsonArray out;
  for (const MetricSeries& series : metric) {
    JsonArray data;
    for (const MetricValue& value : series.values) {
      data.push_back(
          JsonObject{{"dataset_name", value.dataset},
                     {"value", std::isfinite(value.value) ? Json(value.value) : Json(nullptr)}});
    }
    out.push_back(JsonObject{{"metric_name", series.name},
                             {"lower_is_better", series.better == MetricSeries::Better::kLower},
                             {"description", series.description},
                             {"data", std::move(data)}});
  }
  return out;
}

std::optional<std::string> NotFinite(const Metric& metric) {
  bool has_value = false;
  for (const MetricSeries& series : metric) {
    for (const MetricValue& value : series.values) {
      if (!std::isfinite(value.value)) return fmt::format("{} of {}", series.name, value.dataset);
      has_value = true;
    }
  }
  if (has_value) return std::nullopt;
  return metric.empty() ? "every metric" : metric.front().name;
}

std::string MetricText(const Metric& metric) { return TextOf(metric, NumberText); }

std::string RoundedMetricText(const Metric& metric) { return TextOf(metric, RoundedText); }

std::string MissingMetric(const Metric& metric, std::string_view primary) {
  if (primary.empty() || metric.empty() || FindSeries(metric, primary)) return "";
  std::vector<std::string> names;
  for (const MetricSeries& series : metric) names.push_back(series.name);
  return fmt::format(
      "no \"{}\" (metric.primary) is reported, only {}; programs are compared by that", primary,
      Join(names, ", "));
}

Result<Metric> ReadMetricFile(std::string_view text) {
  DOSSIER_ASSIGN_OR_RETURN(const Json json, ParseJson(WithoutNonFinite(text)));
  if (json.is_array()) return ReadMetric(json);
  const Json* list = Find(json, "metric_names");
  if (list) return ReadMetric(*list);
  return MakeError(ErrorCode::kInvalidArgument, "it has no list metric_names");
}

std::vector<SeedSeries> SeedStatistics(std::span<const Metric> runs) {
  std::vector<SeedSeries> out;
  for (const Metric& run : runs) {
    for (const MetricSeries& series : run) {
      auto found = std::find_if(out.begin(), out.end(),
                                [&](const SeedSeries& known) { return known.name == series.name; });
      if (found == out.end()) {
        found = out.insert(out.end(), {.name = series.name, .better = series.better, .values = {}});
      }
      for (const MetricValue& value : series.values) {
        const bool known = std::any_of(
            found->values.begin(), found->values.end(),
            [&](const SeedSeries::Value& seen) { return seen.dataset == value.dataset; });
        if (known) continue;
        found->values.push_back(
            Statistics(value.dataset, Collect(runs, series.name, value.dataset)));
      }
    }
  }
  return out;
}

std::string SeedText(const Json& summary) {
  const JsonArray none;
  const auto list = [&](const Json& json, std::string_view key) -> const JsonArray& {
    const Json* found = Find(json, key);
    return found && found->is_array() ? found->get_array() : none;
  };
  std::vector<std::string> parts;
  for (const Json& series : list(summary, "seed_statistics")) {
    for (const Json& one : list(series, "data")) {
      const auto mean = FindNumber(one, "mean");
      if (!mean) continue;
      const auto deviation = FindNumber(one, "deviation");
      parts.push_back(fmt::format("{}[{}:{:.4g}{} over {}]", TextAt(series, "metric_name"),
                                  TextAt(one, "dataset_name"), *mean,
                                  deviation ? fmt::format(" ± {:.2g}", *deviation) : "",
                                  FindInt(one, "runs").value_or(0)));
    }
  }
  return parts.empty() ? "no rerun has a metric" : "mean " + Join(parts, ", ");
}

JsonArray SeedStatisticsJson(std::span<const SeedSeries> statistics) {
  JsonArray out;
  for (const SeedSeries& series : statistics) {
    JsonArray data;
    for (const SeedSeries::Value& value : series.values) {
      data.push_back(
          JsonObject{{"dataset_name", value.dataset},
                     {"runs", value.runs},
                     {"mean", value.runs > 0 ? Json(value.mean) : Json(nullptr)},
                     {"deviation", value.deviation ? Json(*value.deviation) : Json(nullptr)}});
    }
    out.push_back(JsonObject{{"metric_name", series.name},
                             {"lower_is_better", series.better == MetricSeries::Better::kLower},
                             {"data", std::move(data)}});
  }
  return out;
}

}  // namespace dossier::research
