// Which files are packed. A step of Pack.

#ifndef DOSSIER_SOURCES_PACK_PACK_SELECT_H_
#define DOSSIER_SOURCES_PACK_PACK_SELECT_H_

#include <optional>
#include <string>
#include <vector>

#include "sources/pack/pack.h"
#include "sources/repository/git_facts.h"

namespace dossier::sources {

struct SelectedFile {
  std::string full;    // absolute
  std::string path;    // from the root of the pack, by which it is shown
  bool named = false;  // outright: no rule leaves it out
};

struct Selection {
  std::string root;  // the repository's, or the deepest folder above all that was named
  std::vector<SelectedFile> files;  // by bytes of `path`, once each
  std::optional<GitFacts> git;      // if the root is a work tree's
  std::vector<std::string> warnings;
};

// Errors: as Pack's. Thread-safety: a function over its arguments.
Result<Selection> SelectFiles(const PackOptions& options, const CancelToken& cancel);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_SELECT_H_
