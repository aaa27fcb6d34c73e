// The calls of one run: numbers them and runs children in threads.
//
//   CallTree tree(/*most=*/64, run_child);
//   tree.Start({.owner = this, .depth = 1, .work = [&] { … tree.Run(parent, child) … }});
//   tree.Wait();     // this call waits for its children: another may run meanwhile
//   tree.GoOn();
//
// Only `most` children run at once, each with its own sandbox. One that waits for its own children
// does not count, and deeper ones go first, so a tree of any depth finishes with any limit and few
// sandboxes wait. Requests to models are queued separately, in model/client/gate.h, where a waiting
// call has no entry.
//
// Thread-safety: all methods from any thread. An owner must wait for its work, or take it back,
// before it is destroyed; the destructor waits for the threads.

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

// The position of a call in the tree. The root is call 0 at depth 0; its third child has the path
// "0.c3". Numbers are assigned as children start, so concurrent children may get different ones in
// each run; paths follow the order in which code asked.
struct CallPlace {
  std::int64_t call = 0, parent = 0;
  int depth = 0;
  std::string path = "0";
};

// One question for a child, as asked by its parent's code.
struct ChildCall {
  CallPlace place;
  AskRequest request;  // the parent's, with this question, context and requirements
  const driver::BoundModel* model = nullptr;
  CancelToken cancel;
};

// The result of a child call.
struct ChildAnswer {
  RunStatus status = RunStatus::kNone;
  Source source = Source::kNone;
  std::string text;
  std::optional<Json> value;
  int turns = 0;
  std::vector<std::string> doubts;
  std::optional<Error> error;
  Coverage::Shares read;  // shares of the child's own context
  model::UsageSum usage;  // its requests and sub-calls, without its children's
};

class CallTree {
 public:
  using RunChild = std::function<ChildAnswer(const RunState& parent, const ChildCall& child)>;
  struct Work {
    const void* owner = nullptr;  // the owner may take it back
    int depth = 1;
    std::function<void()> work;
    // Instead of `work`, where the system has no thread for it and none that runs could take it.
    std::function<void(const Error& error)> refused = {};
  };

  // Numbering starts after `last`, the last call of an earlier process.
  CallTree(int most, RunChild run, std::int64_t last = 0)
      : most_(most), run_child_(std::move(run)), calls_(last) {}

  std::int64_t NextCall() { return ++calls_; }
  void Start(Work work);
  // Removes and returns `owner`'s work that has not begun; it runs only if the owner runs it.
  std::vector<Work> TakeBack(const void* owner);
  // Called by a call that runs here, when it starts or stops waiting for its children.
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
  std::mutex mutex_;  // guards the members below
  int running_ = 0;   // may exceed `most_` when calls continue after waiting
  std::multimap<int, Work, std::greater<>> waiting_;  // by depth, deepest first, then in order
  TaskGroup threads_;  // last member: joined before the others are destroyed
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_CALL_TREE_H_
