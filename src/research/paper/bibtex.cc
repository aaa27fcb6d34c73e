#include "research/paper/bibtex.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "research/paper/latex.h"

namespace dossier::research {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool IsNameChar(char c) {
  return static_cast<unsigned char>(c) > 0x20 &&
         std::string_view("{}(),=#\"\\%").find(c) == std::string_view::npos;
}

// Collapses white space to single blanks, as BibTeX itself reads values.
std::string Collapsed(std::string_view text) {
  std::string collapsed;
  for (const char c : TrimSpace(text)) {
    if (!IsSpace(c)) {
      collapsed += c;
    } else if (!collapsed.empty() && collapsed.back() != ' ') {
      collapsed += ' ';
    }
  }
  return collapsed;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<BibEntry> Read() && {
    std::vector<BibEntry> entries;
    while (true) {
      const std::size_t at = text_.find('@', position_);
      if (at == std::string_view::npos) return entries;
      position_ = at + 1;
      BibEntry entry;
      if (ReadEntry(&entry)) {
        entries.push_back(std::move(entry));
      } else {
        position_ = std::max(position_, at + 1);
      }
    }
  }

 private:
  bool ReadEntry(BibEntry* entry) {
    entry->type = ToLowerAscii(Name());
    SkipSpace();
    if (entry->type == "comment" || entry->type == "preamble") {
      std::string passed_over;
      if (position_ < text_.size() && text_[position_] == '{') ReadBraced('}', &passed_over);
      return false;
    }
    if (!Take('{') && !Take('(')) return false;
    if (entry->type == "string") {  // @string(jan = "January")
      BibEntry names;
      if (ReadField(&names))
        strings_.insert_or_assign(names.fields[0].first, names.fields[0].second);
      return false;
    }
    SkipSpace();
    entry->key = Name();
    SkipSpace();
    while (Take(',')) {
      SkipSpace();
      if (AtClose()) break;
      if (!ReadField(entry)) return false;
      SkipSpace();
    }
    return !entry->key.empty() && (Take('}') || Take(')'));
  }

  bool ReadField(BibEntry* entry) {
    SkipSpace();
    const std::string name = ToLowerAscii(Name());
    SkipSpace();
    if (name.empty() || !Take('=')) return false;
    std::string value;
    do {
      SkipSpace();
      if (!ReadPiece(&value)) return false;
      SkipSpace();
    } while (Take('#'));
    entry->fields.emplace_back(name, Collapsed(value));
    return true;
  }

  bool ReadPiece(std::string* value) {
    if (position_ >= text_.size()) return false;
    const char c = text_[position_];
    if (c == '{') return ReadBraced('}', value);
    if (c == '"') return ReadBraced('"', value);
    const std::string name = Name();
    const auto found = strings_.find(ToLowerAscii(name));
    *value += found == strings_.end() ? name : found->second;
    return !name.empty();
  }

  // Reads up to the `close` outside all inner braces. A line that begins an entry ends one that was
  // not closed, so that a mistake costs only one entry, and reading is linear.
  bool ReadBraced(char close, std::string* value) {
    const std::size_t begin = ++position_;
    int depth = 0;
    for (; position_ < text_.size(); ++position_) {
      const char c = text_[position_];
      if (c == '\\') {
        ++position_;
      } else if (c == close && depth == 0) {
        *value += text_.substr(begin, position_++ - begin);
        return true;
      } else if (c == '{') {
        ++depth;
      } else if ((c == '}' && --depth < 0) || text_.substr(position_, 2) == "\n@") {
        return false;
      }
    }
    position_ = std::min(position_, text_.size());
    return false;
  }

  std::string Name() {
    const std::size_t begin = position_;
    while (position_ < text_.size() && IsNameChar(text_[position_])) ++position_;
    return std::string(text_.substr(begin, position_ - begin));
  }
  void SkipSpace() {
    while (position_ < text_.size() && IsSpace(text_[position_])) ++position_;
  }
  bool AtClose() const {
    return position_ < text_.size() && (text_[position_] == '}' || text_[position_] == ')');
  }
  bool Take(char c) {
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::map<std::string, std::string, std::less<>> strings_;
};

// Returns the value if its braces balance, it does not end in a backslash, and it has no command
// that a paper must not have (values go into papers unchanged); else removes `{}\^` from it.
std::string SafeValue(std::string_view value) {
  const std::string clean = Collapsed(utf8::Sanitize(value));
  int depth = 0;
  bool balanced = !ReachesOut(clean);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    if (clean[i] == '\\') {
      balanced = balanced && ++i < clean.size();
    } else if (clean[i] == '{') {
      ++depth;
    } else if (clean[i] == '}' && --depth < 0) {
      balanced = false;
    }
  }
  if (balanced && depth == 0) return clean;
  std::string plain;
  for (const char c : clean) {
    if (std::string_view("{}\\^").find(c) == std::string_view::npos) plain += c;
  }
  return plain;
}

bool IsKey(std::string_view key) {
  return !key.empty() && key.size() <= 200 && std::ranges::all_of(key, [](char c) {
    const bool letter = IsAlnum(c);
    return letter || std::string_view("_:.+/-").find(c) != std::string_view::npos;
  });
}

bool IsWord(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return IsLetter(c) || c == '-' || c == '_'; });
}

}  // namespace

std::string_view BibEntry::Field(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &std::pair<std::string, std::string>::first);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

std::vector<BibEntry> ParseBibtex(std::string_view text) { return Reader(text).Read(); }

std::string BibtexText(const std::vector<BibEntry>& entries) {
  std::string text;
  for (const BibEntry& entry : entries) {
    text += fmt::format("@{}{{{},\n", entry.type, entry.key);
    for (const auto& [name, value] : entry.fields) {
      if (IsWord(name)) text += fmt::format("  {} = {{{}}},\n", name, SafeValue(value));
    }
    text += "}\n\n";
  }
  return text;
}

bool IsCitable(const BibEntry& entry) {
  return IsWord(entry.type) && IsKey(entry.key) && !entry.Field("title").empty() &&
         !entry.Field("year").empty();
}

}  // namespace dossier::research
