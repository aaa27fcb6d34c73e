// Headers of NumPy's `.npy` files: what a prompt says of a program's output without opening it.
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
  std::string descr;  // as NumPy writes it: "<f8"; of a record: the list, as JSON
  enum class Order : std::uint8_t { kC, kFortran } order = Order::kC;
  std::vector<std::uint64_t> shape;  // empty: one value
  // Objects that only Python can read, by running what they say.
  enum class Values : std::uint8_t { kPlain, kPickled } values = Values::kPlain;
};

// Of the file's first bytes. Errors: kDamaged with what is wrong.
Result<NpyHeader> ParseNpyHeader(std::string_view bytes);
// Errors: also kNotFound, kIo.
Result<NpyHeader> ReadNpyHeader(const std::string& path);
// "float64, shape (3, 4)", "pickled objects, shape (2,)".
std::string NpySchema(const NpyHeader& header);

// The arrays of a workspace, for prompts: where each lies and what is in it, without opening it.
//
//   DOSSIER_ASSIGN_OR_RETURN(Json arrays, NpyList(workspace));
//   request.sections.push_back({"npy", arrays});
//
// A file whose header cannot be read is listed with the reason. Errors: kIo of the folder.

inline constexpr std::size_t kMaxListedArrays = 100;

// [{"path": "working/x.npy", "schema": "float64, shape (3, 4)"}], by path.
Result<Json> NpyList(const std::string& workspace);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_NPY_H_
