// Puts the answers of calls together. Texts are joined as they came: what was validated alone stays what it was.

import type { CallOutcome } from '../call/outcome.ts'

/** How the answer is made of the calls' answers, which are in the order of `calls`. */
export type Composition = 'object' | 'array' | 'merge'

/** Makes the JSON text of an answer. */
export type Compose = (outcomes: readonly CallOutcome[]) => string

/** For an endpoint with calls of these names. */
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

/** Of members with the same name, that of the later call counts, however fast the others were. */
function merged(outcomes: readonly CallOutcome[]): string {
  const members = outcomes.flatMap((outcome) => ('body' in outcome ? Object.entries(outcome.body.value as object) : []))
  return JSON.stringify(Object.fromEntries(members))
}
