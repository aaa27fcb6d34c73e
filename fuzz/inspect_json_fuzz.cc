// The JSON machine against simdjson, whole and in pieces: one verdict.
//
// Left out where the two differ by intent: numbers beyond a double or 64 bits, lone surrogates,
// nesting, bytes that are not UTF-8.

#include <simdjson.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "inspect/json/json_machine.h"

namespace {

using dossier::inspect::JsonMachine;
using dossier::inspect::JsonOutcome;

bool IsOneValue(std::string_view text, std::size_t piece) {
  JsonMachine machine;
  bool done = false;
  for (std::size_t from = 0; from < text.size(); from += piece) {
    const std::string_view part = text.substr(from, piece);
    const char* at = part.data();
    const char* const end = at + part.size();
    if (!done) {
      const JsonOutcome outcome = machine.Feed(&at, end);
      if (outcome == JsonOutcome::kFault) return false;
      done = outcome == JsonOutcome::kDone;
    }
    for (; done && at < end; ++at) {
      if (*at != ' ' && *at != '\t' && *at != '\n' && *at != '\r') return false;
    }
  }
  return done || machine.Finish() == JsonOutcome::kDone;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool whole = IsOneValue(text, text.size() + 1);
  if (whole != IsOneValue(text, 1 + data[0] % 64)) std::abort();
  simdjson::dom::parser parser;
  const auto verdict = parser.parse(simdjson::padded_string(text)).error();
  if (verdict == simdjson::SUCCESS && !whole) std::abort();
  const bool differs_by_intent =
      verdict == simdjson::NUMBER_ERROR || verdict == simdjson::STRING_ERROR ||
      verdict == simdjson::UTF8_ERROR || verdict == simdjson::DEPTH_ERROR;
  if (verdict != simdjson::SUCCESS && whole && !differs_by_intent) std::abort();
  return 0;
}
