// Reports as JSON what went into a prompt and why (docs/schemas/assembly-report.schema.json).
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASSEMBLY_FIT_REPORT_H_
#define DOSSIER_ASSEMBLY_FIT_REPORT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/fit/arrange.h"
#include "assembly/fit/part.h"
#include "base/json/json.h"
#include "tokens/counter/counter.h"

namespace dossier::assembly {

// Decides where a provider is asked to cache the prefix of a prompt.
//
//   const CachePlan plan = PlanCache(parts, layout.cache, capability, counter, &messages);
//
// Only providers with explicit breakpoints get any. The decision depends on data (CacheRules); the
// model client of the provider writes the fields. Thread-safety: pure function of its arguments.

struct CachePoint {
  std::string_view after;          // system, stable, history, newest, step
  std::int64_t prefix_tokens = 0;  // of everything before the point, including framing
  std::string ttl;                 // lifetime asked for; empty if not placed
  std::string_view why;            // below-minimum, no-slot; empty if placed
};

struct CachePlan {
  std::vector<CachePoint> points;  // in prompt order
  std::vector<AssemblyWarning> warnings;
};

// Sets Block::cache on the last block before each chosen point.
CachePlan PlanCache(std::span<const Part> parts, const LayoutCache& wanted,
                    const Capability& capability, const tokens::Counter& counter,
                    Messages* messages);

std::string_view CacheModeName(CacheRules::Mode mode);  // "explicit"

// Compares two calls of one layout: where their prompts diverge, and what that costs.
//
//   const Comparison difference = Compare(previous_report, report);
//   if (difference.found) Warn("{} changed at byte {}", difference.section, difference.byte);
//
// Thread-safety: pure functions.

struct Comparison {
  bool found = false;   // false: what they share is the same, byte for byte
  std::string section;  // the first section that differs
  // Bytes of the section that are certainly equal: exact if the section differs at its start or
  // end, else a multiple of 256 within its first 4,096 bytes, and of 4,096 after them.
  std::int64_t byte = 0;
  std::int64_t common_tokens = 0;  // of the shared prefix, without framing
  std::int64_t tokens_lost = 0;    // tokens of `before` after the prefix, up to the end of its
                                   // history
};

// Both are reports of schema dossier.assembly/1; a field that one lacks counts as different.
Comparison Compare(const Json& before, const Json& after);

// Returns marks for the report: 8 hex digits of the SHA-256 of the first 256, 512, … 4,096, 8,192,
// … bytes, so that Compare can find a place without the text. `sha256` gets the hash of the whole.
std::string PrefixMarks(std::string_view bytes, std::string* sha256);

// The steps of the budget calculation, in tokens.
struct BudgetNumbers {
  std::int64_t limit = 0;      // window less the reserve for the reply
  std::int64_t want = 0;       // what the layout or the caller asked for
  std::int64_t budget = 0;     // the smaller of the two: B
  std::int64_t allowance = 0;  // B without the tokenizer's margin, for framing and text
};

struct ReportInput {
  const Layout& layout;
  const AssembleOptions& options;
  const Capability& capability;
  const tokens::Counter& counter;
  const BudgetNumbers& budget;
  const Tally& tally;
  const Arranged& arranged;
  const CachePlan& cache;
  const std::vector<AssemblyWarning>& warnings;
};

// Makes the report, and fills in each part's hashes and turn.
Json MakeReport(const ReportInput& input, std::vector<Part>* parts);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_REPORT_H_
