// Detects the kind of a binary file and reads the properties that are cheap to get.
//
//   if (HasBinaryMark(head)) { … }
//   DOSSIER_RETURN_IF_ERROR(DescribeBinary({source, size, head, "parquet", options, cancel},
//   &out)); out.kind == "Parquet table"; out.records->records == 1000;
//
// Each kind is a row of the table in binary_kinds.cc. Files are treated as hostile: every length,
// offset and count is checked before use, and no reader holds more than kMostHeld bytes.
// Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_CONTAINERS_BINARY_KINDS_H_
#define DOSSIER_INSPECT_CONTAINERS_BINARY_KINDS_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/result.h"
#include "inspect/description/description.h"
#include "inspect/description/options.h"
#include "inspect/text/byte_source.h"

namespace dossier::inspect {

inline constexpr std::size_t kMostHeld = 16 << 20;  // for one footer, header or list

struct BinaryFile {
  const ByteSource& source;
  std::uint64_t size = 0;
  std::string_view head;  // the first 64 KiB
  std::string_view kind;  // from BinaryKind: "png"
  const Options& options;
  const CancelToken& cancel;
};

// Fills kind, flavour, details, fields, records and members. Unreadable parts become notes. Errors:
// kCancelled.
Status DescribeBinary(const BinaryFile& file, Description* out);

// Returns how to get text out of such a file: "`pdftotext` makes text of it". Empty if no single
// way fits all of them.
std::string_view WayToText(std::string_view kind);

// Readers of kinds, one family per file. Errors: kDamaged with the fault, kCancelled, kIo,
// kUnavailable (a library is missing); results found before the error stay in `out`.
Status DescribeParquet(const BinaryFile& file, Description* out);  // table_kinds.cc
Status DescribeAvro(const BinaryFile& file, Description* out);
Status DescribeArrow(const BinaryFile& file, Description* out);
Status DescribeSqlite(const BinaryFile& file, Description* out);
Status DescribeNpy(const BinaryFile& file, Description* out);  // tensor_kinds.cc
Status DescribeSafetensors(const BinaryFile& file, Description* out);
Status DescribeGguf(const BinaryFile& file, Description* out);
Status DescribeImage(const BinaryFile& file, Description* out);  // media_kinds.cc
Status DescribePdf(const BinaryFile& file, Description* out);
Status DescribeZip(const BinaryFile& file, Description* out);  // archive_kinds.cc
Status DescribeTar(const BinaryFile& file, Description* out);

// Used by these readers: adds a field of a table or schema; `path` holds its names.
void AddField(const BinaryFile& file, const std::vector<std::string>& path, FieldType type,
              Description* out);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_CONTAINERS_BINARY_KINDS_H_
