#include "memory/transfer/lines.h"

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "memory/blocks/block_json.h"

namespace dossier::memory {
std::optional<Line> LineReader::Next() {
  while (at_ < text_.size()) {
    const std::size_t begin = at_;
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    at_ = end + 1;
    ++number_;
    std::string_view line = text_.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!TrimSpace(line).empty()) return Line{line, number_, static_cast<std::int64_t>(begin)};
  }
  return std::nullopt;
}

tl::expected<Json, LineFault> ReadObject(const Line& line) {
  const auto fault = [&](std::size_t at, std::string message) {
    return tl::unexpected(
        LineFault{line.number, line.byte + static_cast<std::int64_t>(at), std::move(message)});
  };
  if (!utf8::IsValid(line.text)) return fault(utf8::FirstInvalid(line.text), "not UTF-8");
  Result<Json> value = ParseJson(line.text);
  if (!value) {
    const auto wrong = ReadBlockJson(line.text).fault;
    if (wrong) return fault(wrong->offset, fmt::format("expected {}", wrong->expected));
    return fault(0, value.error().message);
  }
  if (!value->is_object()) return fault(0, "expected a JSON object");
  return *std::move(value);
}

}  // namespace dossier::memory
