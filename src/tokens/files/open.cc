#include "tokens/files/open.h"

#include <cstdlib>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/files/missing_file.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "tokens/encode/bpe_counter.h"
#include "tokens/encode/sentence_piece.h"
#include "tokens/files/gguf.h"
#include "tokens/files/vocabulary_files.h"

namespace dossier::tokens {
namespace {

// The version of the table format and of the rules for making tables and counting; part of the name
// of each cached table and count, so that results of an older program are not reused.
constexpr std::string_view kMaking = "1";

Opened OpenPublic(const PublicEncoding& encoding, const DataPaths& paths) {
  const std::string path = fmt::format("{}/{}.vocab", paths.tables, encoding.name);
  auto vocabulary = Vocabulary::Open(path);
  if (vocabulary) {
    return {
        .counter = MakeBpeCounter({.name = std::string(encoding.name), .vocabulary = *vocabulary}),
        .identity = fmt::format("{}-{}", encoding.name, kMaking)};
  }
  const bool missing = vocabulary.error().code == ErrorCode::kNotFound;
  return {.counter = MakeStandIn(std::string(encoding.name), encoding.stand_in),
          .warning =
              fmt::format("{}: token counts are estimates, bytes / {:.1f}; {}",
                          missing ? path + " is missing" : vocabulary.error().message,
                          encoding.stand_in.bytes_per_token,
                          missing ? "`make build` makes it where scripts/setup can fetch its source"
                                  : "build or install it again")};
}

// Returns the table for the source from `make`: from the cache, or made now and cached.
template <typename Make>
Result<std::shared_ptr<const Vocabulary>> KeptTable(const std::string& key, const DataPaths& paths,
                                                    Make make) {
  const std::string folder = paths.cache + "/vocabularies";
  const std::string path = fmt::format("{}/{}.vocab", folder, key);
  if (!paths.cache.empty()) {
    if (auto known = Vocabulary::Open(path)) return known;
  }
  DOSSIER_ASSIGN_OR_RETURN(const VocabularySource source, make());
  DOSSIER_ASSIGN_OR_RETURN(std::string table, BuildVocabulary(source));
  // A table that cannot be cached is made again next time.
  if (!paths.cache.empty() && MakeFolders(folder, 0700)) {
    [[maybe_unused]] const Status kept = WriteFileAtomic(path, table, 0600);
  }
  return Vocabulary::FromBytes(std::move(table));
}

std::string KeyOf(std::string_view kind, std::string_view bytes) {
  return fmt::format("{}-{}-{}-{}", kind,
                     std::string_view(kVocabularyMagic.data(), kVocabularyMagic.size()), kMaking,
                     Sha256Hex(bytes));
}

Result<std::shared_ptr<const Counter>> SentencePieceCounterOf(const GgufFile& file,
                                                              const std::string& name) {
  using Begin = SentencePieces::Begin;
  DOSSIER_ASSIGN_OR_RETURN(SentencePieces pieces, SentencePiecesOf(file));
  return MakeSentencePieceCounter(
      {.name = name,
       .pieces = std::move(pieces),
       .added = AddedTokens(AddedTokensOf(file)),
       .begin = file.add_space_prefix ? Begin::kMarked : Begin::kAsItIs});
}

Result<Opened> OpenGguf(const std::string& path, const DataPaths& paths) {
  DOSSIER_ASSIGN_OR_RETURN(const GgufFile file, ReadGguf(path));
  const std::string key = KeyOf("gguf", file.head);
  if (file.model == "llama") {
    auto counter = SentencePieceCounterOf(file, "gguf:" + path);
    if (!counter) return MakeError(counter.error().code, "{}: {}", path, counter.error().message);
    return Opened{.counter = std::move(*counter), .identity = key};
  }
  auto table = KeptTable(key, paths, [&]() -> Result<VocabularySource> {
    DOSSIER_ASSIGN_OR_RETURN(ModelVocabulary vocabulary, VocabularyOf(file));
    return std::move(vocabulary.source);
  });
  if (!table) return MakeError(table.error().code, "{}: {}", path, table.error().message);
  return Opened{.counter = MakeBpeCounter({.name = "gguf:" + path,
                                           .vocabulary = std::move(*table),
                                           .added = AddedTokens(AddedTokensOf(file))}),
                .identity = key};
}

Result<Opened> OpenTokenizerJson(const std::string& path, const DataPaths& paths) {
  constexpr std::uint64_t kMostBytes = 64u << 20;
  DOSSIER_ASSIGN_OR_RETURN(const std::string bytes, ReadNamedFile(path, kMostBytes));
  auto file = ParseTokenizerJson(bytes);
  if (!file) return MakeError(file.error().code, "{}: {}", path, file.error().message);
  const std::string key = KeyOf("hf", bytes);
  auto table =
      KeptTable(key, paths, [&]() -> Result<VocabularySource> { return std::move(file->source); });
  if (!table) return MakeError(table.error().code, "{}: {}", path, table.error().message);
  BpeOptions options{.name = "hf:" + path,
                     .vocabulary = std::move(*table),
                     .added = AddedTokens(std::move(file->added)),
                     .pattern = std::move(file->pattern),
                     .byte_ids = file->byte_ids};
  if (!file->steps.empty()) {
    options.normalize = [steps = std::move(file->steps)](std::string_view text) {
      return Normalize(steps, text);
    };
  }
  return Opened{.counter = MakeBpeCounter(std::move(options)), .identity = key};
}

}  // namespace

DataPaths DefaultDataPaths() {
  DataPaths paths;
  const char* tables = std::getenv("DOSSIER_TOKEN_TABLES");
  if (tables && tables[0]) {
    paths.tables = tables;
  } else {
    const auto found = FindInstalled("../share/dossier");
    const auto folder = ExecutableFolder();
    if (found) {
      paths.tables = *found;
    } else if (folder) {
      paths.tables = *folder + "/../share/dossier";  // for the message that it is missing
    }
  }
  if (const auto cache = CacheFolder()) paths.cache = *cache;
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
  for (const std::string_view kind : {"gguf:", "hf:"}) {
    if (encoding != kind) continue;
    return MakeError(ErrorCode::kUsage, "encoding {0}: names no file; write {0}FILE", kind);
  }
  if (encoding == "chars") return Opened{.counter = MakeCharCounter()};
  if (encoding.starts_with("gguf:")) return OpenGguf(std::string(encoding.substr(5)), paths);
  if (encoding.starts_with("hf:")) {
    return OpenTokenizerJson(std::string(encoding.substr(3)), paths);
  }
  if (encoding == "bytes") return Opened{.counter = MakeByteCounter()};
  const std::vector<std::string> names = EncodingNames();
  const std::vector<std::string> near = NearestNames(encoding, names, 1);
  return MakeError(ErrorCode::kUsage, "encoding {}: unknown{}; one of {}", encoding,
                   near.empty() ? "" : " (nearest: " + near[0] + ")", Join(names, ", "));
}

}  // namespace dossier::tokens
