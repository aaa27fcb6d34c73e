// The memory store of a run: renders memory into the prompt, answers memory calls of code, and
// stores the answer.
//
//   DOSSIER_ASSIGN_OR_RETURN(RunMemory memory, RunMemory::Open(request.memory));
//   DOSSIER_ASSIGN_OR_RETURN(RunMemory::Shown shown, memory.Show(question, counter, tokens));
//   auto hits = memory.Handle("memory_search", {{"query", "linker"}});
//
// Requests come from a worker, so all their arguments are checked.
//
// method         arguments              value
// memory_search  query k=10             hits: [{id tier kind text tags ref time score}], best
// first;
//                                       texts of more than 8,000 code points end in …
// memory_get     id                     the same without score, its text whole; null: not visible
// memory_write   text tags=[]           id unchanged
//
// Thread-safety: all methods from many threads.

#ifndef DOSSIER_ASK_RUN_RUN_MEMORY_H_
#define DOSSIER_ASK_RUN_RUN_MEMORY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ask/engine.h"
#include "base/json/json.h"
#include "base/result.h"
#include "memory/render/render.h"

namespace dossier::ask {

class RunMemory {
 public:
  // Errors: those of the store; kNotFound for a branch that does not exist.
  static Result<RunMemory> Open(const driver::MemoryUse& memory);
  // For a session below this one: forks the branch as it is now, named after the run and the
  // session's path in its tree. The fork sees what was known then and keeps its own writes. Unused
  // so far: child calls run without memory, and plain sub-calls have neither code nor memory.
  Result<RunMemory> ForSubSession(std::string_view run, std::string_view path) const;

  const driver::MemoryPort& port() const { return port_; }

  struct Shown {
    std::string text;  // "" if nothing is remembered
    memory::RenderAccounting accounting;
    std::vector<std::string> said;  // messages if memory was compacted
  };
  enum class Writes { kNo, kYes };  // kNo: nothing is consolidated
  Result<Shown> Show(const std::string& question, const tokens::Counter& counter,
                     std::int64_t max_tokens, Writes writes) const;

  // Returns true if `method` is one of those above.
  static bool Knows(std::string_view method);
  // Errors: kInvalidArgument naming the argument, or with the store's reason; those of the store.
  Result<Json> Handle(std::string_view method, const JsonObject& args) const;

  struct Answer {
    std::string run, question, text, status;
    JsonArray sources;  // {name, sha256}
  };
  Status Keep(const Answer& answer) const;

 private:
  explicit RunMemory(driver::MemoryPort port) : port_(std::move(port)) {}

  Result<Json> Search(const JsonObject& args) const;
  Result<Json> Get(const JsonObject& args) const;
  Result<Json> Write(const JsonObject& args) const;

  driver::MemoryPort port_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_RUN_MEMORY_H_
