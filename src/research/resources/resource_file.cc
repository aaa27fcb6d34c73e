#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "assembly/layout/template_scan.h"
#include "assembly/layout/yaml_table.h"
#include "base/files/file.h"
#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"
#include "research/resources/resource_policy.h"
#include "research/resources/resources.h"

namespace dossier::research {
namespace {

constexpr std::array<std::string_view, 3> kSources = {"local", "github", "huggingface"};
constexpr std::size_t kMaxEntries = 1000;
constexpr std::size_t kMaxNameLength = 100;

enum class Need : std::uint8_t { kRequired, kOptional };

bool HasParentStep(std::string_view path) {
  const auto parts = Split(path, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

// Names are used as folder names.
bool IsName(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](char c) { return IsWordByte(c) || c == '-' || c == '.'; });
  return plain && !name.empty() && !name.starts_with('.') && name.size() <= kMaxNameLength;
}

// Reads one entry of a list and adds its faults to `faults`.
class EntryReader {
 public:
  EntryReader(const Json& entry, std::string where, std::vector<std::string>* faults)
      : entry_(entry), where_(std::move(where)), faults_(faults) {
    if (!entry.is_object()) faults_->push_back(where_ + " must be a map of keys");
  }

  bool is_map() const { return entry_.is_object(); }

  void Fault(std::string_view key, std::string_view what) const {
    faults_->push_back(fmt::format("{}.{}: {}", where_, key, what));
  }

  void Only(std::span<const std::string_view> keys) const {
    const std::vector<std::string> known(keys.begin(), keys.end());
    for (const auto& [key, value] : entry_.as_object()) {
      if (std::find(known.begin(), known.end(), std::string_view(key)) == known.end()) {
        faults_->push_back(
            fmt::format("{}: {}", where_, assembly::Guess("unknown key", key, known)));
      }
    }
  }

  std::string Text(std::string_view key, Need need) const {
    const Json* value = Find(entry_, key);
    if (!value) {
      if (need == Need::kRequired) Fault(key, "is missing");
      return "";
    }
    // YAML reads a ref such as 1234567 as a number.
    if (value->is_int64()) return std::to_string(value->as_int64());
    if (!value->is_string() || value->as_string().empty()) {
      Fault(key, "must be a text that is not empty");
      return "";
    }
    return std::string(value->as_string());
  }

  std::string Word(std::string_view key, std::span<const std::string_view> words,
                   std::string_view fallback) const {
    const std::string text = Text(key, fallback.empty() ? Need::kRequired : Need::kOptional);
    if (text.empty()) return std::string(fallback);
    if (std::find(words.begin(), words.end(), text) == words.end()) {
      Fault(key, fmt::format("\"{}\" must be {}", text, OneOf(text, words)));
    }
    return text;
  }

  std::optional<bool> Flag(std::string_view key) const {
    const Json* value = Find(entry_, key);
    if (!value) return std::nullopt;
    if (!value->is_bool()) {
      Fault(key, "must be true or false");
      return std::nullopt;
    }
    return value->as_bool();
  }

  std::optional<std::int64_t> Limit(std::string_view key) const {
    const Json* value = Find(entry_, key);
    if (!value) return std::nullopt;
    if (!value->is_int64() || value->as_int64() < -1) {
      Fault(key, "must be a whole number; 0 is nothing, -1 is whole");
      return std::nullopt;
    }
    return value->as_int64();
  }

  std::vector<std::string> Texts(std::string_view key) const {
    std::vector<std::string> out;
    const Json* value = Find(entry_, key);
    if (!value) return out;
    const bool good =
        value->is_array() && std::all_of(value->as_array().begin(), value->as_array().end(),
                                         [](const Json& one) { return one.is_string(); });
    if (!good) {
      Fault(key, "must be a list of texts");
      return out;
    }
    for (const Json& one : value->as_array()) out.emplace_back(one.as_string());
    return out;
  }

  // Checks a path below the workspace; returns "" if it is wrong.
  std::string Inner(std::string_view key, const std::string& path) const {
    if (path.starts_with('/') || HasParentStep(path)) {
      Fault(key, fmt::format("\"{}\" leaves the workspace", path));
      return "";
    }
    return path;
  }

 private:
  const Json& entry_;
  const std::string where_;
  std::vector<std::string>* const faults_;
};

class FileReader {
 public:
  explicit FileReader(const ResourceFilePlace& place) : place_(place) {}

  Result<ResourceFile> Read(std::string_view text) {
    if (text.size() > kMaxResourceFileBytes) {
      return MakeError(ErrorCode::kTooLong, "{}: {} bytes; a file of resources has at most {}",
                       place_.file, text.size(), kMaxResourceFileBytes);
    }
    const auto node = assembly::ReadYaml(text, place_.file);
    if (!node) return MakeError(ErrorCode::kDamaged, "{}", node.error().message);
    file_.path = place_.file;
    file_.sha256 = Sha256Hex(text);
    ReadRoot(ToJsonValue(*node));
    if (!faults_.empty()) {
      return MakeError(ErrorCode::kDamaged, "{}: {}", place_.file, Join(faults_, "\n"));
    }
    return std::move(file_);
  }

 private:
  void ReadRoot(const Json& root) {
    if (root.is_null()) return;
    if (!root.is_object()) {
      faults_.emplace_back("it must be a map of local, github, huggingface and items");
      return;
    }
    static constexpr std::string_view kKeys[] = {"local", "github", "huggingface", "items"};
    for (const auto& [key, value] : root.as_object()) {
      if (std::find(std::begin(kKeys), std::end(kKeys), std::string_view(key)) == std::end(kKeys)) {
        faults_.push_back(assembly::Guess(
            "unknown key", key, std::vector<std::string>(std::begin(kKeys), std::end(kKeys))));
      }
    }
    ForEach(root, "local", [&](const EntryReader& entry) { ReadLocal(entry); });
    ForEach(root, "github", [&](const EntryReader& entry) { ReadGithub(entry); });
    ForEach(root, "huggingface", [&](const EntryReader& entry) { ReadHuggingFace(entry); });
    ForEach(root, "items", [&](const EntryReader& entry) { ReadItem(entry); });
  }

  template <typename Use>
  void ForEach(const Json& root, std::string_view key, const Use& use) {
    const Json* list = Find(root, key);
    if (!list) return;
    if (!list->is_array() || list->as_array().size() > kMaxEntries) {
      faults_.push_back(fmt::format("{} must be a list of at most {}", key, kMaxEntries));
      return;
    }
    std::size_t index = 0;
    for (const Json& one : list->as_array()) {
      const EntryReader entry(one, fmt::format("{}[{}]", key, index++), &faults_);
      if (entry.is_map()) use(entry);
    }
  }

  void ReadLocal(const EntryReader& entry) {
    static constexpr std::string_view kKeys[] = {"name", "host_path", "mount_path", "read_only"};
    entry.Only(kKeys);
    ResourceOrigin origin{.source = ResourceSource::kLocal};
    origin.host_path = HostPath(entry.Text("host_path", Need::kRequired));
    if (!origin.host_path.empty() && !Exists(origin.host_path)) {
      entry.Fault("host_path", fmt::format("\"{}\" is not there", origin.host_path));
    }
    if (!entry.Flag("read_only").value_or(true)) origin.access = Bind::Access::kWrite;
    Keep(entry, "mount_path", std::move(origin));
  }

  void ReadGithub(const EntryReader& entry) {
    static constexpr std::string_view kKeys[] = {"name", "repo", "ref", "dest", "as"};
    static constexpr std::string_view kUses[] = {"data", "library"};
    entry.Only(kKeys);
    ResourceOrigin origin{.source = ResourceSource::kGithub};
    origin.repo = entry.Text("repo", Need::kRequired);
    origin.ref = entry.Text("ref", Need::kOptional);
    origin.use = entry.Word("as", kUses, "data");
    CheckRepo(entry, "repo", origin.repo);
    CheckRef(entry, "ref", origin);
    Keep(entry, "dest", std::move(origin));
  }

  void ReadHuggingFace(const EntryReader& entry) {
    static constexpr std::string_view kKeys[] = {"name", "type", "repo_id", "revision", "dest"};
    static constexpr std::string_view kUses[] = {"model", "dataset"};
    entry.Only(kKeys);
    ResourceOrigin origin{.source = ResourceSource::kHuggingFace};
    origin.use = entry.Word("type", kUses, "");
    origin.repo = entry.Text("repo_id", Need::kRequired);
    origin.ref = entry.Text("revision", Need::kOptional);
    CheckRepo(entry, "repo_id", origin.repo);
    CheckRef(entry, "revision", origin);
    Keep(entry, "dest", std::move(origin));
  }

  // git and others would treat these as options or as programs to start.
  static void CheckRepo(const EntryReader& entry, std::string_view key, std::string_view repo) {
    const bool strange = repo.starts_with('-') || repo.find("::") != repo.npos ||
                         repo.find_first_of(" \t\r\n'\"\\") != repo.npos;
    if (strange) entry.Fault(key, fmt::format("\"{}\" is no repository", repo));
  }

  void CheckRef(const EntryReader& entry, std::string_view key, const ResourceOrigin& origin) {
    if (origin.ref.empty()) {
      file_.warnings.push_back(
          fmt::format("{} has no {}: what it is may change from run to run", origin.repo, key));
    } else if (origin.ref.starts_with('-') ||
               origin.ref.find_first_of(" \t\r\n'\"\\:") != std::string::npos) {
      entry.Fault(key, fmt::format("\"{}\" is no name of a commit, branch or tag", origin.ref));
    }
  }

  void Keep(const EntryReader& entry, std::string_view mount_key, ResourceOrigin origin) {
    origin.name = entry.Text("name", Need::kRequired);
    if (!origin.name.empty()) CheckName(entry, origin.name);
    if (!origin.name.empty() && FindOrigin(origin.name)) {
      entry.Fault("name", fmt::format("\"{}\" is there twice", origin.name));
    }
    origin.mount = Mount(entry, mount_key, entry.Text(mount_key, Need::kRequired));
    for (const ResourceOrigin& other : file_.origins) {
      if (!origin.mount.empty() && other.mount == origin.mount) {
        entry.Fault(mount_key, fmt::format("\"{}\" is taken by {}", origin.mount, other.name));
      }
    }
    file_.origins.push_back(std::move(origin));
  }

  static void CheckName(const EntryReader& entry, std::string_view name) {
    if (IsName(name)) return;
    entry.Fault("name", fmt::format("\"{}\" must be letters, digits, `_`, `-` and `.`, at most {}",
                                    name, kMaxNameLength));
  }

  // Returns an absolute path under the workspace mount; "" if it is not.
  std::string Mount(const EntryReader& entry, std::string_view key, const std::string& path) const {
    if (path.empty()) return "";
    const std::string& mount = place_.workspace_mount;
    std::string whole =
        std::filesystem::path(path.starts_with('/') ? path : mount + "/" + path).lexically_normal();
    while (whole.ends_with('/')) whole.pop_back();
    if (HasParentStep(path) || !whole.starts_with(mount + "/")) {
      entry.Fault(key, fmt::format("\"{}\" is not under {}", path, mount));
      return "";
    }
    // These characters separate the two sides of a bind.
    if (whole.find_first_of(":,\n") != std::string::npos) {
      entry.Fault(key, fmt::format("\"{}\" holds a colon, a comma or a line end", path));
      return "";
    }
    return whole;
  }

  std::string HostPath(const std::string& path) const {
    if (path.empty() || path.starts_with('/') || place_.folder.empty()) return path;
    return (std::filesystem::path(place_.folder) / path).lexically_normal().string();
  }

  const ResourceOrigin* FindOrigin(std::string_view name) const {
    const auto found = std::find_if(file_.origins.begin(), file_.origins.end(),
                                    [&](const ResourceOrigin& one) { return one.name == name; });
    return found == file_.origins.end() ? nullptr : &*found;
  }

  void ReadItem(const EntryReader& entry) {
    static constexpr std::string_view kKeys[] = {
        "name",      "class",           "source",          "resource",      "path",
        "notes",     "include_tree",    "include_content", "include_files", "max_files",
        "max_chars", "max_total_chars", "required"};
    entry.Only(kKeys);
    ResourceItem item;
    item.name = entry.Text("name", Need::kRequired);
    if (!item.name.empty()) CheckName(entry, item.name);
    item.kind = ClassOf(entry);
    item.source = SourceOf(entry);
    item.resource = entry.Text("resource", Need::kRequired);
    item.path = entry.Inner("path", entry.Text("path", Need::kRequired));
    item.notes = entry.Text("notes", Need::kOptional);
    item.include_tree = entry.Flag("include_tree");
    item.include_content = entry.Flag("include_content");
    item.include_files = entry.Texts("include_files");
    item.max_files = entry.Limit("max_files");
    item.max_chars = entry.Limit("max_chars");
    item.max_total_chars = entry.Limit("max_total_chars");
    if (entry.Flag("required").value_or(false)) item.need = ResourceItem::Need::kRequired;
    CheckItem(entry, item);
    file_.items.push_back(std::move(item));
  }

  static ResourceClass ClassOf(const EntryReader& entry) {
    std::vector<std::string_view> names;
    for (int kind = 0; kind < kResourceClasses; ++kind) {
      names.push_back(ResourceClassName(static_cast<ResourceClass>(kind)));
    }
    const std::string word = entry.Word("class", names, "");
    const auto found = std::find(names.begin(), names.end(), word);
    return found == names.end() ? ResourceClass::kDocument
                                : static_cast<ResourceClass>(found - names.begin());
  }

  static ResourceSource SourceOf(const EntryReader& entry) {
    const std::string word = entry.Word("source", kSources, "");
    const auto found = std::find(kSources.begin(), kSources.end(), word);
    return found == kSources.end() ? ResourceSource::kLocal
                                   : static_cast<ResourceSource>(found - kSources.begin());
  }

  void CheckItem(const EntryReader& entry, const ResourceItem& item) const {
    for (const ResourceItem& other : file_.items) {
      if (other.name == item.name && other.kind == item.kind) {
        entry.Fault("name", fmt::format("{} \"{}\" is there twice", ResourceClassName(item.kind),
                                        item.name));
      }
    }
    const ResourceOrigin* origin = FindOrigin(item.resource);
    if (!item.resource.empty() && (!origin || origin->source != item.source)) {
      entry.Fault("resource", fmt::format("there is no {} resource \"{}\"",
                                          ResourceSourceName(item.source), item.resource));
      return;
    }
    for (const std::string& file : item.include_files) {
      const std::string inner = entry.Inner("include_files", file);
      if (inner.empty() || !origin || origin->source != ResourceSource::kLocal) continue;
      const auto path = std::filesystem::path(origin->host_path) / item.path / inner;
      if (!Exists(path.string())) {
        entry.Fault("include_files", fmt::format("\"{}\" is not there", file));
      }
    }
  }

  const ResourceFilePlace& place_;
  ResourceFile file_;
  std::vector<std::string> faults_;
};

}  // namespace

std::string_view ResourceSourceName(ResourceSource source) {
  return kSources[static_cast<std::size_t>(source)];
}

Result<ResourceFile> ReadResourceFile(std::string_view text, const ResourceFilePlace& place) {
  return FileReader(place).Read(text);
}

}  // namespace dossier::research
