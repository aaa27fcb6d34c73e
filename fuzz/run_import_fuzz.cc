// Files of runs, from anywhere: no input crashes the reader, and what it takes comes out the same
// again and again.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ask/exchange/run_page.h"
#include "ask/exchange/trajectory.h"
#include "base/files/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dossier;
  const auto folder = TempFolder::Make("fuzz");
  const auto journal =
      folder ? store::Journal::Open(folder->path())
             : Result<std::unique_ptr<store::Journal>>(tl::unexpected(folder.error()));
  if (!journal) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto imported = ask::ImportRuns(**journal, text, "file");
  if (!imported) return 0;
  for (const std::string& run : imported->runs) {
    const auto tale = ask::ReadTale(**journal, run);
    if (!tale) continue;
    static_cast<void>(ask::PageOf(*tale));
    static_cast<void>(ask::MarkdownOf(*tale));
    const std::string lines = ask::TrajectoryLines(*tale);
    const auto again = ask::ImportRuns(**journal, lines, "file");
    if (!again || again->runs.size() != 1) continue;  // it had no turn
    const auto second = ask::ReadTale(**journal, again->runs.front());
    if (!second || ask::TrajectoryLines(*second) != lines) std::abort();
  }
  return 0;
}
