// A section on its way into the prompt: shared by the steps of assemble.cc and by nobody else.
//
// Thread-safety: plain data.

#ifndef DOSSIER_ASSEMBLY_FIT_PART_H_
#define DOSSIER_ASSEMBLY_FIT_PART_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/assemble.h"
#include "assembly/fit/share.h"
#include "assembly/sources/fence.h"

namespace dossier::assembly {

// What a cut left out; the text of the marker.
struct LeftOut {
  std::string_view unit;  // lines, chars, items, turns
  std::int64_t count = 0, of = 0;
};

// A part as it goes into the prompt.
struct Fitted {
  std::string text;         // with its frame
  std::vector<Turn> turns;  // instead of text
  std::int64_t tokens = 0;  // of text or turns, without joints; turns with their framing
  std::shared_ptr<const tokens::Measured> measured;  // of text, once it is
  std::optional<LeftOut> left_out;
  std::string_view form;  // of first-of: which alternative
};

enum class Outcome { kKept, kCut, kDropped, kEmpty, kAbsent };

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
  Frame frame;
  Json provenance;

  std::int64_t joint = 0;   // tokens of the blank line in front of it
  std::int64_t wanted = 0;  // tokens of `full` and its joint
  std::int64_t least = 0;   // the least grant that is worth anything, known once room is shared
  Fitted full;              // uncut but for cap_chars
  Fitted fitted;            // what goes in
  Grant grant;
  int shrunk = 0;  // rounds, after the whole as rendered was over the budget
  Outcome outcome = Outcome::kKept;
  std::string_view reason;  // of the outcome, for the report
  int turn = -1;            // index of the turn it stands in; -1: system, tools or nowhere
  std::string sha256, prefix_sha256;
  std::string marks;  // see PrefixMarks in report.h

  bool present() const { return outcome == Outcome::kKept || outcome == Outcome::kCut; }
  // Never cut and never dropped: it fits, or nothing does.
  bool fixed() const {
    return !blocks.empty() || rule->zone == Zone::kRequest || rule->zone == Zone::kTools ||
           (rule->need == LayoutSection::Need::kRequired && rule->fit == Fit::kWhole);
  }
  bool required() const { return fixed() || rule->need == LayoutSection::Need::kRequired; }
};

struct Warning {
  std::string code, section, text;
};

struct Repair {
  std::string rule, where, text;
};

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_PART_H_
