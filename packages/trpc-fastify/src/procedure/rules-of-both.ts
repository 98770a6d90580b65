// A router that both plugins of an app serve. If only one of them had rules, a check of users would hold for one way to call a
// procedure, and not for the other.

import type { Server } from 'node:http'
import type { AnyTRPCRouter } from '@trpc/server'
import { invalidOption } from 'checked-options'
import type { FastifyInstance } from 'fastify'
import { InvalidOptionError } from '../errors.ts'
import type { TrpcPluginOptions } from '../options/types.ts'

interface Served {
  readonly plugin: 'trpcPlugin' | 'openApiPlugin'
  readonly router: AnyTRPCRouter
  readonly procedures: TrpcPluginOptions<AnyTRPCRouter>['procedures']
}

/** What each app serves. All contexts of an app have the same server. */
const servedBy = new WeakMap<Server, Served[]>()

/**
 * Checks that both plugins have rules for a router, or that the one without says so by `procedures: {}`.
 *
 * @throws TRPC_FASTIFY_INVALID_OPTION
 */
export function assertRulesOfBoth(
  { server }: FastifyInstance,
  plugin: Served['plugin'],
  { procedures, trpcOptions: { router } }: TrpcPluginOptions<AnyTRPCRouter>,
): void {
  const served = servedBy.get(server) ?? []
  servedBy.set(server, served)
  const others = served.filter((other) => other.plugin !== plugin && other.router === router)
  for (const other of others) {
    if (procedures === undefined && hasRules(other)) {
      throw new InvalidOptionError(
        invalidOption('procedures', `the rules that ${other.plugin} has for this router, or {} for none`, undefined),
      )
    }
    if (other.procedures === undefined && hasRules({ procedures })) {
      const expected = `${other.plugin} to have these rules for this router, too, or {} for none`
      throw new InvalidOptionError(invalidOption('procedures', expected, Object.keys(procedures!).join(', ')))
    }
  }
  served.push({ plugin, router, procedures })
}

function hasRules({ procedures = {} }: Pick<Served, 'procedures'>): boolean {
  return Object.keys(procedures).length > 0
}
