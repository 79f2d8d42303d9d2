"""Writes small tokenizers of every shape that tokens/huggingface reads, and what the
Python package tokenizers counts with them.

    python3 make_tokenizers.py ../../tokens/huggingface/testdata

They are trained on the repository's own documents, with some hundred tokens each. The
texts to count are in texts.jsonl there; counts.json has, by the name of a tokenizer, the
tokens of each.
"""

import glob
import json
import os
import sys

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

GPT2 = None  # ByteLevel's own
CL100K = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
QWEN35 = QWEN2.replace(r"]?\p{L}+", r"]?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]+", r"[^\s\p{L}\p{M}\p{N}]+")
WORD = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+C|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*C"
O200K = WORD.replace("C", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?") + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = WORD.replace("C", "") + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
DEEPSEEK = [
    r"\p{N}{1,3}",
    "[一-龥\u3040-\u309f\u30a0-\u30ff]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
]
BYTES = ["<0x%02X>" % c for c in range(256)]

here = os.path.dirname(os.path.abspath(__file__))
out = sys.argv[1]


def corpus():
    for name in sorted(glob.glob(here + "/../../docs/*.md") + [here + "/../../README.md"]):
        yield open(name, encoding="utf8").read()
    for line in open(out + "/texts.jsonl", encoding="utf8"):
        yield json.loads(line)


def split(expression, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(expression), behavior, invert)


def byte_level(*splits, prefix=False, regex=False, normalizer=None):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.Sequence([*splits, pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=regex)])
    if not splits:
        t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=regex)
    if normalizer:
        t.normalizer = normalizer
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=700, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return t


def characters(pre, special, normalizer=None, **options):
    t = Tokenizer(models.BPE(**options))
    t.pre_tokenizer = pre
    if normalizer:
        t.normalizer = normalizer
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=900, limit_alphabet=120, show_progress=False, special_tokens=special))
    return t


def without_added(data):
    data["added_tokens"] = [a for a in data["added_tokens"] if not a["content"].startswith("<0x")]
    return data


def save(name, tokenizer, change=lambda data: None):
    data = json.loads(tokenizer.to_str())
    change(data)
    path = out + "/" + name + ".json"
    with open(path, "w", encoding="utf8") as f:
        json.dump(data, f, ensure_ascii=False, separators=(",", ":"))
        f.write("\n")
    t = Tokenizer.from_file(path)
    t.encode_special_tokens = True
    texts = [json.loads(line) for line in open(out + "/texts.jsonl", encoding="utf8")]
    return [len(t.encode(text, add_special_tokens=False).ids) for text in texts]


def ignore_merges(data):
    """As Llama 3 has it: a word that no merging makes is a token all the same."""
    data["model"]["ignore_merges"] = True
    data["model"]["vocab"]["Ġunmergeable"] = 700
    data["model"]["merges"] = [" ".join(m) for m in data["model"]["merges"]]


def added(data):
    """Tokens that are found before anything is cut."""
    for content, lstrip, rstrip, normalized, special in [
        ("<think>", False, False, False, False), ("</think>", True, True, False, False),
        ("<think>>", False, False, True, False), ("<|im_start|>", False, False, False, True)]:
        n = 800 + len(data["added_tokens"])
        data["added_tokens"].append({"id": n, "content": content, "single_word": False, "lstrip": lstrip, "rstrip": rstrip, "normalized": normalized, "special": special})


def llama2(data):
    without_added(data)
    data["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]}
    data["pre_tokenizer"] = None


def gemma(data):
    """As Gemma 3 has it: line ends merge in an order that no training gives."""
    without_added(data)
    data["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    data["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    for i in range(2, 5):
        data["model"]["vocab"]["\n" * i] = 1000 + i
    data["model"]["merges"] = [["\n\n", "\n\n"], ["\n\n\n", "\n"], ["\n\n", "\n"], ["\n", "\n"]] + data["model"]["merges"]


metaspace = pre_tokenizers.Metaspace
whole = ["<unk>", "<s>", "</s>"] + BYTES
counts = {
    "gpt2": save("gpt2", byte_level(prefix=True, regex=True)),
    "llama3": save("llama3", byte_level(split(CL100K)), ignore_merges),
    "o200k": save("o200k", byte_level(split(O200K, "removed", True))),
    "qwen2": save("qwen2", byte_level(split(QWEN2), normalizer=normalizers.NFC()), added),
    "qwen35": save("qwen35", byte_level(split(QWEN35))),
    "tekken": save("tekken", byte_level(split(TEKKEN))),
    "deepseek": save("deepseek", byte_level(*map(split, DEEPSEEK))),
    "smollm": save("smollm", byte_level(pre_tokenizers.Digits(individual_digits=True), regex=True)),
    "nfkc": save("nfkc", byte_level(regex=True, normalizer=normalizers.NFKC())),
    "llama2": save("llama2", characters(metaspace(), whole, unk_token="<unk>", byte_fallback=True, fuse_unk=True), llama2),
    "gemma": save("gemma", characters(metaspace(prepend_scheme="never"), whole, unk_token="<unk>", byte_fallback=True, fuse_unk=True), gemma),
    "metaspace": save("metaspace", characters(metaspace(prepend_scheme="first", split=True), whole, unk_token="<unk>", byte_fallback=True), without_added),
    "unknown": save("unknown", characters(metaspace(prepend_scheme="always", split=False), ["<unk>"], unk_token="<unk>", fuse_unk=False)),
    "fused": save("fused", characters(metaspace(prepend_scheme="never", split=True), ["<unk>"], unk_token="<unk>", fuse_unk=True)),
}
with open(out + "/counts.json", "w", encoding="utf8") as f:
    f.write("{\n" + ",\n".join('"%s":%s' % (k, json.dumps(v, separators=(",", ":"))) for k, v in counts.items()) + "\n}\n")
