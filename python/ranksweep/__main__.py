"""`python -m ranksweep` is the program `ranksweep` of this environment."""

import os
import sys

from ranksweep._program import Error, find

try:
    program = find()
except Error as error:
    sys.exit(f"error: {error}")
os.execv(program, [program, *sys.argv[1:]])
