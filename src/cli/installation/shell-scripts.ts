/** Shells for which there is a script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** One of {@link SHELLS}. */
export type Shell = (typeof SHELLS)[number]

/** The line by which `pharos complete` asks a shell for names of files. No completion begins with a tab. */
export const FILES_LINE = '\tfiles'

/** The script that completes `pharos` in a shell. Every script asks the program itself, so that none of them knows a verb. */
export function writeShellScript(shell: Shell): string {
  return SCRIPTS[shell]
}

/*
 * Bash splits words at `:`, `=` and `@` too, and replaces only the last part. So the script splits the line itself, and takes the part that
 * bash keeps from the completions. It avoids what bash 3.2 of macOS lacks.
 */
const BASH = `# Completion of pharos for bash
_pharos() {
  local line="\${COMP_LINE:0:COMP_POINT}" last="\${COMP_WORDS[COMP_CWORD]}" current kept entry value
  local -a words
  read -ra words <<< "$line"
  case "$line" in *[[:space:]]) words+=('') ;; esac
  current="\${words[\${#words[@]}-1]}"
  case "$last" in [:=@]) last='' ;; esac
  kept="\${current%"$last"}"
  COMPREPLY=()
  while IFS= read -r entry; do
    if [ "$entry" = $'\\tfiles' ]; then
      compopt -o filenames 2> /dev/null
      while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$last")
    else
      entry="\${entry%%$'\\t'*}"
      printf -v value '%q' "\${entry#"$kept"}"
      COMPREPLY+=("$value")
    fi
  done < <("\${words[0]}" complete -- "\${words[@]:1}" 2> /dev/null)
}
complete -F _pharos pharos
`

const ZSH = `#compdef pharos
# Completion of pharos for zsh
_pharos() {
  local entry value
  local -a entries
  for entry in "\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    [[ -z "$entry" ]] && continue
    if [[ "$entry" == $'\\tfiles' ]]; then
      _files
    else
      value="\${entry%%$'\\t'*}"
      if [[ "$entry" == *$'\\t'* ]]; then
        entries+=("\${value//:/\\\\:}:\${entry#*$'\\t'}")
      else
        entries+=("\${value//:/\\\\:}")
      fi
    fi
  done
  (( \${#entries} )) && _describe 'pharos' entries
}
if (( ! \${+functions[compdef]} )); then autoload -Uz compinit && compinit; fi
compdef _pharos pharos
`

const FISH = `# Completion of pharos for fish
function __pharos_complete
    set -l words (commandline -opc) (commandline -ct)
    for entry in ($words[1] complete -- $words[2..-1] 2> /dev/null)
        if test "$entry" = \\tfiles
            __fish_complete_path (commandline -ct)
        else
            printf '%s\\n' $entry
        end
    end
end
complete -c pharos -f -a '(__pharos_complete)'
`

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH }
