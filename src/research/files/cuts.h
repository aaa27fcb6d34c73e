// Cuts long texts for prompts and events. Each cut says how much was removed; the log keeps the
// whole text.
//
//   node.term_out = CutNodeOutput(output);                  // head, a note, tail
//   Json summary = CutTail(result.err, kCommandSummary);    // its last lines
//
// Characters are code points; a cut never splits one. Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_FILES_CUTS_H_
#define DOSSIER_RESEARCH_FILES_CUTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dossier::research {

struct CutLimits {
  std::size_t lines;
  std::uint64_t characters;
};

inline constexpr CutLimits kCommandSummary{20, 2'000};
inline constexpr std::size_t kTreeEntries = 20;
inline constexpr CutLimits kFailureTail{12, 2'000};  // for a failed command
// Limits for texts in memory events, in characters.
inline constexpr std::uint64_t kPlanInEvent = 1'200;
inline constexpr std::uint64_t kFailureInEvent = 500;
inline constexpr std::uint64_t kManagerInEvent = 2'000;

// Over 5,100 characters: the first 2,500, " ... [N characters truncated] ... ", the last 2,500.
std::string CutNodeOutput(std::string_view text);

// Returns the last lines, then the last characters of these. Lines above them say what was removed:
// "[30 lines above not shown]", "[512 characters above not shown]".
std::string CutTail(std::string_view text, CutLimits limits);
// Returns the first `characters`, then " ... [N characters truncated]".
std::string CutText(std::string_view text, std::uint64_t characters);

// Returns one entry per line; if there are more, the last line is "[N more entries]".
std::string CutTree(std::span<const std::string> entries, std::size_t count = kTreeEntries);

// Formats numbers: the one place that defines how measured numbers, prices and run times are
// written.
//
//   NumberText(1e-6);      // "1e-06": prompts, files, memory; reads back as the same number
//   RoundedText(0.123456); // "0.1235": pages, and run times for a person
//   UsdText(0.00002);      // "0.00002"
//
// A non-zero value is never written as 0. Thread-safety: pure functions.

// Returns the shortest text that reads back as the same number; "N/A" if it is not finite.
std::string NumberText(double value);

// Rounds to four significant digits, more for a large whole part; never longer than NumberText.
std::string RoundedText(double value);

// "41.2 s"
std::string SecondsText(double seconds);

// Four decimals, or more where four would hide the amount.
std::string UsdText(double usd);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_CUTS_H_
