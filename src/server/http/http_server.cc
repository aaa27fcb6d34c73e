#include "server/http/http_server.h"

#include <filesystem>
#include <thread>
#include <utility>

#include "base/files/file.h"
#include "server/guarded_listener.h"
#include "server/http/front.h"
#include "server/http/routes.h"
#include "server/queue/store_access.h"
#include "server/queue/worker.h"

namespace dossier::server {
namespace {

namespace fs = std::filesystem;

Result<FrontSetting> SettingOf(const ServeOptions& options, std::string* drawn) {
  FrontSetting setting{.keys = {},
                       .hosts = options.hosts,
                       .origins = options.origins,
                       .max_body = options.max_body,
                       .max_upload = options.max_upload,
                       .work = options.work,
                       .clock = options.workspace.clock};
  // No foreign page has an IP address as its name.
  setting.hosts.push_back(options.address.url().substr(std::string_view("http://").size()));
  const bool local = options.address.is_loopback();
  if (options.auth == ServeOptions::Auth::kNone) {
    if (local) return setting;
    return MakeError(ErrorCode::kRefused,
                     "--no-auth is for addresses of this machine; {} is reached by others: give "
                     "--keys FILE",
                     options.address.host);
  }
  if (!options.keys_file.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(KeyRing ring, KeyRing::Load(options.keys_file));
    setting.keys.emplace(std::move(ring));
    return setting;
  }
  if (!local) {
    return MakeError(ErrorCode::kRefused,
                     "{} is reached by other machines: give --keys FILE (dossier serve keys add "
                     "NAME makes one)",
                     options.address.host);
  }
  *drawn = DrawSecret();
  setting.keys.emplace(KeyRing::Of(*drawn));
  return setting;
}

// Removes uploads left by a killed server. Young ones may belong to another server of this user.
void RemoveLeftUploads(const std::string& folder) {
  constexpr std::chrono::hours kLeft{1};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
    if (!error && age > kLeft) (void)RemoveAll(entry.path().string()).has_value();
  }
}

// The reply at the routes of a server that only queues runs for others.
std::vector<Route> NoAnswers() {
  std::vector<Route> routes;
  for (const char* address : {"/v1/chat/completions", "/v1/responses"}) {
    const auto refuse = [](const std::shared_ptr<Call>& call) {
      call->Fail(503,
                 "this server only queues runs for workers (--max-running 0): POST /api/v1/runs",
                 "answers_nothing");
    };
    routes.push_back({"POST", address, Scope::kRun, refuse, {}});
  }
  return routes;
}

}  // namespace

class HttpServer::Impl {
 public:
  Result<Address> Listen(ServeOptions options) {
    options_ = std::move(options);
    Address address;
    DOSSIER_ASSIGN_OR_RETURN(FrontSetting setting, SettingOf(options_, &address.key));
    if (!options_.local_paths.empty()) options_.workspace.roots = {options_.local_paths};
    DOSSIER_ASSIGN_OR_RETURN(workspace_, Workspace::Open(options_.workspace));
    if (!options_.store.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(store_, StoreAccess::Open(options_.store));
    }
    const bool answers = options_.answers == ServeOptions::Answers::kRequests;
    if (const Status model = answers ? workspace_->CheckModel() : Status(); !model) {
      // A model that was named must work; without any model, the runs can still be viewed. A worker
      // without one would take runs from others.
      if (!options_.workspace.model.model.empty()) return tl::unexpected(model.error());
      if (store_) {
        return MakeError(model.error().code,
                         "no run of the shared store can be answered here: {}; or give "
                         "--max-running 0, so that workers elsewhere answer them",
                         model.error().message);
      }
      address.warning = "no request can be answered yet: " + model.error().message;
    }
    const std::string folder = workspace_->options().data_folder + "/server";
    DOSSIER_RETURN_IF_ERROR(MakeFolders(folder + "/uploads", 0700));
    RemoveLeftUploads(folder + "/uploads");
    // A separate store, as pruning removes from the journal's store what no run needs.
    DOSSIER_ASSIGN_OR_RETURN(bodies_, store::ContentStore::Open(folder + "/bodies"));
    files_.emplace(folder + "/files", *bodies_, options_.workspace.clock);
    files_->Sweep();
    owners_.emplace(folder + "/owners.jsonl");
    front_ = std::make_unique<Front>(std::move(setting));
    const Shared shared{.options = options_,
                        .workspace = *workspace_,
                        .front = *front_,
                        .files = *files_,
                        .owners = *owners_,
                        .ticker = ticker_,
                        .store = store_.get(),
                        .stopping = stopping_.token(),
                        .draining = draining_.token()};
    if (answers) {
      for (auto* make : {ChatRoutes, ResponsesRoutes, FilesRoutes}) front_->Add(make(shared));
    } else {
      front_->Add(NoAnswers());
    }
    for (auto* make : {RunsRoutes, PageRoutes}) front_->Add(make(shared));
    HttpListenerOptions listening = GuardedListener(options_.address);
    listening.max_body = options_.max_body;
    listening.admit = [this](const HttpRequest& head) { return front_->Admit(head); };
    DOSSIER_ASSIGN_OR_RETURN(
        listener_,
        HttpListener::Start(std::move(listening), [this](std::shared_ptr<HttpExchange> exchange) {
          front_->Handle(std::move(exchange));
        }));
    ListenAddress place = options_.address;
    place.port = listener_->port();
    address.url = place.url();
    return address;
  }

  Status Run(const CancelToken& stop, const CancelToken& at_once) {
    CancelSource ends(stop);
    Status worked;
    std::thread worker;
    if (store_ && options_.answers == ServeOptions::Answers::kRequests) {
      worker = std::thread([&] {
        worked = Work();
        if (!worked) ends.Cancel("no run can be taken");
      });
    }
    WaitFor(ends.token());
    draining_.Cancel("the server ends");
    const std::uint64_t id = at_once.OnCancel([this] { stopping_.Cancel("the server ends"); });
    if (!front_->work().Drain(options_.drain)) stopping_.Cancel("the server ends");
    // Interrupted work ends by itself, and tells its client.
    front_->work().Drain(options_.drain);
    at_once.Forget(id);
    if (worker.joinable()) worker.join();
    return worked;
  }

  ~Impl() {
    draining_.Cancel("the server ends");
    stopping_.Cancel("the server ends");
    if (front_) front_->work().Drain(Millis(10'000));
    listener_.reset();
  }

 private:
  // Works until the server drains. Fails only at its start.
  Status Work() {
    DOSSIER_ASSIGN_OR_RETURN(const config::Config* config, workspace_->Config());
    const WorkerOptions options{.store = options_.store,
                                .slots = options_.work.running,
                                .drain = options_.drain,
                                .cache_folder = options_.cache_folder,
                                .cache_bytes = config->store.limit,
                                .version = options_.version,
                                .say = options_.say};
    return RunWorker(options, *workspace_, draining_.token());
  }

  static void WaitFor(const CancelToken& token) {
    while (WaitUnlessCancelled(Millis(3'600'000), token)) {
    }
  }

  ServeOptions options_;
  CancelSource draining_, stopping_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<store::ContentStore> bodies_;  // of files
  std::optional<FileStore> files_;
  std::optional<Owners> owners_;
  Ticker ticker_;
  std::unique_ptr<StoreAccess> store_;
  std::unique_ptr<Front> front_;
  std::unique_ptr<HttpListener> listener_;
};

HttpServer::HttpServer() : impl_(std::make_unique<Impl>()) {}
HttpServer::~HttpServer() = default;
Result<Address> HttpServer::Listen(ServeOptions options) {
  return impl_->Listen(std::move(options));
}
Status HttpServer::Run(const CancelToken& stop, const CancelToken& at_once) {
  return impl_->Run(stop, at_once);
}

}  // namespace dossier::server
