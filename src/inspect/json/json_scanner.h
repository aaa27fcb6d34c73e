// A JSON document in one pass: validity, number of elements, first element, fields.
//
//   JsonScanner scanner;
//   scanner.Feed("[{\"a\":1},");
//   scanner.Feed("{\"a\":2}]");
//   scanner.Finish().values == 1 && scanner.Finish().elements == 2;
//
// Takes also values that follow each other and RS-separated ones. The state survives any split of
// the input. Thread-safety: one owner.

#ifndef DOSSIER_INSPECT_JSON_JSON_SCANNER_H_
#define DOSSIER_INSPECT_JSON_JSON_SCANNER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/json/field_collector.h"
#include "inspect/json/json_machine.h"

namespace dossier::inspect {

// Finds the one list of records in a JSON object: {"meta": {…}, "students": [{…}, {…}]}.
//
//   JsonLists lists;              // fed with the events of a JsonMachine
//   lists.only()                  // {"students"}
//
// A list of records is an array of objects, at least two, that is a member of the object or of an
// object in it. Of several none is chosen: only a reader of the question can. Thread-safety: one
// owner.

class JsonLists {
 public:
  void OnKey(std::string_view raw, int depth);
  void OnBegin(JsonKind container, int depth);
  void OnEnd(JsonKind container, int depth);
  void OnScalar(int depth);

  // How deep events are needed from here on.
  int WantedDepth() const;
  // Whether the container that begins inside `depth` others is the one that `path` names.
  bool IsAt(std::span<const std::string> path, int depth) const;
  // The names, as they stand in the text, that lead to the only list; empty: none, or several.
  std::vector<std::string> only() const { return found_ == 1 ? path_ : std::vector<std::string>(); }

 private:
  static constexpr int kMostNames = 2;

  std::array<std::string, kMostNames> names_;
  bool in_object_ = false, in_inner_object_ = false;  // the root, and the member that is open
  int list_depth_ = 0;                                // of the array that is open; 0: none
  std::uint64_t objects_ = 0, others_ = 0;            // in it
  std::uint64_t found_ = 0;
  std::vector<std::string> path_;
};

struct JsonSummary {
  std::uint64_t values = 0;  // complete values at the root
  JsonKind first_kind = JsonKind::kNull;
  bool only_containers = true;  // every value at the root is an object or an array
  std::uint64_t root_non_object = 0;
  std::uint64_t elements = 0;          // of the array, or of the flavour's list
  std::uint64_t non_object = 0;        // elements that are not objects
  std::uint64_t non_finite = 0;        // numbers that are NaN, Infinity or -Infinity
  std::string element_type;            // of an array of scalars: "number", "mixed"
  std::string flavour;                 // geojson, notebook
  std::vector<std::string> only_list;  // of an object: names that lead to its one list of records
  JsonFault fault = JsonFault::kNone;
  std::uint64_t fault_offset = 0;  // decoded bytes
  bool started_container = false;  // a { or [ and one whole token behind it were read
};

enum class JsonSequence : std::uint8_t { kNone, kRecordSeparator };

class JsonScanner : private JsonEvents {
 public:
  // `list`: names that lead to the array whose elements are the records; empty: found out.
  JsonScanner(const FieldLimits& limits, JsonSequence sequence = JsonSequence::kNone,
              std::vector<std::string> list = {});

  // Stops at the first fault: later bytes are ignored.
  void Feed(std::string_view text);
  const JsonSummary& Finish();
  bool failed() const { return summary_.fault != JsonFault::kNone; }

  // The first record: element of an array or flavour, value of a sequence; else the whole object.
  const JsonCapture& sample() const;
  const FieldCollector& fields() const;

 private:
  void OnBegin(JsonKind container, int depth) override;
  void OnEnd(JsonKind container, int depth) override;
  void OnKey(std::string_view raw, int depth) override;
  void OnScalar(JsonKind kind, std::string_view raw, std::uint64_t raw_bytes, int depth) override;

  void BeginContainer(JsonKind container, int depth);
  void EndContainer(JsonKind container, int depth);
  void ChooseEventDepth();
  const char* BetweenValues(const char* at, const char* end);
  void EndValue();
  bool IsRecordList(int depth) const;
  bool ListIsRecords() const;  // the only root is an array, a flavour, or has a list that was named

  const JsonSequence sequence_;
  const FieldLimits limits_;
  const std::vector<std::string> list_;
  JsonMachine machine_;
  JsonLists lists_;
  JsonSummary summary_;
  FieldCollector root_fields_;  // of root values
  FieldCollector list_fields_;  // of elements
  JsonCapture root_sample_, list_sample_;
  int list_depth_ = 0;  // depth of the elements that are records; 0: none yet
  bool list_open_ = false;
  std::string last_key_;  // at depth 1
  bool feature_type_ = false, has_features_ = false, has_nbformat_ = false, has_cells_ = false;
  bool between_ = true;  // no value is open
  std::uint64_t fed_ = 0;
  bool finished_ = false;
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_JSON_JSON_SCANNER_H_
