// Counts the tokens of a text: exactly if the vocabulary is known, else with a stated margin.
//
// [example]
//   dossier::Result<dossier::TokenCount> count = dossier::CountTokens("How many is this?");
//   if (count) std::cout << count->tokens << (count->exact ? "" : " or so") << "\n";
//
//   // The same vocabulary again and again:
//   auto tokenizer = dossier::Tokenizer::Open({.encoding = "cl100k_base"});
//   if (!tokenizer) return dossier::ExitCode(tokenizer.error().code);
//   const std::string text = "one two three four five six";
//   std::cout << tokenizer->Prefix(text, 3) << "\n";  // at most 3 tokens of it
// [/example]
//
// Units: tokens. Errors: kInvalidArgument (no such encoding, with the nearest; both options set),
// kConfig (no such model), kNotFound and kDamaged (a vocabulary file), kUnavailable (Encode without
// a vocabulary). Ownership: a Tokenizer is a handle; copies share the vocabulary. A moved-from
// Tokenizer counts as `estimate`. Thread-safety: may be used from many threads.

#ifndef DOSSIER_TOKENS_H_
#define DOSSIER_TOKENS_H_

#include <dossier/model.h>
#include <dossier/result.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

struct TokenOptions {
  // "o200k_base", "cl100k_base", "gguf:FILE", "hf:FILE", "chars" or "bytes". Set this or `model`,
  // or neither for o200k_base.
  std::string encoding;
  std::string model;  // use the vocabulary of this catalog model; no key is needed
};

struct TokenCount {
  std::int64_t tokens = 0;
  bool exact = false;
  double margin = 0;  // fraction by which the true count may be higher; 0 if exact

  // Returns the count to use for budgets.
  std::int64_t upper() const;
};

class Tokenizer {
 public:
  static Result<Tokenizer> Open(const TokenOptions& options = {});
  // Counts as `model` does. Errors: kInvalidArgument for an empty Model.
  static Result<Tokenizer> Of(const Model& model);

  Tokenizer() = default;

  TokenCount Count(std::string_view utf8) const;
  // Return the longest start or end of `utf8` with at most `limit` tokens that splits no character,
  // as a view into `utf8`.
  std::string_view Prefix(std::string_view utf8, std::int64_t limit) const;
  std::string_view Suffix(std::string_view utf8, std::int64_t limit) const;
  // Returns token ids of the vocabulary.
  Result<std::vector<std::uint32_t>> Encode(std::string_view utf8) const;
  std::string name() const;     // "o200k_base"
  std::string warning() const;  // why counts are estimates instead of exact; else empty

  struct Impl;

 private:
  explicit Tokenizer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Counts one text. Opening a vocabulary takes about a millisecond.
Result<TokenCount> CountTokens(std::string_view utf8, const TokenOptions& options = {});

}  // namespace dossier

#endif  // DOSSIER_TOKENS_H_
