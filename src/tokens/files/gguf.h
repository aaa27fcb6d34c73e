// Reads the vocabulary in a GGUF model file.
//
//   DOSSIER_ASSIGN_OR_RETURN(GgufFile file, ReadGguf("model.gguf"));
//   DOSSIER_ASSIGN_OR_RETURN(ModelVocabulary vocabulary, VocabularyOf(file));
//
// A GGUF file starts with its metadata, named values. Those under `tokenizer.ggml` and the few that
// describe the model and its size are read here; the weights after them are never touched. Files
// are untrusted: every length, count and offset is checked against the file. Thread-safety:
// functions over their arguments.

#ifndef DOSSIER_TOKENS_FILES_GGUF_H_
#define DOSSIER_TOKENS_FILES_GGUF_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokens/counter/added_tokens.h"
#include "tokens/encode/sentence_piece.h"
#include "tokens/encode/vocabulary.h"

namespace dossier::tokens {

// The size of a model: ARCHITECTURE.context_length and so on; 0: not in the file.
struct GgufShape {
  std::uint64_t context_length = 0;  // tokens that the model was trained for
  std::uint64_t layers = 0, width = 0, heads = 0, kv_heads = 0, key_width = 0, value_width = 0;

  // Returns the bytes that a server keeps for each token of the window, with two bytes per number;
  // unset: unknown or implausible.
  std::optional<std::uint64_t> KvBytes() const;
};

struct GgufFile {
  GgufShape shape;
  std::string head;  // only the metadata; the views below refer to it, so it must not be changed
  std::string name;  // general.name
  std::string model, pre;                // tokenizer.ggml.model and .pre
  std::vector<std::string_view> tokens;  // by number, in printable form
  std::vector<std::string_view> merges;  // "left right"
  std::vector<std::int32_t> types;       // llama.cpp's: 1 normal, 3 control, 4 by hand, 5 unused …
  std::vector<float> scores;             // for a SentencePiece vocabulary
  bool add_space_prefix = true;          // to a text, for a SentencePiece vocabulary
};

// Reads the metadata of a file, at most 256 MiB. Errors: kNotFound, kIo; kDamaged, naming the
// place; kTooLong.
Result<GgufFile> ReadGguf(const std::string& path);

// The same from the first bytes of a file; nullopt if they end before the metadata does.
Result<std::optional<GgufFile>> ParseGguf(std::string head);

// The tokenizer data of a file.
struct ModelVocabulary {
  VocabularySource source;
  std::vector<AddedTokens::Token> added;
};

// Returns only the added tokens, without the vocabulary's tables, which is quick.
std::vector<AddedTokens::Token> AddedTokensOf(const GgufFile& file);

// For files that are not SentencePiece. Errors: kUnavailable for an unsupported tokenizer (not
// byte-level BPE, or an unknown split rule), naming it; kDamaged.
Result<ModelVocabulary> VocabularyOf(const GgufFile& file);

// For a file whose `model` is "llama". Errors: as SentencePieces::Make; kUnavailable for a model
// whose added tokens take the spaces after them.
Result<SentencePieces> SentencePiecesOf(const GgufFile& file);

// Returns the bytes of a token in a byte-level vocabulary: each code point is a byte, with
// non-printing ones moved up to U+0100. nullopt if it has another code point.
std::optional<std::string> BytesOfPrintable(std::string_view token);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_FILES_GGUF_H_
