// A section on its way into the prompt: shared by the steps of assemble.cc and by nobody else.
//
// Thread-safety: plain data.

#ifndef DOSSIER_ASSEMBLY_FIT_PART_H_
#define DOSSIER_ASSEMBLY_FIT_PART_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/assemble.h"
#include "assembly/layout/messages.h"
#include "assembly/sources/fence.h"
#include "tokens/counter/counter.h"

namespace dossier::assembly {

// Who gets how many tokens: the arithmetic of budgets, apart from any text.
//
//   std::vector<BudgetDemand> demands = {{.wanted = 9000, .weight = 3, .priority = 0.6}, …};
//   std::vector<Grant> grants = ShareOut(10'000, demands);
//
// Thread-safety: pure functions.

// What one section asks for, in tokens. Ties go to the one that stands first.
struct BudgetDemand {
  std::int64_t wanted = 0;  // its full size, or its cap if that is less
  std::int64_t floor = 0, weight = 0;
  double priority = 0.5;
  std::int64_t least = 1;  // a smaller grant is none
  int cascade_place = -1;  // index in budget.cascade; -1: not named there
};

struct Grant {
  std::int64_t floor = 0, weight = 0, cascade = 0;
  bool dropped = false;  // got less than `least`; holds nothing

  std::int64_t total() const { return floor + weight + cascade; }
};

// Shares `room` tokens: floors by priority, the rest by weight, what is left by the cascade; then,
// lowest priority first, whoever has less than its least gives all back to the cascade.
std::vector<Grant> ShareOut(std::int64_t room, std::span<const BudgetDemand> demands);

// Indexes of `demands` in cascade order: those that budget.cascade names, then by priority.
std::vector<std::size_t> CascadeOrder(std::span<const BudgetDemand> demands);

// What a cut left out; the text of the marker.
struct CutCount {
  std::string_view unit;  // lines, chars, items, turns
  std::int64_t count = 0, of = 0;
};

// A part as it goes into the prompt.
struct Fitted {
  std::string text;         // with its frame
  std::vector<Turn> turns;  // instead of text
  std::int64_t tokens = 0;  // of text or turns, without joints; turns with their framing
  std::shared_ptr<const tokens::Measured> measured;  // of text, once it is
  std::optional<CutCount> left_out;
  std::string_view form;  // of first-of: which alternative
};

enum class PartOutcome { kKept, kCut, kDropped, kEmpty, kAbsent };

struct Part {
  const LayoutSection* rule = nullptr;
  std::size_t place = 0;  // in the layout

  // Content, clean; at most one of these is used.
  std::string body;
  std::vector<std::string> items;
  std::vector<double> item_priorities;
  std::vector<Turn> turns;
  std::vector<Block> blocks;  // typed parts, never cut
  std::vector<ToolSpec> tools;
  std::string cut_before;  // what the source left out, as a marker says it
  std::map<std::string, std::string> alternatives;
  FenceFrame frame;
  Json provenance;

  std::int64_t joint = 0;   // tokens of the blank line in front of it
  std::int64_t wanted = 0;  // tokens of `full` and its joint
  std::int64_t least = 0;   // the least grant that is worth anything, known once room is shared
  Fitted full;              // uncut but for cap_chars
  Fitted fitted;            // what goes in
  Grant grant;
  int shrunk = 0;  // rounds, after the whole as rendered was over the budget
  PartOutcome outcome = PartOutcome::kKept;
  std::string_view reason;  // of the outcome, for the report
  int turn = -1;            // index of the turn it stands in; -1: system, tools or nowhere
  std::string sha256, prefix_sha256;
  std::string marks;  // see PrefixMarks in report.h

  bool present() const { return outcome == PartOutcome::kKept || outcome == PartOutcome::kCut; }
  // Never cut and never dropped: it fits, or nothing does.
  bool fixed() const {
    return !blocks.empty() || rule->zone == Zone::kRequest || rule->zone == Zone::kTools ||
           (rule->need == LayoutSection::Need::kRequired && rule->fit == Fit::kWhole);
  }
  bool required() const { return fixed() || rule->need == LayoutSection::Need::kRequired; }
};

struct AssemblyWarning {
  std::string code, section, text;
};

struct Repair {
  std::string rule, where, text;
};

// Counting turns and whole requests.
//
// Thread-safety: pure functions.

// A request as it will be sent, counted message by message: never a sum of its sections.
struct Tally {
  std::int64_t used = 0;     // tokens of all texts
  std::int64_t framing = 0;  // tokens the provider adds per message and request

  std::int64_t total() const { return used + framing; }
};

Tally CountRequest(const Messages& messages, const Capability& capability,
                   const tokens::Counter& counter);

// Of one message: texts as they are joined, calls, results, thinking and images; without framing.
// An image costs `image_tokens`. Texts that were measured are not counted again.
std::int64_t CountBlocks(std::span<const Block> blocks, const tokens::Counter& counter,
                         std::int64_t image_tokens);
std::int64_t CountTools(const std::vector<ToolSpec>& tools, const tokens::Counter& counter);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_PART_H_
