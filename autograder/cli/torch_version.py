"""The release of torch that the labs are written for."""

import re
from importlib import metadata


def wanted_torch() -> str:
    """The release that this installation's extra `labs` asks for, "2.13"; empty where nothing is installed to tell."""
    try:
        lines = metadata.requires("gpubook") or []
    except metadata.PackageNotFoundError:
        return ""
    return next((release_of(match[1]) for line in lines if (match := re.match(r"torch==([\d.]+)", line))), "")


def release_of(version: str) -> str:
    """The first two numbers of a version: of 2.13.0+cpu, 2.13."""
    return ".".join(version.split("+")[0].split(".")[:2])
