// One document behind DocumentService: its indexes, and the answer to each method.
//
// Thread-safety: all methods from any thread; an index is built once, others who need it wait.

#ifndef DOSSIER_ASK_DOCUMENTS_SERVED_DOCUMENT_H_
#define DOSSIER_ASK_DOCUMENTS_SERVED_DOCUMENT_H_

#include <mutex>
#include <optional>
#include <string>

#include "ask/documents/document_arguments.h"
#include "ask/documents/document_positions.h"
#include "ask/documents/document_search.h"
#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "inspect/records/record_reader.h"

namespace dossier::ask {

// What every answer needs besides the document.
struct ServedCall {
  const Arguments& arguments;
  std::string& raw_out;
  const CancelToken& cancel;
};

// What stands in a document where a row should be and is none: how often, and why for the first
// few.
struct SkippedRows {
  std::uint64_t count = 0;
  std::string reasons;
  std::string_view fate = "could not be read";  // or were left out
};
SkippedRows SkippedRowsOf(const inspect::Description& description);

class ServedDocument {
 public:
  // `document` must outlive this.
  explicit ServedDocument(const TextDocument& document) : document_(document) {}

  // Which indexes are there already.
  struct Built {
    bool lines = false, characters = false, records = false;
  };
  Built built();

  Result<Json> Info(const ServedCall& call);
  Result<Json> Grep(const ServedCall& call);
  Result<Json> Search(const ServedCall& call);
  Result<Json> Count(const ServedCall& call);
  Result<Json> Find(const ServedCall& call);
  Result<Json> Lines(const ServedCall& call);
  Result<Json> LineCount(const ServedCall& call);
  Result<Json> Records(const ServedCall& call);
  Result<Json> RecordsInfo(const ServedCall& call);
  Result<Json> RecordSpan(const ServedCall& call);
  Result<Json> Locate(const ServedCall& call);
  Result<Json> CharToByte(const ServedCall& call);
  Result<Json> ByteToChar(const ServedCall& call);

 private:
  const LineIndex& LinesIndex();
  const CharacterIndex& CharactersIndex();
  Result<const inspect::RecordReader*> Reader(const CancelToken& cancel);

  const TextDocument& document_;
  std::mutex mutex_;  // guards the building of the indexes; once built they do not change
  std::optional<LineIndex> lines_;
  std::optional<CharacterIndex> characters_;
  std::optional<inspect::RecordReader> reader_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_SERVED_DOCUMENT_H_
