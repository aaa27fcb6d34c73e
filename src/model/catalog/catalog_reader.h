// Reads files of the form of data/models.yaml.
//
//   DOSSIER_RETURN_IF_ERROR(ReadCatalogFile(text, "models.yaml", &data));
//
// A file adds entries and providers, or changes fields of those already there. A fact without date
// and source does not pass. Thread-safety: pure functions.

#ifndef DOSSIER_MODEL_CATALOG_CATALOG_READER_H_
#define DOSSIER_MODEL_CATALOG_CATALOG_READER_H_

#include <string_view>

#include "base/result.h"
#include "model/catalog/catalog.h"

namespace dossier::model {

// Errors: kConfig with FILE:LINE:COL.
Status ReadCatalogFile(std::string_view text, std::string_view file, CatalogData* data);

// The entry for a model that no file knows.
Entry ConservativeEntry(std::string_view provider, std::string_view name);

// What its family says of a model of `provider` (empty: of any); unset if it has none.
std::optional<Entry> EntryByFamily(const CatalogData& data, std::string_view provider,
                                   std::string_view name);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CATALOG_CATALOG_READER_H_
