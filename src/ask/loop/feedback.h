// What the model is told after its code ran.
//
//   std::string text = RenderFeedback({.blocks = ran}, style);
//
// Everything that comes from code, files or models stands inside a data fence. Thread-safety: pure.

#ifndef DOSSIER_ASK_LOOP_FEEDBACK_H_
#define DOSSIER_ASK_LOOP_FEEDBACK_H_

#include <map>
#include <string>
#include <vector>

#include "ask/engine.h"
#include "ask/reply/truncation.h"
#include "ask/subcalls/subcalls.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

struct RanBlock {
  std::string code;
  sandbox::BlockResult result;
};

struct Feedback {
  std::vector<RanBlock> blocks;
  std::size_t blocks_not_run = 0;
  enum class Echo { kNo, kYes } echo = Echo::kNo;  // head each output with its code
  std::vector<std::string> messages;               // from gates, extraction, a restarted worker
  SubcallTally subcalls;                           // since the last feedback
};

struct FeedbackStyle {
  int depth = 1;
  std::size_t output_chars = 20000;  // code points shown of one block
  Cut cut = Cut::kEnd;
  enum class Share {
    kWhole,
    kLimited
  } share = Share::kLimited;        // of the context, as TruncateTurn limits it
  std::uint64_t context_chars = 0;  // code points; what that share is a share of
  Observe observe = Observe::kFull;
  std::string boundary;
  sandbox::Dialect dialect = sandbox::Dialect::kPython;
};

std::string RenderFeedback(const Feedback& feedback, const FeedbackStyle& style);

// The part of a block's output that RenderFeedback shows of it, as far as other blocks of its turn
// leave it room: what lies behind the cut is no ground for an answer.
std::string SeenOutput(const sandbox::BlockResult& result, const FeedbackStyle& style);

// "Variables: rows (list), total (int)", at most `most` of them and without _*; "" if there are
// none. Code chooses the names of its types: nothing of them can break the line or get long.
std::string VariablesLine(const std::vector<sandbox::VariableInfo>& variables, std::size_t most);

// One block's error as the model sees it: type, message, the failing line; at most 4,000
// characters.
std::string RenderError(const sandbox::BlockError& error);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_FEEDBACK_H_
