// The pool behind session.h: one zygote for all sessions.

#include <unistd.h>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/process/build_info.h"
#include "base/text/text.h"
#include "sandbox/session/host_session.h"
#include "sandbox/session/worker_build.h"

namespace dossier::sandbox {
namespace {

constexpr char kWorkerName[] = "dossier-python-worker";

class HostPool final : public Pool {
 public:
  explicit HostPool(std::shared_ptr<ZygoteSource> zygotes) : zygotes_(std::move(zygotes)) {}

  void Prepare() override { zygotes_->Prepare(); }

  Result<std::unique_ptr<Session>> Open(SessionSpec spec, const CancelToken& cancel) override {
    return HostSession::Open(zygotes_, std::move(spec), cancel);
  }

 private:
  std::shared_ptr<ZygoteSource> zygotes_;
};

// Beside the program of this installation, or in its libexec folder; never through PATH.
Result<std::string> FindWorker(const std::string& given) {
  if (!given.empty()) {
    if (Exists(given)) return given;
    return MakeError(ErrorCode::kUnavailable, "the sandbox worker {} is not there", given);
  }
  if (auto beside = FindInstalled(kWorkerName)) return std::move(*beside);
  if (auto installed = FindInstalled(fmt::format("../libexec/dossier/{}", kWorkerName))) {
    return std::move(*installed);
  }
  std::vector<std::string> places;
  for (const std::string& folder : InstalledProgramFolders()) {
    places.push_back(fmt::format("{}/{}", folder, kWorkerName));
    places.push_back(fmt::format("{}/../libexec/dossier/{}", folder, kWorkerName));
  }
  return MakeError(ErrorCode::kUnavailable, "the sandbox worker is missing: it is at none of {}",
                   Join(places, ", "));
}

}  // namespace

Result<std::string> WorkerBuild(const PoolOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, FindWorker(options.worker_path));
  return BuildIdOf(path);
}

Result<std::unique_ptr<Pool>> Pool::Make(PoolOptions options) {
  DOSSIER_ASSIGN_OR_RETURN(std::string path, FindWorker(options.worker_path));
  IsolationOptions isolation;
  isolation.mode = options.mode;
  isolation.read_folders = std::move(options.read_folders);
  isolation.disabled_layers = std::move(options.disabled_layers);
  auto zygotes = std::make_shared<ZygoteSource>(std::move(path), std::move(isolation));
  return std::make_unique<HostPool>(std::move(zygotes));
}

}  // namespace dossier::sandbox
