#include "inspect/containers/archive_library.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>

#include "base/process/shared_library.h"
#include "base/text/text.h"
#include "inspect/containers/byte_reader.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kBlock = 64 << 10;            // bytes
constexpr std::uint64_t kFreeOutput = 16 << 20;     // bytes before the ratio is checked
constexpr std::uint64_t kMostRatio = 250;           // of output to input
constexpr std::uint64_t kMostMemory = 64 << 20;     // bytes that a filter may use
constexpr std::uint64_t kMostEntries = 10'000'000;  // in a tar archive

// The functions in use, named without "archive_".
struct ArchiveApi {
  decltype(&archive_read_new) read_new;
  decltype(&archive_read_free) read_free;
  decltype(&archive_read_append_filter) read_append_filter;
  decltype(&archive_read_support_format_raw) read_support_format_raw;
  decltype(&archive_read_support_format_tar) read_support_format_tar;
  decltype(&archive_read_support_format_zip_seekable) read_support_format_zip;
  decltype(&archive_read_set_read_callback) read_set_read_callback;
  decltype(&archive_read_set_skip_callback) read_set_skip_callback;
  decltype(&archive_read_set_seek_callback) read_set_seek_callback;
  decltype(&archive_read_set_callback_data) read_set_callback_data;
  decltype(&archive_read_open1) read_open1;
  decltype(&archive_read_next_header) read_next_header;
  decltype(&archive_read_data) read_data;
  decltype(&archive_filter_bytes) filter_bytes;
  decltype(&archive_error_string) error_string;
  decltype(&archive_set_error) set_error;
  decltype(&archive_entry_pathname) entry_pathname;
  decltype(&archive_entry_size) entry_size;
  decltype(&archive_entry_filetype) entry_filetype;
};

Result<ArchiveApi> LoadLibrary() {
  DOSSIER_ASSIGN_OR_RETURN(SharedLibrary library,
                           SharedLibrary::Load("libarchive.so.13", "libarchive13"));
  ArchiveApi api{};
  library.Find("archive_read_new", api.read_new);
  library.Find("archive_read_free", api.read_free);
  library.Find("archive_read_append_filter", api.read_append_filter);
  library.Find("archive_read_support_format_raw", api.read_support_format_raw);
  library.Find("archive_read_support_format_tar", api.read_support_format_tar);
  library.Find("archive_read_support_format_zip_seekable", api.read_support_format_zip);
  library.Find("archive_read_set_read_callback", api.read_set_read_callback);
  library.Find("archive_read_set_skip_callback", api.read_set_skip_callback);
  library.Find("archive_read_set_seek_callback", api.read_set_seek_callback);
  library.Find("archive_read_set_callback_data", api.read_set_callback_data);
  library.Find("archive_read_open1", api.read_open1);
  library.Find("archive_read_next_header", api.read_next_header);
  library.Find("archive_read_data", api.read_data);
  library.Find("archive_filter_bytes", api.filter_bytes);
  library.Find("archive_error_string", api.error_string);
  library.Find("archive_set_error", api.set_error);
  library.Find("archive_entry_pathname", api.entry_pathname);
  library.Find("archive_entry_size", api.entry_size);
  library.Find("archive_entry_filetype", api.entry_filetype);
  DOSSIER_RETURN_IF_ERROR(library.Check("version 3.6 or newer is needed"));
  return api;
}

Result<const ArchiveApi*> Library() {
  static const Result<ArchiveApi> api = LoadLibrary();
  if (!api) return tl::unexpected(api.error());
  return &*api;
}

struct FilterRow {
  std::string_view kind;
  int code;
};
constexpr FilterRow kFilters[] = {{"gzip", ARCHIVE_FILTER_GZIP},
                                  {"zstd", ARCHIVE_FILTER_ZSTD},
                                  {"bzip2", ARCHIVE_FILTER_BZIP2},
                                  {"xz", ARCHIVE_FILTER_XZ},
                                  {"lz4", ARCHIVE_FILTER_LZ4}};

enum class Reading : std::uint8_t { kFiltered, kTar, kZip };

// One archive over one source. The library stores its address, so it must not move.
class OpenArchive {
 public:
  OpenArchive(const ArchiveApi& api, const ByteSource& source, std::uint64_t size,
              const CancelToken& cancel)
      : api_(api), source_(source), size_(size), cancel_(cancel), archive_(api.read_new()) {}
  ~OpenArchive() { api_.read_free(archive_); }
  OpenArchive(const OpenArchive&) = delete;
  OpenArchive& operator=(const OpenArchive&) = delete;

  Status Open(Reading reading, int filter = ARCHIVE_FILTER_NONE) {
    if (!archive_) return MakeError(ErrorCode::kUnavailable, "libarchive has no memory");
    bool ready = true;
    const auto step = [&ready](int code) { ready = ready && code == ARCHIVE_OK; };
    switch (reading) {
      case Reading::kFiltered:
        step(api_.read_support_format_raw(archive_));
        // Set, not detected: a further compressed layer stays closed. A result other than OK would
        // mean a program that the library wants to start.
        step(api_.read_append_filter(archive_, filter));
        break;
      case Reading::kTar:
        step(api_.read_support_format_tar(archive_));
        break;
      case Reading::kZip:
        step(api_.read_support_format_zip(archive_));
        break;
    }
    step(api_.read_set_read_callback(archive_, Read));
    step(api_.read_set_skip_callback(archive_, Skip));
    if (reading == Reading::kZip) step(api_.read_set_seek_callback(archive_, Seek));
    step(api_.read_set_callback_data(archive_, this));
    if (!ready)
      return MakeError(ErrorCode::kUnavailable, "libarchive was built without this format");
    if (api_.read_open1(archive_) != ARCHIVE_OK) return Failure();
    return {};
  }

  // Returns the next member; null at the end.
  Result<archive_entry*> Next() {
    archive_entry* entry = nullptr;
    const int code = api_.read_next_header(archive_, &entry);
    if (code == ARCHIVE_EOF) return nullptr;
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return Failure();
    return entry;
  }
  // Reads content of the current member; 0 at its end.
  Result<std::size_t> Data(std::span<char> out) {
    const auto got = api_.read_data(archive_, out.data(), out.size());
    if (got < 0) return Failure();
    return static_cast<std::size_t>(got);
  }
  // Returns the bytes of the source that were consumed.
  std::uint64_t used() const {
    return static_cast<std::uint64_t>(std::max<la_int64_t>(0, api_.filter_bytes(archive_, -1)));
  }

 private:
  tl::unexpected<Error> Failure() const {
    if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "interrupted");
    if (error_) return tl::unexpected(*error_);
    const char* text = api_.error_string(archive_);
    return MakeError(ErrorCode::kDamaged, "{}", text ? text : "it cannot be read");
  }

  static la_ssize_t Read(archive* from, void* self, const void** block) {
    auto& me = *static_cast<OpenArchive*>(self);
    if (me.cancel_.cancelled()) return me.GiveUp(from);
    me.block_.resize(kBlock);
    auto got = me.source_.ReadAt(me.at_, std::span(me.block_));
    if (!got) {
      me.error_ = std::move(got).error();
      return me.GiveUp(from);
    }
    me.at_ += *got;
    *block = me.block_.data();
    return static_cast<la_ssize_t>(*got);
  }
  static la_int64_t Skip(archive*, void* self, la_int64_t wanted) {
    auto& me = *static_cast<OpenArchive*>(self);
    const std::uint64_t left = me.size_ - std::min(me.size_, me.at_);
    const std::uint64_t step =
        std::min(left, static_cast<std::uint64_t>(std::max<la_int64_t>(0, wanted)));
    me.at_ += step;
    return static_cast<la_int64_t>(step);
  }
  static la_int64_t Seek(archive*, void* self, la_int64_t offset, int whence) {
    auto& me = *static_cast<OpenArchive*>(self);
    const std::uint64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? me.at_ : me.size_;
    const std::uint64_t target = base + static_cast<std::uint64_t>(offset);
    if (target > me.size_) return ARCHIVE_FATAL;
    me.at_ = target;
    return static_cast<la_int64_t>(target);
  }
  la_ssize_t GiveUp(archive* from) {
    api_.set_error(from, 1, "stopped");
    return -1;
  }

  const ArchiveApi& api_;
  const ByteSource& source_;
  const std::uint64_t size_;  // bytes of it
  const CancelToken cancel_;
  archive* archive_;
  std::string block_;
  std::uint64_t at_ = 0;
  std::optional<Error> error_;  // from the source
};

// Returns the bytes that the filter will need, from the first frame or block; 0: little.
std::uint64_t ZstdMemory(std::string_view head) {
  ByteReader in(head, 4);
  const std::uint64_t flags = in.Little(1);
  if ((flags & 0x20) == 0) {
    const std::uint64_t window = in.Little(1);
    const std::uint64_t base = std::uint64_t{1} << (10 + (window >> 3));
    return base + base / 8 * (window & 7);
  }
  constexpr std::size_t kIdBytes[] = {0, 1, 2, 4}, kSizeBytes[] = {1, 2, 4, 8};
  in.Take(kIdBytes[flags & 3]);
  return in.Little(kSizeBytes[flags >> 6]);
}

std::uint64_t XzMemory(std::string_view head) {
  ByteReader in(head, 12);
  if (in.Little(1) == 0) return 0;  // no block
  const std::uint64_t flags = in.Little(1);
  if ((flags & 0x40) != 0) in.Varint();
  if ((flags & 0x80) != 0) in.Varint();
  for (std::uint64_t i = 0; i <= (flags & 3); ++i) {
    constexpr std::uint64_t kLzma2 = 0x21;
    const std::uint64_t id = in.Varint();
    const std::string_view properties = in.Take(in.Varint());
    if (id != kLzma2 || properties.empty()) continue;
    const std::uint64_t bits = static_cast<unsigned char>(properties[0]) & 0x3Fu;
    return bits >= 40 ? UINT64_MAX : (2 | (bits & 1)) << (bits / 2 + 11);
  }
  return 0;
}

Status CheckMemory(const ByteSource& source, std::string_view kind) {
  std::string head(1024, '\0');
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, source.ReadAt(0, std::span(head)));
  head.resize(got);
  const std::uint64_t needed = kind == "zstd" ? ZstdMemory(head)
                               : kind == "xz" ? XzMemory(head)
                                              : 0;
  if (needed <= kMostMemory) return {};
  return MakeError(ErrorCode::kTooLong, "unpacking it takes over {} of memory",
                   FormatSize(kMostMemory));
}

// Unpacks while somebody reads. Shared by the source of the content and whoever asks how it ended.
class Unpacking {
 public:
  Unpacking(const ArchiveApi& api, const ByteSource& source, std::uint64_t size,
            std::string_view kind, std::uint64_t limit, const CancelToken& cancel)
      : archive_(api, source, size, cancel),
        source_(source),
        kind_(kind),
        size_(size),
        limit_(limit) {}

  Status Open(int filter) {
    Status opened = archive_.Open(Reading::kFiltered, filter);
    if (opened) {
      const auto entry = archive_.Next();
      if (!entry) opened = tl::unexpected(entry.error());
    }
    if (opened || opened.error().code != ErrorCode::kDamaged) return opened;
    // The library treats input that yields no byte as damaged.
    ended_ = true;
    if (!IsEmptyGzip()) static_cast<void>(EndDamaged("nothing comes out"));
    return {};
  }

  Result<std::size_t> Read(std::uint64_t at, std::span<char> out) {
    if (ended_) return 0;
    bytes_ = at;
    if (at > kFreeOutput && at / kMostRatio > archive_.used()) {
      return End(fmt::format("output over {} times input", kMostRatio), Inside::Cut::kLimit);
    }
    char more[1];
    const bool full = at >= limit_;
    const auto got = archive_.Data(full ? std::span(more)
                                        : out.first(static_cast<std::size_t>(
                                              std::min<std::uint64_t>(out.size(), limit_ - at))));
    if (got && *got > 0 && full) {
      return End(fmt::format("only the first {} were unpacked", FormatSize(limit_)),
                 Inside::Cut::kLimit);
    }
    if (got) {
      bytes_ = at + *got;
      return *got;
    }
    if (got.error().code != ErrorCode::kDamaged) return tl::unexpected(got.error());
    return EndDamaged(got.error().message);
  }

  std::uint64_t bytes() const { return bytes_; }
  const std::string& why_cut() const { return why_cut_; }
  Inside::Cut cut() const { return cut_; }

 private:
  // Returns true if the last eight bytes are the checksum and size of empty data.
  bool IsEmptyGzip() const {
    const auto tail = ReadRange(source_, size_ - std::min<std::uint64_t>(size_, 8), 8);
    return kind_ == "gzip" && size_ >= 20 && tail && *tail == std::string(8, '\0');
  }

  std::size_t EndDamaged(std::string_view why) {
    const std::uint64_t used = archive_.used();
    return End(used >= size_
                   ? fmt::format("{} ends early at byte {}", kind_, GroupDigits(size_))
                   : fmt::format("{} is damaged near byte {}: {}", kind_, GroupDigits(used), why),
               Inside::Cut::kDamage);
  }

  std::size_t End(std::string why, Inside::Cut cut) {
    ended_ = true;
    why_cut_ = std::move(why);
    cut_ = cut;
    return 0;
  }

  OpenArchive archive_;
  const ByteSource& source_;
  const std::string kind_;
  const std::uint64_t size_, limit_;
  std::uint64_t bytes_ = 0;  // unpacked so far
  bool ended_ = false;
  std::string why_cut_;
  Inside::Cut cut_ = Inside::Cut::kNone;
};

}  // namespace

bool IsCompression(std::string_view kind) {
  return std::ranges::find(kFilters, kind, &FilterRow::kind) != std::end(kFilters);
}

Result<Inside> OpenInside(const ByteSource& source, std::uint64_t size, std::string_view kind,
                          std::uint64_t limit, const CancelToken& cancel) {
  const auto filter = std::ranges::find(kFilters, kind, &FilterRow::kind);
  if (filter == std::end(kFilters)) {
    return MakeError(ErrorCode::kInternal, "{} is no compression", kind);
  }
  DOSSIER_RETURN_IF_ERROR(CheckMemory(source, kind));
  DOSSIER_ASSIGN_OR_RETURN(const ArchiveApi* api, Library());
  const auto unpacking = std::make_shared<Unpacking>(*api, source, size, kind, limit, cancel);
  DOSSIER_RETURN_IF_ERROR(unpacking->Open(filter->code));
  Inside inside;
  inside.source = StreamSource(
      [unpacking](std::uint64_t at, std::span<char> out) { return unpacking->Read(at, out); },
      source.name());
  char probe[1];
  DOSSIER_RETURN_IF_ERROR(inside.source->ReadAt(limit, std::span(probe)));  // unpacks everything
  inside.bytes = unpacking->bytes();
  inside.why_cut = unpacking->why_cut();
  inside.cut = unpacking->cut();
  return inside;
}

Status ListTar(const ByteSource& source, std::uint64_t size, const CancelToken& cancel,
               const std::function<void(const TarEntry&)>& take) {
  DOSSIER_ASSIGN_OR_RETURN(const ArchiveApi* api, Library());
  OpenArchive archive(*api, source, size, cancel);
  DOSSIER_RETURN_IF_ERROR(archive.Open(Reading::kTar));
  for (std::uint64_t i = 0; i < kMostEntries; ++i) {
    DOSSIER_ASSIGN_OR_RETURN(archive_entry * entry, archive.Next());
    if (!entry) return {};
    const char* path = api->entry_pathname(entry);
    const auto type = api->entry_filetype(entry);
    take({.path = path ? path : "",
          .bytes = static_cast<std::uint64_t>(std::max<la_int64_t>(0, api->entry_size(entry))),
          .kind = type == AE_IFREG   ? TarEntry::Kind::kFile
                  : type == AE_IFDIR ? TarEntry::Kind::kFolder
                                     : TarEntry::Kind::kOther});
  }
  return Damaged("it has more than {} members", GroupDigits(kMostEntries));
}

Result<std::string> ReadZipMember(const ByteSource& source, std::uint64_t size,
                                  std::string_view path, std::size_t most,
                                  const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const ArchiveApi* api, Library());
  OpenArchive archive(*api, source, size, cancel);
  DOSSIER_RETURN_IF_ERROR(archive.Open(Reading::kZip));
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(archive_entry * entry, archive.Next());
    if (!entry) return MakeError(ErrorCode::kNotFound, "no {} in it", path);
    const char* name = api->entry_pathname(entry);
    if (!name || name != path) continue;
    std::string content(most, '\0');
    std::size_t done = 0;
    while (done < most) {
      DOSSIER_ASSIGN_OR_RETURN(const std::size_t got,
                               archive.Data(std::span(content).subspan(done)));
      if (got == 0) break;
      done += got;
    }
    content.resize(done);
    return content;
  }
}

}  // namespace dossier::inspect
