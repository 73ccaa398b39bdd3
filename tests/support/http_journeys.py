"""Journeys for the tests of this floor."""

from __future__ import annotations

from tests.support.journey_documents import text

ASKING = text(
    """
    ask:
      type: wait
      wait:
        channel: manual
        input: {schema: {type: object, required: [ok], properties: {ok: {type: boolean}}}}
        response: {outputVar: shown, schema: {type: object, properties: {note: {type: string}}}}
        timeoutSec: 3600
        onTimeout: late
      next: judge
    judge:
      type: choice
      choices: [{when: {predicate: {lang: jq, expr: .context.payload.ok == true}}, next: tell}]
      default: ask
    tell:
      type: transform
      transform:
        mapper: {lang: jq, expr: '{note: "thank you"}'}
        target: {kind: var}
        resultVar: shown
      next: good
    good: {type: succeed, outputVar: payload}
    late: {type: fail, errorCode: LATE, reason: nobody answered}
    """,
    start="ask",
    spec="""
    input:
      schema:
        type: object
        properties: {a: {$ref: '#/$defs/number'}, customer: {type: string}}
        $defs: {number: {type: integer}}
    metadata: {bindings: {attributes: {fromPayload: {subjectId: {path: customer}}}}}
    bindings:
      http:
        start:
          headersToContext: {X-Channel: channel}
          queryToContext: {source: source}
        steps: {ask: {headersToContext: {X-Channel: answeredBy}}}
    """,
).replace("name: example", "name: asking")

HIDDEN = text(
    """
    hold: {type: wait, wait: {channel: manual, input: {schema: {type: object}}}, next: good}
    good: {type: succeed}
    """,
    start="hold",
    spec="""
    access: {read: {guardRef: owners}}
    subjourneys:
      owners:
        start: key
        states:
          key:
            type: task
            task: {kind: 'apiKeyValidate:v1', source: {location: header, name: X-Api-Key}}
            next: judge
          judge:
            type: transform
            transform:
              mapper: {lang: jq, expr: '{allowed: (.context.auth.apiKey.keyId == "ada")}'}
              target: {kind: var}
              resultVar: said
            next: done
          done: {type: succeed, outputVar: said}
    """,
).replace("name: example", "name: hidden")

PRICE = text(
    """
    check:
      type: choice
      choices: [{when: {predicate: {lang: jq, expr: .context.amount > 100}}, next: dear}]
      default: price
    price:
      type: transform
      transform:
        mapper: {lang: jq, expr: '{price: .context.amount, channel: .context.channel}'}
        target: {kind: var}
        resultVar: result
      next: good
    good: {type: succeed, outputVar: result}
    dear: {type: fail, errorCode: TOO_DEAR, reason: nobody pays that}
    """,
    start="check",
    kind="Api",
    spec="""
    input: {schema: {type: object, required: [amount], properties: {amount: {type: number}}}}
    bindings:
      http:
        route: {path: /offers/price, method: POST}
        start: {headersToContext: {X-Channel: channel}}
        apiResponses:
          rules: [{when: {phase: FAILED, errorType: TOO_DEAR}, status: 422}]
          default: {SUCCEEDED: 200, FAILED: fromProblemStatus}
    """,
).replace("name: example", "name: price")

REPEATING = text(
    """
    arrange:
      type: task
      task:
        kind: schedule:v1
        start: work
        startAt: '2099-01-01T00:00:00Z'
        interval: P1D
        maxRuns: 3
        subjectId: {mapper: {lang: jq, expr: .context.customer}}
      next: done
    done: {type: succeed}
    work: {type: succeed}
    """,
    start="arrange",
).replace("name: example", "name: repeating")
