# Says in lines what comes to a Unix socket of datagrams, as the one of systemd is.
import socket
import sys

server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1])
print("bound", flush=True)
while True:
    print(server.recv(4096).decode().replace("\n", " "), flush=True)
