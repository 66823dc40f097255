"""The key by which a course proves to a platform who it is: made once, in `.gpubook/`, readable by its owner alone.

The platform gets the public half, as a set of keys, as one key, or as PEM.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import broken, text_of
from ...values.own_folder import own

FILE = "lti-key.pem"
BITS = 3072
ALGORITHM = "RS256"  # the one that every platform has to take
REMEDY = (
    "restore it from a backup, or make another and give the platform its public half: `gpubook course lti keys --new`"
)


@dataclass(frozen=True)
class CourseKey:
    """A private key; `repr` shows nothing of it."""

    private: Any

    def __repr__(self) -> str:
        return f"CourseKey({self.kid})"

    @cached_property
    def public(self) -> dict[str, str]:
        """The public half as a JSON Web Key."""
        plain = RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        return {"kty": "RSA", "n": plain["n"], "e": plain["e"], "alg": ALGORITHM, "use": "sig", "kid": self.kid}

    @cached_property
    def kid(self) -> str:
        """Its name, which follows from it: the thumbprint of RFC 7638."""
        plain = RSAAlgorithm.to_jwk(self.private.public_key(), as_dict=True)
        members = json.dumps({name: plain[name] for name in ("e", "kty", "n")}, separators=(",", ":"), sort_keys=True)
        return base64.urlsafe_b64encode(hashlib.sha256(members.encode()).digest()).rstrip(b"=").decode()

    def shown(self, form: str) -> str:
        """The public half as a platform takes it: "jwks" (at an address), "jwk" (pasted), "pem"."""
        if form == "pem":
            encoding, public = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            return self.private.public_key().public_bytes(encoding, public).decode().rstrip()
        return json.dumps({"keys": [self.public]} if form == "jwks" else self.public, indent=1)


def make(folder: Path) -> CourseKey:
    """Another key for the course, which replaces the one before."""
    path = own(folder, FILE)
    made = CourseKey(rsa.generate_private_key(public_exponent=65537, key_size=BITS))
    plain = made.private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_whole(path, plain.decode(), mode=0o600)
    return made


def load(folder: Path) -> CourseKey | None:
    """The course's key; None where it has none. CourseError where the file holds none, or others can read it."""
    path = own(folder, FILE)
    if not path.exists():
        return None
    text = text_of(path, REMEDY, CourseError)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise broken(
            path, "others than you can read it", f"`chmod 600 {path}`, if nobody has; or {REMEDY}", CourseError
        )
    try:
        private = serialization.load_pem_private_key(text.encode(), None)
    except (ValueError, TypeError):
        raise broken(path, "not a private key", REMEDY, CourseError) from None
    if not isinstance(private, rsa.RSAPrivateKey):
        raise broken(path, "not an RSA key", REMEDY, CourseError)
    return CourseKey(private)
