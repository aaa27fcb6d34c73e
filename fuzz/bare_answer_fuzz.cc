// Any text: no crash, and no answer longer than the text.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ask/reply/bare_answer.h"

using namespace dossier::ask;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const ModelSize model : {ModelSize::kLarge, ModelSize::kSmall}) {
    const BareAnswer found = FindBareAnswer(text, model);
    if (found.text.size() > text.size()) std::abort();
    if (found.form == BareAnswer::Form::kNone && !found.text.empty()) std::abort();
  }
  return 0;
}
