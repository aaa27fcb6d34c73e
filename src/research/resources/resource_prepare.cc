#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "research/files/phase_files.h"
#include "research/files/run_folder.h"
#include "research/resources/resource_content.h"
#include "research/resources/resource_policy.h"
#include "research/resources/resources.h"

namespace dossier::research {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kAvailability = {"available", "missing", "pending_fetch"};
constexpr std::array<std::string_view, 3> kFetchStatus = {"available", "failed", "pending"};

// The path of an origin on this machine, and the result of fetching it.
struct Located {
  std::string path;  // "": not on this machine
  Fetched fetched;
};

// Keys are in alphabetical order, so that equal items have equal bytes.
JsonObject NormalisedItem(const ResourceItem& item) {
  return {{"class", ResourceClassName(item.kind)},
          {"include_content", OrNull(item.include_content)},
          {"include_files", TextArray(item.include_files)},
          {"include_tree", OrNull(item.include_tree)},
          {"max_chars", OrNull(item.max_chars)},
          {"max_files", OrNull(item.max_files)},
          {"max_total_chars", OrNull(item.max_total_chars)},
          {"name", item.name},
          {"notes", item.notes},
          {"path", item.path},
          {"required", item.need == ResourceItem::Need::kRequired},
          {"resource", item.resource},
          {"source", ResourceSourceName(item.source)}};
}

// Omits the path on this machine; a local repository keeps only its name.
JsonObject NormalisedOrigin(const ResourceOrigin& origin) {
  const bool here = origin.repo.starts_with('/') || origin.repo.starts_with("file://");
  return {{"mount", origin.mount},
          {"name", origin.name},
          {"read_only", origin.access == Bind::Access::kRead},
          {"ref", origin.ref},
          {"repo", here ? fs::path(origin.repo).filename().string() : origin.repo},
          {"source", ResourceSourceName(origin.source)},
          {"use", origin.use}};
}

std::string IdOf(const ResourceItem& item) {
  return fmt::format("{}:{}:{}:{}:{}", ResourceClassName(item.kind), item.name,
                     ResourceSourceName(item.source), item.resource, item.path);
}

// "/workspace/mesh" with "." gives "/workspace/mesh".
std::string Below(const std::string& folder, const std::string& path) {
  std::string whole = (fs::path(folder) / path).lexically_normal().string();
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  return whole;
}

class Builder {
 public:
  Builder(const ResourceFile& file, const ResourcePlace& place, const CancelToken& cancel)
      : file_(file), place_(place), cancel_(cancel) {}

  Result<PreparedResources> Build() {
    ready_.index.warnings = file_.warnings;
    for (const ResourceOrigin& origin : file_.origins) {
      DOSSIER_RETURN_IF_ERROR(Locate(origin));
    }
    DOSSIER_RETURN_IF_ERROR(Index());
    DOSSIER_RETURN_IF_ERROR(CheckRequired());
    if (place_.run_folder.empty()) return std::move(ready_);
    for (const IndexedItem& item : ready_.index.items) DOSSIER_RETURN_IF_ERROR(Stage(item));
    DOSSIER_RETURN_IF_ERROR(WriteSnapshot());
    return std::move(ready_);
  }

 private:
  Status Locate(const ResourceOrigin& origin) {
    Located located;
    if (origin.source == ResourceSource::kLocal) {
      located = {origin.host_path, {.status = FetchStatus::kAvailable}};
    } else if (origin.source == ResourceSource::kGithub && !place_.run_folder.empty()) {
      located = Fetch(origin);
    }
    if (cancel_.cancelled()) {
      return MakeError(ErrorCode::kCancelled, "cancelled: {}", cancel_.reason());
    }
    if (!located.path.empty()) {
      ready_.binds.push_back({located.path, origin.mount, origin.access});
    }
    if (located.fetched.status == FetchStatus::kFailed) {
      ready_.index.warnings.push_back(
          fmt::format("{} could not be fetched: {}", origin.name, located.fetched.reason));
    }
    located_[origin.name] = std::move(located);
    return {};
  }

  Located Fetch(const ResourceOrigin& origin) {
    const std::string folder =
        fmt::format("{}/{}/{}", place_.run_folder, run_files::kData, origin.name);
    const bool local = origin.repo.starts_with('/') || origin.repo.starts_with("file://");
    if (place_.network == ResourcePlace::Network::kNo && !local && !Exists(folder)) {
      return {"", {.status = FetchStatus::kFailed, .reason = "--offline: nothing is fetched"}};
    }
    if (place_.progress) place_.progress(fmt::format("fetching {}", origin.repo));
    Fetched fetched = FetchRepository(origin, folder, cancel_);
    const bool here = fetched.status == FetchStatus::kAvailable;
    return {here ? folder : "", std::move(fetched)};
  }

  Status Index() {
    ResourceIndex& index = ready_.index;
    index.file = file_.path;
    index.file_sha256 = file_.sha256;
    index.origins = file_.origins;
    index.phase_mode = place_.phase_mode;
    for (const ResourceItem& item : file_.items) {
      DOSSIER_ASSIGN_OR_RETURN(IndexedItem indexed, IndexItem(item));
      index.items.push_back(std::move(indexed));
    }
    std::sort(index.items.begin(), index.items.end(), [](const auto& a, const auto& b) {
      const auto key = [](const IndexedItem& one) {
        return std::make_tuple(ResourceClassName(one.item.kind), std::string_view(one.item.name),
                               ResourceSourceName(one.item.source),
                               std::string_view(one.item.resource),
                               std::string_view(one.item.path));
      };
      return key(a) < key(b);
    });
    JsonArray origins, items;
    for (const ResourceOrigin& origin : file_.origins) origins.push_back(NormalisedOrigin(origin));
    std::string all;
    for (const IndexedItem& item : index.items) {
      items.push_back(NormalisedItem(item.item));
      all += item.digest + "\n";
    }
    index.normalised = JsonObject{{"origins", std::move(origins)}, {"items", std::move(items)}};
    index.digest = Sha256Hex(ToJson(index.normalised) + "\n" + all);
    index.created_at = CreatedAt();
    return {};
  }

  // A resume finds the same index, and so keeps its creation time.
  std::string CreatedAt() const {
    if (!place_.run_folder.empty()) {
      const auto text =
          ReadFile(fmt::format("{}/{}", place_.run_folder, run_files::kResourceSnapshot));
      const auto json = text ? ParseJson(*text) : Result<Json>(Json());
      if (json && FindString(*json, "digest") == ready_.index.digest) {
        return TextAt(*json, "created_at");
      }
    }
    return FormatTime((place_.clock ? place_.clock : SystemClock())->WallNow());
  }

  Result<IndexedItem> IndexItem(const ResourceItem& item) {
    IndexedItem out{.item = item, .id = IdOf(item)};
    const auto origin =
        std::find_if(file_.origins.begin(), file_.origins.end(),
                     [&](const ResourceOrigin& one) { return one.name == item.resource; });
    if (origin != file_.origins.end()) out.mount = Below(origin->mount, item.path);
    const Located& located = located_[item.resource];
    out.fetch_status = located.fetched.status;
    out.head = located.fetched.head;
    out.reason = located.fetched.reason;
    out.availability = out.fetch_status == FetchStatus::kPending ? Availability::kPendingFetch
                                                                 : Availability::kMissing;
    std::string content;
    if (!located.path.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(content, ReadInto(PlaceOf(item), &out));
    }
    out.digest = Sha256Hex(ToJson(NormalisedItem(item)) + "\n" + content);
    return out;
  }

  // Returns the path on this machine; "" if a link leads out of the resource.
  std::string PlaceOf(const ResourceItem& item) {
    std::error_code error;
    const fs::path root = fs::canonical(located_[item.resource].path, error);
    const auto place = error ? std::nullopt : PlaceInside(root, item.path);
    return place ? place->string() : std::string();
  }

  // Reads the content and returns its digest; "" if there is none.
  Result<std::string> ReadInto(const std::string& path, IndexedItem* out) {
    if (path.empty()) {
      out->reason = fmt::format("a link leads {} out of {}", out->item.path, out->item.resource);
      return std::string();
    }
    auto content = ReadContent(
        path,
        {.limits = LimitsOf(out->item),
         .tree = EverShowsTree(out->item) ? ContentWanted::kYes : ContentWanted::kNo,
         .texts = EverShowsContent(out->item) ? ContentWanted::kYes : ContentWanted::kNo,
         .include_files = out->item.include_files},
        cancel_);
    if (!content) {
      if (content.error().code == ErrorCode::kCancelled) {
        return tl::unexpected(std::move(content).error());
      }
      out->reason = out->item.path + " is not in " + out->item.resource;
      if (content.error().code != ErrorCode::kNotFound) out->reason = content.error().message;
      return std::string();
    }
    out->availability = Availability::kAvailable;
    out->tree = std::move(content->tree);
    out->texts = std::move(content->texts);
    out->files = content->files;
    out->bytes = content->bytes;
    for (const std::string& warning : content->warnings) {
      ready_.index.warnings.push_back(out->id + ": " + warning);
    }
    return content->sha256;
  }

  Status CheckRequired() const {
    for (const IndexedItem& item : ready_.index.items) {
      const bool lacks = item.item.need == ResourceItem::Need::kRequired &&
                         item.availability == Availability::kMissing;
      if (lacks) {
        return MakeError(ErrorCode::kNotFound, "{}: {} is required and is not there: {}",
                         file_.path, item.id, item.reason);
      }
    }
    return {};
  }

  // Copies resources that may change during a run.
  Status Stage(const IndexedItem& item) {
    const bool wanted = IsStaged(item.item.kind) && item.availability == Availability::kAvailable;
    if (!wanted) return {};
    const fs::path from = PlaceOf(item.item);
    const std::string to = fmt::format("{}/{}/{}/{}", place_.run_folder, run_files::kResources,
                                       ResourceClassName(item.item.kind), item.item.name);
    if (Exists(to)) return {};
    const std::string part = to + ".part";
    std::error_code error;
    if (fs::is_directory(from, error)) {
      // Links are not copied: they may lead anywhere.
      DOSSIER_RETURN_IF_ERROR(CopyWorkspace(from.string(), part, CopiedLinks::kNone));
    } else {
      DOSSIER_RETURN_IF_ERROR(RemoveAll(part));
      DOSSIER_RETURN_IF_ERROR(MakeFolders(part));
      if (fs::is_regular_file(from, error)) {
        fs::copy_file(from, fs::path(part) / from.filename(), error);
      }
    }
    if (!error) fs::rename(part, to, error);
    if (error) return MakeError(ErrorCode::kIo, "{}: {}", to, error.message());
    return {};
  }

  Status WriteSnapshot() const {
    const std::string folder = fmt::format("{}/{}", place_.run_folder, run_files::kMemoryFolder);
    DOSSIER_RETURN_IF_ERROR(MakeFolders(folder));
    return WriteFileAtomic(fmt::format("{}/{}", place_.run_folder, run_files::kResourceSnapshot),
                           ToPrettyJson(ResourceIndexJson(ready_.index)) + "\n");
  }

  const ResourceFile& file_;
  const ResourcePlace& place_;
  const CancelToken& cancel_;
  std::map<std::string, Located> located_;
  PreparedResources ready_;
};

}  // namespace

std::string_view AvailabilityName(Availability availability) {
  return kAvailability[static_cast<std::size_t>(availability)];
}

std::string_view FetchStatusName(FetchStatus status) {
  return kFetchStatus[static_cast<std::size_t>(status)];
}

Result<PreparedResources> PrepareResources(const ResourceFile& file, const ResourcePlace& place,
                                           const CancelToken& cancel) {
  return Builder(file, place, cancel).Build();
}

}  // namespace dossier::research
