// Reads and checks the arguments of a request; each error names the argument.
//
//   const Arguments arguments("grep", args);
//   DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t max, arguments.Whole("max", {.otherwise = 1000}));
//
// Thread-safety: immutable; refers to the object it was given.

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
  std::optional<std::uint64_t> otherwise;  // default; without one the argument is required
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
};

class Arguments {
 public:
  Arguments(std::string_view method, const JsonObject& args) : method_(method), args_(args) {}

  // Returns a whole number from 0 to range.max. Null counts as missing. A number with a fraction, a
  // string or a boolean is refused.
  Result<std::uint64_t> Whole(std::string_view name, WholeRange range = {}) const;
  // Returns a required text.
  Result<std::string_view> Text(std::string_view name) const;
  // Returns a text from `choices`; the first one if missing.
  Result<std::string_view> Choice(std::string_view name,
                                  std::initializer_list<std::string_view> choices) const;
  // Returns false if missing.
  Result<bool> Flag(std::string_view name) const;
  // Returns a required list of at most `max_items` whole numbers up to `max`.
  Result<std::vector<std::uint64_t>> Wholes(std::string_view name, std::size_t max_items,
                                            std::uint64_t max) const;
  // Fails if there is an argument other than `names`.
  Status Only(std::initializer_list<std::string_view> names) const;

 private:
  const Json* Get(std::string_view name) const;
  Result<std::uint64_t> Read(std::string_view name, const Json& value, std::uint64_t max) const;

  std::string_view method_;
  const JsonObject& args_;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_DOCUMENT_ARGUMENTS_H_
