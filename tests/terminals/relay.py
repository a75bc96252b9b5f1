"""A program for a pane: what is typed goes to a unix socket, and what comes from there is shown."""

import os
import select
import socket
import sys
import tty

link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
tty.setraw(0)
os.write(1, b"\x1b[?2004h")
link.sendall(b"ready")
while True:
    ready, _, _ = select.select([0, link.fileno()], [], [])
    if 0 in ready:
        link.sendall(os.read(0, 65536))
    if link.fileno() in ready:
        data = link.recv(65536)
        if not data:
            sys.exit(7)
        os.write(1, data)
