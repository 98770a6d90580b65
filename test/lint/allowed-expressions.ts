// Regular expressions that the lint would report, and why they stay.

export interface AllowedExpression {
  readonly file: string
  readonly text: string
  readonly why: string
}

export const allowed: readonly AllowedExpression[] = [
  {
    file: 'next-on-fastify/src/next/build/route-rules.ts',
    text: 'new RegExp(source)',
    why: 'Next has made it for its own router, which matches the same paths with it.',
  },
  {
    file: 'next-on-fastify/src/next/build/route-rules.ts',
    text: "new RegExp(source, 'i')",
    why: 'Next has made it for its own router, which matches the same paths with it.',
  },
  {
    file: 'next-on-fastify/src/next/build/bots.ts',
    text: "new RegExp(htmlLimitedBots, 'i')",
    why: "The app's own option `htmlLimitedBots`, which Next matches with the same user agents.",
  },
  {
    file: 'clustered-server/src/cli/watch/watched-paths.ts',
    text: "new RegExp(`^${text.join('')}$`)",
    why: 'The patterns are flags of developers, for their own files.',
  },
  {
    file: 'speed-bounds/src/platform/tree-usage.ts',
    text: "new RegExp(`^${field}:\\\\s+(\\\\d+)`, 'm')",
    why: 'The field is a constant of that file, and the text is of the Linux kernel.',
  },
]
