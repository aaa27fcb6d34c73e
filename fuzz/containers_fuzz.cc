// The readers of binary kinds, by the kind that the first byte chooses, and all of `inspect` over
// the same bytes: whatever they are, it ends and stays below the limit on memory
// (-malloc_limit_mb=64).

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "inspect/containers/binary_kinds.h"
#include "inspect/describe/describe.h"
#include "inspect/description/hint.h"
#include "inspect/text/byte_source.h"

namespace {

constexpr std::string_view kKinds[] = {
    "parquet",     "arrow file", "arrow stream", "avro", "sqlite", "pdf",  "zip", "tar", "npy",
    "safetensors", "gguf",       "png",          "jpeg", "gif",    "webp", "bmp", "tiff"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace inspect = dossier::inspect;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto source = inspect::MemorySource(bytes, "");
  const inspect::Options options{.inside_limit = 1 << 20, .threads = 1};
  const dossier::CancelToken cancel;
  inspect::Description about;
  const inspect::BinaryFile file{
      *source, bytes.size(), bytes.substr(0, 64 << 10), kKinds[data[0] % std::size(kKinds)],
      options, cancel};
  if (!inspect::DescribeBinary(file, &about)) std::abort();
  static_cast<void>(inspect::RenderHint(about, {}));
  const auto whole = inspect::Describe(*source, options, cancel);
  if (!whole) std::abort();
  if (whole->compression && whole->compression->inside_bytes > options.inside_limit) std::abort();
  static_cast<void>(dossier::ToJson(inspect::ToJson(*whole)));
  return 0;
}
