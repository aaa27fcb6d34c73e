// Reads numbers and byte ranges from hostile input: reads beyond the end give 0 or empty, and the
// reader then stays in the failed state.
//
//   ByteReader in(header);
//   const std::uint64_t count = in.Little(4);
//   if (!in.ok() || count > in.left()) return Damaged("a count of {}", count);
//
// Thread-safety: one owner. The bytes must outlive the reader.

#ifndef DOSSIER_INSPECT_CONTAINERS_BYTE_READER_H_
#define DOSSIER_INSPECT_CONTAINERS_BYTE_READER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "inspect/text/byte_source.h"

namespace dossier::inspect {

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes, std::uint64_t at = 0) : bytes_(bytes) { Seek(at); }

  bool ok() const { return ok_; }
  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }

  void Seek(std::uint64_t at) {
    if (at > bytes_.size()) return Fail();
    at_ = static_cast<std::size_t>(at);
  }
  std::string_view Take(std::uint64_t size) {
    if (!ok_ || size > left()) {
      Fail();
      return {};
    }
    const std::string_view part = bytes_.substr(at_, static_cast<std::size_t>(size));
    at_ += part.size();
    return part;
  }
  // `size`: 1 to 8 bytes.
  std::uint64_t Little(std::size_t size) {
    std::uint64_t value = 0;
    const std::string_view part = Take(size);
    for (std::size_t i = part.size(); i > 0; --i) value = value << 8 | Byte(part[i - 1]);
    return value;
  }
  std::uint64_t Big(std::size_t size) {
    std::uint64_t value = 0;
    for (const char c : Take(size)) value = value << 8 | Byte(c);
    return value;
  }
  // Seven bits per byte, lowest first (LEB128).
  std::uint64_t Varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = Little(1);
      value |= (byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    Fail();
    return 0;
  }
  // Signed numbers in the encoding of Thrift and Avro: 0, -1, 1, -2 …
  std::int64_t ZigZag() {
    const std::uint64_t value = Varint();
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
  }

 private:
  static std::uint64_t Byte(char c) { return static_cast<unsigned char>(c); }
  void Fail() {
    ok_ = false;
    at_ = bytes_.size();
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

template <typename... Args>
tl::unexpected<Error> Damaged(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(ErrorCode::kDamaged, format, std::forward<Args>(args)...);
}

// Reads `size` bytes at `offset`; the caller has checked that they may be held in memory. Errors:
// kDamaged if there are fewer; kIo.
inline Result<std::string> ReadRange(const ByteSource& source, std::uint64_t offset,
                                     std::size_t size) {
  std::string bytes(size, '\0');
  DOSSIER_ASSIGN_OR_RETURN(const std::size_t got, source.ReadAt(offset, std::span(bytes)));
  if (got < size) return Damaged("it ends before byte {}", offset + size);
  return bytes;
}

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_CONTAINERS_BYTE_READER_H_
