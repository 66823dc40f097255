# %% right: answers, their headers, one request
r, p, h = symbols("node-networking-both-ways")
answer = r/(r + r/p*h + h)
# %% right: one fraction
r, p, h = symbols("node-networking-both-ways")
answer = r*p/(r*p + r*h + p*h)
# %% right: per byte of payload
r, p, h = symbols("node-networking-both-ways")
answer = 1/(1 + h/p + h/r)
# %% right: the library's share, with a request to each packet's payload
r, p, h = symbols("node-networking-both-ways")
answer = payload_fraction(r, (r/p + 1)*h)
# %% right: packets counted
import sympy
r, p, h = symbols("node-networking-both-ways")
packets = r/p
answers = packets*(p + h)
requests = sympy.Integer(1)*h
answer = packets*p/(answers + requests)
# %% right: one less what is not payload
r, p, h = symbols("node-networking-both-ways")
overhead = h*(r + p)/p
answer = 1 - overhead/(r + overhead)
# %% right: the share of one way, and what requests leave of it
r, p, h = symbols("node-networking-both-ways")
one_way = p/(p + h)
answer = one_way/(1 + one_way*h/r)
# %% right: packets rounded up, which changes nothing for a multiple
import sympy
r, p, h = symbols("node-networking-both-ways")
answer = r/(r + sympy.ceiling(r/p)*h + h)
# %% right: the library's bytes on the wire, and a request
from hwlib.network import wire_bytes
r, p, h = symbols("node-networking-both-ways")
answer = r/(wire_bytes(r, p, h) + h)
# %% wrong: forgets the requests
r, p, h = symbols("node-networking-both-ways")
answer = p/(p + h)
# %% wrong: one header for the whole answer
r, p, h = symbols("node-networking-both-ways")
answer = r/(r + 2*h)
# %% wrong: a request for every packet
r, p, h = symbols("node-networking-both-ways")
answer = p/(p + 2*h)
# %% wrong: the requests of both reads
r, p, h = symbols("node-networking-both-ways")
answer = r/(r + r/p*h + 2*h)
# %% wrong: only the request
r, p, h = symbols("node-networking-both-ways")
answer = r/(r + h)
# %% wrong: a request takes a payload with it
r, p, h = symbols("node-networking-both-ways")
answer = r/(r + r/p*h + p + h)
# %% wrong: the payload of both over the bytes of one
r, p, h = symbols("node-networking-both-ways")
answer = 2*r/(r + r/p*h + h)
# %% wrong: what is not payload
r, p, h = symbols("node-networking-both-ways")
answer = (r/p*h + h)/(r + r/p*h + h)
# %% wrong: bytes on the wire for a byte of payload
r, p, h = symbols("node-networking-both-ways")
answer = (r + r/p*h + h)/r
# %% wrong: headers of r times p packets
r, p, h = symbols("node-networking-both-ways")
answer = r/(r + (r - p)/p*h)
# %% wrong: halves it, since two reads share the link
r, p, h = symbols("node-networking-both-ways")
answer = r/(r + r/p*h + h)/2
# %% wrong: p divided by r
r, p, h = symbols("node-networking-both-ways")
answer = r/(r + p/r*h + h)
