#include "ask/reply/truncation.h"

#include <algorithm>

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::uint64_t kLeastShare = 2'000;
constexpr std::string_view kHint = " Use llm_query() to analyze content you cannot see.";

struct Shown {
  ShownOutput output;
  std::uint64_t characters = 0;  // of the output itself
};

Shown CutEnd(std::string_view output, std::uint64_t total, const TruncationOptions& options) {
  const std::string_view head = utf8::Prefix(output, options.max_chars);
  return {{std::string(head), fmt::format("[Output truncated to {} of {} characters.{}]",
                                          GroupDigits(options.max_chars), GroupDigits(total),
                                          options.sub_calls == SubCalls::kOffered ? kHint : "")},
          options.max_chars};
}

Shown CutMiddle(std::string_view output, std::uint64_t total, std::uint64_t max_chars) {
  const std::uint64_t tail = max_chars / 2;
  return {{fmt::format("{}\n[… {} of {} characters left out …]\n{}",
                       utf8::Prefix(output, max_chars - tail), GroupDigits(total - max_chars),
                       GroupDigits(total), utf8::Suffix(output, tail)),
           ""},
          max_chars};
}

Shown Show(std::string_view output, const TruncationOptions& options) {
  const std::uint64_t kept = utf8::CodePoints(output);
  if (kept <= options.max_chars) return {{std::string(output), ""}, kept};
  const std::uint64_t total = std::max(kept, options.printed);
  return options.cut == Cut::kEnd ? CutEnd(output, total, options)
                                  : CutMiddle(output, total, options.max_chars);
}

}  // namespace

std::string TruncateCodeOutput(std::string_view output, const TruncationOptions& options) {
  const ShownOutput shown = ShowCodeOutput(output, options);
  return shown.notice.empty() ? shown.text : shown.text + "\n" + shown.notice;
}

ShownOutput ShowCodeOutput(std::string_view output, const TruncationOptions& options) {
  return Show(output, options).output;
}

std::string TruncateCodeOutput(std::string_view output, std::uint64_t max_chars) {
  return TruncateCodeOutput(output, TruncationOptions{.max_chars = max_chars});
}

std::uint64_t ShareOfCorpusLimit(std::uint64_t context_chars) {
  return std::max(kLeastShare, context_chars / 4);
}

std::vector<ShownOutput> TruncateTurn(std::span<const PrintedOutput> outputs,
                                      std::uint64_t context_chars,
                                      const TruncationOptions& options) {
  std::uint64_t left = ShareOfCorpusLimit(context_chars);
  std::vector<ShownOutput> shown;
  shown.reserve(outputs.size());
  for (const PrintedOutput& output : outputs) {
    TruncationOptions own = options;
    own.max_chars = std::min(options.max_chars, left);
    own.printed = output.characters;
    Shown one = Show(output.text, own);
    left -= one.characters;
    shown.push_back(std::move(one.output));
  }
  return shown;
}

std::string TruncateError(std::string_view error) {
  return Show(error, {.max_chars = kErrorChars, .cut = Cut::kMiddle}).output.text;
}

}  // namespace dossier::ask
