// Secrets are in order inside any text, both loops find the same ones, what is no secret stays, a
// second pass finds nothing more, and a text in pieces is redacted as a whole.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/redact.h"
#include "base/text/secret_detection.h"
#include "base/text/utf8_kernels.h"

using namespace dossier;

namespace {

void Check(bool holds) {
  if (!holds) __builtin_trap();
}

bool Same(const std::vector<Secret>& a, const std::vector<Secret>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].offset != b[i].offset || a[i].length != b[i].length || a[i].kind != b[i].kind) {
      return false;
    }
  }
  return true;
}

void CheckText(std::string_view text) {
  const std::vector<Secret> found = FindSecrets(text);
  std::size_t end = 0;
  for (const Secret& secret : found) {
    Check(secret.offset >= end && secret.length > 0);
    end = secret.offset + secret.length;
    Check(end <= text.size());
  }
  Check(Same(found, secrets::FindSecretsBy(text, secrets::Loop::kScalar)));
  if (utf8::internal::HasAvx2()) {
    Check(Same(found, secrets::FindSecretsBy(text, secrets::Loop::kAvx2)));
  }
  const std::string once = Redact(text, found);
  Check(Redact(once) == once);
  Check(LinesOf(text, found).size() == found.size());
  RedactStream stream;
  const std::size_t middle = text.size() / 3;
  std::string out = stream.Add(text.substr(0, middle));
  out += stream.Add(text.substr(middle));
  Check(out + stream.Finish() == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckText(text);
  // Far enough in a text for the loop that looks at parts, around the end of one.
  const std::string filler(secrets::kPartBytes - std::min<std::size_t>(size / 2, 2000), ' ');
  CheckText(filler + std::string(text) + std::string(100, '\n'));
  KindOfNamedSecret(text.substr(0, size / 2), text.substr(size / 2));
  return 0;
}
