// The vote among independent attempts of one call.
//
//   Ballot ballot(/*wanted=*/3, question);
//   if (auto decided = ballot.Count(offer, printed, Ballot::Chance::kMore)) return *decided;
//   StartAfresh();                                     // another attempt is wanted
//
// Two attempts that agree decide the vote, unless both are doubtful (Offer::doubt) and a third is
// not: models also agree on names that they invented. Without agreement the first answer without
// doubts wins, else the first answer. Thread-safety: one owner.

#ifndef DOSSIER_ASK_POLICY_BALLOT_H_
#define DOSSIER_ASK_POLICY_BALLOT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/policy/offer.h"
#include "ask/policy/votes.h"

namespace dossier::ask {

class Ballot {
 public:
  enum class Chance { kMore, kLast };  // whether another attempt is still possible
  enum class End { kOpen, kAgreed, kDisagreed, kCutShort };

  // `wanted` is the maximum number of attempts; 1: the first answer counts.
  Ballot(int wanted, std::string question) : wanted_(wanted), question_(std::move(question)) {}

  // Returns the offer that decides, or none if another attempt is wanted. `printed` is what the
  // code of this attempt printed.
  std::optional<Offer> Count(Offer offer, std::string_view printed, Chance chance);

  bool empty() const { return candidates_.empty(); }
  // The number of counted attempts, and how many of them gave the deciding answer.
  std::size_t size() const { return counted_; }
  int agreeing() const { return end_ == End::kAgreed && counted_ > 1 ? 2 : 1; }
  End end() const { return end_; }
  // Ends the vote with the answers so far; there must be at least one.
  Offer CutShort();

 private:
  struct Candidate {
    Offer offer;
    Vote vote;
  };
  bool AnySound() const;
  Offer Best() const;

  const int wanted_;
  const std::string question_;
  std::vector<Candidate> candidates_;
  std::size_t counted_ = 0;
  End end_ = End::kOpen;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_BALLOT_H_
