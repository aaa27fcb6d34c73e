// Any answer: no crash, and what is proved of it lies in its document.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "ask/claims/proof.h"
#include "base/files/file.h"

using namespace dossier;

namespace {

struct Rig {
  TempFolder folder;
  std::unique_ptr<store::ContentStore> content;
  std::shared_ptr<const ask::ContextSet> context;
};

Rig MakeRig() {
  auto folder = TempFolder::Make();
  if (!folder) std::abort();
  auto content = store::ContentStore::Open(folder->path());
  if (!content) std::abort();
  auto context = ask::LoadContext(
      {{.text = "def f(x):\n    if x:\n        return 1.5\n\tthe Ship came, 1,204 tons\n",
        .name = "a"}},
      {.content = content->get()}, {});
  if (!context) std::abort();
  return {std::move(*folder), std::move(*content), std::move(*context)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Rig kRig = MakeRig();
  const std::string_view answer(reinterpret_cast<const char*>(data), size);
  const auto proofs =
      ask::FindEvidence({.answer = answer, .question = "?", .context = kRig.context.get()}, {});
  const std::uint64_t bytes = kRig.context->bytes();
  for (const ask::Proof& proof : proofs) {
    if (proof.from > proof.to || proof.to > bytes) std::abort();
    if ((proof.by == ask::Proof::By::kNothing) != !proof.problem.empty()) std::abort();
  }
  static_cast<void>(ask::ComplaintOf(proofs, ask::Demand::kAll));
  return 0;
}
