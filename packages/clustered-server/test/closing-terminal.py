# Becomes the program of its arguments, with a terminal for stdout and stderr that is closed when stdin ends.
import os
import pty
import select
import sys

terminal, output = pty.openpty()
if os.fork() == 0:
    os.close(output)
    while True:
        readable, _, _ = select.select([0, terminal], [], [])
        if terminal in readable:
            os.read(terminal, 65536)
        if 0 in readable and not os.read(0, 1024):
            os._exit(0)
os.close(terminal)
os.dup2(output, 1)
os.dup2(output, 2)
os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
os.execvp(sys.argv[1], sys.argv[1:])
