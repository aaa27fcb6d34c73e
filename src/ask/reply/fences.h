// Splits a reply into lines and code fences, tolerating the slips that models make around them.
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

struct TextLine {
  std::string_view text;  // without its line end
  std::size_t begin = 0;  // bytes from the start of the whole text
  std::size_t end = 0;    // after its line end
};
// Splits at LF, CRLF and CR.
std::vector<TextLine> SplitLines(std::string_view text);

// A line that opens a fence: up to 8 spaces, three or more backticks or tildes, an info string.
struct FenceMark {
  char character = '`';
  std::size_t count = 3;
  std::string_view info;
};
std::optional<FenceMark> OpeningFence(std::string_view line);
bool ClosesFence(std::string_view line, const FenceMark& mark);
// Returns an info string's first word, lower case, no braces or dots: "{.Python}" is "python".
std::string FenceTag(std::string_view info);

struct Fence {
  std::string tag;   // empty: no tag
  std::string code;  // lines joined by \n, unchanged
  bool closed = true;
  bool used = false;  // for callers: whether its code was taken
  std::vector<std::string> repairs;
};

struct FenceOptions {
  std::function<bool(std::string_view tag)> runs;       // true for tags of code that may run
  std::function<bool(std::string_view code)> compiles;  // called only if a slip is suspected
};

struct FenceScan {
  std::vector<Fence> fences;  // in order, not overlapping
  std::string outside;        // the text outside the fences
};
FenceScan ScanFences(std::string_view text, const FenceOptions& options);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_REPLY_FENCES_H_
