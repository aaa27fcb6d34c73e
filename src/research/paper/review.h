// Reviews the paper, with a conference review form, and its figures.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Reviewed done, ReviewPaper(services, results, cancel));
//   if (done.review) Say(FindInt(*done.review, "Overall"));
//
// Files: paper/review.json, paper/figure_review.json. Without a valid answer there is no review,
// and a warning. Errors: those of RoleCaller::Call; kIo.
//
// Thread-safety: called only by the run's thread.

#ifndef DOSSIER_RESEARCH_PAPER_REVIEW_H_
#define DOSSIER_RESEARCH_PAPER_REVIEW_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "research/node/phases.h"
#include "research/node/results.h"

namespace dossier::research {

struct Reviewed {
  std::optional<JsonObject> review;  // the 16 fields, in order
  JsonArray figures;                 // one object per figure
  std::vector<std::string> removed;  // names of figures removed from the paper
  std::vector<std::string> warnings;
};

// Reads paper/paper.tex.
Result<Reviewed> ReviewPaper(const Services& services, const RunResults& results,
                             const CancelToken& cancel);

// Returns the 16 fields of a review in the order of the form, lists and scores with their types,
// nothing else. Errors: kInvalidArgument with all faults: missing fields, scores out of range.
Result<JsonObject> ReadReview(const Json& reply);
// Returns `meta` with each score replaced by the rounded mean of the valid ones; halves round up.
JsonObject WithMeanScores(JsonObject meta, std::span<const Json> reviews);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_REVIEW_H_
