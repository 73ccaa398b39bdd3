"""Write the type hints of a job as text. With this text, a process without the job's function can check an input, too.

pydantic builds a core schema from type hints: nested dicts, from which `pydantic_core` builds a validator. `weaken`
copies a core schema without the parts that exist only in this process, such as classes and functions. A class becomes
an object with fields. A part that is unknown, or that runs user code before the check, becomes "any". So the copy
accepts every value that the type hints accept, and may accept more. A process with another version of pydantic_core
checks nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

if TYPE_CHECKING:
    from pydantic_core import SchemaValidator

Schema: TypeAlias = dict[str, Any]
LARGEST = 16_384  # bytes of JSON; a larger schema is not stored, so inputs are not checked
_NEUTRAL = frozenset("type ref metadata serialization".split())
# Constraints that the copy may leave out: without them it accepts more values.
_DEMANDS = frozenset("ge gt le lt multiple_of min_length max_length pattern now_op".split())
_LEAVES = frozenset("none bool int float decimal str bytes date time datetime timedelta uuid".split())
_INNER = {  # schemas that only wrap another schema (for JSON in strict mode), and the key of the wrapped schema
    "default": "schema",
    "function-after": "schema",
    "custom-error": "schema",
    "json-or-python": "json_schema",
    "lax-or-strict": "strict_schema",
}
_FIELD = _NEUTRAL.union(
    "schema required name validation_alias frozen init init_only kw_only"
    " serialization_alias serialization_exclude serialization_exclude_if".split()
)
_FIELDS = _NEUTRAL.union(
    "fields cls cls_name model_name dataclass_name collect_init_only computed_fields config"
    " extra_behavior extras_schema extras_keys_schema from_attributes strict total".split()
)
_CLASS = _NEUTRAL.union(
    "cls cls_name config custom_init fields frozen generic_origin post_init"
    " revalidate_instances root_model schema slots strict".split()
)
_WITHOUT_DEFAULT = _LEAVES.union("any literal enum list set dict tuple model dataclass".split())


def write_types(core_schema: Mapping[str, Any]) -> str | None:
    """Return the core schema of an input as text for the store. Returns None if every input would be accepted, or if
    the schema is too large or cannot be written as JSON."""
    from pydantic_core import __version__

    try:
        schema = weaken(core_schema)
        if all(field["schema"] == _any() for field in schema.get("fields", {"": {"schema": None}}).values()):
            return None
        text = orjson.dumps({"pydantic_core": __version__, "schema": schema})
    except (orjson.JSONEncodeError, RecursionError):  # a number beyond 64 bits, half of a surrogate pair, great depth
        return None
    return text.decode() if len(text) <= LARGEST else None


def read_types(text: str) -> SchemaValidator | None:
    """Build a validator from a text that `write_types` returned. Returns None if the text was written with another
    version of pydantic_core."""
    from pydantic_core import SchemaValidator, __version__

    stored = orjson.loads(text)
    return SchemaValidator(stored["schema"]) if stored["pydantic_core"] == __version__ else None


def weaken(core_schema: Mapping[str, Any]) -> Schema:
    """Return a copy of a core schema with only the parts that JSON can express. In strict mode, the copy accepts every
    value that the original accepts, and may accept more."""
    return _Copy().of(core_schema)


def _any() -> Schema:
    return {"type": "any"}


class _Copy:
    def __init__(self) -> None:
        self._refs: dict[str, str] = {}  # from the name of a definition, which contains an address, to its name here

    def of(self, schema: Mapping[str, Any], config: Mapping[str, Any] | None = None) -> Schema:
        """Return a copy of `schema` that another process can read. `config` is the pydantic configuration of the class
        that `schema` describes."""
        kind = schema["type"]
        if kind in _LEAVES:
            return _plain_parts(schema, {})
        if kind in _INNER:
            return _any() if schema.get("on_error", "raise") != "raise" else self.of(schema[_INNER[kind]], config)
        match kind:
            case "literal":
                return _literal(schema["expected"])
            case "enum":
                return _enum(schema["cls"])
            case "nullable":
                return {"type": kind, "schema": self.of(schema["schema"], config)}
            case "chain":
                return self.of(schema["steps"][0], config)
            case "list" | "set" | "frozenset":
                return self._list(schema)
            case "tuple":
                items = [self.of(item) for item in schema["items_schema"]]
                return _plain_parts(schema, {"items_schema": items})
            case "dict":
                return self._dict(schema)
            case "union":
                choices = [self.of(one[0] if isinstance(one, tuple) else one, config) for one in schema["choices"]]
                return {"type": "union", "choices": choices}
            case "tagged-union":  # a plain union of the same choices accepts at least the same values
                choices = [self.of(one, config) for one in schema["choices"].values()]
                return {"type": "union", "choices": choices}
            case "typed-dict":
                return self._fields(schema, schema.get("config"))
            case "model" | "dataclass":
                return self._class(schema)
            case "model-fields" | "dataclass-args":
                return self._fields(schema, config or {})
            case "definitions":
                definitions = [{**self.of(one), "ref": self._ref(one["ref"])} for one in schema["definitions"]]
                return {"type": kind, "schema": self.of(schema["schema"], config), "definitions": definitions}
            case "definition-ref":
                return {"type": kind, "schema_ref": self._ref(schema["schema_ref"])}
        return _any()

    def _ref(self, name: str) -> str:
        return self._refs.setdefault(name, str(len(self._refs)))

    def _list(self, schema: Mapping[str, Any]) -> Schema:
        """Copy the schema of a list or a set as the schema of a list. JSON has no sets: a set arrives as a list, in
        which items may repeat."""
        copy: Schema = {"type": "list", "items_schema": self.of(schema.get("items_schema", _any()))}
        for bound in ("min_length", "max_length") if schema["type"] == "list" else ("min_length",):
            if schema.get(bound) is not None:
                copy[bound] = schema[bound]
        return copy

    def _dict(self, schema: Mapping[str, Any]) -> Schema:
        """Return a copy of the schema of a dict, without `max_length`."""
        # The copy checks JSON, and JSON may have more keys than the dict in Python. For example, the keys "1" and "01"
        # may become one int. So a dict that is within `max_length` could have too many keys in JSON.
        parts = {part: self.of(schema[part]) for part in ("keys_schema", "values_schema") if part in schema}
        return {"type": "dict", **parts, **({"min_length": low} if (low := schema.get("min_length")) else {})}

    def _class(self, schema: Mapping[str, Any]) -> Schema:
        """Copy the fields of a model or dataclass. Return "any" if the class is special, such as a root model."""
        if schema.get("custom_init") or schema.get("root_model") or not schema.keys() <= _CLASS:
            return _any()
        return self.of(schema["schema"], schema.get("config"))

    def _fields(self, schema: Mapping[str, Any], config: Mapping[str, Any] | None) -> Schema:
        fields = schema["fields"]
        if isinstance(fields, list):
            fields = {field["name"]: field for field in fields}
        is_known = schema.keys() <= _FIELDS and all(field.keys() <= _FIELD for field in fields.values())
        if not is_known or not _is_plain(list((config or {}).values())):
            return _any()
        if any(field.get("init") is False for field in fields.values()):  # an unknown name, or one that is left
            return _any()
        total = schema.get("total", (config or {}).get("typed_dict_total", True))
        copy: Schema = {
            "type": "typed-dict",
            "fields": {
                name: {
                    "type": "typed-dict-field",
                    "schema": self.of(field["schema"]),
                    "required": field.get("required", total) and not _has_default(field["schema"]),
                    **({"validation_alias": field["validation_alias"]} if field.get("validation_alias") else {}),
                }
                for name, field in fields.items()
            },
        }
        if config is not None:
            copy["config"] = dict(config)
        for part in ("extra_behavior", "strict"):
            if schema.get(part) is not None:
                copy[part] = schema[part]
        if "extras_schema" in schema:
            copy["extras_schema"] = self.of(schema["extras_schema"])
        called = schema.get("model_name") or schema.get("dataclass_name") or schema.get("cls_name")
        return {**copy, "cls_name": called} if called else copy


def _plain_parts(schema: Mapping[str, Any], copied: Mapping[str, Any]) -> Schema:
    copy: Schema = {"type": schema["type"], **copied}
    for part, value in schema.items():
        if part in _NEUTRAL or part in copied:
            continue
        if _is_plain([value]):
            copy[part] = value
        elif part not in _DEMANDS:
            return _any()
    return copy


def _is_plain(values: list[Any]) -> bool:
    return all(value is None or type(value) in (bool, int, float, str) for value in values)


def _literal(expected: list[Any]) -> Schema:
    return {"type": "literal", "expected": list(expected)} if _is_plain(expected) else _any()


def _enum(cls: type[enum.Enum]) -> Schema:
    """Return a schema that accepts the values of an enum. Returns "any" if the enum class has its own code to convert
    values, or if a value is neither an int nor a str."""
    values = list(cls._value2member_map_)  # includes values that were added to a member later
    own_way = cls._missing_.__func__ is not enum.Enum._missing_.__func__  # type: ignore[attr-defined]
    is_plain = all(type(one) in (int, str) for one in [*values, *(member.value for member in cls)])
    if own_way or type(cls) is not enum.EnumMeta or not is_plain or not values:
        return _any()
    return {"type": "literal", "expected": values}


def _has_default(schema: Mapping[str, Any]) -> bool:
    """Return whether a field with this schema may be missing. Returns True for an unknown type of schema."""
    match schema["type"]:
        case "default":
            return True
        case "function-after" | "function-before" | "function-wrap" | "nullable":
            return _has_default(schema["schema"])
        case "union":
            return any(_has_default(one[0] if isinstance(one, tuple) else one) for one in schema["choices"])
        case kind:
            return kind not in _WITHOUT_DEFAULT
