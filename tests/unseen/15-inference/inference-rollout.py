# %% right: step by step
def rollout_time(lengths, t_step, t_token, prompt):
    seconds = 0.0
    for i in range(max(lengths, default=0)):
        seconds += t_step + t_token*sum(length > i for length in lengths)*(prompt + i)
    return seconds
# %% right: sequence by sequence, a closed sum for each
def rollout_time(lengths, t_step, t_token, prompt):
    read = sum(n*prompt + n*(n - 1)//2 for n in lengths)
    return max(lengths, default=0)*t_step + read*t_token
# %% right: sorted, stretch by stretch
def rollout_time(lengths, t_step, t_token, prompt):
    total, done, running = 0.0, 0, len(lengths)
    for end in sorted(lengths):
        steps = end - done
        caches = steps*prompt + (done + end - 1)*steps/2
        total += steps*t_step + running*caches*t_token
        done, running = end, running - 1
    return total
# %% right: numpy, a matrix of sequences by steps
import numpy as np
def rollout_time(lengths, t_step, t_token, prompt):
    lengths = np.asarray(lengths, dtype=int)
    most = int(lengths.max()) if lengths.size else 0
    i = np.arange(most)
    active = lengths[:, None] > i[None, :]
    return float((t_step + t_token*(active*(prompt + i)).sum(axis=0)).sum())
# %% right: in Fractions, a queue from which sequences leave
from fractions import Fraction
def rollout_time(lengths, t_step, t_token, prompt):
    left, clock, i = [n for n in lengths if n > 0], Fraction(0), 0
    while left:
        clock += Fraction(t_step) + Fraction(t_token)*len(left)*(Fraction(prompt) + i)
        i += 1
        left = [n for n in left if n > i]
    return float(clock)
# %% right: each cache kept and grown
def rollout_time(lengths, t_step, t_token, prompt):
    caches = [[prompt, n] for n in lengths if n]
    t = 0
    while caches:
        t += t_step
        for cache in caches:
            t += t_token*cache[0]
            cache[0] += 1
            cache[1] -= 1
        caches = [cache for cache in caches if cache[1]]
    return t
# %% right: torch, from the last step down, double precision
import torch
def rollout_time(lengths, t_step, t_token, prompt):
    ends = torch.tensor(list(lengths), dtype=torch.float64)
    time = torch.zeros((), dtype=torch.float64)
    for i in reversed(range(max(lengths, default=0))):
        time = time + t_step + t_token*(ends > i).double().sum()*(prompt + i)
    return time.item()
# %% right: a histogram of lengths
from collections import Counter
def rollout_time(lengths, t_step, t_token, prompt):
    ending, active, seconds, i = Counter(lengths), len(lengths), 0.0, 0
    active -= ending[0]
    while active:
        seconds += t_step + active*t_token*(prompt + i)
        i += 1
        active -= ending[i]
    return seconds
# %% wrong: the new token is in the cache already
def rollout_time(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token*sum(n > i for n in lengths)*(prompt + i + 1) for i in range(max(lengths)))
# %% wrong: caches stay as long as the prompt
def rollout_time(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token*sum(n > i for n in lengths)*prompt for i in range(max(lengths)))
# %% wrong: the prompt is not read
def rollout_time(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token*sum(n > i for n in lengths)*i for i in range(max(lengths)))
# %% wrong: nobody leaves
def rollout_time(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token*len(lengths)*(prompt + i) for i in range(max(lengths)))
# %% wrong: the longest alone
def rollout_time(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token*(prompt + i) for i in range(max(lengths)))
# %% wrong: leaves a step late
def rollout_time(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token*sum(n >= i for n in lengths)*(prompt + i) for i in range(max(lengths)))
# %% wrong: the last step is missing
def rollout_time(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token*sum(n > i for n in lengths)*(prompt + i) for i in range(max(lengths) - 1))
# %% wrong: one step too many
def rollout_time(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token*sum(n > i for n in lengths)*(prompt + i) for i in range(max(lengths) + 1))
# %% wrong: sequences one after another
def rollout_time(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token*(prompt + i) for n in lengths for i in range(n))
# %% wrong: steps of the mean length
def rollout_time(lengths, t_step, t_token, prompt):
    mean = round(sum(lengths)/len(lengths))
    return sum(t_step + t_token*len(lengths)*(prompt + i) for i in range(mean))
# %% wrong: caches of those that left are still read
def rollout_time(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token*sum(prompt + min(i, n) for n in lengths) for i in range(max(lengths)))
# %% wrong: t_token for each sequence, not for its tokens
def rollout_time(lengths, t_step, t_token, prompt):
    return sum(t_step + t_token*sum(n > i for n in lengths) for i in range(max(lengths)))
# %% wrong: prompts are read at the start as well
def rollout_time(lengths, t_step, t_token, prompt):
    steps = sum(t_step + t_token*sum(n > i for n in lengths)*(prompt + i) for i in range(max(lengths)))
    return steps + t_token*prompt*len(lengths)
