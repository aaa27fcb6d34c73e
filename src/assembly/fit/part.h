// A section on its way into the prompt. Only the steps of assemble.cc use it.
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

// Shares the token budget among sections: the arithmetic of budgets, without any text.
//
//   std::vector<BudgetDemand> demands = {{.wanted = 9000, .weight = 3, .priority = 0.6}, …};
//   std::vector<Grant> grants = ShareOut(10'000, demands);
//
// Thread-safety: pure functions.

// The demand of one section, in tokens. Ties go to the one that comes first.
struct BudgetDemand {
  std::int64_t wanted = 0;  // its full size, or its cap if that is less
  std::int64_t floor = 0, weight = 0;
  double priority = 0.5;
  std::int64_t least = 1;  // a smaller grant is no use
  int cascade_place = -1;  // index in budget.cascade; -1: not named there
};

struct Grant {
  std::int64_t floor = 0, weight = 0, cascade = 0;
  bool dropped = false;  // got less than `least`; gets nothing

  std::int64_t total() const { return floor + weight + cascade; }
};

// Shares `room` tokens: floors by priority, the rest by weight, the remainder by the cascade. Then,
// lowest priority first, each demand that got less than its least returns all of it to the cascade.
std::vector<Grant> ShareOut(std::int64_t room, std::span<const BudgetDemand> demands);

// Returns indexes of `demands` in cascade order: those that budget.cascade names, then by priority.
std::vector<std::size_t> CascadeOrder(std::span<const BudgetDemand> demands);

// The size of what a cut left out, for the text of the marker.
struct CutCount {
  std::string_view unit;  // lines, chars, items, turns
  std::int64_t count = 0, of = 0;
};

// A part in the form in which it goes into the prompt.
struct Fitted {
  std::string text;         // including its frame
  std::vector<Turn> turns;  // instead of text
  std::int64_t tokens = 0;  // of text or turns, without joints; turns include their framing
  std::shared_ptr<const tokens::Measured> measured;  // of text, once measured
  std::optional<CutCount> left_out;
  std::string_view form;  // for first-of: the chosen alternative
};

enum class PartOutcome { kKept, kCut, kDropped, kEmpty, kAbsent };

struct Part {
  const LayoutSection* rule = nullptr;
  std::size_t place = 0;  // in the layout

  // Cleaned content; at most one of these is used.
  std::string body;
  std::vector<std::string> items;
  std::vector<double> item_priorities;
  std::vector<Turn> turns;
  std::vector<Block> blocks;  // typed parts, which are never cut
  std::vector<ToolSpec> tools;
  std::string cut_before;  // what the source left out, worded as a marker
  std::map<std::string, std::string> alternatives;
  FenceFrame frame;
  Json provenance;

  std::int64_t joint = 0;   // tokens of the blank line before it
  std::int64_t wanted = 0;  // tokens of `full` and its joint
  std::int64_t least = 0;   // the smallest useful grant, known once room is shared
  Fitted full;              // uncut except for cap_chars
  Fitted fitted;            // the form that is sent
  Grant grant;
  int shrunk = 0;  // rounds of shrinking because the rendered whole exceeded the budget
  PartOutcome outcome = PartOutcome::kKept;
  std::string_view reason;  // reason for the outcome, for the report
  int turn = -1;            // index of the turn that contains it; -1: system, tools or nowhere
  std::string sha256, prefix_sha256;
  std::string marks;  // see PrefixMarks in report.h

  bool present() const { return outcome == PartOutcome::kKept || outcome == PartOutcome::kCut; }
  // Fixed parts are never cut or dropped: if one does not fit, the prompt fails.
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

// Counts turns and whole requests.
//
// Thread-safety: pure functions.

// Token count of a request as it will be sent, counted message by message; never a sum of sections.
struct Tally {
  std::int64_t used = 0;     // tokens of all texts
  std::int64_t framing = 0;  // tokens the provider adds per message and request

  std::int64_t total() const { return used + framing; }
};

Tally CountRequest(const Messages& messages, const Capability& capability,
                   const tokens::Counter& counter);

// Counts one message: joined texts, calls, results, thinking and images, without framing. An image
// costs `image_tokens`. Texts that were already measured are not counted again.
std::int64_t CountBlocks(std::span<const Block> blocks, const tokens::Counter& counter,
                         std::int64_t image_tokens);
std::int64_t CountTools(const std::vector<ToolSpec>& tools, const tokens::Counter& counter);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_PART_H_
