"""The examples of results/README.md give rows of the published set; pandas: where it is installed."""
import contextlib
import io
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

with open("results/README.md", encoding="utf-8") as page:
    text = page.read()
queries = re.findall(r'sqlite3 (?:-box )?results\.db "(.*?)"', text, re.S)
[frame] = [code for code in re.findall(r"```python\n(.*?)```", text, re.S) if "pandas" in code]

with tempfile.TemporaryDirectory() as folder:
    database = os.path.join(folder, "results.db")
    shutil.copy("results/published.db", database)
    with contextlib.closing(sqlite3.connect(database)) as db:
        assert len(queries) == 2, queries
        assert db.execute(queries[0]).fetchall()
        medians = db.execute(queries[1]).fetchall()
        groups = [(experts, nodes) for experts, nodes, *_ in medians]
        assert len(medians) > 3 and len(set(groups)) == len(groups), medians
        for experts, nodes, median, rounds in medians:
            of = [value for (value,) in db.execute(
                """SELECT value FROM results WHERE experiment = 'lazarus/x_planner' AND metric = 'plan_s'
                   AND status = 'ok' AND axes ->> '$.experts' = ? AND axes ->> '$.nodes' = ? ORDER BY value""",
                (experts, nodes))]
            assert len(of) == rounds and of[(rounds - 1) // 2] <= median <= of[rounds // 2], (of, median)
    try:
        import pandas  # noqa: F401
    except ImportError:
        sys.exit()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.chdir(folder):
        exec(frame)
    assert re.search(r"gpt-l\s+0\s+1\.0\s+1\.0+\s+1\.0", printed.getvalue()), printed.getvalue()
