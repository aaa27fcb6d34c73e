#include "ask/media.h"

#include <fmt/format.h>

#include <algorithm>

#include "assembly/assemble.h"
#include "base/hash.h"
#include "base/net/named_place.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/describe/describe.h"

namespace dossier::ask {
namespace {

bool IsMediumName(std::string_view name) {
  return !name.empty() && IsLetter(name[0]) && std::ranges::all_of(name, [](char c) {
    return IsLetter(c) || IsDigit(c) || c == '_' || c == '-';
  });
}

std::vector<std::string> NamesOf(std::span<const Medium> media) {
  std::vector<std::string> names;
  for (const Medium& medium : media) names.push_back(medium.name);
  return names;
}

Result<std::vector<std::string>> NamesIn(const Json& given) {
  if (const auto* one = given.if_string()) return std::vector<std::string>{std::string(*one)};
  std::vector<std::string> names;
  const JsonArray* list = given.if_array();
  for (const Json& one : list ? *list : JsonArray()) {
    if (const auto* name = one.if_string()) names.emplace_back(*name);
  }
  if (list && names.size() == list->size()) return names;
  return MakeError(ErrorCode::kInvalidArgument, "media must be a name, or a list of names");
}

}  // namespace

Result<Medium> MakeMedium(std::string name, std::string from, assembly::Block image) {
  if (!IsMediumName(name)) {
    return MakeError(ErrorCode::kUsage,
                     "the name of an image is \"{}\" ({}): a name has letters, digits, _ and -, "
                     "and begins with a letter",
                     name, from);
  }
  std::string bytes;
  if (!AppendBase64(image.text, &bytes)) {
    return MakeError(ErrorCode::kDamaged, "the image {} is no base64", name);
  }
  return Medium{.name = std::move(name),
                .from = std::move(from),
                .image = std::move(image),
                .bytes = bytes.size(),
                .sha256 = Sha256Hex(bytes)};
}

Result<Medium> MediumOf(std::string name, std::string from, std::string_view bytes,
                        const CancelToken& cancel) {
  if (bytes.size() > kMaxImage) {
    return MakeError(ErrorCode::kTooLong, "{} is larger than {} bytes", from, kMaxImage);
  }
  const std::string_view type = ImageType(bytes);
  if (type.empty()) {
    return MakeError(ErrorCode::kInvalidArgument, "{} is no image (PNG, JPEG, GIF, WebP)", from);
  }
  // A file that starts like an image may have been cut off: a provider would reject it late, or a
  // model would make something up.
  DOSSIER_ASSIGN_OR_RETURN(
      const inspect::Description about,
      inspect::Describe(*inspect::MemorySource(std::string(bytes), from), {}, cancel));
  const bool sized =
      std::ranges::any_of(about.details, [](const auto& detail) { return detail.name == "width"; });
  if (!sized) {
    return MakeError(ErrorCode::kDamaged, "{} is damaged: its width and height cannot be read",
                     from);
  }
  return MakeMedium(std::move(name), std::move(from),
                    {.type = assembly::Block::Type::kImage,
                     .text = Base64(bytes),
                     .media_type = std::string(type)});
}

Status CheckNamesDiffer(std::span<const Medium> media) {
  for (auto one = media.begin(); one != media.end(); ++one) {
    if (std::find_if(media.begin(), one,
                     [&](const Medium& other) { return other.name == one->name; }) != one) {
      return MakeError(ErrorCode::kUsage, "there are two images of this name: {}", one->name);
    }
  }
  return {};
}

Result<std::vector<const Medium*>> MediaOf(const JsonObject& args, std::span<const Medium> media) {
  std::vector<const Medium*> found;
  const Json* given = Find(args, "media");
  if (!given || given->is_null()) return found;
  DOSSIER_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(*given));
  for (const std::string& name : names) {
    const auto medium = std::ranges::find(media, name, &Medium::name);
    if (medium == media.end()) {
      return MakeError(ErrorCode::kInvalidArgument, "no image is called \"{}\"; {}", name,
                       media.empty() ? "this run was given none (--media NAME=PATH)"
                                     : "there are: " + Join(NamesOf(media), ", "));
    }
    found.push_back(&*medium);
  }
  return found;
}

Status CheckTakesImages(const driver::BoundModel& to) {
  Status takes = assembly::CheckTakesImages(to.entry.capability, to.name);
  if (!takes) takes.error().code = ErrorCode::kInvalidArgument;
  return takes;
}

Status CheckSomeTakesImages(std::span<const driver::BoundModel* const> models) {
  Status first;
  for (const driver::BoundModel* model : models) {
    const Status takes = CheckTakesImages(*model);
    if (takes) return takes;
    if (first) first = takes;
  }
  return first;
}

std::string DescribeMedia(std::span<const Medium> media) {
  std::string lines;
  for (const Medium& medium : media) {
    lines += fmt::format("{}{}: {}, {} bytes", lines.empty() ? "" : "\n", medium.name,
                         medium.image.media_type, GroupDigits(medium.bytes));
  }
  return lines;
}

JsonArray MediaJson(std::span<const Medium> media) {
  JsonArray list;
  for (const Medium& medium : media) {
    list.push_back(JsonObject{{"name", medium.name},
                              {"from", medium.from},
                              {"media_type", medium.image.media_type},
                              {"bytes", medium.bytes},
                              {"sha256", medium.sha256}});
  }
  return list;
}

Status StoreMedia(std::span<const Medium> media, store::ContentStore& content) {
  for (const Medium& medium : media) {
    std::string bytes;
    AppendBase64(medium.image.text, &bytes);
    DOSSIER_RETURN_IF_ERROR(content.Put(bytes));
  }
  return {};
}

Result<std::vector<Medium>> ReadMedia(const JsonObject& started, store::ContentStore& content) {
  std::vector<Medium> media;
  const Json* list = Find(started, "media");
  for (const Json& one : list && list->is_array() ? list->get_array() : JsonArray()) {
    const std::string name = TextAt(one, "name");
    const auto bytes = content.Get(TextAt(one, "sha256"));
    if (!bytes) {
      return MakeError(ErrorCode::kNotFound, "the image {} of the run is not stored any more: {}",
                       name, bytes.error().message);
    }
    DOSSIER_ASSIGN_OR_RETURN(Medium medium, MakeMedium(name, TextAt(one, "from"),
                                                       {.type = assembly::Block::Type::kImage,
                                                        .text = Base64(*bytes),
                                                        .media_type = TextAt(one, "media_type")}));
    media.push_back(std::move(medium));
  }
  return media;
}

}  // namespace dossier::ask
