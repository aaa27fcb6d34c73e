// The counter of a model, by what its entry says of its tokenizer.
//
//   DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened, OpenTokenizer(entry,
//   tokens::DefaultDataPaths()));
//
// A public encoding: exact. With a ratio: its counts times that, within the entry's margin, 0.15 at
// least. The local model: the vocabulary of its own weights file. Else by bytes. Thread-safety:
// functions over files.

#ifndef DOSSIER_MODEL_CATALOG_TOKENIZER_H_
#define DOSSIER_MODEL_CATALOG_TOKENIZER_H_

#include "model/catalog/catalog.h"
#include "tokens/files/open.h"

namespace dossier::model {

// Errors: kConfig for an entry that names no known encoding or a ratio out of range.
Result<tokens::Opened> OpenTokenizer(const Entry& entry, const tokens::DataPaths& paths);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CATALOG_TOKENIZER_H_
