#include "inspect/containers/sqlite_file.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "base/text/utf8.h"

namespace dossier::inspect {
namespace {

constexpr std::string_view kMark{"SQLite format 3\0", 16};
constexpr std::size_t kHeader = 100;          // bytes before the first page's own header
constexpr std::size_t kMostStatement = 4000;  // bytes of a statement that are shown
constexpr std::size_t kMostRecord = 1 << 20;  // bytes of a row of the schema
constexpr int kDeepest = 40;                  // depth of a tree of pages

constexpr std::uint8_t kTableLeaf = 13, kTableInner = 5, kIndexLeaf = 10, kIndexInner = 2;

// Reads two or four bytes, big-endian; 0 beyond the end.
std::uint32_t Big(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  if (at > bytes.size() || bytes.size() - at < count) return 0;
  for (std::size_t i = 0; i < count; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

// Reads SQLite's integers of 1 to 9 bytes. Returns false beyond the end.
bool Varint(std::string_view bytes, std::size_t* at, std::uint64_t* value) {
  *value = 0;
  for (int i = 0; i < 9; ++i) {
    if (*at >= bytes.size()) return false;
    const auto byte = static_cast<unsigned char>(bytes[(*at)++]);
    if (i == 8) {
      *value = *value << 8 | byte;
      return true;
    }
    *value = *value << 7 | (byte & 0x7Fu);
    if ((byte & 0x80u) == 0) return true;
  }
  return true;
}

std::string FromUtf16(std::string_view bytes, std::endian order) {
  std::string out;
  const auto unit = [&](std::size_t at) {
    const auto one = static_cast<unsigned char>(bytes[at]);
    const auto two = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<char32_t>(order == std::endian::big ? one << 8 | two : two << 8 | one);
  };
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    char32_t point = unit(at);
    if (point >= 0xD800 && point < 0xDC00 && at + 3 < bytes.size()) {
      const char32_t low = unit(at + 2);
      if (low >= 0xDC00 && low < 0xE000) {
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        at += 2;
      }
    }
    utf8::Append(point >= 0xD800 && point < 0xE000 ? 0xFFFD : point, &out);
  }
  return out;
}

class Reader {
 public:
  Reader(const ByteSource& source, std::uint64_t size) : source_(source), size_(size) {}

  Result<SqliteFile> Read() {
    DOSSIER_RETURN_IF_ERROR(ReadHeader());
    DOSSIER_RETURN_IF_ERROR(ReadSchema(1, 0));
    for (std::size_t i = 0; i < file_.tables.size(); ++i) {
      if (roots_[i] != 0) file_.tables[i].rows = Rows(roots_[i]);
    }
    return std::move(file_);
  }

 private:
  static tl::unexpected<Error> Damaged(std::string_view what, std::uint32_t page) {
    return MakeError(ErrorCode::kDamaged, "not a whole SQLite file: {} on page {}", what, page);
  }

  Status ReadHeader() {
    std::string room;
    const std::string_view head = At(0, kHeader, &room);
    if (!IsSqliteFile(head) || head.size() < kHeader) return Damaged("no header", 1);
    const std::uint32_t size = Big(head, 16, 2);
    file_.page_size = size == 1 ? 65536 : size;
    if (file_.page_size < 512 || !std::has_single_bit(file_.page_size)) {
      return Damaged("a size of pages that cannot be", 1);
    }
    file_.pages = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(size_ / file_.page_size, UINT32_MAX - 1));
    usable_ = file_.page_size - static_cast<unsigned char>(head[20]);
    if (usable_ < 480 || file_.pages == 0) return Damaged("too little room", 1);
    if (head[18] == 2) file_.journal = SqliteFile::Journal::kWriteAhead;
    const std::uint32_t encoding = Big(head, 56, 4);
    file_.encoding = encoding == 2 ? "utf-16le" : encoding == 3 ? "utf-16be" : "utf-8";
    return {};
  }

  // Returns bytes of the file, stored in `room` unless the source is in memory. Fewer at the end.
  std::string_view At(std::uint64_t at, std::size_t size, std::string* room) const {
    if (const auto all = source_.bytes()) return all->substr(std::min(at, size_), size);
    room->resize(size);
    const auto got = source_.ReadAt(at, std::span(*room));
    return std::string_view(*room).substr(0, got ? *got : 0);
  }

  // Returns the bytes of a page not visited before; empty if it does not exist.
  std::string_view Take(std::uint32_t page, std::string* room) {
    if (page == 0 || page > file_.pages || !seen_.insert(page).second) return {};
    if (seen_.size() > kMostSqlitePages) return {};
    const auto bytes = At(std::uint64_t{page - 1} * file_.page_size, usable_, room);
    return bytes.size() == usable_ ? bytes : std::string_view();
  }

  struct PageHeader {
    std::uint8_t kind = 0;
    std::uint32_t cells = 0;
    std::size_t pointers = 0;  // where the offsets of the cells begin
    std::uint32_t right = 0;   // of an inner page: the last child
  };
  static PageHeader HeaderOf(std::string_view page, std::uint32_t number) {
    const std::size_t at = number == 1 ? kHeader : 0;
    PageHeader header{.kind = static_cast<std::uint8_t>(page[at]), .cells = Big(page, at + 3, 2)};
    const bool inner = header.kind == kTableInner || header.kind == kIndexInner;
    header.pointers = at + (inner ? 12 : 8);
    if (inner) header.right = Big(page, at + 8, 4);
    const std::size_t most = (page.size() - header.pointers) / 2;
    if (header.cells > most) header.cells = static_cast<std::uint32_t>(most);
    return header;
  }

  Status ReadSchema(std::uint32_t number, int depth) {
    std::string room;
    const std::string_view page = Take(number, &room);
    if (page.empty() || depth > kDeepest) return Damaged("the list of tables breaks off", number);
    const PageHeader header = HeaderOf(page, number);
    if (header.kind != kTableLeaf && header.kind != kTableInner) {
      return Damaged("no list of tables", number);
    }
    for (std::uint32_t i = 0; i < header.cells; ++i) {
      const std::size_t cell = Big(page, header.pointers + 2 * i, 2);
      if (header.kind == kTableInner) {
        DOSSIER_RETURN_IF_ERROR(ReadSchema(Big(page, cell, 4), depth + 1));
      } else {
        TakeEntry(Payload(page, cell));
      }
      if (file_.tables.size() >= kMostSqliteTables) return {};
    }
    return header.kind == kTableInner ? ReadSchema(header.right, depth + 1) : Status();
  }

  // Returns the record of a leaf's cell, including overflow pages; empty if it is damaged.
  std::string Payload(std::string_view page, std::size_t at) {
    std::uint64_t size = 0, row = 0;
    if (!Varint(page, &at, &size) || !Varint(page, &at, &row) || size > kMostRecord) return "";
    std::size_t here = size;
    if (size > usable_ - 35) {
      const std::size_t least = (usable_ - 12) * 32 / 255 - 23;
      const std::size_t wanted = least + (size - least) % (usable_ - 4);
      here = wanted <= usable_ - 35 ? wanted : least;
    }
    if (page.size() - at < here) return "";
    std::string record(page.substr(at, here));
    std::uint32_t next = here < size ? Big(page, at + here, 4) : 0;
    std::string room;
    while (record.size() < size) {
      const std::string_view more = Take(next, &room);
      if (more.empty()) return "";
      record += more.substr(4, size - record.size());
      next = Big(more, 0, 4);
    }
    return record;
  }

  // type, name, tbl_name, rootpage, sql
  void TakeEntry(std::string_view record) {
    std::size_t at = 0;
    std::uint64_t header = 0;
    if (!Varint(record, &at, &header) || header > record.size()) return;
    std::string values[5];
    std::uint64_t root = 0;
    std::size_t body = header;
    for (int i = 0; i < 5 && at < header; ++i) {
      std::uint64_t type = 0;
      if (!Varint(record, &at, &type)) return;
      constexpr std::size_t kWhole[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
      const std::uint64_t size = type < 12 ? kWhole[type] : (type - 12) / 2;
      if (size > record.size() - body) return;
      const std::string_view value = record.substr(body, size);
      body += size;
      if (type >= 12) values[i] = Text(value);
      if (i == 3 && type < 7 && size <= 4) root = Big(value, 0, size);
      if (i == 3 && type == 9) root = 1;
    }
    const bool view = values[0] == "view";
    if ((values[0] != "table" && !view) || values[1].starts_with("sqlite_")) return;
    std::string sql(utf8::Prefix(values[4], kMostStatement));
    file_.tables.push_back({.name = std::move(values[1]),
                            .sql = std::move(sql),
                            .kind = view ? SqliteTable::Kind::kView : SqliteTable::Kind::kTable});
    roots_.push_back(view || root > file_.pages ? 0 : static_cast<std::uint32_t>(root));
  }

  std::string Text(std::string_view bytes) const {
    if (file_.encoding == "utf-8") return utf8::Sanitize(bytes);
    return FromUtf16(bytes, file_.encoding == "utf-16be" ? std::endian::big : std::endian::little);
  }

  // Returns the number of rows in the tree below a page: for a table the entries of its leaves, for
  // one without row ids, which is an index, all entries.
  std::optional<std::uint64_t> Rows(std::uint32_t root) {
    std::uint64_t rows = 0;
    std::vector<std::uint32_t> open = {root};
    std::string room;
    while (!open.empty()) {
      const std::uint32_t number = open.back();
      open.pop_back();
      const std::string_view page = Take(number, &room);
      if (page.empty()) return std::nullopt;
      const PageHeader header = HeaderOf(page, number);
      const bool inner = header.kind == kTableInner || header.kind == kIndexInner;
      if (!inner && header.kind != kTableLeaf && header.kind != kIndexLeaf) return std::nullopt;
      if (header.kind != kTableInner) rows += header.cells;
      if (!inner) continue;
      for (std::uint32_t i = 0; i < header.cells; ++i) {
        open.push_back(Big(page, Big(page, header.pointers + 2 * i, 2), 4));
      }
      open.push_back(header.right);
      if (open.size() > file_.pages || open.size() > kMostSqlitePages) return std::nullopt;
    }
    return rows;
  }

  const ByteSource& source_;
  const std::uint64_t size_;  // bytes
  SqliteFile file_;
  std::vector<std::uint32_t> roots_;        // of the tables
  std::size_t usable_ = 0;                  // bytes of a page
  std::unordered_set<std::uint32_t> seen_;  // pages
};

}  // namespace

bool IsSqliteFile(std::string_view head) { return head.starts_with(kMark); }

Result<SqliteFile> ReadSqliteFile(std::string_view bytes) {
  return ReadSqliteFile(*MemorySource(bytes, ""), bytes.size());
}

Result<SqliteFile> ReadSqliteFile(const ByteSource& source, std::uint64_t size) {
  return Reader(source, size).Read();
}

}  // namespace dossier::inspect
