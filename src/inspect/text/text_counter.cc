#include "inspect/text/text_counter.h"

#include <algorithm>
#include <tuple>

#include "base/text/utf8_kernels.h"

namespace dossier::inspect {

void LineSummary::ClosePendingCr() {
  if (!pending_cr) return;
  pending_cr = false;
  ++cr;
  if (any_end) {
    inner_longest = std::max(inner_longest, last_length);
    inner_blank += last_blank ? 1 : 0;
  } else {
    any_end = true;
    first_length = last_length;
    first_blank = last_blank;
  }
  last_length = 0;
  last_blank = true;
}

void LineSummary::Append(const LineSummary& next) {
  if (next.bytes == 0) return;
  if (bytes == 0) {
    *this = next;
    return;
  }
  std::uint64_t split_crlf = 0;
  if (pending_cr && next.starts_with_lf) {
    split_crlf = 1;
    pending_cr = false;
  } else {
    ClosePendingCr();
  }
  bytes += next.bytes;
  lf += next.lf - split_crlf;
  crlf += next.crlf + split_crlf;
  cr += next.cr;
  nul_bytes += next.nul_bytes;
  inner_blank += next.inner_blank;
  inner_longest = std::max(inner_longest, next.inner_longest);
  pending_cr = next.pending_cr;
  const std::uint64_t joined_length =
      last_length + (next.any_end ? next.first_length : next.last_length);
  const bool joined_blank = last_blank && (next.any_end ? next.first_blank : next.last_blank);
  if (!next.any_end) {
    last_length = joined_length;
    last_blank = joined_blank;
    return;
  }
  if (any_end) {
    inner_longest = std::max(inner_longest, joined_length);
    inner_blank += joined_blank ? 1 : 0;
  } else {
    any_end = true;
    first_length = joined_length;
    first_blank = joined_blank;
  }
  last_length = next.last_length;
  last_blank = next.last_blank;
}

std::uint64_t LineSummary::lines() const {
  return lf + crlf + lone_cr() + (last_length > 0 && !pending_cr ? 1 : 0);
}

std::uint64_t LineSummary::blank_lines() const {
  const bool last_counts = last_length > 0 || pending_cr;
  return inner_blank + (any_end && first_blank ? 1 : 0) + (last_counts && last_blank ? 1 : 0);
}

std::uint64_t LineSummary::longest_line_bytes() const {
  return std::max({inner_longest, any_end ? first_length : 0, last_length});
}

namespace {

// Ends the line whose content so far is in `summary->last_*`.
void EndLine(LineSummary* summary) {
  if (summary->any_end) {
    summary->inner_longest = std::max(summary->inner_longest, summary->last_length);
    summary->inner_blank += summary->last_blank ? 1 : 0;
  } else {
    summary->any_end = true;
    summary->first_length = summary->last_length;
    summary->first_blank = summary->last_blank;
  }
  summary->last_length = 0;
  summary->last_blank = true;
}

}  // namespace

LineSummary SummarizeLines(std::string_view block) {
  LineSummary summary;
  summary.bytes = block.size();
  summary.starts_with_lf = block.starts_with('\n');
  for (std::size_t i = 0; i < block.size(); ++i) {
    const char c = block[i];
    if (c == '\n') {
      if (i > 0 && block[i - 1] == '\r') {
        ++summary.crlf;
      } else {
        ++summary.lf;
      }
      EndLine(&summary);
    } else if (c == '\r') {
      if (i + 1 == block.size()) {
        summary.pending_cr = true;
      } else if (block[i + 1] != '\n') {
        ++summary.cr;
        EndLine(&summary);
      }
    } else {
      if (c == '\0') ++summary.nul_bytes;
      ++summary.last_length;
      if (c != ' ' && c != '\t') summary.last_blank = false;
    }
  }
  return summary;
}

void TextCount::Append(const TextCount& next) {
  utf8.bytes += next.utf8.bytes;
  utf8.ascii_bytes += next.utf8.ascii_bytes;
  utf8.code_points += next.utf8.code_points;
  utf8.wide_code_points += next.utf8.wide_code_points;
  utf8.utf16_units += next.utf8.utf16_units;
  utf8.invalid += next.utf8.invalid;
  lines.Append(next.lines);
}

bool TextCount::operator==(const TextCount& other) const {
  const auto all = [](const utf8::Census& c) {
    return std::tie(c.bytes, c.ascii_bytes, c.code_points, c.wide_code_points, c.utf16_units,
                    c.invalid);
  };
  return all(utf8) == all(other.utf8) && lines == other.lines;
}

TextCount CountText(std::string_view text) {
  return utf8::internal::HasAvx2() ? internal::CountTextAvx2(text)
                                   : internal::CountTextScalar(text);
}

namespace internal {

TextCount CountTextScalar(std::string_view text) {
  return {utf8::internal::CountScalar(text), SummarizeLines(text)};
}

}  // namespace internal
}  // namespace dossier::inspect
