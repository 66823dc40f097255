# %% right: step by step, with the numbers of the prompt
g = given("serving-margin")
day, node = 24*3600, 8*g["hour"]*24
computed = g["node_in"]*1e3*(g["T_in"] - g["T_hit"])/g["T_in"]
nodes = g["T_in"]*1e9/day/computed + g["T_out"]*1e9/day/(g["node_out"]*1e3)
income = (g["T_in"]*g["missed"] + g["T_out"]*g["made"])*1e3
answer = (income - nodes*node)/(nodes*node)
# %% right: a text in per cent
answer = "423 %"
# %% right: Fractions
from fractions import Fraction as F
second = F(16, 3600)
cost = second*(F(608*10**9)*F(608, 266)/73700 + F(168*10**9, 14800))
answer = F(608*550 + 168*2190)/cost - 1
# %% right: sympy, in dollars for each of the day's parts
import sympy
read = sympy.Rational(608**2, 266)*10**9/73700
made = sympy.Rational(168*10**9, 14800)
answer = (334400 + 367920)/((read + made)*16/3600) - 1
# %% right: numpy, scalar product
import numpy as np
tokens, price = np.array([608e3, 168e3]), np.array([0.55, 2.19])
seconds = tokens*1e6/np.array([73.7e3*266/608, 14.8e3])
answer = (tokens @ price)/(seconds.sum()*16/3600) - 1
# %% right: whole nodes, as 350 of them
answer = 702320/(350*16*24) - 1
# %% right: what prompts cost, made larger by what was found
cost_in, cost_out = 608e9/73.7e3*16/3600, 168e9/14.8e3*16/3600
cost = cost_in*(1 + 342/266) + cost_out
answer = 702320/cost - 1
# %% wrong: profit over income
answer = 1 - (218.23 + 131.38)*384/702320
# %% wrong: nodes as before, only the bill grows
answer = 702320/((95.48 + 131.38)*384) - 1
# %% wrong: nodes for prompts grow by what was found, over all
nodes = 95.48*(1 + 342/608) + 131.38
answer = 702320/(nodes*384) - 1
# %% wrong: decoding grows with the prompts too
nodes = (95.48 + 131.38)*608/266
answer = 702320/(nodes*384) - 1
# %% wrong: only prompts that were not found are billed
answer = (266e3*0.55 + 168e3*2.19)/((218.23 + 131.38)*384) - 1
# %% wrong: a node at the price of a GPU
answer = 702320/((218.23 + 131.38)*48) - 1
# %% wrong: the profit in dollars
answer = 702320 - (218.23 + 131.38)*384
# %% wrong: per cent without their sign
answer = 423.1
# %% wrong: nodes that read are all that is paid
answer = 702320/(218.23*384) - 1
# %% wrong: twelve hours of rent
answer = 702320/((218.23 + 131.38)*192) - 1
# %% wrong: prompts at the price of a hit
answer = (608e3*0.14 + 168e3*2.19)/((218.23 + 131.38)*384) - 1
