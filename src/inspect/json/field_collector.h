// Collects the fields of the first records: names in first-seen order, presence, types, examples.
//
//   FieldCollector collector({.depth = 1});
//   collector.AddRecord({{"name", "Ada"}, {"age", "36"}});
//   FieldTable table = collector.Build(40);
//   table.fields[1].shown == "age" && table.fields[1].types.Has(FieldType::kInteger);
//
// JSON records arrive as events of a JsonMachine, others whole; a record that is not an object has
// the field `value`. A record only counts once it has ended as valid. Thread-safety: one owner.

#ifndef DOSSIER_INSPECT_JSON_FIELD_COLLECTOR_H_
#define DOSSIER_INSPECT_JSON_FIELD_COLLECTOR_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/description/description.h"
#include "inspect/description/number_style.h"
#include "inspect/json/json_machine.h"
#include "inspect/json/ndjson_scanner.h"
#include "inspect/json/text_records.h"

namespace dossier::inspect {

struct FieldLimits {
  int depth = 1;  // expanded object levels
  std::uint32_t sample_records = 100;
  LoneDots lone_dots = LoneDots::kDecimal;  // for cells
};

struct FieldTable {
  std::vector<Field> fields;  // the first ones
  std::uint64_t total = 0;
  std::string main_text_field;
  bool duplicate_keys = false;
  bool first_alone = false;  // the first record shares no name with the others: perhaps a header
};

class FieldCollector final : public NdjsonScanner::RecordEvents {
 public:
  explicit FieldCollector(const FieldLimits& limits) : limits_(limits) {}

  bool full() const { return records_ >= limits_.sample_records; }
  std::uint32_t records() const { return records_; }
  // Returns how deep a JsonMachine must report for records that begin inside `record_depth`
  // containers. Lists are reported some levels deeper, for their examples.
  int EventDepth(int record_depth) const { return record_depth + limits_.depth + 4; }
  // The same for the open record until the next event: smaller where more detail would be
  // discarded.
  int WantedDepth() const;

  // Adds a record of named texts; types are guessed from the text.
  void AddRecord(const TextRecord& record);

  // A JSON record: begin, its events with the depth of the record, end.
  void BeginRecord(int record_depth);
  void EndRecord(bool valid);
  void OnBegin(JsonKind container, int depth) override;
  void OnEnd(JsonKind container, int depth) override;
  void OnKey(std::string_view raw, int depth) override;
  void OnScalar(JsonKind kind, std::string_view raw, std::uint64_t raw_bytes, int depth) override;
  void OnRecordBegin() override { BeginRecord(0); }
  void OnRecordEnd(bool valid) override { EndRecord(valid); }

  FieldTable Build(std::uint32_t listed) const;

 private:
  enum class Origin : std::uint8_t { kJson, kCell };
  struct Observation {
    std::vector<std::string> path;
    FieldType type;
    std::string value;    // text of a scalar; compact JSON of a list or object, possibly cut
    std::uint64_t chars;  // of a string
    Origin origin;
  };
  struct Node {
    std::vector<std::string> path;
    TypeSet types;
    std::uint32_t present = 0;
    std::uint32_t first_record = 0, last_record = 0;
    std::string example;
    std::vector<std::string> values;
    bool many_values = false;
    std::optional<double> min, max;
    NumeralForms forms;       // of text cells
    bool other_text = false;  // a string that is not a numeral
    std::vector<std::uint64_t> lengths;
  };

  DecimalMark FileMark() const;
  void SetTypes(const Node& node, DecimalMark file, Field* field) const;
  void Observe(FieldType type, std::string value, std::uint64_t chars,
               Origin origin = Origin::kJson);
  void Commit(const Observation& seen);
  void CommitValue(const Observation& seen, Node* node);
  void Write(std::string_view text);
  bool muted() const { return muted_at_ >= 0; }
  void SetPathLevel(int level);

  static constexpr int kExpanded = -1;

  const FieldLimits limits_;
  std::uint32_t records_ = 0;
  std::vector<Node> nodes_;
  std::map<std::vector<std::string>, std::size_t> index_;
  bool duplicate_keys_ = false;

  // The open record.
  std::vector<Observation> seen_;
  int record_depth_ = 0;
  std::vector<std::string> path_;
  std::vector<std::size_t> seen_at_open_;  // per expanded object: seen_.size() at its start
  int muted_at_ = kExpanded;               // level of the list or object that is not expanded
  bool write_comma_ = false;
  std::string written_;  // text of the list or object
};

// Returns `shown` of the field that holds the main text of the records, or "".
std::string MainTextField(const std::vector<Field>& fields);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_JSON_FIELD_COLLECTOR_H_
