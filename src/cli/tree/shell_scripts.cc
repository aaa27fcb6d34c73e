#include "cli/tree/shell_scripts.h"

#include <utility>

namespace dossier::cli {
namespace {

// `__complete` prints WORD, TAB, ABOUT a line; a line ":files" or ":folders" at the end leaves the
// rest to the shell.

// bash parts words at '=' and ':'; the words are put together again, and of the answers only what
// stands behind the last such character is handed back.
constexpr std::string_view kBash = R"script(# bash completion of dossier
_dossier() {
  local line=${COMP_LINE:0:COMP_POINT} words=() word current answer files=""
  local i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ ${#words[@]} -gt 0 && ($word == [=:]* || ${COMP_WORDS[i-1]} == *[=:]) &&
          $line == *"${words[-1]}$word"* ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
  done
  current=${words[-1]}
  COMPREPLY=()
  while IFS=$'\t' read -r answer _; do
    case $answer in
      :files) files=-f ;;
      :folders) files=-d ;;
      ?*) COMPREPLY+=("$answer") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete -- "${words[@]}" 2>/dev/null)
  local cut=${current%"${current##*[=:]}"}
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    local part=$current
    [[ $current == --*=* ]] && part=${current#*=}
    while IFS= read -r answer; do COMPREPLY+=("$answer"); done < <(compgen $files -- "$part")
    [[ $current == --*=* ]] && return
  fi
  [[ -n $cut ]] && COMPREPLY=("${COMPREPLY[@]#"$cut"}")
}
complete -F _dossier dossier
)script";

constexpr std::string_view kZsh = R"script(#compdef dossier
_dossier() {
  local -a described
  local answer about files=""
  while IFS=$'\t' read -r answer about; do
    case $answer in
      :files) files=files ;;
      :folders) files=folders ;;
      ?*) described+=("${answer//:/\\:}${about:+:$about}") ;;
    esac
  done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( ${#described} )) && _describe -V dossier described
  [[ $files == files ]] && _files
  [[ $files == folders ]] && _files -/
  return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _dossier "$@"
else
  compdef _dossier dossier
fi
)script";

constexpr std::string_view kFish = R"script(# fish completion of dossier
function __dossier_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    for answer in ($program __complete -- $words "$current" 2>/dev/null)
        switch $answer
            case ':files'
                __fish_complete_path "$current"
            case ':folders'
                __fish_complete_directories "$current"
            case '*'
                echo $answer
        end
    end
end
complete -c dossier -f -a '(__dossier_complete)'
)script";

}  // namespace

std::optional<std::string_view> CompletionScript(std::string_view shell) {
  constexpr std::pair<std::string_view, std::string_view> kScripts[] = {
      {"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};
  for (const auto& [name, script] : kScripts) {
    if (name == shell) return script;
  }
  return std::nullopt;
}

}  // namespace dossier::cli
