"""Counts tokens with the Python package tokenizers, to compare with.

    python3 tokenizers_count.py TOKENIZER_JSON

A line of standard input is a text as JSON; a line of output its tokens, without special
tokens around it and with those in it taken for ordinary text.
"""

import json
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.encode_special_tokens = True
for line in sys.stdin:
    print(len(tokenizer.encode(json.loads(line), add_special_tokens=False).ids))
