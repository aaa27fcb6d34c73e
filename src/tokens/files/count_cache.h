// Caches token counts of texts by the SHA-256 of the text and the encoding.
//
//   CountCache cache = CountCache::Open(folder, "o200k_base");
//   const std::int64_t tokens = cache.CountText(text, *counter);   // counts it only if it is new
//   cache.Save();
//
// One file per encoding, FOLDER/ENCODING.counts: records of 48 bytes, each with the hash, the count
// and a checksum of both. Records are appended under a lock, so processes may share a file; a
// record that a killed process left incomplete is cut off by the next one that saves, and one with
// a wrong checksum is skipped. A file above 16 MiB is started again. The cache affects only time,
// never counts; its failures only cost the time that it would have saved.
//
// Thread-safety: one owner.

#ifndef DOSSIER_TOKENS_FILES_COUNT_CACHE_H_
#define DOSSIER_TOKENS_FILES_COUNT_CACHE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tokens/counter/counter.h"

namespace dossier::tokens {

class CountCache {
 public:
  // Reads the existing file; with an empty `folder` nothing is stored. `encoding` identifies the
  // vocabulary exactly: Opened::identity.
  static CountCache Open(const std::string& folder, std::string_view encoding);

  // The count of `text` by `counter`, from the cache if possible. Short texts are always counted.
  std::int64_t CountText(std::string_view text, const Counter& counter);
  // Writes the counts since the last save. False if that failed, which only costs time later.
  bool Save();

  std::size_t size() const { return counts_.size(); }

 private:
  struct Record {
    std::array<std::uint64_t, 4> hash;
    std::int64_t tokens;
    std::uint64_t check;
  };
  static_assert(sizeof(Record) == 48);
  struct HashOfHash {
    std::size_t operator()(const std::array<std::uint64_t, 4>& hash) const { return hash[0]; }
  };

  static std::uint64_t Check(const Record& record);
  void Read(std::string_view bytes);

  std::string path_;  // empty: nothing is stored
  std::unordered_map<std::array<std::uint64_t, 4>, std::int64_t, HashOfHash> counts_;
  std::string new_records_;
};

}  // namespace dossier::tokens

#endif  // DOSSIER_TOKENS_FILES_COUNT_CACHE_H_
