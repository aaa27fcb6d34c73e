// The loop between a model and its memory: reads are answered, bad replies explained, and only an
// accepted reply changes anything.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RoundsOutcome outcome,
//       RunRounds({.block = BlockNeed::kOptional},
//                 [&](const Ask& ask) { return CallModel(prompt, ask.results, ask.feedback); },
//                 [&](std::string_view payload) { return CheckPlan(payload); },
//                 [&](const ParsedReply& reply) { return Apply(store, branch, *reply.block, …);
//                 }));
//   if (outcome.failure) …            // its reason, and the reply as it came
//
// Pure control flow: it calls what it is given, one at a time, on the caller's thread.

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
// kMemoryFirst: before the call, blocks alone are asked for.
enum class FirstRound : std::uint8_t { kAnswer, kMemoryFirst };

struct RoundLimits {
  int attempts = 3;     // bad replies
  int read_rounds = 5;  // of reads, those before the call included
  BlockNeed block = BlockNeed::kOptional;
  FirstRound first = FirstRound::kAnswer;
  std::int64_t results_max_chars = 24'000;  // code points of all results in one prompt
};

// One question to the model. The caller renders the prompt anew for each.
struct Ask {
  enum class Kind : std::uint8_t { kMemoryOnly, kAnswer } kind = Kind::kAnswer;
  std::string results;   // section `Memory Read Results`; "": none
  std::string feedback;  // section `Parsing Feedback`; "": none
};

// Why a reply was no answer: missing_block, malformed_block, bad_json, missing_payload, refused,
// reads_used_up.
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
  std::optional<RoundsFailure> failure;  // then there is no answer
  std::string payload;
  ParsedReply reply;  // the accepted one
  std::vector<RoundRecord> rounds;
  int calls = 0;
  int attempts_used = 0;
  int reads_used = 0;
};

using AskFn = std::function<Result<std::string>(const Ask&)>;
// An error of any code refuses the payload; its message is told to the model.
using ValidateFn = std::function<Status(std::string_view payload)>;
// Applies `reply.block`, if there is one, and records the reply, in one transaction. Called once
// for each accepted reply and each round of reads. Returns the text of what was read
// (results_text.h).
using ApplyFn = std::function<Result<std::string>(const ParsedReply& reply)>;

// Errors: those of `ask` and `apply`.
Result<RoundsOutcome> RunRounds(const RoundLimits& limits, const AskFn& ask,
                                const ValidateFn& validate, const ApplyFn& apply);

// What a model is told about its reads.
//
//   std::string section = ResultsText(result.reads);   // <memory_results> … </memory_results>
//
// Thread-safety: pure.

// What the reads of a block gave; unset: that was not asked for.
struct ReadResults {
  std::optional<std::vector<std::pair<std::string, std::optional<std::string>>>> core;
  std::optional<std::vector<Record>> records;   // archival_get
  std::optional<std::vector<Record>> archival;  // archival_search, best first
  std::optional<std::vector<Record>> recall;    // recall_search, best first
  std::vector<std::string> errors;              // of reads that failed, a sentence each

  bool empty() const { return !core && !records && !archival && !recall && errors.empty(); }
};

std::string ResultsText(const ReadResults& results);

// `text` with `<memory_` and `</memory_` broken up, so that stored text can neither begin a block
// nor end the results.
std::string Harmless(std::string_view text);
// At most `code_points` of `text`, the last one … where something is missing.
std::string CutText(std::string_view text, std::int64_t code_points);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_ROUNDS_H_
