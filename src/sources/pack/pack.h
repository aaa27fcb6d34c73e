// A folder as text for a model: which files, in which order, in which form, within a budget.
//
//   PackOptions options{.paths = {"src"}, .counter = counter};
//   options.budget = 60000;
//   DOSSIER_ASSIGN_OR_RETURN(PackedFiles packed, Pack(options, cancel));
//   section.content = packed.Text();                       // for the `files` source of a layout
//   section.alternatives["outline"] = packed.Text(Form::kOutline);   // with options.forms = kAll
//
// The text is without the fence of a section; FencedPack gives what `dossier pack` prints. Same
// files, same options: same bytes, in whatever folder, locale and number of threads.
//
// Steps, a file each: pack_select (which), pack_order, pack_file (read, redact, render, count),
// pack_rank (--task), pack_fit (budget), pack_report.
// Thread-safety: functions over their arguments; files are read by two threads of their own.

#ifndef DOSSIER_SOURCES_PACK_PACK_H_
#define DOSSIER_SOURCES_PACK_PACK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "tokens/counter/counter.h"

namespace dossier::sources {

enum class PackFormat : std::uint8_t { kXml, kMarkdown, kPlain };
enum class PackOrder : std::uint8_t { kDefault, kChanged, kPath, kSticky };
enum class SecretPolicy : std::uint8_t { kRedact, kExclude, kAllow };
enum class LineNumbers : std::uint8_t { kNo, kYes };
// How much of a file is shown. kNames: its path in the list only.
enum class Form : std::uint8_t { kFull, kOutline, kNames };

struct PackOptions {
  std::vector<std::string> paths = {"."};     // files, folders, globs; a file named is always taken
  std::vector<std::string> include, exclude;  // globs; see PathGlobs
  std::vector<std::pair<std::string, double>> priority;  // glob, 0 to 1; the last match counts; 0.5
  std::optional<std::int64_t> budget;                    // tokens, the fence and the list included
  PackFormat format = PackFormat::kXml;
  PackOrder order = PackOrder::kDefault;  // changed in a git work tree, else path
  std::vector<std::string> manifest;      // of kSticky: the paths in their order
  SecretPolicy secrets = SecretPolicy::kRedact;
  LineNumbers line_numbers = LineNumbers::kNo;
  bool hidden = false, submodules = false;
  std::string task;                // words to rank by; empty: no ranking
  std::optional<std::size_t> top;  // only so many of the best files are shown
  enum class Forms : std::uint8_t { kAsNeeded, kAll } forms = Forms::kAsNeeded;
  std::shared_ptr<const tokens::Counter> counter;  // required
  std::string counts_folder;  // for counts kept by content; empty: none are kept
  std::string counts_name;    // tokens::Opened::identity
  int threads = 2;
  std::int64_t reserve = 0;  // tokens of the budget that the caller's frame takes
};

// Why a file is not shown as it is.
enum class LeftOut : std::uint8_t {
  kNothing,
  kBinary,
  kLarge,
  kSecretName,
  kSecretFound,
  kUnreadable,
  kBudget,
  kTop,
};
std::string_view LeftOutName(LeftOut why);  // "binary", "budget", …

// A value that was taken out.
struct PackedSecret {
  std::size_t line = 1;  // of the file
  std::string kind;      // as in [redacted:KIND]
};

struct PackedFile {
  std::string path;         // from the root of the pack
  Form form = Form::kFull;  // as shown
  LeftOut why = LeftOut::kNothing;
  std::string detail;       // of kUnreadable: the reason; of kBinary: "UTF-16 text" if it is that
  std::uint64_t bytes = 0;  // of the file
  std::int64_t full_tokens = 0;       // of it in full, with its frame
  std::int64_t outline_tokens = 0;    // 0: there is no outline
  std::vector<PackedSecret> secrets;  // redacted, by line
  bool listed = true;                 // false: the budget had no room for its name
  double priority = 0.5;
  double score = 0;                  // with a task
  std::vector<std::string> reasons;  // of the score, the greatest part first
  std::string full, outline;         // as rendered; empty for kNames
};

struct PackedFiles {
  std::vector<PackedFile> files;  // in the order of the text
  PackFormat format = PackFormat::kXml;
  std::int64_t tokens = 0;  // of Text(), counted
  bool exact = false;
  double margin = 0;
  std::string order;  // "changed", "path", "sticky"
  std::string root;   // absolute; never part of the text
  std::vector<std::string> warnings;

  // The files, then their list. No file is shown in more than `most`.
  std::string Text(Form most = Form::kFull) const;
  // The list alone.
  std::string List(Form most = Form::kFull) const;
};

// Errors: kNotFound (a path), kTooLong (not even a short list of names fits: the message says what
// would do), kUsage (a glob, a number), kLimit (more than 200,000 files), kCancelled.
Result<PackedFiles> Pack(const PackOptions& options, const CancelToken& cancel);

// The whole text of `dossier pack`, which is written part by part so that it need not be in memory
// a second time. `packed` outlives it.
struct FencedText {
  std::string opening, list, closing;
  const PackedFiles* packed = nullptr;

  std::vector<std::string_view> Parts() const;
  std::string Text() const;
};

// Inside a data fence with `boundary`, which changes where a file holds it; Markdown has fences of
// its own. `packed->tokens` becomes the count of all of it.
FencedText FencedPack(const tokens::Counter& counter, std::string boundary,
                      std::optional<std::uint64_t> seed, PackedFiles* packed);
// Tokens that the fence takes at most.
std::int64_t FenceTokens(const tokens::Counter& counter, PackFormat format);

// What a pack holds and why, for scripts and for people.
//
// Thread-safety: pure functions.

// dossier.pack/1 (docs/schemas/pack.schema.json), without "text".
Json PackReportJson(const PackedFiles& packed, std::optional<std::int64_t> budget,
                    std::string_view encoding);

// Totals, what was left out and why, and with a budget that cut: the ten largest files and a
// pattern to exclude each.
std::string PackTable(const PackedFiles& packed, std::optional<std::int64_t> budget,
                      std::string_view encoding);

// Tokens by folder and file, largest first.
std::string PackTree(const PackedFiles& packed);

// The files whose text is packed, as paths from the working folder, each with `end` behind it.
std::string PackNames(const PackedFiles& packed, char end);

// Each file with a score, best first, and where it comes from.
std::string PackRanks(const PackedFiles& packed, std::size_t count);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_PACK_PACK_H_
