// A half-open byte range of a text: begin inclusive, end exclusive.
//
// Thread-safety: plain data.

#ifndef DOSSIER_INSPECT_DESCRIPTION_RECORD_RANGE_H_
#define DOSSIER_INSPECT_DESCRIPTION_RECORD_RANGE_H_

#include <cstdint>
#include <string_view>

namespace dossier::inspect {

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

// Returns the bytes of `range`, which must be inside `text`.
inline std::string_view Slice(std::string_view text, ByteRange range) {
  return text.substr(range.begin, range.end - range.begin);
}

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_RECORD_RANGE_H_
