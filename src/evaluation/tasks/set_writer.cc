#include "evaluation/tasks/set_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/random.h"

namespace dossier::evaluation {
namespace {

constexpr std::size_t kPending = 1 << 20;

}  // namespace

Result<SetWriter> SetWriter::Begin(const std::string& folder) {
  std::string place = folder;
  while (place.size() > 1 && place.ends_with('/')) place.pop_back();
  std::error_code ignored;
  if (Exists(place) && !(IsFolder(place) && std::filesystem::is_empty(place, ignored))) {
    return MakeError(ErrorCode::kRefused,
                     "{}: it is there already; a task set is never changed, name another folder",
                     place);
  }
  std::string beside = fmt::format("{}.{}.part", place, RandomHex(8));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(beside));
  return SetWriter(std::move(place), std::move(beside));
}

SetWriter::~SetWriter() {
  if (!folder_.empty()) (void)RemoveAll(folder_);
}

Status SetWriter::Open(const std::string& path) {
  const std::string full = folder_ + "/" + path;
  DOSSIER_RETURN_IF_ERROR(MakeFolders(full.substr(0, full.rfind('/'))));
  fd_ = UniqueFd(open(full.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd_.valid()) return MakeErrnoError(errno, full);
  open_ = path;
  hash_ = Sha256();
  return {};
}

Status SetWriter::Write(std::string_view bytes) {
  pending_.append(bytes);
  return pending_.size() < kPending ? Status() : Flush();
}

Status SetWriter::Flush() {
  hash_.Update(pending_);
  auto written = WriteAll(fd_.get(), pending_);
  if (!written) {
    return MakeError(ErrorCode::kFailed, "{}/{}: {} bytes could not be written: {}", folder_, open_,
                     pending_.size(), written.error().message);
  }
  pending_.clear();
  return {};
}

Result<ContextFile> SetWriter::Close(std::int64_t tokens) {
  DOSSIER_RETURN_IF_ERROR(Flush());
  fd_.Reset();
  ContextFile file{.path = std::exchange(open_, {}), .sha256 = hash_.Hex(), .tokens = tokens};
  manifest_.files.push_back(file);
  return file;
}

Status SetWriter::Add(Task task) {
  if (!ids_.insert(task.id).second) {
    return MakeError(ErrorCode::kInternal, "the task id {} was given twice", task.id);
  }
  tasks_.push_back(std::move(task));
  return {};
}

Result<TaskSet> SetWriter::Finish(Manifest manifest) {
  manifest.pool = manifest_.pool;
  manifest.refused = manifest_.refused;
  manifest.files = manifest_.files;
  std::sort(manifest.files.begin(), manifest.files.end(),
            [](const ContextFile& a, const ContextFile& b) { return a.path < b.path; });
  return TaskSet{.folder = folder_, .manifest = std::move(manifest), .tasks = tasks_};
}

Status SetWriter::Publish(const TaskSet& set) {
  std::string lines;
  for (const Task& task : set.tasks) lines.append(ToJson(TaskToJson(task))).push_back('\n');
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(folder_ + "/tasks.jsonl", lines));
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(folder_ + "/manifest.json",
                                          ToPrettyJson(ManifestToJson(set.manifest)) + "\n"));
  std::error_code failed;
  std::filesystem::remove(place_, failed);  // an empty folder that was there before
  std::filesystem::rename(folder_, place_, failed);
  if (failed) return MakeErrnoError(failed.value(), place_);
  folder_.clear();
  return {};
}

}  // namespace dossier::evaluation
