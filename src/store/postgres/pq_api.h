// Loads libpq with dlopen when a shared store is first named: only then does it cost time, and only
// then must it be installed.
//
//   DOSSIER_ASSIGN_OR_RETURN(const PqApi* pq, LoadPq());
//   PGconn* connection = pq->connectdb_params(names, values, /*expand_dbname=*/1);
//
// Only for .cc files of this folder, in a build that found its header (DOSSIER_POSTGRES).
// Thread-safety: LoadPq from any thread; libpq's own rules for the rest. It is never unloaded.

#ifndef DOSSIER_STORE_POSTGRES_PQ_API_H_
#define DOSSIER_STORE_POSTGRES_PQ_API_H_

#include "base/result.h"

#ifdef DOSSIER_POSTGRES
#include <libpq-fe.h>

namespace dossier::store {

// Pointers to the functions in use, named without "PQ".
struct PqApi {
  decltype(&PQconnectdbParams) connectdb_params;
  decltype(&PQconninfoParse) conninfo_parse;
  decltype(&PQconninfoFree) conninfo_free;
  decltype(&PQfreemem) freemem;
  decltype(&PQfinish) finish;
  decltype(&PQstatus) status;
  decltype(&PQhost) host;
  decltype(&PQuser) user;
  decltype(&PQerrorMessage) error_message;
  decltype(&PQsocket) socket;
  decltype(&PQexec) exec;
  decltype(&PQexecParams) exec_params;
  decltype(&PQprepare) prepare;
  decltype(&PQexecPrepared) exec_prepared;
  decltype(&PQresultStatus) result_status;
  decltype(&PQresultErrorField) result_error_field;
  decltype(&PQclear) clear;
  decltype(&PQntuples) ntuples;
  decltype(&PQnfields) nfields;
  decltype(&PQgetvalue) getvalue;
  decltype(&PQgetlength) getlength;
  decltype(&PQgetisnull) getisnull;
  decltype(&PQcmdTuples) cmd_tuples;
  decltype(&PQconsumeInput) consume_input;
  decltype(&PQnotifies) notifies;
  decltype(&PQsetNoticeProcessor) set_notice_processor;
};

// Errors: kUnavailable, naming the package.
Result<const PqApi*> LoadPq();

}  // namespace dossier::store
#endif  // DOSSIER_POSTGRES

#endif  // DOSSIER_STORE_POSTGRES_PQ_API_H_
