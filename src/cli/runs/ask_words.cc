#include "cli/runs/ask_words.h"

#include <algorithm>

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kShownWord = 60;  // code points of a word in a message
constexpr std::size_t kShownWords = 3;

std::string Quoted(std::string_view word) {
  const std::string_view start = utf8::Prefix(word, kShownWord);
  return fmt::format("\"{}{}\"", start, start.size() < word.size() ? "…" : "");
}

std::string QuotedList(const std::vector<std::string>& words) {
  std::vector<std::string> shown;
  for (const std::string& word : words) {
    if (shown.size() == kShownWords) break;
    shown.push_back(Quoted(word));
  }
  const std::size_t more = words.size() - shown.size();
  return Join(shown, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

tl::unexpected<Error> NoQuestion(const std::vector<std::string>& paths) {
  if (paths.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "ask: the question is missing: dossier ask [FILE]... \"QUESTION\"");
  }
  return MakeError(ErrorCode::kUsage,
                   "ask: {} {}, so the question is missing: dossier ask {}{} \"QUESTION\"; to ask "
                   "just that word, end it with a question mark",
                   QuotedList(paths), paths.size() == 1 ? "exists here" : "exist here", paths[0],
                   paths.size() > 1 ? " …" : "");
}

}  // namespace

Result<AskWords> ReadAskWords(const std::vector<std::string>& words,
                              const std::function<bool(const std::string&)>& exists) {
  AskWords read;
  std::vector<std::string> unknown;
  for (const std::string& word : words) {
    if (word == "-" || exists(word)) {
      read.paths.push_back(word);
    } else if (!TrimSpace(word).empty()) {
      unknown.push_back(word);
    }
  }
  if (unknown.size() > 1) {
    return MakeError(ErrorCode::kUsage,
                     "ask: {} name no file or folder, and one question is asked at a time: check "
                     "the paths, or put the whole question between quotation marks",
                     QuotedList(unknown));
  }
  if (unknown.size() == 1) {
    read.question = std::move(unknown[0]);
    return read;
  }
  const auto dash = std::find(read.paths.begin(), read.paths.end(), "-");
  if (dash == read.paths.end()) return NoQuestion(read.paths);
  read.paths.erase(dash);
  read.question = "-";
  return read;
}

}  // namespace dossier::cli
