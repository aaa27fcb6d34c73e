// Renders a description as text for a model, as data for code, and as JSON for scripts.
//
//   std::string hint = RenderHint(description, {.variable = "context"});
//   Json meta = ContextMeta(description, Runtime::kPython);
//
// All functions are pure and stable: the same bytes and base name give the same output; a hint has
// no path, date, clock or thread count, and no final line end. A hint contains text from the file,
// so whoever puts it into a prompt must fence it. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_DESCRIPTION_HINT_H_
#define DOSSIER_INSPECT_DESCRIPTION_HINT_H_

#include <span>
#include <string>

#include "base/json/json.h"
#include "inspect/description/description.h"

namespace dossier::inspect {

enum class HintProfile : std::uint8_t { kLarge, kSmall };  // kSmall: one line per field
enum class HintTense : std::uint8_t { kAvailable, kWasAvailable };
enum class HintDetail : std::uint8_t { kFull, kSizeOnly };  // kSizeOnly: no description, one line

struct HintOptions {
  std::string variable = "context";
  HintProfile profile = HintProfile::kLarge;
  HintTense tense = HintTense::kAvailable;
  HintDetail detail = HintDetail::kFull;
  std::size_t max_chars = 4096;
};

std::string RenderHint(const Description& description, const HintOptions& options);
// Renders several documents; a single one is rendered as above.
std::string RenderHint(std::span<const Description> documents, const HintOptions& options);

// Returns the value of the Format line: "NDJSON (newline-delimited JSON)", "CSV (comma-separated,
// header row)", with the name's format and the encoding if they differ.
std::string FormatLabel(const Description& description);

// Renders the default output of `dossier inspect`: the hint's lines without the first, Encoding,
// Notes. Ends with a line end.
std::string RenderReport(const Description& description, const HintOptions& options);

enum class Runtime : std::uint8_t { kPython, kJavascript };
// Returns the data that sandboxed code sees.
Json ContextMeta(const Description& description, Runtime runtime);

// Returns one element of `files` in --json.
Json ToJson(const Description& description);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_DESCRIPTION_HINT_H_
