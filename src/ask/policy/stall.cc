#include "ask/policy/stall.h"

#include <algorithm>

#include "ask/reply/extraction.h"

namespace dossier::ask {

std::string_view StallWatch::Note(const Turn& turn) {
  nothing_ran_ = turn.ran == Ran::kBlocks ? 0 : nothing_ran_ + 1;
  same_ = turn.ran == Ran::kBlocks && turn.output == output_ ? same_ + 1 : 1;
  output_ = turn.output;
  if (nothing_ran_ >= kReplies) return "no code ran in three replies in a row";
  if (turn.ran == Ran::kBlocks && same_ >= kReplies) return "three outputs in a row were the same";
  return {};
}

void FailedBlocks::Add(std::string_view code) {
  keys_.push_back(CodeKey(code));
  if (keys_.size() > kRemembered) keys_.pop_front();
}

bool FailedBlocks::Holds(std::string_view code) const {
  return std::ranges::find(keys_, CodeKey(code)) != keys_.end();
}

}  // namespace dossier::ask
