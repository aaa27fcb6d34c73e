// Templates, libraries, data sets, models, setups and documents that are given to a run.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ResourceFile file, ReadResourceFile(text, {.file = path, …}));
//   DOSSIER_ASSIGN_OR_RETURN(const PreparedResources ready, PrepareResources(file, place, cancel));
//   services.binds = ready.binds;
//   for (int phase = 0; phase < kPhases; ++phase)
//     services.resources[phase] = ResourcesSection(ready.index, static_cast<Phase>(phase));
//   DOSSIER_RETURN_IF_ERROR(RememberResources(ready.index, *store));
//
// Reading looks whether local paths are there; preparing fetches, copies and hashes.
// Thread-safety: functions over their arguments and files; one call a run folder at a time.

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

// Where something comes from, and where commands see it.
struct ResourceOrigin {
  ResourceSource source = ResourceSource::kLocal;
  std::string name;
  std::string mount;  // mount_path, dest: under the workspace mount
  // Of local ones: a path of this machine.
  std::string host_path;
  Bind::Access access = Bind::Access::kRead;
  // Of the others: "owner/name", an address, or the path of a repository.
  std::string repo, ref;  // ref, revision: "" is the default branch
  std::string use;        // as, type: "data", "library", "model", "dataset"
};

struct ResourceItem {
  std::string name;
  ResourceClass kind = ResourceClass::kDocument;
  ResourceSource source = ResourceSource::kLocal;
  std::string resource, path, notes;
  std::optional<bool> include_tree, include_content;  // unset: by class and phase
  std::vector<std::string> include_files;
  // 0: nothing; -1: whole. Files; code points of one file; of all.
  std::optional<std::int64_t> max_files, max_chars, max_total_chars;
  enum class Need : std::uint8_t { kOptional, kRequired } need = Need::kOptional;
};

struct ResourceFile {
  std::string path;    // as it was named
  std::string sha256;  // of its text
  std::vector<ResourceOrigin> origins;
  std::vector<ResourceItem> items;
  std::vector<std::string> warnings;  // a ref that is missing
};

struct ResourceFilePlace {
  std::string file = "resources.yaml";  // for messages
  std::string folder;                   // where relative host paths start; "": as they are
  std::string workspace_mount = "/workspace";
};

// YAML or JSON. Errors: kDamaged, with all faults, a line each: `items[2].path: "../x" leaves the
// workspace`.
Result<ResourceFile> ReadResourceFile(std::string_view text, const ResourceFilePlace& place);

enum class Availability : std::uint8_t { kAvailable, kMissing, kPendingFetch };
enum class FetchStatus : std::uint8_t { kAvailable, kFailed, kPending };
std::string_view AvailabilityName(Availability availability);  // "pending_fetch"
std::string_view FetchStatusName(FetchStatus status);

struct ResourceText {
  std::string path;  // relative to the item
  std::string text;  // cut to max_chars, which its last line says
};

struct IndexedItem {
  ResourceItem item;
  std::string id;     // "document:doc:local:mesh:README.md"
  std::string mount;  // where commands see it: "/workspace/mesh/README.md"
  Availability availability = Availability::kMissing;
  FetchStatus fetch_status = FetchStatus::kPending;
  std::string reason;             // why it is not available
  std::string head;               // commit, of a repository
  std::vector<std::string> tree;  // paths, to depth 4; folders end in "/"
  std::int64_t files = 0;         // all of them
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
  std::vector<IndexedItem> items;  // by class, name, source, resource, path
  std::vector<std::string> warnings;
};

// Where resources are put. Unset functions are the machine's own.
struct ResourcePlace {
  std::string run_folder;  // absolute; "": nothing is fetched or copied (`resources check`)
  std::shared_ptr<const Clock> clock;
  std::string phase_mode = "split";  // exec.phase_mode, for the snapshot
  // Whether resources may be fetched from other machines.
  enum class Network : std::uint8_t { kNo, kYes } network = Network::kYes;
  std::function<void(std::string_view)> progress;  // may be empty
};

struct PreparedResources {
  ResourceIndex index;
  std::vector<Bind> binds;
};

// Fetches what is not there, copies templates, setups and documents to resources/CLASS/NAME, builds
// the index, writes memory/resource_snapshot.json. What a run folder has already is not fetched
// again. A failed fetch is in the index; errors: kNotFound if its item is required, with the
// reason; kIo, kCancelled.
Result<PreparedResources> PrepareResources(const ResourceFile& file, const ResourcePlace& place,
                                           const CancelToken& cancel);

// Section `Resources` of a phase: guidance, mounts, every item once. Null: there are none.
Json ResourcesSection(const ResourceIndex& index, Phase phase);
// "digest, time, file, one line an item, how to use": at most 2,000 code points.
std::string ResourceIndexText(const ResourceIndex& index);
JsonObject ResourceIndexJson(const ResourceIndex& index);
// Core keys and one archival record an item, in the root branch.
Status RememberResources(const ResourceIndex& index, memory::Store& store);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RESOURCES_RESOURCES_H_
