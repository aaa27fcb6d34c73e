#include "recursion/coverage.h"

#include <functional>

#include "base/text.h"

namespace dossier::recursion {
namespace {

constexpr std::size_t kShortestLine = 20;         // bytes; shorter lines occur by chance (REC-39)
constexpr std::uint64_t kIndexLimit = 64u << 20;  // bytes; beyond it only slices are counted

template <typename Visit>
void ForEachLine(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view line = TrimSpace(text.substr(at, end - at));
    if (line.size() >= kShortestLine) visit(line);
    at = end + 1;
  }
}

}  // namespace

Coverage::Coverage(std::vector<std::string_view> documents)
    : documents_(std::move(documents)), shown_(documents_.size()) {}

void Coverage::AddSlice(std::size_t document, std::uint64_t at, std::uint64_t length) {
  std::lock_guard lock(mutex_);
  used_ = true;
  if (document < documents_.size()) Insert(document, at, at + length);
}

void Coverage::AddText(std::string_view text) {
  std::lock_guard lock(mutex_);
  used_ = true;
  BuildIndex();
  ForEachLine(text, [this](std::string_view line) {
    const auto [first, last] = lines_.equal_range(std::hash<std::string_view>{}(line));
    for (auto it = first; it != last; ++it) {
      Insert(it->second.document, it->second.at, it->second.at + it->second.length);
    }
  });
}

double Coverage::Share() const {
  std::lock_guard lock(mutex_);
  std::uint64_t total = 0, shown = 0;
  for (std::size_t i = 0; i < documents_.size(); ++i) {
    total += documents_[i].size();
    for (const auto& [begin, end] : shown_[i]) shown += end - begin;
  }
  return total == 0 ? 0.0 : static_cast<double>(shown) / static_cast<double>(total);
}

bool Coverage::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

// Called with the mutex held, once: the first text prompt pays for it.
void Coverage::BuildIndex() {
  if (indexed_) return;
  indexed_ = true;
  std::uint64_t total = 0;
  for (const std::string_view text : documents_) total += text.size();
  if (total > kIndexLimit) return;
  for (std::size_t i = 0; i < documents_.size(); ++i) {
    ForEachLine(documents_[i], [&](std::string_view line) {
      const auto at = static_cast<std::uint64_t>(line.data() - documents_[i].data());
      lines_.emplace(std::hash<std::string_view>{}(line),
                     Place{static_cast<std::uint32_t>(i), at, line.size()});
    });
  }
}

void Coverage::Insert(std::size_t document, std::uint64_t begin, std::uint64_t end) {
  auto& shown = shown_[document];
  end = std::min<std::uint64_t>(end, documents_[document].size());
  if (begin >= end) return;
  auto it = shown.upper_bound(begin);
  if (it != shown.begin() && std::prev(it)->second >= begin) --it;
  while (it != shown.end() && it->first <= end) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    it = shown.erase(it);
  }
  shown.emplace(begin, end);
}

}  // namespace dossier::recursion
