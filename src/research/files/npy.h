// Reads headers of NumPy's `.npy` files, so that prompts can describe a program's output.
//
//   DOSSIER_ASSIGN_OR_RETURN(const NpyHeader header, ReadNpyHeader(folder + "/working/x.npy"));
//   NpySchema(header);      // "float64, shape (3, 4)"
//
// The data is never read, so a pickled array is never opened here. Format: versions 1 to 3 of
// numpy.lib.format. Thread-safety: pure functions over files.

#ifndef DOSSIER_RESEARCH_FILES_NPY_H_
#define DOSSIER_RESEARCH_FILES_NPY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::research {

inline constexpr std::size_t kMaxNpyHeader = 64 << 10;  // bytes

struct NpyHeader {
  std::string descr;  // as NumPy writes it: "<f8"; for a record: the list, as JSON
  enum class Order : std::uint8_t { kC, kFortran } order = Order::kC;
  std::vector<std::uint64_t> shape;  // empty: a single value
  // kPickled: objects that only Python can read, by executing them.
  enum class Values : std::uint8_t { kPlain, kPickled } values = Values::kPlain;
};

// Parses the file's first bytes. Errors: kDamaged with the fault.
Result<NpyHeader> ParseNpyHeader(std::string_view bytes);
// Errors: also kNotFound, kIo.
Result<NpyHeader> ReadNpyHeader(const std::string& path);
// Returns "float64, shape (3, 4)" or "pickled objects, shape (2,)".
std::string NpySchema(const NpyHeader& header);

// Lists the arrays of a workspace for prompts: where each one is, its type and its shape.
//
//   DOSSIER_ASSIGN_OR_RETURN(Json arrays, NpyList(workspace));
//   request.sections.push_back({"npy", arrays});
//
// A file whose header cannot be read is listed with the reason. Errors: kIo for the folder.

inline constexpr std::size_t kMaxListedArrays = 100;

// Returns [{"path": "working/x.npy", "schema": "float64, shape (3, 4)"}], sorted by path.
Result<Json> NpyList(const std::string& workspace);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_NPY_H_
