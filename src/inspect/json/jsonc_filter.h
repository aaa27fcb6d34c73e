// JSON with comments and trailing commas, turned into JSON.
//
//   JsoncFilter filter;
//   std::string json = filter.Take("{\"a\": 1, /* one */ }");   // {"a": 1   }
//   filter.changed() == true;
//
// The state survives any split of the input. Thread-safety: one owner.

#ifndef DOSSIER_INSPECT_JSON_JSONC_FILTER_H_
#define DOSSIER_INSPECT_JSON_JSONC_FILTER_H_

#include <string>
#include <string_view>

namespace dossier::inspect {

class JsoncFilter {
 public:
  std::string Take(std::string_view text);
  // Whether there was a comment or a trailing comma.
  bool changed() const { return changed_; }
  // Whether the text ends in a place where it may.
  bool complete() const { return state_ == State::kPlain || state_ == State::kLineComment; }

 private:
  enum class State : std::uint8_t {
    kPlain,
    kString,
    kEscape,
    kSlash,
    kLineComment,
    kBlockComment,
    kBlockStar
  };

  void TakePlain(char c, std::string* out);

  State state_ = State::kPlain;
  bool comma_ = false;  // held back until it is known what follows
  bool changed_ = false;
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_JSON_JSONC_FILTER_H_
