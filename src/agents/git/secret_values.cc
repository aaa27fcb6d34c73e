#include "agents/git/secret_values.h"

#include <algorithm>

namespace dossier::agents {

SecretValues::SecretValues(std::vector<std::pair<std::string, std::string>> values)
    : values_(std::move(values)) {
  std::erase_if(values_, [](const auto& one) { return one.second.size() < kShortest; });
  std::stable_sort(values_.begin(), values_.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  for (const auto& [name, value] : values_) first_.set(static_cast<unsigned char>(value.front()));
  if (!values_.empty()) longest_ = values_.front().second.size();
}

const std::pair<std::string, std::string>* SecretValues::At(std::string_view text) const {
  if (!first_.test(static_cast<unsigned char>(text.front()))) return nullptr;
  for (const auto& one : values_) {
    if (text.starts_with(one.second)) return &one;
  }
  return nullptr;
}

std::string SecretValues::Hide(std::string_view text) const {
  SecretFilter filter(*this);
  std::string out = filter.Add(text);
  return out + filter.Finish();
}

std::optional<SecretValues::Found> SecretValues::Find(std::string_view text) const {
  std::optional<Found> first;
  for (const auto& [name, value] : values_) {
    if (value.size() < kShortestFound) continue;
    const std::size_t at = text.find(value);
    if (at != std::string_view::npos && (!first || at < first->offset)) first = {name, at};
  }
  return first;
}

std::string SecretFilter::Add(std::string_view bytes) {
  if (values_.empty()) return std::string(bytes);
  pending_ += bytes;
  return Take(values_.longest_ - 1);
}

std::string SecretFilter::Finish() { return Take(0); }

// Returns what begins before the last `keep` bytes, with values hidden.
std::string SecretFilter::Take(std::size_t keep) {
  std::string out;
  const std::string_view text = pending_;
  std::size_t at = 0;
  while (at < text.size() && text.size() - at > keep) {
    if (const auto* found = values_.At(text.substr(at))) {
      out += "[redacted:" + found->first + "]";
      at += found->second.size();
    } else {
      out += text[at++];
    }
  }
  pending_.erase(0, at);
  return out;
}

}  // namespace dossier::agents
