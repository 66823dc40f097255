# %% right: three loops
def grouped(rows, columns, g):
    order = []
    for first in range(0, rows, g):
        for column in range(columns):
            for row in range(first, min(first + g, rows)):
                order.append((row, column))
    return order
# %% right: sorted by group, column, row
from itertools import product
def grouped(rows, columns, g):
    tiles = product(range(rows), range(columns))
    return sorted(tiles, key=lambda tile: (tile[0]//g, tile[1], tile[0]))
# %% right: recursion over halves of the groups
def grouped(rows, columns, g, first=0, groups=None):
    if groups is None:
        groups = ceil(rows/g)
    if groups > 1:
        half = groups//2
        return (grouped(rows, columns, g, first, half)
                + grouped(rows, columns, g, first + half*g, groups - half))
    group = range(first, rows)[:g]
    return [(row, column) for column in range(columns) for row in group]
# %% right: Triton's arithmetic on the number of the program
def grouped(rows, columns, g):
    order = []
    for pid in range(rows*columns):
        group = pid//(g*columns)
        first = group*g
        size = min(rows - first, g)
        inside = pid % (g*columns)
        order.append((first + inside % size, inside//size))
    return order
# %% right: numpy, transposed slices
import numpy as np
def grouped(rows, columns, g):
    r, c = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    order = []
    for first in range(0, rows, g):
        cut = slice(first, first + g)
        order += zip(r[cut].T.ravel().tolist(), c[cut].T.ravel().tolist())
    return order
# %% right: a generator inside, list outside
def grouped(rows, columns, g):
    def walk():
        row = 0
        while row < rows:
            last = row + g if row + g < rows else rows
            yield from ((i, j) for j in range(columns) for i in range(row, last))
            row = last
    return list(walk())
# %% right: a lambda with lists for pairs
grouped = lambda rows, columns, g: [
    [i, j] for k in range(-(-rows//g)) for j in range(columns) for i in range(rows)[k*g:(k + 1)*g]]
# %% wrong: row by row inside a group
def grouped(rows, columns, g):
    return [(row, column) for first in range(0, rows, g)
            for row in range(first, min(first + g, rows)) for column in range(columns)]
# %% wrong: groups of columns
def grouped(rows, columns, g):
    return [(row, column) for first in range(0, columns, g)
            for row in range(rows) for column in range(first, min(first + g, columns))]
# %% wrong: leaves the last rows out if g does not divide them
def grouped(rows, columns, g):
    return [(group*g + i, column) for group in range(rows//g)
            for column in range(columns) for i in range(g)]
# %% wrong: goes beyond the last row
def grouped(rows, columns, g):
    return [(row, column) for first in range(0, rows, g)
            for column in range(columns) for row in range(first, first + g)]
# %% wrong: column by column of the whole output
def grouped(rows, columns, g):
    return [(row, column) for column in range(columns) for row in range(rows)]
# %% wrong: column first in the pair
def grouped(rows, columns, g):
    return [(column, row) for first in range(0, rows, g)
            for column in range(columns) for row in range(first, min(first + g, rows))]
# %% wrong: g groups instead of groups of g rows
def grouped(rows, columns, g):
    size = -(-rows//g)
    return [(row, column) for first in range(0, rows, size)
            for column in range(columns) for row in range(first, min(first + size, rows))]
# %% wrong: every other column from the bottom, like a snake
def grouped(rows, columns, g):
    order = []
    for first in range(0, rows, g):
        for column in range(columns):
            group = list(range(first, min(first + g, rows)))
            order += [(row, column) for row in (group if column % 2 == 0 else group[::-1])]
    return order
# %% wrong: Triton's arithmetic without the shorter last group
def grouped(rows, columns, g):
    return [(pid//(g*columns)*g + pid % g, pid % (g*columns)//g) for pid in range(rows*columns)]
# %% wrong: counted from one
def grouped(rows, columns, g):
    return [(row + 1, column + 1) for first in range(0, rows, g)
            for column in range(columns) for row in range(first, min(first + g, rows))]
# %% wrong: a list of groups
def grouped(rows, columns, g):
    return [[(row, column) for column in range(columns) for row in range(first, min(first + g, rows))]
            for first in range(0, rows, g)]
# %% wrong: prints the order
def grouped(rows, columns, g):
    for first in range(0, rows, g):
        for column in range(columns):
            for row in range(first, min(first + g, rows)):
                print((row, column))
