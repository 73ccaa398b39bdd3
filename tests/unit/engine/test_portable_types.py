"""A process that has only the declaration of a job refuses nothing that the function's own process would take."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, Required, TypedDict, TypeVar
from uuid import UUID

import orjson
import pydantic
import pydantic.dataclasses
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    RootModel,
    StringConstraints,
    WithJsonSchema,
    WrapValidator,
)

from ostinato import Ostinato, OstinatoError
from ostinato.engine import portable_types
from ostinato.engine.inputs import declared_types
from ostinato.engine.jobs import BY_POSITION, Declaration, Handler

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mixed(enum.Enum):
    ONE = 1
    TEXT = "text"
    PAIR = (1, 2)
    PART = 0.5


class Forgiving(enum.Enum):
    RED = "red"

    @classmethod
    def _missing_(cls, value: object) -> Forgiving:
        return cls.RED


class Aliased(enum.Enum):
    RED = "red"


Aliased._value2member_map_["rouge"] = Aliased.RED


class Bits(enum.Flag):
    A = 1
    B = 2


class Words(enum.StrEnum):
    RED = "red"


@dataclass
class Point:
    x: int
    y: float = 0.0
    names: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Spot:
    x: int


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="ignore"))
class Counted:
    x: int
    count: int = field(init=False, default=0)


class Address(TypedDict):
    street: str
    number: NotRequired[int]


class Loose(TypedDict, total=False):
    street: Required[str]
    number: int


class Inner(BaseModel):
    text: Annotated[str, Field(min_length=1)]


class Stripping(BaseModel):
    model_config = ConfigDict(str_strip_whitespace=True, extra="forbid")
    code: Annotated[str, Field(max_length=3, pattern="^[a-z]*$")]
    inner: Inner | None = None
    address: Address | None = None


class Numbers(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True, strict=False)
    text: str
    inner: list[Inner] = []


class Renamed(BaseModel):
    model_config = ConfigDict(populate_by_name=True, extra="forbid")
    first: int = Field(alias="firstOne")
    second: int = Field(default=1, validation_alias=AliasChoices("zweites", AliasPath("deep", 0)))


class OnlyAlias(BaseModel):
    first: int = Field(alias="firstOne")


class Own(BaseModel):
    count: int

    def __init__(self, **data: Any) -> None:
        super().__init__(**{**data, "count": 1})


class Before(BaseModel):
    count: int

    @pydantic.model_validator(mode="before")
    @classmethod
    def _replace(cls, value: Any) -> Any:
        return {"count": 1}


class Wrapped(BaseModel):
    count: int
    size: int = 1
    colour: Colour | None = None

    @pydantic.field_validator("count", mode="wrap")
    @classmethod
    def _any_count(cls, value: Any, handler: Any) -> Any:
        return 1

    @pydantic.field_validator("size")
    @classmethod
    def _small(cls, value: int) -> int:
        if value > 10:
            raise ValueError("too large")
        return value


class Tree(BaseModel):
    name: str
    children: list[Tree] = []
    parent: Tree | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    good: bool


class Box(BaseModel, Generic[T]):
    content: T


class Texts(RootModel[list[str]]):
    model_config = ConfigDict(str_strip_whitespace=True)


class Couple(NamedTuple):
    first: int
    second: str = ""


class Lying(BaseModel):
    """Its JSON schema is not what it takes."""

    model_config = ConfigDict(json_schema_extra={"required": ["nothing"]})
    count: Annotated[int, WithJsonSchema({"type": "string"})]


HINTS: list[Any] = [
    *(int, float, bool, str, bytes, Decimal, UUID, datetime, date, time, timedelta, None, object, complex),
    *(Colour, Level, Mixed, Forgiving, Aliased, Bits, Words, Point, Counted, Address, Loose, Inner, Stripping),
    *(Numbers, Renamed, OnlyAlias, Own, Before, Wrapped, Tree, Box[int], Box[Colour], Texts, Couple, Lying),
    *(pydantic.SecretStr, pydantic.AnyUrl, pydantic.Json[list[int]], pydantic.StrictInt, pydantic.AwareDatetime),
    Literal["a", 1, True, None],
    Literal[Colour.RED, "green"],
    Annotated[int, Field(ge=0, lt=10, multiple_of=2)],
    Annotated[int, Field(le=10**30)],
    Annotated[int, Field(strict=False)],
    Annotated[float, Field(gt=0.5, allow_inf_nan=False)],
    Annotated[Decimal, Field(ge=Decimal("0.5"), max_digits=3)],
    Annotated[str, Field(min_length=2, max_length=3, pattern="^[a-z ]+$")],
    Annotated[str, StringConstraints(strip_whitespace=True, max_length=2, to_lower=True)],
    Annotated[datetime, Field(ge=datetime(2026, 1, 1, tzinfo=UTC))],
    Annotated[int, BeforeValidator(lambda value: 5)],
    Annotated[int, PlainValidator(lambda value: value)],
    Annotated[int, WrapValidator(lambda value, handler: 5)],
    Annotated[int, AfterValidator(lambda value: value)],
    Annotated[list[int], Field(min_length=1, max_length=2)],
    Annotated[set[str], Field(max_length=1)],
    Annotated[dict[int, str], Field(max_length=1)],
    Annotated[Cat | Dog, Field(discriminator="kind")],
    Annotated[int | None, Field(default=3)],
    *(
        list[int],
        list[Any],
        set[int],
        frozenset[Point],
        set[Spot],
        tuple[int, str],
        tuple[int, ...],
        tuple[int, *tuple[str, ...]],
    ),
    *(dict[str, int], dict[int, float], dict[Colour, bool], dict[date, Point], list[dict[str, list[int | None]]]),
    *(int | str, int | None, Point | Address, list[int] | int, Cat | Dog, float | bool | None, Colour | int),
]

KEYS = (
    "x y names count street number text code inner address first firstOne second zweites deep kind lives good name "
    "children parent content one two size colour red blue 1 2026-01-01"
).split()
TEXTS = [
    *("", " ", "a", "abc", "abc  ", "ABC", "5", "5.0", "1e3", "nan", "Infinity", "red", "blue", "rouge", "cat", "dog"),
    *("2026-01-01", "2026-01-01T00:00:00Z", "2026-01-01 00:00", "12:30", "PT1H", "1 day", "-P1D", "true", "1767225600"),
    *("http://a.b", "[1, 2]", "1+2j", "12345678-1234-5678-1234-567812345678", "12345678123456781234567812345678"),
]
NUMBERS = [0, 1, 2, 5, -1, 11, 10**12, 2**63, 0.0, 0.5, 1.0, 2.5, 1e300, -0.0]


def anything(random: Random, depth: int = 0) -> Any:
    match random.randrange(7 if depth < 4 else 5):
        case 0:
            return None
        case 1:
            return random.random() < 0.5
        case 2:
            return random.choice(NUMBERS)
        case 3 | 4:
            return random.choice(TEXTS)
        case 5:
            return [anything(random, depth + 1) for _ in range(random.randrange(4))]
        case _:
            return {random.choice(KEYS): anything(random, depth + 1) for _ in range(random.randrange(4))}


def job_with(hint: Any) -> Handler:
    app = Ostinato("sqlite:///never-opened.db")

    async def work(value: Any) -> None: ...

    work.__annotations__ = {"value": hint}
    app.job(name="work")(work)
    return app._handlers["work"]


def stored_declaration(handler: Handler) -> Declaration:
    """As another process reads it from the store."""
    return Declaration.read(handler.name, handler.declaration.write())


def refusal(checker: Handler | Declaration, value: Any) -> str | None:
    try:
        checker.check({"value": value})
    except OstinatoError as problem:
        return str(problem)
    return None


def near(random: Random, schema: dict[str, Any], refs: dict[str, Any], depth: int = 0) -> Any:
    """A value that fits a schema nearly everywhere."""
    schema = refs.get(schema.get("schema_ref", ""), schema)
    if depth > 5 or random.random() < 0.1:
        return anything(random, depth)
    match schema["type"]:
        case "any":
            return anything(random, depth)
        case "literal":
            return random.choice(schema["expected"])
        case "nullable":
            return None if random.random() < 0.2 else near(random, schema["schema"], refs, depth)
        case "union":
            return near(random, random.choice(schema["choices"]), refs, depth)
        case "list":
            return [near(random, schema["items_schema"], refs, depth + 1) for _ in range(random.randrange(4))]
        case "tuple":
            return [near(random, one, refs, depth + 1) for one in schema["items_schema"]]
        case "dict":
            return {
                random.choice(KEYS): near(random, schema["values_schema"], refs, depth + 1)
                for _ in range(random.randrange(4))
            }
        case "typed-dict":
            value = {}
            for name, field in schema["fields"].items():
                if random.random() < 0.9:
                    alias = field.get("validation_alias")
                    key = alias if isinstance(alias, str) and random.random() < 0.7 else name
                    key = random.choice(KEYS) if random.random() < 0.2 else key
                    value[key] = near(random, field["schema"], refs, depth + 1)
            return value
        case "int" | "float" | "decimal":
            return random.choice(NUMBERS)
        case "bool":
            return random.random() < 0.5
        case _:
            return random.choice(TEXTS)


def make_values(handler: Handler) -> Callable[[Random], Any]:
    text = declared_types(handler.function, None)
    if text is None:
        return anything
    schema = orjson.loads(text)["schema"]
    refs = {one["ref"]: one for one in schema.get("definitions", [])}
    inner = schema["schema"] if "definitions" in schema else schema
    return lambda random: near(random, inner["fields"]["value"]["schema"], refs)


def _stable_name(hint: object) -> str:
    """The same in every process: without the addresses of functions."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(hint))


@pytest.mark.parametrize("hint", HINTS, ids=_stable_name)
def test_what_a_declaration_refuses_the_function_refuses_too(hint: Any) -> None:
    handler = job_with(hint)
    declaration, make = stored_declaration(handler), make_values(handler)

    @settings(max_examples=50, deadline=None, database=None)
    @given(st.integers(0, 2**32))
    def both(seed: int) -> None:
        random = Random(seed)
        for _ in range(20):
            value = make(random)
            refused = refusal(declaration, value)
            if refused is not None:
                assert refusal(handler, value) is not None, (value, refused)

    both()


@pytest.mark.parametrize(
    ("hint", "value", "words"),
    [
        (int, "five", 'value: input should be a valid integer, not "five"'),
        (int, {}, "value: input should be a valid integer, not {}"),
        (float | None, "1.5", "value: input should be a valid number"),
        (datetime, "tomorrow", "value: input should be a valid datetime"),
        (Colour, "green", "value: input should be 'red' or 'blue', not \"green\""),
        (list[int], [1, "2"], 'value.1: input should be a valid integer, not "2"'),
        (dict[str, int], {"a": None}, "value.a: input should be a valid integer, not null"),
        (Point, {"x": 1, "names": [2]}, "value.names.0: input should be a valid string, not 2"),
        (Point, {}, "value.x: field required, not {}"),
        (Address, {"street": 5}, "value.street: input should be a valid string"),
        (Stripping, {"code": "abc ", "z": 1}, "value.z: extra inputs are not permitted, not 1"),
        (OnlyAlias, {"first": 1}, "value.firstOne: field required"),
        (Tree, {"name": "a", "children": [{"name": 1}]}, "value.children.0.name: input should be a valid string"),
        (Annotated[int, Field(ge=0)], -1, "value: input should be greater than or equal to 0, not -1"),
    ],
)
def test_a_declaration_refuses_with_the_words_of_the_function(hint: Any, value: Any, words: str) -> None:
    handler = job_with(hint)
    assert (refused := refusal(stored_declaration(handler), value)) is not None
    assert refused.startswith(f"job 'work': {words}")
    assert refusal(handler, value) == refused


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (set[Spot], [{"x": 1}, {"x": 1}]),
        (Annotated[set[str], Field(max_length=1)], ["a", "a"]),
        (Annotated[dict[int, str], Field(max_length=1)], {"1": "a", "01": "b"}),
        (Counted, {"x": 1, "count": "a"}),
        (Stripping, {"code": "abc  ", "inner": {"text": " "}}),
        (Renamed, {"first": 1, "deep": [2]}),
        (Texts, ["a"]),
        (Aliased, "rouge"),
        (Decimal, "1e3"),
        (datetime, "2026-01-01 00:00"),
    ],
)
def test_a_declaration_accepts_what_the_function_accepts(hint: Any, value: Any) -> None:
    handler = job_with(hint)
    assert handler.types is not None
    assert refusal(handler, value) is None
    assert refusal(stored_declaration(handler), value) is None


def test_what_runs_code_of_its_own_first_is_left_to_the_function() -> None:
    for hint in (Before, Own, Forgiving, Annotated[int, BeforeValidator(int)], Annotated[int, PlainValidator(int)]):
        assert declared_types(job_with(hint).function, None) is None


def test_a_schema_that_is_too_large_is_left_out_and_names_are_checked_all_the_same() -> None:
    declaration = stored_declaration(job_with(Literal[tuple(f"{n:0100}" for n in range(200))]))
    assert declaration.types is None
    declaration.check({"value": 5})
    with pytest.raises(OstinatoError, match="'value' is missing"):
        declaration.check({})


def test_another_version_of_pydantic_checks_names_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = job_with(int)
    monkeypatch.setattr("pydantic_core.__version__", "2.0.0")
    declaration = stored_declaration(handler)
    monkeypatch.undo()
    assert '"2.0.0"' in (declaration.types or "")
    declaration.check({"value": "five"})


def test_arguments_by_position_are_checked_by_their_places() -> None:
    app = Ostinato("sqlite:///never-opened.db")

    @app.job(name="charge")
    async def charge(customer: int, amount: float = 1.0, *, note: str = "") -> None: ...

    declaration = stored_declaration(app._handlers["charge"])
    taken: list[list[Any]] = [[1], [1, 2.5], [{"customer": 1, "note": "a"}]]
    for arguments in taken:
        declaration.check({BY_POSITION: arguments})
    refused: list[tuple[Any, str]] = [
        ([1, 2, "note"], "3 arguments were given; it takes customer, amount$"),
        (["one"], "customer: input should be a valid integer"),
        ([{"customer": "one"}], "customer: input should be a valid integer"),
        ([{"amount": 1}], "customer: input should be a valid integer"),
        (5, r"\*: 5 is not a list of arguments"),
    ]
    for wrong, words in refused:
        for checker in (declaration, app._handlers["charge"]):
            with pytest.raises(OstinatoError, match=f"^job 'charge': {words}"):
                checker.check({BY_POSITION: wrong})


def test_a_declaration_is_the_same_text_in_every_process() -> None:
    """No address in memory, which pydantic has in the names of definitions."""
    assert "test_portable_types" not in (declared_types(job_with(Tree).function, None) or "")
    assert portable_types.weaken({"type": "a kind to come"}) == {"type": "any"}
    assert portable_types.weaken({"type": "int", "a_part_to_come": object()}) == {"type": "any"}
