#include <algorithm>
#include <set>
#include <utility>

#include "assembly/sources/fence.h"
#include "base/text/utf8.h"
#include "research/files/cuts.h"
#include "research/resources/resource_content.h"
#include "research/resources/resource_policy.h"
#include "research/resources/resources.h"

namespace dossier::research {
namespace {

constexpr std::uint64_t kMaxIndexText = 2000;   // code points
constexpr std::uint64_t kMaxRecordText = 6000;  // code points of an archival record
constexpr std::uint64_t kMaxIndexJson = 8000;   // bytes of the core key; above it only ids are kept
constexpr std::size_t kShownTree = 200;         // entries
constexpr std::string_view kHowToUse =
    "Search archival memory for `resource:CLASS:NAME` to read one of them.";

std::string StatusText(const IndexedItem& item) {
  std::string text(AvailabilityName(item.availability));
  if (!item.reason.empty()) text += ": " + item.reason;
  return text;
}

const ResourceOrigin* OriginOf(const ResourceIndex& index, const IndexedItem& item) {
  const auto found =
      std::find_if(index.origins.begin(), index.origins.end(),
                   [&](const ResourceOrigin& one) { return one.name == item.item.resource; });
  return found == index.origins.end() ? nullptr : &*found;
}

// Returns the command that phase 1 must run for a resource that is not there yet.
std::string InstallText(const ResourceOrigin& origin) {
  const std::string revision = origin.ref.empty() ? "" : " --revision " + origin.ref;
  if (origin.source == ResourceSource::kHuggingFace) {
    return fmt::format("huggingface-cli download {}{}{} --local-dir {}", origin.repo,
                       origin.use == "dataset" ? " --repo-type dataset" : "", revision,
                       origin.mount);
  }
  return "";
}

// Returns "document `doc` at /workspace/mesh/README.md (available)", with notes and how to get it.
std::string HeadLine(const ResourceIndex& index, const IndexedItem& item) {
  std::string line = fmt::format("{} `{}` at {} ({})", ResourceClassName(item.item.kind),
                                 item.item.name, item.mount, StatusText(item));
  if (!item.head.empty()) line += fmt::format(", commit {}", item.head.substr(0, 12));
  if (!item.item.notes.empty()) line += "; " + item.item.notes;
  const ResourceOrigin* origin = OriginOf(index, item);
  if (origin && item.availability == Availability::kPendingFetch) {
    const std::string install = InstallText(*origin);
    if (!install.empty()) line += "; to fetch it: " + install;
  }
  return line;
}

std::string Fenced(std::string_view text) {
  const std::string fence(assembly::GrowingFenceLength(text), '`');
  return fmt::format("{}\n{}{}{}\n", fence, text, text.ends_with('\n') ? "" : "\n", fence);
}

std::string TreeText(const IndexedItem& item) { return CutTree(item.tree, kShownTree); }

std::string IndexedTexts(const IndexedItem& item) {
  std::string out;
  for (const ResourceText& text : item.texts) {
    out += fmt::format("{}:\n{}", text.path, Fenced(text.text));
  }
  return out;
}

std::string ItemText(const ResourceIndex& index, const IndexedItem& item, Phase phase) {
  std::string out = "- " + HeadLine(index, item) + "\n";
  if (ShowsTree(item.item, phase) && !item.tree.empty()) out += Fenced(TreeText(item));
  if (ShowsContent(item.item, phase)) out += IndexedTexts(item);
  return out;
}

std::string Guidance(const ResourceIndex& index) {
  std::set<ResourceClass> kinds;
  for (const IndexedItem& item : index.items) kinds.insert(item.item.kind);
  std::string out;
  for (const ResourceClass kind : kinds) out += fmt::format("- {}\n", GuidanceOf(kind));
  return out;
}

std::string Mounts(const ResourceIndex& index) {
  std::string out;
  for (const ResourceOrigin& origin : index.origins) {
    const bool fetched = origin.source != ResourceSource::kHuggingFace;
    out += fmt::format("- {} ({}){}\n", origin.mount, origin.name,
                       !fetched                               ? ", to be fetched in phase 1"
                       : origin.access == Bind::Access::kRead ? ", read-only"
                                                              : "");
  }
  return out;
}

JsonObject ItemJson(const IndexedItem& item) {
  JsonArray texts;
  for (const ResourceText& text : item.texts) texts.emplace_back(text.path);
  return {{"id", item.id},
          {"class", ResourceClassName(item.item.kind)},
          {"name", item.item.name},
          {"source", ResourceSourceName(item.item.source)},
          {"resource", item.item.resource},
          {"path", item.item.path},
          {"mount", item.mount},
          {"availability", AvailabilityName(item.availability)},
          {"fetch_status", FetchStatusName(item.fetch_status)},
          {"reason", item.reason},
          {"head", item.head},
          {"files", item.files},
          {"bytes", item.bytes},
          {"shown", std::move(texts)},
          {"digest", item.digest}};
}

std::vector<std::string> TagsOf(const IndexedItem& item) {
  const std::string_view kind = ResourceClassName(item.item.kind);
  std::vector<std::string> tags = {
      "RESOURCE_ITEM",
      "resource_id:" + item.id,
      fmt::format("resource:{}:{}", kind, item.item.name),
      fmt::format("resource_class:{}", kind),
      "resource_name:" + item.item.name,
      fmt::format("resource_source:{}", ResourceSourceName(item.item.source)),
      "resource_path:" + item.item.path,
      "resource_container:" + item.mount};
  if (item.availability == Availability::kPendingFetch) tags.emplace_back("RESOURCE_PENDING");
  return tags;
}

std::string RecordText(const ResourceIndex& index, const IndexedItem& item) {
  std::string text = HeadLine(index, item) + "\n";
  if (!item.tree.empty()) text += Fenced(TreeText(item));
  text += IndexedTexts(item);
  return Excerpt(text, static_cast<std::int64_t>(kMaxRecordText));
}

// Returns the core key, which programs may look up; only ids if there are many items.
std::string CoreJson(const ResourceIndex& index) {
  const std::string whole = ToJson(ResourceIndexJson(index));
  if (whole.size() <= kMaxIndexJson) return whole;
  JsonArray ids;
  for (const IndexedItem& item : index.items) ids.emplace_back(item.id);
  const std::string short_form =
      ToJson(JsonObject{{"digest", index.digest}, {"items", std::move(ids)}});
  if (short_form.size() <= kMaxIndexJson) return short_form;
  return ToJson(JsonObject{{"digest", index.digest}, {"items", index.items.size()}});
}

}  // namespace

Json ResourcesSection(const ResourceIndex& index, Phase phase) {
  if (index.items.empty() && index.origins.empty()) return nullptr;
  std::string text = Guidance(index) + "\nMounts:\n" + Mounts(index);
  if (!index.items.empty()) text += "\nItems:\n";
  for (const IndexedItem& item : index.items) text += ItemText(index, item, phase);
  return Json(text);
}

std::string ResourceIndexText(const ResourceIndex& index) {
  const std::string head = fmt::format("digest {}\nat {}\nfile {}\n", index.digest.substr(0, 16),
                                       index.created_at, index.file);
  const std::string tail = fmt::format("{}\n", kHowToUse);
  std::string lines;
  std::size_t left = index.items.size();
  for (const IndexedItem& item : index.items) {
    const std::string line =
        fmt::format("- {} {}: {} ({})\n", ResourceClassName(item.item.kind), item.item.name,
                    item.mount, AvailabilityName(item.availability));
    const std::string more = fmt::format("(+{} more)\n", left);
    if (utf8::CodePoints(head + lines + line + more + tail) > kMaxIndexText) {
      lines += more;
      break;
    }
    lines += line;
    --left;
  }
  return std::string(utf8::Prefix(head + lines + tail, kMaxIndexText));
}

JsonObject ResourceIndexJson(const ResourceIndex& index) {
  JsonArray items;
  for (const IndexedItem& item : index.items) items.push_back(ItemJson(item));
  return {{"digest", index.digest},        {"file", index.file},
          {"sha256", index.file_sha256},   {"normalised", index.normalised},
          {"items", std::move(items)},     {"created_at", index.created_at},
          {"phase_mode", index.phase_mode}};
}

Status RememberResources(const ResourceIndex& index, memory::Store& store) {
  return store.Transact(
      memory::kRootBranch, {.actor = memory::Actor::kSystem, .phase = "resources"},
      [&](memory::BranchTransaction& session) -> Status {
        const std::pair<std::string_view, std::string> keys[] = {
            {"RESOURCE_INDEX", ResourceIndexText(index)},
            {"resource_digest", index.digest},
            {"resource_index_json", CoreJson(index)}};
        for (const auto& [key, value] : keys) {
          DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const memory::CoreWrite written,
                                   session.SetCore(key, {.value = value, .importance = 5}));
        }
        for (const IndexedItem& item : index.items) {
          DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const memory::RecordWrite written,
                                   session.Add({.tier = memory::Tier::kArchival,
                                                .kind = "resource",
                                                .text = RecordText(index, item),
                                                .ref = item.id,
                                                .phase = "resources",
                                                .tags = TagsOf(item)}));
        }
        return {};
      });
}

}  // namespace dossier::research
