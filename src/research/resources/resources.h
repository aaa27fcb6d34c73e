// Prepares the templates, libraries, data sets, models, setups and documents that a run is given.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ResourceFile file, ReadResourceFile(text, {.file = path, …}));
//   DOSSIER_ASSIGN_OR_RETURN(const PreparedResources ready, PrepareResources(file, place, cancel));
//   services.binds = ready.binds;
//   for (int phase = 0; phase < kPhases; ++phase)
//     services.resources[phase] = ResourcesSection(ready.index, static_cast<Phase>(phase));
//   DOSSIER_RETURN_IF_ERROR(RememberResources(ready.index, *store));
//
// Reading checks that local paths exist; preparing fetches, copies and hashes. Thread-safety:
// functions over their arguments and files; one call per run folder at a time.

#ifndef DOSSIER_RESEARCH_RESOURCES_RESOURCES_H_
#define DOSSIER_RESEARCH_RESOURCES_RESOURCES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/json/json.h"
#include "base/result.h"
#include "memory/store/store.h"
#include "research/exec/exec_backend.h"

namespace dossier::research {

inline constexpr std::size_t kMaxResourceFileBytes = 256 << 10;

enum class ResourceClass : std::uint8_t {
  kTemplate,
  kLibrary,
  kDataset,
  kModel,
  kSetup,
  kDocument
};
inline constexpr int kResourceClasses = 6;
std::string_view ResourceClassName(ResourceClass kind);  // "template"

enum class ResourceSource : std::uint8_t { kLocal, kGithub, kHuggingFace };
std::string_view ResourceSourceName(ResourceSource source);  // "local"

// The origin of a resource, and the path at which commands see it.
struct ResourceOrigin {
  ResourceSource source = ResourceSource::kLocal;
  std::string name;
  std::string mount;  // mount_path, dest: under the workspace mount
  // For local ones: a path on this machine.
  std::string host_path;
  Bind::Access access = Bind::Access::kRead;
  // For the others: "owner/name", a URL, or the path of a repository.
  std::string repo, ref;  // ref, revision: "" is the default branch
  std::string use;        // as, type: "data", "library", "model", "dataset"
};

struct ResourceItem {
  std::string name;
  ResourceClass kind = ResourceClass::kDocument;
  ResourceSource source = ResourceSource::kLocal;
  std::string resource, path, notes;
  std::optional<bool> include_tree, include_content;  // unset: depends on class and phase
  std::vector<std::string> include_files;
  // 0: nothing; -1: everything. Number of files; code points per file; code points in total.
  std::optional<std::int64_t> max_files, max_chars, max_total_chars;
  enum class Need : std::uint8_t { kOptional, kRequired } need = Need::kOptional;
};

struct ResourceFile {
  std::string path;    // as the user gave it
  std::string sha256;  // of the file's text
  std::vector<ResourceOrigin> origins;
  std::vector<ResourceItem> items;
  std::vector<std::string> warnings;  // such as a missing ref
};

struct ResourceFilePlace {
  std::string file = "resources.yaml";  // for messages
  std::string folder;                   // base of relative host paths; "": used as they are
  std::string workspace_mount = "/workspace";
};

// Parses YAML or JSON. Errors: kDamaged with all faults, one per line: `items[2].path: "../x"
// leaves the workspace`.
Result<ResourceFile> ReadResourceFile(std::string_view text, const ResourceFilePlace& place);

enum class Availability : std::uint8_t { kAvailable, kMissing, kPendingFetch };
enum class FetchStatus : std::uint8_t { kAvailable, kFailed, kPending };
std::string_view AvailabilityName(Availability availability);  // "pending_fetch"
std::string_view FetchStatusName(FetchStatus status);

struct ResourceText {
  std::string path;  // relative to the item
  std::string text;  // cut to max_chars; the last line says so
};

struct IndexedItem {
  ResourceItem item;
  std::string id;     // "document:doc:local:mesh:README.md"
  std::string mount;  // path that commands see: "/workspace/mesh/README.md"
  Availability availability = Availability::kMissing;
  FetchStatus fetch_status = FetchStatus::kPending;
  std::string reason;             // why it is unavailable
  std::string head;               // commit id of a repository
  std::vector<std::string> tree;  // paths, to depth 4; folders end in "/"
  std::int64_t files = 0;         // total number
  std::uint64_t bytes = 0;
  std::vector<ResourceText> texts;
  std::string digest;  // SHA-256
};

struct ResourceIndex {
  std::string file, file_sha256, digest;  // digest: over everything
  std::string created_at;                 // RFC 3339
  std::string phase_mode;                 // exec.phase_mode
  Json normalised;                        // the file, without absolute paths
  std::vector<ResourceOrigin> origins;
  std::vector<IndexedItem> items;  // sorted by class, name, source, resource, path
  std::vector<std::string> warnings;
};

// Where and how resources are prepared.
struct ResourcePlace {
  std::string run_folder;  // absolute; "": nothing is fetched or copied (`resources check`)
  std::shared_ptr<const Clock> clock;
  std::string phase_mode = "split";  // exec.phase_mode, for the snapshot
  // kYes if resources may be fetched from other machines.
  enum class Network : std::uint8_t { kNo, kYes } network = Network::kYes;
  std::function<void(std::string_view)> progress;  // may be empty
};

struct PreparedResources {
  ResourceIndex index;
  std::vector<Bind> binds;
};

// Fetches missing resources, copies templates, setups and documents to resources/CLASS/NAME, builds
// the index, and writes memory/resource_snapshot.json. What the run folder has is not fetched
// again. A failed fetch is recorded in the index. Errors: kNotFound with the reason if its item is
// required; kIo, kCancelled.
Result<PreparedResources> PrepareResources(const ResourceFile& file, const ResourcePlace& place,
                                           const CancelToken& cancel);

// Returns section `Resources` for a phase: guidance, mounts, every item once. Null: no resources.
Json ResourcesSection(const ResourceIndex& index, Phase phase);
// Returns "digest, time, file, one line per item, usage": at most 2,000 code points.
std::string ResourceIndexText(const ResourceIndex& index);
JsonObject ResourceIndexJson(const ResourceIndex& index);
// Writes core keys and one archival record per item to the root branch.
Status RememberResources(const ResourceIndex& index, memory::Store& store);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RESOURCES_RESOURCES_H_
