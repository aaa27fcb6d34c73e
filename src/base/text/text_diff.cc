#include "base/text/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace dossier {
namespace {

constexpr std::ptrdiff_t kContextLines = 3;  // lines
constexpr std::ptrdiff_t kMaxChanges = 2000;

using Lines = std::vector<std::string_view>;

// Each with its line end.
Lines SplitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Edit {
  char kind;  // ' ', '-', '+'
  std::string_view line;
};

// Myers' greedy algorithm: furthest_[k] is how far diagonal k reaches with d changes.
class Differ {
 public:
  Differ(const Lines& before, const Lines& after) : before_(before), after_(after) {}

  std::vector<Edit> Run() {
    const auto n = static_cast<std::ptrdiff_t>(before_.size());
    const auto m = static_cast<std::ptrdiff_t>(after_.size());
    const std::ptrdiff_t most = std::min(n + m, kMaxChanges);
    std::vector<std::ptrdiff_t> furthest(static_cast<std::size_t>(2 * most + 3), 0);
    const auto at = [&](std::ptrdiff_t k) -> std::ptrdiff_t& {
      return furthest[static_cast<std::size_t>(k + most + 1)];
    };
    for (std::ptrdiff_t changes = 0; changes <= most; ++changes) {
      trace_.push_back(furthest);
      for (std::ptrdiff_t k = -changes; k <= changes; k += 2) {
        const bool down = k == -changes || (k != changes && at(k - 1) < at(k + 1));
        std::ptrdiff_t x = down ? at(k + 1) : at(k - 1) + 1;
        while (x < n && x - k < m && Before(x) == After(x - k)) ++x;
        at(k) = x;
        if (x >= n && x - k >= m) return WalkBack(changes, most);
      }
    }
    return AllChanged();
  }

 private:
  std::string_view Before(std::ptrdiff_t i) const { return before_[static_cast<std::size_t>(i)]; }
  std::string_view After(std::ptrdiff_t i) const { return after_[static_cast<std::size_t>(i)]; }

  std::vector<Edit> WalkBack(std::ptrdiff_t changes, std::ptrdiff_t most) const {
    std::vector<Edit> edits;
    auto x = static_cast<std::ptrdiff_t>(before_.size());
    auto y = static_cast<std::ptrdiff_t>(after_.size());
    for (; changes >= 0; --changes) {
      const auto& furthest = trace_[static_cast<std::size_t>(changes)];
      const auto at = [&](std::ptrdiff_t k) {
        return furthest[static_cast<std::size_t>(k + most + 1)];
      };
      const std::ptrdiff_t k = x - y;
      const bool down = k == -changes || (k != changes && at(k - 1) < at(k + 1));
      const std::ptrdiff_t from_k = down ? k + 1 : k - 1;
      const std::ptrdiff_t from_x = changes == 0 ? 0 : at(from_k);
      const std::ptrdiff_t from_y = changes == 0 ? 0 : from_x - from_k;
      while (x > from_x && y > from_y) {
        edits.push_back({' ', Before(--x)});
        --y;
      }
      if (changes == 0) break;
      edits.push_back(down ? Edit{'+', After(--y)} : Edit{'-', Before(--x)});
    }
    std::reverse(edits.begin(), edits.end());
    return edits;
  }

  std::vector<Edit> AllChanged() const {
    std::vector<Edit> edits;
    for (const std::string_view line : before_) edits.push_back({'-', line});
    for (const std::string_view line : after_) edits.push_back({'+', line});
    return edits;
  }

  const Lines& before_;
  const Lines& after_;
  std::vector<std::vector<std::ptrdiff_t>> trace_;
};

std::string Hunk(const std::vector<Edit>& edits, std::size_t begin, std::size_t end,
                 std::size_t before_line, std::size_t after_line) {
  std::size_t before = 0, after = 0;
  std::string body;
  for (std::size_t i = begin; i < end; ++i) {
    before += edits[i].kind != '+' ? 1 : 0;
    after += edits[i].kind != '-' ? 1 : 0;
    body += edits[i].kind;
    body += edits[i].line;
    if (!edits[i].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
  }
  return fmt::format("@@ -{},{} +{},{} @@\n{}", before == 0 ? before_line - 1 : before_line, before,
                     after == 0 ? after_line - 1 : after_line, after, body);
}

}  // namespace

std::string UnifiedDiff(std::string_view before_name, std::string_view before,
                        std::string_view after_name, std::string_view after) {
  if (before == after) return {};
  const Lines old_lines = SplitLines(before), new_lines = SplitLines(after);
  const std::vector<Edit> edits = Differ(old_lines, new_lines).Run();
  std::string out = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
  const auto context = static_cast<std::size_t>(kContextLines);
  std::size_t before_line = 1, after_line = 1;  // of edits[at]
  for (std::size_t at = 0; at < edits.size();) {
    // A hunk extends from three lines before a change to six equal lines in a row.
    std::size_t first = at;
    while (first < edits.size() && edits[first].kind == ' ') ++first;
    if (first == edits.size()) break;
    const std::size_t begin = first - std::min(first - at, context);
    std::size_t last = first, end = first;
    while (end < edits.size() && end - last <= 2 * context) {
      if (edits[end].kind != ' ') last = end;
      ++end;
    }
    end = std::min(last + 1 + context, edits.size());
    before_line += begin - at;
    after_line += begin - at;
    out += Hunk(edits, begin, end, before_line, after_line);
    for (std::size_t i = begin; i < end; ++i) {
      before_line += edits[i].kind != '+' ? 1 : 0;
      after_line += edits[i].kind != '-' ? 1 : 0;
    }
    at = end;
  }
  return out;
}

}  // namespace dossier
