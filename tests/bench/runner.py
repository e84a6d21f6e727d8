"""Runs a command and prints what it cost as one line: wall, user + system CPU (seconds), peak resident set (MB).

    python3 runner.py COMMAND ...
"""
import os
import sys
import time

quiet = os.open(os.devnull, os.O_WRONLY)
begin = time.monotonic()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, quiet, 1)])
_, status, cost = os.wait4(child, 0)
wall = time.monotonic() - begin
if status:
    sys.exit(f"{sys.argv[1:]} ended with {os.waitstatus_to_exitcode(status)}")
print(wall, cost.ru_utime + cost.ru_stime, cost.ru_maxrss / 1024)
