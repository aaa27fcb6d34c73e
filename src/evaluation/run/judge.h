// Gets a model's opinion of an answer by the rubric of its question. The model is asked twice, with
// the parts of the prompt in reversed order, because models favour what they read first or last.
//
//   DOSSIER_ASSIGN_OR_RETURN(const double opinion, AskJudge(judge, asked, row.answer, cancel));
//   row.opinion = opinion;   // 0 to 1; no score: it enters no mean, no comparison and no gate
//
// Thread-safety: a function that uses the network.

#ifndef DOSSIER_EVALUATION_RUN_JUDGE_H_
#define DOSSIER_EVALUATION_RUN_JUDGE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/net/http_get.h"
#include "base/result.h"
#include "evaluation/run/proxy.h"
#include "evaluation/run/questions.h"

namespace dossier::evaluation {

inline constexpr std::string_view kJudgeScorer = "judge";

struct Judge {
  ModelUpstream model;  // its headers contain the key
  std::shared_ptr<HttpLoop> loop;
  Millis limit{120'000};  // for one call
};

// Returns the mean of both calls. Errors: kFailed if a reply does not end in a score from 0 to 10;
// those of the network; kInvalidArgument with the status if the provider refuses.
Result<double> AskJudge(const Judge& judge, const AskedTask& asked, std::string_view answer,
                        const CancelToken& cancel);

// Returns N of the last `Score: N`, scaled to 0..1; nullopt if there is none in 0..10.
std::optional<double> ReadOpinion(std::string_view reply);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_JUDGE_H_
