// One record's bytes to one JSON value. Used by RecordReader alone.
// Thread-safety: immutable after it was made.

#ifndef DOSSIER_INSPECT_RECORDS_RECORD_ROW_H_
#define DOSSIER_INSPECT_RECORDS_RECORD_ROW_H_

#include <memory>
#include <string>
#include <string_view>

#include "inspect/description/description.h"
#include "inspect/records/record_index.h"

namespace dossier::inspect {

class RowWriter {
 public:
  virtual ~RowWriter() = default;
  // Appends the JSON value of `record`.
  virtual void Append(std::string_view record, std::string* out) const = 0;
};

// Looks at the first 1,000 records where a column may be one of numbers. `index` is of `text`.
std::unique_ptr<RowWriter> MakeRowWriter(std::string_view text, const Description& description,
                                         const RecordIndex& index);

// The JSON number that `cell` means, or empty: spaces around it, a leading + and .5 are fine;
// leading zeros and integers of 16 and more digits are not.
std::string NumberText(std::string_view cell);
// `text` as a JSON string.
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_RECORDS_RECORD_ROW_H_
