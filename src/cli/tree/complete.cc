#include "cli/tree/complete.h"

#include <algorithm>
#include <utility>

#include "base/text/text.h"

namespace dossier::cli {
namespace {

// The position of a line of words in the command tree.
struct Place {
  const CommandNode* command;
  const Flag* value_of = nullptr;  // the next word is its value
  std::size_t arguments = 0;       // given so far
  bool flags_ended = false;
};

Place Walk(const CommandNode& root, const std::vector<std::string>& words) {
  Place place{.command = &root};
  for (const std::string& word : words) {
    if (place.value_of) {
      place.value_of = nullptr;
      continue;
    }
    if (!place.flags_ended && word == "--") {
      place.flags_ended = true;
    } else if (!place.flags_ended && word.size() > 1 && word[0] == '-') {
      const Flag* flag = place.command->FindFlag(word.substr(0, word.find('=')));
      const bool whole = word.find('=') != std::string::npos;
      if (flag && !flag->IsSwitch() && !whole) place.value_of = flag;
    } else if (const CommandNode* below = place.command->Find({&word, 1});
               below && !place.flags_ended && place.arguments == 0) {
      place.command = below;
    } else {
      ++place.arguments;
    }
  }
  return place;
}

class Completer {
 public:
  Completer(std::string prefix, const CompletionContext& context)
      : prefix_(std::move(prefix)), context_(context) {}

  void AddValues(const Flag& flag, const std::string& before) {
    for (const std::string& word : flag.choices()) Add(before + word, "");
    const ValueKind& kind = flag.kind();
    if (kind.offers) {
      for (const Completion& offer : kind.offers(context_)) Add(before + offer.word, offer.about);
    }
    if (kind.files != ValueKind::Files::kNone) found_.files = kind.files;
  }

  void AddFlags(const CommandNode& command) {
    for (const CommandNode* node = &command; node; node = node->above()) {
      for (const Flag* flag : node->Options()) {
        for (const std::string& name : flag->long_names()) Add("--" + name, flag->help());
        for (const std::string& name : flag->short_names()) Add("-" + name, flag->help());
      }
    }
    // The twins are many: they are shown only on request.
    if (!prefix_.starts_with("--no-")) return;
    for (const std::string& name : command.FlagNames()) Add(name, "");
  }

  void AddCommands(const CommandNode& command) {
    for (const CommandNode* below : command.Commands()) {
      Add(std::string(below->name()), std::string(below->summary()));
    }
  }

  Completions Take() {
    auto& words = found_.words;
    std::stable_sort(words.begin(), words.end(),
                     [](const auto& a, const auto& b) { return a.word < b.word; });
    words.erase(std::unique(words.begin(), words.end(),
                            [](const auto& a, const auto& b) { return a.word == b.word; }),
                words.end());
    return std::move(found_);
  }

 private:
  void Add(const std::string& word, const std::string& about) {
    if (word.starts_with(prefix_)) found_.words.push_back({word, about});
  }

  std::string prefix_;
  const CompletionContext& context_;
  Completions found_;
};

const Flag* ArgumentAt(const CommandNode& command, std::size_t index) {
  const auto arguments = command.Arguments();
  if (arguments.empty()) return nullptr;
  return arguments[std::min(index, arguments.size() - 1)];
}

// `__complete` prints one line per word: WORD, TAB, ABOUT; a final line ":files" or ":folders"
// leaves the rest to the shell.

// bash splits words at '=' and ':'; the script joins them again, and returns only the part of each
// answer after the last such character.
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
  else  # whoever made up a name, it is no command; what names files bash quotes
    for i in "${!COMPREPLY[@]}"; do printf -v "COMPREPLY[i]" %q "${COMPREPLY[i]}"; done
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

Completions Complete(const CompletionContext& context, std::vector<std::string> words) {
  if (words.empty()) words.emplace_back();
  const std::string last = words.back();
  words.pop_back();
  const Place place = Walk(context.root, words);
  Completer completer(last, context);
  const auto equals = last.find('=');
  if (place.value_of) {
    completer.AddValues(*place.value_of, "");
  } else if (!place.flags_ended && last.starts_with("--") && equals != std::string::npos) {
    const Flag* flag = place.command->FindFlag(last.substr(0, equals));
    if (flag && !flag->IsSwitch()) completer.AddValues(*flag, last.substr(0, equals + 1));
  } else if (!place.flags_ended && last.starts_with('-')) {
    completer.AddFlags(*place.command);
  } else {
    if (place.arguments == 0 && !place.flags_ended) completer.AddCommands(*place.command);
    if (const Flag* argument = ArgumentAt(*place.command, place.arguments)) {
      completer.AddValues(*argument, "");
    }
  }
  return completer.Take();
}

std::optional<std::string_view> CompletionScript(std::string_view shell) {
  constexpr std::pair<std::string_view, std::string_view> kScripts[] = {
      {"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};
  for (const auto& [name, script] : kScripts) {
    if (name == shell) return script;
  }
  return std::nullopt;
}

}  // namespace dossier::cli
