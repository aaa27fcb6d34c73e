// A run of `ask` as a story: calls and their turns, with what each was shown, said, ran and cost.
// Read from the journal once, for everything that shows or exports a run.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RunTale tale, ReadTale(journal, run));
//   for (const TaleTurn& turn : tale.calls.front().turns) Show(turn.reply, turn.blocks);
//
// An unfinished run has what exists so far. Texts are as in the journal and may contain anything,
// so whoever shows them must escape them. Thread-safety: plain data; a function over a journal.

#ifndef DOSSIER_ASK_EXCHANGE_RUN_TALE_H_
#define DOSSIER_ASK_EXCHANGE_RUN_TALE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "store/journal.h"

namespace dossier::ask {

struct TaleUsage {
  std::int64_t input = 0, output = 0, cached = 0;  // tokens
  std::optional<std::int64_t> nano_usd;            // unset: the price is unknown

  void Add(const TaleUsage& more);
};

struct TaleMessage {
  std::string role, text;
};

// A request besides the turns: one made by code, or a step of the loop ("compact", "read").
struct TaleRequest {
  std::int64_t id = 0;
  std::string purpose, model, prompt, reply;
  std::string error;  // empty: it was answered
  enum class From : std::uint8_t { kModel, kCache } from = From::kModel;
  TaleUsage usage;
  double seconds = 0;
  std::int64_t seq = 0;  // of its event in the run
  JsonObject given;      // for an imported run: the fields in its file
};

struct TaleBlock {
  std::int64_t number = 0;
  std::string code, status, output, error;  // status: "ok", …; "": it did not end
  double seconds = 0;
  JsonArray variables;  // {name, type, size, preview}
  std::vector<TaleRequest> requests;
  std::vector<std::int64_t> children;  // calls that it started
  JsonObject given;
};

// One request of the loop and its result.
struct TaleTurn {
  std::int64_t turn = 0;  // 0: before the first turn
  std::string purpose;    // "root", "direct", "extract", "repair"
  std::string time;       // start time, UTC
  double seconds = 0;
  std::vector<TaleMessage> prompt;
  std::vector<std::pair<std::string, std::int64_t>> sections;  // of the prompt, with tokens
  std::int64_t tokens = 0;                                     // of the prompt, as counted here
  std::string reply, finish;
  std::string error;  // set if the request failed
  TaleUsage usage;
  std::vector<TaleBlock> blocks;
  std::vector<TaleRequest> asides;    // of the loop
  std::vector<std::string> notes;     // refusals, warnings, limits: one sentence each
  std::optional<std::string> answer;  // the answer that was accepted in it
  JsonObject given;
};

struct TaleCall {
  std::int64_t call = 0, parent = -1;
  int depth = 0;
  std::string model, status, answer;
  std::string path, question;  // path of a child: "0.c1"
  std::int64_t seq = 0;        // of its first event
  std::vector<TaleTurn> turns;

  // Returns the usage of its turns and of its code's requests, without children.
  TaleUsage usage() const;
  std::int64_t answered() const;  // number of those requests that a model answered
};

struct RunTale {
  std::string run, question, status, answer, error;
  store::Event started;
  JsonObject finished;             // of run.finished; empty: there is none
  std::vector<std::string> notes;  // from before the first turn
  std::vector<TaleCall> calls;     // by number; the first is the root

  double seconds = 0;
};

// Errors: those of Journal::Events and ReadBody; kUsage for a run of another command.
Result<RunTale> ReadTale(store::Journal& journal, const std::string& run);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_EXCHANGE_RUN_TALE_H_
