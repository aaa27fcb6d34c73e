// Records which key owns which contexts and runs, so that several users of one server do not see
// each other's.
//
//   Owners owners(folder + "/owners.jsonl");
//   owners.Note(run, key.owner());
//   if (!owners.Owns(key.owner(), run)) return NoSuchRun(run);
//
// A context id names its content, so it may have several owners; a run has one. The file has one
// line per entry and is read once: entries that another server of this user adds later are known
// here only after the next start. Thread-safety: all methods from any thread.

#ifndef DOSSIER_SERVER_OWNERS_H_
#define DOSSIER_SERVER_OWNERS_H_

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "server/key_ring.h"

namespace dossier::server {

class Owners {
 public:
  explicit Owners(std::string path);
  // An entry that cannot be written is remembered until this process ends.
  void Note(std::string_view id, std::string_view owner);
  bool Owns(std::string_view owner, std::string_view id) const;
  bool Sees(const ServerKey& key, std::string_view id) const;  // an admin sees all

 private:
  const std::string path_;
  mutable std::mutex mutex_;  // guards what follows
  UniqueFd file_;             // opened with the first note
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> owners_;  // by id
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_OWNERS_H_
