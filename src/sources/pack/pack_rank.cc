#include "sources/pack/pack_rank.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "sources/repository/code_facts.h"

namespace dossier::sources {
namespace {

struct Field {
  std::string_view name;
  double weight;
  double length_share;  // how much a long field dilutes a word: b of BM25
};
constexpr std::array<Field, kRankFields> kFields = {
    {{"name", 6.0, 0.4}, {"symbols", 3.0, 0.6}, {"imports", 0.7, 0.5}, {"text", 1.0, 0.75}}};
constexpr double kSaturation = 1.5;       // k1 of BM25
constexpr double kImportShare = 0.15;     // share of a neighbour's score
constexpr double kHistoryShare = 0.2;     // share of the score of a file changed together
constexpr std::size_t kLargeCommit = 30;  // files; larger commits show no relation
constexpr std::size_t kMaxReasons = 5;

constexpr std::string_view kCommonWords[] = {
    "a",     "an",    "and",  "are",  "as",     "at",  "be",   "by", "can", "do",   "does",
    "fix",   "for",   "from", "how",  "if",     "in",  "into", "is", "it",  "make", "not",
    "of",    "on",    "or",   "so",   "that",   "the", "this", "to", "we",  "what", "when",
    "where", "which", "why",  "with", "should", "add", "use",  "all"};

enum class Case : std::uint8_t { kOther, kLower, kUpper, kDigit };

Case CaseOf(char c) {
  if (IsLower(c)) return Case::kLower;
  if (static_cast<unsigned char>(c) >= 0x80) return Case::kLower;
  if (IsUpper(c)) return Case::kUpper;
  return c >= '0' && c <= '9' ? Case::kDigit : Case::kOther;
}

// Removes English endings, so that "ranking", "ranks" and "ranked" are one word.
void Stem(std::string* word) {
  const auto cut = [&](std::string_view ending, std::size_t least) {
    if (word->size() < ending.size() + least || !word->ends_with(ending)) return false;
    word->resize(word->size() - ending.size());
    return true;
  };
  if (cut("ies", 2)) {
    *word += 'y';
    return;
  }
  const bool cut_off =
      cut("ing", 3) || cut("ed", 3) || cut("es", 3) || (!word->ends_with("ss") && cut("s", 2));
  const std::size_t size = word->size();
  if (cut_off && size > 3 && (*word)[size - 1] == (*word)[size - 2]) word->pop_back();
  if (word->size() > 3 && word->ends_with('e')) word->pop_back();
}

// Calls `use` for each word, without its ending and as written. Words are runs of letters or
// digits, split where lower case changes to upper case.
template <typename Use>
void ForEachWord(std::string_view text, Use use) {
  std::string word;
  for (std::size_t at = 0; at < text.size();) {
    if (CaseOf(text[at]) == Case::kOther) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    for (; end < text.size(); ++end) {
      const Case before = CaseOf(text[end - 1]), here = CaseOf(text[end]);
      const Case after = end + 1 < text.size() ? CaseOf(text[end + 1]) : Case::kOther;
      if (here == Case::kOther || (here == Case::kDigit) != (before == Case::kDigit)) break;
      if (before == Case::kLower && here == Case::kUpper) break;
      if (before == Case::kUpper && here == Case::kUpper && after == Case::kLower) break;
    }
    word.assign(text, at, std::min<std::size_t>(end - at, 64));
    for (char& c : word) {
      if (CaseOf(c) == Case::kUpper) c = static_cast<char>(c - 'A' + 'a');
    }
    Stem(&word);
    use(word, text.substr(at, end - at));
    at = end;
  }
}

struct Part {
  double value;
  std::string text;
};

// Scores in progress: what each file got, and from where.
struct Board {
  std::vector<double> scores;
  std::vector<std::vector<Part>> parts;

  void Add(std::size_t file, double value, std::string text) {
    scores[file] += value;
    parts[file].push_back({value, fmt::format("{} {:.2f}", text, value)});
  }
};

std::string FieldNames(const std::array<std::uint32_t, kRankFields>& counts) {
  std::string names;
  for (std::size_t f = 0; f < kRankFields; ++f) {
    if (counts[f] == 0) continue;
    if (!names.empty()) names += ", ";
    names += kFields[f].name;
  }
  return names;
}

void ScoreWords(const std::vector<std::string>& given, const std::vector<TaskWordCounts>& texts,
                Board* board) {
  std::array<double, kRankFields> average{};
  for (const TaskWordCounts& text : texts) {
    for (std::size_t f = 0; f < kRankFields; ++f) average[f] += text.lengths[f];
  }
  const auto count = static_cast<double>(texts.size());
  for (double& length : average) length = std::max(length / count, 1.0);
  for (std::size_t w = 0; w < given.size(); ++w) {
    double holders = 0;
    for (const TaskWordCounts& text : texts) {
      holders += std::any_of(text.counts[w].begin(), text.counts[w].end(),
                             [](std::uint32_t n) { return n > 0; });
    }
    const double rarity = std::log(1.0 + (count - holders + 0.5) / (holders + 0.5));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      double weighed = 0;
      for (std::size_t f = 0; f < kRankFields; ++f) {
        const double dilution = 1.0 - kFields[f].length_share +
                                kFields[f].length_share * texts[i].lengths[f] / average[f];
        weighed += kFields[f].weight * texts[i].counts[w][f] / dilution;
      }
      if (weighed == 0) continue;
      board->Add(i, rarity * weighed / (kSaturation + weighed),
                 fmt::format("\"{}\" in {}", given[w], FieldNames(texts[i].counts[w])));
    }
  }
}

// Gives a file a share of the word score of its best neighbour by imports.
void ScoreImports(const std::vector<std::string>& paths, const std::vector<TaskWordCounts>& texts,
                  const std::vector<double>& by_words, Board* board) {
  struct Best {
    double score = 0;
    std::size_t other = 0;
    bool imports = false;
  };
  std::vector<Best> best(paths.size());
  const ImportGraph graph(paths);
  const auto consider = [&](std::size_t file, std::size_t other, bool imports) {
    if (by_words[other] > best[file].score) best[file] = {by_words[other], other, imports};
  };
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (const std::string& import : texts[i].imports) {
      const auto target = graph.Find(paths[i], import);
      if (!target || *target == i) continue;
      consider(i, *target, true);
      consider(*target, i, false);
    }
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (best[i].score == 0) continue;
    board->Add(
        i, kImportShare * best[i].score,
        fmt::format("{} {}", best[i].imports ? "imports" : "imported by", paths[best[i].other]));
  }
}

// Gives a file a share of the score of another that changed in the same commits.
void ScoreHistory(const std::vector<std::string>& paths, const GitFacts& git,
                  const std::vector<double>& by_words, Board* board) {
  std::unordered_map<std::string_view, std::size_t> ids;
  for (std::size_t i = 0; i < paths.size(); ++i) ids.emplace(paths[i], i);
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> together;
  std::vector<std::uint32_t> changes(paths.size());
  for (const auto& commit : git.commits) {
    if (commit.size() > kLargeCommit) continue;
    std::vector<std::size_t> files;
    for (const std::string& path : commit) {
      if (const auto id = ids.find(path); id != ids.end()) files.push_back(id->second);
    }
    for (const std::size_t a : files) {
      ++changes[a];
      for (const std::size_t b : files) {
        if (a != b && by_words[b] > 0) ++together[{a, b}];
      }
    }
  }
  std::map<std::size_t, std::pair<double, std::string>> best;
  for (const auto& [pair, count] : together) {
    if (count < 2) continue;  // once may be chance
    const double value = kHistoryShare * by_words[pair.second] * count / changes[pair.first];
    auto& kept = best[pair.first];
    if (value <= kept.first) continue;
    kept = {value, fmt::format("changed with {} ({} of {} commits)", paths[pair.second], count,
                               changes[pair.first])};
  }
  for (auto& [file, part] : best) board->Add(file, part.first, std::move(part.second));
}

}  // namespace

TaskRanking::TaskRanking(std::string_view task) {
  std::map<std::string, std::string> words;
  ForEachWord(task, [&](const std::string& word, std::string_view given) {
    if (word.size() < 2) return;
    for (const std::string_view common : kCommonWords) {
      std::string stem(common);
      Stem(&stem);
      if (word == stem) return;
    }
    words.emplace(word, given);
  });
  for (auto& [word, given] : words) {
    words_.push_back(word);
    given_.push_back(std::move(given));
  }
}

TaskWordCounts TaskRanking::Read(std::string_view path, const CodeFacts& code,
                                 std::string_view text) const {
  TaskWordCounts read;
  read.counts.resize(words_.size());
  read.imports = code.imports;
  const auto add = [&](std::string_view part, std::size_t field) {
    ForEachWord(part, [&](const std::string& word, std::string_view) {
      ++read.lengths[field];
      const auto found = std::lower_bound(words_.begin(), words_.end(), word);
      if (found == words_.end() || *found != word) return;
      ++read.counts[static_cast<std::size_t>(found - words_.begin())][field];
    });
  };
  add(path, 0);
  for (const Symbol& symbol : code.symbols) add(symbol.name, 1);
  for (const std::string& import : code.imports) add(import, 2);
  add(text, 3);
  return read;
}

std::vector<Rank> TaskRanking::Score(const std::vector<std::string>& paths,
                                     const std::vector<TaskWordCounts>& texts,
                                     const GitFacts* git) const {
  Board board{std::vector<double>(paths.size()), std::vector<std::vector<Part>>(paths.size())};
  ScoreWords(given_, texts, &board);
  const std::vector<double> by_words = board.scores;
  ScoreImports(paths, texts, by_words, &board);
  if (git) ScoreHistory(paths, *git, by_words, &board);
  std::vector<Rank> ranks(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    ranks[i].score = board.scores[i];
    std::vector<Part>& parts = board.parts[i];
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Part& a, const Part& b) { return a.value > b.value; });
    if (parts.size() > kMaxReasons) parts.resize(kMaxReasons);
    for (Part& part : parts) ranks[i].reasons.push_back(std::move(part.text));
  }
  return ranks;
}

namespace {

constexpr std::string_view kManifestHead = "# dossier.manifest/1";

// Smaller comes first.
using Place = std::pair<int, std::uint64_t>;

Place ChangedPlace(const OrderKey& key, const GitFacts& git) {
  if (!git.index.contains(key.path)) return {3, 0};  // untracked
  if (!key.unchanged) return {2, 0};
  const auto commit = git.last_commit.find(key.path);
  if (commit == git.last_commit.end()) return {0, 0};  // older than the commits that were read
  return {1, std::numeric_limits<std::uint64_t>::max() - commit->second};
}

// Returns true for a byte that would end or open something on its line.
bool NeedsEscape(char c) { return c == '\n' || c == '\r' || c == '%'; }

}  // namespace

std::vector<std::size_t> OrderFiles(PackOrder order, const std::vector<OrderKey>& keys,
                                    const GitFacts* git, const std::vector<std::string>& manifest) {
  std::vector<Place> places(keys.size());
  if (order == PackOrder::kChanged && git) {
    for (std::size_t i = 0; i < keys.size(); ++i) places[i] = ChangedPlace(keys[i], *git);
  }
  if (order == PackOrder::kSticky) {
    std::unordered_map<std::string_view, std::size_t> known;
    for (const std::string& path : manifest) known.emplace(path, known.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto found = known.find(keys[i].path);
      places[i] = found == known.end() ? Place{1, 0} : Place{0, found->second};
    }
  }
  std::vector<std::size_t> indices(keys.size());
  std::iota(indices.begin(), indices.end(), 0);
  std::sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(places[a], keys[a].path) < std::tie(places[b], keys[b].path);
  });
  return indices;
}

std::string WriteManifest(const PackedFiles& packed) {
  std::string text = fmt::format("{}\n", kManifestHead);
  for (const PackedFile& file : packed.files) {
    for (const char c : file.path) {
      if (NeedsEscape(c)) {
        text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
      } else {
        text += c;
      }
    }
    text += '\n';
  }
  return text;
}

Result<std::vector<std::string>> ReadManifest(std::string_view text, std::string_view file) {
  if (!text.starts_with(kManifestHead)) {
    return MakeError(ErrorCode::kDamaged, "{}:1: not a manifest (its first line must be \"{}\")",
                     file, kManifestHead);
  }
  std::vector<std::string> paths;
  std::size_t number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    if (++number == 1 || line.empty()) continue;
    std::string path;
    for (std::size_t at = 0; at < line.size(); ++at) {
      if (line[at] != '%') {
        path += line[at];
        continue;
      }
      const std::string_view code = line.substr(at + 1, 2);
      const char byte = code == "0A" ? '\n' : code == "0D" ? '\r' : code == "25" ? '%' : '\0';
      if (byte == '\0') {
        return MakeError(ErrorCode::kDamaged, "{}:{}: unknown escape %{}", file, number, code);
      }
      path += byte;
      at += 2;
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

namespace {

class Fitter {
 public:
  Fitter(std::int64_t tokens, std::vector<PackedFile>* files) : left_(tokens), files_(*files) {
    for (const PackedFile& file : files_) left_ -= TokensOf(file, file.form);
  }

  void Run() {
    const std::vector<std::size_t> order = LeastFirst();
    for (std::size_t begin = 0; begin < order.size() && left_ < 0;) {
      std::size_t end = begin;
      while (end < order.size() && files_[order[end]].priority == files_[order[begin]].priority)
        ++end;
      for (const Form form : {Form::kOutline, Form::kNames}) {
        for (std::size_t i = begin; i < end && left_ < 0; ++i) Change(order[i], form);
      }
      begin = end;
    }
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      for (const Form form : {Form::kFull, Form::kOutline}) BringBack(*i, form);
    }
  }

 private:
  // Orders by lowest priority, then most tokens, then latest.
  std::vector<std::size_t> LeastFirst() const {
    std::vector<std::size_t> order(files_.size());
    std::iota(order.rbegin(), order.rend(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::make_tuple(files_[a].priority, -files_[a].full_tokens) <
             std::make_tuple(files_[b].priority, -files_[b].full_tokens);
    });
    return order;
  }

  void Change(std::size_t index, Form form) {
    PackedFile& file = files_[index];
    if (form <= file.form) return;
    if (form == Form::kOutline && file.outline.empty()) return;
    left_ += TokensOf(file, file.form) - TokensOf(file, form);
    file.form = form;
    // A file with another reason to be left out keeps that reason.
    if (file.why == LeftOut::kNothing || form == Form::kNames) file.why = LeftOut::kBudget;
  }

  void BringBack(std::size_t index, Form form) {
    PackedFile& file = files_[index];
    if (file.why != LeftOut::kBudget || form >= file.form) return;
    if (form == Form::kOutline && file.outline.empty()) return;
    const std::int64_t more = TokensOf(file, form) - TokensOf(file, file.form);
    if (more > left_) return;
    left_ -= more;
    file.form = form;
    if (form == Form::kFull) file.why = LeftOut::kNothing;
  }

  std::int64_t left_;
  std::vector<PackedFile>& files_;
};

}  // namespace

std::int64_t TokensOf(const PackedFile& file, Form form) {
  switch (form) {
    case Form::kFull:
      return file.full_tokens;
    case Form::kOutline:
      return file.outline.empty() ? 0 : file.outline_tokens;
    case Form::kNames:
      break;
  }
  return 0;
}

void FitFiles(std::int64_t tokens, std::vector<PackedFile>* files) { Fitter(tokens, files).Run(); }

}  // namespace dossier::sources
