// Arrays and models: npy, safetensors, GGUF.

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/containers/binary_kinds.h"
#include "inspect/containers/byte_reader.h"

namespace dossier::inspect {
namespace {

// Returns the literal after `'name':` in a NumPy header, up to the end of a pair of brackets.
std::string_view PythonValue(std::string_view dict, std::string_view name) {
  const std::size_t key = dict.find(fmt::format("'{}':", name));
  if (key == std::string_view::npos) return {};
  const std::string_view value = TrimSpace(dict.substr(key + name.size() + 3));
  const char close = value.starts_with('(') ? ')' : value.starts_with('[') ? ']' : ',';
  const std::size_t end = value.find(close);
  return value.substr(0, end == std::string_view::npos ? end : end + (close == ',' ? 0 : 1));
}

// Converts "'<f8'" to float64.
std::string NumpyType(std::string_view descr) {
  if (descr.size() < 4 || descr.front() != '\'') return "records";
  const std::string_view code = descr.substr(2, descr.size() - 3);
  const std::string_view digits = code.substr(1);
  std::uint64_t bytes = 0;
  for (const char c : digits) {
    if (!IsDigit(c) || bytes > 1'000) return std::string(code);
    bytes = bytes * 10 + static_cast<std::uint64_t>(c - '0');
  }
  switch (code.front()) {
    case 'f':
      return fmt::format("float{}", bytes * 8);
    case 'i':
      return fmt::format("int{}", bytes * 8);
    case 'u':
      return fmt::format("uint{}", bytes * 8);
    case 'c':
      return fmt::format("complex{}", bytes * 8);
    case 'b':
      return "bool";
    case 'O':
      return "object";
    default:
      return std::string(code);
  }
}

// Counts an object's members without storing names and values, because there may be millions.
struct MemberCount {
  std::uint64_t members = 0;
  bool whole = false;
  bool has_metadata = false;
};
MemberCount CountMembers(std::string_view object) {
  MemberCount count;
  std::uint64_t depth = 0;
  std::size_t begun = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < object.size(); ++i) {
    const char c = object[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c != '"') continue;
      in_text = false;
      if (depth == 1 && object.substr(begun, i - begun) == "__metadata__") {
        count.has_metadata = true;
      }
    } else if (c == '"') {
      in_text = true;
      begun = i + 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth <= 1) {
        count.whole = depth == 1;
        return count;
      }
      --depth;
    } else if (c == ':' && depth == 1) {
      ++count.members;
    }
  }
  return count;
}

}  // namespace

Status DescribeNpy(const BinaryFile& file, Description* out) {
  ByteReader in(file.head, 6);
  const std::uint64_t major = in.Little(2) & 0xFF;
  const std::uint64_t length = in.Little(major == 1 ? 2 : 4);
  const std::string_view header = in.Take(length);
  const std::string_view shape = PythonValue(header, "shape");
  if (!in.ok() || !shape.starts_with('(') || !shape.ends_with(')')) {
    return Damaged("its header cannot be read");
  }
  std::vector<std::uint64_t> sizes;
  for (const std::string_view part : Split(shape.substr(1, shape.size() - 2), ',')) {
    std::uint64_t size = 0;
    const std::string_view digits = TrimSpace(part);
    for (const char c : digits) {
      if (!IsDigit(c) || size > (UINT64_MAX >> 5)) return Damaged("its shape is no list of sizes");
      size = size * 10 + static_cast<std::uint64_t>(c - '0');
    }
    if (!digits.empty()) sizes.push_back(size);
  }
  std::vector<std::string> shown;
  for (const std::uint64_t size : sizes) shown.push_back(GroupDigits(size));
  const std::string type = NumpyType(PythonValue(header, "descr"));
  out->kind_detail =
      fmt::format("{}, {}", type, shown.empty() ? "a single value" : Join(shown, " × "));
  out->details = {{"type", type}, {"shape", std::move(sizes)}};
  return {};
}

Status DescribeSafetensors(const BinaryFile& file, Description* out) {
  const std::uint64_t length = ByteReader(file.head).Little(8);
  if (length > kMostHeld || length > file.size - 8) {
    return Damaged("its header would have {} bytes", GroupDigits(length));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string header,
                           ReadRange(file.source, 8, static_cast<std::size_t>(length)));
  const MemberCount count = CountMembers(header);
  if (!count.whole) return Damaged("its header is no whole JSON object");
  const std::uint64_t tensors = count.members - (count.has_metadata && count.members > 0 ? 1 : 0);
  out->kind_detail = fmt::format("{} tensor{}", GroupDigits(tensors), tensors == 1 ? "" : "s");
  out->details = {{"tensors", tensors}};
  return {};
}

Status DescribeGguf(const BinaryFile& file, Description* out) {
  ByteReader in(file.head, 4);
  const std::uint64_t version = in.Little(4), tensors = in.Little(8);
  if (!in.ok() || tensors > file.size) return Damaged("its header cannot be read");
  out->kind_detail = fmt::format("version {}, {} tensor{}", version, GroupDigits(tensors),
                                 tensors == 1 ? "" : "s");
  out->details = {{"version", version}, {"tensors", tensors}};
  return {};
}

}  // namespace dossier::inspect
