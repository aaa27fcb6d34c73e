#include "agents/git/diff_output.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view out) : out_(out) {}

  Result<DiffOutput> Read() {
    while (at_ < out_.size() && out_[at_] == ':') {
      if (!ReadRaw()) return Fail();
    }
    while (at_ < out_.size() && out_[at_] != '\0') {
      if (!ReadCounts()) return Fail();
    }
    // A NUL alone parts the lists from the text, which an unchanged tree has none of.
    if (at_ < out_.size()) ++at_;
    for (const auto& [path, change] : changes_) diff_.changes.push_back(change);
    diff_.text_at = at_;
    return std::move(diff_);
  }

 private:
  tl::unexpected<Error> Fail() const {
    return MakeError(ErrorCode::kProtocol, "git diff-tree: unexpected output at byte {}", at_);
  }

  std::optional<std::string_view> Next() {
    const std::size_t end = out_.find('\0', at_);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view field = out_.substr(at_, end - at_);
    at_ = end + 1;
    return field;
  }

  // ":100644 100755 OLD NEW M" PATH, or "… R100" OLD_PATH PATH. Of two new files that are alike one
  // is called a copy ("C100"), though copies were not asked for.
  bool ReadRaw() {
    const auto head = Next();
    if (!head) return false;
    const auto fields = Split(head->substr(1), ' ');
    if (fields.size() != 5 || fields[4].empty()) return false;
    const auto old_mode = ExactNumber<unsigned>(fields[0], 8);
    const auto new_mode = ExactNumber<unsigned>(fields[1], 8);
    const auto path = Next();
    if (!old_mode || !new_mode || !path || path->empty()) return false;
    Change change{.path = std::string(*path),
                  .old_mode = *old_mode,
                  .new_mode = *new_mode,
                  .old_blob = std::string(fields[2]),
                  .new_blob = std::string(fields[3])};
    const char kind = fields[4][0];
    return kind == 'R' || kind == 'C' ? AddMoved(std::move(change), kind) : Add(std::move(change));
  }

  bool AddMoved(Change change, char kind) {
    const auto path = Next();
    if (!path || path->empty()) return false;
    const std::string none(change.old_blob.size(), '0');
    Change added{.path = std::string(*path),
                 .old_path = change.path,
                 .new_mode = change.new_mode,
                 .old_blob = none,
                 .new_blob = std::exchange(change.new_blob, none)};
    change.new_mode = 0;
    return (kind == 'C' || Add(std::move(change))) && Add(std::move(added));
  }

  bool Add(Change change) {
    std::string path = change.path;
    return changes_.emplace(std::move(path), std::move(change)).second;
  }

  // "1\t2\tPATH", or "1\t2\t" OLD_PATH PATH; "-\t-\t" for a binary file.
  bool ReadCounts() {
    const auto line = Next();
    if (!line) return false;
    const std::size_t tab = line->find('\t');
    if (tab == std::string_view::npos) return false;
    const std::size_t second = line->find('\t', tab + 1);
    if (second == std::string_view::npos) return false;
    std::string_view path = line->substr(second + 1);
    if (path.empty()) {
      const auto from = Next(), to = Next();
      if (!from || !to) return false;
      MarkBinary(*from, line->starts_with('-'));
      path = *to;
    }
    const auto found = changes_.find(std::string(path));
    if (found == changes_.end()) return false;
    Change& change = found->second;
    ++diff_.stat.files;
    if (line->starts_with('-')) {
      change.binary = true;
      return true;
    }
    const auto added = ExactNumber<std::uint64_t>(line->substr(0, tab), 10);
    const auto deleted = ExactNumber<std::uint64_t>(line->substr(tab + 1, second - tab - 1), 10);
    if (!added || !deleted) return false;
    diff_.stat.added += change.added = *added;
    diff_.stat.deleted += change.deleted = *deleted;
    return true;
  }

  void MarkBinary(std::string_view path, bool binary) {
    const auto found = changes_.find(std::string(path));
    if (found != changes_.end()) found->second.binary = binary;
  }

  const std::string_view out_;
  std::size_t at_ = 0;
  std::map<std::string, Change> changes_;
  DiffOutput diff_;
};

}  // namespace

Result<DiffOutput> ParseDiffOutput(std::string_view out) { return Reader(out).Read(); }

}  // namespace dossier::agents
