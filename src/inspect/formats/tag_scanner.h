// Scans tags of XML and HTML in a stream, split anywhere. Malformed parts are skipped.
//
//   TagScanner tags(Markup::kXml);
//   tags.Feed(bytes, [&](const Tag& tag) { Use(tag.kind, tag.name, tag.begin, tag.end); });
//
// No entity is expanded and nothing is fetched. Memory: the name of one tag. Thread-safety: one
// owner.

#ifndef DOSSIER_INSPECT_FORMATS_TAG_SCANNER_H_
#define DOSSIER_INSPECT_FORMATS_TAG_SCANNER_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/ascii.h"

namespace dossier::inspect {

enum class Markup : std::uint8_t { kXml, kHtml };
enum class TagKind : std::uint8_t { kOpen, kClose, kEmpty };

struct Tag {
  TagKind kind = TagKind::kOpen;
  std::string_view name;             // without a prefix; lower case in HTML
  std::uint64_t begin = 0, end = 0;  // from < to after >
};

class TagScanner {
 public:
  explicit TagScanner(Markup markup) : markup_(markup) {}

  template <typename Sink>
  void Feed(std::string_view bytes, Sink&& sink) {
    for (const char c : bytes) {
      ++at_;
      if (Step(c)) {
        if (kind_ == TagKind::kOpen && last_ == '/') kind_ = TagKind::kEmpty;
        const std::string_view name = std::string_view(name_).substr(name_.rfind(':') + 1);
        if (!name.empty()) sink(Tag{kind_, name, begin_, at_});
        const bool raw = markup_ == Markup::kHtml && kind_ == TagKind::kOpen &&
                         (name == "script" || name == "style");
        state_ = raw ? State::kRaw : State::kText;
        if (raw) raw_ = "</" + name_;
        matched_ = 0;
      }
    }
  }

 private:
  enum class State : std::uint8_t {
    kText,
    kStart,
    kName,
    kAttributes,
    kQuoted,
    kMark,
    kComment,
    kCdata,
    kInstruction,
    kDeclaration,
    kRaw
  };
  static constexpr std::size_t kLongestName = 128;

  // Returns true if a tag ends here.
  bool Step(char c);
  void BeginTag();
  void StepStart(char c);
  void StepMark(char c);
  // Returns true if `end` has just been read.
  bool Ends(std::string_view end, char c);

  const Markup markup_;
  State state_ = State::kText;
  TagKind kind_ = TagKind::kOpen;
  std::string name_, raw_;
  std::uint64_t begin_ = 0, at_ = 0;
  std::size_t matched_ = 0;  // matched bytes of the sequence that ends the state
  int brackets_ = 0;         // open ones in a declaration
  char quote_ = 0, last_ = 0;
};

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_TAG_SCANNER_H_
