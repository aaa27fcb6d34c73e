// A review of the paper, as conferences ask for it, and of its figures.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Reviewed done, ReviewPaper(services, results, cancel));
//   if (done.review) Say(FindInt(*done.review, "Overall"));
//
// Files: paper/review.json, paper/figure_review.json. No answer that holds is no review, with a
// warning. Errors: those of Caller::Call; kIo.
//
// Thread-safety: called by the thread of the run alone.

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
  JsonArray figures;                 // one object a figure
  std::vector<std::string> removed;  // names of figures that left the paper
  std::vector<std::string> warnings;
};

// Reads paper/paper.tex.
Result<Reviewed> ReviewPaper(const Services& services, const RunResults& results,
                             const CancelToken& cancel);

// The 16 fields of a review in the order of the form, lists and scores in their types, nothing
// else. Errors: kInvalidArgument with all that is wrong: fields that are missing, scores out of
// range.
Result<JsonObject> ReadReview(const Json& reply);
// `meta` with each score replaced by the rounded mean of those in range; halves are rounded up.
JsonObject WithMeanScores(JsonObject meta, std::span<const Json> reviews);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_PAPER_REVIEW_H_
