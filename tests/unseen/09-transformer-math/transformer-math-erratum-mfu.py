# %% right: against the dense peak of the SXM card
g = given("transformer-math-erratum-mfu")
answer = 6*g["N"]*g["tokens"]/(g["hours"]*3600*g["C_s"])
# %% right: percent
answer = "16.5 %"
# %% right: typed
answer = 0.1654
# %% right: the printed share, scaled by the two peaks
answer = 0.2164*1.513/1.979
# %% right: the library's formula
g = given("transformer-math-erratum-mfu")
answer = utilization_of_run(g["N"], g["tokens"], 1, 1.979e15, g["hours"]*3600)
# %% right: on 2,048 cards, their days
g = given("transformer-math-erratum-mfu")
days = g["hours"]/2048/24
rate = 6*g["N"]*g["tokens"]/(days*86400*2048)
answer = f"{rate/1.979e15*100:.3f}%"
# %% right: a fraction
from fractions import Fraction
answer = Fraction(6*37*148*10**20, 2788*36*1979*10**17)
# %% right: hours that a full peak would take
g = given("transformer-math-erratum-mfu")
ideal = 6*g["N"]*g["tokens"]/g["C_s"]/3600
answer = ideal/g["hours"]
# %% wrong: the PCIe card, as printed
answer = "21.7 %"
# %% wrong: the PCIe card with sparsity
g = given("transformer-math-erratum-mfu")
answer = 6*g["N"]*g["tokens"]/(g["hours"]*3600*2*g["C_p"])
# %% wrong: the SXM card with sparsity
g = given("transformer-math-erratum-mfu")
answer = 6*g["N"]*g["tokens"]/(g["hours"]*3600*2*g["C_s"])
# %% wrong: the bf16 peak
g = given("transformer-math-erratum-mfu")
answer = 6*g["N"]*g["tokens"]/(g["hours"]*3600*g["C_s"]/2)
# %% wrong: all parameters
g = given("transformer-math-erratum-mfu")
answer = 6*671e9*g["tokens"]/(g["hours"]*3600*g["C_s"])
# %% wrong: with recomputation, eight
g = given("transformer-math-erratum-mfu")
answer = 8*g["N"]*g["tokens"]/(g["hours"]*3600*g["C_s"])
# %% wrong: forward only
g = given("transformer-math-erratum-mfu")
answer = 2*g["N"]*g["tokens"]/(g["hours"]*3600*g["C_s"])
# %% wrong: 16.5 without its percent sign
answer = 16.5
# %% wrong: half of the PCIe number, taken as with sparsity
g = given("transformer-math-erratum-mfu")
answer = 6*g["N"]*g["tokens"]/(g["hours"]*3600*g["C_p"]/2)
# %% wrong: the wrong way scaled
answer = 0.217*1.979/1.513
# %% wrong: 37.6 billion active and the PCIe card
answer = 6*37.6e9*14.8e12/(2.788e6*3600*1.513e15)
# %% wrong: the mean of the two cards
g = given("transformer-math-erratum-mfu")
answer = 6*g["N"]*g["tokens"]/(g["hours"]*3600*(g["C_s"] + g["C_p"])/2)
# %% wrong: halves the printed share, as for sparsity
answer = 0.217/2
