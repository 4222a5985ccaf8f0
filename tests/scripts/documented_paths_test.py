#!/usr/bin/env python3
"""Every source file that a page of the project or a comment names is there: with a folder from the
root, from the file that names it or the folders around it, or from suite/, impls/ and kernels/; alone
anywhere."""
import os
import re
import sys

NAMED = re.compile(r"(?<![\w/.<$}*])((?:[\w.-]+/)*[\w-]+\.(?:cpp|hpp|cu|cuh))\b")
PROJECTS = {"ik_llama.cpp", "llama.cpp"}  # of others, called like files
LOOKED_AT = (".md", ".cpp", ".hpp", ".cu", ".cuh", ".h", ".toml", "CMakeLists.txt")


def files():
    for top in ("datasets", "gui", "impls", "kernels", "results", "scripts", "suite", "tests"):
        for folder, _, names in os.walk(top):
            yield from (os.path.join(folder, name) for name in names if name.endswith(LOOKED_AT))
    yield "README.md"


sources = {os.path.basename(file) for file in files()}


def is_there(named, where):
    if "/" not in named:
        return named in sources or "NAME" in named or named in PROJECTS
    roots = ["", "suite", "impls", "kernels", "impls/lazarus", "impls/lte"]
    folder = os.path.dirname(where)
    while folder:
        roots.append(folder)
        folder = os.path.dirname(folder)
    return any(os.path.exists(os.path.join(root, named)) for root in roots)


missing = []
for file in files():
    with open(file, encoding="utf-8", errors="replace") as text:
        for number, line in enumerate(text, 1):
            if line.lstrip().startswith("#include <") or "BINARY_DIR" in line:
                continue
            for named in NAMED.findall(line):
                # In sources a bare name may be anything; in a page it is a file.
                if ("/" in named or file.endswith(".md")) and not is_there(named, file):
                    missing.append(f"{file}:{number}: there is no {named}")
print("\n".join(missing) or "every named file is there")
sys.exit(bool(missing))
