// Declares the functions behind the table of operations, grouped by source file.
//
// Their arguments have been checked against the schema. Only for operations.cc.
//
// Thread-safety: called from any thread; the objects they work on have their own rules.

#ifndef DOSSIER_SERVER_OPERATION_LIST_H_
#define DOSSIER_SERVER_OPERATION_LIST_H_

#include "server/operations.h"

namespace dossier::server {

// context_operations.cc
Result<Output> OpenContextOperation(Workspace&, const JsonObject&, const CallScope&);
Result<Output> DescribeOperation(Workspace&, const JsonObject&, const CallScope&);
Result<Output> SearchOperation(Workspace&, const JsonObject&, const CallScope&);
Result<Output> ReadOperation(Workspace&, const JsonObject&, const CallScope&);
// work_operations.cc
Result<Output> RunOperation(Workspace&, const JsonObject&, const CallScope&);
Result<Output> AskOperation(Workspace&, const JsonObject&, const CallScope&);
Result<Output> EstimateOperation(Workspace&, const JsonObject&, const CallScope&);
Result<Output> PackOperation(Workspace&, const JsonObject&, const CallScope&);
Result<Output> RememberOperation(Workspace&, const JsonObject&, const CallScope&);
Result<Output> RecallOperation(Workspace&, const JsonObject&, const CallScope&);

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_OPERATION_LIST_H_
