#include "config/read_value.h"

#include "base/net/url.h"
#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::config {
namespace {

bool IsScalar(const Setting& setting) { return setting.value.node.kind == YamlNode::Kind::kScalar; }

bool IsHeaderText(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

}  // namespace

Status ReadText(const Setting& setting, std::string* out) {
  if (!IsScalar(setting)) return setting.Wrong("a text");
  *out = setting.value.node.scalar;
  return {};
}

Status ReadPath(const Setting& setting, std::string* out) {
  if (!IsScalar(setting)) return setting.Wrong("a path");
  *out = ResolvePath(setting.value.node.scalar, setting.folder, setting.home);
  return {};
}

Status ReadPathOrUrl(const Setting& setting, std::string* out) {
  return IsWebAddress(setting.value.node.scalar) ? ReadText(setting, out) : ReadPath(setting, out);
}

Status ReadFlag(const Setting& setting, bool* out) {
  const std::string word = IsScalar(setting) ? ToLowerAscii(setting.value.node.scalar) : "";
  *out = word == "true" || word == "yes" || word == "on" || word == "1";
  if (*out || word == "false" || word == "no" || word == "off" || word == "0") return {};
  return setting.Wrong("true or false");
}

Status ReadWhole(const Setting& setting, std::int64_t least, std::int64_t* out) {
  const auto number = ExactNumber<std::int64_t>(setting.value.node.scalar);
  if (!IsScalar(setting) || !number || *number < least) {
    return setting.Wrong(fmt::format("a whole number from {} up", least));
  }
  *out = *number;
  return {};
}

Status ReadNumber(const Setting& setting, double low, double high, double* out) {
  const auto number = ExactNumber<double>(setting.value.node.scalar);
  if (!IsScalar(setting) || !number || !(*number >= low && *number <= high)) {
    return setting.Wrong(fmt::format("a number from {} to {}", low, high));
  }
  *out = *number;
  return {};
}

Status ReadTime(const Setting& setting, Millis* out) {
  const auto time = ParseDuration(IsScalar(setting) ? setting.value.node.scalar : "");
  if (!time || time->count() <= 0) return setting.Wrong("a time above 0, such as 30, 500ms or 2m");
  *out = *time;
  return {};
}

Status ReadSize(const Setting& setting, std::uint64_t* out) {
  const auto bytes = ParseSize(IsScalar(setting) ? setting.value.node.scalar : "");
  if (!bytes) return setting.Wrong("a size, such as 500M or 2G");
  *out = *bytes;
  return {};
}

Status ReadTexts(const Setting& setting, std::vector<std::string>* out) {
  if (setting.value.node.kind != YamlNode::Kind::kList) return setting.Wrong("a list of texts");
  out->clear();
  for (const YamlNode& item : setting.value.node.items) {
    if (item.kind != YamlNode::Kind::kScalar) return setting.Wrong("a list of texts");
    out->push_back(item.scalar);
  }
  return {};
}

Status ReadArgv(const Setting& setting, std::vector<std::string>* out) {
  constexpr std::string_view kWanted = "a program and its arguments";
  if (IsScalar(setting)) {
    out->clear();
    for (const std::string_view word : Split(setting.value.node.scalar, ' ')) {
      if (!TrimSpace(word).empty()) out->emplace_back(TrimSpace(word));
    }
  } else {
    DOSSIER_RETURN_IF_ERROR(ReadTexts(setting, out));
  }
  if (out->empty()) return setting.Wrong(kWanted);
  return {};
}

Status ReadHeaders(const Setting& setting, std::map<std::string, std::string>* out) {
  constexpr std::string_view kWanted = "a map of header names to texts of one line";
  if (!setting.value.is_map()) return setting.Wrong(kWanted);
  for (const Entry& entry : setting.value.entries) {
    if (entry.value.is_null()) continue;
    const bool good = entry.value.node.kind == YamlNode::Kind::kScalar && !entry.key.empty() &&
                      IsHeaderText(entry.key) && entry.key.find(':') == std::string::npos &&
                      IsHeaderText(entry.value.node.scalar);
    if (!good) return setting.Wrong(kWanted);
    (*out)[entry.key] = entry.value.node.scalar;
  }
  return {};
}

Status ReadSection(const Setting& setting, Section* out) {
  *out = Section{ToYaml(setting.value),
                 setting.value.origin.kind == Origin::Kind::kFile ? setting.value.origin.name
                                                                  : setting.value.origin.ToText(),
                 setting.folder};
  return {};
}

}  // namespace dossier::config
