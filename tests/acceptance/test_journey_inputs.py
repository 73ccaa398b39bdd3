"""Inputs for several branches of one journey that come in the same instant are all accepted, by one app and by two."""

from __future__ import annotations

import asyncio

from ostinato import Ostinato

BRANCHES = ("a", "b", "c", "d")
JOURNEY = f"""
apiVersion: v1
kind: Journey
metadata: {{name: votes, version: 0.1.0}}
spec:
  start: all
  states:
    all:
      type: parallel
      parallel:
        branches:
{
    "".join(
        f'''
          - name: {name}
            start: ask_{name}
            states:
              ask_{name}: {{type: wait, wait: {{channel: manual, input: {{schema: {{type: object}}}}}}, next: done}}
              done: {{type: succeed}}
'''
        for name in BRANCHES
    )
}
        join: {{strategy: allOf, errorPolicy: failFast}}
      next: done
    done: {{type: succeed}}
"""
JOURNEYS = 10


def test_inputs_for_several_branches_at_once_are_all_accepted(store_url: str) -> None:
    async def main() -> None:
        apps = [Ostinato(store_url, journeys=[JOURNEY]) for _ in range(2)]
        async with apps[0], apps[1]:
            for number in range(JOURNEYS):
                id = (await apps[0].journeys.start("votes")).id
                one_or_two = apps if number % 2 else apps[:1]
                await asyncio.gather(
                    *(
                        one_or_two[place % len(one_or_two)].journeys.submit(id, f"ask_{name}", {"vote": name}, key=name)
                        for place, name in enumerate(BRANCHES)
                    )
                )
                assert (await apps[0].journeys.wait(id, "30s")).phase == "SUCCEEDED"

    asyncio.run(main())
