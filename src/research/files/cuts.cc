#include "research/files/cuts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::research {
namespace {

constexpr std::uint64_t kNodeOutput = 5'100, kNodeOutputEnd = 2'500;  // characters

// Splits into lines without their ends; a final line end does not start another line.
std::vector<std::string_view> Lines(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return {};
  return Split(text, '\n');
}

std::string_view Plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

// Returns the bytes from the start of the first line to the end of the last.
std::string_view Span(std::string_view first, std::string_view last) {
  const char* end = last.data() + last.size();
  return {first.data(), static_cast<std::size_t>(end - first.data())};
}

}  // namespace

std::string CutNodeOutput(std::string_view text) {
  const std::uint64_t characters = utf8::CodePoints(text);
  if (characters <= kNodeOutput) return std::string(text);
  return fmt::format("{} ... [{} characters truncated] ... {}", utf8::Prefix(text, kNodeOutputEnd),
                     characters - 2 * kNodeOutputEnd, utf8::Suffix(text, kNodeOutputEnd));
}

std::string CutTail(std::string_view text, CutLimits limits) {
  const std::vector<std::string_view> lines = Lines(text);
  std::string notes;
  std::string_view kept = text;
  if (lines.size() > limits.lines) {
    const std::size_t gone = lines.size() - limits.lines;
    notes = fmt::format("[{} line{} above not shown]\n", gone, Plural(gone));
    kept = gone == lines.size() ? std::string_view() : Span(lines[gone], text.substr(text.size()));
  }
  const std::uint64_t characters = utf8::CodePoints(kept);
  if (characters > limits.characters) {
    const std::uint64_t gone = characters - limits.characters;
    notes += fmt::format("[{} character{} above not shown]\n", gone, Plural(gone));
    kept = utf8::Suffix(kept, limits.characters);
  }
  return notes.append(kept);
}

std::string CutText(std::string_view text, std::uint64_t characters) {
  const std::uint64_t all = utf8::CodePoints(text);
  if (all <= characters) return std::string(text);
  return fmt::format("{} ... [{} characters truncated]", utf8::Prefix(text, characters),
                     all - characters);
}

std::string CutTree(std::span<const std::string> entries, std::size_t count) {
  std::string result;
  for (const std::string& entry : entries.first(std::min(count, entries.size()))) {
    result.append(entry).push_back('\n');
  }
  if (entries.size() > count) result += fmt::format("[{} more entries]\n", entries.size() - count);
  return result;
}

namespace {

constexpr double kWholePartEnough = 1000;  // above it there are four digits before the point
constexpr double kMostDigits = 1e15;       // above it a whole number's last digits mean nothing
constexpr double kLeastUsd = 0.01;         // below it four decimals give fewer than two digits

}  // namespace

std::string NumberText(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "N/A";
}

std::string RoundedText(double value) {
  std::string exact = NumberText(value);
  const double size = std::fabs(value);
  if (!std::isfinite(value) || size >= kMostDigits) return exact;
  std::string rounded =
      size >= kWholePartEnough ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
  return rounded.size() < exact.size() ? rounded : exact;
}

std::string SecondsText(double seconds) { return RoundedText(seconds) + " s"; }

std::string UsdText(double usd) {
  return usd == 0 || usd >= kLeastUsd ? fmt::format("{:.4f}", usd) : fmt::format("{:.2g}", usd);
}

}  // namespace dossier::research
