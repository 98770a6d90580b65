// Clients that get another answer for what they are. With `cacheComponents`, Next renders pages anew for those that read no
// more than the head of the document as it is sent, and takes what was made at build for all others.

/** What is used of a configuration. */
export interface BotsConfig {
  readonly cacheComponents?: boolean
  readonly htmlLimitedBots?: string
}

/**
 * Characters of a name that is looked at: the patterns of Next take time that grows with their square. A longer one is Next's to
 * decide on.
 */
const LONGEST_AGENT = 512

const IS_BOT = 'next/dist/shared/lib/router/utils/is-bot'

/** Says whether Next may answer a client otherwise than others, by its `user-agent`. */
export function botsOf(fromApp: NodeJS.Require, config: BotsConfig): (userAgent: string | undefined) => boolean {
  if (!config.cacheComponents) return () => false
  const { isBot } = fromApp(IS_BOT) as { isBot: (userAgent: string) => boolean }
  const { htmlLimitedBots } = config
  // Next has a pattern of its own there where nothing is said.
  if (typeof isBot !== 'function' || typeof htmlLimitedBots !== 'string') throw new TypeError('Bots cannot be told')
  const limited = new RegExp(htmlLimitedBots, 'i')
  return (userAgent) =>
    userAgent !== undefined && (userAgent.length > LONGEST_AGENT || limited.test(userAgent) || isBot(userAgent))
}
