// Finds the one list of records in a JSON object: {"meta": {…}, "students": [{…}, {…}]}.
//
//   JsonLists lists;              // fed with the events of a JsonMachine
//   lists.only()                  // {"students"}
//
// A list of records is an array of objects, at least two, that is a member of the object or of an
// object in it. Of several none is chosen: only a reader of the question can. Thread-safety: one
// owner.

#ifndef DOSSIER_INSPECT_JSON_JSON_LISTS_H_
#define DOSSIER_INSPECT_JSON_JSON_LISTS_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/json/json_machine.h"

namespace dossier::inspect {

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

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_JSON_JSON_LISTS_H_
