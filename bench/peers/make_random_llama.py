"""Writes a GGUF of Llama 3.2 1B's shape with random F16 weights, for speed comparisons only.

Every number that decides the speed is real (layers, widths, heads, vocabulary, tied embeddings, the
llama3 RoPE factors, a byte-level BPE with as many merges as the real one), the weights and the
vocabulary are not. Quantise the result with llama.cpp's llama-quantize:

    python make_random_llama.py llama-1b-f16.gguf
    llama-quantize llama-1b-f16.gguf llama-1b-q4_k_m.gguf Q4_K_M 2
"""

import argparse
import math

import gguf
import numpy as np

LAYERS, WIDTH, FFN, HEADS, KV_HEADS, HEAD_DIM = 16, 2048, 8192, 32, 8, 64
VOCAB, BASE_VOCAB, CONTEXT, THETA = 128256, 128000, 131072, 500000.0


def byte_symbols():
    """The 256 printable stand-ins that byte-level BPE uses for raw bytes, in byte order."""
    printable = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or 174 <= b <= 255]
    symbols, extra = {}, 0
    for b in range(256):
        symbols[b] = chr(b) if b in printable else chr(256 + extra)
        extra += b not in printable
    return [symbols[b] for b in range(256)]


def vocabulary():
    """Tokens, their types and merges: all bytes, all pairs, then triples, then Llama 3's control tokens."""
    bytes_ = byte_symbols()
    tokens, merges = list(bytes_), []
    pairs = [(a, b) for a in bytes_ for b in bytes_]
    triples = [(a + b, c) for a, b in pairs for c in bytes_[65:91]]
    for left, right in (pairs + triples)[: BASE_VOCAB - len(tokens)]:
        tokens.append(left + right)
        merges.append(f"{left} {right}")
    types = [gguf.TokenType.NORMAL] * len(tokens)
    named = {0: "<|begin_of_text|>", 1: "<|end_of_text|>", 6: "<|start_header_id|>",
             7: "<|end_header_id|>", 9: "<|eot_id|>"}
    for i in range(VOCAB - BASE_VOCAB):
        tokens.append(named.get(i, f"<|reserved_special_token_{i}|>"))
        types.append(gguf.TokenType.CONTROL)
    return tokens, types, merges


def rope_factors(factor=32.0, low=1.0, high=4.0, original=8192):
    """Llama 3.1's frequency divisors, as GGUF stores them in `rope_freqs.weight`."""
    wavelength = 2 * math.pi * THETA ** (np.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    smooth = np.clip((original / wavelength - low) / (high - low), 0, 1)
    return (1 / ((1 - smooth) / factor + smooth)).astype(np.float32)


def tensors():
    """Yields (name, numpy shape, dtype): rows first, as in memory."""
    kv = KV_HEADS * HEAD_DIM
    yield "rope_freqs.weight", (HEAD_DIM // 2,), np.float32
    yield "token_embd.weight", (VOCAB, WIDTH), np.float16
    for i in range(LAYERS):
        for name, shape in {
            "attn_norm": (WIDTH,), "attn_q": (WIDTH, WIDTH), "attn_k": (kv, WIDTH), "attn_v": (kv, WIDTH),
            "attn_output": (WIDTH, WIDTH), "ffn_norm": (WIDTH,), "ffn_gate": (FFN, WIDTH),
            "ffn_up": (FFN, WIDTH), "ffn_down": (WIDTH, FFN),
        }.items():
            yield f"blk.{i}.{name}.weight", shape, np.float32 if len(shape) == 1 else np.float16
    yield "output_norm.weight", (WIDTH,), np.float32


def values(name, shape, dtype, rng):
    """Weights of plausible size: ones for norms, normal with 1/sqrt(fan-in) for matrices."""
    if name == "rope_freqs.weight":
        return rope_factors()
    if len(shape) == 1:
        return np.ones(shape, dtype)
    return (rng.standard_normal(shape, dtype=np.float32) / np.float32(math.sqrt(shape[1]))).astype(dtype)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    writer = gguf.GGUFWriter(args.output, "llama")
    writer.add_name("random weights in the shape of Llama 3.2 1B")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    writer.add_vocab_size(VOCAB)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(HEAD_DIM)
    writer.add_value_length(HEAD_DIM)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_rope_freq_base(THETA)
    writer.add_layer_norm_rms_eps(1e-5)
    tokens, types, merges = vocabulary()
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(BASE_VOCAB)
    writer.add_eos_token_id(BASE_VOCAB + 9)

    for name, shape, dtype in tensors():
        writer.add_tensor_info(name, shape, np.dtype(dtype), int(np.prod(shape)) * np.dtype(dtype).itemsize)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    rng = np.random.default_rng(args.seed)
    for name, shape, dtype in tensors():
        writer.write_tensor_data(values(name, shape, dtype, rng))
    writer.close()


if __name__ == "__main__":
    main()
