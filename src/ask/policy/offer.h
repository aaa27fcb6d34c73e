// An answer that was handed in but is not accepted yet. Thread-safety: plain data.

#ifndef DOSSIER_ASK_POLICY_OFFER_H_
#define DOSSIER_ASK_POLICY_OFFER_H_

#include <optional>
#include <string>

#include "ask/engine.h"

namespace dossier::ask {

struct Offer {
  std::string text;
  Source source = Source::kNone;
  std::optional<Json> value;
  bool numbers_as_text = false;  // `value` has texts for numbers that JSON cannot hold
  enum class Quoted { kNo, kYes } quoted = Quoted::kNo;  // in quotation marks, not in `text`
  // The check that it fails and the reason, in a sentence; both empty if there is no objection.
  std::string failed_check, doubt;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_OFFER_H_
