// Lines and code fences of a reply, with the slips that models make around them.
//
//   for (const Fence& fence : ScanFences(text, options)) Use(fence.tag, fence.code);
//
// Thread-safety: pure functions, if the options' functions are.

#ifndef DOSSIER_ASK_REPLY_FENCES_H_
#define DOSSIER_ASK_REPLY_FENCES_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier::ask {

struct Line {
  std::string_view text;  // without its end
  std::size_t begin = 0;  // bytes from the start of the whole text
  std::size_t end = 0;    // behind its end
};
// LF, CRLF and CR end lines.
std::vector<Line> SplitLines(std::string_view text);

// The line that opens a fence: up to 8 spaces, three or more backticks or tildes, an info string.
struct FenceMark {
  char character = '`';
  std::size_t count = 3;
  std::string_view info;
};
std::optional<FenceMark> OpeningFence(std::string_view line);
bool ClosesFence(std::string_view line, const FenceMark& mark);
// The first word of an info string, lower case, without braces and dots: "{.Python}" is "python".
std::string FenceTag(std::string_view info);

struct Fence {
  std::string tag;   // empty without one
  std::string code;  // lines joined by \n, as they stand in the reply
  bool closed = true;
  bool used = false;  // for callers: its code was taken
  std::vector<std::string> repairs;
};

struct FenceOptions {
  std::function<bool(std::string_view tag)> runs;       // tags of code that may run
  std::function<bool(std::string_view code)> compiles;  // asked only where a slip is suspected
};

struct FenceScan {
  std::vector<Fence> fences;  // in order, not overlapping
  std::string outside;        // the text without them
};
FenceScan ScanFences(std::string_view text, const FenceOptions& options);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_FENCES_H_
