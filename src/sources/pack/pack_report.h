// What a pack holds and why, for scripts and for people.
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_PACK_PACK_REPORT_H_
#define DOSSIER_SOURCES_PACK_PACK_REPORT_H_

#include <optional>
#include <string>

#include "base/json/json.h"
#include "sources/pack/pack.h"

namespace dossier::sources {

// dossier.pack/1 (docs/schemas/pack.schema.json), without "text".
Json PackReportJson(const PackedFiles& packed, std::optional<std::int64_t> budget,
                    std::string_view encoding);

// Totals, what was left out and why, and with a budget that cut: the ten largest files and a
// pattern to exclude each.
std::string PackTable(const PackedFiles& packed, std::optional<std::int64_t> budget,
                      std::string_view encoding);

// Tokens by folder and file, largest first.
std::string PackTree(const PackedFiles& packed);

// The files whose text is packed, as paths from the working folder, each with `end` behind it.
std::string PackNames(const PackedFiles& packed, char end);

// Each file with a score, best first, and where it comes from.
std::string PackRanks(const PackedFiles& packed, std::size_t count);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_REPORT_H_
