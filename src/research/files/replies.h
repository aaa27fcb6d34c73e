// Parses model replies: JSON objects, lines with known prefixes, scripts, LaTeX.
//
//   DOSSIER_ASSIGN_OR_RETURN(const JsonReply reply, ReadJsonReply(payload));
//   const std::string_view prefixes[] = {"HYPERPARAM NAME", "DESCRIPTION"};
//   const auto idea = ReadKeywords(payload, prefixes);      // idea[0]: "batch size", or none
//   DOSSIER_ASSIGN_OR_RETURN(const PlanAndScript script, ReadPython(payload));
//
// Errors: kInvalidArgument, one sentence that tells a model what to write instead. Thread-safety:
// pure functions.

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

// A code fence in a reply: code between lines of three or more backticks or tildes.
struct FencedCode {
  std::string tag;        // "python", lower case; "": none
  std::string code;       // lines joined by \n
  std::size_t begin = 0;  // byte offset of the opening line in the text
};
std::vector<FencedCode> CodeFences(std::string_view text);  // the last one may be unclosed

struct JsonReply {
  Json value;  // an object
  std::vector<std::string> warnings;
};
// Accepts one object, or a list of one; if the reply has a fence, it reads from the first { to the
// last }. Python literals are accepted with a warning `payload_repaired`.
Result<JsonReply> ReadJsonReply(std::string_view payload);
// Reads thoughts, then an object in the last fence; without a fence the same as ReadJsonReply.
Result<JsonReply> ReadThoughtAndJson(std::string_view payload);

// Returns the text after each "PREFIX:" at the start of a line, in any letter case, up to the next
// known prefix; lines are joined by a space. None: the prefix does not occur.
std::vector<std::optional<std::string>> ReadKeywords(std::string_view payload,
                                                     std::span<const std::string_view> prefixes);
// Splits "A|B" of the call site table.
std::vector<std::string_view> KeywordsOf(std::string_view joined);

struct PlanAndScript {
  std::string plan;    // the text before the script
  std::string script;  // ends with a newline
};
// Accepts exactly one Python block; the plan may be empty.
Result<PlanAndScript> ReadPython(std::string_view payload);
// Accepts exactly one LaTeX fence that holds a document.
Result<std::string> ReadLatex(std::string_view payload);
// Returns true for "I am done", in any letter case, without a fence.
bool SaysDone(std::string_view payload);

// Parses JSON as models write it: Python literals are accepted too.
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
  enum class Repaired : std::uint8_t { kNo, kYes } repaired = Repaired::kNo;  // not valid JSON
};

// Accepts exactly one value; nesting depth at most 64.
Result<RelaxedJson> ParseRelaxedJson(std::string_view text);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_REPLIES_H_
