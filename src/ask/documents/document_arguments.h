// Checked reading of a request's arguments: each failure names the argument.
//
//   const Arguments arguments("grep", args);
//   DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t max, arguments.Whole("max", {.otherwise = 1000}));
//
// Thread-safety: immutable; looks into the object it was given.

#ifndef DOSSIER_ASK_DOCUMENTS_DOCUMENT_ARGUMENTS_H_
#define DOSSIER_ASK_DOCUMENTS_DOCUMENT_ARGUMENTS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::ask {

struct WholeRange {
  std::optional<std::uint64_t> otherwise;  // without one the argument is required
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
};

class Arguments {
 public:
  Arguments(std::string_view method, const JsonObject& args) : method_(method), args_(args) {}

  // A whole number from 0 to range.max. Null counts as left out. A number with a fraction, a string
  // or a boolean is refused.
  Result<std::uint64_t> Whole(std::string_view name, WholeRange range = {}) const;
  // A text, required.
  Result<std::string_view> Text(std::string_view name) const;
  // A text out of `choices`, the first one if left out.
  Result<std::string_view> Choice(std::string_view name,
                                  std::initializer_list<std::string_view> choices) const;
  // false if left out.
  Result<bool> Flag(std::string_view name) const;
  // A list of at most `max_items` whole numbers up to `max`, required.
  Result<std::vector<std::uint64_t>> Wholes(std::string_view name, std::size_t max_items,
                                            std::uint64_t max) const;
  // Fails if there is an argument that is none of `names`.
  Status Only(std::initializer_list<std::string_view> names) const;

 private:
  const Json* Get(std::string_view name) const;
  Result<std::uint64_t> Read(std::string_view name, const Json& value, std::uint64_t max) const;

  std::string_view method_;
  const JsonObject& args_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_DOCUMENT_ARGUMENTS_H_
