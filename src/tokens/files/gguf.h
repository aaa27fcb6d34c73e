// The vocabulary inside a GGUF model file.
//
//   DOSSIER_ASSIGN_OR_RETURN(GgufFile file, ReadGguf("model.gguf"));
//   DOSSIER_ASSIGN_OR_RETURN(ModelVocabulary vocabulary, VocabularyOf(file));
//
// A GGUF file starts with its metadata, named values of which those under `tokenizer.ggml`, and the
// few that say what the model is and how large, are read here; the weights behind them are never
// touched. Files come from strangers: every length, count and offset is checked against what is
// there. Thread-safety: functions over their arguments.

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

// How large a model is: ARCHITECTURE.context_length and so on; 0: the file does not say.
struct GgufShape {
  std::uint64_t context_length = 0;  // tokens that the model was trained for
  std::uint64_t layers = 0, width = 0, heads = 0, kv_heads = 0, key_width = 0, value_width = 0;

  // Bytes that a server keeps for each token of the window, two for a number; unset: not known, or
  // not believable.
  std::optional<std::uint64_t> KvBytes() const;
};

struct GgufFile {
  GgufShape shape;
  std::string head;  // the metadata alone; the views below are into it, so it must not be changed
  std::string name;  // general.name
  std::string model, pre;                // tokenizer.ggml.model and .pre
  std::vector<std::string_view> tokens;  // by number, in their printable form
  std::vector<std::string_view> merges;  // "left right"
  std::vector<std::int32_t> types;       // llama.cpp's: 1 normal, 3 control, 4 by hand, 5 unused …
  std::vector<float> scores;             // of a SentencePiece vocabulary
  bool add_space_prefix = true;          // to a text, if the vocabulary is one
};

// Reads the metadata of a file, at most 256 MiB. Errors: kNotFound, kIo; kDamaged, naming the
// place; kTooLong.
Result<GgufFile> ReadGguf(const std::string& path);

// The same from the first bytes of a file; nullopt if they end before the metadata does.
Result<std::optional<GgufFile>> ParseGguf(std::string head);

// What a file says of its tokenizer.
struct ModelVocabulary {
  VocabularySource source;
  std::vector<AddedTokens::Token> added;
};

// The added tokens alone, without the vocabulary's tables: quick.
std::vector<AddedTokens::Token> AddedTokensOf(const GgufFile& file);

// Of a file of another kind. Errors: kUnavailable for a tokenizer that is not counted here (not
// byte-level BPE, or a splitting that is not known), naming it; kDamaged.
Result<ModelVocabulary> VocabularyOf(const GgufFile& file);

// Of a file whose `model` is "llama". Errors: as SentencePieces::Make; kUnavailable for a model
// whose added tokens take the spaces behind them.
Result<SentencePieces> SentencePiecesOf(const GgufFile& file);

// The bytes that a token of a byte-level vocabulary stands for: its code points are bytes, those
// that do not print moved up to U+0100. nullopt: it holds another code point.
std::optional<std::string> BytesOfPrintable(std::string_view token);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_FILES_GGUF_H_
