// How a text reads, counted: see "How to write" in CONTRIBUTING.

/** Counts of a text. */
export interface Prose {
  words: number
  /** "what", "whoever", "those that" and the like, which stand for a noun that the reader has to find. */
  missingNouns: number
  /** Words of a sentence, on average. */
  averageSentence: number
  /** Words for which the field has another one, each with the line that it is in. */
  privateWords: string[]
}

/** Questions may begin so. */
const QUESTION = /\bWhat [^.?!|\n]*\?/g
const MISSING_NOUN = /\b(?:what|whatever|whoever|those (?:that|who|which))\b/gi

/** Words of our own, and the term of the field. */
const TERMS: readonly (readonly [own: RegExp, term: string])[] = [
  [/\banswer(?:s|ed|ing)?\b/i, 'response, respond'],
  [/\b(?:kept|keeps?) (?:answers?|pages?|responses?)\b|\bis kept\b/i, 'cached'],
  [/\bherd\b|\basked at once\b/i, 'request coalescing'],
  [/\bhanded on\b/i, 'forwarded'],
  [/\banew\b|\brenewed\b/i, 'regenerated, revalidated'],
  [/\blifetime is (?:out|over)\b/i, 'stale, expired'],
  [/\bput together\b/i, 'merged, composed'],
  [/\bno room\b/i, 'queue full'],
  [/\brefused at once\b/i, 'rejected immediately'],
  [/\bconnections? that rests?\b|\bresting connections?\b/i, 'idle'],
  [/\bgo(?:es)? over to\b/i, 'handed over'],
  [/\bevened out\b|\bevenness\b/i, 'rebalanced'],
  [/\bstands? still\b/i, 'blocked'],
  [/\bthe word to end\b|\btold to end\b/i, 'stop signal'],
  [/\bt(?:akes?|aking) connections\b/i, 'accepts connections'],
  [/\bthe first process\b/i, 'primary'],
  [/\bof now\b/i, 'current'],
  [/\bby turns\b/i, 'interleaved, alternating'],
  [/\bas ever\b/i, 'as usual'],
  [/\bnobody's business\b/i, ''],
  [/\bundecided\b/i, 'inconclusive'],
]

export function proseOf(text: string): Prose {
  const lines = text.split('\n')
  const words = wordsOf(text)
  const sentences = text
    .replaceAll('|', '. ')
    .split(/[.!?:]\s+|\n\s*\n|\n\s*[-*] /)
    .map(wordsOf)
    .filter((count) => count > 3)
  return {
    words,
    missingNouns: text.replaceAll(QUESTION, '').match(MISSING_NOUN)?.length ?? 0,
    averageSentence: sentences.length === 0 ? 0 : sentences.reduce((sum, count) => sum + count, 0) / sentences.length,
    privateWords: lines.flatMap((line) =>
      TERMS.filter(([own]) => own.test(line)).map(([own, term]) => `${own.exec(line)![0]} -> ${term}: ${line.trim()}`),
    ),
  }
}

/** The prose of Markdown: without code, addresses and front matter. */
export function proseOfMarkdown(markdown: string): string {
  return markdown
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replaceAll(/```[\s\S]*?```/g, '')
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\]\([^)]*\)/g, ']')
}

/** The comments of TypeScript, without examples and directives. */
export function commentsOf(source: string): string {
  const blocks = [...source.matchAll(/\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/ .*\n?)+|[ \t]\/\/ .*$/gm)].map(
    ([comment]) => comment,
  )
  return blocks
    .map((block) =>
      block
        .replaceAll(/^[ \t]*(?:\/\*\*?|\*\/|\*|\/\/)[ \t]?|\*\/$/gm, '')
        .replaceAll(/@example[\s\S]*?(?=\n@|$)/g, '')
        .replaceAll(/\boxlint-disable\S*.*|@ts-expect-error/g, '')
        .replaceAll(/`[^`]*`|\{@link [^}]*\}/g, 'code')
        .trim(),
    )
    .filter((block) => block !== '')
    .join('\n\n')
}

function wordsOf(text: string): number {
  return text.match(/[A-Za-z][A-Za-z'-]*/g)?.length ?? 0
}
