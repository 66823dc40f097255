"""A program that says who it is, and waits for the end of its socket."""

import json
import os
import socket
import sys

if __name__ == "__main__":
    control = socket.socket(fileno=int(sys.argv[1]))
    control.send(json.dumps({"pid": os.getpid()}).encode())
    control.recv(1)
