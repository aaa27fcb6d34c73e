#include "tokens/open.h"

#include <cstdlib>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "tokens/bpe_counter.h"
#include "tokens/gguf.h"
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

// The form of tables and the rules by which they are made: part of the name of each that is kept.
constexpr std::string_view kMaking = "1";

// The table of a model file, from the cache or made now and kept there.
Result<std::shared_ptr<const Vocabulary>> TableOf(const GgufFile& file, const std::string& key,
                                                  const DataPaths& paths) {
  const std::string folder = paths.cache + "/vocabularies";
  const std::string path = fmt::format("{}/{}.vocab", folder, key);
  if (!paths.cache.empty()) {
    if (auto known = Vocabulary::Open(path)) return known;
  }
  DOSSIER_ASSIGN_OR_RETURN(const ModelVocabulary vocabulary, VocabularyOf(file));
  DOSSIER_ASSIGN_OR_RETURN(std::string table, BuildVocabulary(vocabulary.source));
  // A table that cannot be kept is made again the next time.
  if (!paths.cache.empty() && MakeFolders(folder, 0700)) {
    [[maybe_unused]] const Status kept = WriteFileAtomic(path, table, 0600);
  }
  return Vocabulary::FromBytes(std::move(table));
}

Result<Opened> OpenGguf(const std::string& path, const DataPaths& paths) {
  DOSSIER_ASSIGN_OR_RETURN(const GgufFile file, ReadGguf(path));
  const std::string key = fmt::format("gguf-{}-{}-{}", std::string_view(kVocabularyMagic.data(), 8),
                                      kMaking, Sha256Hex(file.head));
  auto table = TableOf(file, key, paths);
  if (!table) return MakeError(table.error().code, "{}: {}", path, table.error().message);
  return Opened{.counter = MakeBpeCounter({.name = "gguf:" + path,
                                           .vocabulary = std::move(*table),
                                           .added = AddedTokens(AddedTokensOf(file))}),
                .identity = key};
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
  if (encoding.starts_with("gguf:")) return OpenGguf(std::string(encoding.substr(5)), paths);
  if (encoding == "bytes") return Opened{.counter = MakeByteCounter()};
  const std::vector<std::string> names = EncodingNames();
  const std::vector<std::string> near = NearestNames(encoding, names, 1);
  return MakeError(ErrorCode::kUsage, "encoding {}: unknown{}; one of {}", encoding,
                   near.empty() ? "" : " (nearest: " + near[0] + ")", Join(names, ", "));
}

}  // namespace dossier::tokens
