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

namespace {

class Fitter {
 public:
  Fitter(std::int64_t tokens, std::vector<PackedFile>* files) : left_(tokens), files_(*files) {
    for (const PackedFile& file : files_) left_ -= TokensOf(file, file.form);
  }

  void Run() {
    if (left_ >= 0) return;
    const std::vector<std::size_t> order = LeastFirst();
    for (std::size_t begin = 0; begin < order.size() && left_ < 0;) {
      std::size_t end = begin;
      while (end < order.size() && files_[order[end]].priority == files_[order[begin]].priority)
        ++end;
      for (const Form form : {Form::kOutline, Form::kNames}) {
        for (std::size_t i = begin; i < end && left_ < 0; ++i) Change(order[i], form);
      }
      begin = end;
    }
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      for (const Form form : {Form::kFull, Form::kOutline}) BringBack(*i, form);
    }
  }

 private:
  // Lowest priority, then most tokens, then latest.
  std::vector<std::size_t> LeastFirst() const {
    std::vector<std::size_t> order(files_.size());
    std::iota(order.rbegin(), order.rend(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::make_tuple(files_[a].priority, -files_[a].full_tokens) <
             std::make_tuple(files_[b].priority, -files_[b].full_tokens);
    });
    return order;
  }

  void Change(std::size_t index, Form form) {
    PackedFile& file = files_[index];
    if (form <= file.form) return;
    if (form == Form::kOutline && file.outline.empty()) return;
    left_ += TokensOf(file, file.form) - TokensOf(file, form);
    file.form = form;
    // A file that had another reason to be left out keeps it.
    if (file.why == LeftOut::kNothing || form == Form::kNames) file.why = LeftOut::kBudget;
  }

  void BringBack(std::size_t index, Form form) {
    PackedFile& file = files_[index];
    if (file.why != LeftOut::kBudget || form >= file.form) return;
    if (form == Form::kOutline && file.outline.empty()) return;
    const std::int64_t more = TokensOf(file, form) - TokensOf(file, file.form);
    if (more > left_) return;
    left_ -= more;
    file.form = form;
    if (form == Form::kFull) file.why = LeftOut::kNothing;
  }

  std::int64_t left_;
  std::vector<PackedFile>& files_;
};

}  // namespace

std::int64_t TokensOf(const PackedFile& file, Form form) {
  switch (form) {
    case Form::kFull:
      return file.full_tokens;
    case Form::kOutline:
      return file.outline.empty() ? 0 : file.outline_tokens;
    case Form::kNames:
      break;
  }
  return 0;
}

void FitFiles(std::int64_t tokens, std::vector<PackedFile>* files) { Fitter(tokens, files).Run(); }

}  // namespace dossier::sources
