#include "sources/header/json_fields.h"

#include <algorithm>
#include <cmath>

#include "assembly/layout/template_scan.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::sources {
namespace {

constexpr Millis kLongest = std::chrono::hours(24 * 365);

std::string Shown(const Json& value) {
  if (value.is_array()) return "a list";
  if (value.is_object()) return "a map";
  return utf8::CleanForTerminal(utf8::Prefix(ToJson(value), 80));
}

Status ReadList(const JsonPlace& at, std::string_view wanted,
                bool (*take)(const Json&, std::string*), std::vector<std::string>* out) {
  out->clear();
  const auto add = [&](const Json& item) {
    std::string text;
    const bool taken = take(item, &text);
    if (taken) out->push_back(std::move(text));
    return taken;
  };
  const auto* list = at.value.if_array();
  const bool good = list ? std::all_of(list->begin(), list->end(), add) : add(at.value);
  return good ? Status() : Status(at.Fail(wanted));
}

bool TakeText(const Json& item, std::string* out) {
  const auto* text = item.if_string();
  if (text) out->assign(text->begin(), text->end());
  return text != nullptr;
}

bool TakeName(const Json& item, std::string* out) {
  if (item.is_int64() || item.is_uint64()) {
    *out = ToJson(item);
    return true;
  }
  return TakeText(item, out);
}

}  // namespace

tl::unexpected<Error> JsonPlace::Fail(std::string_view wanted) const {
  return MakeError(ErrorCode::kConfig, "{}: {} is {}; it must be {}", PlaceText(in, where, key),
                   key, Shown(value), wanted);
}

std::string PlaceText(const DataPlace* in, std::string_view where, std::string_view key) {
  if (!in) return std::string(where);
  const std::string place = in->file.PlaceOf(fmt::format("{}/{}", in->path, key));
  return where.empty() ? place : fmt::format("{}: {}", place, where);
}

tl::unexpected<Error> UnknownKey(std::string_view where, std::string_view key,
                                 std::span<const std::string> known) {
  return MakeError(
      ErrorCode::kConfig, "{}: {}", where,
      assembly::Guess("unknown key", utf8::CleanForTerminal(utf8::Prefix(key, 80)), known));
}

Status ReadText(const JsonPlace& at, std::string* out) {
  return TakeText(at.value, out) ? Status() : Status(at.Fail("a text"));
}

Status ReadTexts(const JsonPlace& at, std::vector<std::string>* out) {
  return ReadList(at, "a list of texts", TakeText, out);
}

Status ReadNames(const JsonPlace& at, std::vector<std::string>* out) {
  return ReadList(at, "a list of names", TakeName, out);
}

Status ReadFlag(const JsonPlace& at, bool* out) {
  if (!at.value.is_bool()) return at.Fail("true or false");
  *out = at.value.get_bool();
  return {};
}

Status ReadWhole(const JsonPlace& at, std::uint64_t least, std::uint64_t* out) {
  const auto* number = at.value.if_int64();
  if (!number || *number < 0 || static_cast<std::uint64_t>(*number) < least) {
    return at.Fail(fmt::format("a whole number from {} up", least));
  }
  *out = static_cast<std::uint64_t>(*number);
  return {};
}

Status ReadTime(const JsonPlace& at, Millis least, Millis* out) {
  const std::string wanted =
      fmt::format("a time from {} s to 365 d, such as 90s or 3m", least.count() / 1000);
  if (at.value.is_number()) {
    const double seconds = at.value.to_number<double>();
    if (!(seconds >= 0 && seconds * 1000 <= static_cast<double>(kLongest.count()))) {
      return at.Fail(wanted);
    }
    *out = Millis(std::llround(seconds * 1000));
  } else {
    std::string text;
    if (!TakeText(at.value, &text)) return at.Fail(wanted);
    const auto parsed = ParseDuration(text);
    if (!parsed) return at.Fail(wanted);
    *out = *parsed;
  }
  return *out < least || *out > kLongest ? Status(at.Fail(wanted)) : Status();
}

Status ReadChoice(const JsonPlace& at, std::span<const std::string_view> names, std::size_t* out) {
  std::string wanted, text;
  const bool is_text = TakeText(at.value, &text);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_text && names[i] == text) {
      *out = i;
      return {};
    }
    wanted += (i == 0 ? "" : " or ");
    wanted += names[i];
  }
  return at.Fail(wanted + DidYouMean(text, names));
}

}  // namespace dossier::sources
