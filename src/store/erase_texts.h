// An event's data without its texts: what stays of a run whose words have to go.
//
//   Erased erased = EraseTextsOf({{"turn", 1}, {"body", {{"text", "secret"}}}});
//   erased.data;        // {"turn": 1, "body": {"bytes": 6, "left_out": true}}
//   erased.bodies;      // hashes of the bodies that it referred to
//
// Thread-safety: pure functions.

#ifndef DOSSIER_STORE_ERASE_TEXTS_H_
#define DOSSIER_STORE_ERASE_TEXTS_H_

#include <string>
#include <vector>

#include "base/json/json.h"

namespace dossier::store {

struct Erased {
  JsonObject data;
  std::vector<std::string> bodies;  // SHA-256 of each body in the content store
};
// A body becomes {"bytes": N, "left_out": true}, as --no-log leaves it, without its hash: that of a
// short text tells the text. Of other strings those under the names of ids and states stay
// (erase_texts.cc has the list); all others become "". So a name that is not on the list loses its
// text, not its secrecy.
Erased EraseTextsOf(const JsonObject& data);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_ERASE_TEXTS_H_
