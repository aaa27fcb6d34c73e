"""Small files of every binary kind, made here from the formats' rules: {name: (bytes, what is said)}."""

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import struct
import tarfile
import zipfile
import zlib

NDJSON = b"".join(b'{"author":"%d","text":"goal %d"}\n' % (i, i) for i in range(50))


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def zigzag(value: int) -> bytes:
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def thrift(*fields) -> bytes:
    """A structure of Thrift's compact protocol: (id, type, bytes)."""
    out, last = b"", 0
    for number, kind, value in fields:
        out += bytes([(number - last) << 4 | kind]) + value
        last = number
    return out + b"\0"


def text(value: str) -> bytes:
    return varint(len(value.encode())) + value.encode()


def parquet() -> bytes:
    i32, i64, binary, lists, struct_ = 5, 6, 8, 9, 12

    def element(name, kind=None, children=0, converted=None, logical=None):
        fields = [(1, i32, zigzag(kind))] if kind is not None else []
        fields += [(4, binary, text(name))]
        fields += [(5, i32, zigzag(children))] if children else []
        fields += [(6, i32, zigzag(converted))] if converted is not None else []
        fields += [(10, struct_, thrift((logical, struct_, thrift())))] if logical else []
        return thrift(*fields)
    elements = [element("schema", children=5), element("id", 2), element("who", children=2),
                element("name", 6, converted=0), element("born", 1, converted=6),
                element("tags", children=1, converted=3), element("list", children=1), element("element", 6),
                element("when", 2, logical=8), element("score", 5)]
    group = thrift((2, i64, zigzag(10)))
    footer = thrift((1, i32, zigzag(1)), (2, lists, bytes([len(elements) << 4 | struct_]) + b"".join(elements)),
                    (3, i64, zigzag(1234)), (4, lists, bytes([2 << 4 | struct_]) + group * 2))
    return b"PAR1" + b"\x15\x00" * 20 + footer + struct.pack("<I", len(footer)) + b"PAR1"


def avro() -> bytes:
    schema = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "long"},
                                                       {"name": "note", "type": ["null", "string"]}]}
    pairs = {"avro.schema": json.dumps(schema), "avro.codec": "deflate"}
    out = b"Obj\x01" + zigzag(len(pairs))
    for key, value in pairs.items():
        out += zigzag(len(key)) + key.encode() + zigzag(len(value)) + value.encode()
    return out + b"\0" + b"s" * 16


def flat_table(slots: list[tuple[int, bytes]], late: list[bytes]) -> bytes:
    """A table of Flatbuffers with its slots in front; (size, b"") is an offset to the next of `late`."""
    offsets, at = [], 4
    for size, _ in slots:
        at += -at % size if size else 0
        offsets.append(at if size else 0)
        at += size
    at += -at % 4
    vtable = struct.pack("<HH", 4 + 2 * len(slots), at) + b"".join(struct.pack("<H", o) for o in offsets)
    vtable += b"\0" * (-len(vtable) % 4)
    body, tail, waiting = bytearray(at), b"", list(late)
    for (size, value), offset in zip(slots, offsets):
        if not size:
            continue
        if value:
            body[offset:offset + size] = value
        else:
            part = waiting.pop(0)
            start = struct.unpack_from("<I", part)[0]   # where in the part its table or text begins
            body[offset:offset + 4] = struct.pack("<I", at + len(tail) + start - offset)
            tail += part[4:] + b"\0" * (-len(part) % 4)
    body[0:4] = struct.pack("<i", len(vtable))
    return struct.pack("<I", len(vtable)) + vtable + bytes(body) + tail


def flat_text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<I", 0) + struct.pack("<I", len(raw)) + raw + b"\0" * (4 - len(raw) % 4)


def flat_list(tables: list[bytes]) -> bytes:
    head, tail = struct.pack("<I", len(tables)), b""
    for i, table in enumerate(tables):
        here = 4 + 4 * i
        head += struct.pack("<I", 4 + 4 * len(tables) + len(tail) + struct.unpack_from("<I", table)[0] - here)
        tail += table[4:]
    return struct.pack("<I", 0) + head + tail


def arrow_schema() -> bytes:
    def field(name, kind):
        return flat_table([(4, b""), (0, b""), (1, bytes([kind]))], [flat_text(name)])
    schema = flat_table([(0, b""), (4, b"")], [flat_list([field("id", 2), field("when", 10)])])
    message = flat_table([(2, struct.pack("<H", 4)), (1, b"\1"), (4, b""), (8, bytes(8))], [schema])
    whole = struct.pack("<I", 4 + struct.unpack_from("<I", message)[0]) + message[4:]
    whole += b"\0" * (-len(whole) % 8)
    return b"\xFF\xFF\xFF\xFF" + struct.pack("<I", len(whole)) + whole


def sqlite() -> bytes:
    base = sqlite3.connect(":memory:")
    base.executescript('CREATE TABLE users(id INTEGER PRIMARY KEY, "full name" TEXT, CHECK (id > 0));'
                       "CREATE TABLE orders(user INT, total REAL);"
                       "INSERT INTO users VALUES (1, 'Ada'), (2, 'Bob');")
    return base.serialize()


def zipped(members: dict[str, bytes], stored=()) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content,
                             zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED)
    return out.getvalue()


def office(member: str, **more: bytes) -> bytes:
    return zipped({"[Content_Types].xml": b"<Types/>", member: b"<x/>", **more})


def book(kind: str) -> bytes:
    return zipped({"mimetype": kind.encode(), "content.xml": b"<x/>"}, stored=["mimetype"])


def tarred(form=tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name in ("one.csv", "two/b.txt"):
            info = tarfile.TarInfo(name)
            info.size = 600
            archive.addfile(info, io.BytesIO(b"x" * 600))
    return out.getvalue()


def old_tar() -> bytes:
    """As before `ustar`: only the sum in the header tells."""
    header = bytearray(tarred(tarfile.USTAR_FORMAT)[:512])
    header[257:345] = bytes(88)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + b"x" * 600 + bytes(512 - 88) + bytes(1024)


def zstd(content: bytes) -> bytes:
    """A frame of raw blocks."""
    out = b"\x28\xB5\x2F\xFD" + bytes([0xA0]) + struct.pack("<I", len(content))
    return out + struct.pack("<I", len(content) << 3 | 1)[:3] + content


def lz4(content: bytes) -> bytes:
    """A frame of one block that is not compressed."""
    return b"\x04\x22\x4D\x18\x60\x40\x82" + struct.pack("<I", len(content) | 1 << 31) + content + bytes(4)


def png(width: int, height: int) -> bytes:
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return (b"\x89PNG\r\n\x1A\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes(64))) + chunk(b"IEND", b""))


def tiff(order: str) -> bytes:
    entries = [(256, 3, 1, 640), (257, 4, 1, 480)]
    out = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "IH", 8, len(entries))
    for tag, kind, count, value in entries:
        out += struct.pack(order + "HHI", tag, kind, count)
        out += struct.pack(order + ("HH" if kind == 3 else "I"), *((value, 0) if kind == 3 else (value,)))
    return out + bytes(4)


def pdf(encrypted=False, packed=False) -> bytes:
    tree = b"2 0 obj\n<< /Type /Pages /Count 12 /Kids [3 0 R] >>\nendobj\n"
    leaf = b"3 0 obj\n<< /Type /Pages /Parent 2 0 R /Count 5 >>\nendobj\n"
    return (b"%PDF-1.6\n%\xE2\xE3\xCF\xD3\n" + (b"" if packed else tree + leaf) + b"xref\ntrailer\n<< /Root 1 0 R " +
            (b"/Encrypt 9 0 R " if encrypted else b"") + b">>\nstartxref\n0\n%%EOF\n")


def npy(descr="'<f8'", shape="(3, 4)") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(96)


def safetensors() -> bytes:
    header = json.dumps({"__metadata__": {"a:b": "{"}, "w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                         "b": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(8)


WORKBOOK = (b'<workbook><sheets><sheet name="Jan &amp; Feb" sheetId="1"/>'
            b'<sheet name="Totals" sheetId="2"/></sheets></workbook>')
BY_NDJSON = "NDJSON (newline-delimited JSON), {}-compressed"

FILES = {
    "t.parquet": (parquet(), "Parquet table (6 columns, 2 row groups)"),
    "t.arrow": (b"ARROW1\0\0" + arrow_schema() + b"ARROW1", "Arrow table (2 columns)"),
    "t.arrows": (arrow_schema() + bytes(64), "Arrow stream (2 columns)"),
    "t.feather": (b"FEA1" + bytes([0, 255, 128]) * 40, "Feather table, version 1"),
    "t.orc": (b"ORC" + bytes([0, 255, 128]) * 40, "ORC table"),
    "t.avro": (avro(), "Avro records (2 fields, codec deflate)"),
    "t.db": (sqlite(), "SQLite database (utf-8, 3 pages of 4,096 bytes; tables: users 2 rows, orders 0 rows)"),
    "a.pdf": (pdf(), "PDF (version 1.6, 12 pages)"),
    "locked.pdf": (pdf(encrypted=True), "PDF (version 1.6, encrypted, 12 pages)"),
    "packed.pdf": (pdf(packed=True), "PDF (version 1.6, pages unknown)"),
    "a.docx": (office("word/document.xml"), "Word document"),
    "a.xlsx": (office("xl/other.xml", **{"xl/workbook.xml": WORKBOOK}),
               "Excel workbook (sheets: Jan & Feb, Totals)"),
    "a.pptx": (office("ppt/presentation.xml"), "PowerPoint slides"),
    "a.odt": (book("application/vnd.oasis.opendocument.text"), "OpenDocument text"),
    "a.ods": (book("application/vnd.oasis.opendocument.spreadsheet"), "OpenDocument spreadsheet"),
    "a.odp": (book("application/vnd.oasis.opendocument.presentation"), "OpenDocument slides"),
    "a.epub": (book("application/epub+zip"), "EPUB book"),
    "a.jar": (zipped({"META-INF/MANIFEST.MF": b"x", "A.class": b"\xCA\xFE"}), "Java archive"),
    "a.zip": (zipped({"one.csv": b"x" * 600, "two/b.txt": b"y" * 600}), "Zip archive"),
    "a.tar": (tarred(), "Tar archive"),
    "old.tar": (old_tar(), "Tar archive"),
    "a.tgz": (gzip.compress(tarred(), mtime=0), "Tar archive, gzip-compressed"),
    "a.7z": (b"7z\xBC\xAF\x27\x1C" + bytes(60), "7-Zip archive"),
    "f.ndjson.gz": (gzip.compress(NDJSON, mtime=0), BY_NDJSON.format("gzip")),
    "f.ndjson.bz2": (bz2.compress(NDJSON), BY_NDJSON.format("bzip2")),
    "f.ndjson.xz": (lzma.compress(NDJSON), BY_NDJSON.format("xz")),
    "f.ndjson.zst": (zstd(NDJSON), BY_NDJSON.format("zstd")),
    "f.ndjson.lz4": (lz4(NDJSON), BY_NDJSON.format("lz4")),
    "twice.gz": (gzip.compress(gzip.compress(NDJSON, mtime=0), mtime=0), "gzip data, gzip-compressed"),
    "a.doc": (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + bytes(504), "OLE2 document (older Office)"),
    "a.h5": (b"\x89HDF\r\n\x1A\n" + bytes(64), "HDF5 data"),
    "a.npy": (npy(), "NumPy array (float64, 3 × 4)"),
    "o.npy": (npy("'|O'", "(3,)"), "NumPy array (object, 3)"),
    "a.npz": (zipped({"x.npy": npy(), "y.npy": npy("'<i4'", "(7,)")}), "NumPy arrays (npz)"),
    "a.gguf": (b"GGUF" + struct.pack("<IQQ", 3, 2, 0) + bytes([0, 255]) * 30, "GGUF model (version 3, 2 tensors)"),
    "a.safetensors": (safetensors(), "Safetensors (2 tensors)"),
    "a.wasm": (b"\0asm\1\0\0\0", "WebAssembly module"),
    "a.so": (b"\x7FELF\2\1\1" + bytes(57), "ELF program or library"),
    "a.dylib": (b"\xCF\xFA\xED\xFE" + bytes(28), "Mach-O program or library"),
    "a.exe": (b"MZ\x90\0" + bytes(60), "Windows program or library (PE)"),
    "a.png": (png(640, 480), "PNG image (640 × 480)"),
    "a.jpg": (b"\xFF\xD8\xFF\xE0\0\x10JFIF\0" + bytes(9) + b"\xFF\xC0\0\x11\x08" + struct.pack(">HH", 480, 640) +
              bytes(12), "JPEG image (640 × 480)"),
    "a.gif": (b"GIF89a" + struct.pack("<HH", 640, 480) + b"\xF7\0\0", "GIF image (640 × 480)"),
    "a.webp": (b"RIFF\x1A\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0\x7F\2\0\xDF\1\0", "WebP image (640 × 480)"),
    "a.bmp": (b"BM" + bytes(12) + struct.pack("<Iii", 40, 640, -480) + bytes(28), "BMP image (640 × 480)"),
    "a.tiff": (tiff("<"), "TIFF image (640 × 480)"),
    "b.tiff": (tiff(">"), "TIFF image (640 × 480)"),
    "a.mp3": (b"ID3\3" + bytes(40), "MP3 audio"),
    "a.wav": (b"RIFF\x24\0\0\0WAVEfmt " + bytes(20), "WAV audio"),
    "a.flac": (b"fLaC" + bytes(40), "FLAC audio"),
    "a.ogg": (b"OggS" + bytes(40), "Ogg audio or video"),
    "a.heic": (bytes(3) + b"\x18ftypheic" + bytes(20), "HEIF image (HEIC)"),
    "a.avif": (bytes(3) + b"\x1cftypavif" + bytes(20), "AVIF image"),
    "a.mp4": (bytes(3) + b"\x18ftypmp42" + bytes(20), "MP4 video or audio"),
    "a.bin": (bytes(range(256)), "Binary"),
}
