#include "memory/search/terms.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/text/utf8.h"

namespace dossier::memory {
namespace {

constexpr std::size_t kLongestTerm = 32'768;  // bytes; FTS5 cuts there

// Words that a query drops unless only such words are left, in byte order.
constexpr std::string_view kStopWords[] = {
    "a",     "an",    "and",  "are",   "as",   "at",   "be",   "been", "by",   "can",  "could",
    "did",   "do",    "does", "for",   "from", "had",  "has",  "have", "he",   "her",  "his",
    "how",   "in",    "is",   "it",    "its",  "not",  "of",   "on",   "or",   "s",    "she",
    "t",     "that",  "the",  "their", "they", "this", "to",   "was",  "were", "what", "when",
    "where", "which", "who",  "whom",  "why",  "will", "with", "would"};

// Letters of scripts that put no spaces between words, and their repeat and length marks: first and
// last code point, from the Unicode blocks.
struct Letters {
  char32_t first, last;
};
constexpr Letters kUnspaced[] = {
    {0x0e01, 0x0e3a},    // Thai
    {0x0e40, 0x0e4e},    // Thai
    {0x1100, 0x11ff},    // Hangul letters
    {0x3005, 0x3007},    // Han: repeat, closing mark, zero
    {0x3021, 0x302f},    // Han numerals, Hangul tones
    {0x3031, 0x3035},    // repeat marks of kana
    {0x3038, 0x303c},    // Han numerals and marks
    {0x3041, 0x309f},    // Hiragana
    {0x30a1, 0x30fa},    // Katakana
    {0x30fc, 0x30ff},    // Katakana: length, repeat
    {0x3131, 0x318e},    // Hangul letters
    {0x31f0, 0x31ff},    // Katakana
    {0x3400, 0x4dbf},    // Han
    {0x4e00, 0x9fff},    // Han
    {0xa960, 0xa97c},    // Hangul letters
    {0xac00, 0xd7a3},    // Hangul syllables
    {0xd7b0, 0xd7fb},    // Hangul letters
    {0xf900, 0xfaff},    // Han
    {0xff66, 0xff9f},    // Katakana of half width
    {0xffa0, 0xffdc},    // Hangul of half width
    {0x1b000, 0x1b16f},  // kana
    {0x20000, 0x3ffff},  // Han
};
// The marks among them, which FTS5 treats as separators.
constexpr Letters kMarks[] = {
    {0x0e31, 0x0e31}, {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e},  // Thai vowels and tones
    {0x302a, 0x302f}, {0x3099, 0x309c},                    // tones, voicing of kana
};
// In UTF-8 the first byte of each is at least this.
constexpr char kUnspacedByte = '\xe0';

bool IsIn(std::span<const Letters> runs, char32_t code_point) {
  const auto above = std::ranges::upper_bound(runs, code_point, {}, &Letters::first);
  return above != runs.begin() && code_point <= std::prev(above)->last;
}

bool MayHaveUnspaced(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= static_cast<unsigned char>(kUnspacedByte);
  });
}

// Receives the code points of a text and writes its runs as pairs.
class PairWriter {
 public:
  void Take(char32_t code_point) {
    if (!IsIn(kUnspaced, code_point)) {
      if (run_length_ > 0) out_.push_back(' ');
      run_length_ = 0;
      utf8::Append(code_point, &out_);
      return;
    }
    if (IsIn(kMarks, code_point)) return;
    if (!out_.empty() && run_length_ != 1) out_.push_back(' ');
    if (run_length_ > 1) utf8::Append(last_, &out_);
    utf8::Append(code_point, &out_);
    last_ = code_point;
    ++run_length_;
  }

  std::string Finish() && { return std::move(out_); }

 private:
  std::string out_;
  char32_t last_ = 0;
  std::size_t run_length_ = 0;
};

std::vector<std::string> Tokens(const store::Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> tokens;
  tokenizer.ForEach(IndexText(text), [&](std::string_view token) {
    tokens.emplace_back(token.substr(0, kLongestTerm));
  });
  return tokens;
}

bool IsStopWord(std::string_view word) {
  return std::binary_search(std::begin(kStopWords), std::end(kStopWords), word);
}

}  // namespace

std::string IndexText(std::string_view text) {
  if (!MayHaveUnspaced(text)) return utf8::Sanitize(text);
  PairWriter pairs;
  for (std::size_t offset = 0; offset < text.size();) pairs.Take(utf8::Next(text, &offset));
  return std::move(pairs).Finish();
}

std::vector<std::string> Terms(const Connection& connection, std::string_view text) {
  return Tokens(connection.terms(), text);
}

std::size_t CountTerms(const Connection& connection, std::string_view text) {
  std::size_t count = 0;
  connection.words().ForEach(IndexText(text), [&](std::string_view) { ++count; });
  return count;
}

std::vector<std::string> QueryTerms(const Connection& connection, std::string_view query) {
  const std::vector<std::string> words = Tokens(connection.words(), query);
  std::vector<std::string> all = Tokens(connection.terms(), query), terms;
  const bool only_stop_words = std::all_of(words.begin(), words.end(), IsStopWord);
  std::unordered_set<std::string> seen;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!only_stop_words && IsStopWord(words[i])) continue;
    if (seen.insert(all[i]).second) terms.push_back(std::move(all[i]));
  }
  return terms;
}

}  // namespace dossier::memory
