// Limits how much of a block's output the model is shown. Lengths are code points.
//
//   std::string shown = TruncateCodeOutput(output);              // at most 20,000, from the head
//   auto all = TruncateTurn(outputs, context_chars, {.max_chars = 4000, .cut = Cut::kMiddle});
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASK_REPLY_TRUNCATION_H_
#define DOSSIER_ASK_REPLY_TRUNCATION_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::ask {

inline constexpr std::uint64_t kDefaultOutputChars = 20'000;

enum class Cut { kEnd, kMiddle };
enum class SubCalls { kOffered, kNotOffered };  // kNotOffered at depth 0: no hint to llm_query

struct TruncationOptions {
  std::uint64_t max_chars = kDefaultOutputChars;
  Cut cut = Cut::kEnd;
  SubCalls sub_calls = SubCalls::kOffered;
  std::uint64_t printed = 0;  // total characters, if the text at hand has fewer
};

// Returns `output` itself if it has at most max_chars characters; else its first max_chars, a line
// end and "[Output truncated to 20,000 of 25,000 characters. Use llm_query() to analyze content you
// cannot see.]", or with Cut::kMiddle half from each end around "[… 5,000 of 25,000 characters left
// out …]".
std::string TruncateCodeOutput(std::string_view output, const TruncationOptions& options);

// The same in two parts: the code's output, and our notice about it, which must be outside the
// output's fence. `notice` is empty if nothing was cut at the end.
struct ShownOutput {
  std::string text, notice;
};
ShownOutput ShowCodeOutput(std::string_view output, const TruncationOptions& options);
std::string TruncateCodeOutput(std::string_view output,
                               std::uint64_t max_chars = kDefaultOutputChars);

// Returns the limit for all blocks of one turn together: a quarter of the context, at least 2,000.
std::uint64_t ShareOfCorpusLimit(std::uint64_t context_chars);

// The output that a block printed, or the part of it that was kept.
struct PrintedOutput {
  std::string text;
  std::uint64_t characters = 0;  // of the whole output, if that is more than `text`
};

// Cuts each output of a turn by its own limit and by what earlier blocks left of the share.
std::vector<ShownOutput> TruncateTurn(std::span<const PrintedOutput> outputs,
                                      std::uint64_t context_chars,
                                      const TruncationOptions& options);

// Shows an error text in its own space after the cut output: head and tail, since an exception's
// location is at the end.
inline constexpr std::uint64_t kErrorChars = 4'000;
std::string TruncateError(std::string_view error);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_TRUNCATION_H_
