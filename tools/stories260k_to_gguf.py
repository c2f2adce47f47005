#!/usr/bin/env python3
"""Converts karpathy's stories260K (llama2.c format) and its 512-token vocabulary to GGUF.

    tools/stories260k_to_gguf.py stories260K.bin tok512.bin testdata/stories260k.gguf

Standard library only. Weights stay f32, so logits can be compared with llama2.c's; names, shapes and
metadata are those of llama.cpp's "llama" architecture, whose RoPE rotates adjacent pairs as llama2.c's
does, so no weight is permuted. The output is the same for the same input.
"""

import struct
import sys

U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
ALIGNMENT = 32
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # token types


def string(text):
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def value(kind, item):
    if kind == STRING:
        return string(item)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}[kind], item)


def entry(key, kind, item):
    return string(key) + struct.pack("<I", kind) + value(kind, item)


def array_entry(key, kind, items):
    head = string(key) + struct.pack("<IIQ", ARRAY, kind, len(items))
    return head + b"".join(value(kind, item) for item in items)


def read_vocabulary(path, size):
    with open(path, "rb") as file:
        data = file.read()
    at = 4  # the first integer is the length of the longest piece
    pieces, scores = [], []
    for _ in range(size):
        score, length = struct.unpack_from("<fi", data, at)
        at += 8
        pieces.append(data[at : at + length])
        scores.append(score)
        at += length
    if at != len(data):
        raise SystemExit(f"{path}: {len(data) - at} bytes are left after {size} tokens")
    return pieces, scores


def gguf_tokens(pieces):
    """llama2.c's file holds pieces as they print; GGUF wants those of SentencePiece."""
    tokens, kinds = [], []
    for index, piece in enumerate(pieces):
        if index == 0:
            tokens.append("<unk>")
            kinds.append(UNKNOWN)
        elif index in (1, 2):  # written as "\n<s>\n" and "\n</s>\n"
            tokens.append(("<s>", "</s>")[index - 1])
            kinds.append(CONTROL)
        elif 3 <= index < 259:
            expected = f"<0x{index - 3:02X}>"
            if piece != expected.encode():
                raise SystemExit(f"token {index} is {piece!r}, and {expected} is expected")
            tokens.append(expected)
            kinds.append(BYTE)
        else:
            tokens.append(piece.decode("utf-8").replace(" ", "\u2581"))
            kinds.append(NORMAL)
    return tokens, kinds


def read_weights(path):
    """The hyperparameters, and (name, shape outermost first, bytes) of each tensor."""
    with open(path, "rb") as file:
        data = file.read()
    dim, hidden, layers, heads, kv_heads, vocabulary, context = struct.unpack_from("<7i", data, 0)
    if vocabulary < 0:
        raise SystemExit(f"{path}: a classifier of its own is not expected here")
    kv_dim = dim // heads * kv_heads
    at = 28
    tensors = {}

    def take(name, shape):
        nonlocal at
        count = 4
        for size in shape:
            count *= size
        tensors[name] = (shape, data[at : at + count])
        at += count

    take("token_embd.weight", (vocabulary, dim))
    for name, shape in (
        ("attn_norm", (dim,)),
        ("attn_q", (dim, dim)),
        ("attn_k", (kv_dim, dim)),
        ("attn_v", (kv_dim, dim)),
        ("attn_output", (dim, dim)),
        ("ffn_norm", (dim,)),
        ("ffn_gate", (hidden, dim)),  # w1
        ("ffn_down", (dim, hidden)),  # w2
        ("ffn_up", (hidden, dim)),  # w3
    ):
        for layer in range(layers):
            take(f"blk.{layer}.{name}.weight", shape)
    take("output_norm.weight", (dim,))
    rope_tables = context * (dim // heads) * 4  # cosines and sines, which readers compute
    if at + rope_tables != len(data):
        raise SystemExit(f"{path}: the weights end at byte {at + rope_tables} of {len(data)}")
    sizes = dict(dim=dim, hidden=hidden, layers=layers, heads=heads, kv_heads=kv_heads,
                 vocabulary=vocabulary, context=context)
    return sizes, tensors


def main(weights_path, vocabulary_path, output_path):
    sizes, tensors = read_weights(weights_path)
    pieces, scores = read_vocabulary(vocabulary_path, sizes["vocabulary"])
    tokens, kinds = gguf_tokens(pieces)

    entries = [
        entry("general.architecture", STRING, "llama"),
        entry("general.name", STRING, "stories260K"),
        entry("general.author", STRING, "Andrej Karpathy"),
        entry("general.license", STRING, "mit"),
        entry("general.description", STRING,
              "A Llama of 260 thousand parameters trained on TinyStories; MIT licence"),
        entry("general.source.url", STRING, "https://huggingface.co/karpathy/tinyllamas"),
        entry("general.file_type", U32, 0),
        entry("general.alignment", U32, ALIGNMENT),
        entry("llama.context_length", U32, sizes["context"]),
        entry("llama.embedding_length", U32, sizes["dim"]),
        entry("llama.block_count", U32, sizes["layers"]),
        entry("llama.feed_forward_length", U32, sizes["hidden"]),
        entry("llama.attention.head_count", U32, sizes["heads"]),
        entry("llama.attention.head_count_kv", U32, sizes["kv_heads"]),
        entry("llama.attention.layer_norm_rms_epsilon", F32, 1e-5),
        entry("llama.rope.dimension_count", U32, sizes["dim"] // sizes["heads"]),
        entry("llama.rope.freq_base", F32, 10000.0),
        entry("llama.vocab_size", U32, sizes["vocabulary"]),
        entry("tokenizer.ggml.model", STRING, "llama"),
        array_entry("tokenizer.ggml.tokens", STRING, tokens),
        array_entry("tokenizer.ggml.scores", F32, scores),
        array_entry("tokenizer.ggml.token_type", I32, kinds),
        entry("tokenizer.ggml.bos_token_id", U32, 1),
        entry("tokenizer.ggml.eos_token_id", U32, 2),
        entry("tokenizer.ggml.unknown_token_id", U32, 0),
        entry("tokenizer.ggml.add_bos_token", BOOL, True),
        entry("tokenizer.ggml.add_eos_token", BOOL, False),
        entry("tokenizer.ggml.add_space_prefix", BOOL, True),
    ]

    infos, data = [], b""
    for name, (shape, content) in tensors.items():
        dims = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        infos.append(string(name) + dims + struct.pack("<IQ", 0, len(data)))
        data += content + bytes(-len(content) % ALIGNMENT)

    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries))
    head += b"".join(entries) + b"".join(infos)
    head += bytes(-len(head) % ALIGNMENT)
    with open(output_path, "wb") as file:
        file.write(head + data)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
