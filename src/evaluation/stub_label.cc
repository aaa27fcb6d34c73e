#include "evaluation/stub_label.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text/parse.h"

namespace dossier::evaluation {

std::uint64_t StubHash(std::uint64_t seed, std::string_view purpose, std::string_view text) {
  std::string message = "dossier.stub/1";
  const std::string number = std::to_string(seed);
  for (const std::string_view part : {std::string_view(number), purpose, text}) {
    message += '\0';
    message += part;
  }
  const std::string hex = Sha256Hex(message);
  std::uint64_t value = 0;
  for (std::size_t byte = 0; byte < 8; ++byte) {
    value |= static_cast<std::uint64_t>(
                 *ExactNumber<unsigned>(std::string_view(hex).substr(2 * byte, 2), 16))
             << (8 * byte);
  }
  return value;
}

bool FallsInto(std::uint64_t hash, double share) {
  constexpr double kUnit = 1.0 / 9007199254740992.0;  // 2^53: exact in a double
  return static_cast<double>(hash >> 11) * kUnit < share;
}

std::string_view StubLabel(std::span<const std::string> labels, std::string_view text,
                           std::string_view label, const StubErrors& errors) {
  if (!FallsInto(StubHash(errors.seed, "wrong", text), errors.share)) return label;
  const auto right = std::find(labels.begin(), labels.end(), label);
  const std::size_t others = labels.size() - (right == labels.end() ? 0 : 1);
  auto other = static_cast<std::size_t>(StubHash(errors.seed, "as", text) % others);
  if (right != labels.end() && other >= static_cast<std::size_t>(right - labels.begin())) ++other;
  return labels[other];
}

}  // namespace dossier::evaluation
