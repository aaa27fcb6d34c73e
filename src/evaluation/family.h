// A family makes tasks of one kind and computes each answer a second time from the written files.
//
//   const Family* family = FindFamily("aggregate");
//   FamilySpec spec{.lengths = {16384}, .windows = 2};
//   DOSSIER_RETURN_IF_ERROR(family->Generate(spec, sink));
//   DOSSIER_ASSIGN_OR_RETURN(Json gold, family->Recompute(task, set));   // equals task.gold
//
// A new family is one file in families/ and one row of the table in family.cc. The same spec gives
// the same bytes on every machine. Thread-safety: families are immutable.

#ifndef DOSSIER_EVALUATION_FAMILY_H_
#define DOSSIER_EVALUATION_FAMILY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "evaluation/task.h"
#include "tokens/counter/counter.h"

namespace dossier::evaluation {

struct FamilySpec {
  std::vector<std::int64_t> lengths;  // tokens; bytes for tables and logs; empty: defaults
  std::int64_t windows = 10;          // per length
  std::int64_t questions = 10;        // per window
  std::uint64_t seed = 1;
  std::string tokenizer = "o200k_base";
  std::shared_ptr<const tokens::Counter> counter;
  std::string items;                            // a pool file; empty: the built-in pool
  std::map<std::string, std::string> settings;  // --set K=V
  CancelToken cancel;
};

// Receives what a family makes. Files are written in pieces, so that a window of 1 GB needs no
// memory.
class TaskSink {
 public:
  virtual ~TaskSink() = default;
  // Starts the file `path` ("contexts/…" or "labelled/…"); the next Open or Add ends it.
  virtual Status Open(const std::string& path) = 0;
  virtual Status Write(std::string_view bytes) = 0;
  // Ends the file and records its token count.
  virtual Result<ContextFile> Close(std::int64_t tokens) = 0;
  virtual Status Add(Task task) = 0;
  // Counts a question that was not asked because `rule` found it too close to call.
  virtual void Refuse(std::string_view rule) = 0;
  virtual void UsePool(const PoolInfo& pool) = 0;
};

// Maps the text and label of a line in the labelled file to another label: for the gold of wrong
// labels, and for a solver that only counts words. Empty: labels as written.
using Relabel = std::function<std::string(const std::string& text, const std::string& label)>;

// A parameter of a family that --set accepts.
struct Parameter {
  std::string_view name, fallback, about;
};

// The second gold path for one window, opened once for all its tasks.
class Prover {
 public:
  virtual ~Prover() = default;
  virtual Result<Json> Recompute(const Task& task) = 0;
};

class Family {
 public:
  virtual ~Family() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view about() const = 0;
  virtual std::span<const Parameter> parameters() const = 0;
  virtual std::vector<std::int64_t> default_lengths() const { return {16'384, 65'536, 262'144}; }

  // Gold path A: counts while it writes. Errors: kConfig for a spec that cannot be met, with the
  // smallest one that can; those of files.
  virtual Status Generate(const FamilySpec& spec, TaskSink& sink) const = 0;
  // Gold path B: computes gold from the set's files alone, by another method. Errors: kUnavailable
  // if a required program is missing, with how to install it; those of files.
  virtual Result<Json> Recompute(const Task& task, const TaskSet& set,
                                 const Relabel& relabel) const = 0;
  Result<Json> Recompute(const Task& task, const TaskSet& set) const {
    return Recompute(task, set, Relabel());
  }
  // The same for all tasks of the window of `task`. `set` and the family must outlive the result.
  virtual Result<std::unique_ptr<Prover>> Open(const Task& task, const TaskSet& set,
                                               const Relabel& relabel) const;
};

// Returns all families by name.
std::span<const Family* const> Families();
// Errors: kConfig with the nearest names.
Result<const Family*> FindFamily(std::string_view name);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_FAMILY_H_
