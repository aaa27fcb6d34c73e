// The model calls that memory may need, passed in as functions; this module calls no model itself.
//
//   const Summarizer summarizer{.summarize = [&](const SummaryRequest& r) { … },
//                               .rate = [&](const std::vector<RatedItem>& items) { … }};
//
// If the functions are unset there is no model, and texts are used as they are. Thread-safety: that
// of the functions.

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

// A remark about a reply or a block, beside its result: a name for programs and a sentence for
// people and models.
struct Notice {
  std::string name;
  std::string text;
};

// Returns [{"name": …, "text": …}].
JsonArray NoticesJson(const std::vector<Notice>& notices);

struct SummaryRequest {
  enum class Purpose : std::uint8_t {
    kConsolidate,  // layout memory.consolidate: events of one kind
    kCompress,     // layout memory.compress: a text that is too long
  } purpose = Purpose::kConsolidate;
  std::string text;
  std::int64_t max_chars = 0;  // code points
  std::string hint;            // the kind of the events, or the purpose of the text
  std::string context;         // the work that it is part of; "": unknown

  auto operator<=>(const SummaryRequest&) const = default;
};

// An item for layout memory.rate, which rates importance from 1 to 5.
struct RatedItem {
  std::string key;
  std::string value;  // the first 200 code points of the value

  auto operator<=>(const RatedItem&) const = default;
};

struct Summarizer {
  std::function<Result<std::string>(const SummaryRequest& request)> summarize;
  // Returns one number for each item, in their order.
  std::function<Result<std::vector<int>>(const std::vector<RatedItem>& items)> rate;
  std::string model;                    // part of the key of stored compressions
  std::int64_t window_chars = 100'000;  // the model's input limit in code points
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_CONSOLIDATE_SUMMARIZER_H_
