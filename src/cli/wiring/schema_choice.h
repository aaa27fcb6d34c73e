// Chooses the JSON Schema that a reply must match: from a flag, else from the configuration.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto schema, ChooseSchema({.file = "review.json"}, config, …));
//   if (schema) Say(model::DescribeSchema(schema->schema));
//
// Thread-safety: pure functions, except for the files that they read.

#ifndef DOSSIER_CLI_WIRING_SCHEMA_CHOICE_H_
#define DOSSIER_CLI_WIRING_SCHEMA_CHOICE_H_

#include <optional>
#include <string>

#include "base/cancel.h"
#include "base/result.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "config/config.h"
#include "model/schema/schema_source.h"

namespace dossier::cli {

struct SchemaFlags {
  std::optional<std::string> text;  // --json-schema; "" is no schema, and refused as such
  std::string file;  // --json-schema-file: path or address
};
void AddSchemaFlags(Flags flags, std::string help, SchemaFlags* to);

// Returns nullopt if no schema is requested. A relative file from the flag is looked up in the
// working folder, .dossier and .cllm. Errors: as SchemaSource.
Result<std::optional<model::FoundSchema>> ChooseSchema(const SchemaFlags& flags,
                                                       const config::Config& config,
                                                       const GlobalFlags& global,
                                                       const CancelToken& cancel);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_SCHEMA_CHOICE_H_
