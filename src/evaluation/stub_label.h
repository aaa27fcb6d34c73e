// Decides by a hash of seed and text which texts a stub model labels wrongly, and how. So the
// answer to every question is known before anything is asked.
//
//   StubLabel(labels, "The bus was late again.", "travel", {.share = 0.1, .seed = 1});   //
//   "travel"
//
// Same results on every machine. Thread-safety: pure functions.

#ifndef DOSSIER_EVALUATION_STUB_LABEL_H_
#define DOSSIER_EVALUATION_STUB_LABEL_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dossier::evaluation {

struct StubErrors {
  double share = 0;  // share of texts that get a wrong label, 0 to 1
  std::uint64_t seed = 1;
};

// Returns the stub's label for `text`, whose right label is `label`. The result is one of `labels`,
// which has at least two entries.
std::string_view StubLabel(std::span<const std::string> labels, std::string_view text,
                           std::string_view label, const StubErrors& errors);

// Returns the first 8 bytes, little-endian, of the SHA-256 of "dossier.stub/1", the decimal seed,
// `purpose` and `text`, separated by NUL.
std::uint64_t StubHash(std::uint64_t seed, std::string_view purpose, std::string_view text);
// Returns true if a draw with this hash falls into `share`.
bool FallsInto(std::uint64_t hash, double share);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_STUB_LABEL_H_
