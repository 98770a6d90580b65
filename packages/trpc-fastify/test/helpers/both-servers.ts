// The same router on two servers that listen: by tRPC's own adapter, and by ours.

import websocket from '@fastify/websocket'
import type { AnyTRPCRouter } from '@trpc/server'
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { trpcPlugin, type TrpcPluginOptions } from 'trpc-fastify'
import { expect } from 'vitest'
import { Journal } from './journal.ts'
import { routing } from './peer-versions.ts'

/** What a test knows of one server. */
export interface Server {
  readonly name: 'official' | 'ours'
  readonly app: FastifyInstance
  readonly port: number
  /** Address of the router over HTTP. */
  readonly url: string
  /** The same for WebSockets. */
  readonly webSocketUrl: string
  /** What procedures of this server, and the test, tell each other. */
  readonly journal: Journal
}

export interface BothServers {
  readonly official: Server
  readonly ours: Server
  /** Plays a scenario on each server, expects the same outcome of both, and gives it. */
  onBoth<T>(scenario: (server: Server) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Starts both servers with the options that are made for the journal of each; ours with these options of Fastify. */
export async function serveBoth<TRouter extends AnyTRPCRouter>(
  makeOptions: (journal: Journal) => TrpcPluginOptions<TRouter>,
  oursOnly: FastifyServerOptions = {},
): Promise<BothServers> {
  const serve = async (name: Server['name'], plugin: typeof fastifyTRPCPlugin | typeof trpcPlugin): Promise<Server> => {
    const journal = new Journal()
    const options = { prefix: '/trpc', ...makeOptions(journal) }
    const app = Fastify({
      forceCloseConnections: true,
      ...routing({ maxParamLength: 5000 }),
      ...(name === 'ours' ? oursOnly : {}),
    })
    if (options.useWSS) await app.register(websocket)
    await app.register(plugin as typeof trpcPlugin<TRouter>, options)
    const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}${options.prefix}`
    const { port } = app.server.address() as { port: number }
    return { name, app, port, url, webSocketUrl: url.replace('http', 'ws'), journal }
  }
  const official = await serve('official', fastifyTRPCPlugin)
  const ours = await serve('ours', trpcPlugin)

  return {
    official,
    ours,
    async onBoth(scenario) {
      for (const { journal } of [official, ours]) journal.clear()
      const [expected, outcome] = await Promise.all([scenario(official), scenario(ours)])
      expect(outcome, 'ours, against the official adapter').toStrictEqual(expected)
      return outcome
    },
    async close() {
      await Promise.all([official.app.close(), ours.app.close()])
    },
  }
}
