"""Suggest what to write instead of an expression that its language refused.

Call these functions only for refused expressions. They look for syntax of other languages, and a valid expression may
contain such syntax in a text literal. They return an empty text if there is no suggestion.
"""

from __future__ import annotations

import re

from ostinato.errors import did_you_mean

# Text literals and comments, in DataWeave and in JSONata.
TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
_FOREIGN = [
    (r"^(?!.*---).*\boutput\b", "`output` is a word of DataWeave: as a key it is quoted, and the binding is `result`"),
    (r"===|!==", "DataWeave compares with == and !="),
    (r"&&", "DataWeave writes `and` for &&"),
    (r"\|\|", "DataWeave writes `or` for ||"),
    (r"\bdefault\s*:", "`default` takes no colon: `a default b`"),
    (r"\?\?", "DataWeave writes `a default b` for a ?? b"),
    (r"\bif\b.*\bthen\b", "DataWeave has no `then`: `if (condition) a else b`"),
    (r"\?[^:]*:", "DataWeave has no `? :`: `if (condition) a else b`"),
    (r"\bif\s+[^(\s]", "the condition must be in parentheses: `if (condition) a else b`"),
    (r"\bdo\s*\{(?!.*---)", "a `do` block has `---` between its variables and its result: `do { var x = 1 --- x }`"),
    (r"<=>", "`orderBy` takes what to order by: `items orderBy $.field`, for the reverse `orderBy -$.field`"),
    (r"<>", "DataWeave writes != for <>"),
    (r":=", "this looks like JSONata (:=); say `lang: jsonata`, or `do { var x = … --- … }`"),
    (r"\$[A-Za-z]\w*", "names have no $ in DataWeave: `context.a`; if this is jq or JSONata, say so in `lang`"),
    (r"^\s*\.|\[\s*\.\[\]|\s\|\s", "this looks like jq; say `lang: jq`, or begin with a name: `context.a`"),
    (r"^\s*\$\.", "this looks like JSONPath or JSONata; begin with a name: `context.a`"),
    (r"=>", "a function is `(x) -> …` in DataWeave, and an operation is written between: `items map (x) -> x`"),
    (r"\blambda\b|\bfunction\b", "a function is `(x) -> …` in DataWeave"),
    (r"\bdef\b", "this looks like jq or Python; say `lang: jq`, or `fun name(x) = …` before `---`"),
    (r"\bNone\b", "nothing is `null` in DataWeave"),
    (r"\b(?:True|False)\b", "DataWeave writes `true` and `false`"),
    (r"\blen\(", "the size is `sizeOf(…)` in DataWeave"),
    (r"\bin\b", "DataWeave writes `list contains item`"),
    (r"\bany\b", "DataWeave writes `some`: `import some from dw::core::Arrays --- items some (x) -> …`"),
    (r"\ball\b", "DataWeave writes `every`: `import every from dw::core::Arrays --- items every (x) -> …`"),
    (r"\bdurationBetween\b", "there is no durationBetween; times are subtracted: `(a as DateTime) - (b as DateTime)`"),
    (r"(?<![=!<>~:])=(?![=>])", "DataWeave compares with =="),
]
_FOREIGN_TO_JSONATA = [
    (r"!==", "JSONata compares with !="),
    (r"==", "JSONata compares with ="),
    (r"&&", "JSONata writes `and` for &&"),
    (r"\|\|", "JSONata writes `or` for ||"),
    (r"^\s*\.", "this looks like jq; say `lang: jq`, or begin with a name: `context.a`"),
]
_UNKNOWN = re.compile(r"Unable to resolve reference of: `([A-Za-z]\w*)`")
_A_WORD = re.compile(r"The name `(\w+)` is a reserved word")
_INFIX = re.compile(r"\b(contains|startsWith|endsWith|matches)\b")
_NOT_DEFINED = re.compile(r"\b(\w+)/0 is not defined")


def in_dataweave(expr: str, message: str, bindings: frozenset[str]) -> str:
    bare = TEXTS.sub('""', expr)
    if word := _A_WORD.search(message):
        quoted = f'`."{word[1]}"`' if re.search(rf"\.\s*{word[1]}\b", bare) else f'`"{word[1]}": …`'
        binding = ", and the binding is `result`" if word[1] == "output" else ""
        return f"`{word[1]}` is a word of DataWeave: as a field it is quoted, {quoted}{binding}"
    if "Expecting Type: `Boolean`" in message and (infix := _INFIX.search(bare)) and re.search(r"\b(and|or)\b", bare):
        return f"`and` and `or` bind more tightly: put it into parentheses, `(a {infix[1]} b) and c`"
    for pattern, words in _FOREIGN:
        if re.search(pattern, bare, re.DOTALL):
            return words
    if unknown := _UNKNOWN.search(message):
        name = unknown[1]
        if not re.search(rf"\b{name}\s*\(", bare):
            if hint := did_you_mean(name, bindings):
                return hint.rstrip("?") + "?"
            return f"names here are {', '.join(sorted(bindings))}; a field of the context is `context.{name}`"
    return ""


def in_jq(expr: str, message: str, bindings: frozenset[str]) -> str:
    unknown = _NOT_DEFINED.search(message)
    if unknown is None:
        return ""
    name = unknown[1]
    if name in bindings:
        return f"a path begins with a dot: `.{name}`"
    if hint := did_you_mean(name, bindings):
        return f"{hint.rstrip('?')}, with a dot before it?"
    return f"a path begins with a dot; a field of the context is `.context.{name}`"


def in_jsonata(expr: str, message: str, bindings: frozenset[str]) -> str:
    bare = TEXTS.sub('""', expr)
    return next((words for pattern, words in _FOREIGN_TO_JSONATA if re.search(pattern, bare)), "")
