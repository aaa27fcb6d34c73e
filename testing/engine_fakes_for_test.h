// Programs of a cluster that tests put on PATH: each logs its command line and does what its script
// says.
//
//   EngineFakes fakes;
//   fakes.Add("apptainer", "case $1 in exec) echo ran;; esac");
//   …
//   EXPECT_THAT(fakes.Calls("apptainer"), ElementsAre(HasSubstr("exec --containall")));
//
// Ownership: PATH is what it was again at the end. Thread-safety: none; one test at a time.

#ifndef DOSSIER_TESTING_ENGINE_FAKES_FOR_TEST_H_
#define DOSSIER_TESTING_ENGINE_FAKES_FOR_TEST_H_

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/text/text.h"

namespace dossier::research {

class EngineFakes {
 public:
  EngineFakes() : folder_(*TempFolder::Make()), old_path_(std::getenv("PATH")) {
    setenv("PATH", (folder_.path() + ":/usr/bin:/bin").c_str(), 1);
  }
  ~EngineFakes() { setenv("PATH", old_path_.c_str(), 1); }
  EngineFakes(const EngineFakes&) = delete;
  EngineFakes& operator=(const EngineFakes&) = delete;

  // `$HERE` in the script is a folder of the fakes' own.
  void Add(std::string_view name, std::string_view script) const {
    const std::string text = fmt::format(
        "#!/bin/sh\nHERE='{}'\n{{ printf '%s ' \"$@\"; echo; }} >> \"$HERE/{}.calls\"\n{}\n",
        folder_.path(), name, script);
    (void)WriteFileAtomic(fmt::format("{}/{}", folder_.path(), name), text, 0755);
  }

  // The arguments of each call, in order.
  std::vector<std::string> Calls(std::string_view name) const {
    std::vector<std::string> calls;
    const std::string text =
        ReadFile(fmt::format("{}/{}.calls", folder_.path(), name)).value_or("");
    for (const std::string_view line : Split(text, '\n')) {
      if (!line.empty()) calls.emplace_back(line);
    }
    return calls;
  }

  const std::string& folder() const { return folder_.path(); }

 private:
  TempFolder folder_;
  std::string old_path_;
};

}  // namespace dossier::research

#endif  // DOSSIER_TESTING_ENGINE_FAKES_FOR_TEST_H_
