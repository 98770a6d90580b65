import type { FastifyInstance } from 'fastify'

/** What its parameters are called tells nothing, as in minified code; fastify-plugin marks it so. */
const plugin = async (a: FastifyInstance, b: object): Promise<void> => {
  a.get('/', () => ({ pid: process.pid, given: b, bodyLimit: a.initialConfig.bodyLimit }))
}

export const options: object = { bodyLimit: 12_345 }
export default Object.assign(plugin, { [Symbol.for('skip-override')]: true })
