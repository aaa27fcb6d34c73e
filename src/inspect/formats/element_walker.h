// The search for records that XML and HTML share; used by markup_items.cc and html_items.cc.
//
// Thread-safety: one owner.

#ifndef DOSSIER_INSPECT_FORMATS_ELEMENT_WALKER_H_
#define DOSSIER_INSPECT_FORMATS_ELEMENT_WALKER_H_

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "base/text/utf8.h"
#include "inspect/formats/items.h"
#include "inspect/formats/markup_text.h"
#include "inspect/formats/tag_scanner.h"

namespace dossier::inspect {

inline constexpr std::size_t kDeepestElement = 64;  // maximum nesting of elements that is tracked
// Maximum bytes of the name of a table or group.
inline constexpr std::size_t kLongestTitleBytes = 200;

// Finds or counts the records in a stream of tags. `text` is the whole text; empty: only count.
class ElementWalker {
 public:
  ElementWalker(std::string_view text, Items* out) : text_(text), out_(out) {}
  virtual ~ElementWalker() = default;

  virtual void Take(const Tag& tag) = 0;
  // `end` is the end of the text.
  virtual void Finish(std::uint64_t end) = 0;
  std::uint64_t count() const { return count_; }

 protected:
  void Emit(std::uint64_t begin, std::uint64_t end) {
    ++count_;
    if (out_) out_->ranges.push_back({begin, end});
  }
  void Head(std::uint64_t at, TextRecord cells, std::ptrdiff_t outer) {
    if (!out_) return;
    out_->heads.push_back({at, std::move(cells), outer});
    head_ = std::ssize(out_->heads) - 1;
  }
  std::string NameBetween(std::uint64_t begin, std::uint64_t end) const {
    return std::string(
        utf8::Prefix(TextOfHtml(text_.substr(begin, std::min<std::uint64_t>(end - begin, 4096))),
                     kLongestTitleBytes));
  }

  const std::string_view text_;
  Items* const out_;
  std::ptrdiff_t head_ = -1;  // the one that applies now

 private:
  std::uint64_t count_ = 0;
};

// The HTML part: html_items.cc.
std::unique_ptr<ElementWalker> MakeHtmlWalker(std::string_view shape, std::string_view text,
                                              Items* out);
ShapeScan DetectHtml(std::string_view head);
TextRecord ReadHtmlRow(const Item& item);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_FORMATS_ELEMENT_WALKER_H_
