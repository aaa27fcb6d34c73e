// Cuts long texts for prompts and events. Each cut says how much went; the whole text stays in the
// log.
//
//   node.term_out = CutNodeOutput(output);                  // head, a note, tail
//   Json summary = CutTail(result.err, kCommandSummary);    // its last lines
//
// Characters are code points; no cut halves one. Thread-safety: pure functions.

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
inline constexpr CutLimits kEarlierFile{40, 3'000};
inline constexpr std::size_t kTreeEntries = 20;
inline constexpr CutLimits kFailureTail{12, 2'000};  // of a command that failed
// Of texts in memory's events, in characters.
inline constexpr std::uint64_t kPlanInEvent = 1'200;
inline constexpr std::uint64_t kFailureInEvent = 500;
inline constexpr std::uint64_t kManagerInEvent = 2'000;

// Over 5,100 characters: the first 2,500, " ... [N characters truncated] ... ", the last 2,500.
std::string CutNodeOutput(std::string_view text);

// The last lines, then of these the last characters. A line above them says what went: "[30 lines
// above not shown]", "[512 characters above not shown]".
std::string CutTail(std::string_view text, CutLimits limits);
// The first lines, then of these the first characters; what went is said below them.
std::string CutHead(std::string_view text, CutLimits limits);
// The first `characters`, then " ... [N characters truncated]".
std::string CutText(std::string_view text, std::uint64_t characters);

// One entry a line, ended by "[N more entries]" where there are more.
std::string CutTree(std::span<const std::string> entries, std::size_t count = kTreeEntries);

// Numbers as texts: the one place that says how a measured number, a price or a run time is
// written.
//
//   NumberText(1e-6);      // "1e-06": prompts, files, memory; reads back as the same number
//   RoundedText(0.123456); // "0.1235": pages, and run times for a person
//   UsdText(0.00002);      // "0.00002"
//
// A value that is not 0 is never written as 0. Thread-safety: pure functions.

// The shortest text that reads back as the same number; "N/A": it is not finite.
std::string NumberText(double value);

// Four significant digits, more of a large number's whole part; never longer than NumberText.
std::string RoundedText(double value);

// "41.2 s"
std::string SecondsText(double seconds);

// Four decimals, as money is written; more where these would hide the amount.
std::string UsdText(double usd);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_CUTS_H_
