"""Prints a command of the README: "demo" is its first, "test" its second."""

import re
import sys
from pathlib import Path

readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
blocks = re.findall(r"```bash\n(.*?)```", readme, re.DOTALL)
print(blocks[("demo", "test").index(sys.argv[1])].strip())
