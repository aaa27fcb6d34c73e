// JSON as models write it: Python's literals are taken, too.
//
//   DOSSIER_ASSIGN_OR_RETURN(const RelaxedJson reply, ParseRelaxedJson("{'done': True,}"));
//   reply.value;       // {"done":true}
//   reply.repaired;    // kYes
//
// Beyond JSON: True, False, None; strings in single or triple quotes, with Python's escapes and
// with line ends inside; trailing commas; comments from # or // to the end of the line and in /*
// */; tuples as lists. Errors: kInvalidArgument with line, column and what was expected there.
// Thread-safety: pure.

#ifndef DOSSIER_RESEARCH_FILES_RELAXED_JSON_H_
#define DOSSIER_RESEARCH_FILES_RELAXED_JSON_H_

#include <cstdint>
#include <string_view>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::research {

struct RelaxedJson {
  Json value;
  enum class Repaired : std::uint8_t { kNo, kYes } repaired = Repaired::kNo;  // it was no JSON
};

// Exactly one value; depth at most 64.
Result<RelaxedJson> ParseRelaxedJson(std::string_view text);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_RELAXED_JSON_H_
