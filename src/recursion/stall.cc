#include "recursion/stall.h"

#include <algorithm>

#include "recursion/extraction.h"

namespace dossier::recursion {

bool StallWatch::Note(const Reply& reply) {
  without_code_ = reply.has_code ? 0 : without_code_ + 1;
  short_ = reply.characters > kShort ? 0 : short_ + 1;
  return without_code_ >= kReplies || short_ >= kReplies;
}

void FailedBlocks::Add(std::string_view code) {
  keys_.push_back(CodeKey(code));
  if (keys_.size() > kRemembered) keys_.pop_front();
}

bool FailedBlocks::Holds(std::string_view code) const {
  return std::ranges::find(keys_, CodeKey(code)) != keys_.end();
}

}  // namespace dossier::recursion
