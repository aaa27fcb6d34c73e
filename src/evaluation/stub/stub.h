// A model without intelligence: it labels the texts of a table, wrongly for a given share, and
// follows the plan of a good root model. This allows engines to be compared without chance: each
// question has one answer that is known before (stub_label.h), and an engine that loses, duplicates
// or swaps an item gives a different one.
//
//   DOSSIER_ASSIGN_OR_RETURN(StubTable table, StubTable::Load("items.jsonl"));
//   auto stub = MakeStub(std::move(table), {.errors = {.share = 0.1}, .plan = plan});
//   DOSSIER_ASSIGN_OR_RETURN(auto server, model::ServeScript(stub, {.port = 4711}));
//
// Ownership: shared with the server. Thread-safety: a stub may answer from many threads.

#ifndef DOSSIER_EVALUATION_STUB_STUB_H_
#define DOSSIER_EVALUATION_STUB_STUB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "evaluation/stub_label.h"
#include "evaluation/task.h"
#include "model/scripted/scripted.h"

namespace dossier::evaluation {

struct StubTable {
  std::vector<std::string> labels;                        // sorted
  std::unordered_map<std::string, std::string> label_of;  // by text

  // JSONL of {"text", "label"}. Errors: kConfig with FILE:LINE; kNotFound.
  static Result<StubTable> Load(const std::string& path);
  static Result<StubTable> Parse(std::string_view lines, std::string_view name);
  // Reads the labelled windows of a set: lines "… || Instance: TEXT || Label: LABEL".
  static Result<StubTable> FromSet(const TaskSet& set);
};

// Shares, 0 to 1. No item has more than two faults, so an engine that asks again gets its label.
struct StubFaults {
  double dropped = 0;  // of items: their line is missing
  double foreign = 0;  // of items: a label that was not offered
  double prose = 0;    // of replies: a sentence before, and words around each label
  double cut = 0;      // of replies: cut off in the middle, with finish "length"
  double busy = 0;     // of requests: status 429
  double broken = 0;   // of requests: status 500
};

// The replies of a good or a bad root model (plans/NAME.yml).
struct StubPlan {
  std::string mark;      // marks the root's requests: their texts contain it
  std::string question;  // regular expression whose group finds the question in the root's messages
  std::vector<std::string> turns;  // replies, in order; the last is repeated. {question}, {labels}

  // Errors: kConfig with FILE:LINE.
  static Result<StubPlan> Parse(std::string_view yaml, const std::string& name);
};

struct StubOptions {
  StubErrors errors;
  StubFaults faults;
  std::vector<Millis> latency;  // of replies, in a cycle; empty: none
  std::optional<StubPlan> plan;
};

std::shared_ptr<model::Script> MakeStub(StubTable table, StubOptions options);

// A known text in a prompt, with the number before it in its line; 0 if there is none.
struct StubItem {
  std::string_view text;
  std::int64_t number = 0;
};
class StubFinder {
 public:
  explicit StubFinder(const StubTable& table);
  std::vector<StubItem> Find(std::string_view prompt) const;

 private:
  const StubTable& table_;
  std::unordered_map<std::string_view, std::vector<std::string_view>> by_head_;
};

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_STUB_STUB_H_
