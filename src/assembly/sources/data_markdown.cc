#include "assembly/sources/data_markdown.h"

#include "base/text/text.h"

namespace dossier::assembly {
namespace {

constexpr std::size_t kDeepestHeading = 6;

class Renderer {
 public:
  explicit Renderer(std::vector<std::string>* left_out) : left_out_(left_out) {}

  std::string Value(const Json& value, std::size_t depth, const std::string& path) {
    if (value.is_object()) return Map(value.get_object(), depth, path);
    if (value.is_array()) return List(value.get_array(), path);
    if (value.is_string()) {
      const std::string_view text = TrimSpace(std::string_view(value.get_string()));
      return text.empty() ? LeaveOut(path) : std::string(text) + "\n";
    }
    return value.is_null() ? LeaveOut(path) : ToJson(value) + "\n";
  }

 private:
  std::string Map(const JsonObject& map, std::size_t depth, const std::string& path) {
    std::string out;
    for (const auto& [key, value] : map) {
      const std::string name(key);
      const std::string text = Value(value, depth + 1, path.empty() ? name : path + "." + name);
      if (text.empty()) continue;
      if (!out.empty()) out += '\n';
      out += std::string(std::min(depth, kDeepestHeading), '#') + " " + name + "\n\n" + text;
    }
    return out.empty() ? LeaveOut(path) : out;
  }

  std::string List(const JsonArray& list, const std::string& path) {
    std::string out;
    for (const Json& item : list) {
      const std::string text =
          item.is_structured() ? ToJson(item) + "\n" : Value(item, 1, path + "[]");
      if (!text.empty()) out += "- " + text;
    }
    return out.empty() ? LeaveOut(path) : out;
  }

  std::string LeaveOut(const std::string& path) {
    if (left_out_ && !path.empty()) left_out_->push_back(path);
    return {};
  }

  std::vector<std::string>* left_out_;
};

}  // namespace

std::string RenderData(const Json& data, std::vector<std::string>* left_out) {
  return Renderer(left_out).Value(data, 1, "");
}

}  // namespace dossier::assembly
