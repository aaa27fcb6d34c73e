// Which file an import means, by its last names: no build system is asked.
//
//   const ImportGraph graph(paths);
//   graph.Find("src/a.cc", "base/files/walk.h")      // index of "src/base/files/walk.h"
//
// Thread-safety: immutable after construction; the paths outlive it.

#ifndef DOSSIER_SOURCES_REPOSITORY_IMPORT_GRAPH_H_
#define DOSSIER_SOURCES_REPOSITORY_IMPORT_GRAPH_H_

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dossier::sources {

class ImportGraph {
 public:
  explicit ImportGraph(const std::vector<std::string>& paths);

  // The file whose path ends in most of the names of `import`; of equals one that ends as `import`
  // does (".h"), then the nearest to `from`, then the first. Unset: none has its last name.
  std::optional<std::size_t> Find(std::string_view from, std::string_view import) const;

 private:
  struct Target {
    std::vector<std::string> names;  // of the path, without the ending of the last
    std::size_t file;
  };
  const std::vector<std::string>& paths_;
  std::unordered_map<std::string, std::vector<Target>> by_name_;
};

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_REPOSITORY_IMPORT_GRAPH_H_
