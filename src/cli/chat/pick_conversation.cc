#include "cli/chat/pick_conversation.h"

#include <algorithm>

#include "base/text/parse.h"
#include "base/text/text.h"
#include "cli/terminal/display_width.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

constexpr std::size_t kShown = 20;

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != text.npos) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(ToLowerAscii(text.substr(at, end - at)));
    at = end;
  }
  return words;
}

void Show(const std::vector<chat::Listed>& list, int columns, std::ostream& err) {
  const std::size_t count = std::min(list.size(), kShown);
  for (std::size_t i = 0; i < count; ++i) {
    const chat::Listed& one = list[i];
    const std::string line = fmt::format(
        "{:>3}  {}  {}  {}", i + 1, Safe(one.updated_at).substr(0, 10), one.id, Safe(one.title));
    err << DisplayPrefix(line, columns - 1) << "\n";
  }
  if (list.size() > count) err << fmt::format("     and {} more\n", list.size() - count);
}

}  // namespace

std::vector<chat::Listed> Narrowed(const std::vector<chat::Listed>& list, std::string_view words) {
  const std::vector<std::string> wanted = WordsOf(words);
  std::vector<chat::Listed> out;
  for (const chat::Listed& one : list) {
    const std::string text = ToLowerAscii(one.id + "\n" + one.model + "\n" + one.title);
    const bool all = std::ranges::all_of(
        wanted, [&](const std::string& word) { return text.find(word) != text.npos; });
    if (all) out.push_back(one);
  }
  return out;
}

std::string PickConversation(const std::vector<chat::Listed>& list, int columns,
                             const std::function<std::optional<std::string>()>& read,
                             std::ostream& err) {
  std::vector<chat::Listed> shown = list;
  while (true) {
    Show(shown, columns, err);
    err << "number, words to narrow the list, or nothing to leave: " << std::flush;
    const std::optional<std::string> line = read();
    if (!line || TrimSpace(*line).empty()) return {};
    const auto number = ParseNumber(TrimSpace(*line));
    const std::size_t most = std::min(shown.size(), kShown);
    if (number && *number >= 1 && *number <= static_cast<double>(most)) {
      return shown[static_cast<std::size_t>(*number) - 1].id;
    }
    std::vector<chat::Listed> narrowed = Narrowed(list, *line);
    if (narrowed.size() == 1) return narrowed.front().id;
    if (narrowed.empty()) {
      err << "none of them holds these words\n";
    } else {
      shown = std::move(narrowed);
    }
  }
}

}  // namespace dossier::cli
