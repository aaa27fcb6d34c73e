#include "cli/examples.h"

#include <utility>

namespace dossier::cli {
namespace {

constexpr std::pair<std::string_view, std::string_view> kExamples[] = {
    {"",
     "dossier ask -c server.log \"Which request failed first?\"\n"
     "    a question over a file of any size; without a key a local model answers\n"
     "dossier inspect data.csv\n"
     "    what a model would be told about the file\n"
     "dossier doctor\n"
     "    what works on this machine"},
    {"ask",
     "dossier ask -c server.log \"Which request failed first?\"\n"
     "    one file\n"
     "git diff | dossier ask -c - \"Does this change the file format?\"\n"
     "    stdin as the context\n"
     "dossier ask -r -c src -m openai/gpt-5-mini --max-cost 0.20 \"Where are locks taken?\"\n"
     "    a folder, a model, a limit"},
    {"chat",
     "git diff | dossier chat \"review this\"\n"
     "    one turn, nothing is kept\n"
     "dossier chat --conversation bug-12 --exec \"make -n\" \"why does the build fail?\"\n"
     "    a conversation: the command runs once, its output is frozen\n"
     "dossier chat -c \"and how do I test the fix?\"\n"
     "    the next turn of the conversation used last"},
    {"agents",
     "dossier agents run --workers 4\n"
     "    work the queue: each task is reviewed and merged as one commit, or not at all\n"
     "dossier agents prompt --targets src --dry-run -- add a --json flag\n"
     "    one change: patch and verdict, nothing is merged\n"
     "dossier agents resume\n"
     "    go on after Ctrl-C or a power cut"},
    {"inspect",
     "dossier inspect data.csv\n"
     "    format, size, fields, a sample\n"
     "dossier inspect --hint records.ndjson\n"
     "    the text that a model would get"},
    {"pack",
     "dossier pack --budget 60000 src\n"
     "    a folder as text for a model"},
    {"header",
     "dossier header --task fact-001\n"
     "    branch, queue, fresh notes, the task's targets, rules, next work\n"
     "dossier header --format markdown --with dirty,commits\n"
     "    for people, with more of the repository"},
    {"tokens",
     "dossier tokens README.md\n"
     "    how many tokens a file is\n"
     "dossier tokens --fail-over 60000 src\n"
     "    a gate for scripts: exit 9 above"},
    {"runs",
     "dossier runs list\n"
     "    what was asked before\n"
     "dossier runs show 3f2a --messages\n"
     "    one run with the exact messages sent"},
    {"models",
     "dossier models list\n"
     "    what can be named with -m\n"
     "dossier models pull\n"
     "    fetch the local model"},
    {"sandbox",
     "dossier sandbox test\n"
     "    what code of a model can and can not do here"},
    {"doctor",
     "dossier doctor\n"
     "    what works on this machine, and what would help"},
    {"assemble",
     "dossier assemble worked --source notes=@notes.txt --explain\n"
     "    one prompt from a layout, and where its tokens went"},
    {"prompts",
     "dossier prompts check\n"
     "    every layout and template in force, checked"},
    {"config",
     "dossier config show --origin\n"
     "    what holds here, and which file says so\n"
     "dossier config set model openai/gpt-5-mini --global\n"
     "    change your own file\n"
     "dossier config init\n"
     "    a commented file for this project"},
    {"trust",
     "dossier trust\n"
     "    approve the configuration of this project, after reading it\n"
     "dossier trust --list\n"
     "    what is approved"},
    {"completion",
     "dossier completion bash > ~/.local/share/bash-completion/completions/dossier\n"
     "dossier completion zsh > \"${fpath[1]}/_dossier\"\n"
     "dossier completion fish > ~/.config/fish/completions/dossier.fish"},
    {"man",
     "dossier man | man -l -\n"
     "    the manual page of the program\n"
     "dossier man ask | man -l -\n"
     "    of one command"},
};

}  // namespace

std::string_view ExamplesOf(std::string_view command) {
  for (const auto& [name, text] : kExamples) {
    if (name == command) return text;
  }
  return "";
}

}  // namespace dossier::cli
