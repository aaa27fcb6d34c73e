// Tokens that were added to a vocabulary separately, such as Qwen2's <tool_call> or Gemma's runs of
// spaces. Each is matched wherever its text occurs, before the text is split into pieces.
//
//   AddedTokens added({{"<tool_call>", 151657}});
//   added.ForEach(text, [](std::string_view part, std::optional<TokenId> token) { … });
//
// The longest is matched first, as in llama.cpp. Names of control tokens (<|im_end|>) are not
// included: they are plain text. Thread-safety: immutable.

#ifndef DOSSIER_TOKENS_COUNTER_ADDED_TOKENS_H_
#define DOSSIER_TOKENS_COUNTER_ADDED_TOKENS_H_

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/counter/counter.h"

namespace dossier::tokens {

class AddedTokens {
 public:
  struct Token {
    std::string text;  // not empty
    TokenId id = 0;
  };

  AddedTokens() = default;
  explicit AddedTokens(std::vector<Token> tokens) : tokens_(std::move(tokens)) {
    std::stable_sort(tokens_.begin(), tokens_.end(),
                     [](const Token& a, const Token& b) { return a.text.size() > b.text.size(); });
  }

  bool empty() const { return tokens_.empty(); }
  // Returns the length of the longest token's text in bytes; 0 if there is none.
  std::size_t longest() const { return tokens_.empty() ? 0 : tokens_.front().text.size(); }
  // Returns true if a token occurs in `text`, selected or not, that ends after the place `from` and
  // starts before `to`, which must not be before `from`.
  bool Occur(std::string_view text, std::size_t from, std::size_t to) const {
    return std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& token) {
      const std::size_t reach = token.text.size() - 1, begin = from - std::min(from, reach);
      return text.substr(begin, to + reach - begin).find(token.text) != std::string_view::npos;
    });
  }
  // Returns true if a token occurs across the place `at`, selected or not. If none does, the
  // matches on the two sides are independent.
  bool Cross(std::string_view text, std::size_t at) const { return Occur(text, at, at); }

  // Calls `use(part, id)` for each part of `text` in order; `id` is unset for text between tokens.
  template <typename Use>
  void ForEach(std::string_view text, Use&& use) const {
    ForEachFrom(0, text, use);
  }

 private:
  template <typename Use>
  void ForEachFrom(std::size_t first, std::string_view text, Use& use) const {
    for (std::size_t i = first; i < tokens_.size(); ++i) {
      std::size_t found = text.find(tokens_[i].text);
      if (found == std::string_view::npos) continue;
      // Shorter ones are searched for in the text between.
      for (; found != std::string_view::npos; found = text.find(tokens_[i].text)) {
        ForEachFrom(i + 1, text.substr(0, found), use);
        use(text.substr(found, tokens_[i].text.size()), std::optional(tokens_[i].id));
        text.remove_prefix(found + tokens_[i].text.size());
      }
      ForEachFrom(i + 1, text, use);
      return;
    }
    if (!text.empty()) use(text, std::optional<TokenId>());
  }

  std::vector<Token> tokens_;  // longest first
};

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_COUNTER_ADDED_TOKENS_H_
