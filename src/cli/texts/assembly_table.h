// Prints an assembly report as a table for people.
//
//   out << ReportTable(prompt.report);
//
// Thread-safety: pure function.

#ifndef DOSSIER_CLI_TEXTS_ASSEMBLY_TABLE_H_
#define DOSSIER_CLI_TEXTS_ASSEMBLY_TABLE_H_

#include <string>

#include "base/json/json.h"

namespace dossier::cli {

// One line per section, then budget, cache, repairs and warnings. `report` has the schema
// dossier.assembly/1; names are made safe for a terminal.
std::string ReportTable(const Json& report);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TEXTS_ASSEMBLY_TABLE_H_
