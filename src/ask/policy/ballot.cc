#include "ask/policy/ballot.h"

#include <algorithm>

namespace dossier::ask {
namespace {

constexpr std::size_t kLongAnswer = 400;  // bytes

bool IsSound(const Offer& offer) { return offer.doubt.empty(); }

}  // namespace

std::optional<Offer> Ballot::Count(Offer offer, std::string_view printed, Chance chance) {
  ++counted_;
  if (wanted_ <= 1 || (chance == Chance::kLast && candidates_.empty())) {
    end_ = End::kAgreed;
    return offer;
  }
  Candidate candidate{std::move(offer), {}};
  candidate.vote = MakeVote(candidate.offer.text, printed, question_);
  const auto other = std::ranges::find_if(candidates_, [&](const Candidate& earlier) {
    // A reading confirms a short answer, not the whole text that contains it.
    const bool whole_text =
        earlier.offer.source == Source::kDirect && candidate.offer.text.size() > kLongAnswer;
    return !whole_text && Agree(earlier.vote, candidate.vote);
  });
  if (other != candidates_.end()) {
    // A plain reading has a vote but no value: if code agrees, code's own answer is given.
    const bool first = IsSound(other->offer) && other->offer.source != Source::kDirect;
    const Offer& agreed = first || !IsSound(candidate.offer) ? other->offer : candidate.offer;
    if (IsSound(agreed) || !AnySound()) {
      end_ = End::kAgreed;
      return agreed;
    }
  }
  candidates_.push_back(std::move(candidate));
  if (static_cast<int>(candidates_.size()) >= wanted_) {
    end_ = End::kDisagreed;
    return Best();
  }
  if (chance == Chance::kLast) return CutShort();
  return std::nullopt;
}

Offer Ballot::CutShort() {
  end_ = End::kCutShort;
  return Best();
}

bool Ballot::AnySound() const {
  return std::ranges::any_of(candidates_, [](const Candidate& c) { return IsSound(c.offer); });
}

Offer Ballot::Best() const {
  const auto sound =
      std::ranges::find_if(candidates_, [](const Candidate& c) { return IsSound(c.offer); });
  return sound == candidates_.end() ? candidates_.front().offer : sound->offer;
}

}  // namespace dossier::ask
