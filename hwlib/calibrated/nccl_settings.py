"""What a log says was set for NCCL, and what a setting does to a run."""

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["SETTINGS", "Cause", "nccl_lines", "settings_of"]

SET = re.compile(r"\b(NCCL_[A-Z0-9_]{2,40})(?:=| set by environment to )['\"]?([\w.,:^=/-]{1,80})")
CARD = re.compile(r"_\d")  # in the name of one card; what begins the names of several has no number of its own
SAID = (
    (
        "NET/Socket",
        "sockets",
        "the log says NET/Socket: messages between nodes go by TCP through the host, not by RDMA",
    ),
    ("via SHM", "host-memory", "the log says SHM: ranks of a node exchange through the host's memory, not over NVLink"),
    ("NVLS comm", "nvls", "the log says NVLS: the switch of the node reduces"),
)


class Cause(NamedTuple):
    """Something found in a log: its kind, one sentence, and the sizes that it is about (none: all)."""

    kind: str
    sentence: str
    sizes: tuple[int, ...] = ()


SETTINGS = {
    ("NCCL_P2P_DISABLE", "1"): ("p2p-off", "GPUs do not copy to each other, over NVLink or PCIe, but through the host"),
    ("NCCL_P2P_LEVEL", "LOC"): ("p2p-off", "GPUs do not copy to each other, over NVLink or PCIe, but through the host"),
    ("NCCL_SHM_DISABLE", "1"): ("shm-off", "ranks of a node that cannot copy to each other use the network cards"),
    ("NCCL_NVLS_ENABLE", "0"): (
        "nvls-off",
        "the switch of a node does not reduce: a ring's busbw is the port's at most",
    ),
    ("NCCL_IB_DISABLE", "1"): ("sockets", "messages between nodes go by TCP through the host, not by RDMA"),
    ("NCCL_NET", "SOCKET"): ("sockets", "messages between nodes go by TCP through the host, not by RDMA"),
    ("NCCL_NET_GDR_LEVEL", "0"): ("gdr-off", "messages between nodes go through the host's memory"),
    ("NCCL_NET_GDR_LEVEL", "LOC"): ("gdr-off", "messages between nodes go through the host's memory"),
    ("NCCL_PXN_DISABLE", "1"): (
        "pxn-off",
        "a message to a GPU on another rail is not passed over NVLink to the GPU that has this rail's card: it crosses "
        "the spine, or the link between sockets; an all-to-all has such messages, an all-reduce has not",
    ),
    ("NCCL_CROSS_NIC", "0"): ("cross-nic-off", "a ring keeps to one card of each node"),
}
"""What is lost by a setting, by its name and value, with the kind of the cause."""


def settings_of(text: str, hosts: int, n: int) -> Iterator[Cause]:
    """The settings that a command or NCCL's own lines name, each with what it does."""
    values = dict(SET.findall(text))
    for name, value in values.items():
        if known := SETTINGS.get((name, value.upper())):
            yield Cause(known[0], f"the log says {name}={value}: {known[1]}")
    algorithm = values.get("NCCL_ALGO", "").upper()
    if algorithm == "RING" and hosts > 2:
        yield Cause(
            "ring-forced",
            f"the log says NCCL_ALGO={values['NCCL_ALGO']}: a ring of {n} ranks waits {2 * (n - 1)} times for a "
            "message, a tree over the nodes some twice the logarithm of their number: small and middle sizes lose",
        )
    elif algorithm == "TREE" and hosts == 1:
        yield Cause(
            "tree-forced",
            f"the log says NCCL_ALGO={values['NCCL_ALGO']}: inside a node NCCL's tree is a chain, which saves no wait "
            "and has no advantage over a ring at large sizes",
        )
    if values.get("NCCL_PROTO", "").upper() in ("LL", "LL128"):
        proto = values["NCCL_PROTO"]
        share = "half" if proto.upper() == "LL" else "15/16"
        yield Cause("protocol-forced", f"the log says NCCL_PROTO={proto}: of what it sends {share} is data at any size")
    yield from _few_cards(values.get("NCCL_IB_HCA", ""), hosts)


def _few_cards(cards: str, hosts: int) -> Iterator[Cause]:
    names = [name for name in cards.lstrip("=").split(",") if name]
    if hosts > 1 and len(names) == 1 and not cards.startswith("^") and CARD.search(names[0]):
        yield Cause("one-nic", f"the log says NCCL_IB_HCA={cards}: one card carries what all GPUs of a node send")


def nccl_lines(text: str) -> Iterator[Cause]:
    """What NCCL's log of its own tells, where it is among the lines."""
    yield from (Cause(kind, sentence) for sign, kind, sentence in SAID if sign in text)
