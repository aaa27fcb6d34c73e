#include "inspect/containers/binary_kinds.h"

#include <algorithm>
#include <string>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/description/clean.h"

namespace dossier::inspect {
namespace {

struct KindRow {
  std::string_view id, title;
  Status (*describe)(const BinaryFile&, Description*) = nullptr;  // null: only the kind is known
  std::string_view way_out = {};
};

constexpr std::string_view kAsCsv = "export it as CSV or NDJSON first";
constexpr std::string_view kAsText = "save it as text first; `pandoc -t plain` does that";
constexpr std::string_view kAsImage = "`dossier chat -a` and `dossier ask --media` show it";
constexpr std::string_view kUnpack = "unpack it and give the folder";

constexpr KindRow kKinds[] = {
    {"parquet", "Parquet table", DescribeParquet, kAsCsv},
    {"arrow file", "Arrow table", DescribeArrow, kAsCsv},
    {"arrow stream", "Arrow stream", DescribeArrow, kAsCsv},
    {"feather 1", "Feather table, version 1", nullptr, kAsCsv},
    {"orc", "ORC table", nullptr, kAsCsv},
    {"avro", "Avro records", DescribeAvro, kAsCsv},
    {"sqlite", "SQLite database", DescribeSqlite, "unpack it and give the database itself"},
    {"pdf", "PDF", DescribePdf, "`pdftotext` makes text of it"},
    {"zip", "Zip archive", DescribeZip, kUnpack},
    {"docx", "Word document", nullptr, kAsText},
    {"xlsx", "Excel workbook", nullptr, kAsCsv},
    {"pptx", "PowerPoint slides", nullptr, kAsText},
    {"odt", "OpenDocument text", nullptr, kAsText},
    {"ods", "OpenDocument spreadsheet", nullptr, kAsCsv},
    {"odp", "OpenDocument slides", nullptr, kAsText},
    {"epub", "EPUB book", nullptr, kAsText},
    {"jar", "Java archive", nullptr, kUnpack},
    {"npz", "NumPy arrays (npz)", nullptr, kAsCsv},
    {"tar", "Tar archive", DescribeTar, kUnpack},
    {"7z", "7-Zip archive", nullptr, kUnpack},
    {"gzip", "gzip data"},
    {"zstd", "zstd data"},
    {"bzip2", "bzip2 data"},
    {"xz", "xz data"},
    {"lz4", "lz4 data"},
    {"ole2", "OLE2 document (older Office)", nullptr, kAsText},
    {"hdf5", "HDF5 data", nullptr, kAsCsv},
    {"npy", "NumPy array", DescribeNpy, kAsCsv},
    {"gguf", "GGUF model", DescribeGguf},
    {"safetensors", "Safetensors", DescribeSafetensors},
    {"wasm", "WebAssembly module"},
    {"elf", "ELF program or library"},
    {"mach-o", "Mach-O program or library"},
    {"pe", "Windows program or library (PE)"},
    {"png", "PNG image", DescribeImage, kAsImage},
    {"jpeg", "JPEG image", DescribeImage, kAsImage},
    {"gif", "GIF image", DescribeImage, kAsImage},
    {"webp", "WebP image", DescribeImage, kAsImage},
    {"bmp", "BMP image", DescribeImage},
    {"tiff", "TIFF image", DescribeImage},
    {"heif", "HEIF image (HEIC)"},
    {"avif", "AVIF image"},
    {"mp3", "MP3 audio"},
    {"wav", "WAV audio"},
    {"flac", "FLAC audio"},
    {"ogg", "Ogg audio or video"},
    {"mp4", "MP4 video or audio"},
};

const KindRow* FindKind(std::string_view id) {
  const auto row = std::ranges::find(kKinds, id, &KindRow::id);
  return row == std::end(kKinds) ? nullptr : row;
}

// Texts from a file may have any length.
std::string Short(std::string_view text) {
  constexpr std::uint64_t kMost = 300;  // code points
  const std::string_view start = utf8::Prefix(text, kMost);
  return utf8::Sanitize(start) + (start.size() < text.size() ? "…" : "");
}

}  // namespace

Status DescribeBinary(const BinaryFile& file, Description* out) {
  out->flavour = file.kind;
  const KindRow* row = FindKind(file.kind);
  if (!row) return {};
  const Status read = row->describe ? row->describe(file, out) : Status();
  // A zip archive may be a document.
  const KindRow* found = FindKind(out->flavour);
  out->kind = (found ? found : row)->title;
  out->kind_detail = Short(out->kind_detail);
  if (read) return {};
  if (read.error().code == ErrorCode::kCancelled) return read;
  const bool damaged = read.error().code == ErrorCode::kDamaged;
  out->notes.push_back({.code = damaged ? "damaged" : "not-unpacked",
                        .offset = {},
                        .line = {},
                        .text = read.error().message});
  return {};
}

std::string_view WayToText(std::string_view kind) {
  const KindRow* row = FindKind(kind);
  return row ? row->way_out : std::string_view();
}

void AddField(const BinaryFile& file, const std::vector<std::string>& path, FieldType type,
              Description* out) {
  ++out->fields_total;
  if (out->fields.size() >= file.options.fields) return;
  Field field{.types = {type}, .present = 1, .sampled = 1};
  std::vector<std::string> shown;
  for (const std::string& name : path) {
    field.path.push_back(Short(name));
    shown.push_back(ShowFieldName(field.path.back()));
  }
  field.shown = Join(shown, ".");
  out->fields.push_back(std::move(field));
}

}  // namespace dossier::inspect
