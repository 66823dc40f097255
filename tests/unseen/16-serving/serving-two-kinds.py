# %% right: load over what is left, with the second moment
R, p, m, t = symbols("serving-two-kinds")
answer = R*t**2*(1 - p + p*m**2)/(2*(1 - R*t*(1 - p + p*m)))
# %% right: a text, the share of long ones apart
answer = "R*(p*(m*t)^2 + (1 - p)*t^2)/(2 - 2*R*(p*m*t + (1 - p)*t))"
# %% right: by mean and squared variation, step by step
R, p, m, t = symbols("serving-two-kinds")
mean = (1 - p)*t + p*m*t
variance = p*(1 - p)*(m - 1)**2*t**2
load = R*mean
answer = load/(1 - load)*mean*(1 + variance/mean**2)/2
# %% right: the library's wait
from hwlib.inference import mg1_wait
R, p, m, t = symbols("serving-two-kinds")
mean = t*(1 + p*(m - 1))
answer = mg1_wait(R*mean, mean, p*(1 - p)*(m - 1)**2/(1 + p*(m - 1))**2)
# %% right: solved from the rest in service and those before, by Little's law
import sympy
R, p, m, t = symbols("serving-two-kinds")
w = sympy.Symbol("w", positive=True)
mean = t - p*t + p*m*t
found = R*p*m*t*(m*t/2) + R*(1 - p)*t*(t/2)
answer = sympy.solve(sympy.Eq(w, found + R*w*mean), w)[0]
# %% right: both moments in a loop, put together
import sympy
R, p, m, t = symbols("serving-two-kinds")
first, second = ((1 - p)*t**k + p*(m*t)**k for k in (1, 2))
answer = sympy.together(R*second/2*sympy.Pow(1 - R*first, -1))
# %% right: half of what comes in over the seconds that are left free
R, p, m, t = symbols("serving-two-kinds")
short, long = t, m*t
free = 1 - (1 - p)*R*short - p*R*long
answer = ((1 - p)*R*short*short + p*R*long*long)/free/2
# %% wrong: all requests as if they were alike, M/D/1
R, p, m, t = symbols("serving-two-kinds")
mean = t*(1 - p + p*m)
answer = R*mean**2/(2*(1 - R*mean))
# %% wrong: with the request's own time, the whole stay
R, p, m, t = symbols("serving-two-kinds")
mean = t*(1 - p + p*m)
answer = R*t**2*(1 - p + p*m**2)/(2*(1 - R*mean)) + mean
# %% wrong: the rest without the probability that somebody is in service
R, p, m, t = symbols("serving-two-kinds")
mean = t*(1 - p + p*m)
answer = t**2*(1 - p + p*m**2)/(2*mean*(1 - R*mean))
# %% wrong: two queues, each with its own load, weighted
R, p, m, t = symbols("serving-two-kinds")
own = lambda r, s: r*s**2/(2*(1 - r*s))
answer = (1 - p)*own(R*(1 - p), t) + p*own(R*p, m*t)
# %% wrong: waits of all-short and all-long streams, weighted
R, p, m, t = symbols("serving-two-kinds")
own = lambda s: R*s**2/(2*(1 - R*s))
answer = (1 - p)*own(t) + p*own(m*t)
# %% wrong: the share p of long ones beside 1 of short ones
R, p, m, t = symbols("serving-two-kinds")
answer = R*t**2*(1 + p*m**2)/(2*(1 - R*t*(1 + p*m)))
# %% wrong: the share p is the short ones
R, p, m, t = symbols("serving-two-kinds")
answer = R*t**2*(p + (1 - p)*m**2)/(2*(1 - R*t*(p + (1 - p)*m)))
# %% wrong: the variance, not the squared variation, in the rest
R, p, m, t = symbols("serving-two-kinds")
mean = t*(1 - p + p*m)
variance = p*(1 - p)*(m - 1)**2*t**2
answer = R*mean/(1 - R*mean)*mean*(1 + variance)/2
# %% wrong: the variation not squared
import sympy
R, p, m, t = symbols("serving-two-kinds")
mean = t*(1 - p + p*m)
c = sympy.sqrt(p*(1 - p))*(m - 1)*t/mean
answer = R*mean/(1 - R*mean)*mean*(1 + c)/2
# %% wrong: the times in the mean square not squared
R, p, m, t = symbols("serving-two-kinds")
answer = R*t**2*(1 - p + p*m)/(2*(1 - R*t*(1 - p + p*m)))
# %% wrong: a load of 1 + load below the line
R, p, m, t = symbols("serving-two-kinds")
answer = R*t**2*(1 - p + p*m**2)/(2*(1 + R*t*(1 - p + p*m)))
