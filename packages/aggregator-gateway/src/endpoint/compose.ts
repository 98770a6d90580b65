// Composes a response from those of calls. Texts are joined unchanged, so each part stays as it was validated.

import type { CallOutcome } from '../call/outcome.ts'
import type { Composition } from '../options/endpoint-options.ts'

/** Makes the JSON text of a response. */
export type Compose = (outcomes: readonly CallOutcome[]) => string

/** The composition of calls with these names. */
export function composeOf(composition: Composition, names: readonly string[]): Compose {
  switch (composition) {
    case 'array':
      return (outcomes) => `[${outcomes.map(textOf).join(',')}]`
    case 'merge':
      return merged
    default: {
      const labels = names.map((name, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`)
      return (outcomes) => {
        let text = ''
        for (let index = 0; index < labels.length; index++) text += labels[index]! + textOf(outcomes[index]!)
        return `${text}}`
      }
    }
  }
}

function textOf(outcome: CallOutcome): string {
  return 'body' in outcome ? outcome.body.text : 'null'
}

/** If members have the same name, the later call in the options wins, in any order of arrival. */
function merged(outcomes: readonly CallOutcome[]): string {
  const members = outcomes.flatMap((outcome) => ('body' in outcome ? Object.entries(outcome.body.value as object) : []))
  return JSON.stringify(Object.fromEntries(members))
}
