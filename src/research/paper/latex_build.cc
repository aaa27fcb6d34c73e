#include "research/paper/latex_build.h"

#include <charconv>
#include <optional>
#include <span>

#include "base/files/file.h"
#include "base/text/text.h"
#include "research/files/cuts.h"
#include "research/files/phase_files.h"
#include "research/files/run_folder.h"
#include "research/node/workspace_command.h"

namespace dossier::research {
namespace {

constexpr std::string_view kLatexWorker = "paper";
constexpr std::uint64_t kMaxPdf = 256ull << 20;  // bytes
constexpr std::size_t kErrorLinesShown = 40;

// Folders of a TeX installation outside /usr, as on Debian: formats, font maps, settings.
constexpr std::string_view kTexFolders[] = {"/var/lib/texmf", "/etc/texmf", "/usr/share/texmf",
                                            "/usr/share/texlive"};

// A program that makes paper.pdf from paper.tex, and what it needs.
struct LatexTool {
  std::string_view program;
  std::string_view command;
};
#define DOSSIER_PDFLATEX "pdflatex -no-shell-escape -interaction=nonstopmode -halt-on-error paper"
constexpr LatexTool kTools[] = {
    {"latexmk",
     "latexmk -norc -pdf -interaction=nonstopmode -halt-on-error -latexoption=-no-shell-escape "
     "paper.tex"},
    {"pdflatex",
     DOSSIER_PDFLATEX "; if command -v bibtex >/dev/null; then bibtex paper; fi; " DOSSIER_PDFLATEX
                      " && " DOSSIER_PDFLATEX},
    {"tectonic", "tectonic --untrusted --keep-logs paper.tex"},
};
#undef DOSSIER_PDFLATEX

WorkspacePlace PlaceOf(const Services& services) {
  WorkspacePlace place{
      .worker = std::string(kLatexWorker),
      .workspace = fmt::format("{}/{}/latex", services.run_folder, run_files::Worker(kLatexWorker)),
      // With these, TeX itself accesses no file above its folder, and runs no program.
      .environment = {"HOME=/tmp", "TEXMFVAR=/tmp/texmf-var", "openin_any=p", "openout_any=p",
                      "shell_escape=f"},
      .network = NetworkPolicy::kNever};
  const std::string& backend = services.config->exec.backend;
  if (backend != "local" && backend != "slurm-plain") return place;  // an image has its own
  for (const std::string_view folder : kTexFolders) {
    const std::string path(folder);
    if (Exists(path)) place.binds.push_back({.host = path, .mount = path});
  }
  return place;
}

Status WriteSources(const Services& services, const LatexSources& sources,
                    const std::string& folder) {
  DOSSIER_RETURN_IF_ERROR(RemoveAll(folder));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder + "/figures"));
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(folder + "/paper.tex", sources.tex));
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(folder + "/references.bib", sources.bibtex));
  for (const std::string& name : sources.figures) {
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string bytes,
        ReadFile(fmt::format("{}/{}/{}", services.run_folder, run_files::kFigures, name)));
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(fmt::format("{}/figures/{}", folder, name), bytes));
  }
  return {};
}

Result<const LatexTool*> FindTool(const Services& services, const WorkspacePlace& place,
                                  const CancelToken& cancel) {
  std::string command;
  for (const LatexTool& tool : kTools) {
    command += fmt::format("command -v {} >/dev/null && echo {}; ", tool.program, tool.program);
  }
  DOSSIER_ASSIGN_OR_RETURN(
      const ExecResult found,
      RunInWorkspace(services, place, {.command = command + "true", .time_limit = kLatexTime},
                     cancel));
  const std::vector<std::string_view> names = Split(found.out, '\n');
  for (const LatexTool& tool : kTools) {
    if (std::ranges::find(names, tool.program) != names.end()) return &tool;
  }
  return nullptr;
}

bool IsErrorLine(std::string_view line) {
  for (const std::string_view part :
       {"! ", "LaTeX Error", "undefined", "Emergency stop", "not found", "Overfull \\hbox"}) {
    if (line.find(part) != std::string_view::npos) return true;
  }
  return line.starts_with("l.");
}

}  // namespace

std::string LatexErrors(std::string_view log, std::size_t lines) {
  std::string found;
  for (const std::string_view line : Split(log, '\n')) {
    if (IsErrorLine(line)) found += fmt::format("{}\n", line);
  }
  return CutTail(found, {.lines = lines, .characters = 4'000});
}

int LatexPages(std::string_view log) {
  constexpr std::string_view kWritten = "Output written on ";
  const std::size_t at = log.rfind(kWritten);
  if (at == std::string_view::npos) return 0;
  // TeX breaks lines of its log anywhere.
  const std::string line = ReplaceAll(log.substr(at, 200), "\n", "");
  const std::size_t open = line.find('(');
  int pages = 0;
  if (open == std::string::npos) return 0;
  std::from_chars(line.data() + open + 1, line.data() + line.size(), pages);
  return pages;
}

Result<LatexBuild> BuildLatex(const Services& services, const LatexSources& sources,
                              const CancelToken& cancel) {
  const WorkspacePlace place = PlaceOf(services);
  DOSSIER_RETURN_IF_ERROR(WriteSources(services, sources, place.workspace));
  DOSSIER_ASSIGN_OR_RETURN(const LatexTool* const tool, FindTool(services, place, cancel));
  LatexBuild built;
  if (tool == nullptr) {
    built.message =
        "no PDF: none of latexmk, pdflatex and tectonic is installed where commands run; "
        "paper/paper.tex can be compiled elsewhere";
    return built;
  }
  DOSSIER_ASSIGN_OR_RETURN(
      const ExecResult result,
      RunInWorkspace(services, place,
                     {.command = std::string(tool->command), .time_limit = kLatexTime}, cancel));
  const auto log = ReadWorkspaceFile(place.workspace, "paper.log", kMaxPdf);
  auto pdf = ReadWorkspaceFile(place.workspace, "paper.pdf", kMaxPdf);
  if (result.status != 0 || !pdf || !pdf->starts_with("%PDF-")) {
    built.state = LatexBuild::State::kFailed;
    std::string errors = LatexErrors(log ? *log : result.out, kErrorLinesShown);
    if (errors.empty()) errors = CutTail(result.out + result.err, kCommandSummary);
    built.message = fmt::format("no PDF: {} {}\n{}", tool->program,
                                result.timed_out ? "took more than 180 s" : "failed", errors);
    return built;
  }
  built.state = LatexBuild::State::kBuilt;
  built.pdf = *std::move(pdf);
  if (log) {
    built.pages = LatexPages(*log);
    built.message = LatexErrors(*log, kErrorLinesShown);
  }
  return built;
}

}  // namespace dossier::research
