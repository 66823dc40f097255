"""The one table of symbols: the name in code -> its LaTeX, its unit and what it means.

A formula's parameters are names of this table, so a letter means one thing in the whole book. The unit is of
the SI base; a count ("token", "FLOP") has dimension one and is there to be read.
"""

from typing import NamedTuple


class Symbol(NamedTuple):
    """A letter of the book: how it prints, its unit (see `hwlib.units`), and its meaning in a few words."""

    tex: str
    unit: str
    meaning: str


NOTATION: dict[str, Symbol] = {
    # Time, rates and work
    "t": Symbol("t", "s", "time"),
    "t0": Symbol("t_0", "s", "fixed cost of starting a kernel"),
    "alpha": Symbol(r"\alpha", "s", "latency of one step"),
    "C": Symbol("C", "FLOP/s", "peak arithmetic rate, dense"),
    "R": Symbol("R", "FLOP/s", "attainable arithmetic rate"),
    "W": Symbol("W", "B/s", "bandwidth, one direction"),
    "I": Symbol("I", "FLOP/B", "arithmetic intensity"),
    "flops": Symbol(r"\mathrm{FLOPs}", "FLOP", "arithmetic operations"),
    "bytes": Symbol(r"\mathrm{bytes}", "B", "bytes moved to and from memory"),
    "eta_C": Symbol(r"\eta_C", "1", "share of the peak rate that is reached"),
    "eta_W": Symbol(r"\eta_W", "1", "share of the bandwidth that is reached"),
    "speedup": Symbol(r"\mathrm{speedup}", "1", "ratio of the two times"),
    "phi": Symbol(r"\phi", "1", "bubble fraction"),
    # The chip
    "n_SM": Symbol(r"n_{\mathrm{SM}}", "1", "streaming multiprocessors"),
    "lanes": Symbol(r"n_{\mathrm{lane}}", "1", "float32 lanes of one multiprocessor"),
    "f_clk": Symbol(r"f_{\mathrm{clk}}", "1/s", "clock frequency"),
    "ops_cycle": Symbol(r"o_{\mathrm{cycle}}", "FLOP", "operations per unit and clock cycle"),
    # Arrays
    "b": Symbol("b", "B", "bytes per element"),
    "b_w": Symbol("b_w", "B", "bytes per weight"),
    "b_out": Symbol(r"b_{\mathrm{out}}", "B", "bytes per element of the output"),
    "N": Symbol("N", "element", "elements of an array"),
    "ops": Symbol("o", "FLOP", "operations per element"),
    "reads": Symbol("r", "1", "arrays read"),
    # The model
    "B": Symbol("B", "token", "tokens in the batch"),
    "B_crit": Symbol(r"B^{*}", "token", "smallest batch that is compute-bound"),
    "D": Symbol("D", "1", "model width"),
    "D_crit": Symbol(r"D^{*}", "1", "smallest width that is compute-bound"),
    "F": Symbol("F", "1", "feed-forward width"),
    "L": Symbol("L", "1", "layers"),
    "V": Symbol("V", "1", "vocabulary"),
    "P": Symbol("P", "param", "parameters"),
    "T": Symbol("T", "token", "tokens in a sequence"),
    "T_kv": Symbol(r"T_{\mathrm{kv}}", "token", "tokens of context, in the key-value cache"),
    "K": Symbol("K", "1", "key-value heads"),
    "G": Symbol("G", "1", "query heads per key-value head"),
    "H": Symbol("H", "1", "head width"),
    "E": Symbol("E", "1", "experts"),
    "k": Symbol("k", "1", "experts per token"),
    # Groups of ranks
    "n": Symbol("n", "rank", "ranks in the group"),
    "S": Symbol("S", "B", "size of the full buffer"),
    "m": Symbol("m", "1", "microbatches"),
    "dp": Symbol(r"n_{\mathrm{dp}}", "1", "data-parallel degree"),
    "tp": Symbol(r"n_{\mathrm{tp}}", "1", "tensor-parallel degree"),
    "pp": Symbol(r"n_{\mathrm{pp}}", "1", "pipeline-parallel degree"),
    "cp": Symbol(r"n_{\mathrm{cp}}", "1", "context-parallel degree"),
    "ep": Symbol(r"n_{\mathrm{ep}}", "1", "expert-parallel degree"),
}
