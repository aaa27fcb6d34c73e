#include "cli/markdown/markdown_inline.h"

#include <md4c.h>

#include <charconv>

#include "base/process/shared_library.h"
#include "base/text/utf8.h"

namespace dossier::cli {
namespace {

// Put before every text, so that its start cannot be read as a list, a heading or a quote.
constexpr std::string_view kSentinel = "x ";

using ParseFunction = decltype(&md_parse);

ParseFunction LoadMd4c() {
  static const ParseFunction parse = [] {
    ParseFunction found = nullptr;
    if (auto library = SharedLibrary::Load("libmd4c.so.0", "libmd4c0")) {
      library->Find("md_parse", found);
    }
    return found;
  }();
  return parse;
}

struct Entity {
  std::string_view name, text;
};
constexpr Entity kEntities[] = {
    {"&amp;", "&"},  {"&lt;", "<"},    {"&gt;", ">"},    {"&quot;", "\""},  {"&apos;", "'"},
    {"&nbsp;", " "}, {"&ndash;", "–"}, {"&mdash;", "—"}, {"&hellip;", "…"}, {"&copy;", "©"},
    {"&rarr;", "→"}, {"&larr;", "←"},  {"&times;", "×"}, {"&deg;", "°"},    {"&micro;", "µ"},
    {"&euro;", "€"}, {"&le;", "≤"},    {"&ge;", "≥"},    {"&ne;", "≠"},     {"&bull;", "•"},
};

// Decodes an entity; unknown ones stay as written.
std::string DecodeEntity(std::string_view entity) {
  for (const Entity& known : kEntities) {
    if (known.name == entity) return std::string(known.text);
  }
  if (!entity.starts_with("&#") || entity.size() < 4) return std::string(entity);
  const bool hex = entity[2] == 'x' || entity[2] == 'X';
  const std::string_view digits = entity.substr(hex ? 3 : 2, entity.size() - (hex ? 4 : 3));
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  const bool scalar = number < 0xD800 || (number > 0xDFFF && number <= 0x10FFFF);
  if (error != std::errc() || !scalar || number == 0) return "\xEF\xBF\xBD";
  std::string text;
  utf8::Append(number, &text);
  return text;
}

struct Mark {
  MD_SPANTYPE span;
  Style style;
  std::string_view written;
};
constexpr Mark kMarks[] = {
    {MD_SPAN_EM, Style::kItalic, "*"},
    {MD_SPAN_STRONG, Style::kBold, "**"},
    {MD_SPAN_DEL, Style::kStrike, "~~"},
    {MD_SPAN_CODE, Style::kCode, "`"},
};

// Builds the result from md4c's callbacks.
class Builder {
 public:
  Builder(Markers markers, Style base) : markers_(markers), base_(base) {}

  void Enter(MD_SPANTYPE span, const void* detail) {
    if (span == MD_SPAN_A) {
      Begin(static_cast<const MD_SPAN_A_DETAIL*>(detail)->href);
    } else if (span == MD_SPAN_IMG) {
      Begin(static_cast<const MD_SPAN_IMG_DETAIL*>(detail)->src);
      Add("[image: ");
    }
    styles_.push_back(Of(span));
    Written(span);
  }

  void Leave(MD_SPANTYPE span) {
    Written(span);
    if (!styles_.empty()) styles_.pop_back();
    if (span == MD_SPAN_IMG) Add("]");
    if ((span == MD_SPAN_A || span == MD_SPAN_IMG) && !links_.empty()) End();
  }

  void Text(MD_TEXTTYPE type, std::string_view text) {
    switch (type) {
      case MD_TEXT_BR:
      case MD_TEXT_SOFTBR:
        Add("\n");
        break;
      case MD_TEXT_NULLCHAR:
        Add("\xEF\xBF\xBD");
        break;
      case MD_TEXT_ENTITY:
        Add(DecodeEntity(text));
        break;
      default:
        Add(text);
    }
  }

  // Returns the result without the sentinel.
  std::vector<StyledText> Take() && {
    std::size_t left = kSentinel.size();
    for (StyledText& piece : pieces_) {
      const std::size_t cut = std::min(left, piece.text.size());
      piece.text.erase(0, cut);
      left -= cut;
    }
    std::erase_if(pieces_, [](const StyledText& piece) { return piece.text.empty(); });
    return std::move(pieces_);
  }

 private:
  struct Link {
    std::string target;
    std::string text;
  };

  static Style Of(MD_SPANTYPE span) {
    if (span == MD_SPAN_A || span == MD_SPAN_IMG) return Style::kUnderline;
    for (const Mark& mark : kMarks) {
      if (mark.span == span) return mark.style;
    }
    return Style::kPlain;
  }

  void Written(MD_SPANTYPE span) {
    if (markers_ == Markers::kHide) return;
    for (const Mark& mark : kMarks) {
      if (mark.span == span) Add(mark.written);
    }
  }

  void Begin(const MD_ATTRIBUTE& target) {
    Link link;
    for (std::size_t i = 0; target.size > 0 && target.substr_offsets[i] < target.size; ++i) {
      const std::string_view part(target.text + target.substr_offsets[i],
                                  target.substr_offsets[i + 1] - target.substr_offsets[i]);
      link.target +=
          target.substr_types[i] == MD_TEXT_ENTITY ? DecodeEntity(part) : std::string(part);
    }
    links_.push_back(std::move(link));
  }

  // Adds the address after the text, unless the text is the address.
  void End() {
    const Link link = std::move(links_.back());
    links_.pop_back();
    const bool same = link.target.ends_with(link.text) && !link.text.empty() &&
                      (link.target == link.text || link.target == "mailto:" + link.text ||
                       link.target == "http://" + link.text);
    if (!same && !link.target.empty()) {
      pieces_.push_back({base_ | Style::kDim, fmt::format(" ({})", link.target)});
    }
  }

  void Add(std::string_view text) {
    Style style = base_;
    for (const Style one : styles_) style = style | one;
    for (Link& link : links_) link.text += text;
    if (!pieces_.empty() && pieces_.back().style == style) {
      pieces_.back().text += text;
    } else {
      pieces_.push_back({style, std::string(text)});
    }
  }

  const Markers markers_;
  const Style base_;
  std::vector<StyledText> pieces_;
  std::vector<Style> styles_;
  std::vector<Link> links_;
};

int EnterBlock(MD_BLOCKTYPE, void*, void*) { return 0; }

int EnterSpan(MD_SPANTYPE span, void* detail, void* builder) {
  static_cast<Builder*>(builder)->Enter(span, detail);
  return 0;
}

int LeaveSpan(MD_SPANTYPE span, void*, void* builder) {
  static_cast<Builder*>(builder)->Leave(span);
  return 0;
}

int OnText(MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* builder) {
  static_cast<Builder*>(builder)->Text(type, {text, size});
  return 0;
}

bool IsSpace(char32_t c) { return c == U' ' || c == U'\n' || c == U'\t' || c == 0xA0; }

bool IsPunctuation(char32_t c) {
  return c < 0x80
             ? c > 0x20 && !(c >= U'0' && c <= U'9') && !((c | 0x20) >= U'a' && (c | 0x20) <= U'z')
             : (c >= 0x2010 && c <= 0x2027) || (c >= 0x3001 && c <= 0x3003) ||
                   (c >= 0x3008 && c <= 0x3011);
}

}  // namespace

std::vector<StyledText> RenderInline(std::string_view text, Markers markers, Style base) {
  if (text.empty()) return {};
  const ParseFunction parse = LoadMd4c();
  Builder builder(markers, base);
  const MD_PARSER parser{
      .abi_version = 0,
      .flags = MD_FLAG_PERMISSIVEAUTOLINKS | MD_FLAG_STRIKETHROUGH | MD_FLAG_NOHTML |
               MD_FLAG_NOINDENTEDCODEBLOCKS,
      .enter_block = EnterBlock,
      .leave_block = EnterBlock,
      .enter_span = EnterSpan,
      .leave_span = LeaveSpan,
      .text = OnText,
      .debug_log = nullptr,
      .syntax = nullptr,
  };
  const std::string source = std::string(kSentinel).append(text);
  if (!parse || parse(source.data(), static_cast<MD_SIZE>(source.size()), &parser, &builder) != 0) {
    return {{base, std::string(text)}};
  }
  return std::move(builder).Take();
}

void InlineScan::EndRun(char32_t next) {
  if (run_length_ == 0) return;
  const int length = std::exchange(run_length_, 0);
  if (run_ == U'`') {
    code_ = code_ == 0 ? length : (code_ == length ? 0 : code_);
    return;
  }
  if (code_ != 0) return;
  const bool left = !IsSpace(next) &&
                    (!IsPunctuation(next) || IsSpace(before_run_) || IsPunctuation(before_run_));
  const bool right = !IsSpace(before_run_) &&
                     (!IsPunctuation(before_run_) || IsSpace(next) || IsPunctuation(next));
  const bool word = run_ == U'_';  // an underscore within a word is a letter
  int& open = run_ == U'*' ? open_stars_ : (run_ == U'_' ? open_lines_ : open_tildes_);
  int rest = length;
  if (right && (!word || !left || IsPunctuation(next))) {
    const int closing = std::min(open, rest);
    open -= closing;
    rest -= closing;
  }
  if (left && (!word || !right || IsPunctuation(before_run_))) open += rest;
}

void InlineScan::Feed(char32_t c) {
  const bool mark = c == U'`' || (code_ == 0 && (c == U'*' || c == U'_' || c == U'~'));
  const bool in_escape = std::exchange(escaped_, false) && code_ == 0;
  if (run_length_ > 0 && (c != run_ || in_escape)) EndRun(c);
  const Link link = std::exchange(link_, link_ == Link::kAfterText ? Link::kNone : link_);
  const char32_t before = std::exchange(last_, c);
  if (in_escape) return;
  if (mark) {
    if (run_length_++ == 0) before_run_ = before;
    run_ = c;
  } else if (code_ != 0) {
    return;
  } else if (c == U'\\') {
    escaped_ = true;
  } else if (link == Link::kAfterText && c == U'(') {
    link_ = Link::kTarget;
  } else if (link == Link::kTarget) {
    if (c == U')') link_ = Link::kNone;
  } else if (c == U'[') {
    ++brackets_;
  } else if (c == U']' && brackets_ > 0) {
    --brackets_;
    link_ = Link::kAfterText;
  }
}

bool InlineScan::closed() {
  EndRun(U' ');
  return open_stars_ == 0 && open_lines_ == 0 && open_tildes_ == 0 && brackets_ == 0 &&
         code_ == 0 && link_ != Link::kTarget && !escaped_;
}

}  // namespace dossier::cli
