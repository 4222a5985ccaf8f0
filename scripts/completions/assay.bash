# bash: commands, options and experiments of assay, which says itself what may follow; else files.
_assay() {
    mapfile -t COMPREPLY < <("${COMP_WORDS[0]/#\~/$HOME}" complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _assay assay
