#include "app/memory_section.h"

#include <algorithm>

#include "app/memory_setup.h"
#include "base/files/file.h"
#include "base/text/text.h"
#include "memory/render/injection.h"

namespace dossier::app {
namespace {

constexpr std::string_view kKeys[] = {"store", "branch", "at",     "query", "hint",
                                      "show",  "budget", "status", "help"};

// What `with` says, checked.
struct Wish {
  std::string store;
  std::string branch = std::string(memory::kRootBranch);
  std::optional<memory::Seq> at;
  std::string show = "all";
  memory::RenderRequest render;
};

tl::unexpected<Error> Wrong(std::string_view key, std::string_view wanted) {
  return MakeError(ErrorCode::kConfig, "with.{} must be {}", key, wanted);
}

// Reads one key at a time; the first that is wrong is the error.
class WishReader {
 public:
  WishReader(const Json& with, const std::map<std::string, std::string>& variables)
      : with_(with), variables_(variables) {}

  Result<Wish> Read(std::int64_t budget) {
    DOSSIER_RETURN_IF_ERROR(CheckKeys());
    Wish wish;
    std::string help;
    DOSSIER_RETURN_IF_ERROR(Text("store", &wish.store));
    DOSSIER_RETURN_IF_ERROR(Text("branch", &wish.branch));
    DOSSIER_RETURN_IF_ERROR(Text("hint", &wish.render.hint));
    DOSSIER_RETURN_IF_ERROR(Choice("show", {"all", "core", "rest"}, &wish.show));
    DOSSIER_RETURN_IF_ERROR(Choice("help", {"long", "short"}, &help));
    if (help == "long") wish.render.help = memory::HelpForm::kLong;
    if (help == "short") wish.render.help = memory::HelpForm::kShort;
    DOSSIER_ASSIGN_OR_RETURN(wish.at, Whole("at"));
    DOSSIER_ASSIGN_OR_RETURN(const auto chars, Whole("budget"));
    wish.render.budget.chars = chars.value_or(budget);
    if (const Json* status = Find(with_, "status")) {
      if (!status->is_bool()) return Wrong("status", "true or false");
      if (status->get_bool()) wish.render.status_line = memory::RenderRequest::StatusLine::kYes;
    }
    DOSSIER_RETURN_IF_ERROR(Query(&wish.render.query));
    return wish;
  }

 private:
  Status CheckKeys() const {
    if (with_.is_null()) return {};
    const JsonObject* keys = with_.if_object();
    if (!keys) return MakeError(ErrorCode::kConfig, "`with` must be a map");
    for (const auto& member : *keys) {
      if (std::ranges::find(kKeys, std::string_view(member.key())) != std::end(kKeys)) continue;
      return MakeError(ErrorCode::kConfig, "with.{} is not known; known: {}",
                       std::string_view(member.key()),
                       Join(std::vector<std::string>(std::begin(kKeys), std::end(kKeys)), ", "));
    }
    return {};
  }

  Status Text(std::string_view key, std::string* out) const {
    const Json* value = Find(with_, key);
    if (!value) return {};
    if (!value->is_string()) return Wrong(key, "a text");
    *out = value->get_string();
    return {};
  }

  Status Choice(std::string_view key, const std::vector<std::string>& words,
                std::string* out) const {
    DOSSIER_RETURN_IF_ERROR(Text(key, out));
    if (out->empty() || std::ranges::find(words, *out) != words.end()) return {};
    return Wrong(key, "one of " + Join(words, ", "));
  }

  Result<std::optional<std::int64_t>> Whole(std::string_view key) const {
    if (!Find(with_, key)) return std::nullopt;
    const auto number = FindInt(with_, key);
    if (!number || *number < 0) return Wrong(key, "a whole number from 0 up");
    return *number;
  }

  Status Query(std::string* out) const {
    const Json* value = Find(with_, "query");
    if (!value || !value->is_object()) {
      DOSSIER_RETURN_IF_ERROR(Text("query", out));
    } else {
      const auto name = FindString(*value, "var");
      if (!name) return Wrong("query", "a text or {var: NAME}");
      const auto found = variables_.find(std::string(*name));
      if (found != variables_.end()) *out = found->second;
    }
    *out = TrimSpace(*out);
    return {};
  }

  const Json& with_;
  const std::map<std::string, std::string>& variables_;
};

}  // namespace

Result<std::optional<std::string>> MemorySection(
    const Json& with, const std::map<std::string, std::string>& variables,
    const config::Config& config) {
  DOSSIER_ASSIGN_OR_RETURN(const MemoryConfig settings, ReadMemoryConfig(config));
  const memory::StoreLimits& limits = settings.limits;
  DOSSIER_ASSIGN_OR_RETURN(const Wish wish,
                           WishReader(with, variables).Read(limits.memory_budget_chars));
  const std::string path = MemoryStorePath(wish.store, config, memory::OpenMode::kExisting);
  if (!Exists(path)) return std::nullopt;
  DOSSIER_ASSIGN_OR_RETURN(memory::StoreOptions options, StoreOptionsOf(settings, config, path));
  DOSSIER_ASSIGN_OR_RETURN(const auto store, memory::Store::Open(std::move(options)));
  DOSSIER_ASSIGN_OR_RETURN(const memory::View view, store->Snapshot(wish.branch, wish.at));
  if (wish.show == "all") {
    DOSSIER_ASSIGN_OR_RETURN(memory::Rendered rendered, memory::Render(view, limits, wish.render));
    return std::move(rendered.text);
  }
  DOSSIER_ASSIGN_OR_RETURN(memory::Injection parts,
                           memory::Inject(view, limits, {.render = wish.render}));
  return wish.show == "core" ? std::move(parts.core) : std::move(parts.rest);
}

}  // namespace dossier::app
