#include "ask/policy/repeated_question.h"

#include <string>

#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kShortestRepeated = 4;
constexpr std::size_t kLongerAtMost = 2;  // a longer prompt has more than the question

std::string_view WithoutMarks(std::string_view word) {
  constexpr std::string_view kMarks = "?!.,:;'\"()";
  while (!word.empty() && kMarks.find(word.back()) != std::string_view::npos) word.remove_suffix(1);
  while (!word.empty() && kMarks.find(word.front()) != std::string_view::npos)
    word.remove_prefix(1);
  return word;
}

}  // namespace

bool RepeatsQuestion(std::string_view prompt, std::string_view question) {
  if (prompt.size() > kLongerAtMost * question.size()) return false;
  const std::string asked = ToLowerAscii(question);
  std::size_t words = 0, known = 0;
  for (const std::string_view part : Split(prompt, ' ')) {
    const std::string_view word = WithoutMarks(part);
    if (word.size() < kShortestRepeated) continue;
    ++words;
    if (asked.find(ToLowerAscii(word)) != std::string::npos) ++known;
  }
  return words > 0 && known * 4 >= words * 3;
}

}  // namespace dossier::ask
