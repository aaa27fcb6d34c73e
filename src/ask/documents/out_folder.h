// The folder of --out-dir: code writes files for the user into it, one by one over the bridge.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto folder, OutFolder::Open("results"));
//   folder->Write("table.csv", OutFolder::How::kNew, bytes);
//   for (const OutFile& file : folder->Collect()) …;    // name, bytes, SHA-256
//
// Code can only write: the folder is not in its sandbox, and its content is never returned. A file
// name must be one plain, visible name, so no folder, link or device can be created. What others
// put into the folder meanwhile is never followed, overwritten or listed. At most kMostOutBytes in
// at most kMostOutFiles files. Thread-safety: all methods from any thread.

#ifndef DOSSIER_ASK_DOCUMENTS_OUT_FOLDER_H_
#define DOSSIER_ASK_DOCUMENTS_OUT_FOLDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/json/json.h"
#include "base/result.h"

namespace dossier::ask {

inline constexpr std::uint64_t kMostOutBytes = 1ull << 30;
inline constexpr std::size_t kMostOutFiles = 1'000;

struct OutFile {
  std::string name, path;  // path: with the folder as the user named it
  std::uint64_t bytes = 0;
  std::string sha256;
};

JsonArray OutFilesJson(const std::vector<OutFile>& files);

class OutFolder {
 public:
  // The permitted content of the folder. kOfThisRun: the run started with this folder and is
  // repeated from its start; a file that code writes again replaces the earlier one.
  enum class Held { kNothing, kOfThisRun };
  // Creates the folder and its parents if missing. Errors: kUsage if it contains anything else
  // (whose origin would be unclear) or is not a folder; kIo, kPermission.
  static Result<std::unique_ptr<OutFolder>> Open(const std::string& path,
                                                 Held held = Held::kNothing);

  enum class How { kNew, kAppend };  // kNew: also replaces what code wrote before
  // Errors (sentences for the code): kInvalidArgument (the name), kLimit (bytes, files), kIo.
  Status Write(std::string_view name, How how, std::string_view bytes);

  // Returns what was written, sorted by name, as it is on the disk now. `lost` gets a sentence for
  // each file that is no longer what code wrote.
  std::vector<OutFile> Collect(std::vector<std::string>* lost) const;

 private:
  OutFolder(std::string path, UniqueFd fd, Held held)
      : path_(std::move(path)), fd_(std::move(fd)), held_(held) {}

  // Distinguishes a file of ours from one that replaced it.
  struct Written {
    std::uint64_t bytes = 0;
    std::uint64_t device = 0, inode = 0;
  };

  const std::string path_;
  const UniqueFd fd_;
  const Held held_;
  mutable std::mutex mutex_;
  std::map<std::string, Written, std::less<>> files_;
  std::uint64_t total_ = 0;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_OUT_FOLDER_H_
