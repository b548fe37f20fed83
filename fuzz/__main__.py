"""Fuzz every reader under Atheris, each for its share of the time: `make fuzz SECONDS=300`."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from readers import FORMATS
from readers.format import Format
from readers.mutations import NASTY

HERE = Path(__file__).parent
LIMITS = ["-max_len=4096", "-timeout=60", "-rss_limit_mb=3000", "-print_final_stats=1"]
_EXECUTIONS = re.compile(r"number_of_executed_units: (\d+)")


def main() -> int:
    """Print a table; return a nonzero exit code if a reader failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="total time for all readers")
    parser.add_argument("names", nargs="*", help="readers to fuzz; all by default")
    given = parser.parse_args()
    chosen = [form for form in FORMATS if not given.names or form.name in given.names]
    words = HERE / "corpus" / "words.dict"
    words.parent.mkdir(exist_ok=True)
    words.write_text("".join(f'"{_spelt(word)}"\n' for word in NASTY if word and len(word) < 60))
    share, bad = max(1, round(given.seconds / len(chosen))), 0
    print(f"{'reader':<22}{'executions':>12}{'wrong':>8}")
    for form in chosen:
        executions, wrong = fuzzed(form, share, words)
        bad += wrong
        print(f"{form.name:<22}{executions:>12,}{wrong:>8}", flush=True)
    print(f"\n{bad} failures: see {HERE / 'wrong'}" if bad else "\nno failures")
    return int(bad > 0)


def fuzzed(form: Format, seconds: int, words: Path) -> tuple[int, int]:
    """Return the number of files tried and the number of distinct failures."""
    name = form.name.replace(" ", "-")
    corpus, wrong = HERE / "corpus" / name, HERE / "wrong" / name
    for folder in (corpus, wrong):
        folder.mkdir(parents=True, exist_ok=True)
    for i, contents in enumerate(form.files):
        (corpus / f"right-{i}").write_bytes(contents)
    for path in wrong.iterdir():  # try earlier failures again
        path.unlink() if path.suffix == ".txt" else path.rename(corpus / path.name)
    options = [*LIMITS, f"-max_total_time={seconds}", f"-dict={words}"]
    command = [sys.executable, "-m", "fuzz.one", form.name, str(corpus), str(wrong), *options]
    ended = subprocess.run(
        [*command, f"-artifact_prefix={wrong}/native-"],
        cwd=HERE.parent,
        env={**os.environ, "PYTHONPATH": str(HERE.parent / "tests")},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    executions = _EXECUTIONS.search(ended.stderr)
    if executions is None:  # libFuzzer crashed
        (wrong / "native-end.txt").write_text(ended.stderr[-4000:])
    return int(executions[1]) if executions else 0, len(list(wrong.glob("*.txt")))


def _spelt(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    sys.exit(main())
