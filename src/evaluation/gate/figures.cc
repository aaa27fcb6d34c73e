// Compares the figures of two programs.

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "base/random.h"
#include "evaluation/gate/gate.h"
#include "evaluation/run/statistics.h"

namespace dossier::evaluation {
namespace {

// Below this many bytes, journals differ only by the digits of their times.
constexpr std::int64_t kJournalSlack = 512;
constexpr int kSpeedResamples = 2000;

using Counts = std::map<std::string, std::int64_t>;

std::size_t CommonStart(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

// Returns all texts of a request in order, as a provider's cache would see them. The journal
// replaces a message that it already has by its number; `known` stores these messages.
std::string TextsOf(const Json& messages, std::map<std::int64_t, std::string>* known) {
  std::string all;
  if (!messages.is_array()) return all;
  for (const Json& message : messages.get_array()) {
    if (message.is_int64()) {
      all += (*known)[message.get_int64()];
      continue;
    }
    const Json* body = Find(message, "body");
    std::string text = TextAt(message, "role") + ":" + (body ? ToJson(*body) : "") + "\n";
    all += text;
    (*known)[FindInt(message, "n").value_or(0)] = std::move(text);
  }
  return all;
}

GateLine Line(GateLine::Verdict verdict, std::string metric, const std::string& gate,
              std::string from, std::string to, std::string show = "") {
  GateLine line{.verdict = verdict, .metric = std::move(metric), .gate = gate};
  line.said = fmt::format("{} (was {})", to, from);
  line.show = std::move(show);
  line.from = std::move(from);
  line.to = std::move(to);
  return line;
}

// Compares counts by name, which may grow by `share`.
void CompareCounts(std::string_view metric, const std::string& gate, const Counts& base,
                   const Counts& head, double share, const std::string& show,
                   std::vector<GateLine>* lines) {
  std::set<std::string> names;
  for (const auto& [name, count] : base) names.insert(name);
  for (const auto& [name, count] : head) names.insert(name);
  const auto at = [](const Counts& counts, const std::string& name) {
    const auto found = counts.find(name);
    return found == counts.end() ? std::int64_t{0} : found->second;
  };
  for (const std::string& name : names) {
    const std::int64_t before = at(base, name), after = at(head, name);
    if (before == after) continue;
    const double limit = static_cast<double>(before) * (1 + share);
    const bool worse = static_cast<double>(after) > limit;
    const bool better = static_cast<double>(after) < static_cast<double>(before) * (1 - share);
    if (!worse && !better) continue;
    lines->push_back(Line(worse ? GateLine::Verdict::kWorse : GateLine::Verdict::kBetter,
                          fmt::format("{} {}", metric, name), gate, std::to_string(before),
                          std::to_string(after), show));
  }
}

struct Ratios {
  double median, low, high;
};

Ratios IntervalOfMedian(const std::vector<double>& ratios, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> medians;
  for (int i = 0; i < kSpeedResamples; ++i) {
    std::vector<double> drawn;
    for (std::size_t k = 0; k < ratios.size(); ++k)
      drawn.push_back(ratios[random.Below(ratios.size())]);
    medians.push_back(Quantile(std::move(drawn), 0.5));
  }
  return {Quantile(ratios, 0.5), Quantile(medians, 0.025), Quantile(medians, 0.975)};
}

// The ratios of one figure, one per round.
struct SpeedSeries {
  std::vector<double> ratios, same;

  void Add(std::span<const Seconds, 4> seconds, double Seconds::*which) {
    const double base = seconds[0].*which, again = seconds[3].*which;
    ratios.push_back((seconds[1].*which + seconds[2].*which) / (base + again));
    // The program that runs first is first only in every other round.
    same.push_back(ratios.size() % 2 == 0 ? base / again : again / base);
  }

  SpeedResult Judge(const GateLimits& limits) const {
    using Verdict = GateLine::Verdict;
    const Ratios found = IntervalOfMedian(ratios, 1), twin = IntervalOfMedian(same, 2);
    SpeedResult result{.ratio = found.median,
                       .low = found.low,
                       .high = found.high,
                       .same_low = twin.low,
                       .same_high = twin.high,
                       .same = twin.median,
                       .rounds = static_cast<int>(ratios.size())};
    // If the base differs from itself by less than the threshold, the machine is fine.
    const bool same_is_one = twin.low <= 1 && twin.high >= 1;
    const bool same_is_near = std::abs(twin.median - 1) < limits.half_width;
    if (result.rounds < limits.least_rounds || (!same_is_one && !same_is_near)) {
      result.verdict = Verdict::kUnclear;
    } else if (result.low > limits.worse_ratio) {
      result.verdict = Verdict::kWorse;
    } else if (result.high < limits.better_ratio) {
      result.verdict = Verdict::kBetter;
    }
    return result;
  }
};

}  // namespace

std::string GateLine::Text() const {
  constexpr std::string_view kNames[] = {"worse",    "unclear", "record", "watch",
                                         "accepted", "better",  "open"};
  return fmt::format("{:<8}{}  {}  {}{}{}", kNames[static_cast<std::size_t>(verdict)], metric, gate,
                     said, show.empty() ? "" : "  ", show);
}

void SortLines(std::vector<GateLine>* lines) {
  std::stable_sort(lines->begin(), lines->end(),
                   [](const GateLine& a, const GateLine& b) { return a.verdict < b.verdict; });
}

void Accept(const std::vector<Accepted>& accepted, std::vector<GateLine>* lines) {
  for (GateLine& line : *lines) {
    const auto found = std::ranges::find_if(accepted, [&line](const Accepted& one) {
      return one.gate == line.gate && one.metric == line.metric && one.from == line.from &&
             one.to == line.to;
    });
    if (found == accepted.end() || line.verdict != GateLine::Verdict::kWorse) continue;
    line.verdict = GateLine::Verdict::kAccepted;
    line.said += ": " + found->reason;
  }
}

void AddRun(const std::string& task, const Answer& answer, std::int64_t sent, GateFigures* to) {
  to->requests["sent"] += sent;
  to->answers[task] = fmt::format("{} {}", StatusName(answer.status), answer.text);
  if (const Json* warnings = Find(answer.result, "warnings"); warnings && warnings->is_array()) {
    for (const Json& warning : warnings->get_array()) ++to->warnings[TextAt(warning, "code")];
  }
  if (!answer.events.is_array()) return;
  std::string before;  // the last request of the root
  std::map<std::int64_t, std::string> known;
  for (const Json& event : answer.events.get_array()) {
    const Json* data = Find(event, "data");
    if (data == nullptr) continue;
    const std::string type = TextAt(event, "type"), purpose = TextAt(*data, "purpose");
    // The command line contains folders and ports of this run.
    if (type != "run.started") to->journal += static_cast<std::int64_t>(ToJson(*data).size());
    if (type == "request.sent") {
      ++to->requests[purpose];
      const Json* messages = Find(*data, "messages");
      std::string texts = messages ? TextsOf(*messages, &known) : "";
      if (purpose == "root") {
        to->kept += static_cast<double>(CommonStart(before, texts));
        to->sent += static_cast<double>(before.size());
        before = std::move(texts);
      }
    } else if (type == "reply.received") {
      to->tokens[purpose + " in"] += FindInt(*data, "input").value_or(0);
      to->tokens[purpose + " out"] += FindInt(*data, "output").value_or(0);
    }
  }
}

std::vector<GateLine> CompareFigures(const std::string& gate, const GateFigures& base,
                                     const GateFigures& head, const GateLimits& limits) {
  std::vector<GateLine> lines;
  std::size_t same = 0;
  std::string first;
  for (const auto& [task, answer] : base.answers) {
    const auto found = head.answers.find(task);
    const bool equal = found != head.answers.end() && found->second == answer;
    same += equal ? 1 : 0;
    if (!equal && first.empty()) first = task;
  }
  const std::string show =
      "dossier eval diff " +
      (first.empty() && !base.answers.empty() ? base.answers.begin()->first : first);
  if (same < base.answers.size()) {
    GateLine line = Line(GateLine::Verdict::kWorse, "answers", gate,
                         std::to_string(base.answers.size()), std::to_string(same), show);
    line.said = fmt::format("{} of {} as before", same, base.answers.size());
    lines.push_back(std::move(line));
  }
  CompareCounts("requests", gate, base.requests, head.requests, limits.requests, show, &lines);
  CompareCounts("tokens", gate, base.tokens, head.tokens, limits.tokens, show, &lines);
  CompareCounts("warnings", gate, base.warnings, head.warnings, 0, show, &lines);
  const std::int64_t grown = head.journal - base.journal;
  if (grown > kJournalSlack &&
      static_cast<double>(grown) > limits.journal * static_cast<double>(base.journal)) {
    lines.push_back(Line(GateLine::Verdict::kWorse, "journal bytes", gate,
                         std::to_string(base.journal), std::to_string(head.journal)));
  }
  const auto share = [](const GateFigures& figures) {
    return figures.sent == 0 ? 1.0 : figures.kept / figures.sent;
  };
  if (share(head) < share(base) - limits.prefix) {
    lines.push_back(Line(GateLine::Verdict::kWorse, "prefix kept", gate,
                         fmt::format("{:.3f}", share(base)), fmt::format("{:.3f}", share(head)),
                         show));
  }
  return lines;
}

Result<SpeedResults> CompareSpeed(const GatePrograms& programs, const GateLimits& limits,
                                  const Measure& measure, const SayRound& say) {
  SpeedResults found;
  const Clock::Steady began = SystemClock()->Now();
  const auto is_over = [&](int rounds) {  // before a round that would end too late
    const std::chrono::duration<double> past = SystemClock()->Now() - began;
    return rounds > 0 && past.count() * (rounds + 1) / rounds > limits.most_seconds;
  };
  int rounds = 0;  // of both attempts
  for (int attempt = 0; attempt < 2 && !is_over(rounds); ++attempt) {
    SpeedSeries cpu, wall;
    for (int round = 1; round <= limits.most_rounds && !is_over(rounds); ++round, ++rounds) {
      Seconds seconds[4];
      const std::string* const order[] = {&programs.base, &programs.head, &programs.head,
                                          &programs.base};
      for (std::size_t i = 0; i < 4; ++i) {
        DOSSIER_ASSIGN_OR_RETURN(seconds[i], measure(*order[i]));
      }
      cpu.Add(seconds, &Seconds::cpu);
      wall.Add(seconds, &Seconds::wall);
      found = {.cpu = cpu.Judge(limits), .wall = wall.Judge(limits)};
      say(found);
      const auto is_narrow = [&](const SpeedResult& one) {
        return (one.high - one.low) / 2 < limits.half_width;
      };
      if (round >= limits.least_rounds && is_narrow(found.cpu) && is_narrow(found.wall)) break;
    }
    using Verdict = GateLine::Verdict;
    if (found.cpu.verdict != Verdict::kUnclear && found.wall.verdict != Verdict::kUnclear) break;
  }
  return found;
}

Result<std::size_t> FirstBad(std::size_t count,
                             const std::function<Result<bool>(std::size_t)>& is_bad) {
  std::size_t good = 0, bad = count;  // steps before `good` are good, the one before `bad` is bad
  while (good + 1 < bad) {
    const std::size_t middle = (good + bad) / 2;
    DOSSIER_ASSIGN_OR_RETURN(const bool broken, is_bad(middle - 1));
    (broken ? bad : good) = middle;
  }
  return bad - 1;
}

}  // namespace dossier::evaluation
