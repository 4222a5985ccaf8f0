"""Every exact experiment, run twice and compared with itself, is the same in every row: a difference
is one of the code, and no number of repetitions decides it. ASSAY: the program.
"""
import json
import os
import subprocess
import sys
import tempfile

program = os.environ.get("ASSAY", "build/cpu/bin/assay")

with tempfile.TemporaryDirectory() as folder:
    database = os.path.join(folder, "twice.db")

    def assay(*arguments):
        return subprocess.run([program, *arguments, "--db", database], capture_output=True, text=True,
                              env={**os.environ, "XDG_DATA_HOME": folder})

    for _ in range(2):
        ran = assay("run", "all", "--profile", "toy", "--mode", "exact", "--rounds", "1", "--no-doctor")
        if ran.returncode != 0:
            sys.exit(f"assay run: exit code {ran.returncode}\n{ran.stderr}")
    rows = json.loads(assay("compare", "latest~1", "latest", "--json").stdout)

different = [f"{row['name']}: {row['reason']}" for row in rows if not row["reason"].startswith("identical")]
print("\n".join(different[:20]))
print(f"{len(rows)} rows, {len(different)} of them not the same")
sys.exit(1 if different or not rows else 0)
