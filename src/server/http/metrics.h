// Metrics of a server in the format of Prometheus (text format 0.0.4).
//
//   Metrics metrics;
//   metrics.Add("requests_total", {{"route", "/v1/files/{id}"}, {"code", "200"}});
//   metrics.Set("runs_running", {}, 3);
//   metrics.Text();   // "# TYPE dossier_requests_total counter\ndossier_requests_total{…} 1\n…"
//
// Names get the prefix `dossier_`. A label with more than 100 different values becomes "other", so
// that no client can make the table grow. Thread-safety: all methods from any thread.

#ifndef DOSSIER_SERVER_HTTP_METRICS_H_
#define DOSSIER_SERVER_HTTP_METRICS_H_

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dossier::server {

class Metrics {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  void Add(std::string_view name, Labels labels, double value = 1);  // a counter
  // A counter per owner; other owners do not see it in their text.
  void AddSum(std::string_view owner, std::string_view name, Labels labels, double value = 1);
  void Set(std::string_view name, Labels labels, double value);  // a gauge
  void Observe(std::string_view name, double seconds);           // a histogram
  // `owner`: only that owner's part of the sums of AddSum; unset: the total of all.
  std::string Text(const std::optional<std::string>& owner = {}) const;

 private:
  struct Family {
    enum class Type : std::uint8_t { kCounter, kGauge, kHistogram } type = Type::kCounter;
    std::map<std::string, double> rows;  // by the text of the labels
    // For AddSum: the part of each owner.
    std::map<std::string, std::map<std::string, double>, std::less<>> by_owner;
  };
  std::string LabelText(Labels labels);
  Family& Of(std::string_view name, Family::Type type);

  mutable std::mutex mutex_;
  std::map<std::string, Family, std::less<>> families_;
  std::map<std::string, std::set<std::string>> forms_;  // the values of each label
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_HTTP_METRICS_H_
