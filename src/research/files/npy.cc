#include "research/files/npy.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include "base/files/file.h"
#include "base/files/walk.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "research/files/cuts.h"
#include "research/files/replies.h"

namespace dossier::research {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxDimensions = 64;  // NumPy 2's own limit

tl::unexpected<Error> WrongArray(std::string_view what) {
  return MakeError(ErrorCode::kDamaged, "no .npy file: {}", what);
}

// Reads a length from `bytes`, lowest byte first.
std::size_t Little(std::string_view bytes) {
  std::size_t out = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    out = out << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return out;
}

// Reads "(3, 4)" as a list of numbers.
std::optional<std::vector<std::uint64_t>> ReadShape(const Json& list) {
  if (!list.is_array() || list.as_array().size() > kMaxDimensions) return std::nullopt;
  std::vector<std::uint64_t> shape;
  for (const Json& size : list.as_array()) {
    if (size.is_int64() && size.as_int64() >= 0) {
      shape.push_back(static_cast<std::uint64_t>(size.as_int64()));
    } else if (size.is_uint64()) {
      shape.push_back(size.as_uint64());
    } else {
      return std::nullopt;
    }
  }
  return shape;
}

// True for "|O" and similar, or a record's list that contains one.
bool HasObjects(std::string_view descr) {
  for (const std::string_view type : {"|O", "<O", ">O", "=O"}) {
    if (descr.find(type) != descr.npos) return true;
  }
  return descr == "O" || descr == "object";
}

// Returns the header's text after checking its length; reads nothing beyond `bytes`.
Result<std::string_view> HeaderText(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return WrongArray("it does not begin with \\x93NUMPY");
  if (bytes.size() < kMagic.size() + 4) return WrongArray("it ends in its header");
  const auto version = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (version < 1 || version > 3)
    return WrongArray(fmt::format("version {} is not known", version));
  const std::size_t width = version == 1 ? 2 : 4;
  const std::size_t begin = kMagic.size() + 2 + width;
  if (bytes.size() < begin) return WrongArray("it ends in its header");
  const std::size_t length = Little(bytes.substr(kMagic.size() + 2, width));
  if (length > kMaxNpyHeader) return WrongArray(fmt::format("its header has {} bytes", length));
  if (bytes.size() - begin < length) return WrongArray("it ends in its header");
  return bytes.substr(begin, length);
}

// Makes one line of limited length: a program that writes the header itself may put any text there.
std::string OneLine(std::string_view descr) {
  constexpr std::uint64_t kMostShown = 400;  // characters, for a record with many fields
  std::string line = utf8::Sanitize(descr);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = ' ';
  }
  return CutText(line, kMostShown);
}

// Returns "float64" for "<f8"; types without a plain name stay as written.
std::string TypeName(std::string_view descr) {
  constexpr std::pair<char, std::string_view> kKinds[] = {
      {'f', "float"}, {'i', "int"}, {'u', "uint"}, {'c', "complex"}};
  if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos) {
    return OneLine(descr);
  }
  int bytes = 0;
  const char* last = descr.data() + descr.size();
  const auto [end, error] = std::from_chars(descr.data() + 2, last, bytes);
  if (error != std::errc() || end != last || bytes < 1 || bytes > 32) return OneLine(descr);
  if (descr[1] == 'b') return "bool";
  for (const auto& [kind, name] : kKinds) {
    if (kind == descr[1]) return fmt::format("{}{}", name, 8 * bytes);
  }
  return OneLine(descr);
}

}  // namespace

Result<NpyHeader> ParseNpyHeader(std::string_view bytes) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string_view text, HeaderText(bytes));
  // The header is a Python dictionary.
  const auto fields = ParseRelaxedJson(TrimSpace(text));
  if (!fields || !fields->value.is_object()) return WrongArray("its header is no dictionary");
  const Json* descr = Find(fields->value, "descr");
  const auto fortran = FindBool(fields->value, "fortran_order");
  const Json* sizes = Find(fields->value, "shape");
  if (!descr) return WrongArray("its header has no descr");
  if (!fortran) return WrongArray("fortran_order is neither True nor False");
  if (!sizes) return WrongArray("its header has no shape");
  NpyHeader header{.descr = descr->is_string() ? std::string(descr->as_string()) : ToJson(*descr)};
  if (*fortran) header.order = NpyHeader::Order::kFortran;
  auto shape = ReadShape(*sizes);
  if (!shape) return WrongArray("its shape is no tuple of numbers");
  header.shape = std::move(*shape);
  if (HasObjects(header.descr)) header.values = NpyHeader::Values::kPickled;
  return header;
}

Result<NpyHeader> ReadNpyHeader(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return MakeErrnoError(errno, path);
  std::string bytes(kMaxNpyHeader + 16, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return MakeErrnoError(errno, path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  auto header = ParseNpyHeader(std::string_view(bytes).substr(0, size));
  if (!header) return MakeError(header.error().code, "{}: {}", path, header.error().message);
  return header;
}

std::string NpySchema(const NpyHeader& header) {
  std::string shape;
  for (const std::uint64_t size : header.shape) {
    shape += fmt::format("{}{}", shape.empty() ? "" : ", ", size);
  }
  if (header.shape.size() == 1) shape += ",";
  const std::string type =
      header.values == NpyHeader::Values::kPickled ? "pickled objects" : TypeName(header.descr);
  return fmt::format("{}, shape ({})", type, shape);
}

Result<Json> NpyList(const std::string& workspace) {
  JsonArray arrays;
  if (!Exists(workspace)) return arrays;
  DOSSIER_ASSIGN_OR_RETURN(
      const WalkResult walked,
      WalkFolder(workspace, {.ignore = IgnoreRules::kDisregard, .max_files = 100'000}));
  for (const std::string& path : walked.files) {
    if (!path.ends_with(".npy")) continue;
    if (arrays.size() == kMaxListedArrays) break;
    const Result<NpyHeader> header = ReadNpyHeader(path);
    arrays.push_back(JsonObject{{"path", path.substr(workspace.size() + 1)},
                                {"schema", header ? NpySchema(*header) : header.error().message}});
  }
  return arrays;
}

}  // namespace dossier::research
