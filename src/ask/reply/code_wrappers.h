// Code in other wrappings than fences: <python>, [PYTHON], <|python_tag|>, tool calls.
//
//   WrapperScan scan = ScanWrappers(text, Dialect::kPython);
//   if (scan.found) Run(scan.found->code);
//
// Thread-safety: pure functions.

#ifndef DOSSIER_ASK_REPLY_CODE_WRAPPERS_H_
#define DOSSIER_ASK_REPLY_CODE_WRAPPERS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/reply/extraction.h"

namespace dossier::ask {

struct WrappedCode {
  std::string code;
  std::string repair;  // "code in <python>"
  // <code> also marks up words in prose, so its code must compile to run.
  enum class Trust { kRuns, kMustCompile } trust = Trust::kRuns;
  bool closed = true;
};

struct WrapperScan {
  std::vector<WrappedCode> found;  // of the first kind that occurs, in order
  std::string outside;             // the text without them
};
WrapperScan ScanWrappers(std::string_view text, Dialect dialect);

enum class ToolCallShape {
  kAny,    // {"code": …} is enough
  kNamed,  // it must have a name and arguments: other JSON with a "code" is data
};
// The string `code` of a tool call in JSON, at its top or in its arguments.
std::optional<std::string> CodeOfToolCall(std::string_view json, ToolCallShape shape);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_CODE_WRAPPERS_H_
