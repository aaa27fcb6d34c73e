// The one writing connection of a store in this process, and the queue before it: writes that come
// together share a commit.
//
//   Writer writer(path, options);
//   DOSSIER_RETURN_IF_ERROR(writer.Run([](Connection& connection) -> Status { … }));
//
// A caller whose write is queued while nobody commits becomes the leader and commits for all.
// Thread-safety: all methods from any thread. The connection is opened by the first write.

#ifndef DOSSIER_MEMORY_STORE_WRITER_H_
#define DOSSIER_MEMORY_STORE_WRITER_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/files/file_lock.h"
#include "memory/records/connection.h"

namespace dossier::memory {

class Writer {
 public:
  Writer(std::string path, DatabaseOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}
  ~Writer();  // waits for the queue
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Runs `job` inside a transaction, perhaps on another thread; returns once it is committed. If
  // `job` fails, what it wrote is undone and its error returned; others of the same commit do not
  // notice. Errors also: kLocked naming the holder, kIo with the path.
  using Job = std::function<Status(Connection& connection)>;
  Status Run(const Job& job);

 private:
  struct Waiting {
    const Job* job;
    std::optional<Status> result;
    bool done = false;
  };
  class NetworkLock;

  // With `lock` held; lets go of it meanwhile.
  void CommitBatch(std::unique_lock<std::mutex>& lock);
  Status RunBatch(std::unique_lock<std::mutex>& lock, std::vector<Waiting*>* batch);
  Waiting* TakeNext(std::size_t taken, Clock::Steady end);
  Status Open();
  Error Name(Error error) const;

  const std::string path_;
  const DatabaseOptions options_;
  std::unique_ptr<Connection> connection_;  // the leader's

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting*> queue_;
  bool leading_ = false;
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_STORE_WRITER_H_
