// Which configuration files there may be, low to high.
//
//   for (const Candidate& file : FindCandidates(search)) TryToRead(file.path);
//
// Pure: nothing is looked at; a candidate need not exist.

#ifndef DOSSIER_CONFIG_LAYERS_H_
#define DOSSIER_CONFIG_LAYERS_H_

#include <string>
#include <vector>

#include "config/folders.h"

namespace dossier::config {

enum class Mode { kDefault, kCompat };

struct Search {
  std::string folder;      // working folder, absolute, without links
  std::string root;        // of the repository; "" outside one
  std::string config_dir;  // --config-dir or $DOSSIER_CONFIG_DIR; replaces the search
  // Whose the files of `config_dir` are: who names a folder on the command line means what is in
  // it.
  enum class ConfigDir { kNamed, kFromVariable } config_dir_from = ConfigDir::kFromVariable;
  std::string cllm_path;  // $CLLM_PATH; counts with kCompat only
  std::string name;       // --config
  Mode mode = Mode::kDefault;
  UserFolders user;
};

struct Candidate {
  enum class Owner { kUser, kProject };
  std::string path;
  Owner owner = Owner::kProject;

  bool operator==(const Candidate&) const = default;
};

std::vector<Candidate> FindCandidates(const Search& search);

// The files that `--config NAME` may mean. The nearest group with a file in it counts, and in a
// group the first file that exists; with kCompat every group counts, low to high.
std::vector<std::vector<Candidate>> FindNamedCandidates(const Search& search);

// From the working folder up to the repository's root; the working folder alone outside one.
std::vector<std::string> ProjectFolders(const std::string& folder, const std::string& root);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_LAYERS_H_
