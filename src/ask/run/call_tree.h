// The calls of one run: numbers for them, and threads for its children.
//
//   CallTree tree(/*most=*/64, run_child);
//   tree.Start({.owner = this, .depth = 1, .work = [&] { … tree.run_child(run, child) … }});
//   tree.Wait();     // this call waits for its children: another may run meanwhile
//   tree.GoOn();
//
// Only so many children run at once, each with a sandbox of its own. One that waits for its
// children does not count, and deeper ones go first, so that any number finishes a tree of any
// depth, and few sandboxes wait. Requests to models have their own order, in model/client/gate.h: a
// call that waits has none there.
//
// Thread-safety: all methods from any thread. Whoever starts work waits for its end or takes it
// back before it goes; the destructor waits for the threads.

#ifndef DOSSIER_ASK_RUN_CALL_TREE_H_
#define DOSSIER_ASK_RUN_CALL_TREE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ask/engine.h"
#include "ask/policy/coverage.h"
#include "base/task_group.h"

namespace dossier::ask {

struct RunState;

// Where a call stands. The root is call 0 at depth 0; its third child has the path "0.c3". Numbers
// are given as children begin, so those of children side by side may change from run to run; paths
// follow the order in which code asked.
struct CallPlace {
  std::int64_t call = 0, parent = 0;
  int depth = 0;
  std::string path = "0";
};

// One question for a child, as its parent's code asked it.
struct ChildCall {
  CallPlace place;
  Request request;  // the parent's, with this question, context and requirements
  const driver::BoundModel* model = nullptr;
  CancelToken cancel;
};

// What came of it.
struct ChildAnswer {
  RunStatus status = RunStatus::kNone;
  Source source = Source::kNone;
  std::string text;
  std::optional<Json> value;
  int turns = 0;
  std::vector<std::string> doubts;
  std::optional<Error> error;
  Coverage::Shares read;  // of the child's own context
  model::UsageSum usage;  // of its own requests and sub-calls; its children have their own
};

class CallTree {
 public:
  using RunChild = std::function<ChildAnswer(const RunState& parent, const ChildCall& child)>;
  struct Work {
    const void* owner = nullptr;  // who may take it back
    int depth = 1;
    std::function<void()> work;
    // Instead of `work`, where the system has no thread for it and none that runs could take it.
    std::function<void(const Error& error)> refused = {};
  };

  // Numbers begin behind `last`, of calls of an earlier process.
  CallTree(int most, RunChild run, std::int64_t last = 0)
      : most_(most), run_child_(std::move(run)), calls_(last) {}

  std::int64_t NextCall() { return ++calls_; }
  void Start(Work work);
  // The works of `owner` that have not begun: they will not, unless the owner runs them itself.
  std::vector<Work> TakeBack(const void* owner);
  // By a call that runs here: from now on, or no longer, it waits for its children.
  void Wait();
  void GoOn();
  ChildAnswer Run(const RunState& parent, const ChildCall& child) const {
    return run_child_(parent, child);
  }

 private:
  void Fill(std::unique_lock<std::mutex> lock);
  void RunOn(Work work);
  std::optional<Work> Next();

  const int most_;
  const RunChild run_child_;
  std::atomic<std::int64_t> calls_;
  std::mutex mutex_;                                  // guards what follows
  int running_ = 0;                                   // may exceed `most_` when calls go on
  std::multimap<int, Work, std::greater<>> waiting_;  // by depth, the deepest first, then in order
  TaskGroup threads_;                                 // last: joined before the rest goes
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_CALL_TREE_H_
