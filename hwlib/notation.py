"""The table of symbols: name in code -> LaTeX, unit, meaning and domain.

A formula's parameters are names of this table, so a symbol has one meaning in the whole book. The unit is of
the SI base; a count ("token", "FLOP") has dimension one and only informs the reader. The domain is the set of
numbers that a formula accepts for the symbol: at least 0 by default.
"""

from math import inf
from typing import Any, NamedTuple


class SymbolDomain(NamedTuple):
    """The numbers that a symbol may be: from `low` (exclusive if `above` is set) to `high`. Never NaN.

    Infinity belongs to every domain without an upper bound: it gives the limit of a formula.
    """

    low: float
    above: bool = False
    high: float = inf

    def has(self, x: Any) -> Any:
        """Whether x is allowed; an array of answers for an array."""
        return ((x > self.low) if self.above else (x >= self.low)) & (x <= self.high)

    def __str__(self) -> str:
        if self.low == -inf:
            return "any number"
        low = f"{'above' if self.above else 'at least'} {self.low:g}"
        return low if self.high == inf else f"{low} and at most {self.high:g}"


NOT_NEGATIVE = SymbolDomain(0)
POSITIVE = SymbolDomain(0, above=True)  # what a formula divides by
ONE_OR_MORE = SymbolDomain(1)  # the members of a group
SHARE = SymbolDomain(0, above=True, high=1)


class Symbol(NamedTuple):
    """A symbol of the book: its LaTeX, its unit (see `hwlib.units`), its meaning in a few words, and its domain."""

    tex: str
    unit: str
    meaning: str
    domain: SymbolDomain = NOT_NEGATIVE


NOTATION: dict[str, Symbol] = {
    # Time, rates and work
    "t": Symbol("t", "s", "time"),
    "t0": Symbol("t_0", "s", "fixed cost of starting a kernel"),
    "alpha": Symbol(r"\alpha", "s", "latency of one step"),
    "C": Symbol("C", "FLOP/s", "peak arithmetic rate, dense", POSITIVE),
    "R": Symbol("R", "FLOP/s", "attainable arithmetic rate", POSITIVE),
    "W": Symbol("W", "B/s", "bandwidth, one direction", POSITIVE),
    "I": Symbol("I", "FLOP/B", "arithmetic intensity"),
    "flops": Symbol(r"\mathrm{FLOPs}", "FLOP", "arithmetic operations"),
    "bytes": Symbol(r"\mathrm{bytes}", "B", "bytes moved to and from memory"),
    "eta_C": Symbol(r"\eta_C", "1", "share of the peak rate that is reached", SHARE),
    "eta_W": Symbol(r"\eta_W", "1", "share of the bandwidth that is reached", SHARE),
    "speedup": Symbol(r"\mathrm{speedup}", "1", "ratio of the two times", POSITIVE),
    "phi": Symbol(r"\phi", "1", "bubble fraction", SymbolDomain(0, high=1)),
    # The chip
    "n_SM": Symbol(r"n_{\mathrm{SM}}", "1", "streaming multiprocessors", POSITIVE),
    "lanes": Symbol(r"n_{\mathrm{lane}}", "1", "float32 lanes of one multiprocessor", POSITIVE),
    "n_ALU": Symbol(r"n_{\mathrm{ALU}}", "1", "float32 lanes of the whole chip", POSITIVE),
    "f_clk": Symbol(r"f_{\mathrm{clk}}", "1/s", "clock frequency", POSITIVE),
    "ops_cycle": Symbol(r"o_{\mathrm{cycle}}", "FLOP", "operations per unit and clock cycle", POSITIVE),
    "n_MXU": Symbol(r"n_{\mathrm{MXU}}", "1", "matrix units of one core", POSITIVE),
    "ways": Symbol(r"n_{\mathrm{way}}", "1", "paths of a branch, equally likely", ONE_OR_MORE),
    "width": Symbol("w", "1", "threads of a warp", ONE_OR_MORE),
    "ways_warp": Symbol(r"\bar{n}_{\mathrm{way}}", "1", "paths of a branch that a warp executes, expected", POSITIVE),
    "busy": Symbol(r"\beta", "1", "share of the lanes that do work", SHARE),
    # The chip's memories
    "rho": Symbol(r"\rho", "1", "registers of one thread", POSITIVE),
    "S_RF": Symbol(r"S_{\mathrm{RF}}", "B", "register file of one multiprocessor"),
    "S_SM": Symbol(r"S_{\mathrm{SM}}", "B", "memory of one multiprocessor"),
    "S_fast": Symbol(r"S_{\mathrm{fast}}", "B", "fast memory that the tiles share"),
    "warps": Symbol(r"n_{\mathrm{warp}}", "1", "warps resident on one multiprocessor"),
    "threads": Symbol(r"n_{\mathrm{thread}}", "1", "threads of one block", POSITIVE),
    "blocks": Symbol(r"n_{\mathrm{block}}", "1", "blocks resident on one multiprocessor"),
    "S_block": Symbol(r"S_{\mathrm{block}}", "B", "shared memory that one block asks for"),
    "S_unit": Symbol(r"S_{\mathrm{unit}}", "B", "unit in which shared memory is given", POSITIVE),
    "S_sys": Symbol(r"S_{\mathrm{sys}}", "B", "shared memory of a block that the driver keeps"),
    "stages": Symbol("s", "1", "copies of the input tiles, one computed on while the others load", ONE_OR_MORE),
    "b_acc": Symbol(r"b_{\mathrm{acc}}", "B", "bytes per element of the accumulator"),
    "b_m": Symbol("b_m", "1", "rows of an output tile", POSITIVE),
    "b_n": Symbol("b_n", "1", "columns of an output tile", POSITIVE),
    "b_k": Symbol("b_k", "1", "depth of an input tile", POSITIVE),
    "M": Symbol("M", "1", "rows of a product", POSITIVE),
    "N_col": Symbol(r"N_{\mathrm{col}}", "1", "columns of a product", POSITIVE),
    "K_sum": Symbol(r"K_{\mathrm{sum}}", "1", "depth of a product, over which it sums", POSITIVE),
    "tiles": Symbol(r"n_{\mathrm{tile}}", "1", "output tiles"),
    "waves": Symbol(r"n_{\mathrm{wave}}", "1", "waves of output tiles", POSITIVE),
    "S_chip": Symbol(r"S_{\mathrm{chip}}", "B", "memory of all multiprocessors together"),
    "S_warp": Symbol(r"S_{\mathrm{warp}}", "B", "bytes that one warp has in flight", POSITIVE),
    "g_m": Symbol("g_m", "1", "tiles of a wave, down the rows", ONE_OR_MORE),
    "g_n": Symbol("g_n", "1", "tiles of a wave, across the columns", ONE_OR_MORE),
    "side": Symbol("a", "1", "side of a square tile", POSITIVE),
    "t_mem": Symbol(r"t_{\mathrm{mem}}", "s", "time from the request of a byte to the byte"),
    "S_flight": Symbol(r"S_{\mathrm{flight}}", "B", "bytes in flight"),
    "t_copy": Symbol(r"t_{\mathrm{copy}}", "s", "time from asking for a step's operands to their arrival"),
    "t_mma": Symbol(r"t_{\mathrm{mma}}", "s", "time of a step's products"),
    "cycles": Symbol(r"n_{\mathrm{cycle}}", "1", "clock cycles", POSITIVE),
    # Power
    "P_idle": Symbol(r"P_{\mathrm{idle}}", "W", "power at rest"),
    "P_switch": Symbol(r"P_{\mathrm{switch}}", "W", "power of switching at the highest clock"),
    "f_max": Symbol(r"f_{\mathrm{max}}", "1/s", "highest clock", POSITIVE),
    # Switches
    "switches": Symbol(r"n_{\mathrm{sw}}", "1", "switches", ONE_OR_MORE),
    "ports": Symbol(r"n_{\mathrm{port}}", "1", "ports of one switch", ONE_OR_MORE),
    "hosts": Symbol(r"n_{\mathrm{host}}", "1", "network cards that the switches join"),
    "W_link": Symbol(r"W_{\mathrm{link}}", "B/s", "bandwidth of one link, one direction", POSITIVE),
    "W_cut": Symbol(r"W_{\mathrm{cut}}", "B/s", "bandwidth from one half to the other, one direction", POSITIVE),
    "down": Symbol(r"n_{\downarrow}", "1", "cables of one switch down, to where the ranks are", POSITIVE),
    "up": Symbol(r"n_{\uparrow}", "1", "cables of one switch up, to the next tier", POSITIVE),
    "omega": Symbol(r"\omega", "1", "oversubscription: bandwidth from below over bandwidth up"),
    "tiers": Symbol(r"n_{\mathrm{tier}}", "1", "tiers of switches", ONE_OR_MORE),
    "cables": Symbol(r"n_{\mathrm{cable}}", "1", "cables"),
    "optics": Symbol(r"n_{\mathrm{optic}}", "1", "transceivers"),
    "dead": Symbol(r"n_{\mathrm{dead}}", "1", "switches that have failed"),
    "flows": Symbol(r"n_{\mathrm{flow}}", "1", "flows that leave by the cables of one switch", ONE_OR_MORE),
    "idle": Symbol(r"\phi_{\mathrm{idle}}", "1", "share of the cables that no flow uses", SymbolDomain(0, high=1)),
    "left": Symbol(r"\lambda", "1", "share of the bandwidth that is left", SymbolDomain(0, high=1)),
    "axis": Symbol(r"n_{\mathrm{axis}}", "1", "chips along one axis of a torus", ONE_OR_MORE),
    "cost": Symbol(r"\mathrm{cost}", "USD", "price of the whole"),
    "price_switch": Symbol(r"c_{\mathrm{sw}}", "USD", "price of a switch"),
    "price_optic": Symbol(r"c_{\mathrm{optic}}", "USD", "price of a transceiver"),
    "price_cable": Symbol(r"c_{\mathrm{cable}}", "USD", "price of a cable"),
    "P_el": Symbol(r"P_{\mathrm{el}}", "W", "electric power"),
    # The wire
    "hops": Symbol(r"n_{\mathrm{hop}}", "hop", "links on the way", ONE_OR_MORE),
    "paths": Symbol(r"n_{\mathrm{path}}", "1", "lanes, links or ways used side by side", ONE_OR_MORE),
    "alpha_LL": Symbol(r"\alpha_{\mathrm{LL}}", "s", "latency of a step, low-latency protocol"),
    "n_ch": Symbol(r"n_{\mathrm{ch}}", "1", "channels of a collective, each on a multiprocessor of its own"),
    "W_ch": Symbol(r"W_{\mathrm{ch}}", "B/s", "what one channel moves through the port", POSITIVE),
    "W_LL": Symbol(r"W_{\mathrm{LL}}", "B/s", "bandwidth of the low-latency protocol", POSITIVE),
    "W_lane": Symbol(r"W_{\mathrm{lane}}", "B/s", "signal rate of one lane, line code included", POSITIVE),
    "W_use": Symbol(r"W_{\mathrm{use}}", "B/s", "bandwidth that the payload sees", POSITIVE),
    "W_alg": Symbol(r"W_{\mathrm{alg}}", "B/s", "algorithm bandwidth", POSITIVE),
    "W_bus": Symbol(r"W_{\mathrm{bus}}", "B/s", "bus bandwidth", POSITIVE),
    "q": Symbol("q", "1", "bus factor of a collective"),
    "c_data": Symbol(r"c_{\mathrm{data}}", "1", "symbols of data in a block of the line code", POSITIVE),
    "c_line": Symbol(r"c_{\mathrm{line}}", "1", "symbols on the line for a block of the line code", POSITIVE),
    "p": Symbol("p", "B", "payload of a packet", POSITIVE),
    "h": Symbol("h", "B", "headers and checks of a packet"),
    "u": Symbol("u", "1", "share of the bytes on the wire that is payload", SHARE),
    "S_wire": Symbol(r"S_{\mathrm{wire}}", "B", "bytes on the wire"),
    "S_half": Symbol(r"S_{1/2}", "B", "size that reaches half the bandwidth"),
    "S_cross": Symbol(r"S^{*}", "B", "size at which two protocols or algorithms take equally long"),
    "t_rtt": Symbol(r"t_{\mathrm{rtt}}", "s", "time there and back", POSITIVE),
    # Arrays
    "b": Symbol("b", "B", "bytes per element"),
    "b_w": Symbol("b_w", "B", "bytes per weight", POSITIVE),
    "b_out": Symbol(r"b_{\mathrm{out}}", "B", "bytes per element of the output"),
    "N": Symbol("N", "element", "elements of an array"),
    "ops": Symbol("o", "FLOP", "operations per element"),
    "reads": Symbol("r", "1", "arrays read"),
    # The model
    "B": Symbol("B", "token", "tokens in the batch"),
    "B_crit": Symbol(r"B^{*}", "token", "smallest batch that is compute-bound"),
    "D": Symbol("D", "1", "model width", POSITIVE),
    "D_crit": Symbol(r"D^{*}", "1", "smallest width that is compute-bound", POSITIVE),
    "F": Symbol("F", "1", "feed-forward width", POSITIVE),
    "L": Symbol("L", "1", "layers", POSITIVE),
    "V": Symbol("V", "1", "vocabulary", POSITIVE),
    "P": Symbol("P", "param", "parameters", POSITIVE),
    "P_whole": Symbol(r"P_{\mathrm{whole}}", "param", "parameters that every rank reads whole"),
    "T": Symbol("T", "token", "tokens in a sequence"),
    "T_kv": Symbol(r"T_{\mathrm{kv}}", "token", "tokens of context, in the key-value cache"),
    "K": Symbol("K", "1", "key-value heads", POSITIVE),
    "G": Symbol("G", "1", "query heads per key-value head", POSITIVE),
    "H": Symbol("H", "1", "head width", POSITIVE),
    "E": Symbol("E", "1", "experts", ONE_OR_MORE),
    "k": Symbol("k", "1", "experts per token", POSITIVE),
    "n_q": Symbol("n_q", "1", "query heads", POSITIVE),
    "matrices": Symbol(r"n_{\mathrm{mat}}", "1", "matrices of an MLP: 3 with a gate, 2 without", POSITIVE),
    "tables": Symbol(r"n_{\mathrm{tab}}", "1", "tables of the vocabulary: 2, or 1 if they are tied", POSITIVE),
    "r_q": Symbol("r_q", "1", "width of the compressed queries", POSITIVE),
    "r_kv": Symbol(r"r_{\mathrm{kv}}", "1", "width of the compressed keys and values", POSITIVE),
    "d_nope": Symbol(r"d_{\mathrm{nope}}", "1", "width of a head's query and key without position", POSITIVE),
    "d_rope": Symbol(r"d_{\mathrm{rope}}", "1", "width of the key with the position, one for all heads", POSITIVE),
    "d_v": Symbol("d_v", "1", "width of a head's value", POSITIVE),
    "T_win": Symbol(r"T_{\mathrm{win}}", "token", "tokens that a token of a windowed layer sees", ONE_OR_MORE),
    "n_s": Symbol("n_s", "1", "heads of a layer that keeps a state, each with a matrix of its own", POSITIVE),
    "n_key": Symbol(r"n_{\mathrm{key}}", "1", "heads of keys in such a layer", POSITIVE),
    "d_k": Symbol("d_k", "1", "width of a head's key, the rows of its state", POSITIVE),
    "T_conv": Symbol(r"T_{\mathrm{conv}}", "token", "tokens that a short convolution sees", ONE_OR_MORE),
    "n_hc": Symbol(r"n_{\mathrm{hc}}", "1", "residual streams side by side", ONE_OR_MORE),
    "n_grp": Symbol(r"n_{\mathrm{grp}}", "1", "groups of heads, each with a narrower output of its own", POSITIVE),
    "r_out": Symbol(r"r_{\mathrm{out}}", "1", "width of such a group's output", POSITIVE),
    "n_over": Symbol(r"n_{\mathrm{over}}", "1", "strides whose tokens one compressed key is made of", ONE_OR_MORE),
    "S_entry": Symbol(r"S_{\mathrm{entry}}", "B", "bytes that one entry of a layer's cache takes", POSITIVE),
    "T_stride": Symbol(r"T_{\mathrm{stride}}", "token", "tokens from one compressed key to the next", POSITIVE),
    "T_blk": Symbol(r"T_{\mathrm{blk}}", "token", "tokens of a block of keys that is picked as a whole", POSITIVE),
    "n_pick": Symbol(r"n_{\mathrm{pick}}", "1", "blocks of keys that are picked for a token"),
    "T_read": Symbol(r"T_{\mathrm{read}}", "token", "tokens whose keys and values a new token reads"),
    "r_dt": Symbol(r"r_{\Delta}", "1", "width of what the steps of a state are made from", POSITIVE),
    "T_part": Symbol(r"T_{\mathrm{part}}", "token", "tokens of a part of a sequence, computed at once", POSITIVE),
    "S_mix": Symbol(r"S_{\mathrm{mix}}", "B", "bytes of one sequence's state in layers that keep one", POSITIVE),
    "b_s": Symbol("b_s", "B", "bytes per element of such a state", POSITIVE),
    "n_idx": Symbol(r"n_{\mathrm{idx}}", "1", "heads of an indexer", POSITIVE),
    "d_idx": Symbol(r"d_{\mathrm{idx}}", "1", "width of an indexer's key", POSITIVE),
    "T_top": Symbol(r"T_{\mathrm{top}}", "token", "keys that an indexer picks for a token", ONE_OR_MORE),
    "micro": Symbol(r"b_{\mu}", "1", "sequences of a microbatch", POSITIVE),
    "v": Symbol("v", "1", "chunks of layers on a rank, interleaved", ONE_OR_MORE),
    "segments": Symbol(r"n_{\mathrm{seg}}", "1", "segments between checkpoints", POSITIVE),
    "S_kv": Symbol(r"S_{\mathrm{kv}}", "B", "bytes of keys and values of one token"),
    "S_act": Symbol(r"S_{\mathrm{act}}", "B", "bytes kept for the backward pass"),
    "S_layer": Symbol(r"S_{\mathrm{layer}}", "B", "bytes that one layer keeps for the backward pass", POSITIVE),
    "S_keep": Symbol(r"S_{\mathrm{keep}}", "B", "bytes of what a checkpoint keeps of a layer", POSITIVE),
    "S_state": Symbol(r"S_{\mathrm{state}}", "B", "bytes of weights, gradients and optimizer on one rank"),
    "b_g": Symbol("b_g", "B", "bytes per gradient"),
    "b_opt": Symbol(r"b_{\mathrm{opt}}", "B", "bytes of the optimizer per parameter"),
    # A training run
    "mfu": Symbol(r"\mathrm{MFU}", "1", "share of the peak rate that the model's own operations reach", SHARE),
    "hfu": Symbol(r"\mathrm{HFU}", "1", "share of the peak rate that all operations reach, recomputed ones too", SHARE),
    "t_step": Symbol(r"t_{\mathrm{step}}", "s", "time of one step", POSITIVE),
    "R_tok": Symbol(r"R_{\mathrm{tok}}", "token/s", "tokens per second, all ranks together", POSITIVE),
    "B_run": Symbol(r"B_{\mathrm{run}}", "token", "tokens of the whole run"),
    "t_mtbf": Symbol(r"t_{\mathrm{MTBF}}", "s", "mean time between failures that stop the job", POSITIVE),
    "t_node": Symbol(r"t_{\mathrm{node}}", "s", "mean time between failures of one node", POSITIVE),
    "t_save": Symbol(r"t_{\mathrm{save}}", "s", "time that training waits for a checkpoint to be written"),
    "t_back": Symbol(r"t_{\mathrm{back}}", "s", "time from a failure until training goes on from the checkpoint"),
    "tau": Symbol(r"\tau", "s", "training time between two checkpoints", POSITIVE),
    "S_save": Symbol(r"S_{\mathrm{save}}", "B", "bytes of a checkpoint", POSITIVE),
    "W_save": Symbol(r"W_{\mathrm{save}}", "B/s", "rate at which a rank writes to the storage", POSITIVE),
    "failures": Symbol(r"n_{\mathrm{fail}}", "1", "failures that stop the job, expected"),
    "goodput": Symbol(r"\gamma", "1", "share of the time in which training gets on", SHARE),
    "p_slow": Symbol(r"p_{\mathrm{slow}}", "1", "probability that one rank is slow in a step", SymbolDomain(0, high=1)),
    "p_step": Symbol(
        r"p_{\mathrm{step}}", "1", "share of the steps in which some rank is slow", SymbolDomain(0, high=1)
    ),
    "energy": Symbol(r"E_{\mathrm{el}}", "J", "electric energy"),
    "pue": Symbol(r"\mathrm{PUE}", "1", "energy of the whole building over that of its computers", ONE_OR_MORE),
    "price": Symbol(r"c_{\mathrm{rank}}", "USD/s", "price of one rank", POSITIVE),
    # Serving
    "b_kv": Symbol(r"b_{\mathrm{kv}}", "B", "bytes per element of the key-value cache", POSITIVE),
    "S_hbm": Symbol(r"S_{\mathrm{HBM}}", "B", "memory of one rank", POSITIVE),
    "T_in": Symbol(r"T_{\mathrm{in}}", "token", "tokens of a prompt", POSITIVE),
    "T_out": Symbol(r"T_{\mathrm{out}}", "token", "tokens that are generated for a prompt", POSITIVE),
    "T_drop": Symbol(r"T_{\mathrm{drop}}", "token", "tokens of cache that are freed in a step, at the mean"),
    "T_hit": Symbol(r"T_{\mathrm{hit}}", "token", "tokens of a prompt whose cache is there already, and reused"),
    "T_lost": Symbol(r"T_{\mathrm{lost}}", "token", "tokens of cache that are held and not used"),
    "T_again": Symbol(r"T_{\mathrm{again}}", "token", "tokens of cache that are read once more"),
    "copies": Symbol(r"n_{\mathrm{copy}}", "1", "ranks that keep the same part of a cache", ONE_OR_MORE),
    "page": Symbol(r"T_{\mathrm{page}}", "token", "tokens of a page of the cache", ONE_OR_MORE),
    "chunk": Symbol(r"T_{\mathrm{chunk}}", "token", "tokens of a chunk of the prompt", POSITIVE),
    "lost": Symbol(
        r"\phi_{\mathrm{lost}}", "1", "share of the cache that is held and not used", SymbolDomain(0, high=1)
    ),
    "b_scale": Symbol(r"b_{\mathrm{scale}}", "B", "bytes of the scale that a group of weights shares"),
    "b_eff": Symbol(r"b_{\mathrm{eff}}", "B", "bytes per weight, its part of a scale included", POSITIVE),
    "group": Symbol(r"n_{\mathrm{group}}", "1", "weights that share a scale", ONE_OR_MORE),
    "accept": Symbol(r"p_{\mathrm{acc}}", "1", "probability that a drafted token is accepted", SymbolDomain(0, high=1)),
    "drafts": Symbol(r"\gamma_{\mathrm{draft}}", "1", "tokens that are drafted before a step"),
    "c_draft": Symbol(r"c_{\mathrm{draft}}", "1", "time of a draft over the time of a step"),
    "work": Symbol(r"\omega_{\mathrm{op}}", "1", "operations over those that plain decoding takes", POSITIVE),
    "T_new": Symbol(r"T_{\mathrm{new}}", "token", "tokens that a step gives a sequence, expected"),
    "t_layer": Symbol(r"t_{\mathrm{layer}}", "s", "time of a layer beside its weights and its cache"),
    "n_k": Symbol(r"n_{\mathrm{k}}", "1", "kernels that a layer launches"),
    "t_launch": Symbol(r"t_{\mathrm{launch}}", "s", "time that the host takes to launch one kernel"),
    "t_dev": Symbol(r"t_{\mathrm{dev}}", "s", "time of a step's kernels on the device, one right after the other"),
    "t_host": Symbol(r"t_{\mathrm{host}}", "s", "time in which the host launches a step"),
    "R_req": Symbol(r"R_{\mathrm{req}}", "1/s", "requests per second", POSITIVE),
    "R_in": Symbol(r"R_{\mathrm{in}}", "token/s", "computed prompt tokens per second of one prefill rank", POSITIVE),
    "R_out": Symbol(r"R_{\mathrm{out}}", "token/s", "generated tokens per second of one decode rank", POSITIVE),
    "t_in": Symbol(r"t_{\mathrm{in}}", "s", "time of the prefill of one prompt"),
    "ratio": Symbol(r"n_{\mathrm{in}/\mathrm{out}}", "1", "prefill ranks for each decode rank"),
    "n_D": Symbol(r"n_{D}", "rank", "ranks among which the width of the weights is cut", ONE_OR_MORE),
    # Queues
    "load": Symbol(r"\rho_{\mathrm{srv}}", "1", "share of the time in which a server is busy", SymbolDomain(0, high=1)),
    "t_srv": Symbol(r"t_{\mathrm{srv}}", "s", "time of one request at a server, at the mean", POSITIVE),
    "cv2": Symbol(r"C^2_{\mathrm{srv}}", "1", "variance of that time over its mean squared"),
    "cv2_gap": Symbol(r"C^2_{\mathrm{gap}}", "1", "variance of the time between arrivals over its mean squared"),
    "t_wait": Symbol(r"t_{\mathrm{wait}}", "s", "time in the queue, at the mean"),
    "t_resid": Symbol(r"t_{\mathrm{resid}}", "s", "what is left of the request in service, at the mean"),
    "n_srv": Symbol(r"n_{\mathrm{srv}}", "1", "servers with one queue", ONE_OR_MORE),
    "N_req": Symbol(r"N_{\mathrm{req}}", "1", "requests at once, at the mean"),
    "t_stay": Symbol(r"t_{\mathrm{stay}}", "s", "time from a request's arrival to its end, at the mean"),
    "hit": Symbol(
        r"h_{\mathrm{pre}}", "1", "share of the prompt tokens whose cache is there already", SymbolDomain(0, high=1)
    ),
    "cost_req": Symbol(r"c_{\mathrm{req}}", "USD", "price of serving one request"),
    "W_cache": Symbol(
        r"W_{\mathrm{cache}}", "B/s", "bandwidth at which a cache is copied to or from a rank group", POSITIVE
    ),
    # Pipelines
    "t_F": Symbol("t_F", "s", "forward pass of a microbatch on one rank", POSITIVE),
    "t_B": Symbol("t_B", "s", "backward pass of a microbatch on one rank", POSITIVE),
    "t_I": Symbol("t_I", "s", "its part for the gradient of the input", POSITIVE),
    "t_W": Symbol("t_W", "s", "its part for the gradients of the weights", POSITIVE),
    "t_FB": Symbol(r"t_{\mathrm{FB}}", "s", "a forward and a backward pass that run together", POSITIVE),
    "t_send": Symbol(r"t_{\mathrm{send}}", "s", "a message from one rank of a pipeline to the next"),
    "t_bubble": Symbol(r"t_{\mathrm{bubble}}", "s", "time in a step that a rank does not compute"),
    "phi_ideal": Symbol(r"\phi_{\mathrm{ideal}}", "1", "bubble over the time without one"),
    "n_live": Symbol(r"n_{\mathrm{live}}", "1", "microbatches at once whose activations a rank keeps"),
    # Groups of ranks
    "n": Symbol("n", "rank", "ranks in the group", ONE_OR_MORE),
    "S": Symbol("S", "B", "size of the full buffer"),
    "m": Symbol("m", "1", "chunks, or microbatches", ONE_OR_MORE),
    "S_out": Symbol(r"S_{\mathrm{out}}", "B", "bytes that leave by a port"),
    "S_in": Symbol(r"S_{\mathrm{in}}", "B", "bytes that come in by a port"),
    "S_stage": Symbol(r"S_{\mathrm{stage}}", "B", "bytes that a stage of a pipeline holds at most", POSITIVE),
    "d": Symbol("d", "1", "children of a level of the network that take part", ONE_OR_MORE),
    "Y": Symbol("Y", "rank", "ranks of the mesh axes inside this one", ONE_OR_MORE),
    "p_dst": Symbol(
        r"p_{\mathrm{dst}}", "1", "probability that a token has business on a rank", SymbolDomain(0, high=1)
    ),
    # Two levels: inside a node, and across nodes
    "n_in": Symbol(r"n_{\mathrm{in}}", "rank", "ranks in a node", ONE_OR_MORE),
    "n_out": Symbol(r"n_{\mathrm{out}}", "1", "nodes", ONE_OR_MORE),
    "alpha_in": Symbol(r"\alpha_{\mathrm{in}}", "s", "latency of one step inside a node"),
    "alpha_out": Symbol(r"\alpha_{\mathrm{out}}", "s", "latency of one step across nodes"),
    "W_in": Symbol(r"W_{\mathrm{in}}", "B/s", "bandwidth of a rank inside its node, one direction", POSITIVE),
    "W_out": Symbol(r"W_{\mathrm{out}}", "B/s", "bandwidth of a rank across nodes, one direction", POSITIVE),
    "dp": Symbol(r"n_{\mathrm{dp}}", "1", "data-parallel degree", ONE_OR_MORE),
    "tp": Symbol(r"n_{\mathrm{tp}}", "1", "tensor-parallel degree", ONE_OR_MORE),
    "pp": Symbol(r"n_{\mathrm{pp}}", "1", "pipeline-parallel degree", ONE_OR_MORE),
    "cp": Symbol(r"n_{\mathrm{cp}}", "1", "context-parallel degree", ONE_OR_MORE),
    "ep": Symbol(r"n_{\mathrm{ep}}", "1", "expert-parallel degree", ONE_OR_MORE),
    # Parallel training: a level of the machine, an axis of the mesh
    "t_math": Symbol(r"t_{\mathrm{math}}", "s", "time of the arithmetic"),
    "t_comm": Symbol(r"t_{\mathrm{comm}}", "s", "time of the communication"),
    "hide": Symbol(
        r"\eta_{\mathrm{hide}}", "1", "share of the arithmetic that can hide bytes", SymbolDomain(0, high=1)
    ),
    "W_dp": Symbol(r"W_{\mathrm{dp}}", "B/s", "bandwidth along the data-parallel axis, one direction", POSITIVE),
    "W_tp": Symbol(r"W_{\mathrm{tp}}", "B/s", "bandwidth along the tensor-parallel axis, one direction", POSITIVE),
    "F_crit": Symbol(r"F^{*}", "1", "smallest feed-forward width that is compute-bound", POSITIVE),
    "b_disp": Symbol(r"b_{\mathrm{disp}}", "B", "bytes per element on the way to the experts"),
    "b_comb": Symbol(r"b_{\mathrm{comb}}", "B", "bytes per element on the way back"),
    "n_lim": Symbol(r"n_{\mathrm{lim}}", "1", "nodes that a token may be sent to at most", ONE_OR_MORE),
    "headroom": Symbol(r"\kappa", "1", "room of an expert over its mean load: the capacity factor", POSITIVE),
    "T_expert": Symbol(r"T_{\mathrm{expert}}", "token", "tokens that one expert takes at most"),
    "imbalance": Symbol(r"\sigma", "1", "load of the busiest rank over the mean", ONE_OR_MORE),
    "spread": Symbol(r"\varsigma", "1", "standard deviation of the loads over their mean"),
}

COLLECTIVES = (
    "all_gather",
    "reduce_scatter",
    "all_reduce",
    "all_to_all",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
    "send",
)
"""The collectives, and a plain message, by the names that all functions of the book use."""
