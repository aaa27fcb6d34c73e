// Generates a whole task set, and writes it only if all answers are proved.
//
//   DOSSIER_ASSIGN_OR_RETURN(TaskSet set, GenerateSet({"aggregate"}, spec, "sets/aggregate"));
//   DOSSIER_ASSIGN_OR_RETURN(SetCheck report, CheckSet(set, cancel));
//   if (!report.findings.empty()) …                       // exit 15
//
// Thread-safety: functions over their arguments and files.

#ifndef DOSSIER_EVALUATION_GENERATE_H_
#define DOSSIER_EVALUATION_GENERATE_H_

#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "evaluation/family.h"
#include "evaluation/task.h"

namespace dossier::evaluation {

// Writes the tasks of `families` to `folder`; "quick" and "standard" are predefined selections.
// Errors: kConfig, kRefused (the folder is not empty); kCheckFailed if the gold paths differ, with
// the task and both answers: nothing is written then.
Result<TaskSet> GenerateSet(const std::vector<std::string>& families, const FamilySpec& spec,
                            const std::string& folder);

struct SetCheck {
  std::int64_t tasks = 0, proved = 0;
  double chance = 0, floor = 0, blind = 0, oracle = 0;  // mean official scores
  std::vector<std::string> findings;                    // faults, with the task's id
  std::vector<std::string> skipped;  // what could not be proved here, and how it could be
};

// Checks hashes, both gold paths, the oracle's score, and that neither floor nor blind is above
// chance. Errors: kDamaged for a file whose hash differs, kCancelled.
Result<SetCheck> CheckSet(const TaskSet& set, const CancelToken& cancel);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_GENERATE_H_
