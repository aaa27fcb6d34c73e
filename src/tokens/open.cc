#include "tokens/open.h"

#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "tokens/bpe_counter.h"
#include "tokens/rank_file.h"

namespace dossier::tokens {
namespace {

Opened OpenPublic(const PublicEncoding& encoding, const DataPaths& paths) {
  const std::string path = fmt::format("{}/{}.vocab", paths.tables, encoding.name);
  auto vocabulary = Vocabulary::Open(path);
  if (vocabulary) {
    return {.counter = MakeBpeCounter({.name = std::string(encoding.name), .vocabulary = *vocabulary}),
            .identity = std::string(encoding.name)};
  }
  const bool missing = vocabulary.error().code == ErrorCode::kNotFound;
  return {.counter = MakeStandIn(std::string(encoding.name), encoding.stand_in),
          .warning = fmt::format("{}: token counts are estimates, bytes / {:.1f}; {}",
                      missing ? path + " is missing" : vocabulary.error().message,
                      encoding.stand_in.bytes_per_token,
                      missing ? "`make build` makes it where scripts/setup can fetch its source"
                              : "build or install it again")};
}

}  // namespace

DataPaths DefaultDataPaths() {
  DataPaths paths;
  const char* tables = std::getenv("DOSSIER_TOKEN_TABLES");
  if (tables && tables[0]) {
    paths.tables = tables;
  } else if (const auto folder = ExecutableFolder()) {
    paths.tables = *folder + "/../share/dossier";
  }
  if (const auto cache = CacheFolder()) paths.cache = *cache ;
  return paths;
}

std::vector<std::string> EncodingNames() {
  std::vector<std::string> names;
  for (const PublicEncoding& encoding : PublicEncodings()) names.emplace_back(encoding.name);
  for (const char* name : {"gguf:FILE", "hf:FILE", "chars", "bytes"}) names.emplace_back(name);
  return names;
}

Result<Opened> Open(std::string_view encoding, const DataPaths& paths) {
  if (const PublicEncoding* known = FindPublicEncoding(encoding)) return OpenPublic(*known, paths);
  if (encoding == "chars") return Opened{.counter = MakeCharCounter()};
  if (encoding == "bytes") return Opened{.counter = MakeByteCounter()};
  const std::vector<std::string> names = EncodingNames();
  const std::vector<std::string> near = NearestNames(encoding, names, 1);
  return MakeError(ErrorCode::kUsage, "encoding {}: unknown{}; one of {}", encoding,
                   near.empty() ? "" : " (nearest: " + near[0] + ")", Join(names, ", "));
}

}  // namespace dossier::tokens
