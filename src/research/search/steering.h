// People's orders about the nodes of a run: work on this one, leave that one alone, try this.
//
//   DOSSIER_RETURN_IF_ERROR(LeaveOrder(folder, {.kind = SteerKind::kPin, .node = id}));  // anybody
//   DOSSIER_ASSIGN_OR_RETURN(const std::size_t count, steering.Take("1_initial…/3"));    // the run
//   SteerNodes(steering.First(count), &results);
//
// Orders are stored in a file of the run folder, so that they can be left whether or not the run is
// active. The run adds them to its journal before it selects the next round, and the selection
// records how many were in force, so that a resume selects the same nodes. Thread-safety:
// LeaveOrder from any process; a Steering has one owner.

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

// kFree undoes kPin and kPrune.
enum class SteerKind : std::uint8_t { kPin, kPrune, kFree, kHint, kName };
std::string_view SteerKindName(SteerKind kind);  // "pin"
std::optional<SteerKind> FindSteerKind(std::string_view name);

struct SteerOrder {
  SteerKind kind = SteerKind::kPin;
  std::string node;  // id; for a copy, its original's id
  std::string text;  // hint or name; "": removes it
  std::string time;
};
JsonObject SteerJson(const SteerOrder& order);
// Errors: kDamaged.
Result<SteerOrder> ReadSteerOrder(const Json& json);

// Appends an order to the run's file, with secrets removed. Errors: kIo, kPermission.
Status LeaveOrder(const std::string& folder, const SteerOrder& order);

// The orders in the journal, and the lines of the file that are not in it yet.
class Orders {
 public:
  // Call in journal order. `data` is that of a `run.steered` event. Errors: kDamaged.
  Status SeeTaken(const JsonObject& data);
  // Returns the other orders in the order they were left, each with its line, ignoring invalid
  // lines.
  std::vector<std::pair<std::string, SteerOrder>> NotTaken(const std::string& folder) const;

  std::vector<SteerOrder> taken;

 private:
  std::set<std::string, std::less<>> lines_;  // hashes
};

inline constexpr std::string_view kSteered = "run.steered";

class Steering {
 public:
  // `log` must outlive this object.
  explicit Steering(ResearchLog* log) : log_(*log) {}

  // Returns how many orders are in force for `event` with this key (a round's selection, or the
  // copy that a stage begins with): the recorded number, or, if it is not recorded yet, the number
  // of all orders left so far. Errors: those of the journal.
  Result<std::size_t> Take(std::string_view event, std::string_view key);
  std::span<const SteerOrder> First(std::size_t count) const {
    return std::span(orders_.taken).first(count);
  }

 private:
  Status ReadTaken();

  ResearchLog& log_;
  Orders orders_;
};

// Sets the name of every node, and what the orders say about it. `others` are nodes without an end,
// which are counted and named too. A name is the kind and a number in creation order, "draft 1"; a
// copy has its original's name. An order about a node also applies to its descendants.
void SteerNodes(std::span<const SteerOrder> orders, RunResults* results,
                std::span<Node> others = {});

// Updates the best node of the run and of its stages that have one: never a pruned node.
void KeepBest(RunResults* results, std::string_view primary);

// Returns true if the search may give a node this name: "debug 3".
bool IsGivenName(std::string_view name);

// Returns the node that a copy was made from, in any stage; `id` itself if it is not a copy.
std::string OriginalOf(const RunResults& results, std::string_view id);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_STEERING_H_
