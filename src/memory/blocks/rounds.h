// The loop between a model and its memory: it answers reads and explains bad replies, and only an
// accepted reply changes anything.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RoundsOutcome outcome,
//       RunRounds({.block = BlockNeed::kOptional},
//                 [&](const Ask& ask) { return CallModel(prompt, ask.results, ask.feedback); },
//                 [&](std::string_view payload) { return CheckPlan(payload); },
//                 [&](const ParsedReply& reply) { return ApplyAndRecord(reply); }));
//   if (outcome.failure) …            // its reason, and the reply as it came
//
// Pure control flow: it calls the given functions one at a time on the caller's thread.

#ifndef DOSSIER_MEMORY_BLOCKS_ROUNDS_H_
#define DOSSIER_MEMORY_BLOCKS_ROUNDS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "memory/blocks/reply.h"
#include "memory/records/types.h"

namespace dossier::memory {

enum class BlockNeed : std::uint8_t { kOptional, kRequired };
// kMemoryFirst: before the real call, asks the model for memory blocks only.
enum class FirstRound : std::uint8_t { kAnswer, kMemoryFirst };

struct RoundLimits {
  int attempts = 3;     // bad replies allowed
  int read_rounds = 5;  // rounds of reads, including those before the call
  BlockNeed block = BlockNeed::kOptional;
  FirstRound first = FirstRound::kAnswer;
  std::int64_t results_max_chars = 24'000;  // code points of all results in one prompt
};

// One question to the model. The caller renders the prompt again for each question.
struct Ask {
  enum class Kind : std::uint8_t { kMemoryOnly, kAnswer } kind = Kind::kAnswer;
  std::string results;   // section `Memory Read Results`; "": none
  std::string feedback;  // section `Parsing Feedback`; "": none
};

// One reply. `outcome` gives the reason if it was no answer: missing_block, malformed_block,
// bad_json, missing_payload, refused, reads_used_up.
struct RoundRecord {
  Ask::Kind kind = Ask::Kind::kAnswer;
  std::string outcome;  // "accepted", "read", "memory", or a reason
  std::string detail;
};

struct RoundsFailure {
  std::string reason;
  std::string detail;
  std::string reply;  // the last one, byte for byte
};

struct RoundsOutcome {
  std::optional<RoundsFailure> failure;  // if set, there is no answer
  std::string payload;
  ParsedReply reply;  // the accepted one
  std::vector<RoundRecord> rounds;
  int calls = 0;
  int attempts_used = 0;
  int reads_used = 0;
};

using AskFn = std::function<Result<std::string>(const Ask&)>;
// An error of any code rejects the payload; the model is told its message.
using ValidateFn = std::function<Status(std::string_view payload)>;
// Applies `reply.block`, if there is one, and records the reply, in one transaction. Called once
// for each accepted reply and each round of reads. Returns the text of what was read (ResultsText).
using ApplyFn = std::function<Result<std::string>(const ParsedReply& reply)>;

// Errors: those of `ask` and `apply`.
Result<RoundsOutcome> RunRounds(const RoundLimits& limits, const AskFn& ask,
                                const ValidateFn& validate, const ApplyFn& apply);

// Formats the results of reads for the model.
//
//   std::string section = ResultsText(result.reads);   // <memory_results> … </memory_results>
//
// Thread-safety: pure.

// The results of a block's reads; an unset member was not requested.
struct ReadResults {
  std::optional<std::vector<std::pair<std::string, std::optional<std::string>>>> core;
  std::optional<std::vector<Record>> records;   // archival_get
  std::optional<std::vector<Record>> archival;  // archival_search, best first
  std::optional<std::vector<Record>> recall;    // recall_search, best first
  std::vector<std::string> errors;              // one sentence for each read that failed

  bool empty() const { return !core && !records && !archival && !recall && errors.empty(); }
};

std::string ResultsText(const ReadResults& results);

// Returns `text` with `<memory_` and `</memory_` broken up, so that stored text can neither begin a
// block nor end the results.
std::string Harmless(std::string_view text);
// Returns at most `code_points` code points of `text`; the last one is … if text is missing.
std::string CutText(std::string_view text, std::int64_t code_points);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_ROUNDS_H_
