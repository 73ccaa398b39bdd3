"""A language buddy: an agent that chats in Portuguese, checks in, and asks a teacher before it gives a badge.

`ostinato serve --app examples.buddy.buddy:app` runs it, and `ostinato agents chat buddy ada --server …` talks with it.
Its model is a script, so it needs no service; replace it by `OpenAIModel("gpt-4.1-mini", api_key="secret://openai")`.
"""

from __future__ import annotations

from ostinato import Context, Ostinato
from ostinato.flows import (
    Agent,
    BeforeLLMInput,
    ConsoleTransport,
    FlowContext,
    ModelRequest,
    ScriptedModel,
    ToolContext,
    Transport,
    TurnInput,
)

WORDS = {"hello": "olá", "thank you": "obrigado", "good night": "boa noite", "bread": "pão"}


def answer(request: ModelRequest) -> str:
    """What the script says: the translation of the last message, if it knows one."""
    said = str(request.messages[-1]["content"]).strip().lower()
    return f"In Portuguese: {WORDS[said]}" if said in WORDS else "I know: " + ", ".join(sorted(WORDS))


def declare(app: Ostinato, transport: Transport | None = None) -> Agent:
    """Declare the agent. Its teacher is any caller on this machine without a token."""
    buddy = app.agent(
        "buddy",
        tz="America/Sao_Paulo",
        model=ScriptedModel(answer, repeat=True),
        transport=transport or ConsoleTransport(),
        prompt="You help people to learn Portuguese.",
        fallback="Sorry, I could not answer. Please try again.",
        admins=["local"],
    )

    @buddy.flow
    async def checkin(ctx: FlowContext) -> None:
        """Ask how the learning went, and offer a badge."""
        words = await ctx.ask("How many words did you learn today?", timeout="8h", default=None)
        if words is None:
            await ctx.say("No matter. Até amanhã!")
            return
        count = int(words) if words.strip().isdigit() else 0
        await ctx.tool("note_words", count=count)
        if count < 10:
            await ctx.say(f"{count} words: muito bem!")
            return
        decision = await ctx.escalate(
            f"{ctx.user.external_id} says to have learnt {count} words. A badge?",
            data={"words": count},
            timeout="1d",
            meanwhile="ack",
            ack="Your teacher looks at it.",
        )
        await ctx.say("You have a badge: parabéns!" if decision.approved else "No badge this time. Keep going!")

    @buddy.tool
    async def note_words(ctx: ToolContext, count: int) -> dict[str, object]:
        """Keep how many words the user has learnt."""
        return {"user": ctx.user.external_id, "words": count}

    @buddy.router
    def route(turn: BeforeLLMInput) -> str | None:
        return "checkin" if (turn.turn.text or "").strip().lower() == "check in" else None

    @buddy.command
    def words(ctx: ToolContext, rest: str) -> str:
        return "; ".join(f"{english}: {portuguese}" for english, portuguese in WORDS.items())

    @app.job(name="buddy-checkin")
    async def check_in(ctx: Context, user: str) -> str:
        """Begin a check-in with a user. The time is the key, so one time begins one, however often the job runs."""
        turn = TurnInput(
            user=user,
            source="scheduled",
            key=f"checkin/{ctx.nominal or ctx.run_id}",
            flow="checkin",
            bootstrap=True,
            trigger_type="cron",
        )
        outcome = await (await app.agents.run_turn("buddy", turn)).outcome("1m")
        return outcome.reason or outcome.outcome.value

    return buddy


app = Ostinato("sqlite:///buddy.db")
declare(app)
