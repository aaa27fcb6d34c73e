// Writes a task set into a folder beside its place; the set appears under its name only when all of
// it is there and was checked.
//
//   DOSSIER_ASSIGN_OR_RETURN(SetWriter writer, SetWriter::Begin("sets/a"));
//   DOSSIER_RETURN_IF_ERROR(family.Generate(spec, writer));
//   DOSSIER_ASSIGN_OR_RETURN(TaskSet set, writer.Finish(manifest));   // still beside its place
//   …check it…
//   DOSSIER_RETURN_IF_ERROR(writer.Publish());
//
// Without Publish nothing is left. Thread-safety: none; one owner.

#ifndef DOSSIER_EVALUATION_TASKS_SET_WRITER_H_
#define DOSSIER_EVALUATION_TASKS_SET_WRITER_H_

#include <set>
#include <string>

#include "base/files/file.h"
#include "base/hash.h"
#include "evaluation/family.h"

namespace dossier::evaluation {

class SetWriter final : public TaskSink {
 public:
  // Errors: kRefused if `folder` exists and holds anything; kPermission, kIo.
  static Result<SetWriter> Begin(const std::string& folder);
  SetWriter(SetWriter&& other) noexcept = default;
  SetWriter& operator=(SetWriter&&) = delete;
  ~SetWriter() override;

  Status Open(const std::string& path) override;
  Status Write(std::string_view bytes) override;
  Result<ContextFile> Close(std::int64_t tokens) override;
  Status Add(Task task) override;
  void Refuse(std::string_view rule) override { ++manifest_.refused[std::string(rule)]; }
  void UsePool(const PoolInfo& pool) override { manifest_.pool = pool; }

  // All that was made so far, as a set in its folder of now. Tasks may be changed before Publish.
  Result<TaskSet> Finish(Manifest manifest);
  // Writes `set` as it is now, and moves it to its place.
  Status Publish(const TaskSet& set);

 private:
  SetWriter(std::string place, std::string folder)
      : place_(std::move(place)), folder_(std::move(folder)) {}
  Status Flush();

  std::string place_, folder_;
  Manifest manifest_;
  std::vector<Task> tasks_;
  std::set<std::string> ids_;
  UniqueFd fd_;
  std::string open_;     // path of the file that is written; "": none
  std::string pending_;  // bytes that wait to be written
  Sha256 hash_;
};

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_TASKS_SET_WRITER_H_
