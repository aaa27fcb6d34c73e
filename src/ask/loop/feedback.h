// Renders what the model is told after its code ran.
//
//   std::string text = RenderFeedback({.blocks = ran}, style);
//
// All content from code, files or models is inside a data fence. Thread-safety: pure.

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
  enum class Echo { kNo, kYes } echo = Echo::kNo;  // print the code above each output
  std::vector<std::string> messages;               // from gates, extraction, a restarted worker
  SubcallTally subcalls;                           // since the last feedback
};

struct FeedbackStyle {
  int depth = 1;
  std::size_t output_chars = 20000;  // code points shown per block
  Cut cut = Cut::kEnd;
  enum class Share {
    kWhole,
    kLimited
  } share = Share::kLimited;        // of the context, as limited by TruncateTurn
  std::uint64_t context_chars = 0;  // code points of the context, for that share
  Observe observe = Observe::kFull;
  std::string boundary;
  sandbox::Dialect dialect = sandbox::Dialect::kPython;
};

std::string RenderFeedback(const Feedback& feedback, const FeedbackStyle& style);

// Returns the part of a block's output that RenderFeedback shows, if other blocks of its turn leave
// enough room. Output after the cut cannot support an answer.
std::string SeenOutput(const sandbox::BlockResult& result, const FeedbackStyle& style);

// Returns "Variables: rows (list), total (int)", at most `most` of them and without _*; "" if there
// are none. Type names come from code, so they are kept short and cannot break the line.
std::string VariablesLine(const std::vector<sandbox::VariableInfo>& variables, std::size_t most);

// Renders one block's error for the model: type, message, the failing line; at most 4,000
// characters.
std::string RenderError(const sandbox::BlockError& error);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_LOOP_FEEDBACK_H_
