// A family makes tasks of one kind, and proves each answer a second time from the written files.
//
//   const Family* family = FindFamily("aggregate");
//   FamilySpec spec{.lengths = {16384}, .windows = 2};
//   DOSSIER_RETURN_IF_ERROR(family->Generate(spec, sink));
//   DOSSIER_ASSIGN_OR_RETURN(Json gold, family->Recompute(task, set));   // equals task.gold
//
// A new family is one file of families/ and one row of the table in family.cc. The same spec gives
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
  std::vector<std::int64_t> lengths;  // tokens; bytes for tables and logs; empty: the family's own
  std::int64_t windows = 10;          // a length
  std::int64_t questions = 10;        // a window
  std::uint64_t seed = 1;
  std::string tokenizer = "o200k_base";
  std::shared_ptr<const tokens::Counter> counter;
  std::string items;                            // file of a pool; empty: the built-in one
  std::map<std::string, std::string> settings;  // --set K=V
  CancelToken cancel;
};

// Where a family puts what it makes. Files are written piece by piece, so that a window of 1 GB
// needs no memory.
class TaskSink {
 public:
  virtual ~TaskSink() = default;
  // Starts the file `path` ("contexts/…" or "labelled/…"), which ends with the next Open or Add.
  virtual Status Open(const std::string& path) = 0;
  virtual Status Write(std::string_view bytes) = 0;
  // Ends it, with its count.
  virtual Result<ContextFile> Close(std::int64_t tokens) = 0;
  virtual Status Add(Task task) = 0;
  // A question that was not asked because `rule` found it too close to call.
  virtual void Refuse(std::string_view rule) = 0;
  virtual void UsePool(const PoolInfo& pool) = 0;
};

// Another label for a line of the labelled file, from its text and its label: how the gold of wrong
// labels is computed, and what a solver that only counts words would answer. Empty: as written.
using Relabel = std::function<std::string(const std::string& text, const std::string& label)>;

// One parameter of a family that --set takes.
struct Parameter {
  std::string_view name, fallback, about;
};

// The second path over one window, opened once for all its tasks.
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
  // smallest that can; those of files.
  virtual Status Generate(const FamilySpec& spec, TaskSink& sink) const = 0;
  // Gold path B: from the files of the set alone, by another method. Errors: kUnavailable if a
  // program that it needs is not there, with how to install it; those of files.
  virtual Result<Json> Recompute(const Task& task, const TaskSet& set,
                                 const Relabel& relabel) const = 0;
  Result<Json> Recompute(const Task& task, const TaskSet& set) const {
    return Recompute(task, set, Relabel());
  }
  // The same for all tasks of the window of `task`; `set` and the family outlive what is returned.
  virtual Result<std::unique_ptr<Prover>> Open(const Task& task, const TaskSet& set,
                                               const Relabel& relabel) const;
};

// All of them, by name.
std::span<const Family* const> Families();
// Errors: kConfig with the nearest names.
Result<const Family*> FindFamily(std::string_view name);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_FAMILY_H_
