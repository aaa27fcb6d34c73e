#include "ask/policy/coverage.h"

#include <algorithm>

#include "ask/documents/document_words.h"

namespace dossier::ask {
namespace {

// A fingerprint covers at least so many words, and so many bytes of words: less occurs by chance.
constexpr std::size_t kWords = 3;
constexpr std::size_t kBytes = 10;
constexpr std::uint64_t kIndexLimit = 64u << 20;  // bytes; beyond it only slices are counted
constexpr std::uint64_t kMostFingerprints = 2'000'000;
constexpr std::uint64_t kBytesPerWord = 6;
constexpr std::size_t kMostWaiting = 16u << 20;  // bytes
// A fingerprint that stands in more places says nothing about where a text comes from.
constexpr std::ptrdiff_t kMostPlaces = 64;

struct Word {
  std::uint64_t hash = 0;
  std::size_t begin = 0, end = 0;
};

// Calls visit(hash, first byte) for every fingerprint of `text`, in order.
template <typename Visit>
void ForEachFingerprint(std::string_view text, const Visit& visit) {
  std::vector<Word> words;  // those of the fingerprint at hand
  WordReader reader(text);
  std::size_t bytes = 0;
  for (Word word; reader.Next(&word.hash);) {
    word.begin = reader.begin();
    word.end = reader.end();
    words.push_back(word);
    bytes += word.end - word.begin;
    while (words.size() >= kWords && bytes >= kBytes) {
      std::uint64_t hash = words.size();
      for (const Word& part : words) hash = (hash ^ part.hash) * 0x9E3779B97F4A7C15;
      visit(hash ^ (hash >> 29), words.front().begin);
      bytes -= words.front().end - words.front().begin;
      words.erase(words.begin());
    }
  }
}

}  // namespace

void Stretches::Add(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto it = stretches_.upper_bound(begin);
  if (it != stretches_.begin() && std::prev(it)->second >= begin) --it;
  while (it != stretches_.end() && it->first <= end) {
    begin = std::min(begin, it->first);
    end = std::max(end, it->second);
    it = stretches_.erase(it);
  }
  stretches_.emplace(begin, end);
}

void Stretches::Add(const Stretches& others) {
  for (const auto& [begin, end] : others.stretches_) Add(begin, end);
}

std::uint64_t Stretches::Total() const {
  std::uint64_t total = 0;
  for (const auto& [begin, end] : stretches_) total += end - begin;
  return total;
}

Coverage::Coverage(std::vector<std::string_view> documents)
    : documents_(std::move(documents)),
      by_models_(documents_.size()),
      by_code_(documents_.size()) {}

void Coverage::AddSlice(std::size_t document, std::uint64_t at, std::uint64_t length) {
  std::lock_guard lock(mutex_);
  Insert(by_models_, document, at, length);
}

void Coverage::AddText(std::string_view text) {
  std::lock_guard lock(mutex_);
  waiting_.emplace_back(text);
  waiting_bytes_ += text.size();
  if (waiting_bytes_ > kMostWaiting) TraceWaiting();
}

void Coverage::AddReadByCode(std::size_t document, std::uint64_t at, std::uint64_t length) {
  std::lock_guard lock(mutex_);
  Insert(by_code_, document, at, length);
}

Coverage::Shares Coverage::Read() {
  std::lock_guard lock(mutex_);
  TraceWaiting();
  std::uint64_t all = 0, models = 0, code = 0, any = 0;
  for (std::size_t i = 0; i < documents_.size(); ++i) {
    all += documents_[i].size();
    models += by_models_[i].Total();
    code += by_code_[i].Total();
    Stretches either = by_models_[i];
    either.Add(by_code_[i]);
    any += either.Total();
  }
  if (all == 0) return {};
  const auto share = [all](std::uint64_t part) {
    return static_cast<double>(part) / static_cast<double>(all);
  };
  return {share(models), share(code), share(any)};
}

bool Coverage::Touched(std::size_t document) {
  std::lock_guard lock(mutex_);
  TraceWaiting();
  return document < documents_.size() &&
         by_models_[document].Total() + by_code_[document].Total() > 0;
}

void Coverage::Insert(std::vector<Stretches>& where, std::size_t document, std::uint64_t at,
                      std::uint64_t length) {
  if (document >= documents_.size()) return;
  const std::uint64_t size = documents_[document].size();
  at = std::min(at, size);
  where[document].Add(at, at + std::min(length, size - at));
}

// The first text that has to be traced pays for it.
void Coverage::BuildIndex() {
  if (indexed_) return;
  indexed_ = true;
  std::uint64_t bytes = 0;
  for (const std::string_view text : documents_) bytes += text.size();
  if (bytes > kIndexLimit) return;
  sample_ = 1 + bytes / kBytesPerWord / kMostFingerprints;
  for (std::size_t i = 0; i < documents_.size(); ++i) {
    ForEachFingerprint(documents_[i], [&](std::uint64_t hash, std::size_t at) {
      if (hash % sample_ == 0) index_.push_back({hash, static_cast<std::uint32_t>(i), at});
    });
  }
  std::ranges::sort(index_, {}, [](const Fingerprint& f) { return f.hash; });
}

void Coverage::TraceWaiting() {
  if (waiting_.empty()) return;
  BuildIndex();
  for (const std::string& text : waiting_) Trace(text);
  waiting_.clear();
  waiting_bytes_ = 0;
}

void Coverage::Trace(std::string_view text) {
  std::size_t done = 0;  // what of the text is traced already
  ForEachFingerprint(text, [&](std::uint64_t hash, std::size_t at) {
    if (at < done || hash % sample_ != 0) return;
    for (const Match& match : LongestMatches(text, hash, at)) {
      by_models_[match.document].Add(match.begin, match.end);
      done = std::max(done, match.text_end);
    }
  });
}

// The places of the fingerprint at `at` from which the text goes on alike for longest.
std::vector<Coverage::Match> Coverage::LongestMatches(std::string_view text, std::uint64_t hash,
                                                      std::size_t at) const {
  const auto places =
      std::ranges::equal_range(index_, hash, {}, [](const Fingerprint& f) { return f.hash; });
  std::vector<Match> best;
  if (std::ranges::distance(places) > kMostPlaces) return best;
  for (const Fingerprint& place : places) {
    const std::string_view document = documents_[place.document];
    std::size_t before = 0, behind = 0;
    while (before < at && before < place.at &&
           text[at - before - 1] == document[place.at - before - 1]) {
      ++before;
    }
    while (at + behind < text.size() && place.at + behind < document.size() &&
           text[at + behind] == document[place.at + behind]) {
      ++behind;
    }
    if (behind < kBytes) continue;  // equal hashes of different words
    const Match match{place.document, place.at - before, place.at + behind, at + behind};
    const auto length = [](const Match& m) { return m.end - m.begin; };
    if (!best.empty() && length(match) < length(best.front())) continue;
    if (!best.empty() && length(match) > length(best.front())) best.clear();
    best.push_back(match);
  }
  return best;
}

}  // namespace dossier::ask
