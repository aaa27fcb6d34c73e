#!/usr/bin/env python3
"""Compares `dossier tokens --ids` with llama.cpp on SentencePiece vocabularies of GGUF files.

usage: compare_sentence_piece.py --dossier PATH [--library SO] [--vocabularies N] [--seed N]

Writes models of one layer of zeros whose vocabularies are drawn at random, and lets both count random
text by them. llama.cpp is the library inside the PyPI package xllamacpp, which `scripts/setup --test` puts
into .cache/peers, or one that --library names; nothing is computed but tokens. Without one it fails.
"""

import argparse
import ctypes
import pathlib
import random
import struct
import sys
import tempfile

import compare

TEXTS = 300  # of each vocabulary
NORMAL, UNKNOWN, CONTROL, BY_HAND, BYTE = 1, 2, 3, 4, 6
ALPHABET = ["a", "b", "c", "\u2581", "\u2581\u2581", "é", "世", "界", ".", "1", "\n", "\u0301", "'", "🌍"]
WIDTH = 32  # of the model's layer
PARAMETERS = 512  # bytes; more than llama_model_params has


class Parameters(ctypes.Structure):
    """What llama_model_default_params gives, handed on as it is."""
    _fields_ = [("bytes", ctypes.c_char * PARAMETERS)]


def library_path() -> str:
    peers = pathlib.Path(__file__).parents[2] / ".cache/peers"
    return next(map(str, peers.glob("lib/python3*/site-packages/xllamacpp/*.so")), "")


class Library:
    def __init__(self, path: str):
        self.calls = ctypes.CDLL(path)
        self.quiet = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(
            lambda *_: None)
        self.calls.llama_log_set(self.quiet, None)
        self.calls.llama_backend_init()
        self.calls.llama_model_default_params.restype = Parameters
        self.calls.llama_model_load_from_file.restype = ctypes.c_void_p
        self.calls.llama_model_load_from_file.argtypes = [ctypes.c_char_p, Parameters]
        self.calls.llama_model_get_vocab.restype = ctypes.c_void_p
        self.calls.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
        self.calls.llama_model_free.argtypes = [ctypes.c_void_p]
        self.calls.llama_tokenize.argtypes = [
            ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_int32),
            ctypes.c_int32, ctypes.c_bool, ctypes.c_bool]


class Model:
    """A vocabulary that llama.cpp has loaded, asked as tiktoken is."""

    def __init__(self, library: Library, path: str, tokens: list[str]):
        self.calls, self.tokens = library.calls, tokens
        self.model = self.calls.llama_model_load_from_file(
            path.encode(), self.calls.llama_model_default_params())
        if not self.model:
            raise RuntimeError(f"llama.cpp cannot load {path}")
        self.vocabulary = self.calls.llama_model_get_vocab(self.model)

    def encode_ordinary(self, text: str) -> list[int]:
        raw = text.encode()
        room = (ctypes.c_int32 * (4 * len(raw) + 16))()
        count = self.calls.llama_tokenize(self.vocabulary, raw, len(raw), room, len(room), False,
                                          False)
        assert count >= 0, "there is room for four tokens a byte"
        return list(room[:count])

    def decode(self, ids: list[int]) -> str:
        return "|".join(self.tokens[i] for i in ids)

    def close(self) -> None:
        self.calls.llama_model_free(self.model)


def packed_text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def packed_field(key: str, kind: int, form: str, value) -> bytes:
    return packed_text(key) + struct.pack("<I" + form, kind, value)


def packed_list(key: str, kind: int, items: list[bytes]) -> bytes:
    return packed_text(key) + struct.pack("<IIQ", 9, kind, len(items)) + b"".join(items)


def write_model(path: str, vocabulary: list[tuple[str, float, int]], space_prefix: bool) -> None:
    """A GGUF file, version 3: fields, the list of tensors, and zeros."""
    number, real, text = 4, 6, 8
    fields = [packed_text("general.architecture") + struct.pack("<I", text) + packed_text("llama"),
              packed_text("tokenizer.ggml.model") + struct.pack("<I", text) + packed_text("llama"),
              packed_field("llama.attention.layer_norm_rms_epsilon", real, "f", 1e-5),
              packed_field("tokenizer.ggml.add_space_prefix", 7, "?", space_prefix),
              packed_list("tokenizer.ggml.tokens", text, [packed_text(t) for t, _, _ in vocabulary]),
              packed_list("tokenizer.ggml.scores", real,
                          [struct.pack("<f", score) for _, score, _ in vocabulary]),
              packed_list("tokenizer.ggml.token_type", 5,
                          [struct.pack("<i", kind) for _, _, kind in vocabulary])]
    for key, value in {"llama.context_length": 64, "llama.embedding_length": WIDTH,
                       "llama.block_count": 1, "llama.feed_forward_length": WIDTH,
                       "llama.attention.head_count": 2, "llama.rope.dimension_count": WIDTH // 2,
                       "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2,
                       "tokenizer.ggml.unknown_token_id": 0}.items():
        fields.append(packed_field(key, number, "I", value))
    shapes = {"token_embd.weight": (WIDTH, len(vocabulary)), "output_norm.weight": (WIDTH,),
              "blk.0.attn_norm.weight": (WIDTH,), "blk.0.ffn_norm.weight": (WIDTH,)}
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        shapes[f"blk.0.{name}.weight"] = (WIDTH, WIDTH)
    infos, offset = [], 0
    for name, shape in shapes.items():
        infos.append(packed_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0,
                                                     offset))
        size = 4
        for side in shape:
            size *= side
        offset += (size + 31) // 32 * 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(fields)) + b"".join(fields + infos)
    pathlib.Path(path).write_bytes(head + bytes(-len(head) % 32) + bytes(offset))


def some_vocabulary(draw: random.Random) -> list[tuple[str, float, int]]:
    """Bytes, letters, random joins of what is there, and some tokens added by hand."""
    vocabulary = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
    vocabulary += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    parts = draw.sample(ALPHABET, draw.randrange(4, len(ALPHABET)))
    known = set(parts)
    while len(parts) < draw.choice([12, 40, 150]):
        joined = draw.choice(parts) + draw.choice(parts)
        if len(joined) > 16 or joined in known:
            joined = "".join(draw.choices(ALPHABET, k=draw.randrange(2, 5)))
        if joined not in known:
            known.add(joined)
            parts.append(joined)
    scores = [float(-index) for index in range(len(parts))]
    if draw.random() < 0.5:
        draw.shuffle(scores)
    if draw.random() < 0.2:
        scores = [draw.choice([0.0, -1.0]) for _ in parts]  # equal ones
    vocabulary += list(zip(parts, scores, [NORMAL] * len(parts), strict=True))
    for text in draw.sample(["<tool>", "  ", "   ", "\n\n", "ab", "<a", "a<", "世界"],
                            draw.randrange(4)):
        if text not in known:
            vocabulary.append((text, 0.0, BY_HAND))
    return vocabulary


def some_text(draw: random.Random) -> str:
    length = draw.choice([3, 20, 200])
    if draw.random() < 0.2:
        code_points = (draw.randrange(1, 0x110000) for _ in range(length))
        return "".join(chr(c) for c in code_points if not 0xD800 <= c < 0xE000) or "a"
    pieces = [*ALPHABET, " ", "  ", "<tool>", "<a", "<s>", "d", "世界"]
    return "".join(draw.choices(pieces, k=draw.randrange(1, length)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dossier", required=True)
    parser.add_argument("--library", default=library_path())
    parser.add_argument("--vocabularies", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if not arguments.library:
        print("no llama.cpp: `scripts/setup --test` installs one into .cache/peers, --library names another")
        return 1
    try:
        library = Library(arguments.library)
    except (OSError, AttributeError) as error:  # made for another Python, or without these functions
        print(f"{arguments.library}: {error}")
        return 1
    draw = random.Random(arguments.seed)
    texts = different = 0
    with tempfile.TemporaryDirectory() as folder:
        for index in range(arguments.vocabularies):
            path = f"{folder}/{index}.gguf"
            vocabulary = some_vocabulary(draw)
            write_model(path, vocabulary, draw.random() < 0.5)
            model = Model(library, path, [text for text, _, _ in vocabulary])
            comparison = compare.Comparison(arguments.dossier, f"gguf:{path}", model)
            comparison.add([some_text(draw) for _ in range(TEXTS)])
            model.close()
            texts += comparison.texts
            different += comparison.different
    print(f"{arguments.vocabularies} vocabularies, {texts} texts, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
