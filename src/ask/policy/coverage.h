// Tracks how much of the context was read, by models (in answered requests) and by code.
//
//   Coverage coverage(views);
//   coverage.AddSlice(0, 1000, 500);            // bytes of document 0 in an answered request
//   coverage.AddText(prompt);                   // any text: what of it comes from the context
//   counts coverage.AddReadByCode(0, 0, 4096);         // bytes that a program looked at
//   Coverage::Shares shares = coverage.Read();  // 0 to 1 each
//
// Text is traced back by fingerprints: hashes of three or more consecutive words, looked up in an
// index of the context and extended from there byte by byte in both directions. So a line counts
// even if it was cut, quoted inside a sentence or taken from a JSON record; all equal places count.
//
// Thread-safety: all methods from any thread. AddText only stores the text: the index is built and
// searched by Read, or when many texts are waiting.

#ifndef DOSSIER_ASK_POLICY_COVERAGE_H_
#define DOSSIER_ASK_POLICY_COVERAGE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dossier::ask {

// Disjoint byte ranges of a text.
class Stretches {
 public:
  void Add(std::uint64_t begin, std::uint64_t end);
  void Add(const Stretches& others);
  std::uint64_t Total() const;

 private:
  std::map<std::uint64_t, std::uint64_t> stretches_;  // begin -> end
};

class Coverage {
 public:
  // Shares of all bytes of the documents; 0 if there are no documents.
  struct Shares {
    double by_models = 0, by_code = 0;
    double by_any = 0;  // read by at least one of the two
  };

  // The views must outlive the object.
  explicit Coverage(std::vector<std::string_view> documents);

  void AddSlice(std::size_t document, std::uint64_t at, std::uint64_t length);
  void AddText(std::string text);
  void AddReadByCode(std::size_t document, std::uint64_t at, std::uint64_t length);
  // Adds what `others` has read of documents that have the same bytes as ours.
  void AddSame(Coverage& others);
  Shares Read();
  // Returns true if code or models have read anything of that document.
  bool Touched(std::size_t document);

 private:
  struct Fingerprint {
    std::uint64_t hash = 0;
    std::uint32_t at = 0;  // offset in the concatenated documents
  };
  struct Match {
    std::size_t document = 0;
    std::uint64_t begin = 0, end = 0;  // in the document
    std::size_t text_end = 0;          // in the text
  };

  void Insert(std::vector<Stretches>& where, std::size_t document, std::uint64_t at,
              std::uint64_t length);
  void BuildIndex();
  void PutIntoBuckets(std::vector<Fingerprint> found);
  std::pair<std::size_t, std::size_t> PlaceOf(std::uint32_t at) const;
  void TraceWaiting();
  void Trace(std::string_view text);
  std::vector<Match> LongestMatches(std::string_view text, std::uint64_t hash,
                                    std::size_t at) const;

  const std::vector<std::string_view> documents_;
  mutable std::mutex mutex_;
  bool indexed_ = false;
  std::uint64_t sample_ = 1;  // one of so many fingerprints is kept, selected by hash
  std::vector<Stretches> by_models_, by_code_;
  std::vector<std::uint64_t> starts_;  // of the documents, concatenated
  // Sorted by the first bits of the hashes: index_ from buckets_[bits] to buckets_[bits + 1].
  std::vector<Fingerprint> index_;
  std::vector<std::uint32_t> buckets_;
  int shift_ = 0;  // reduces a hash to its first bits
  std::vector<std::string> waiting_;
  std::size_t waiting_bytes_ = 0;
};

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_POLICY_COVERAGE_H_
