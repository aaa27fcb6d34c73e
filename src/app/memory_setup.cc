#include "app/memory_setup.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "app/open_model.h"
#include "assembly/assemble.h"
#include "base/files/file.h"
#include "base/random.h"
#include "base/text/text.h"
#include "driver/caller.h"
#include "model/client/ledger.h"

namespace dossier::app {
namespace {

// Checks that a project's store is the user's own, not one that somebody planted or linked there.
Status CheckProjectStore(const config::Config& config, const std::string& path) {
  for (const std::string& folder : config.project_folders) {
    const std::string state = folder + "/.dossier";
    if (!path.starts_with(state + "/")) continue;
    DOSSIER_RETURN_IF_ERROR(CheckOwnPath(state, PathKind::kFolder));
    DOSSIER_RETURN_IF_ERROR(CheckOwnPath(path.substr(0, path.rfind('/')), PathKind::kFolder));
    DOSSIER_RETURN_IF_ERROR(CheckOwnPath(memory::CallLogPath(path), PathKind::kFile));
    for (const char* ending : {"", "-journal", "-wal", "-shm"}) {
      DOSSIER_RETURN_IF_ERROR(CheckOwnPath(path + ending, PathKind::kFile));
    }
    return {};
  }
  return {};
}

}  // namespace

std::string MemoryStorePath(const std::string& named, const config::Config& config,
                            memory::OpenMode mode) {
  if (!named.empty()) return named;
  if (const auto path = Environment("DOSSIER_MEMORY")) return *path;
  constexpr std::string_view kInFolder = "/memory/memory.sqlite";
  for (const std::string& folder : config.project_folders) {
    const std::string state = folder + "/.dossier";
    const std::string path = fmt::format("{}{}", state, kInFolder);
    const bool usable = mode == memory::OpenMode::kCreate ? IsFolder(state) : Exists(path);
    if (usable) return path;
  }
  return fmt::format("{}{}", config.user.data, kInFolder);
}

Result<memory::StoreOptions> StoreOptionsOf(const MemoryConfig& memory,
                                            const config::Config& config, std::string path) {
  DOSSIER_RETURN_IF_ERROR(CheckProjectStore(config, path));
  return driver::StoreOptionsOf(memory, config.user.data, std::move(path));
}

bool IsOn(const MemoryWish& wish, const MemoryConfig& config) {
  if (wish.use != MemoryWish::Use::kByConfig) return wish.use == MemoryWish::Use::kOn;
  return config.enabled.value_or(false);
}

Result<PromptMemory> OpenPromptMemory(const MemoryWish& wish, const config::Config& config,
                                      MemoryNeed need) {
  PromptMemory memory{.branch = wish.branch};
  DOSSIER_ASSIGN_OR_RETURN(memory.config, ReadMemoryConfig(config));
  if (!IsOn(wish, memory.config)) return memory;
  const auto mode =
      need == MemoryNeed::kWritten ? memory::OpenMode::kCreate : memory::OpenMode::kExisting;
  const std::string path = MemoryStorePath(wish.store, config, mode);
  if (need == MemoryNeed::kLookedAt && !Exists(path)) return memory;
  DOSSIER_ASSIGN_OR_RETURN(memory::StoreOptions options,
                           StoreOptionsOf(memory.config, config, path));
  options.mode = mode;
  DOSSIER_ASSIGN_OR_RETURN(memory.store, memory::Store::Open(std::move(options)));
  memory.consolidate_from = memory.config.consolidates_from();
  if (memory.config.log_enabled && need == MemoryNeed::kWritten) {
    memory.calls = std::make_shared<const memory::MemoryCallLog>(CallLogOf(memory.config, path));
  }
  return memory;
}

Result<MemoryConfig> ReadMemoryConfig(const config::Config& config) {
  const auto section = config.sections.find("memory");
  if (section == config.sections.end()) return MemoryConfig();
  return driver::ReadMemorySection(section->second.node, section->second.file);
}

namespace {

using memory::RatedItem;
using memory::SummaryRequest;

// The model of a summarizer, shared by its functions.
class MemoryModel {
 public:
  MemoryModel(driver::BoundModel model, driver::LayoutSources layouts, CancelToken cancel)
      : model_(std::move(model)),
        layouts_(std::move(layouts)),
        cancel_(std::move(cancel)),
        ledger_({}, SystemClock()),
        caller_(ledger_, SystemClock()) {}

  Result<std::string> Summarize(const SummaryRequest& request) {
    const std::string most = std::to_string(request.max_chars);
    if (request.purpose == SummaryRequest::Purpose::kConsolidate) {
      return Ask("memory.consolidate", {{.name = "events", .content = request.text}},
                 {{"kind", request.hint}, {"max_chars", most}}, request.max_chars);
    }
    std::vector<assembly::Section> sections = {{.name = "text", .content = request.text}};
    if (!request.context.empty()) {
      sections.push_back({.name = "context", .content = request.context});
    }
    return Ask("memory.compress", sections, {{"hint", request.hint}, {"max_chars", most}},
               request.max_chars);
  }

  Result<std::vector<int>> Rate(const std::vector<RatedItem>& items) {
    std::string facts;
    for (std::size_t i = 0; i < items.size(); ++i) {
      facts += fmt::format("{}. {}: {}\n", i + 1, items[i].key, items[i].value);
    }
    constexpr std::int64_t kTokensOfRating = 4;  // "3, "
    constexpr std::int64_t kTokensAround = 64;   // brackets, and a fence
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string reply,
        Ask("memory.rate", {{.name = "facts", .content = std::move(facts)}},
            {{"count", std::to_string(items.size())}},
            kTokensAround + kTokensOfRating * static_cast<std::int64_t>(items.size())));
    return ReadRatings(reply, items.size());
  }

 private:
  // `most_tokens`: in most texts a code point is at most one token, so characters are used instead.
  Result<std::string> Ask(std::string_view layout_name,
                          const std::vector<assembly::Section>& sections,
                          driver::SectionValues values, std::int64_t most_tokens) {
    DOSSIER_ASSIGN_OR_RETURN(
        const model::Reply reply,
        driver::AskByLayout({std::string(layout_name), sections, std::move(values), most_tokens},
                            layouts_, model_, caller_, cancel_));
    return std::string(TrimSpace(reply.text));
  }

  const driver::BoundModel model_;
  const driver::LayoutSources layouts_;
  const CancelToken cancel_;
  model::Ledger ledger_;
  driver::Caller caller_;
};

}  // namespace

Result<memory::Summarizer> OpenSummarizer(ModelSettings settings, const MemoryConfig& memory_config,
                                          const config::Config& config, const FindLayouts& layouts,
                                          const std::function<void(std::string_view)>& say,
                                          const CancelToken& cancel) {
  const bool by_config = settings.model.empty() && memory_config.use_llm_compression.value_or(true);
  if (by_config) settings.model = memory_config.model;
  if (settings.model.empty()) return memory::Summarizer();
  DOSSIER_ASSIGN_OR_RETURN(driver::BoundModel model,
                           OpenChatModel(std::move(settings), config, say, cancel));
  DOSSIER_ASSIGN_OR_RETURN(driver::LayoutSources found, layouts());
  memory::Summarizer summarizer{.model = model.stored,
                                // Half the window: the rest is for the instruction and the reply.
                                .window_chars = model.entry.capability.window / 2};
  const auto shared = std::make_shared<MemoryModel>(std::move(model), std::move(found), cancel);
  summarizer.summarize = [shared](const SummaryRequest& request) {
    return shared->Summarize(request);
  };
  summarizer.rate = [shared](const std::vector<RatedItem>& items) { return shared->Rate(items); };
  return summarizer;
}

Result<std::vector<int>> ReadRatings(std::string_view reply, std::size_t count) {
  const auto wrong = [&] {
    return MakeError(ErrorCode::kProtocol, "the reply is no list of {} whole numbers from 1 to 5",
                     count);
  };
  const std::size_t begin = reply.find('['), end = reply.rfind(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return wrong();
  }
  const auto list = ParseJson(reply.substr(begin, end - begin + 1));
  if (!list || !list->is_array() || list->as_array().size() != count) return wrong();
  std::vector<int> ratings;
  for (const Json& item : list->as_array()) {
    if (!item.is_int64() || item.as_int64() < 1 || item.as_int64() > 5) return wrong();
    ratings.push_back(static_cast<int>(item.as_int64()));
  }
  return ratings;
}

}  // namespace dossier::app
