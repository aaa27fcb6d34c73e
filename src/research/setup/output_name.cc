#include "research/setup/output_name.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace dossier::research {
namespace {

constexpr std::size_t kMaxName = 50;  // bytes, all ASCII

std::string_view WithoutDate(std::string_view name) {
  constexpr std::string_view kForm = "0000-00-00_00-00-00_";
  if (name.size() < kForm.size()) return name;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == '0' ? !IsDigit(name[i]) : name[i] != kForm[i]) return name;
  }
  return name.substr(kForm.size());
}

std::string_view WithoutAttempt(std::string_view name) {
  constexpr std::string_view kMark = "_attempt_";
  const std::size_t at = name.rfind(kMark);
  if (at == std::string_view::npos) return name;
  const std::string_view number = name.substr(at + kMark.size());
  const bool is_number = !number.empty() && std::all_of(number.begin(), number.end(), IsDigit);
  return is_number ? name.substr(0, at) : name;
}

std::string Trim(std::string name) {
  name.erase(0, std::min(name.find_first_not_of('_'), name.size()));
  while (name.ends_with('_')) name.pop_back();
  return name;
}

}  // namespace

std::string OutputName(std::string_view run) {
  if (run.empty()) return "experiment_data.npy";
  std::string name;
  for (const char c : WithoutAttempt(WithoutDate(run))) {
    const bool kept = IsDigit(c) || IsLetter(c) || c == '-';
    if (kept) {
      name.push_back(c);
    } else if (!name.ends_with('_')) {
      name.push_back('_');
    }
  }
  name = Trim(Trim(std::move(name)).substr(0, kMaxName));
  return (name.empty() ? "experiment" : ToLowerAscii(name)) + "_data.npy";
}

}  // namespace dossier::research
