// Serves one document of a DocumentService: its indexes, and the answer to each method.
//
// Thread-safety: all methods from any thread; an index is built once, and others that need it wait.

#ifndef DOSSIER_ASK_DOCUMENTS_SERVED_DOCUMENT_H_
#define DOSSIER_ASK_DOCUMENTS_SERVED_DOCUMENT_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/documents/document_arguments.h"
#include "ask/documents/document_search.h"
#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "inspect/records/record_reader.h"

namespace dossier::ask {

// Finds lines and characters of a large text through sparse indexes.
//
//   LineIndex lines(text);
//   text.substr(lines.Start(3), lines.Start(5) - lines.Start(3));  // lines 3 and 4, from 0
//   CharacterIndex characters(text);
//   characters.ToByte(1'000'000);
//
// Memory: 8 bytes per 1,024 lines, 8 bytes per 64 KiB. Lines end with LF, CRLF or a lone CR; a
// character is a code point of valid UTF-8.
// Ownership: `text` must outlive the index. Thread-safety: immutable after construction.

class LineIndex {
 public:
  static constexpr std::uint64_t kStride = 1024;

  explicit LineIndex(std::string_view text);

  std::uint64_t count() const { return count_; }
  // Returns where line `line` (from 0) starts; the end of the text for count() and beyond.
  std::uint64_t Start(std::uint64_t line) const;
  // Returns the line of the byte at `offset`; at the end of the text, the line of the last byte.
  std::uint64_t LineAt(std::uint64_t offset) const;

 private:
  std::string_view text_;
  std::vector<std::uint64_t> starts_;  // starts of lines 0, kStride, 2 kStride…
  std::uint64_t count_ = 0;
};

class CharacterIndex {
 public:
  static constexpr std::uint64_t kBlock = 64 * 1024;

  explicit CharacterIndex(std::string_view text);

  std::uint64_t count() const { return count_; }
  // Returns where character `character` starts; the end of the text for count() and beyond.
  std::uint64_t ToByte(std::uint64_t character) const;
  // Returns the character of the byte at `offset`; count() at the end of the text and beyond.
  std::uint64_t ToCharacter(std::uint64_t offset) const;

 private:
  std::string_view text_;
  std::vector<std::uint64_t> before_;  // characters that start before each block
  std::uint64_t count_ = 0;
};

// The parameters that every method needs besides the document.
struct ServedCall {
  const Arguments& arguments;
  std::string& raw_out;
  const CancelToken& cancel;
};

// Content of a document in place of a row that is not a row: the count, and reasons for the first
// few.
struct SkippedRows {
  std::uint64_t count = 0;
  std::string reasons;
  std::string_view fate = "could not be read";  // or "were left out"
};
SkippedRows SkippedRowsOf(const inspect::Description& description);

class ServedDocument {
 public:
  // `document` must outlive this.
  explicit ServedDocument(const TextDocument& document) : document_(document) {}

  // The indexes that exist already.
  struct Built {
    bool lines = false, characters = false, records = false;
  };
  Built built();

  Result<Json> Info(const ServedCall& call);
  Result<Json> Grep(const ServedCall& call);
  Result<Json> Search(const ServedCall& call);
  Result<Json> Count(const ServedCall& call);
  Result<Json> Find(const ServedCall& call);
  Result<Json> Cuts(const ServedCall& call);
  Result<Json> Lines(const ServedCall& call);
  Result<Json> LineCount(const ServedCall& call);
  Result<Json> Records(const ServedCall& call);
  Result<Json> RecordsInfo(const ServedCall& call);
  Result<Json> Columns(const ServedCall& call);
  Result<Json> RecordSpan(const ServedCall& call);
  Result<Json> Locate(const ServedCall& call);
  Result<Json> CharToByte(const ServedCall& call);
  Result<Json> ByteToChar(const ServedCall& call);

 private:
  const LineIndex& LinesIndex();
  const CharacterIndex& CharactersIndex();
  Result<const inspect::RecordReader*> Reader(const CancelToken& cancel);

  const TextDocument& document_;
  std::mutex mutex_;  // guards the building of indexes; built ones do not change
  std::optional<LineIndex> lines_;
  std::optional<CharacterIndex> characters_;
  std::optional<inspect::RecordReader> reader_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_SERVED_DOCUMENT_H_
