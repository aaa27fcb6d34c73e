#include "cli/tree/examples.h"

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
    {"research",
     "dossier research run idea.md --max-cost 5\n"
     "    a folder with programs, measurements, figures and a report\n"
     "dossier research status --watch\n"
     "    where it stands, and what it waits for\n"
     "dossier research resume\n"
     "    go on after Ctrl-C or a power cut: no reply is paid for twice"},
    {"research run",
     "dossier research run idea.md --stages 1 --set agent.stages.stage1_max_iters=6\n"
     "    the first stage alone, six programs at most\n"
     "dossier research run idea.md --model code=openai/gpt-5 --model feedback=local\n"
     "    a model for each role\n"
     "dossier research run idea.md --dry-run\n"
     "    the first prompt, and where its tokens went"},
    {"research status",
     "dossier research status 2026-01-28\n"
     "    of the run whose folder begins so"},
    {"research resume",
     "dossier research resume --max-cost 10\n"
     "    with a higher limit"},
    {"research tree",
     "dossier research tree --format html > tree.html\n"
     "    nodes, prompts and figures as one page"},
    {"research report",
     "dossier research report --format json\n"
     "    for a script"},
    {"research probe",
     "dossier research probe --backend apptainer --image tools.sif\n"
     "    what is in the image"},
    {"research resources",
     "dossier research resources check resources.yaml\n"
     "    all faults at once; exit 15 if there are any"},
    {"research prompts",
     "dossier research prompts 2026-01-28 3f9a --show 0003_draft_a1_r1_prompt\n"
     "    one prompt of one node"},
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
     "dossier runs show last --messages\n"
     "    the newest run with the exact messages sent\n"
     "dossier runs prune --older 30d --dry-run\n"
     "    what would go of older runs"},
    {"models",
     "dossier models list\n"
     "    what can be named with -m\n"
     "dossier models pull\n"
     "    fetch the local model"},
    {"sandbox",
     "dossier sandbox test\n"
     "    what code of a model can and can not do here"},
    {"memory",
     "dossier memory init\n"
     "    makes the store\n"
     "dossier memory set compiler \"icpx, in /opt/intel\" --importance 5\n"
     "    a fact that every prompt shows\n"
     "dossier memory search \"why did the linker fail\"\n"
     "    what was kept about it, best first"},
    {"memory show",
     "dossier memory show --query \"why did the linker fail\" --budget 4000\n"
     "    memory as a prompt would hold it"},
    {"memory get",
     "dossier memory get compiler --at 12\n"
     "    what it was after write 12"},
    {"memory set",
     "dossier memory set queue short --ttl 2h\n"
     "    a fact that holds for two hours\n"
     "make -n | dossier memory set build -\n"
     "    from stdin"},
    {"memory add",
     "dossier memory add \"The linker needs -lfftw3 after -lm\" --tier archival --tag build\n"
     "    a text that is found by search\n"
     "dossier memory add \"Run 12 converged\" --kind result --ref run-12\n"
     "    an event"},
    {"memory load",
     "dossier memory load turns.jsonl\n"
     "    one {\"text\", \"kind\", \"thread\", \"ref\", \"time\", \"tags\"} a line; only text is "
     "needed"},
    {"memory search",
     "dossier memory search \"Where did Ann move?\" --k 5 --explain\n"
     "    with what each score is made of\n"
     "dossier memory search --queries questions.jsonl > hits.jsonl\n"
     "    many at once: {\"id\": \"q1\", \"query\": \"Where did Ann move?\", \"k\": 10} a line"},
    {"memory apply",
     "dossier memory apply reply.txt --payload answer.txt\n"
     "    the <memory_update> block of a model's reply; the rest goes to answer.txt"},
    {"memory fork",
     "dossier memory fork n1 --from root\n"
     "    sees what root knows now, and nothing that is written there later"},
    {"memory history",
     "dossier memory history --key compiler\n"
     "    what the fact was, and who changed it"},
    {"memory revert",
     "dossier memory revert --to 12\n"
     "    back to what stood after write 12; `revert` again undoes it"},
    {"memory export",
     "dossier memory export --all --out memory.jsonl\n"
     "    everything, to be read by `dossier memory import`\n"
     "dossier memory export --format md\n"
     "    one branch, for people"},
    {"memory prune",
     "dossier memory prune --before 5000 -y\n"
     "    what was replaced before write 5000 and is seen by no branch"},
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
