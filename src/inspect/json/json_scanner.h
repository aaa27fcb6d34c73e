// Scans a JSON document in one pass: validity, number of elements, first element, fields.
//
//   JsonScanner scanner;
//   scanner.Feed("[{\"a\":1},");
//   scanner.Feed("{\"a\":2}]");
//   scanner.Finish().values == 1 && scanner.Finish().elements == 2;
//
// Also accepts several values in a row and RS-separated ones. The input may be split anywhere.
// Thread-safety: one owner.

#ifndef DOSSIER_INSPECT_JSON_JSON_SCANNER_H_
#define DOSSIER_INSPECT_JSON_JSON_SCANNER_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/json/field_collector.h"
#include "inspect/json/json_machine.h"

namespace dossier::inspect {

// Checks whether the members of an object are named records: {"a1": {…}, "a2": {…}}.
class JsonMembers {
 public:
  void Start(bool object) {
    *this = JsonMembers();
    open_ = object;
  }
  void Add(bool object);
  // Adds a name inside the open member.
  void AddName(std::string_view raw);

  // Returns true if further names could change the result.
  bool looking() const { return open_ && others_ == 0 && objects_ <= kLooked; }
  // True for at least two members, all of them objects of one kind: they share most of their names,
  // or, if there are three or more, one name.
  bool alike() const;
  // Returns a name under which no member has a value.
  std::string FreeName() const;

 private:
  static constexpr std::uint64_t kLooked = 1000;
  static constexpr std::size_t kMostNames = 1000;

  bool open_ = false;
  std::uint64_t objects_ = 0, others_ = 0;
  std::uint64_t named_ = 0;  // total names of members
  std::map<std::string, std::uint64_t, std::less<>> names_;
};

// The place of the records in a JSON object.
struct JsonRecords {
  std::vector<std::string> path;  // the names on the way to them, as in the text
  std::string key;  // for members: the row field that holds their name; empty: elements of a list

  bool none() const { return path.empty() && key.empty(); }
};

// Finds the list of records in a JSON object: {"meta": {…}, "students": [{…}, {…}]}.
//
//   JsonLists lists;              // fed with the events of a JsonMachine
//   lists.best().path             // {"students"}
//
// A list of records is an array of at least two objects that is a member of the object or of nested
// objects, up to some levels deep. The longest one is chosen, or the first of equals; the others
// are reported. An object whose members are alike is a list of them if it is the root, or, if there
// is no other list, a member of the root. Thread-safety: one owner.

class JsonLists {
 public:
  void OnKey(std::string_view raw, int depth);
  void OnBegin(JsonKind container, int depth);
  void OnEnd(JsonKind container, int depth);
  void OnScalar(int depth);

  // Returns how deep events are needed from now on.
  int WantedDepth() const;
  // Returns true if the container that begins inside `depth` others is the one named by `path`.
  bool IsAt(std::span<const std::string> path, int depth) const;
  // Returns the last name inside `depth` containers, 1 to kMostNames.
  std::string_view name(int depth) const { return names_[static_cast<std::size_t>(depth - 1)]; }
  JsonRecords best() const;
  // Returns the first of the other lists, in order.
  const std::vector<ListBeside>& others() const { return other_lists_; }

 private:
  static constexpr int kMostNames = 6;
  static constexpr std::size_t kMostLists = 8;  // the most that are reported

  std::array<std::string, kMostNames> names_;
  int open_objects_ = 0;                    // from the root, each a member of the one before
  int list_depth_ = 0;                      // of the open array; 0: none
  std::uint64_t objects_ = 0, others_ = 0;  // in it
  std::uint64_t inner_found_ = 0;           // members of the root that have alike members
  ListBeside best_;
  std::vector<ListBeside> other_lists_;
  JsonMembers root_, inner_;
  JsonRecords inner_records_;
};

struct JsonSummary {
  std::uint64_t values = 0;  // complete values at the root
  JsonKind first_kind = JsonKind::kNull;
  bool only_containers = true;  // every value at the root is an object or an array
  std::uint64_t root_non_object = 0;
  std::uint64_t elements = 0;    // of the array, or of the flavour's list
  std::uint64_t non_object = 0;  // elements that are not objects
  std::uint64_t non_finite = 0;  // numbers that are NaN, Infinity or -Infinity
  std::string element_type;      // for an array of scalars: "number", "mixed"
  std::string flavour;           // geojson, notebook
  JsonRecords list;              // for an object: its longest list of records
  std::vector<ListBeside> other_lists;
  JsonFault fault = JsonFault::kNone;
  std::uint64_t fault_offset = 0;  // decoded bytes
  bool started_container = false;  // a { or [ and one whole token after it were read
};

enum class JsonSequence : std::uint8_t { kNone, kRecordSeparator };

class JsonScanner : private JsonEvents {
 public:
  // `list`: the place of the records; none: detect it.
  JsonScanner(const FieldLimits& limits, JsonSequence sequence = JsonSequence::kNone,
              JsonRecords list = {});

  // Stops at the first fault and ignores later bytes.
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
  bool ListIsRecords() const;  // the only root is an array or a flavour, or has a named list

  const JsonSequence sequence_;
  const FieldLimits limits_;
  const JsonRecords list_;
  JsonMachine machine_;
  JsonLists lists_;
  JsonSummary summary_;
  FieldCollector root_fields_;  // of root values
  FieldCollector list_fields_;  // of elements
  JsonCapture root_sample_, list_sample_;
  int list_depth_ = 0;  // depth of the record elements; 0: none yet
  bool list_open_ = false;
  std::string last_key_;  // at depth 1
  bool feature_type_ = false, has_features_ = false, has_nbformat_ = false, has_cells_ = false;
  bool between_ = true;  // no value is open
  std::uint64_t fed_ = 0;
  bool finished_ = false;
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_JSON_JSON_SCANNER_H_
