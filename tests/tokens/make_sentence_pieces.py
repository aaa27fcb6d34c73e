#!/usr/bin/env python3
"""Makes tests/tokens/data/sentence_pieces_*: small SentencePiece models as GGUF files, and texts with
the tokens that PyPI's sentencepiece gives them. Run it again only to widen the cases.

usage: make_sentence_pieces.py        (with an interpreter that has PyPI's sentencepiece)

marked: a space in front of each text. plain: none; tokens across spaces and tokens added by hand.
"""

import io
import json
import pathlib
import random
import struct

import sentencepiece

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(__file__).resolve().parent / "data"
NORMAL, UNKNOWN, CONTROL, BY_HAND, UNUSED, BYTE = 1, 2, 3, 4, 5, 6  # as llama.cpp numbers them
ADDED = ["<tool>", "[[", "\n\n"]
SAMPLES = ["naïve café", "Größe Straße über", "こんにちは、世界", "ПРИВЕТ мир", "东京 是 日本", "👩‍👩‍👧‍👦 🌍", "e\u0301 \ufffd",
           "a  b   c    d", "\t\tif (x) {\r\n", "1234567890", "▁ is the sign"]


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf(model: sentencepiece.SentencePieceProcessor, marked: bool) -> bytes:
    ids = range(model.get_piece_size())

    def kind(i: int) -> int:
        piece = model.id_to_piece(i)
        for is_kind, number in ((model.is_unknown, UNKNOWN), (model.is_control, CONTROL),
                                (model.is_byte, BYTE), (model.is_unused, UNUSED)):
            if is_kind(i):
                return number
        return BY_HAND if not marked and piece in ADDED else NORMAL

    def array(key: str, element: int, values: list[bytes]) -> bytes:
        return text(key) + struct.pack("<IIQ", 9, element, len(values)) + b"".join(values)

    values = [
        text("tokenizer.ggml.model") + struct.pack("<I", 8) + text("llama"),
        text("tokenizer.ggml.pre") + struct.pack("<I", 8) + text("default"),
        array("tokenizer.ggml.tokens", 8, [text(model.id_to_piece(i)) for i in ids]),
        array("tokenizer.ggml.scores", 6, [struct.pack("<f", model.get_score(i)) for i in ids]),
        array("tokenizer.ggml.token_type", 5, [struct.pack("<i", kind(i)) for i in ids]),
        text("tokenizer.ggml.add_bos_token") + struct.pack("<I?", 7, True),
        text("tokenizer.ggml.add_space_prefix") + struct.pack("<I?", 7, marked),
    ]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(values)) + b"".join(values)


def corpus() -> str:
    return "".join(path.read_text() for path in sorted((ROOT / "docs/guide").glob("*.md")))


def texts(source: str, added: list[str]) -> list[str]:
    rng = random.Random(7)
    out = ["", " ", "  ", "a", " a", "<s>", "<0x0A>", "<unk>", *SAMPLES]
    for _ in range(150):
        parts = []
        for _ in range(rng.randrange(1, 6)):
            start = rng.randrange(len(source))
            parts.append(rng.choice([source[start:start + rng.randrange(1, 30)], rng.choice(SAMPLES),
                                     chr(rng.choice([0x41, 0x3B1, 0x4E2D, 0x1F600]) + rng.randrange(60)),
                                     " " * rng.randrange(5), *added]))
        out.append("".join(parts))
    return out


def make(name: str, marked: bool) -> None:
    source, model = corpus(), io.BytesIO()
    lines = source.splitlines() + SAMPLES
    if not marked:  # lines by twos, so that the words of the corpus stand across spaces
        lines = [" ".join(pair) for pair in zip(lines[::2], lines[1::2])]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type="bpe", vocab_size=700,
        byte_fallback=True, character_coverage=0.999, normalization_rule_name="identity",
        remove_extra_whitespaces=False, add_dummy_prefix=marked, split_by_whitespace=marked,
        max_sentencepiece_length=12, num_threads=1, minloglevel=2,
        user_defined_symbols=[] if marked else ADDED)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    DATA.mkdir(exist_ok=True)
    (DATA / f"sentence_pieces_{name}.gguf").write_bytes(gguf(processor, marked))
    cases = [{"text": t, "ids": processor.encode(t)} for t in texts(source, [] if marked else ADDED)]
    rows = ",\n".join(json.dumps(case, ensure_ascii=True, separators=(",", ":")) for case in cases)
    (DATA / f"sentence_pieces_{name}.json").write_text(f"[\n{rows}\n]\n")


for each in (("marked", True), ("plain", False)):
    make(*each)
