#include "cli/texts/inspect_flags.h"

namespace dossier::cli {

void AddInspectCommand(CLI::App& inspect, InspectArguments* arguments) {
  inspect.add_option("path", arguments->paths, "files, folders, or - for stdin");
  inspect.add_flag("--json", arguments->json, "one object for all inputs");
  inspect.add_flag("--jsonl", arguments->jsonl, "one object a line, as soon as it is ready");
  inspect.add_flag("--hint", arguments->hint, "exactly the text a model would get");
  inspect.add_option("--variable", arguments->variable, "name in the hint")->capture_default_str();
  inspect.add_option("--meta", arguments->meta, "contextMeta for python or javascript");
  inspect.add_option("--name", arguments->name, "name for stdin");
  AddContentFlags(inspect, "", &arguments->content);
  inspect.add_option("--depth", arguments->depth, "object levels in field paths, 0 to 8")
      ->capture_default_str();
  inspect.add_option("--fields", arguments->fields, "fields listed")->capture_default_str();
  inspect.add_option("--sample-records", arguments->sample_records, "records looked at")
      ->capture_default_str();
  inspect.add_option("--sample-chars", arguments->sample_chars, "length of the sample; 0: none")
      ->capture_default_str();
  inspect.add_option("--max-scan", arguments->max_scan, "stop after SIZE bytes of each input");
  inspect.add_option("--threads", arguments->threads, "0: one a core, at most 8")
      ->capture_default_str();
  inspect.add_flag("--hash", arguments->hash, "add the SHA-256 of the bytes");
  inspect.add_flag("--hidden", arguments->hidden, "folders: hidden files too");
  inspect.add_flag("--no-ignore", arguments->no_ignore, "folders: files that git ignores too");
  inspect.add_flag("--follow", arguments->follow, "folders: symbolic links, once each");
  inspect.add_option("--max-files", arguments->max_files, "folders: stop after so many")
      ->capture_default_str();
  inspect.add_flag("--strict", arguments->strict,
                   "exit 15 when anything is malformed, inexact or unknown");
}

}  // namespace dossier::cli
