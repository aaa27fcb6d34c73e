#include "inspect/description/names.h"

#include "base/text/text.h"

namespace dossier::inspect {
namespace {

struct ExtensionRow {
  std::string_view extension;
  Format format;
  std::string_view detail;  // flavour of JSON, language of source code
};

constexpr ExtensionRow kExtensions[] = {
    {".ndjson", Format::kNdjson, ""},
    {".jsonl", Format::kNdjson, ""},
    {".json", Format::kJson, ""},
    {".geojson", Format::kJson, "geojson"},
    {".ipynb", Format::kJson, "notebook"},
    {".csv", Format::kCsv, ""},
    {".tsv", Format::kTsv, ""},
    {".tab", Format::kTsv, ""},
    {".txt", Format::kPlainText, ""},
    {".text", Format::kPlainText, ""},
    {".md", Format::kMarkdown, ""},
    {".markdown", Format::kMarkdown, ""},
    {".xml", Format::kXml, ""},
    {".html", Format::kHtml, ""},
    {".htm", Format::kHtml, ""},
    {".yaml", Format::kYaml, ""},
    {".yml", Format::kYaml, ""},
    {".toml", Format::kToml, ""},
    {".ini", Format::kIni, ""},
    {".cfg", Format::kIni, ""},
    {".log", Format::kLog, ""},
    {".diff", Format::kDiff, ""},
    {".patch", Format::kDiff, ""},
    {".eml", Format::kMail, ""},
    {".mbox", Format::kMail, ""},
    {".jsonc", Format::kJsonc, ""},
    {".json5", Format::kJsonc, ""},
    {".json-seq", Format::kJsonSeq, ""},
    {".ada", Format::kSource, "Ada"},
    {".adb", Format::kSource, "Ada"},
    {".asm", Format::kSource, "Assembly"},
    {".awk", Format::kSource, "Awk"},
    {".bash", Format::kSource, "Shell"},
    {".bat", Format::kSource, "Batch"},
    {".c", Format::kSource, "C"},
    {".cc", Format::kSource, "C++"},
    {".cjs", Format::kSource, "JavaScript"},
    {".clj", Format::kSource, "Clojure"},
    {".cmake", Format::kSource, "CMake"},
    {".cpp", Format::kSource, "C++"},
    {".cs", Format::kSource, "C#"},
    {".css", Format::kSource, "CSS"},
    {".cu", Format::kSource, "CUDA"},
    {".cxx", Format::kSource, "C++"},
    {".dart", Format::kSource, "Dart"},
    {".el", Format::kSource, "Emacs Lisp"},
    {".erl", Format::kSource, "Erlang"},
    {".ex", Format::kSource, "Elixir"},
    {".exs", Format::kSource, "Elixir"},
    {".f", Format::kSource, "Fortran"},
    {".f90", Format::kSource, "Fortran"},
    {".fish", Format::kSource, "Fish"},
    {".fs", Format::kSource, "F#"},
    {".go", Format::kSource, "Go"},
    {".gradle", Format::kSource, "Gradle"},
    {".graphql", Format::kSource, "GraphQL"},
    {".groovy", Format::kSource, "Groovy"},
    {".h", Format::kSource, "C"},
    {".hh", Format::kSource, "C++"},
    {".hpp", Format::kSource, "C++"},
    {".hs", Format::kSource, "Haskell"},
    {".hxx", Format::kSource, "C++"},
    {".java", Format::kSource, "Java"},
    {".jl", Format::kSource, "Julia"},
    {".js", Format::kSource, "JavaScript"},
    {".jsx", Format::kSource, "JavaScript"},
    {".kt", Format::kSource, "Kotlin"},
    {".less", Format::kSource, "Less"},
    {".lisp", Format::kSource, "Lisp"},
    {".lua", Format::kSource, "Lua"},
    {".m", Format::kSource, "MATLAB or Objective-C"},
    {".mjs", Format::kSource, "JavaScript"},
    {".ml", Format::kSource, "OCaml"},
    {".mli", Format::kSource, "OCaml"},
    {".nim", Format::kSource, "Nim"},
    {".php", Format::kSource, "PHP"},
    {".pl", Format::kSource, "Perl"},
    {".pm", Format::kSource, "Perl"},
    {".proto", Format::kSource, "Protocol Buffers"},
    {".ps1", Format::kSource, "PowerShell"},
    {".py", Format::kSource, "Python"},
    {".pyi", Format::kSource, "Python"},
    {".r", Format::kSource, "R"},
    {".rb", Format::kSource, "Ruby"},
    {".rs", Format::kSource, "Rust"},
    {".s", Format::kSource, "Assembly"},
    {".scala", Format::kSource, "Scala"},
    {".scm", Format::kSource, "Scheme"},
    {".scss", Format::kSource, "SCSS"},
    {".sh", Format::kSource, "Shell"},
    {".sql", Format::kSource, "SQL"},
    {".swift", Format::kSource, "Swift"},
    {".tcl", Format::kSource, "Tcl"},
    {".tex", Format::kSource, "TeX"},
    {".tf", Format::kSource, "Terraform"},
    {".ts", Format::kSource, "TypeScript"},
    {".tsx", Format::kSource, "TypeScript"},
    {".v", Format::kSource, "Verilog"},
    {".vb", Format::kSource, "Visual Basic"},
    {".vhd", Format::kSource, "VHDL"},
    {".vue", Format::kSource, "Vue"},
    {".zig", Format::kSource, "Zig"},
    {".zsh", Format::kSource, "Shell"},
};

struct CompressionRow {
  std::string_view suffix, kind;
};

constexpr CompressionRow kCompressions[] = {{".gz", "gzip"},   {".tgz", "gzip"}, {".zst", "zstd"},
                                            {".bz2", "bzip2"}, {".xz", "xz"},    {".lz4", "lz4"}};

struct InterpreterRow {
  std::string_view program, language;
};

constexpr InterpreterRow kInterpreters[] = {
    {"python", "Python"},   {"bash", "Shell"},  {"dash", "Shell"},    {"zsh", "Shell"},
    {"ksh", "Shell"},       {"fish", "Fish"},   {"sh", "Shell"},      {"node", "JavaScript"},
    {"deno", "TypeScript"}, {"perl", "Perl"},   {"ruby", "Ruby"},     {"php", "PHP"},
    {"lua", "Lua"},         {"awk", "Awk"},     {"gawk", "Awk"},      {"tclsh", "Tcl"},
    {"Rscript", "R"},       {"julia", "Julia"}, {"make", "Makefile"}, {"sed", "sed"}};

// A name such as ".gitignore" has no extension.
std::string ExtensionOf(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size()) return "";
  return ToLowerAscii(name.substr(dot));
}

}  // namespace

NameGuess GuessByName(std::string_view path) {
  NameGuess guess;
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  guess.base_name = path.substr(path.rfind('/') + 1);
  std::string_view name = guess.base_name;
  guess.extension = ExtensionOf(name);
  for (const CompressionRow& row : kCompressions) {
    if (guess.extension != row.suffix) continue;
    guess.compression = row.kind;
    name.remove_suffix(row.suffix.size());
    guess.extension = ExtensionOf(name);
    break;
  }
  for (const ExtensionRow& row : kExtensions) {
    if (row.extension != guess.extension) continue;
    guess.format = row.format;
    (row.format == Format::kSource ? guess.language : guess.flavour) = row.detail;
  }
  return guess;
}

std::string LanguageOfShebang(std::string_view first_line) {
  if (!first_line.starts_with("#!")) return "";
  std::string_view line = TrimSpace(first_line.substr(2));
  std::string_view program = line.substr(0, line.find_first_of(" \t"));
  std::string_view rest = TrimSpace(line.substr(program.size()));
  program = program.substr(program.rfind('/') + 1);
  if (program == "env") {
    while (rest.starts_with('-'))
      rest = TrimSpace(rest.substr(std::min(rest.find(' '), rest.size())));
    program = rest.substr(0, rest.find_first_of(" \t"));
  }
  for (const InterpreterRow& row : kInterpreters) {
    const std::string_view version = program.substr(std::min(row.program.size(), program.size()));
    if (program.starts_with(row.program) &&
        version.find_first_not_of("0123456789.") == std::string_view::npos) {
      return std::string(row.language);
    }
  }
  return "";
}

}  // namespace dossier::inspect
