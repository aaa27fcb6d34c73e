// Decides by a hash of seed and text which texts a stub model labels wrongly, and how, so that the
// answer to every question is known before anything is asked.
//
//   StubLabel(labels, "The bus was late again.", "travel", {.share = 0.1, .seed = 1});   //
//   "travel"
//
// The same on every machine. Thread-safety: pure functions.

#ifndef DOSSIER_EVALUATION_STUB_LABEL_H_
#define DOSSIER_EVALUATION_STUB_LABEL_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dossier::evaluation {

struct StubErrors {
  double share = 0;  // of texts that get another label, 0 to 1
  std::uint64_t seed = 1;
};

// What a stub says of `text`, whose right label is `label`; one of `labels`, of which there are two
// at least.
std::string_view StubLabel(std::span<const std::string> labels, std::string_view text,
                           std::string_view label, const StubErrors& errors);

// The first 8 bytes, little-endian, of SHA-256 over "dossier.stub/1", the decimal seed, `purpose`
// and `text`, with NUL between them.
std::uint64_t StubHash(std::uint64_t seed, std::string_view purpose, std::string_view text);
// Whether a draw with this hash falls into `share`.
bool FallsInto(std::uint64_t hash, double share);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_STUB_LABEL_H_
