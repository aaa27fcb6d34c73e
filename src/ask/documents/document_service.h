// The host's side of `doc` and `records` in the sandbox: finds positions and rows in the run's
// documents without loading a text into a worker.
//
//   DocumentService service(std::move(documents));
//   std::string raw;
//   auto found = service.Handle("grep", {{"ctx", 0}, {"pattern", "ERROR"}}, &raw, cancel);
//   // {"matches":[{"at":120,"len":5,"line":3,"line_at":100,"line_len":80}],"total":1,"cut":false}
//
// Requests come from a worker, so everything in them is checked: names, types, ranges. `ctx` is the
// index of a document, 0 if missing. All offsets are bytes of its text; lines and records count
// from 0, but `line` of a match from 1; ends are exclusive.
//
// method        arguments                                 value
// info          -                                         name bytes chars lines
// grep          pattern max=1000 ignore_case=false        matches: [{at len line line_at
// line_len}],
//               context=0 each="line"|"match"             total cut; with context: context_at
//                                                         context_len of each match
// search        query k=10                                hits: [{at len score}], best first
// count         text                                      count, as str.count
// find          text from_byte=0 to_byte=end              at, -1 if it is not there
// cuts          size from_byte=0 to_byte=end              ends of pieces, ascending
//                                                         (content_cuts.h)
// lines         from to                                   at len
// line_count    -                                         count
// records       from=0 max_records=1000 max_bytes=4 MiB   rows ({"blob":[0,len]}: a JSON array in
//               names_only                                raw_out) first next count; names_only:
//               the
//                                                         caller keeps no values, the reading is
//                                                         not counted; read: all of them count
// records_info  -                                         count (null: no records) format
//                                                         fields: [{shown path types …}]
//                                                         skipped: {count reasons fate}, non_finite
//                                                         where these are not 0; beside: the text
//                                                         is more than its records; label if null
// sql_tables    - (of all documents)                      tables: [{ctx names}], for sql
// columns       -                                         columns: [[name, field, type]], of all
//                                                         records, for sql (sql_tables.h)
// record_span   from to                                   at len
// locate        byte                                      char line
// char_to_byte  chars: [...]                              bytes: [...]
// byte_to_char  bytes: [...]                              chars: [...]
//
// `lines` clamps like a Python slice; `records` returns at least one record if there is one.
// Thread-safety: Handle from many threads. An index is built when first needed, one at a time per
// document.

#ifndef DOSSIER_ASK_DOCUMENTS_DOCUMENT_SERVICE_H_
#define DOSSIER_ASK_DOCUMENTS_DOCUMENT_SERVICE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ask/documents/document_search.h"
#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::ask {

class ServedDocument;

class DocumentService {
 public:
  // The texts must outlive the service.
  explicit DocumentService(std::vector<TextDocument> documents);
  ~DocumentService();
  DocumentService(const DocumentService&) = delete;
  DocumentService& operator=(const DocumentService&) = delete;

  // Returns true if `method` is one of those above.
  static bool Knows(std::string_view method);

  // Answers one request. `raw_out` is always set; it is empty if the value has no {"blob":…}.
  // Errors: kInvalidArgument with a sentence that names the argument; kNotFound for an unknown
  // method; kTooLong for a record too large for a row; kCancelled.
  Result<Json> Handle(std::string_view method, const JsonObject& args, std::string* raw_out,
                      const CancelToken& cancel);

  // Returns true if Handle can answer without reading through a text, from what is already known.
  // False for a request that would first build an index.
  bool IsQuick(std::string_view method, const JsonObject& args) const;

  const std::vector<TextDocument>& documents() const { return documents_; }

 private:
  Json SqlTables() const;

  std::vector<TextDocument> documents_;
  std::vector<std::unique_ptr<ServedDocument>> served_;  // one per document
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_DOCUMENT_SERVICE_H_
