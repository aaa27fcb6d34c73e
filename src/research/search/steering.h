// The wishes of people about the nodes of a run: work on this one, leave that one alone, try this.
//
//   DOSSIER_RETURN_IF_ERROR(LeaveOrder(folder, {.kind = SteerKind::kPin, .node = id}));  // anybody
//   DOSSIER_ASSIGN_OR_RETURN(const std::size_t count, steering.Take("1_initial…/3"));    // the run
//   SteerNodes(steering.First(count), &results);
//
// Orders wait in a file of the run folder, so that they can be left for a run that is at work and
// for one that is not. The run takes them into its journal before it selects the next round, and
// the selection says how many were in force: a resume selects the same. Thread-safety: LeaveOrder
// from any process; a Steering has one owner.

#ifndef DOSSIER_RESEARCH_SEARCH_STEERING_H_
#define DOSSIER_RESEARCH_SEARCH_STEERING_H_

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "research/node/results.h"
#include "research/tree/run_log.h"

namespace dossier::research {

// kFree takes kPin and kPrune back.
enum class SteerKind : std::uint8_t { kPin, kPrune, kFree, kHint, kName };
std::string_view SteerKindName(SteerKind kind);  // "pin"
std::optional<SteerKind> FindSteerKind(std::string_view name);

struct SteerOrder {
  SteerKind kind = SteerKind::kPin;
  std::string node;  // id; of a copy that of its original
  std::string text;  // of a hint or a name; "": none any more
  std::string time;
};
JsonObject SteerJson(const SteerOrder& order);
// Errors: kDamaged.
Result<SteerOrder> ReadSteerOrder(const Json& json);

// Appends to the orders of this run, without secrets. Errors: kIo, kPermission.
Status LeaveOrder(const std::string& folder, const SteerOrder& order);

// What the journal has of the orders, and which lines of the file are not in it yet.
class Orders {
 public:
  // In the order of the journal. `data` is that of a `run.steered`. Errors: kDamaged.
  Status SeeTaken(const JsonObject& data);
  // In the order in which they were left, each with its line. A line that is none is no order.
  std::vector<std::pair<std::string, SteerOrder>> NotTaken(const std::string& folder) const;

  std::vector<SteerOrder> taken;

 private:
  std::set<std::string, std::less<>> lines_;  // hashes
};

inline constexpr std::string_view kSteered = "run.steered";

class Steering {
 public:
  // `log` outlives it.
  explicit Steering(RunLog* log) : log_(*log) {}

  // How many orders are in force for what `event` with this key records, a round's selection or the
  // copy that a stage begins with: those that it says, or, if it is not recorded yet, all that were
  // left until now. Errors: those of the journal.
  Result<std::size_t> Take(std::string_view event, std::string_view key);
  std::span<const SteerOrder> First(std::size_t count) const {
    return std::span(orders_.taken).first(count);
  }

 private:
  Status ReadTaken();

  RunLog& log_;
  Orders orders_;
};

// Gives every node its name, and what the orders want of it. `others`: nodes without an end, which
// are counted and named, too. A name is the kind and a number in the order in which the nodes were
// made, "draft 1"; a copy is called as its original. What is wanted of a node is wanted of what
// comes of it.
void SteerNodes(std::span<const SteerOrder> orders, RunResults* results,
                std::span<Node> others = {});

// The best node of the run and of each stage that has one, after orders: never a pruned one.
void KeepBest(RunResults* results, std::string_view primary);

// Whether the search itself may give a node such a name: "debug 3".
bool IsGivenName(std::string_view name);

// The node that a copy was made of, over all stages; `id` itself if it is no copy.
std::string OriginalOf(const RunResults& results, std::string_view id);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_STEERING_H_
