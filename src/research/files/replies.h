// Reads replies of models: JSON objects, lines with known prefixes, scripts, LaTeX.
//
//   DOSSIER_ASSIGN_OR_RETURN(const JsonReply reply, ReadJsonReply(payload));
//   const std::string_view prefixes[] = {"HYPERPARAM NAME", "DESCRIPTION"};
//   const auto idea = ReadKeywords(payload, prefixes);      // idea[0]: "batch size", or none
//   DOSSIER_ASSIGN_OR_RETURN(const PlanAndScript script, ReadPython(payload));
//
// Errors: kInvalidArgument, one sentence that tells a model what to write instead.
// Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_FILES_REPLIES_H_
#define DOSSIER_RESEARCH_FILES_REPLIES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::research {

// A fence of a reply: lines of three or more backticks or tildes around code.
struct FencedCode {
  std::string tag;        // "python", lower case; "": none
  std::string code;       // lines joined by \n
  std::size_t begin = 0;  // of the line that opens it, bytes in the text
};
std::vector<FencedCode> CodeFences(std::string_view text);  // the last one may be open

struct JsonReply {
  Json value;  // an object
  std::vector<std::string> warnings;
};
// One object, or a list of one; with a fence in the reply, what is between the first { and the last
// }. Python's literals are taken with a warning `payload_repaired`.
Result<JsonReply> ReadJsonReply(std::string_view payload);
// Thoughts, then an object in the last fence; without a fence as ReadJsonReply.
Result<JsonReply> ReadThoughtAndJson(std::string_view payload);

// What stands behind "PREFIX:" at the start of a line, in any case of letters, up to the next known
// prefix; lines are joined by a space. None: the prefix is not there.
std::vector<std::optional<std::string>> ReadKeywords(std::string_view payload,
                                                     std::span<const std::string_view> prefixes);
// A table's "A|B".
std::vector<std::string_view> KeywordsOf(std::string_view joined);

struct PlanAndScript {
  std::string plan;    // what stands before the script
  std::string script;  // ends with a line end
};
// Exactly one Python block; the plan may be empty.
Result<PlanAndScript> ReadPython(std::string_view payload);
// Exactly one LaTeX fence that holds a document.
Result<std::string> ReadLatex(std::string_view payload);
// "I am done", in any case, and no fence.
bool SaysDone(std::string_view payload);

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

struct RelaxedJson {
  Json value;
  enum class Repaired : std::uint8_t { kNo, kYes } repaired = Repaired::kNo;  // it was no JSON
};

// Exactly one value; depth at most 64.
Result<RelaxedJson> ParseRelaxedJson(std::string_view text);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_REPLIES_H_
