# %% right: two waits for a packet, two ways down the cable
W, t, p = symbols("cluster-networking-headroom")
answer = p + W*t + p + W*t
# %% right: as a text
answer = "2*(W*t + p)"
# %% right: all that arrives until the last byte does
W, t, p = symbols("cluster-networking-headroom")
leaves = p/W                       # the pause frame, behind our own packet
there = leaves + t
last = there + p/W                 # the neighbour's packet is out
answer = (last + t)*W
# %% right: an integral of the rate over the time
import sympy
W, t, p = symbols("cluster-networking-headroom")
x = sympy.Symbol("x", positive=True)
answer = sympy.integrate(W, (x, 0, 2*t + p/W)) + p
# %% right: the round trip's bytes by the library, and the two packets
W, t, p = symbols("cluster-networking-headroom")
answer = bandwidth_delay_bytes(W, 2*t) + 2*p
# %% right: the area of a rectangle, times a half, twice
import sympy
W, t, p = symbols("cluster-networking-headroom")
half = sympy.Rational(1, 2)
answer = 4*half*W*(t + p/W)
# %% right: a difference of two moments at the neighbour
W, t, p = symbols("cluster-networking-headroom")
# what it sent and we had not got when we decided left it after -t
since = -t
until = p/W + t + p/W
answer = W*(until - since)
# %% right: solves for what leaves no room
import sympy
W, t, p = symbols("cluster-networking-headroom")
H = sympy.Symbol("H", positive=True)
[answer] = sympy.solve(sympy.Eq(H/W, 2*t + 2*p/W), H)
# %% right: a text with a power that is one
answer = "p*2 + t*2*W^1"
# %% wrong: the pause frame is sent at once
W, t, p = symbols("cluster-networking-headroom")
answer = 2*W*t + p
# %% wrong: the frame's way only, not what is behind it on the cable
W, t, p = symbols("cluster-networking-headroom")
answer = W*t + 2*p
# %% wrong: no packets at all
W, t, p = symbols("cluster-networking-headroom")
answer = 2*W*t
# %% wrong: what is on the cable and the packet that is finished
W, t, p = symbols("cluster-networking-headroom")
answer = W*t + p
# %% wrong: the own packet has begun already and is half gone on average
W, t, p = symbols("cluster-networking-headroom")
answer = 2*W*t + p + p/2
# %% wrong: the time until the line is quiet
W, t, p = symbols("cluster-networking-headroom")
answer = 2*t + 2*p/W
# %% wrong: in bits
W, t, p = symbols("cluster-networking-headroom")
answer = 8*(2*W*t + 2*p)
# %% wrong: adds the waits as bytes to the time
W, t, p = symbols("cluster-networking-headroom")
answer = W*(2*t + 2*p)
# %% wrong: the last packet is stored by both before it counts
W, t, p = symbols("cluster-networking-headroom")
answer = 2*W*t + 4*p
# %% wrong: cable and packet go on at the same time, the longer counts
W, t, p = symbols("cluster-networking-headroom")
answer = 2*maximum(W*t, p)
# %% wrong: a third packet, that which is just arriving
W, t, p = symbols("cluster-networking-headroom")
answer = 2*W*t + 3*p
# %% wrong: takes t for a round trip and forgets a packet
W, t, p = symbols("cluster-networking-headroom")
answer = W*t + p/2 + p/2
# %% wrong: a round trip each for frame and data
W, t, p = symbols("cluster-networking-headroom")
answer = 4*W*t + 2*p
# %% wrong: both directions of the line bring bytes
W, t, p = symbols("cluster-networking-headroom")
answer = 2*W*(2*t + 2*p/W)
# %% wrong: as many packets as fit on the cable, and two
import sympy
W, t, p = symbols("cluster-networking-headroom")
answer = 2*W*t/p + 2
# %% wrong: the own packet is taken off, since no room is needed for it
W, t, p = symbols("cluster-networking-headroom")
answer = 2*W*t + p - p
# %% wrong: the pause frame is 64 bytes of its own
W, t, p = symbols("cluster-networking-headroom")
answer = 2*W*t + 2*p + 64
# %% wrong: the flood ends where it was when the frame left, and three packets are under way
W, t, p = symbols("cluster-networking-headroom")
answer = W*t + 3*p
