// The counter of a command that counts for a model and asks none: by --encoding or by -m.
//
//   DOSSIER_ASSIGN_OR_RETURN(tokens::Opened opened, OpenCounter({.encoding = "cl100k_base"}));
//   DOSSIER_ASSIGN_OR_RETURN(const model::Choice choice, ChooseWithoutKey("gpt-5-mini"));
//
// A model's counter is opened as model/providers/connect.h opens it for the engine: by the model's
// entry, as the user's config extends it. No key is needed. Thread-safety: functions over files.

#ifndef DOSSIER_APP_COUNTER_CHOICE_H_
#define DOSSIER_APP_COUNTER_CHOICE_H_

#include <string>

#include "config/config.h"
#include "model/catalog/catalog.h"
#include "tokens/files/open.h"

namespace dossier::app {

struct CounterChoice {
  std::string encoding, model;  // both empty: o200k_base
  const config::Config* config = nullptr;
};

// `note`, if given, becomes a sentence where the model that counts is not the one of that name: a
// provider's default, or one that no file knows.
// Errors: kUsage (both are given; no such encoding, with the nearest), kConfig (no such model, with
// the nearest; the config), as tokens::Open for files.
Result<tokens::Opened> OpenCounter(const CounterChoice& choice, std::string* note = nullptr);

// The folder of counts that are kept by content (tokens/files/count_cache.h); empty for counts that
// are not exact, which cost nothing.
std::string CountsFolder(const tokens::Opened& opened);

// The model `name`, or the one that the config or a key says if it is empty. Without `config` only
// the user's own file counts, and no address of it. Errors: as model::Catalog::Choose.
Result<model::Choice> ChooseWithoutKey(const std::string& name,
                                       const config::Config* config = nullptr);

}  // namespace dossier::app

#endif  // DOSSIER_APP_COUNTER_CHOICE_H_
