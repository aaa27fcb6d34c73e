#include "store/postgres/pq_api.h"

#ifdef DOSSIER_POSTGRES
#include <dlfcn.h>

namespace dossier::store {
namespace {

template <typename Function>
void FindPq(void* library, const char* name, Function& out, const char*& missing) {
  out = reinterpret_cast<Function>(dlsym(library, name));
  if (!out && !missing) missing = name;
}

Result<PqApi> OpenPq() {
  void* library = dlopen("libpq.so.5", RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    return MakeError(ErrorCode::kUnavailable,
                     "libpq.so.5 cannot be loaded ({}); install the package libpq5", dlerror());
  }
  PqApi api{};
  const char* missing = nullptr;
  FindPq(library, "PQconnectdbParams", api.connectdb_params, missing);
  FindPq(library, "PQconninfoParse", api.conninfo_parse, missing);
  FindPq(library, "PQconninfoFree", api.conninfo_free, missing);
  FindPq(library, "PQfreemem", api.freemem, missing);
  FindPq(library, "PQfinish", api.finish, missing);
  FindPq(library, "PQstatus", api.status, missing);
  FindPq(library, "PQhost", api.host, missing);
  FindPq(library, "PQerrorMessage", api.error_message, missing);
  FindPq(library, "PQsocket", api.socket, missing);
  FindPq(library, "PQexec", api.exec, missing);
  FindPq(library, "PQexecParams", api.exec_params, missing);
  FindPq(library, "PQprepare", api.prepare, missing);
  FindPq(library, "PQexecPrepared", api.exec_prepared, missing);
  FindPq(library, "PQresultStatus", api.result_status, missing);
  FindPq(library, "PQresultErrorField", api.result_error_field, missing);
  FindPq(library, "PQresultErrorMessage", api.result_error_message, missing);
  FindPq(library, "PQclear", api.clear, missing);
  FindPq(library, "PQntuples", api.ntuples, missing);
  FindPq(library, "PQnfields", api.nfields, missing);
  FindPq(library, "PQgetvalue", api.getvalue, missing);
  FindPq(library, "PQgetlength", api.getlength, missing);
  FindPq(library, "PQgetisnull", api.getisnull, missing);
  FindPq(library, "PQcmdTuples", api.cmd_tuples, missing);
  FindPq(library, "PQconsumeInput", api.consume_input, missing);
  FindPq(library, "PQnotifies", api.notifies, missing);
  FindPq(library, "PQsetNoticeProcessor", api.set_notice_processor, missing);
  if (missing) {
    return MakeError(ErrorCode::kUnavailable,
                     "libpq.so.5 has no {}; version 15 or newer is needed (package libpq5)",
                     missing);
  }
  return api;
}

}  // namespace

Result<const PqApi*> LoadPq() {
  static const Result<PqApi> api = OpenPq();
  if (!api) return tl::unexpected(api.error());
  return &*api;
}

}  // namespace dossier::store
#endif  // DOSSIER_POSTGRES
