#include "ask/policy/coverage.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ask/documents/document_words.h"
#include "base/text/ascii.h"

namespace dossier::ask {
namespace {

// A fingerprint covers at least this many words and bytes of words: less occurs by chance.
constexpr std::size_t kWords = 3;
constexpr std::size_t kBytes = 10;
constexpr std::uint64_t kIndexLimit = 64u << 20;  // bytes; beyond it only slices are counted
constexpr std::uint64_t kMostFingerprints = 2'000'000;
constexpr std::uint64_t kBytesPerWord = 6;
constexpr std::size_t kMostWaiting = 16u << 20;  // bytes
// A fingerprint at more places than this says nothing about a text's origin.
constexpr std::size_t kMostPlaces = 64;

struct Word {
  std::uint64_t hash = 0;
  std::size_t begin = 0, end = 0;
};

// Returns where a reader of words at `from` may continue if no word that begins before `done`
// matters: after the last space before it, since no word contains a space.
std::size_t BehindSpace(std::string_view text, std::size_t from, std::size_t done) {
  constexpr std::size_t kFar = 4096;  // a longer word is read instead
  const std::size_t least = done > kFar ? std::max(from, done - kFar) : from;
  for (std::size_t at = done; at > least; --at) {
    if (text[at - 1] == ' ' || text[at - 1] == '\n') return at;
  }
  return from;
}

// Calls visit(hash, first byte) for every fingerprint of `text`, in order. It returns the byte
// before which no further one may begin.
template <typename Visit>
void ForEachFingerprint(std::string_view text, const Visit& visit) {
  std::vector<Word> words;  // of the current fingerprint
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
      const std::size_t done = visit(hash ^ (hash >> 29), words.front().begin);
      bytes -= words.front().end - words.front().begin;
      words.erase(words.begin());
      const std::size_t next = BehindSpace(text, reader.end(), done);
      if (next == reader.end()) continue;
      reader.GoTo(next);
      words.clear();
      bytes = 0;
    }
  }
}

// Any white space is equal to any other: code often wraps or joins lines before it asks.
bool IsSame(char a, char b) { return a == b || (IsJsonSpace(a) && IsJsonSpace(b)); }

// Return how many bytes two texts have in common at their starts, and at their ends.
std::size_t CommonStart(std::string_view a, std::string_view b) {
  constexpr std::size_t kBlock = 256;
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t at = 0;
  while (at < most) {
    const std::size_t block = std::min(kBlock, most - at), end = at + block;
    if (std::memcmp(a.data() + at, b.data() + at, block) == 0) at = end;
    while (at < end && IsSame(a[at], b[at])) ++at;
    if (at < end) break;
  }
  return at;
}

std::size_t CommonEnd(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t count = 0;
  while (count < most && IsSame(a[a.size() - count - 1], b[b.size() - count - 1])) ++count;
  return count;
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

void Coverage::AddText(std::string text) {
  std::lock_guard lock(mutex_);
  waiting_bytes_ += text.size();
  waiting_.push_back(std::move(text));
  if (waiting_bytes_ > kMostWaiting) TraceWaiting();
}

void Coverage::AddReadByCode(std::size_t document, std::uint64_t at, std::uint64_t length) {
  std::lock_guard lock(mutex_);
  Insert(by_code_, document, at, length);
}

void Coverage::AddSame(Coverage& others) {
  std::scoped_lock lock(mutex_, others.mutex_);
  others.TraceWaiting();
  for (std::size_t i = 0; i < others.documents_.size(); ++i) {
    if (others.by_models_[i].Total() + others.by_code_[i].Total() == 0) continue;
    for (std::size_t own = 0; own < documents_.size(); ++own) {
      if (documents_[own] != others.documents_[i]) continue;
      by_models_[own].Add(others.by_models_[i]);
      by_code_[own].Add(others.by_code_[i]);
    }
  }
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

// Called when the first text has to be traced.
void Coverage::BuildIndex() {
  if (indexed_) return;
  indexed_ = true;
  std::uint64_t bytes = 0;
  for (const std::string_view text : documents_) {
    starts_.push_back(bytes);
    bytes += text.size();
  }
  if (bytes > kIndexLimit) return;
  sample_ = 1 + bytes / kBytesPerWord / kMostFingerprints;
  std::vector<Fingerprint> found;
  found.reserve(bytes / kBytesPerWord / sample_);
  for (std::size_t i = 0; i < documents_.size(); ++i) {
    ForEachFingerprint(documents_[i], [&](std::uint64_t hash, std::size_t at) {
      const std::uint64_t place = starts_[i] + at;
      if (hash % sample_ == 0) found.push_back({hash, static_cast<std::uint32_t>(place)});
      return std::size_t{0};
    });
  }
  PutIntoBuckets(std::move(found));
}

// Uses about one fingerprint per bucket, so that no sorting is needed.
void Coverage::PutIntoBuckets(std::vector<Fingerprint> found) {
  const int bits = std::max(1, static_cast<int>(std::bit_width(found.size())));
  shift_ = 64 - bits;
  buckets_.assign((std::size_t{1} << bits) + 1, 0);
  for (const Fingerprint& one : found) ++buckets_[(one.hash >> shift_) + 1];
  for (std::size_t i = 1; i < buckets_.size(); ++i) buckets_[i] += buckets_[i - 1];
  index_.resize(found.size());
  std::vector<std::uint32_t> next(buckets_.begin(), buckets_.end() - 1);
  for (const Fingerprint& one : found) index_[next[one.hash >> shift_]++] = one;
}

// Returns the document and the byte offset in it.
std::pair<std::size_t, std::size_t> Coverage::PlaceOf(std::uint32_t at) const {
  const auto behind = std::ranges::upper_bound(starts_, at);
  return {static_cast<std::size_t>(behind - starts_.begin()) - 1, at - *std::prev(behind)};
}

void Coverage::TraceWaiting() {
  if (waiting_.empty()) return;
  BuildIndex();
  for (const std::string& text : waiting_) Trace(text);
  waiting_.clear();
  waiting_bytes_ = 0;
}

void Coverage::Trace(std::string_view text) {
  if (index_.empty()) return;
  std::size_t done = 0;  // how much of the text is traced already
  ForEachFingerprint(text, [&](std::uint64_t hash, std::size_t at) {
    if (at < done || hash % sample_ != 0) return done;
    for (const Match& match : LongestMatches(text, hash, at)) {
      by_models_[match.document].Add(match.begin, match.end);
      done = std::max(done, match.text_end);
    }
    return done;
  });
}

// Returns the places of the fingerprint at `at` where the text continues to match the longest.
std::vector<Coverage::Match> Coverage::LongestMatches(std::string_view text, std::uint64_t hash,
                                                      std::size_t at) const {
  std::vector<std::uint32_t> places;
  const std::uint64_t bucket = hash >> shift_;
  for (std::size_t i = buckets_[bucket]; i < buckets_[bucket + 1]; ++i) {
    if (index_[i].hash == hash) places.push_back(index_[i].at);
    if (places.size() > kMostPlaces) return {};
  }
  std::vector<Match> best;
  for (const std::uint32_t place : places) {
    const auto [number, in_document] = PlaceOf(place);
    const std::string_view document = documents_[number];
    const std::size_t before = CommonEnd(text.substr(0, at), document.substr(0, in_document));
    const std::size_t behind = CommonStart(text.substr(at), document.substr(in_document));
    if (behind < kBytes) continue;  // equal hashes of different words
    const Match match{number, in_document - before, in_document + behind, at + behind};
    const auto length = [](const Match& m) { return m.end - m.begin; };
    if (!best.empty() && length(match) < length(best.front())) continue;
    if (!best.empty() && length(match) > length(best.front())) best.clear();
    best.push_back(match);
  }
  return best;
}

}  // namespace dossier::ask
