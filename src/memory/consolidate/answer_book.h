// A model's answers for work inside a transaction, in which no model may be called. The work asks
// the book; if an answer is missing, the transaction is undone, the model is asked outside of it,
// and the work runs again with the answer at hand.
//
//   AnswerBook answers(summarizer);
//   DOSSIER_RETURN_IF_ERROR(TransactAsking(store, "root", context, answers,
//       [&](BranchTransaction& session, AnswerBook& book) -> Status {
//         const auto summary = book.Summary({.text = text, .max_chars = 400});
//         …
//       }));
//
// Thread-safety: one owner; the work runs while TransactAsking waits.

#ifndef DOSSIER_MEMORY_CONSOLIDATE_ANSWER_BOOK_H_
#define DOSSIER_MEMORY_CONSOLIDATE_ANSWER_BOOK_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/consolidate/summarizer.h"
#include "memory/store/branch_transaction.h"
#include "memory/store/store.h"

namespace dossier::memory {

class AnswerBook {
 public:
  explicit AnswerBook(const Summarizer& summarizer) : summarizer_(summarizer) {}

  // nullopt if there is no model, if it failed, or if its answer is not there yet.
  std::optional<std::string> Summary(const SummaryRequest& request);
  std::optional<std::vector<int>> Ratings(const std::vector<RatedItem>& items);

  // Whether something was asked that has no answer yet.
  bool lacks() const { return !missing_summaries_.empty() || !missing_ratings_.empty(); }
  void Fetch();                     // asks the model for it; call it outside of transactions
  void Close() { closed_ = true; }  // what is asked from now on and has no answer gets none
  const std::vector<Notice>& warnings() const {
    return warnings_;
  }  // summary_failed, rating_failed

 private:
  void FetchSummary(const SummaryRequest& request);
  void FetchRatings(const std::vector<RatedItem>& items);

  const Summarizer& summarizer_;
  bool closed_ = false;
  std::map<SummaryRequest, std::optional<std::string>> summaries_;
  std::map<std::vector<RatedItem>, std::optional<std::vector<int>>> ratings_;
  std::vector<SummaryRequest> missing_summaries_;
  std::vector<std::vector<RatedItem>> missing_ratings_;
  std::vector<Notice> warnings_;
};

// Runs `work` in a transaction until it lacks no answer, a few times, each time from the beginning;
// the last time without a model for what is still missing.
using AskingWork = std::function<Status(BranchTransaction& session, AnswerBook& answers)>;
Status TransactAsking(Store& store, std::string_view branch, const WriteContext& context,
                      AnswerBook& answers, const AskingWork& work);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_CONSOLIDATE_ANSWER_BOOK_H_
