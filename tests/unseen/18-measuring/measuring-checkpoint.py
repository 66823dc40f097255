# %% right: copies, and half an interval, the write and the restart for a failure
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = c/tau + (tau/2 + w + b)/M
# %% right: as a text
answer = "c/tau + (0.5*tau + w + b)/M"
# %% right: what is left of the library's goodput, the write as a longer way back
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = 1 - goodput_fraction(tau, c, b + w, M)
# %% right: the mean of two cases, before and after the end of the write
import sympy
c, w, tau, b, M = symbols("measuring-checkpoint")
early, late = tau + w/2, (w + tau)/2
work = w/tau*early + (1 - w/tau)*late
answer = c/tau + sympy.simplify(work + b)/M
# %% right: an integral over the moment of the failure
import sympy
c, w, tau, b, M = symbols("measuring-checkpoint")
x = sympy.Symbol("x", positive=True)
lost = sympy.integrate(x + tau, (x, 0, w)) + sympy.integrate(x, (x, w, tau))
answer = c/tau + sympy.expand(lost/tau)/M + b/M
# %% right: over one denominator
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = (2*c*M + tau*(tau + 2*w + 2*b))/(2*tau*M)
# %% right: as a text with powers, the age at a failure lies between w and tau + w
answer = "c*tau^(-1) + ((w + (w + tau))/2 + b)*M^-1"
# %% wrong: the write costs nothing
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = c/tau + (tau/2 + b)/M
# %% wrong: the write stops the training too
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = (c + w)/tau + (tau/2 + b)/M
# %% wrong: both, stops and loses
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = (c + w)/tau + (tau/2 + w + b)/M
# %% wrong: half the write in the mean
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = c/tau + ((tau + w)/2 + b)/M
# %% wrong: always the checkpoint before
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = c/tau + (3*tau/2 + b)/M
# %% wrong: a whole interval for each failure
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = c/tau + (tau + w + b)/M
# %% wrong: the restart forgotten
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = c/tau + (tau/2 + w)/M
# %% wrong: the copies forgotten
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = (tau/2 + w + b)/M
# %% wrong: what is left and not what is lost
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = 1 - c/tau - (tau/2 + w + b)/M
# %% wrong: at the best interval
import sympy
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = sympy.sqrt(2*c/M) + (w + b)/M
# %% wrong: failures during the write weigh w over tau of the write
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = c/tau + (tau/2 + w**2/tau + b)/M
# %% wrong: the write shortens what can be lost
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = c/tau + ((tau - w)/2 + b)/M
# %% wrong: a restart for every interval
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = (c + b)/tau + (tau/2 + w)/M
# %% wrong: only failures after the write lose from its begin
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = c/tau + (tau/2 + w*(tau - w)/tau + b)/M
# %% wrong: half of what is left of the interval after copy and write
c, w, tau, b, M = symbols("measuring-checkpoint")
answer = c/tau + ((tau - c - w)/2 + c + b)/M
