// Archives: zip, including documents that are zip files, and tar. Members are listed but not
// unpacked, except two small ones that tell the type of a document.

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/containers/archive_library.h"
#include "inspect/containers/binary_kinds.h"
#include "inspect/containers/byte_reader.h"
#include "inspect/description/names.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMostNames = 200'000;  // that are compared to find duplicates

void Tell(Description* out, std::string code, std::string text) {
  out->notes.push_back(
      {.code = std::move(code), .offset = {}, .line = {}, .text = std::move(text)});
}

// Collects members, and problems of their names.
class MemberList {
 public:
  MemberList(const BinaryFile& file, Description* out) : file_(file), out_(out) {}

  void Add(std::string_view path, std::uint64_t bytes, std::uint64_t compressed_bytes) {
    ++out_->members_total;
    out_->members_bytes += std::min(bytes, UINT64_MAX - out_->members_bytes);
    if (IsHostile(path)) ++hostile_;
    if (seen_.size() < kMostNames && !seen_.insert(std::hash<std::string_view>()(path)).second)
      ++twice_;
    if (out_->members.size() >= file_.options.members) return;
    const NameGuess guess = GuessByName(path);
    const bool plain = guess.compression.empty() && guess.format;
    out_->members.push_back({.path = utf8::Sanitize(path.substr(0, 1024)),
                             .bytes = bytes,
                             .compressed_bytes = compressed_bytes,
                             .format = plain ? *guess.format : Format::kUnknown});
  }

  void Finish() {
    if (hostile_ > 0) {
      Tell(out_, "hostile-names",
           fmt::format("{} would be unpacked outside its folder: a path that is absolute or has ..",
                       Members(hostile_)));
    }
    if (twice_ > 0) {
      Tell(out_, "hostile-names",
           fmt::format("{} the name of an earlier one", Members(twice_, "has", "have")));
    }
  }

  static std::string Members(std::uint64_t count, std::string_view one = "",
                             std::string_view many = "") {
    const std::string_view verb = count == 1 ? one : many;
    return fmt::format("{} member{}{}{}", GroupDigits(count), count == 1 ? "" : "s",
                       verb.empty() ? "" : " ", verb);
  }

 private:
  static bool IsHostile(std::string_view path) {
    if (path.starts_with('/') || path.starts_with('\\') || path.substr(0, 2).ends_with(':')) {
      return true;
    }
    for (const std::string_view part : Split(path, '/')) {
      if (part == ".." || part.starts_with("..\\") || part.ends_with("\\..")) return true;
    }
    return false;
  }

  const BinaryFile& file_;
  Description* out_;
  std::unordered_set<std::size_t> seen_;  // hashes of paths
  std::uint64_t hostile_ = 0, twice_ = 0;
};

// The location of the list of members: the central directory of APPNOTE.TXT 4.3.12.
struct ZipDirectory {
  std::uint64_t offset = 0, size = 0, entries = 0;
};

struct ZipEntry {
  std::string_view path;
  std::uint64_t bytes = 0, compressed_bytes = 0, offset = 0, method = 0;
  bool encrypted = false;
};

constexpr std::uint64_t kAbsent32 = 0xFFFFFFFF;  // the number is in a zip64 record

Result<ZipDirectory> FindDirectory(const BinaryFile& file) {
  constexpr std::string_view kMark = "PK\5\6", kMark64 = "PK\6\6", kLocator = "PK\6\7";
  constexpr std::uint64_t kLongest = 22 + 65535;  // including its comment
  const std::uint64_t tail_size = std::min(file.size, kLongest);
  const std::uint64_t tail_at = file.size - tail_size;
  DOSSIER_ASSIGN_OR_RETURN(const std::string tail,
                           ReadRange(file.source, tail_at, static_cast<std::size_t>(tail_size)));
  const std::size_t found = tail.rfind(kMark);
  if (found == std::string::npos) return Damaged("its list of members is missing");
  ByteReader in(tail, found + 10);
  ZipDirectory directory{.entries = in.Little(2)};
  directory.size = in.Little(4);
  directory.offset = in.Little(4);
  std::uint64_t end = tail_at + found;
  if (found >= 20 && std::string_view(tail).substr(found - 20, 4) == kLocator) {
    const std::uint64_t at = ByteReader(tail, found - 12).Little(8);
    if (at > end || end - at < 56) return Damaged("its zip64 record lies outside");
    DOSSIER_ASSIGN_OR_RETURN(const std::string record, ReadRange(file.source, at, 56));
    if (!record.starts_with(kMark64)) return Damaged("it has no zip64 record");
    ByteReader wide(record, 32);
    directory.entries = wide.Little(8);
    directory.size = wide.Little(8);
    directory.offset = wide.Little(8);
    end = at;
  }
  if (!in.ok() || directory.size > end || directory.offset > end - directory.size) {
    return Damaged("its list of members lies outside");
  }
  if (directory.size > kMostHeld) {
    return Damaged("its list of {} members is too long to be read", GroupDigits(directory.entries));
  }
  return directory;
}

// Sizes that do not fit into 32 bits are in an extra field, in this order.
void ReadZip64(std::string_view extra, ZipEntry* entry) {
  ByteReader in(extra);
  while (in.left() >= 4) {
    const std::uint64_t id = in.Little(2);
    ByteReader field(in.Take(in.Little(2)));
    if (id != 1) continue;
    for (std::uint64_t* value : {&entry->bytes, &entry->compressed_bytes, &entry->offset}) {
      if (*value == kAbsent32) *value = field.Little(8);
    }
  }
}

// Returns false if there is no further entry.
bool ReadEntry(ByteReader* in, ZipEntry* entry) {
  if (in->Take(4) != "PK\1\2") return false;
  in->Take(4);
  entry->encrypted = (in->Little(2) & 1) != 0;
  entry->method = in->Little(2);
  in->Take(8);
  entry->compressed_bytes = in->Little(4);
  entry->bytes = in->Little(4);
  const std::uint64_t path = in->Little(2), extra = in->Little(2), comment = in->Little(2);
  in->Take(8);
  entry->offset = in->Little(4);
  entry->path = in->Take(path);
  ReadZip64(in->Take(extra), entry);
  in->Take(comment);
  return in->ok();
}

// Returns the few bytes of a member that is stored without compression.
std::string StoredContent(const BinaryFile& file, const ZipEntry& entry) {
  constexpr std::uint64_t kMost = 100;
  if (entry.method != 0 || entry.bytes > kMost || entry.bytes != entry.compressed_bytes) return "";
  const auto header = ReadRange(file.source, entry.offset, 30);
  if (!header) return "";
  ByteReader in(*header, 26);
  const std::uint64_t skip = 30 + in.Little(2) + in.Little(2);
  const auto content =
      ReadRange(file.source, entry.offset + skip, static_cast<std::size_t>(entry.bytes));
  return content ? *content : "";
}

std::string_view DocumentOf(std::string_view media_type) {
  constexpr std::string_view kOdf = "application/vnd.oasis.opendocument.";
  if (media_type == "application/epub+zip") return "epub";
  if (!media_type.starts_with(kOdf)) return "";
  media_type.remove_prefix(kOdf.size());
  return media_type == "text"           ? "odt"
         : media_type == "spreadsheet"  ? "ods"
         : media_type == "presentation" ? "odp"
                                        : "";
}

// Determines the kind of archive from its members; "zip" if it is nothing more specific.
class ZipKind {
 public:
  explicit ZipKind(const BinaryFile& file) : file_(file) {}

  void Add(const ZipEntry& entry) {
    struct Row {
      std::string_view member, kind;
    };
    constexpr Row kRows[] = {{"word/document.xml", "docx"},
                             {"xl/workbook.xml", "xlsx"},
                             {"ppt/presentation.xml", "pptx"},
                             {"META-INF/MANIFEST.MF", "jar"}};
    for (const Row& row : kRows) {
      // Signed documents also have a manifest.
      if (entry.path == row.member && (kind_.empty() || kind_ == "jar")) kind_ = row.kind;
    }
    if (entry.path == "mimetype") {
      const std::string_view kind = DocumentOf(TrimSpace(StoredContent(file_, entry)));
      if (!kind.empty()) kind_ = kind;
    }
    arrays_ = arrays_ && entry.path.ends_with(".npy");
    any_ = true;
  }
  std::string_view kind() const { return !kind_.empty() ? kind_ : any_ && arrays_ ? "npz" : "zip"; }

 private:
  const BinaryFile& file_;
  std::string_view kind_;
  bool arrays_ = true, any_ = false;
};

void NoteZip(std::vector<std::pair<std::uint64_t, std::uint64_t>> spans, std::uint64_t directory,
             std::uint64_t encrypted, Description* out) {
  constexpr std::uint64_t kLocalHeader = 30;  // bytes, at least
  std::ranges::sort(spans);
  std::uint64_t overlapping = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::uint64_t next = i + 1 < spans.size() ? spans[i + 1].first : directory;
    const std::uint64_t room = next - std::min(next, spans[i].first);
    overlapping += room < kLocalHeader || spans[i].second > room - kLocalHeader ? 1 : 0;
  }
  if (overlapping > 0) {
    Tell(out, "overlapping",
         fmt::format("{} into bytes of another: a sign of a bomb",
                     MemberList::Members(overlapping, "reaches", "reach")));
  }
  if (encrypted > 0) {
    Tell(out, "encrypted", MemberList::Members(encrypted, "is encrypted", "are encrypted"));
  }
}

// <sheet name="Jan" sheetId="1" r:id="rId1"/>, in the order of the tabs.
std::vector<std::string> SheetNames(std::string_view workbook) {
  constexpr std::size_t kLongestTag = 1000;  // bytes
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = workbook.find("<sheet ", at)) != std::string_view::npos; ++at) {
    const std::string_view near = workbook.substr(at, kLongestTag);
    const std::string_view tag = near.substr(0, near.find('>'));
    const std::size_t name = tag.find(" name=\"");
    if (name == std::string_view::npos) continue;
    const std::string_view value = tag.substr(name + 7);
    names.push_back(utf8::Sanitize(value.substr(0, value.find('"'))));
    for (const auto& [entity, sign] :
         {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&quot;", "\""),
          std::pair("&apos;", "'"), std::pair("&amp;", "&")}) {
      names.back() = ReplaceAll(names.back(), entity, sign);
    }
  }
  return names;
}

Status AddSheets(const BinaryFile& file, Description* out) {
  constexpr std::size_t kMostWorkbook = 1 << 20, kShown = 20;
  DOSSIER_ASSIGN_OR_RETURN(
      const std::string workbook,
      ReadZipMember(file.source, file.size, "xl/workbook.xml", kMostWorkbook, file.cancel));
  std::vector<std::string> names = SheetNames(workbook);
  if (names.empty()) return {};
  const std::size_t all = names.size();
  names.resize(std::min(all, kShown));
  const std::string list = Join(names, ", ");
  out->kind_detail = fmt::format("sheets: {}{}", list, all > kShown ? ", …" : "");
  out->details = {{"sheets", std::uint64_t{all}}, {"sheet_names", list}};
  return {};
}

}  // namespace

Status DescribeZip(const BinaryFile& file, Description* out) {
  DOSSIER_ASSIGN_OR_RETURN(const ZipDirectory directory, FindDirectory(file));
  DOSSIER_ASSIGN_OR_RETURN(
      const std::string list,
      ReadRange(file.source, directory.offset, static_cast<std::size_t>(directory.size)));
  MemberList members(file, out);
  ZipKind kind(file);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans;
  std::uint64_t encrypted = 0;
  ByteReader in(list);
  ZipEntry entry;
  while (in.left() > 0 && ReadEntry(&in, &entry)) {
    members.Add(entry.path, entry.bytes, entry.compressed_bytes);
    kind.Add(entry);
    spans.emplace_back(entry.offset, entry.compressed_bytes);
    encrypted += entry.encrypted ? 1 : 0;
    entry = {};
  }
  members.Finish();
  const std::uint64_t count = spans.size();
  NoteZip(std::move(spans), directory.offset, encrypted, out);
  out->flavour = kind.kind();
  // The parts of a document add nothing to its kind.
  const bool archive = out->flavour == "zip" || out->flavour == "jar" || out->flavour == "npz";
  if (!archive) {
    out->details = {{"parts", out->members_total}};
    out->members.clear();
    out->members_total = out->members_bytes = 0;
  }
  if (count != directory.entries) {
    out->members_exact = false;
    return Damaged("it says to have {} members, and lists {}", GroupDigits(directory.entries),
                   GroupDigits(count));
  }
  return out->flavour == "xlsx" ? AddSheets(file, out) : Status();
}

Status DescribeTar(const BinaryFile& file, Description* out) {
  MemberList members(file, out);
  Status listed = ListTar(file.source, file.size, file.cancel, [&](const TarEntry& entry) {
    if (entry.kind != TarEntry::Kind::kFolder) members.Add(entry.path, entry.bytes, entry.bytes);
  });
  members.Finish();
  if (!listed) out->members_exact = false;
  return listed;
}

}  // namespace dossier::inspect
