// Memory rendered into a prompt, in process: what `dossier memory show` and each turn of a chat do.

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/text/utf8.h"
#include "benches.h"
#include "measure.h"
#include "memory/render/render.h"
#include "memory/store/store.h"

namespace dossier::bench {
namespace {

constexpr int kRows = 10'000;
constexpr int kRounds = 9;
constexpr std::int64_t kBudget = 24'000;  // code points: the default of memory_budget_chars

// Of each ten rows: eight archival records, an event, a core entry.
Status Fill(memory::BranchTransaction& session) {
  for (int i = 0; i < kRows; ++i) {
    const std::string text = fmt::format(
        "Row {}: the linker of node {} could not find library {}, so it was built from source", i,
        i % 97, i % 13);
    if (i % 10 == 9) {
      DOSSIER_RETURN_IF_ERROR(
          session.SetCore(fmt::format("key{}", i % 50), {.value = text.substr(0, 20)}));
    } else {
      const auto tier = i % 10 == 8 ? memory::Tier::kRecall : memory::Tier::kArchival;
      DOSSIER_RETURN_IF_ERROR(session.Add({.tier = tier, .text = text, .at = i + 1}));
    }
  }
  return {};
}

}  // namespace

Status RunRenderBench() {
  DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make("render"));
  DOSSIER_ASSIGN_OR_RETURN(const auto store,
                           memory::Store::Open({.path = folder.path() + "/memory.sqlite",
                                                .mode = memory::OpenMode::kCreate}));
  DOSSIER_RETURN_IF_ERROR(store->Transact(memory::kRootBranch, {}, Fill));
  Samples samples;
  for (int round = 0; round < kRounds; ++round) {
    const double start = CpuSeconds();
    DOSSIER_ASSIGN_OR_RETURN(const memory::View view, store->Snapshot(memory::kRootBranch));
    DOSSIER_ASSIGN_OR_RETURN(
        const memory::Rendered rendered,
        memory::Render(view, store->limits(),
                       {.query = "why could the linker not find library 7 on node 12",
                        .budget = {.chars = kBudget}}));
    samples.Add(CpuSeconds() - start);
    if (rendered.accounting.rendered_chars > kBudget || rendered.text.empty()) {
      return MakeError(ErrorCode::kInternal, "{} code points", rendered.accounting.rendered_chars);
    }
  }
  Report("memory.render", samples);
  return {};
}

}  // namespace dossier::bench
