// /v1/files: what clients upload, list, read and remove.

#include <unistd.h>

#include <utility>

#include "base/files/file.h"
#include "base/random.h"
#include "server/http/openai_reply.h"
#include "server/http/routes.h"

namespace dossier::server {
namespace {

// Each holds a thread for as long as its client reads, so they are kept apart from short requests.
constexpr WorkLimits kDownloads{.running = 64, .waiting = 0};

void Upload(const Shared& shared, const std::shared_ptr<Call>& call) {
  const std::string path = call->request().body_file;
  const auto map = MappedFile::Open(path);
  unlink(path.c_str());  // the mapping keeps the content
  if (!map) return call->Fail(map.error());
  const auto form = ReadForm(map->bytes(), call->request().Header("content-type"));
  if (!form) return call->Fail(form.error());
  const auto file = shared.files.Add(call->key().owner(), *form);
  if (!file) {
    const Error error = ErrorFor(call->key(), file.error());
    const bool full = error.code == ErrorCode::kIo;
    return full ? call->Fail(507, error.message, "no_space") : call->Fail(error);
  }
  call->Reply(200, file->ToJson());
}

void List(const Shared& shared, const std::shared_ptr<Call>& call) {
  JsonArray list;
  for (const StoredFile& file : shared.files.List(call->key().owner()))
    list.push_back(file.ToJson());
  call->Reply(200, JsonObject{{"object", "list"}, {"data", std::move(list)}, {"has_more", false}});
}

void Show(const Shared& shared, const std::shared_ptr<Call>& call) {
  const auto file = shared.files.Find(call->key().owner(), call->part(0));
  file ? call->Reply(200, file->ToJson()) : call->Fail(file.error());
}

void Content(const Shared& shared, const std::shared_ptr<Call>& call) {
  const auto file = shared.files.Find(call->key().owner(), call->part(0));
  if (!file) return call->Fail(file.error());
  const auto map = MappedFile::Open(shared.files.PathOf(*file));
  if (!map) return call->Fail(map.error());
  constexpr std::size_t kPiece = 1u << 18;
  HttpExchange& exchange = *call->exchange();
  // Never served as a page, because it is untrusted content.
  exchange.SendHead(200, call->Answering(200, {{"Content-Type", "application/octet-stream"},
                                               {"Content-Disposition", "attachment"}}));
  for (std::string_view rest = map->bytes(); !rest.empty();
       rest.remove_prefix(std::min(kPiece, rest.size()))) {
    if (!exchange.SendChunk(rest.substr(0, kPiece))) return exchange.Abort();
  }
  exchange.Finish();
}

void Remove(const Shared& shared, const std::shared_ptr<Call>& call) {
  const Status removed = shared.files.Remove(call->key().owner(), call->part(0));
  if (!removed) return call->Fail(removed.error());
  call->Reply(200, JsonObject{{"id", call->part(0)}, {"object", "file"}, {"deleted", true}});
}

}  // namespace

std::vector<Route> FilesRoutes(Shared shared) {
  const auto with = [shared](auto function) {
    return [shared, function](std::shared_ptr<Call> call) {
      call->Later([shared, function, call] { function(shared, call); });
    };
  };
  const auto downloads = std::make_shared<WorkQueue>(kDownloads);
  const auto download = [shared, downloads](const std::shared_ptr<Call>& call) {
    if (!downloads->Submit([shared, call] { Content(shared, call); })) call->FailBusy();
  };
  const std::string uploads = shared.workspace.options().data_folder + "/server/uploads";
  const auto place = [uploads] { return uploads + "/" + RandomHex(24); };
  return {{"POST", "/v1/files", Scope::kRun, with(Upload), place},
          {"GET", "/v1/files", Scope::kRead, with(List), {}},
          {"GET", "/v1/files/{id}", Scope::kRead, with(Show), {}},
          {"DELETE", "/v1/files/{id}", Scope::kRun, with(Remove), {}},
          {"GET", "/v1/files/{id}/content", Scope::kRead, download, {}}};
}

}  // namespace dossier::server
