// The escape attempts as data: one entry an attempt.
//
// Code is the body of a function. It returns something true if it had an effect; an exception is a
// refusal. `$NAME$` is replaced: $FOLDER$ a folder outside with a file `secret` that anyone may
// read and change, $HOME$, $STORE$, $TCP$ and $UDP$ ports of the host's loopback, $STREAM$ and
// $DGRAM$ unix sockets in the folder, $ABSTRACT$ an abstract one, $ROOT$ 1 if the new root must
// hide file names. Thread-safety: read-only data.

#ifndef DOSSIER_SANDBOX_PROBES_ESCAPE_ATTEMPTS_H_
#define DOSSIER_SANDBOX_PROBES_ESCAPE_ATTEMPTS_H_

#include <span>
#include <string_view>

#include "sandbox/session/session.h"

namespace dossier::sandbox {

struct EscapeAttempt {
  enum class Then { kNothing, kSameSession, kNextSession };

  std::string_view id, name;
  std::string_view code;  // empty: native probes only (escape_native.h)
  Then then = Then::kNothing;
  std::string_view check;  // a second block there: returns true if the first one had its effect
  // Of the host: whether the first block's result shows an effect.
  bool (*effect)(const BlockResult& result, const Limits& limits) = nullptr;
};

std::span<const EscapeAttempt> EscapeAttempts();

// Attempts of the list that this build cannot make, because they need the JavaScript worker.
std::span<const std::string_view> JavaScriptAttempts();

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_PROBES_ESCAPE_ATTEMPTS_H_
