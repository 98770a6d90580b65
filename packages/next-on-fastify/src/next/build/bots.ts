// Detects clients that get another response. With `cacheComponents`, Next renders pages again for clients that read only
// the head of a document, and uses the prerendered page for others.

import type { NextConfig } from '../config.ts'

/** Maximum length of a name that is checked, because Next's patterns take quadratic time. Longer ones count as bots. */
const MAX_AGENT_LENGTH = 512

const IS_BOT = 'next/dist/shared/lib/router/utils/is-bot'

/** Returns the function that decides by a `user-agent` whether Next may respond differently. */
export function botsOf(
  fromApp: NodeJS.Require,
  { cacheComponents, htmlLimitedBots }: Pick<NextConfig, 'cacheComponents' | 'htmlLimitedBots'>,
): (userAgent: string | undefined) => boolean {
  if (!cacheComponents) return () => false
  const { isBot } = fromApp(IS_BOT) as { isBot: (userAgent: string) => boolean }
  // Next sets `htmlLimitedBots` to its own pattern by default.
  if (typeof isBot !== 'function' || typeof htmlLimitedBots !== 'string') throw new TypeError('Bots are unknown')
  const limited = new RegExp(htmlLimitedBots, 'i')
  return (userAgent) =>
    userAgent !== undefined && (userAgent.length > MAX_AGENT_LENGTH || limited.test(userAgent) || isBot(userAgent))
}
