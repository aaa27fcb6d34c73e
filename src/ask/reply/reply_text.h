// A model's reply without what is not meant for us: thinking and end tokens.
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

// Why generation ended. kStop is the model's own end and a stop sequence; kLength the token limit.
enum class ReplyFinish { kStop, kLength, kOther };

// Which tolerances suit the model: those of all, or those of models with 1 to 3 billion parameters
// (small-models.md 11) on top.
enum class ModelSize { kLarge, kSmall };

struct CleanReply {
  std::string text;      // what remains; valid UTF-8 if the reply was
  std::string thinking;  // what was cut, without its tags; several parts are joined by line ends
  bool unclosed_thinking = false;  // a part was never closed: it runs to the end of the reply
};

// Cuts <think>…</think>, <thinking>…</thinking> (any case), everything before a closing tag that no
// opening one precedes, and end tokens such as <|im_end|>. Tags in quotes and pairs inside a code
// fence are text and stay.
CleanReply StripThinking(std::string_view reply);

// Whether the last `times` lines with any text are the same one: a small model that is stuck
// (small-models.md 14). Meant for text as it arrives, at a line end.
bool RepeatsLine(std::string_view text, int times = 5);

// The text of a reply without its fence lines: small models put a final into a fence, and as it is
// no code it counts like one outside.
std::string WithoutFenceLines(std::string_view reply);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_REPLY_TEXT_H_
