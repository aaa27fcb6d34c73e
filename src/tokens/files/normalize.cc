#include <utf8proc.h>

#include <cstdlib>
#include <memory>

#include "base/text/text.h"
#include "tokens/files/tokenizer_json.h"

namespace dossier::tokens {
namespace {

std::string Decomposed(std::string_view text, int options) {
  utf8proc_uint8_t* out = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &out,
                                 static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(out, &std::free);
  if (size < 0) return std::string(text);
  return {reinterpret_cast<const char*>(out), static_cast<std::size_t>(size)};
}

}  // namespace

std::string Normalize(const std::vector<NormalStep>& steps, std::string_view text) {
  using Kind = NormalStep::Kind;
  std::string out(text);
  for (const NormalStep& step : steps) {
    switch (step.kind) {
      case Kind::kNfc:
        out = Decomposed(out, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
        break;
      case Kind::kNfkc:
        out = Decomposed(out, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
        break;
      case Kind::kNfd:
        out = Decomposed(out, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
        break;
      case Kind::kNfkd:
        out = Decomposed(out, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
        break;
      case Kind::kPrepend:
        if (!out.empty()) out.insert(0, step.to);
        break;
      case Kind::kStartWith:
        if (!out.empty() && !out.starts_with(step.to)) out.insert(0, step.to);
        break;
      case Kind::kReplace:
        out = ReplaceAll(out, step.from, step.to);
        break;
    }
  }
  return out;
}

}  // namespace dossier::tokens
