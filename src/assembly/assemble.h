// Assembles messages and a report from sections. Every prompt of the program is made here.
//
//   DOSSIER_ASSIGN_OR_RETURN(Layout layout, FindLayout("recursion.small", folders));
//   std::vector<Section> sections = {{.name = "question", .content = "How many?"}};
//   DOSSIER_ASSIGN_OR_RETURN(Assembled prompt,
//                            Assemble(layout, sections, budget, capability, *counter, options));
//   Send(prompt.messages);
//
// Pure: no clock, file, network or randomness; the same input gives the same bytes.
// Thread-safety: pure functions over plain data.

#ifndef DOSSIER_ASSEMBLY_ASSEMBLE_H_
#define DOSSIER_ASSEMBLY_ASSEMBLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assembly/layout/capability.h"
#include "assembly/layout/layout.h"
#include "assembly/layout/messages.h"
#include "base/json/json.h"
#include "base/result.h"
#include "tokens/counter/counter.h"

namespace dossier::assembly {

// Content for one section that the layout names. A section given as turns (a transcript) keeps its
// roles; its units are cut as a whole.
struct Section {
  std::string name;
  std::string content;             // text; empty means an empty section
  std::vector<std::string> items;  // instead of content, for `fit: items`
  std::vector<Turn> turns;         // instead of content, for history
  Json provenance;                 // {kind, reference, bytes, sha256, …}; goes into the report
  Json data;  // instead of content: rendered as Markdown, JSON or YAML; null: not given
  // Instead of content: texts and images that are passed on unchanged, one block each.
  std::vector<Block> parts;
  // Notice of what the source left out before assembly: "[left out: 200 of 300 lines of log]". It
  // is added at the end of a text and to the report's warnings.
  std::string cut_before;
  std::vector<ToolSpec> tools;          // for a section in zone tools
  std::vector<double> item_priorities;  // of `items`, same order, 0 to 1; missing: 0.5
  // For `fit: first-of`: shorter forms of `content` by name ("outline"); "full" is `content`.
  std::map<std::string, std::string> alternatives;
};

struct Budget {
  std::optional<std::int64_t> tokens;          // overrides the layout
  std::optional<double> window_share;          // overrides the layout, `budget.tokens` included
  std::optional<std::int64_t> reserve_output;  // overrides the layout
};

struct AssembleOptions {
  std::map<std::string, std::string> variables;  // for templates and `when`
  std::string boundary;                          // 32 hex digits, from MakeBoundary
  // The seed that `boundary` was made from, if known: a section that contains the boundary then
  // uses MakeBoundary(seed, 1), and so on. Without it: as FenceData.
  std::optional<std::uint64_t> boundary_seed;
  std::string model;  // its name, for the report
  std::string today;  // YYYY-MM-DD; model data older than 180 days then causes a warning
  Json previous;      // the report of the previous call, to compare with; null if none
  // For values that nothing uses: drivers give one set of values to many layouts, users do not.
  enum class Unused { kAllowed, kWarn } unused_values = Unused::kAllowed;
  // The advice for a prompt that does not fit; it names only what the command accepts.
  enum class MoreRoom { kBudgetFlag, kLargerModel } more_room = MoreRoom::kBudgetFlag;
};

struct Assembled {
  Messages messages;
  Json report;              // docs/schemas/assembly-report.schema.json
  std::int64_t tokens = 0;  // of the whole request, including framing
  bool tokens_exact = false;
  std::int64_t headroom = 0;  // tokens left in the budget
  // kYes: the first token of one call is awaited before others with this prefix are sent.
  LayoutCache::WarmFirst warm_first = LayoutCache::WarmFirst::kNo;
};

// Errors: kTooLong (with sizes), kUsage (no user text), kConfig (layout, template), kNotFound (a
// required section without content).
Result<Assembled> Assemble(const Layout& layout, std::span<const Section> sections,
                           const Budget& budget, const Capability& capability,
                           const tokens::Counter& counter, const AssembleOptions& options);

// Checks that a model takes images. The cost of an image must be known, or no budget could hold.
// Errors: kConfig, naming what its entry lacks. `model` is its name, or "" if it is not known.
Status CheckTakesImages(const Capability& capability, std::string_view model);

// Returns the `draw`-th boundary of a seed: the first 32 hex digits of the SHA-256 of
// "dossier-seed:SEED" (draw 0) or "dossier-seed:SEED#DRAW".
std::string MakeBoundary(std::uint64_t seed, int draw = 0);

// Returns `text` in a fence for untrusted data: "TITLE:\n<<<DATA ID\nBODY\nDATA ID>>>". If the text
// contains `boundary`, the next draws are tried: the first 32 hex digits of the SHA-256 of
// "BOUNDARY#1", "BOUNDARY#2", … Line ends at the end of `text` are removed.
std::string FenceData(std::string_view title, std::string_view text, std::string_view boundary);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_ASSEMBLE_H_
