// Strips the parts of a model's reply that are not for the user: thinking and end tokens.
//
//   CleanReply reply = StripThinking("<think>Let me see.</think>FINAL(42)<|im_end|>");
//   // reply.text == "FINAL(42)", reply.thinking == "Let me see."
//
// Thread-safety: pure functions. Linear in the length of the reply.

#ifndef DOSSIER_ASK_REPLY_REPLY_TEXT_H_
#define DOSSIER_ASK_REPLY_REPLY_TEXT_H_

#include <string>
#include <string_view>

namespace dossier::ask {

// Why generation ended. kStop: the model's own end or a stop sequence; kLength: the token limit.
enum class ReplyFinish { kStop, kLength, kOther };

// The slips that are tolerated: those of all models, or also those of models with 1 to 3 billion
// parameters (small-models.md 11).
enum class ModelSize { kLarge, kSmall };

struct CleanReply {
  std::string text;                // the rest; valid UTF-8 if the reply was
  std::string thinking;            // the removed parts without tags, joined by line ends
  bool unclosed_thinking = false;  // a part has no closing tag: it extends to the reply's end
};

// Removes <think>…</think>, <thinking>…</thinking> (any case), everything before a closing tag
// without an opening one, and end tokens such as <|im_end|>. Tags in quotes and pairs inside a code
// fence are text and are kept.
CleanReply StripThinking(std::string_view reply);

// Returns true if the last `times` non-empty lines are equal: a small model that is stuck
// (small-models.md 14). For text as it arrives, at a line end.
bool RepeatsLine(std::string_view text, int times = 5);

// Returns the text of a reply without its fence lines: small models put a final answer into a
// fence, where it counts as if outside, since it is not code.
std::string WithoutFenceLines(std::string_view reply);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_REPLY_TEXT_H_
