#include "research/tree/metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(MetricTest, AProgramsFileIsReadInEveryFormItIsWrittenIn) {  // RSP-29
  constexpr std::string_view kSeries =
      R"([{"metric_name":"a \" NaN","lower_is_better":true,"description":"",)"
      R"("data":[{"dataset_name":"x","value":1.5},{"dataset_name":"y","value":NaN},)"
      R"({"dataset_name":"z","value":-Infinity}]}])";
  for (const std::string& text :
       {std::string(kSeries), fmt::format(R"({{"metric_names":{}}})", kSeries)}) {
    const auto metric = ReadMetricFile(text);
    ASSERT_TRUE(metric) << metric.error().message;
    ASSERT_EQ(metric->size(), 1u);
    EXPECT_EQ(metric->front().name, "a \" NaN");
    EXPECT_EQ(metric->front().better, MetricSeries::Better::kLower);
    EXPECT_TRUE(std::isnan(metric->front().values[1].value));
    EXPECT_TRUE(std::isnan(metric->front().values[2].value));
    EXPECT_EQ(MetricText(*metric), "a \" NaN↓[x:1.5, y:N/A, z:N/A]");
    const auto again = ReadMetric(MetricJson(*metric));
    ASSERT_TRUE(again);
    EXPECT_EQ(MetricJson(*again), MetricJson(*metric));
  }
}

TEST(MetricTest, SmallNumbersAreSeenWhereverAModelDecidesOnThem) {  // FLT-60
  const Metric metric = {{.name = "error",
                          .better = MetricSeries::Better::kLower,
                          .values = {{"a", 1e-6}, {"b", 2.5e-7}, {"c", 0.1234567}}}};
  EXPECT_EQ(MetricText(metric), "error↓[a:1e-06, b:2.5e-07, c:0.1234567]");
  EXPECT_EQ(RoundedMetricText(metric), "error↓[a:1e-06, b:2.5e-07, c:0.1235]");
}

TEST(MetricTest, AValueThatIsNoFiniteNumberIsNamed) {  // FLT-69
  const double infinity = std::numeric_limits<double>::infinity();
  const auto of = [](double a, double b) {
    return Metric{{.name = "loss", .values = {{"train", a}}},
                  {.name = "speed", .values = {{"large", b}}}};
  };
  EXPECT_EQ(NotFinite(of(1, 2)), std::nullopt);
  EXPECT_EQ(NotFinite(of(kNan, 2)), "loss of train");
  EXPECT_EQ(NotFinite(of(1, -infinity)), "speed of large");
  EXPECT_EQ(NotFinite({{.name = "loss"}}), "loss");
  EXPECT_EQ(NotFinite({}), "every metric");
}

TEST(MetricTest, AWrongFileIsRefusedWithThePlace) {
  const struct {
    std::string_view text, message;
  } kCases[] = {
      {"{", ""},
      {"{}", "metric_names"},
      {R"([{"metric_name":"a"}])", "metric_names[0].lower_is_better"},
      {R"([{"metric_name":"a","lower_is_better":true}])", "metric_names[0].data"},
      {R"([{"metric_name":"a\n! b","lower_is_better":true,"data":[]}])",
       "metric_names[0].metric_name must be a text of one line"},
      {R"([{"metric_name":"a","lower_is_better":true,"data":[{"dataset_name":"x"}]}])",
       "data[0].value"},
      {R"([{"metric_name":"a","lower_is_better":true,"data":[]},)"
       R"({"metric_name":"a","lower_is_better":true,"data":[]}])",
       "twice"},
  };
  for (const auto& example : kCases) {
    EXPECT_THAT(ReadMetricFile(example.text),
                FailsWith(ErrorCode::kInvalidArgument, std::string(example.message)))
        << example.text;
  }
}

TEST(MetricTest, AnyBytesAreReadOrRefused) {
  Random random(7);
  const std::string good = R"([{"metric_name":"a","lower_is_better":true,"data":[]}])";
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (std::uint64_t change = 0; change <= random.Below(4); ++change) {
      text[random.Below(text.size())] = static_cast<char>(random.Below(256));
    }
    static_cast<void>(ReadMetricFile(text));
  }
}

TEST(MetricTest, AMeanWithAMissingValueIsNone) {
  const MetricSeries series{.name = "a", .values = {{"x", 1}, {"y", 3}, {"z", kNan}}};
  const std::vector<std::string> both = {"x", "y"}, with_nan = {"x", "z"}, missing = {"x", "w"};
  EXPECT_EQ(MeanOver(series, both), 2);
  EXPECT_EQ(MeanOver(series, with_nan), std::nullopt);
  EXPECT_EQ(MeanOver(series, missing), std::nullopt);
  EXPECT_EQ(MeanOver(series, {}), std::nullopt);
  EXPECT_EQ(MeanOver({.name = "a"}, {}), std::nullopt);
}

// RSP-T15: mean and sample deviation per metric and data set.
TEST(MetricTest, SeedsHaveAMeanAndASampleDeviation) {  // RSP-36
  const auto run = [](double x, double y) {
    return Metric{{.name = "a", .values = {{"x", x}, {"y", y}}}};
  };
  const std::vector<Metric> runs = {run(1, kNan), run(2, 5), run(6, kNan)};
  const std::vector<SeedSeries> out = SeedStatistics(runs);
  ASSERT_EQ(out.size(), 1u);
  ASSERT_EQ(out[0].values.size(), 2u);
  EXPECT_EQ(out[0].values[0].runs, 3);
  EXPECT_DOUBLE_EQ(out[0].values[0].mean, 3);
  EXPECT_DOUBLE_EQ(*out[0].values[0].deviation, std::sqrt(7.0));
  EXPECT_EQ(out[0].values[1].runs, 1);
  EXPECT_DOUBLE_EQ(out[0].values[1].mean, 5);
  EXPECT_EQ(out[0].values[1].deviation, std::nullopt);
  EXPECT_EQ(ToJson(SeedStatisticsJson(out)),
            R"([{"metric_name":"a","lower_is_better":false,"data":[)"
            R"({"dataset_name":"x","runs":3,"mean":3,"deviation":2.6457513110645907},)"
            R"({"dataset_name":"y","runs":1,"mean":5,"deviation":null}]}])");
  EXPECT_EQ(SeedText(JsonObject{{"seed_statistics", SeedStatisticsJson(out)}}),
            "mean a[x:3 ± 2.6 over 3], a[y:5 over 1]");
  EXPECT_EQ(SeedText(Json()), "no rerun has a metric");
}

}  // namespace
}  // namespace dossier::research
