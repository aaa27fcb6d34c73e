// An answer that was handed in and is not accepted yet.

#ifndef DOSSIER_RECURSION_OFFER_H_
#define DOSSIER_RECURSION_OFFER_H_

#include <optional>
#include <string>

#include "recursion/engine.h"

namespace dossier::recursion {

struct Offer {
  std::string text;
  Source source = Source::kNone;
  std::optional<Json> value;
  std::string doubt;  // why it may be invented, in one sentence; empty if nothing speaks for that
};

}  // namespace dossier::recursion

#endif  // DOSSIER_RECURSION_OFFER_H_
