#include "evaluation/tasks/pool.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/files/missing_file.h"
#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "evaluation/tasks/grammar.h"

namespace dossier::evaluation {
namespace {

constexpr std::uint64_t kShortestText = 8, kLongestText = 2000;  // characters
constexpr std::uint64_t kMostPoolBytes = 1ull << 32;

// Makes one line without the separator between the parts of a line.
std::string CleanText(std::string_view text) {
  std::string clean = ReplaceAll(ReplaceAll(text, "\r\n", " "), "||", "|");
  std::replace_if(clean.begin(), clean.end(), IsLineEnd, ' ');
  // "|||" would leave a pair.
  while (clean.find("||") != std::string::npos) clean = ReplaceAll(clean, "||", "|");
  return std::string(TrimSpace(clean));
}

bool HasWord(std::string_view lower, std::string_view word) {
  for (std::size_t at = lower.find(word); at != std::string_view::npos;
       at = lower.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !IsWordByte(lower[at - 1])) &&
        (end == lower.size() || !IsWordByte(lower[end]))) {
      return true;
    }
  }
  return false;
}

bool NamesALabel(std::string_view text, const std::vector<std::string>& lower_labels) {
  const std::string lower = ToLowerAscii(text);
  return std::any_of(lower_labels.begin(), lower_labels.end(),
                     [&](const std::string& label) { return HasWord(lower, label); });
}

}  // namespace

Result<TextPool> TextPool::Open(const TextPoolOptions& options) {
  TextPool pool;
  if (!options.path.empty()) {
    DOSSIER_RETURN_IF_ERROR(pool.Read(options));
    return pool;
  }
  for (const grammar::Topic& topic : grammar::Topics()) {
    pool.labels_.emplace_back(topic.label);
    pool.info_.rows += static_cast<std::int64_t>(grammar::Count(topic));
  }
  pool.info_.sha256 = grammar::Hash();
  return pool;
}

Status TextPool::Read(const TextPoolOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string file, ReadNamedFile(options.path, kMostPoolBytes));
  info_.sha256 = Sha256Hex(file);
  std::map<std::string, std::set<std::string>> labels_of;  // text -> its labels
  std::set<std::string> labels;
  std::size_t number = 0;
  for (const std::string_view line : Split(file, '\n')) {
    ++number;
    if (TrimSpace(line).empty()) continue;
    const auto row = ParseJson(line);
    const auto text = row ? FindString(*row, options.text_field) : std::nullopt;
    const auto label = row ? FindString(*row, options.label_field) : std::nullopt;
    if (!text || !label || label->empty()) {
      return MakeError(ErrorCode::kConfig,
                       "{}:{}: a row is an object with the texts \"{}\" and \"{}\"", options.path,
                       number, options.text_field, options.label_field);
    }
    if (label->find_first_of(":*[]\r\n") != std::string_view::npos ||
        label->find("||") != std::string_view::npos || TrimSpace(*label) != *label) {
      return MakeError(ErrorCode::kConfig,
                       "{}:{}: the label \"{}\" has a character that the official parser removes "
                       "(: * [ ] ||), or a space at an end",
                       options.path, number, utf8::Sanitize(*label));
    }
    labels.emplace(*label);
    std::set<std::string>& known = labels_of[CleanText(utf8::Sanitize(*text))];
    if (known.contains(std::string(*label))) ++info_.dropped["duplicate"];
    known.emplace(*label);
  }
  if (labels.size() < 2) {
    return MakeError(ErrorCode::kConfig, "{}: a pool needs two labels or more; it has {}",
                     options.path, labels.size());
  }
  labels_.assign(labels.begin(), labels.end());
  texts_.resize(labels_.size());
  std::vector<std::string> lower_labels;
  for (const std::string& label : labels_) lower_labels.push_back(ToLowerAscii(label));
  const bool drop_leaky = options.leaky == TextPoolOptions::LeakyTexts::kDrop;
  for (const auto& [text, known] : labels_of) {
    const std::uint64_t size = utf8::CodePoints(text);
    if (known.size() > 1) {
      ++info_.dropped["two_labels"];
    } else if (size < kShortestText) {
      ++info_.dropped["short"];
    } else if (size > kLongestText) {
      ++info_.dropped["long"];
    } else if (drop_leaky && NamesALabel(text, lower_labels)) {
      ++info_.dropped["leaky"];
    } else {
      const auto at = std::lower_bound(labels_.begin(), labels_.end(), *known.begin());
      texts_[static_cast<std::size_t>(at - labels_.begin())].push_back(text);
      ++info_.rows;
    }
  }
  return {};
}

std::size_t TextPool::Count(std::size_t label) const {
  return texts_.empty() ? grammar::Count(grammar::Topics()[label]) : texts_[label].size();
}

std::string TextPool::Text(std::size_t label, std::size_t index) const {
  return texts_.empty() ? grammar::Text(grammar::Topics()[label], index) : texts_[label][index];
}

}  // namespace dossier::evaluation
