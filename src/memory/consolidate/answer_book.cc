#include "memory/consolidate/answer_book.h"

#include <algorithm>
#include <utility>

namespace dossier::memory {
namespace {

constexpr int kMostTries = 4;  // of a transaction; in the last one no model is asked

bool AreRatings(const std::vector<int>& ratings, std::size_t count) {
  return ratings.size() == count &&
         std::ranges::all_of(ratings, [](int rating) { return rating >= 1 && rating <= 5; });
}

}  // namespace

std::optional<std::string> AnswerBook::Summary(const SummaryRequest& request) {
  if (!summarizer_.summarize) return std::nullopt;
  if (const auto found = summaries_.find(request); found != summaries_.end()) return found->second;
  if (!closed_) missing_summaries_.push_back(request);
  return std::nullopt;
}

std::optional<std::vector<int>> AnswerBook::Ratings(const std::vector<RatedItem>& items) {
  if (!summarizer_.rate) return std::nullopt;
  if (const auto found = ratings_.find(items); found != ratings_.end()) return found->second;
  if (!closed_) missing_ratings_.push_back(items);
  return std::nullopt;
}

void AnswerBook::Fetch() {
  for (const SummaryRequest& request : std::exchange(missing_summaries_, {})) FetchSummary(request);
  for (const auto& items : std::exchange(missing_ratings_, {})) FetchRatings(items);
}

void AnswerBook::FetchSummary(const SummaryRequest& request) {
  if (summaries_.contains(request)) return;
  Result<std::string> summary = summarizer_.summarize(request);
  if (summary && !summary->empty()) {
    summaries_[request] = *std::move(summary);
    return;
  }
  summaries_[request] = std::nullopt;
  warnings_.push_back({"summary_failed",
                       fmt::format("the model gave no summary, the texts stand for themselves: {}",
                                   summary ? "it was empty" : summary.error().message)});
}

void AnswerBook::FetchRatings(const std::vector<RatedItem>& items) {
  if (ratings_.contains(items)) return;
  Result<std::vector<int>> ratings = summarizer_.rate(items);
  if (ratings && AreRatings(*ratings, items.size())) {
    ratings_[items] = *std::move(ratings);
    return;
  }
  ratings_[items] = std::nullopt;
  warnings_.push_back(
      {"rating_failed",
       fmt::format("the model gave no ratings, all items count as 3: {}",
                   ratings ? "not a number from 1 to 5 for each item" : ratings.error().message)});
}

Status TransactAsking(Store& store, std::string_view branch, const WriteContext& context,
                      AnswerBook& answers, const AskingWork& work) {
  for (int tries = 1;; ++tries) {
    if (tries == kMostTries) answers.Close();
    Status done = store.Transact(branch, context, [&](BranchTransaction& session) -> Status {
      DOSSIER_RETURN_IF_ERROR(work(session, answers));
      if (answers.lacks()) return MakeError(ErrorCode::kCancelled, "a model's answers are missing");
      return {};
    });
    const bool ask = !done && done.error().code == ErrorCode::kCancelled && answers.lacks();
    if (!ask) return done;
    answers.Fetch();
  }
}

JsonArray NoticesJson(const std::vector<Notice>& notices) {
  JsonArray list;
  for (const Notice& notice : notices) {
    list.push_back(JsonObject{{"name", notice.name}, {"text", notice.text}});
  }
  return list;
}

}  // namespace dossier::memory
