// The model calls that memory may need, passed in: the module calls no model itself.
//
//   const Summarizer summarizer{.summarize = [&](const SummaryRequest& r) { … },
//                               .rate = [&](const std::vector<RatedItem>& items) { … }};
//
// Unset functions: there is no model, and texts stand for themselves. Thread-safety: the
// functions'.

#ifndef DOSSIER_MEMORY_CONSOLIDATE_SUMMARIZER_H_
#define DOSSIER_MEMORY_CONSOLIDATE_SUMMARIZER_H_

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::memory {

// What is said about a reply or a block beside its result: a name for programs, a sentence for
// people and models.
struct Notice {
  std::string name;
  std::string text;
};

// [{"name": …, "text": …}]
JsonArray NoticesJson(const std::vector<Notice>& notices);

struct SummaryRequest {
  enum class Purpose : std::uint8_t {
    kConsolidate,  // layout memory.consolidate: events of one kind
    kCompress,     // layout memory.compress: a text that is too long
  } purpose = Purpose::kConsolidate;
  std::string text;
  std::int64_t max_chars = 0;  // code points
  std::string hint;            // the kind of the events; what the text is for
  std::string context;         // of what work it is part; "": nothing is known

  auto operator<=>(const SummaryRequest&) const = default;
};

// Layout memory.rate: how important each is, 1 to 5.
struct RatedItem {
  std::string key;
  std::string value;  // its first 200 code points

  auto operator<=>(const RatedItem&) const = default;
};

struct Summarizer {
  std::function<Result<std::string>(const SummaryRequest& request)> summarize;
  // As many numbers as items, in their order.
  std::function<Result<std::vector<int>>(const std::vector<RatedItem>& items)> rate;
  std::string model;                    // part of the key under which compressions are kept
  std::int64_t window_chars = 100'000;  // what the model takes at once, code points
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_CONSOLIDATE_SUMMARIZER_H_
