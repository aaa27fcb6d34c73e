// Parses and reads places in the documents of a context, as hits name them and `read` takes them.
//
//   DOSSIER_ASSIGN_OR_RETURN(const DocumentPlace place, ParsePlace("a.txt:12-30", names));
//   DOSSIER_ASSIGN_OR_RETURN(const PlaceText text, ReadPlace(place, service, 20'000, cancel));
//   text.at;    // "a.txt:12-30"
//   text.next;  // "a.txt:31-", or "" at the end of the place
//
//   a.txt            all of it               a.txt:12-30      lines, from 1, ends included
//   a.txt:913-       to the end              x.csv#record=17-20   records, from 1
//   a.txt:12         one line                a.txt@0-5000     characters, from 0, end excluded
//
// If there is only one document, its name may be left out: "12-30", "#record=4", "@0-100". Errors:
// kInvalidArgument naming the place and the forms; kNotFound with the nearest document.
// Thread-safety: pure functions; the service is thread-safe.

#ifndef DOSSIER_SERVER_CONTEXTS_PLACE_H_
#define DOSSIER_SERVER_CONTEXTS_PLACE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ask/documents/document_service.h"
#include "base/cancel.h"
#include "base/result.h"

namespace dossier::server {

struct DocumentPlace {
  std::size_t document = 0;  // index
  enum class Unit : std::uint8_t { kLines, kRecords, kCharacters } unit = Unit::kLines;
  std::uint64_t from = 0;           // from 0
  std::optional<std::uint64_t> to;  // exclusive; unset: the end
};

Result<DocumentPlace> ParsePlace(std::string_view at, std::span<const ask::TextDocument> documents);
// Formats the place as hits do: "a.txt:12-30". Has the document's name if there are several.
std::string PlaceName(const DocumentPlace& place, std::span<const ask::TextDocument> documents);

struct PlaceText {
  std::string at;                    // the place that was read, as PlaceName
  std::string of;                    // "11,001 lines"
  std::string_view bytes;            // part of the document's text; lives as long as it
  std::uint64_t start = 0, end = 0;  // in characters
  std::uint64_t first = 0;           // the first line or record, from 1; 0 for characters
  bool cut = false;                  // at max_chars, or within one long line
  std::string next;                  // the place to continue at; "" if everything was read
};

// Reads at most `max_chars` characters, cut after a whole line or record if one fits. Builds
// indexes of the document when they are first needed.
Result<PlaceText> ReadPlace(const DocumentPlace& place, ask::DocumentService& service,
                            std::uint64_t max_chars, const CancelToken& cancel);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_CONTEXTS_PLACE_H_
