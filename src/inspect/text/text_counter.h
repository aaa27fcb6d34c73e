// Code points and lines of a text, in one look at its bytes.
//
//   TextCount count = CountText("naïve\ncafé\n");
//   count.utf8.code_points == 11 && count.lines.lines() == 2;
//
// A text may be counted in parts that are cut between code points: add the censuses, append the
// summaries. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_TEXT_TEXT_COUNTER_H_
#define DOSSIER_INSPECT_TEXT_TEXT_COUNTER_H_

#include <string_view>

#include "base/text/utf8.h"
#include "inspect/text/line_counter.h"

namespace dossier::inspect {

struct TextCount {
  utf8::Census utf8;
  LineSummary lines;

  void Append(const TextCount& next);
  bool operator==(const TextCount& other) const;
};

TextCount CountText(std::string_view text);

namespace internal {
TextCount CountTextScalar(std::string_view text);
// Only where utf8::internal::HasAvx2().
TextCount CountTextAvx2(std::string_view text);
}  // namespace internal

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_TEXT_TEXT_COUNTER_H_
