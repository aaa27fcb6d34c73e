// A run of `ask` as a story: calls, their turns, what each was shown, said, ran and cost. Read from
// the journal once, for everything that shows or exports a run.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RunTale tale, ReadTale(journal, run));
//   for (const TaleTurn& turn : tale.calls.front().turns) Show(turn.reply, turn.blocks);
//
// A run that is not finished has what there is so far. Texts are as the journal has them, so they
// may hold anything: whoever shows them escapes them. Thread-safety: plain data; a function over a
// journal.

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

// A request beside the turns: one that code made, or a step of the loop ("compact", "read").
struct TaleRequest {
  std::int64_t id = 0;
  std::string purpose, model, prompt, reply;
  std::string error;  // empty: it was answered
  enum class From : std::uint8_t { kModel, kCache } from = From::kModel;
  TaleUsage usage;
  double seconds = 0;
  std::int64_t seq = 0;  // of its event in the run
  JsonObject given;      // of an imported run: the fields of its file
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

// One request of the loop and what came of it.
struct TaleTurn {
  std::int64_t turn = 0;  // 0: before the first
  std::string purpose;    // "root", "direct", "extract", "repair"
  std::string time;       // UTC, when it began
  double seconds = 0;
  std::vector<TaleMessage> prompt;
  std::vector<std::pair<std::string, std::int64_t>> sections;  // of the prompt; tokens
  std::int64_t tokens = 0;                                     // of the prompt, as counted here
  std::string reply, finish;
  std::string error;  // the request failed
  TaleUsage usage;
  std::vector<TaleBlock> blocks;
  std::vector<TaleRequest> asides;    // of the loop
  std::vector<std::string> notes;     // refusals, warnings, limits: a sentence each
  std::optional<std::string> answer;  // that was accepted in it
  JsonObject given;
};

struct TaleCall {
  std::int64_t call = 0, parent = -1;
  int depth = 0;
  std::string model, status, answer;
  std::string path, question;  // of a child: "0.c1"
  std::int64_t seq = 0;        // of the event with which it began
  std::vector<TaleTurn> turns;

  // Of its turns and of what their code asked, without children.
  TaleUsage usage() const;
  std::int64_t answered() const;  // requests that a model answered, of the same
};

struct RunTale {
  std::string run, question, status, answer, error;
  store::Event started;
  JsonObject finished;             // of run.finished; empty: there is none
  std::vector<std::string> notes;  // before the first turn
  std::vector<TaleCall> calls;     // by number; the first is the root

  double seconds = 0;
};

// Errors: those of Journal::Events and ReadBody; kUsage for a run of another command.
Result<RunTale> ReadTale(store::Journal& journal, const std::string& run);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_EXCHANGE_RUN_TALE_H_
