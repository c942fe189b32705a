# Counts words. What main() returns is the result; `inputs` comes from --input.
from collections import Counter


def main(inputs):
    text = inputs.get("text", "the quick brown fox jumps over the lazy dog the end")
    return dict(Counter(text.split()).most_common(3))
