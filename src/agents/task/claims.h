// Locks that let only one run at a time work on a task of the repository.
//
//   DOSSIER_ASSIGN_OR_RETURN(Claims::Answer answer, claims.Take("fact-001", run));
//   if (answer.claim) Work();                      // held until `answer.claim` goes
//   else Skip("claimed by run " + answer.holder);
//
// A claim is a lock on a file: the kernel releases it however the process ends. Thread-safety: all
// methods from any thread and process.

#ifndef DOSSIER_AGENTS_TASK_CLAIMS_H_
#define DOSSIER_AGENTS_TASK_CLAIMS_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/result.h"

namespace dossier::agents {

class Claims {
 public:
  // `folder` must exist: STATE/claims.
  explicit Claims(std::string folder) : folder_(std::move(folder)) {}

  class Claim {
   public:
    Claim(Claim&&) noexcept = default;
    ~Claim();

   private:
    friend class Claims;
    explicit Claim(UniqueFd lock) : lock_(std::move(lock)) {}
    UniqueFd lock_;
  };
  struct Answer {
    std::optional<Claim> claim;
    std::string holder;  // without a claim: the run that holds it; empty if not recorded yet
  };
  // `name`: the task's, usable as a file name. Errors: kIo, kPermission with the path.
  Result<Answer> Take(std::string_view name, std::string_view run) const;

 private:
  std::string folder_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_TASK_CLAIMS_H_
