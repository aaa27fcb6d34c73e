// Token counts by content, kept from run to run (ASM-60). A warm cache changes time, never numbers.
//
//   CountCache cache(folder, *counter);
//   const std::int64_t tokens = cache.Count(text);      // counted once
//   cache.Save();
//
// The file NAME.counts: "dossier.counts/1 NAME\n", 20 bytes an entry (16 of the text's SHA-256, 4 of
// the count, little endian, sorted), 64 hex digits of the SHA-256 of all before. A damaged file is replaced.
// Thread-safety: Count from many threads; Save when nobody counts.

#ifndef DOSSIER_SOURCES_COUNT_CACHE_H_
#define DOSSIER_SOURCES_COUNT_CACHE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tokens/counter.h"

namespace dossier::sources {

class CountCache {
 public:
  // `folder` empty, or a counter that is not exact: nothing is kept.
  CountCache(const std::string& folder, const tokens::Counter& counter);

  // Tokens to budget with.
  std::int64_t Count(std::string_view text);
  // Errors: kIo. What was not asked for since is dropped once there are many.
  Status Save();

 private:
  void Load();

  const tokens::Counter& counter_;
  std::string folder_, path_, head_;
  std::map<std::string, std::uint32_t, std::less<>> kept_;  // read; not changed
  std::mutex mutex_;
  std::map<std::string, std::uint32_t, std::less<>> fresh_, used_;
};

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COUNT_CACHE_H_
