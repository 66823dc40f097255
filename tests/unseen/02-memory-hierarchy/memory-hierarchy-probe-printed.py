# %% right: GiB for what it calls GB, twice for read and write
g = given("memory-hierarchy-probe-printed")
answer = 2*g["printed"]*2**30
# %% right: a text in GiB/s
g = given("memory-hierarchy-probe-printed")
answer = f"{2*g['printed']:g} GiB/s"
# %% right: a text in TB/s, three digits
answer = "2.92 TB/s"
# %% right: read and write named apart
g = given("memory-hierarchy-probe-printed")
copied = g["printed"]*1024**3
crossed = {"read": copied, "written": copied}
answer = sum(crossed.values())
# %% right: by MiB
g = given("memory-hierarchy-probe-printed")
answer = g["printed"]*1024*MiB*2
# %% right: a Fraction
from fractions import Fraction
g = given("memory-hierarchy-probe-printed")
answer = Fraction(g["printed"])*2**31
# %% right: in TiB/s
g = given("memory-hierarchy-probe-printed")
answer = "%.5f TiB/s" % (g["printed"]/512)
# %% right: undoes the probe: bytes of one run over its seconds
g = given("memory-hierarchy-probe-printed")
nbytes, iterations = 4e9, 10
seconds = nbytes*iterations/1024**3/g["printed"]
answer = iterations*(nbytes + nbytes)/seconds
# %% wrong: forgets that what is written crosses, too
g = given("memory-hierarchy-probe-printed")
answer = g["printed"]*2**30
# %% wrong: believes the printed unit
g = given("memory-hierarchy-probe-printed")
answer = 2*g["printed"]*1e9
# %% wrong: takes the print as it stands
g = given("memory-hierarchy-probe-printed")
answer = g["printed"]*1e9
# %% wrong: three buffers, as if the target were fetched first
g = given("memory-hierarchy-probe-printed")
answer = 3*g["printed"]*2**30
# %% wrong: divides by the GiB the wrong way
g = given("memory-hierarchy-probe-printed")
answer = 2*g["printed"]*1e9*(1e9/2**30)
# %% wrong: halves, as one of two directions
g = given("memory-hierarchy-probe-printed")
answer = g["printed"]*2**30/2
# %% wrong: in bits
g = given("memory-hierarchy-probe-printed")
answer = 8*2*g["printed"]*2**30
# %% wrong: corrects one of three thousands only
g = given("memory-hierarchy-probe-printed")
answer = 2*g["printed"]*1e6*1024
# %% wrong: what the sheet says
answer = h100.hbm_bandwidth
# %% wrong: the number without its unit
g = given("memory-hierarchy-probe-printed")
answer = 2*g["printed"]
# %% wrong: the right digits, but GB/s
g = given("memory-hierarchy-probe-printed")
answer = f"{2*g['printed']*2**30/1e12:.2f} GB/s"
# %% wrong: TiB instead of GiB
g = given("memory-hierarchy-probe-printed")
answer = 2*g["printed"]*2**40
