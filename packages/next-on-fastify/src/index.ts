// Factory
export { createNextOnFastify } from './create-next-on-fastify.ts'

// Plugin
export { nextPlugin } from './next-plugin.ts'

// Options
export type { CreateNextOnFastifyOptions, NextPluginOptions } from './options.ts'
