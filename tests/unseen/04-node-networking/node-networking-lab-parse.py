# %% right: rows by their words
def gpu_pairs(text):
    rows = []
    for line in text.splitlines():
        words = line.split()
        if words and re.fullmatch(r"GPU\d+", words[0]) and "X" in words:
            rows.append(words[1:])
    n = len(rows)
    return [(i, j, rows[i][j]) for i in range(n) for j in range(i + 1, n)]
# %% right: one regular expression for a row
def gpu_pairs(text):
    row = re.compile(r"^\s*GPU(\d+)((?:[ \t]+(?:X|[A-Z]+\d*))+)", re.M)
    table = {int(i): cells.split() for i, cells in row.findall(text) if "X" in cells.split()}
    return [(i, j, table[i][j]) for i, j in combinations(sorted(table), 2)]
# %% right: everything after the X of a GPU's row, up to the number of GPUs
def gpu_pairs(text):
    words = [line.split() for line in text.split("\n")]
    rows = [w for w in words if w and w[0].startswith("GPU") and w[0][3:].isdigit() and "X" in w]
    pairs = []
    for i, w in enumerate(rows):
        after = w[w.index("X") + 1:][:len(rows) - i - 1]
        pairs.extend((i, i + 1 + k, code) for k, code in enumerate(after))
    return pairs
# %% right: strips the escapes first, then reads the header
def gpu_pairs(text):
    clean = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)
    lines = [line.split() for line in clean.splitlines()]
    is_gpu = re.compile(r"GPU\d+$").match
    header = next(w for w in lines if w and is_gpu(w[0]) and "X" not in w)
    count = sum(1 for _ in filter(is_gpu, header))
    matrix = [w[1:1 + count] for w in lines if w and is_gpu(w[0]) and "X" in w]
    return [(i, j, matrix[i][j]) for i in range(count) for j in range(count) if i < j]
# %% right: the position of X is the number of the row
def gpu_pairs(text):
    rows = {}
    for line in text.splitlines():
        name, *cells = line.split() or [""]
        if name[:3] == "GPU" and cells.count("X") == 1:
            rows[cells.index("X")] = cells
    found = []
    for i in sorted(rows):
        for j in sorted(rows):
            if j > i:
                found.append((i, j, rows[i][j]))
    return found
# %% right: a generator and recursion over the rows
def gpu_pairs(text):
    def rows():
        for line in text.splitlines():
            words = line.split()
            if len(words) > 1 and re.match("GPU[0-9]+$", words[0]) and "X" in words[1:]:
                yield words[1:]
    def pairs(i, rest, n):
        if not rest:
            return []
        first, *others = rest
        return [(i, j, first[j]) for j in range(i + 1, n)] + pairs(i + 1, others, n)
    matrix = list(rows())
    return pairs(0, matrix, len(matrix))
# %% right: numpy object array, lower triangle read from above
import numpy as np
def gpu_pairs(text):
    rows = [w for w in map(str.split, text.splitlines())
            if w and w[0].startswith("GPU") and "X" in w]
    n = len(rows)
    table = np.array([w[1:n + 1] for w in rows], dtype=object).reshape(n, n)
    return [(int(i), int(j), str(table[i, j])) for i, j in zip(*np.triu_indices(n, k=1))]
# %% wrong: every pair twice
def gpu_pairs(text):
    rows = [w[1:] for w in map(str.split, text.splitlines()) if w and re.match(r"GPU\d", w[0]) and "X" in w]
    return [(i, j, rows[i][j]) for i in range(len(rows)) for j in range(len(rows)) if i != j]
# %% wrong: the device with itself
def gpu_pairs(text):
    rows = [w[1:] for w in map(str.split, text.splitlines()) if w and re.match(r"GPU\d", w[0]) and "X" in w]
    return [(i, j, rows[i][j]) for i in range(len(rows)) for j in range(i, len(rows))]
# %% wrong: network cards as well
def gpu_pairs(text):
    rows = [w[1:] for w in map(str.split, text.splitlines()) if "X" in w and "=" not in w]
    return [(i, j, rows[i][j]) for i in range(len(rows)) for j in range(i + 1, len(rows))]
# %% wrong: tabs only
def gpu_pairs(text):
    rows = [[c.strip() for c in line.split("\t")][1:] for line in text.splitlines()
            if line.startswith("GPU") and "X" in line]
    return [(i, j, rows[i][j]) for i in range(len(rows)) for j in range(i + 1, len(rows))]
# %% wrong: counts the words GPU of the header, GPU NUMA ID too
def gpu_pairs(text):
    lines = [re.sub(r"\x1b\[\d*m", "", line).split() for line in text.splitlines()]
    lines = [w for w in lines if w and w[0].startswith("GPU")]
    n = sum(word.startswith("GPU") for word in lines[0])
    rows = [w[1:] for w in lines[1:]]
    return [(i, j, rows[i][j]) for i in range(n) for j in range(i + 1, n) if i < len(rows)]
# %% wrong: the name's column is counted, so every code is its neighbour's
def gpu_pairs(text):
    rows = [w for w in map(str.split, text.splitlines()) if w and re.match(r"GPU\d", w[0]) and "X" in w]
    return [(i, j, rows[i][j]) for i in range(len(rows)) for j in range(i + 1, len(rows))]
# %% wrong: pairs over NVLink only
def gpu_pairs(text):
    rows = [w[1:] for w in map(str.split, text.splitlines()) if w and re.match(r"GPU\d", w[0]) and "X" in w]
    return [(i, j, rows[i][j]) for i in range(len(rows)) for j in range(i + 1, len(rows))
            if rows[i][j].startswith("NV")]
# %% wrong: the number of links instead of the code
def gpu_pairs(text):
    rows = [w[1:] for w in map(str.split, text.splitlines()) if w and re.match(r"GPU\d", w[0]) and "X" in w]
    return [(i, j, int(rows[i][j][2:]) if rows[i][j][2:].isdigit() else 0)
            for i in range(len(rows)) for j in range(i + 1, len(rows))]
# %% wrong: names for numbers
def gpu_pairs(text):
    rows = [w for w in map(str.split, text.splitlines()) if w and re.match(r"GPU\d", w[0]) and "X" in w]
    return [(rows[i][0], rows[j][0], rows[i][j + 1]) for i in range(len(rows)) for j in range(i + 1, len(rows))]
# %% wrong: a dictionary
def gpu_pairs(text):
    rows = [w[1:] for w in map(str.split, text.splitlines()) if w and re.match(r"GPU\d", w[0]) and "X" in w]
    return {(i, j): rows[i][j] for i in range(len(rows)) for j in range(i + 1, len(rows))}
# %% wrong: takes the header for the first row where nothing underlines it
def gpu_pairs(text):
    rows = [w[1:] for w in map(str.split, text.splitlines()) if w and re.match(r"GPU\d", w[0])]
    return [(i, j, rows[i][j]) for i in range(len(rows)) for j in range(i + 1, len(rows))]
# %% wrong: eight GPUs, always
def gpu_pairs(text):
    rows = [w[1:] for w in map(str.split, text.splitlines()) if w and re.match(r"GPU\d", w[0]) and "X" in w]
    return [(i, j, rows[i][j]) for i in range(8) for j in range(i + 1, 8)]
# %% wrong: GPUs of one digit only
def gpu_pairs(text):
    rows = [w[1:] for w in map(str.split, text.splitlines()) if w and re.fullmatch(r"GPU\d", w[0]) and "X" in w]
    return [(i, j, rows[i][j]) for i in range(len(rows)) for j in range(i + 1, len(rows))]
# %% wrong: by column instead of by row
def gpu_pairs(text):
    rows = [w[1:] for w in map(str.split, text.splitlines()) if w and re.match(r"GPU\d", w[0]) and "X" in w]
    return [(i, j, rows[i][j]) for j in range(len(rows)) for i in range(j)]
# %% wrong: the matrix must begin in the first line
def gpu_pairs(text):
    lines = text.strip().splitlines()[1:]
    rows = [line.split()[1:] for line in lines]
    n = sum(line.split()[:1] != [] and line.startswith("GPU") for line in lines)
    return [(i, j, rows[i][j]) for i in range(n) for j in range(i + 1, n)]
# %% wrong: prints the pairs
def gpu_pairs(text):
    rows = [w[1:] for w in map(str.split, text.splitlines()) if w and re.match(r"GPU\d", w[0]) and "X" in w]
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            print(i, j, rows[i][j])
