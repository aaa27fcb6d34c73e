// Describes a file before a model reads it: format, encoding, size, records, fields, a sample.
//
// [example]
//   dossier::Result<dossier::Description> about = dossier::Inspect("feed.ndjson");
//   if (!about) return dossier::ExitCode(about.error().code);
//   std::cout << about->label << ", " << about->records.value_or(0) << " records\n";
//   for (const dossier::Field& field : about->fields) std::cout << field.name << "\n";
//   std::cout << about->hint << "\n";  // the same as text for a prompt
// [/example]
//
// Files are read in blocks, so their size does not matter. Broken content is not an error: it is
// reported in `notes`. Units: bytes as stored; characters are code points of the decoded text.
// Errors: kNotFound (with the nearest names), kPermission, kIsDevice, kIo, kInvalidArgument (an
// option), kCancelled. Ownership: plain values. Thread-safety: pure functions over files.

#ifndef DOSSIER_INSPECT_H_
#define DOSSIER_INSPECT_H_

#include <dossier/cancel.h>
#include <dossier/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

struct InspectOptions {
  std::string format;             // forced format, such as "csv"; empty: detected
  std::string encoding;           // forced encoding, such as "windows-1252"; empty: detected
  std::optional<char> delimiter;  // of CSV; unset: detected
  std::uint32_t fields = 40;      // maximum number of fields listed
  std::uint32_t sample_chars = 200;
  std::optional<std::uint64_t> max_scan;  // bytes; counts of larger files are lower bounds
  std::string variable = "context";       // name of the text's variable in `hint`
  enum class Hash { kNo, kSha256 } hash = Hash::kNo;
  CancelToken cancel;
};

struct Field {
  std::string name;                        // full path: "author.name"
  std::vector<std::string> types;          // "string", "integer", "number", "boolean", "date", …
  std::uint32_t present = 0, sampled = 0;  // in how many of the sampled records it occurs
  std::string example;                     // with secrets removed
  std::vector<std::string> values;         // all distinct values, if there are few
  std::optional<double> min, max;          // range of numeric values
};

struct Description {
  std::string name;      // base name; empty for a text without a name
  std::string format;    // "ndjson", "csv", "log", "plain-text", …
  std::string label;     // for a person: "CSV (comma-separated, header row)"
  std::string encoding;  // "utf-8"
  std::uint64_t bytes = 0, characters = 0, lines = 0;
  enum class Counts { kExact, kAtLeast } counts = Counts::kExact;
  std::optional<std::uint64_t> records;  // unset for formats without records
  std::uint64_t malformed_records = 0;
  std::vector<Field> fields;
  std::uint64_t fields_total = 0;  // including those that are not listed
  std::string sample;
  std::vector<std::string> notes;  // what is unusual, one sentence each
  std::string sha256;              // hex; empty unless requested
  std::string hint;                // description for a prompt, at most 4096 characters
  std::string json;  // the complete description, as `dossier inspect --json` prints it
};

Result<Description> Inspect(const std::string& path, const InspectOptions& options = {});
// Describes a text that is not in a file; `name` may be empty. Errors: kInvalidArgument,
// kCancelled.
Result<Description> InspectText(std::string_view utf8, std::string_view name,
                                const InspectOptions& options = {});

}  // namespace dossier

#endif  // DOSSIER_INSPECT_H_
