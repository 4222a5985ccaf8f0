# fish: commands, options and experiments of assay, which says itself what may follow; else files.
function __assay_complete
    set -l candidates (assay complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if set -q candidates[1]
        printf '%s\n' $candidates
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c assay -f -a '(__assay_complete)'
