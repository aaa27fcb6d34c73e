#include "assembly/layout/image.h"

#include <string>

#include "base/text/text.h"

namespace dossier::assembly {
namespace {

std::string_view TypeOf(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xFF\xD8\xFF")) return "image/jpeg";
  if (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")) return "image/gif";
  if (bytes.starts_with("RIFF") && bytes.substr(0, 12).ends_with("WEBP")) return "image/webp";
  return {};
}

}  // namespace

std::optional<Block> ImageBlock(std::string_view bytes) {
  const std::string_view type = TypeOf(bytes);
  if (type.empty()) return std::nullopt;
  return Block{.type = Block::Type::kImage, .text = Base64(bytes), .media_type = std::string(type)};
}

}  // namespace dossier::assembly
