// Removes secret values that a program was given, such as API keys, from everything that is
// written.
//
//   const SecretValues secrets({{"OPENAI_API_KEY", "sk-…"}});
//   secrets.Hide("key sk-… used");                   // "key [redacted:OPENAI_API_KEY] used"
//   SecretFilter filter(secrets);                    // for a stream that comes in pieces
//   file += filter.Add(bytes);  …  file += filter.Finish();
//
// Thread-safety: SecretValues is immutable; a filter has one owner, and must not outlive its
// SecretValues.

#ifndef DOSSIER_AGENTS_GIT_SECRET_VALUES_H_
#define DOSSIER_AGENTS_GIT_SECRET_VALUES_H_

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dossier::agents {

class SecretValues {
 public:
  // Shorter values are ignored: they are words such as "1" and "on", and hiding them would make
  // texts unreadable.
  static constexpr std::size_t kShortest = 4;  // bytes
  static constexpr std::size_t kShortestFound = 8;

  SecretValues() = default;
  // Takes pairs of name and value.
  explicit SecretValues(std::vector<std::pair<std::string, std::string>> values);

  bool empty() const { return values_.empty(); }
  std::string Hide(std::string_view text) const;

  // A place in `text` with a value that is too long to be a common word.
  struct Found {
    std::string name;
    std::size_t offset = 0;  // bytes
  };
  std::optional<Found> Find(std::string_view text) const;

 private:
  friend class SecretFilter;
  // Returns the longest value that `text` starts with; nullptr if there is none.
  const std::pair<std::string, std::string>* At(std::string_view text) const;

  std::vector<std::pair<std::string, std::string>> values_;  // longest first
  std::bitset<256> first_;                                   // first bytes of the values
  std::size_t longest_ = 0;
};

class SecretFilter {
 public:
  explicit SecretFilter(const SecretValues& values) : values_(values) {}

  // Returns what may be written now; the rest may be the start of a value.
  std::string Add(std::string_view bytes);
  std::string Finish();

 private:
  std::string Take(std::size_t keep);

  const SecretValues& values_;
  std::string pending_;
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_SECRET_VALUES_H_
