"""Reads a binary model file by docs/model-files.md alone, without any code of margins: python examples/read_model.py FILE..."""

import json
import struct
import sys
import zlib


class Bytes:
    """The bytes of a file, taken from the front."""

    def __init__(self, content):
        self.content, self.at = content, 0

    def take(self, form):
        (value,) = struct.unpack_from("<" + form, self.content, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def integer(self):
        return self.take("Q")

    def number(self):
        return self.take("d")

    def text(self):
        length = self.integer()
        self.at += length
        return self.content[self.at - length : self.at].decode()

    def truth(self):
        return {0: False, 1: True}[self.take("B")]

    def option(self, of):
        return of() if self.truth() else None

    def list(self, of):
        return [of() for _ in range(self.integer())]


def read(content):
    """Returns what a binary model says, as a dictionary; a path has the members of all lambdas, one lambda after another."""
    magic, version, checksum, description, numbers = struct.unpack("<8sIIQQ", content[:32])
    if magic != b"\x89MGN\r\n\x1a\n" or version not in (1, 2, 3, 4):
        raise ValueError("not a binary model of version 1 to 4")
    if len(content) != 32 + description + numbers or zlib.crc32(content[:12] + content[16:]) != checksum:
        raise ValueError("the file is damaged")
    file = Bytes(content[32:])
    model = {
        "version": version,
        "crate_version": file.text(),
        "loss": file.text(),
        "kernel": file.option(file.text),
        "scheme": scheme(file),
        "classes": file.list(file.text),
        "feature_names": file.option(lambda: file.list(file.text)),
        "members": file.list(lambda: member(file)),
        "encoding": file.option(lambda: json.loads(file.text())),
        "label_type": file.option(file.text),
    }
    if file.at != description:
        raise ValueError("the description ends elsewhere")
    intercepts = file.list(file.number)
    coefs = file.list(lambda: file.list(file.number))
    for one, intercept, coef in zip(model["members"], intercepts, coefs, strict=True):
        one |= {"intercept": intercept, "coef": coef}
    model["scales"] = file.option(lambda: file.list(file.number))
    model["linear"] = file.list(lambda: file.take("I"))
    model["functions"] = functions(file)
    if file.at != description + numbers:
        raise ValueError("the numbers end elsewhere")
    return model


def scheme(file):
    """Returns the name of a scheme, for votes of each class with the number of its members, for a decision list with its rule."""
    first = ["binary", "one-versus-rest", "one-versus-one", "majority", "majority-versus-rest"]
    names = [*first, "joint", "multinomial", "plurality", "decision-list", "crammer-singer"]
    name = names[file.take("I")]
    if name == "majority-versus-rest":
        return {name: file.list(lambda: file.take("Q"))}
    if name == "decision-list":
        thresholds = file.list(file.number)
        return {name: {"thresholds": thresholds, "divisor": {["number", "norm"][file.take("I")]: file.number()}}}
    return name


def member(file):
    scaling = lambda: [file.number(), file.number(), file.number(), file.number(), file.integer()]
    return {
        "lambda": file.number() or None,
        "rows": file.integer(),
        "standardized": file.truth(),
        "objective": file.option(file.number),
        "dual_objective": file.option(file.number),
        "relative_gap": file.option(file.number),
        "converged": file.truth(),
        "platt": file.option(scaling),
    }


def functions(file):
    kind = ["features", "dense", "sparse", "frequencies"][file.take("I")]
    if kind == "features":
        return {"kind": kind}
    columns = file.take("I")
    if kind == "sparse":
        offsets, indices = file.list(file.integer), file.list(lambda: file.take("I"))
        return {"kind": kind, "columns": columns, "offsets": offsets, "indices": indices, "values": file.list(file.number)}
    return {"kind": kind, "columns": columns, "values": file.list(file.number)}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with open(name, "rb") as opened:
            print(json.dumps(read(opened.read()), indent=2))
