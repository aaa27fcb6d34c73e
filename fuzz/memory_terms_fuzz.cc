// Terms over any bytes: those that FTS5 makes of the same text; the terms of a query are some of
// them, each once.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "memory/search/terms.h"
#include "testing/fts5_for_test.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static dossier::memory::Connection connection(*dossier::store::Database::Open(":memory:"));
  const std::vector<std::string> terms = dossier::memory::Terms(connection, text);
  dossier::memory::Fts5ForTest fts5;
  fts5.Add(1, dossier::memory::IndexText(text));
  auto theirs = fts5.Read();
  if (terms != theirs[1] || terms.size() != dossier::memory::CountTerms(connection, text))
    std::abort();

  const std::set<std::string> known(terms.begin(), terms.end());
  std::set<std::string> seen;
  for (const std::string& term : dossier::memory::QueryTerms(connection, text)) {
    if (!known.contains(term) || !seen.insert(term).second) std::abort();
  }
  if (seen.empty() != terms.empty()) std::abort();
  return 0;
}
