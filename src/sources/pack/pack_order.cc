#include "sources/pack/pack_order.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "base/text/text.h"

namespace dossier::sources {
namespace {

constexpr std::string_view kManifestHead = "# dossier.manifest/1";

// Smaller stands earlier.
using Place = std::pair<int, std::uint64_t>;

Place ChangedPlace(const OrderKey& key, const GitFacts& git) {
  if (!git.index.contains(key.path)) return {3, 0};  // untracked
  if (!key.unchanged) return {2, 0};
  const auto commit = git.last_commit.find(key.path);
  if (commit == git.last_commit.end()) return {0, 0};  // older than what was read
  return {1, std::numeric_limits<std::uint64_t>::max() - commit->second};
}

// A byte that would end or open something on its line.
bool NeedsEscape(char c) { return c == '\n' || c == '\r' || c == '%'; }

}  // namespace

std::vector<std::size_t> OrderFiles(PackOrder order, const std::vector<OrderKey>& keys,
                                    const GitFacts* git, const std::vector<std::string>& manifest) {
  std::vector<Place> places(keys.size());
  if (order == PackOrder::kChanged && git) {
    for (std::size_t i = 0; i < keys.size(); ++i) places[i] = ChangedPlace(keys[i], *git);
  }
  if (order == PackOrder::kSticky) {
    std::unordered_map<std::string_view, std::size_t> known;
    for (const std::string& path : manifest) known.emplace(path, known.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto found = known.find(keys[i].path);
      places[i] = found == known.end() ? Place{1, 0} : Place{0, found->second};
    }
  }
  std::vector<std::size_t> indices(keys.size());
  std::iota(indices.begin(), indices.end(), 0);
  std::sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(places[a], keys[a].path) < std::tie(places[b], keys[b].path);
  });
  return indices;
}

std::string WriteManifest(const PackedFiles& packed) {
  std::string text = fmt::format("{}\n", kManifestHead);
  for (const PackedFile& file : packed.files) {
    for (const char c : file.path) {
      if (NeedsEscape(c)) {
        text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
      } else {
        text += c;
      }
    }
    text += '\n';
  }
  return text;
}

Result<std::vector<std::string>> ReadManifest(std::string_view text, std::string_view file) {
  if (!text.starts_with(kManifestHead)) {
    return MakeError(ErrorCode::kDamaged, "{}:1: not a manifest (its first line must be \"{}\")",
                     file, kManifestHead);
  }
  std::vector<std::string> paths;
  std::size_t number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    if (++number == 1 || line.empty()) continue;
    std::string path;
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] != '%') {
        path += line[at];
        continue;
      }
      const std::string_view code = line.substr(at + 1, 2);
      const char byte = code == "0A" ? '\n' : code == "0D" ? '\r' : code == "25" ? '%' : '\0';
      if (byte == '\0') {
        return MakeError(ErrorCode::kDamaged, "{}:{}: unknown escape %{}", file, number, code);
      }
      path += byte;
      at += 2;
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace dossier::sources
