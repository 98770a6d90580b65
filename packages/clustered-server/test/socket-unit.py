# Listens, says where, and becomes the program of its arguments with the socket, as systemd does for a socket unit.
import os
import socket
import sys

server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(511)
print(server.getsockname()[1], flush=True)
if server.fileno() != 3:
    os.dup2(server.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="http")
os.execvp(sys.argv[1], sys.argv[1:])
